"""What is evaluated: items with their truth, loaded from a manifest, validated and fingerprinted."""
