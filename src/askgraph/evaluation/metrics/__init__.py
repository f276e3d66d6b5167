"""Metrics: pure functions of a predicted and a gold table, see `Metric`.

The docstring of each says what it punishes and what not.
"""
