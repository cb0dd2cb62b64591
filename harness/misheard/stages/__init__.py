"""Stages: what an arm is made of."""
