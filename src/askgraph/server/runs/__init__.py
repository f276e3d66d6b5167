"""Runs: a question's way through the server, from the request to its outcome in the store."""
