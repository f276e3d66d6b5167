"""Metrics: pure functions of a predicted and a gold table, see `Metric`.

The docstring of each metric lists what it punishes and what it ignores.
"""
