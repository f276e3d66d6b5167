"""A query in words, the triples behind an answer, and why a result is empty."""
