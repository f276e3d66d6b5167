"""Rows to resources: the columns iri, label, score, synonyms, infos, by name."""

from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import BlankNode, Literal

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.sparql.results import SelectResult, value_of

__all__ = ["SEPARATOR", "columns_of", "resource_of", "resources_of"]

SEPARATOR = ";;;"
"""What stands between several synonyms or infos in one cell."""

_NEEDED = ("iri", "label")
_KNOWN = ("iri", "label", "score", "synonyms", "infos")


def resources_of(result: SelectResult) -> Iterator[Resource]:
    """Give the resources of a query's result, but for rows with a blank node or nothing as IRI.

    A literal in the column `iri` stands for itself. Raises `SetupError` for a result without the
    columns, and for a score that is no number.
    """
    at = columns_of(result.variables, "the query")
    for row in result.rows:
        term = row[at["iri"]]
        if term is None or isinstance(term, BlankNode):
            continue
        cells = [value_of(cell) or "" for cell in row]
        if isinstance(term, Literal):
            cells[at["iri"]] = str(term)
        yield resource_of(cells, at, f"the row of {cells[at['iri']]}")


def columns_of(names: Sequence[str], place: str) -> Mapping[str, int]:
    """Return where each column is; `SetupError` where one is missing, unknown or there twice."""
    wrong = [name for name in names if name not in _KNOWN or list(names).count(name) > 1]
    missing = [name for name in _NEEDED if name not in names]
    if wrong or missing:
        listed = ", ".join(names)
        raise SetupError(
            f"{place}: the columns are {listed!r}; there must be 'iri' and 'label', and may be "
            "'score', 'synonyms' and 'infos'"
        )
    return {name: at for at, name in enumerate(names)}


def resource_of(cells: Sequence[str], at: Mapping[str, int], place: str) -> Resource:
    """Return the resource of one row; `SetupError` where its score is no number."""
    score = cells[at["score"]] if "score" in at else ""
    try:
        number = float(score or 0)
    except ValueError as error:
        raise SetupError(f"{place}: the score {score!r} is no number") from error
    label = cells[at["label"]]
    synonyms = tuple(name for name in _several(cells, at, "synonyms") if name != label)
    return Resource(cells[at["iri"]], label, synonyms, number, _several(cells, at, "infos"))


def _several(cells: Sequence[str], at: Mapping[str, int], column: str) -> tuple[str, ...]:
    if column not in at:
        return ()
    parts = (part.strip() for part in cells[at[column]].split(SEPARATOR))
    return tuple(dict.fromkeys(part for part in parts if part))
