"""Answers, built from queries and what they return."""
