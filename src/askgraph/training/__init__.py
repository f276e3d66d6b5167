"""Learning to write queries with language models, large and small."""
