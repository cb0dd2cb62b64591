"""The live replay: a continuous session through endpointing, recognition and what follows, at once."""
