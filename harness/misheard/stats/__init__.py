"""Statistics over count vectors: resampling, slices, comparison."""
