"""Results cut to what an agent has room for: few rows, short cells, labels of what is shown."""

from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import NamedNode

from askgraph.answers.codec import plain_value
from askgraph.serve.protocols.mcp.results import Value
from askgraph.sparql.results import Row, Truncation
from askgraph.tools.shown import clipped

__all__ = ["ROWS", "cells", "cut_words", "iris_in", "labels_shown"]

ROWS = 50
"""Rows that a tool shows where the caller names no number."""

_CELL = 300  # characters
_ROOM = 20_000  # characters of all cells


def cells(rows: Sequence[Row], most: int) -> list[list[Value]]:
    """Return the first rows as plain values: at most so many, each cell clipped, within 20,000
    characters in all, but one row at least.
    """
    shown: list[list[Value]] = []
    left = _ROOM
    for row in rows[:most]:
        values = [_short(plain_value(term)) for term in row]
        left -= sum(len(str(value)) for value in values)
        if left < 0 and shown:
            break
        shown.append(values)
    return shown


def iris_in(rows: Iterable[Row]) -> list[str]:
    """Return the IRIs in rows, each once."""
    return list(
        dict.fromkeys(term.value for row in rows for term in row if isinstance(term, NamedNode))
    )


def labels_shown(rows: Sequence[Sequence[Value]], labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of what stands in rows, clipped."""
    shown = dict.fromkeys(value for row in rows for value in row if isinstance(value, str))
    return {iri: clipped(labels[iri], _CELL) for iri in shown if iri in labels}


def cut_words(cut: Truncation | None) -> str | None:
    """Say who cut a result off and why; None where it is whole."""
    return None if cut is None else f"cut off by {cut.by}: {cut.reason}"


def _short(value: Value) -> Value:
    return clipped(value, _CELL) if isinstance(value, str) else value
