"""Training of the pointer writer: generated questions, lessons, the training itself."""
