"""Programs that a run starts and that cannot outlive it."""
