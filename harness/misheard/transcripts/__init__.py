"""Transcripts as files of many tools hold them, and the pairing of references with hypotheses."""
