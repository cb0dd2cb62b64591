"""Reports: report.json, tables, the terminal."""
