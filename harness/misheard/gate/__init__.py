"""The release gate: a file of claims and tolerances, two runs, one verdict; and the log of baselines."""
