"""Who carries the planned batches out: this process, or workers elsewhere."""
