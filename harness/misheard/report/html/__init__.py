"""The report as one HTML file that opens from disk: no network, no framework, and no text of an item."""
