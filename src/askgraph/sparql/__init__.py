"""SPARQL as text and as results; no input or output."""
