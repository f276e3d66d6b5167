"""Graph search: a question in, ranked candidate queries out; no language model."""
