"""Recognizers: recordings in, transcripts out. One backend a module, behind `protocol.Recognizer`."""
