"""Checks of the mechanism: each a function over a whole trace, and a line in the registry."""
