"""Lessons and training of the pointer writer."""
