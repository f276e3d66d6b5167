"""Files of questions over small graphs, with the rows that they have.

`== NAME` begins a graph, whose Turtle follows up to the first group; `== NAME extends OTHER` adds
Turtle to another graph; `space` is the sample graph, `zoo` that of `zoo.txt`. `- Title [columns]`
begins a group of lines `question => cell , cell ; cell , cell`, with the language before a question
that isn't English. Of the columns, `first`, `last`, `shown` (those that answer) or `values` (no
IRIs) are compared, else all; without the order of rows and cells, unless they are `ordered`. With
`detected` the language is not told; with `words` the query's words in the language are compared.
With `text` the cells are parts of the query's text, or what is not in it after "no".
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pyoxigraph import RdfFormat, Store
from tests.graphs import store_of
from tests.search.asking import Known, plain_cell

from askgraph.answers.verbalize import verbalize_query
from askgraph.sample import graph_path

__all__ = ["FILES", "Asked", "graph_named", "read_questions", "turtle_of"]

FOLDER = Path(__file__).parent / "questions"
FILES = sorted(path.name for path in FOLDER.glob("*.txt"))
GRAPH = re.compile(r"^== (\S+)(?: extends (\S+))?\n((?:(?!== |- ).*\n)*)", re.MULTILINE)
LINE = re.compile(r"(?:(de|es|fr): )?(.+) => (.+)")
Rows = list[tuple[str, ...]]


class Asked(NamedTuple):
    """A question over a graph, and the rows that it has."""

    graph: str
    title: str
    columns: str
    language: str
    question: str
    rows: Rows | str

    def rows_over(self, known: Known) -> Rows | str:
        """Return the rows of the best query or its words, as they are compared."""
        if "words" in self.columns:
            return verbalize_query(known.best_query(self.question), {}, language=self.language)
        best = known.best(self.question, None if "detected" in self.columns else self.language)
        if "text" in self.columns:
            query, parts = known.query(best.query), str(self.rows).split(" , ")
            holds = all((one.removeprefix("no ") in query) is (one[:3] != "no ") for one in parts)
            return self.rows if holds else query
        if best.is_ask:
            return [(str(known.rows(known.query(best.query))).lower(),)]
        names, rows = known.named_rows(known.query(best.query))
        match self.columns.split():
            case ["first", *_]:
                rows = [row[:1] for row in rows]
            case ["last", *_]:
                rows = [row[-1:] for row in rows]
            case ["shown", *_]:
                rows = [tuple(row[names.index(name)] for name in best.columns) for row in rows]
            case ["values", *_]:
                rows = [tuple(c for c in row if c and not c.startswith("<")) for row in rows]
        plain = [tuple(map(plain_cell, row)) for row in rows]
        return plain if "ordered" in self.columns else without_order(plain)


def without_order(rows: Rows) -> Rows:
    """Return rows in an order that is always the same, and so their cells."""
    return sorted(tuple(sorted(row)) for row in rows)


def read_questions(file: str) -> Iterator[Asked]:
    """Read the questions of a file."""
    graph = title = columns = ""
    for line in (FOLDER / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            graph = line.split()[1]
        elif line.startswith("- "):
            title, _, columns = line[2:].rstrip("]").partition(" [")
        elif asked := LINE.fullmatch(line):
            rows = [tuple(row.split(" , ")) for row in asked[3].split(" ; ")]
            rows = rows if "ordered" in columns else without_order(rows)
            expected = asked[3] if {"words", "text"} & {*columns.split()} else rows
            yield Asked(graph, title, columns, asked[1] or "en", asked[2], expected)


@cache
def turtle_of(name: str) -> str:
    """Return the Turtle of a graph of any of the files."""
    for file in FILES:
        for found, other, turtle in GRAPH.findall((FOLDER / file).read_text(encoding="utf-8")):
            if found == name and (other or turtle.strip()):
                return (turtle_of(other) if other else "") + str(turtle)
    raise KeyError(name)


@cache
def graph_named(name: str) -> Known:
    """Return a graph of any of the files, or the sample graph, `space`."""
    if name == "space":
        store = Store()
        store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
        return Known(store)
    return Known(store_of(turtle_of(name)))
