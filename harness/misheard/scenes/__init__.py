"""Scenes: what a planner plans and a renderer draws, as plain values."""
