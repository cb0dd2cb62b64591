"""What `scripts/gpu_check` checks, how it is packed, and how it is run."""
