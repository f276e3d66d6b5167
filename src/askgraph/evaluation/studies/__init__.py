"""Studies that reproduce the tables of papers over our methods."""
