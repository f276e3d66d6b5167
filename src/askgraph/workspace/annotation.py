"""Annotation of a table by a graph: cells as things, columns as classes, pairs as predicates.

No language model: names propose, and what the graph says of the proposed things decides between
them. A class fits a column, and a predicate a pair of columns, by the share of their rows that it
holds in.
"""

import asyncio
import csv
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from pyoxigraph import Literal, NamedNode
from rapidfuzz import fuzz

from askgraph.answers.verbalize import MOST_LABELS, labels_of
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import folded
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import Term, value_of
from askgraph.workspace.run_sync import Progress, silent

_LIKE = 0.6  # how alike a name is at least that proposes a thing
_NEAR = 0.05  # how much worse a name may be than the best, to speak for its column
_LINKED = 0.8  # and one that shows that a column is of things
_THINGS = 0.5  # the share of such cells from which it is
_HOLDS = 0.5  # the share of rows from which a class or a predicate is taken
_CLOSE = 0.005  # how far a number may be off, as a share of it
_AT_ONCE = 100  # things whose triples one query asks for
_TRIPLES = 20_000  # that one query may give
_NAME_WEIGHT, _CLASS_WEIGHT, _PREDICATES_WEIGHT = 0.6, 0.2, 0.2
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(  # 3643,5 and 1.234,5 and 0,125; not 61,851
    r"[-+]?(?:\d+,(?!\d{3}$)\d+|(?:0|\d{4,}),\d+|\d{1,3}(?:\.\d{3})+,\d+)"
)
Facts = Mapping[str, Sequence[tuple[str, Term]]]


@dataclass(frozen=True)
class Candidate:
    """What a cell, a column or a pair may mean: an IRI, its label, and how well it fits (0–1)."""

    iri: str
    label: str
    score: float


@dataclass(frozen=True)
class Cell:
    """A cell by row (from 0) and column; the best candidate comes first, none if nothing fits."""

    row: int
    column: int
    text: str
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column by name: whether it holds things, and their classes, the best first."""

    name: str
    things: bool
    classes: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two columns by number, and the predicates that lead from the first to the second."""

    subject: int
    object: int
    predicates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Annotated:
    """A table with what a graph says of it; `cells` are those of columns of things.

    `headless` if the heads of columns of things are such things, too: they may be a row.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[Column, ...]
    pairs: tuple[Pair, ...]
    cells: tuple[Cell, ...]
    headless: bool = False

    @property
    def linked(self) -> int:
        """The number of cells that a thing was found for."""
        return sum(bool(cell.candidates) for cell in self.cells)

    def csv_rows(self) -> Iterator[Sequence[str]]:
        """Give the table with three columns more for each of things: IRI, score, candidates."""
        added = [at for at, column in enumerate(self.columns) if column.things]
        more = [f"{self.heads[at]} {what}" for at in added for what in ("iri", "score", "others")]
        yield [*self.heads, *more]
        found = {(cell.row, cell.column): cell.candidates for cell in self.cells}
        for number, row in enumerate(self.rows):
            told: list[str] = []
            for at in added:
                best, *others = found.get((number, at)) or (Candidate("", "", 0.0),)
                score = f"{best.score:g}" if best.iri else ""
                told += [best.iri, score, " ".join(f"{one.iri} {one.score:g}" for one in others)]
            yield [*row, *told]


def read_table(
    path: Path, *, headless: bool = False
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Read a table of CSV or TSV: the heads, and rows that are as long, with nothing left out.

    The heads are the first line. In a `headless` table, and over cells for which that line is too
    short, they are the numbers of the columns. Empty rows at the end are none. Raises `SetupError`
    for a file that cannot be read, or holds no row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SetupError(
            f"cannot read the table {str(path)!r}: {error.strerror}; name a file of CSV or TSV"
        ) from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{str(path)!r} is not UTF-8 text: save it as CSV in UTF-8") from error
    while text.startswith("#"):
        text = text.partition("\n")[2]
    first = _QUOTED.sub("", text.lstrip("\r\n").partition("\n")[0])
    between = max("\t;,", key=first.count)
    try:
        lines = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=between) if row]
    except csv.Error as error:
        raise SetupError(f"{str(path)!r} is no table: {error}") from error
    while lines and not any(map(str.strip, lines[-1])):
        lines.pop()
    heads, rows = ([], lines) if headless else (lines[:1], lines[1:])
    if not rows:
        wanted = "rows are" if headless else "a line of heads and rows are"
        raise SetupError(f"{str(path)!r} holds no table: {wanted} wanted")
    wide = max(map(len, lines))
    numbers = tuple(str(at) for at in range(1, wide + 1))
    named = (*heads[0], *numbers[len(heads[0]) :]) if heads else numbers
    return named, tuple(tuple((*row, *[""] * wide)[:wide]) for row in rows)


async def annotated(
    graph: KnowledgeGraph,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    candidates: int = 5,
    language: str | None = None,
    progress: Progress = silent,
) -> Annotated:
    """Annotate a table; of each cell at most so many candidates are told.

    Raises `SetupError` if the graph has no index of entities, `ServiceError` if it is down.
    """
    columns = range(len(heads))
    texts = dict.fromkeys(cell.strip() for row in (heads, *rows) for cell in row)
    named = await _named(graph, list(filter(None, texts)), 2 * candidates, progress)
    things = []
    for at in columns:
        cells = [text for row in rows if (text := row[at].strip())]
        known = sum(any(one.score >= _LINKED for one in named.get(text, ())) for text in cells)
        things.append(bool(cells) and known / len(cells) >= _THINGS)
    of_things = [at for at in columns if things[at]]
    wanted = {
        one.iri
        for row in (heads, *rows)
        for at in of_things
        for one in named.get(row[at].strip(), ())
    }
    facts = await _facts(graph, sorted(wanted), progress)
    table = _Table(graph, tuple(map(tuple, rows)), things, named, facts)
    classes = [table.classes(at) if things[at] else [] for at in columns]
    pairs = {
        (one, other): found
        for one, other in permutations(columns, 2)
        if things[one] and (found := table.predicates(one, other))
    }
    cells_of_things = [
        Cell(number, at, row[at], table.ranked(number, at, classes[at], pairs)[:candidates])
        for number, row in enumerate(table.rows)
        for at in of_things
        if row[at].strip()
    ]
    used = sorted({iri for found in (*classes, *pairs.values()) for iri, _ in found[:candidates]})
    labels: dict[str, str] = {}
    for at in range(0, len(used), MOST_LABELS):
        labels |= await labels_of(used[at : at + MOST_LABELS], graph, [language or "en", "en"])

    def told(found: Sequence[tuple[str, float]]) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(iri, labels.get(iri) or words_of_local_name(iri), round(score, 3))
            for iri, score in found[:candidates]
        )

    headless = bool(of_things) and all(
        table.is_below(heads[at], iri) and _alike(heads[at], labels.get(iri, "")) < _LINKED
        for at in of_things
        for iri, _ in classes[at][:1] or [("", 0.0)]
    )
    return Annotated(
        tuple(heads),
        table.rows,
        tuple(Column(heads[at], things[at], told(classes[at])) for at in columns),
        tuple(Pair(one, other, told(found)) for (one, other), found in pairs.items()),
        tuple(cells_of_things),
        headless,
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """The rows with the candidates of their cells by name, and the triples that lead from these."""

    graph: KnowledgeGraph
    rows: tuple[tuple[str, ...], ...]
    things: Sequence[bool]
    named: Mapping[str, Sequence[Candidate]]
    facts: Facts

    @property
    def kind(self) -> str:
        """The predicate that says what a thing is."""
        return dict(self.graph.profile.types).get(v.RDF_TYPE, v.RDF_TYPE)

    def candidates(self, row: int, column: int) -> Sequence[Candidate]:
        """What the name in a cell may mean."""
        return self.named.get(self.rows[row][column].strip(), ()) if self.things[column] else ()

    def likely(self, row: int, column: int) -> list[Candidate]:
        """Those of them whose name is as good as the best: only these speak for the column."""
        known = self.candidates(row, column)
        return [one for one in known if one.score >= known[0].score - _NEAR]

    def types(self, iri: str) -> set[str]:
        """The classes of a thing."""
        known = self.facts.get(iri, ())
        return {o.value for p, o in known if p == self.kind and isinstance(o, NamedNode)}

    def is_below(self, head: str, kind: str) -> bool:
        """Whether a head names a thing of the class of the cells below it."""
        known = self.named.get(head.strip(), ())
        return any(one.score >= _LINKED and kind in self.types(one.iri) for one in known)

    def classes(self, column: int) -> list[tuple[str, float]]:
        """Classes by the share of the cells that may be of them; of equals the smaller first."""
        found = Counter[str]()
        cells = 0
        for row in range(len(self.rows)):
            best: dict[str, float] = {}
            for one in self.likely(row, column):
                for iri in self.types(one.iri):
                    best[iri] = max(best.get(iri, 0.0), one.score)
            cells += bool(self.rows[row][column].strip())
            found.update(best)
        sizes = {one.iri: one.instances for one in self.graph.profile.classes}
        shares = [(iri, total / cells) for iri, total in found.items()]
        kept = [one for one in shares if one[1] >= _HOLDS]
        return sorted(kept, key=lambda one: (-round(one[1], 3), sizes.get(one[0], 0), one[0]))

    def predicates(self, one: int, other: int) -> list[tuple[str, float]]:
        """Predicates by the share of the rows in which they lead from a column to another."""
        found = Counter[str]()
        rows = 0
        for row, cells in enumerate(self.rows):
            if not (cells[one].strip() and cells[other].strip()):
                continue
            rows += 1
            meant = (self.leading(at.iri, row, other) for at in self.likely(row, one))
            found.update({iri for some in meant for iri in some})
        naming = {known.iri for known in self.graph.profile.predicates if known.naming}
        shares = ((iri, number / rows) for iri, number in found.items() if iri not in naming)
        kept = (pair for pair in shares if pair[1] >= _HOLDS)
        return sorted(kept, key=lambda pair: (-pair[1], pair[0]))

    def leading(self, iri: str, row: int, column: int) -> set[str]:
        """The predicates that lead from a thing to what a cell may mean."""
        meant = {one.iri for one in self.likely(row, column)}
        text = self.rows[row][column]
        return {
            predicate
            for predicate, term in self.facts.get(iri, ())
            if predicate != self.kind and (value_of(term) in meant or _says(term, text))
        }

    def ranked(
        self,
        row: int,
        column: int,
        classes: Sequence[tuple[str, float]],
        pairs: Mapping[tuple[int, int], Sequence[tuple[str, float]]],
    ) -> tuple[Candidate, ...]:
        """The candidates of a cell by their names, the column's class and its predicates."""

        def fits(one: Candidate) -> float:
            held = []
            for (subject, other), found in pairs.items():
                best = found[0][0]
                if subject == column:
                    held.append(best in self.leading(one.iri, row, other))
                if other == column:
                    sources = self.candidates(row, subject)
                    facts = (self.facts.get(source.iri, ()) for source in sources)
                    held.append(any((best, NamedNode(one.iri)) in known for known in facts))
            parts = [(_NAME_WEIGHT, one.score)]
            if classes:
                parts.append((_CLASS_WEIGHT, float(classes[0][0] in self.types(one.iri))))
            if held:
                parts.append((_PREDICATES_WEIGHT, sum(held) / len(held)))
            return sum(weight * part for weight, part in parts) / sum(weight for weight, _ in parts)

        scored = [replace(one, score=round(fits(one), 3)) for one in self.candidates(row, column)]
        return tuple(sorted(scored, key=lambda one: -one.score))


async def _named(
    graph: KnowledgeGraph, texts: Sequence[str], limit: int, progress: Progress
) -> dict[str, tuple[Candidate, ...]]:
    """What each text may mean, by names alone."""
    index = graph.indices.get("entities")
    if index is None:
        raise SetupError(f"graph {graph.name!r} has no index of entities: askgraph index build")

    def found(text: str) -> list[Candidate]:
        items = [hit.item for hit in index.search(text, limit=limit)]
        scores = [max(_alike(text, name) for name in item.names) for item in items]
        both = zip(items, scores, strict=True)
        return [Candidate(one.iri, one.label, score) for one, score in both if score >= _LIKE]

    named = {}
    for done, text in enumerate(texts):
        if _number(text) is None:
            listed = await asyncio.to_thread(found, text)
            named[text] = tuple(sorted(listed, key=lambda one: -one.score))
        progress("looking for names", done + 1, len(texts))
    return named


async def _facts(graph: KnowledgeGraph, iris: Sequence[str], progress: Progress) -> Facts:
    """The triples that lead from things."""
    found = defaultdict[str, list[tuple[str, Term]]](list)
    for at in range(0, len(iris), _AT_ONCE):
        values = " ".join(str(NamedNode(iri)) for iri in iris[at : at + _AT_ONCE])
        query = f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {values} }} ?s ?p ?o }}"
        result = await graph.endpoint.select(query, limit=_TRIPLES)
        for subject, predicate, term in result.rows:
            if isinstance(subject, NamedNode) and isinstance(predicate, NamedNode) and term:
                found[subject.value].append((predicate.value, term))
        progress("asking what they are", min(at + _AT_ONCE, len(iris)), len(iris))
    return found


def _alike(text: str, name: str) -> float:
    return float(fuzz.ratio(folded(text), folded(name))) / 100


def _number(text: str) -> float | None:
    """The number that a text is, with a point or a comma before its decimals."""
    bare = text.strip().rstrip("%").strip()
    if _DECIMAL_COMMA.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    try:
        found = float(bare.replace(",", ""))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _says(term: Term, text: str) -> bool:
    """Whether a literal has the value of a cell: the same words, or as good as the same number."""
    if not isinstance(term, Literal):
        return False
    mine, theirs = _number(text), _number(term.value)
    if mine is not None and theirs is not None:
        return abs(mine - theirs) <= _CLOSE * abs(theirs)
    return folded(text.strip()) == folded(term.value)
