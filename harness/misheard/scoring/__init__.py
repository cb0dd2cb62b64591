"""Scoring of texts that are already there: counts, alignments, comparisons, without a suite or a run."""
