"""Planners: from what was said to a scene plan."""
