"""A user's own part of a system: a Python class, a command, or an HTTP endpoint that speaks JSON."""
