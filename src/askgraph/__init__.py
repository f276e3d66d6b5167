"""Ask a knowledge graph a question in your own words."""
