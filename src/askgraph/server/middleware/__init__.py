"""Middleware before the server's handlers: checks, headers, logs, metrics and spans."""
