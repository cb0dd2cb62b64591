"""Audio: decoding, resampling, voice activity, windows, log-mel features."""
