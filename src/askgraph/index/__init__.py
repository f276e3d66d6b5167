"""Search over names: text in, resources out."""
