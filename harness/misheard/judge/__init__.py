"""Calibration of the judge: how far it agrees with people, and whether it is still the judge that it was."""
