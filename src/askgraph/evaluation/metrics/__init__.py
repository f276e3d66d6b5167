"""Metrics, one file each: pure functions of a predicted and a gold table, see `Metric`."""
