"""Long sessions: traces of events, counts and times, and checks of the mechanism over them."""
