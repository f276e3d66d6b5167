"""Graphs of the server: shown, summarised, and added by upload or address as jobs."""
