"""The protocols that the server speaks, each a thin view of the same runs."""
