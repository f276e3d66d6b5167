"""Queries made into other queries: repaired, changed in one place, or brought to one form."""
