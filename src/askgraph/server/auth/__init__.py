"""Callers and their rights: API keys, a proxy's word, visitors, limits."""
