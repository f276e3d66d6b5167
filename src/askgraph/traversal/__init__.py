"""A graph's adjacency as arrays, so that answer sets are grown without SPARQL round trips."""
