"""`misheard doctor`: what this machine can run, whether a config will run on it, and what to install."""
