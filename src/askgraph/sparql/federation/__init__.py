"""Queries over several endpoints: their SERVICE clauses, and what stands around each."""
