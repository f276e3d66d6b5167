"""The life of a question on the server, from the queue to what is kept of it."""
