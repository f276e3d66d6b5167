"""Candidate queries: grown over the graph, completed by operators, ranked, voted on."""
