"""Ask a knowledge graph a question in your own words.

    >>> import askgraph
    >>> with askgraph.Graph("space.ttl") as graph:  # doctest: +SKIP
    ...     print(graph.ask("Which moons does Jupiter have?"))

The graph is a name in the workspace, a file or folder of RDF, or the URL of a SPARQL endpoint; a
list of them is asked as one.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from askgraph.api import AsyncGraph, Graph, Result, ask

__all__ = ["AsyncGraph", "Graph", "Result", "ask"]


def __getattr__(name: str) -> object:
    """Import the library on first use, so that submodules stay cheap to import."""
    if name in __all__:
        return getattr(import_module("askgraph.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
