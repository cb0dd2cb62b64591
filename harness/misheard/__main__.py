"""`python -m misheard` is the command `misheard`."""

from misheard.cli import main

main()
