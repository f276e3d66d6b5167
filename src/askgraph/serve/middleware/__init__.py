"""Middleware before the server's handlers, and what its operator sees of it."""
