"""Reports on runs: figures with their uncertainty, comparisons, tables, and a page."""
