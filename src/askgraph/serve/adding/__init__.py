"""Graphs added over the web, by upload or address: read in a process of their own, as jobs."""
