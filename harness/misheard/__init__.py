"""How much does mishearing cost? See the README for the tour, `misheard --help` for the commands."""

__version__ = "0.1.0"
