"""Scoring and resampling kernels: arrays in, arrays out; numba and numpy only."""
