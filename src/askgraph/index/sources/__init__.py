"""Sources of an index's resources: files of rows, dumps, and the two queries of an endpoint.

The queries, for entities and properties, are a file each in `queries`, in a folder for the graph;
`default` works on any. The columns are ?iri ?label ?score
?synonyms ?infos (see `askgraph.index.sources.tsv`).
"""

from importlib.resources import files

from askgraph.errors import SetupError

KINDS = ("entities", "properties")


def graphs() -> tuple[str, ...]:
    """Return the graphs that have queries of their own."""
    folders = (
        item.name for item in files(__package__).joinpath("queries").iterdir() if item.is_dir()
    )
    return tuple(sorted(name for name in folders if name.isalpha() and name != "default"))


def entities_query(graph: str | None = None) -> str:
    """Return the query for entities, of a graph by name, or the one for any graph."""
    return _query(graph, "entities")


def properties_query(graph: str | None = None) -> str:
    """Return the query for properties, of a graph by name, or the one for any graph."""
    return _query(graph, "properties")


def _query(graph: str | None, kind: str) -> str:
    if graph is not None and graph not in graphs():
        raise SetupError(
            f"no index queries for {graph!r}; there are some for {', '.join(graphs())}, and those "
            "for any graph"
        )
    file = files(__package__) / "queries" / (graph or "default") / f"{kind}.rq"
    return file.read_text(encoding="utf-8")
