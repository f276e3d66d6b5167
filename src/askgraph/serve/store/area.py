"""What every area of the store has: the database."""

from askgraph.serve.store.database import Database

__all__ = ["Area"]


class Area:
    """Methods on some tables of a database; each is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
