"""Deriving noise and microphone tiers from a suite: `misheard suite mix`."""
