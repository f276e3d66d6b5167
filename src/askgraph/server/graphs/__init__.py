"""Graphs of the server: leased, summarized, and added by upload or address in jobs."""
