"""Metrics: one family a module, counts in, rates from sums, nothing else."""
