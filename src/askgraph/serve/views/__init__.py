"""What goes over the wire, as pydantic models: one file for each part of the server's interface."""
