"""Who asks, and what they may: API keys, a proxy's word, visitors, limits."""
