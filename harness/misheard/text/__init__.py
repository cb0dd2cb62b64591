"""Text: versioned normalisation profiles and tokenisers."""
