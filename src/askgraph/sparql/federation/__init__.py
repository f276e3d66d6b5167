"""Queries over several endpoints: their SERVICE clauses, and the patterns around each."""
