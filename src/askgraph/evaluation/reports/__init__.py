"""Reports on runs: scores with confidence intervals, comparisons, tables and an HTML page."""
