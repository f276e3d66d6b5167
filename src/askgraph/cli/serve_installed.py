"""Whether the libraries of the server are there, or an error that says how to get them."""

from importlib.util import find_spec

from askgraph.errors import SetupError

__all__ = ["check_installed"]

_NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "mcp", "structlog")


def check_installed() -> None:
    """Raise `SetupError` where a library of the extra `serve` is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SetupError(f"the server needs {', '.join(missing)}: pip install 'askgraph[serve]'")
