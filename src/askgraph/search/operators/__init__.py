"""Counts, comparisons, order, time and negation, hung on a grown pattern."""
