"""How the tables of the store came to be what they are, a file a step (alembic)."""
