"""Renderers: from a scene plan to what stands on the board."""
