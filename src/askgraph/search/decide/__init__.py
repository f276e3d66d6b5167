"""The confidence in the best candidate, and whether to answer, ask back or refuse."""
