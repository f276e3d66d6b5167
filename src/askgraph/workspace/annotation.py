"""Annotate a table with a graph: cells as resources, columns as classes, pairs as predicates.

No language model is involved: names propose candidates, and the graph's triples select among them.
A class fits a column, and a predicate a pair of columns, by the share of rows in which it holds.
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

from askgraph.answers.verbalize import MAX_LABELS, fetch_term_labels
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import fold_word
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import Term, to_plain_value
from askgraph.workspace.run_sync import Progress, ignore_progress

_MIN_NAME_SCORE = 0.6  # minimum similarity of a name to propose a thing
_MAX_SCORE_GAP = 0.05  # score difference to the best name up to which a cell counts for its column
_MIN_LINKED_SCORE = 0.8  # and one that shows that a column is of things
_MIN_LINKED_SHARE = 0.5  # the share of such cells from which it is
_MIN_ROW_SHARE = 0.5  # minimum share of rows for a class or a predicate
_MAX_NUMBER_ERROR_RATIO = 0.005  # maximum relative error of a number
_MAX_QUERY_SUBJECTS = 100  # things whose triples one query asks for
_MAX_TRIPLES = 20_000  # maximum triples of one query
_NAME_WEIGHT, _CLASS_WEIGHT, _PREDICATES_WEIGHT = 0.6, 0.2, 0.2
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(  # 3643,5 and 1.234,5 and 0,125; not 61,851
    r"[-+]?(?:\d+,(?!\d{3}$)\d+|(?:0|\d{4,}),\d+|\d{1,3}(?:\.\d{3})+,\d+)"
)
FactsBySubject = Mapping[str, Sequence[tuple[str, Term]]]


@dataclass(frozen=True)
class AnnotationCandidate:
    """A possible meaning of a cell, column or pair: an IRI, its label, and its score (0–1)."""

    iri: str
    label: str
    score: float


@dataclass(frozen=True)
class AnnotatedCell:
    """A cell by row (from 0) and column, with its candidates, best first."""

    row: int
    column: int
    text: str
    candidates: tuple[AnnotationCandidate, ...] = ()


@dataclass(frozen=True)
class AnnotatedColumn:
    """A column: whether its cells are resources (`things`), and their classes, best first."""

    name: str
    things: bool
    classes: tuple[AnnotationCandidate, ...] = ()


@dataclass(frozen=True)
class ColumnPair:
    """Two columns by number, and the predicates that lead from the first to the second."""

    subject: int
    object: int
    predicates: tuple[AnnotationCandidate, ...]


@dataclass(frozen=True)
class AnnotatedTable:
    """A table with its annotations; `cells` are those of resource columns.

    `headless` if the heads of resource columns also match the classes below: they may be a
    row.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[AnnotatedColumn, ...]
    pairs: tuple[ColumnPair, ...]
    cells: tuple[AnnotatedCell, ...]
    headless: bool = False

    @property
    def linked_count(self) -> int:
        """The number of cells with a candidate."""
        return sum(bool(cell.candidates) for cell in self.cells)

    def iterate_csv_rows(self) -> Iterator[Sequence[str]]:
        """Yield the table with three more columns for each resource column: IRI, score, others."""
        columns = [at for at, column in enumerate(self.columns) if column.things]
        suffixes = ("iri", "score", "others")
        yield [
            *self.heads,
            *(f"{self.heads[at]} {suffix}" for at in columns for suffix in suffixes),
        ]
        candidates = {(cell.row, cell.column): cell.candidates for cell in self.cells}
        for number, row in enumerate(self.rows):
            new_cells: list[str] = []
            for at in columns:
                texts = [(item.iri, f"{item.score:g}") for item in candidates.get((number, at), ())]
                new_cells += texts[0] if texts else ("", "")
                new_cells.append(" ".join(map(" ".join, texts[1:])))
            yield [*row, *new_cells]


def read_table(
    path: Path, *, headless: bool = False
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Read a table of CSV or TSV: the heads, and complete rows of the same length.

    The heads are the first line. In a `headless` table, and for columns beyond the first
    line, they are column numbers. Empty rows at the end are dropped.

    Raises:
        SetupError: the file cannot be read, or has no row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SetupError(
            f"cannot read the table {str(path)!r}: {error.strerror}; name a CSV or TSV file"
        ) from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{str(path)!r} is not UTF-8 text: save it as CSV in UTF-8") from error
    while text.startswith("#"):
        text = text.partition("\n")[2]
    delimiter = max("\t;,", key=_QUOTED.sub("", text.lstrip("\r\n").partition("\n")[0]).count)
    try:
        lines = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row
        ]
    except csv.Error as error:
        raise SetupError(f"{str(path)!r} is not a table: {error}") from error
    while lines and not any(map(str.strip, lines[-1])):
        lines.pop()
    heads, rows = ([], lines) if headless else (lines[:1], lines[1:])
    if not rows:
        requirement = "rows" if headless else "a header line and rows"
        raise SetupError(f"{str(path)!r} contains no table: it needs {requirement}")
    width = max(map(len, lines))
    numbers = tuple(str(number) for number in range(1, width + 1))
    head_names = (*heads[0], *numbers[len(heads[0]) :]) if heads else numbers
    return head_names, tuple(tuple((*row, *[""] * width)[:width]) for row in rows)


async def annotate_table(
    graph: KnowledgeGraph,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    candidates: int = 5,
    language: str | None = None,
    progress: Progress = ignore_progress,
) -> AnnotatedTable:
    """Annotate a table, with at most `candidates` for each cell.

    Raises:
        SetupError: the graph has no index of entities.
        ServiceError: the endpoint failed.
    """
    columns = range(len(heads))
    texts = dict.fromkeys(cell.strip() for row in (heads, *rows) for cell in row)
    candidates_by_text = await _find_candidates(
        graph, list(filter(None, texts)), 2 * candidates, progress
    )
    is_resource = []
    for at in columns:
        cells = [text for row in rows if (text := row[at].strip())]
        linked_cells = sum(
            any(item.score >= _MIN_LINKED_SCORE for item in candidates_by_text.get(text, ()))
            for text in cells
        )
        is_resource.append(bool(cells) and linked_cells / len(cells) >= _MIN_LINKED_SHARE)
    of_things = [at for at in columns if is_resource[at]]
    candidate_iris = {
        candidate.iri
        for row in (heads, *rows)
        for at in of_things
        for candidate in candidates_by_text.get(row[at].strip(), ())
    }
    facts = await _fetch_facts(graph, sorted(candidate_iris), progress)
    table = _TableMatcher(graph, tuple(map(tuple, rows)), is_resource, candidates_by_text, facts)
    classes = [table.rank_classes(at) if is_resource[at] else [] for at in columns]
    pairs = {
        (subject, value): ranking
        for subject, value in permutations(columns, 2)
        if is_resource[subject] and (ranking := table.rank_predicates(subject, value))
    }
    cells_of_things = [
        AnnotatedCell(
            number,
            at,
            row[at],
            table.rank_cell_candidates(number, at, classes[at], pairs)[:candidates],
        )
        for number, row in enumerate(table.rows)
        for at in of_things
        if row[at].strip()
    ]
    used = sorted(
        {iri for ranking in (*classes, *pairs.values()) for iri, _ in ranking[:candidates]}
    )
    labels: dict[str, str] = {}
    for at in range(0, len(used), MAX_LABELS):
        labels |= await fetch_term_labels(
            used[at : at + MAX_LABELS], graph, [language or "en", "en"]
        )

    def build_candidates(scored: Sequence[tuple[str, float]]) -> tuple[AnnotationCandidate, ...]:
        return tuple(
            AnnotationCandidate(iri, labels.get(iri) or split_local_name(iri), round(score, 3))
            for iri, score in scored[:candidates]
        )

    headless = bool(of_things) and all(
        table.is_instance_head(heads[at], iri)
        and _score_name(heads[at], labels.get(iri, "")) < _MIN_LINKED_SCORE
        for at in of_things
        for iri, _ in classes[at][:1] or [("", 0.0)]
    )
    return AnnotatedTable(
        tuple(heads),
        table.rows,
        tuple(
            AnnotatedColumn(heads[at], is_resource[at], build_candidates(classes[at]))
            for at in columns
        ),
        tuple(
            ColumnPair(subject, value, build_candidates(ranking))
            for (subject, value), ranking in pairs.items()
        ),
        tuple(cells_of_things),
        headless,
    )


@dataclass(frozen=True, eq=False)
class _TableMatcher:
    """The rows with the candidates of their cells by name, and the triples of the candidates."""

    graph: KnowledgeGraph
    rows: tuple[tuple[str, ...], ...]
    is_resource: Sequence[bool]
    candidates_by_text: Mapping[str, Sequence[AnnotationCandidate]]
    facts: FactsBySubject

    @property
    def type_predicate(self) -> str:
        """The predicate that states the class of a resource."""
        return dict(self.graph.profile.types).get(v.RDF_TYPE, v.RDF_TYPE)

    def get_candidates(self, row: int, column: int) -> Sequence[AnnotationCandidate]:
        """Return the candidates of a cell by name."""
        return (
            self.candidates_by_text.get(self.rows[row][column].strip(), ())
            if self.is_resource[column]
            else ()
        )

    def get_best_candidates(self, row: int, column: int) -> list[AnnotationCandidate]:
        """Return the candidates with nearly the best score; only they count for the column."""
        candidates = self.get_candidates(row, column)
        return [item for item in candidates if item.score >= candidates[0].score - _MAX_SCORE_GAP]

    def get_classes(self, iri: str) -> set[str]:
        """Return the classes of a resource."""
        facts = self.facts.get(iri, ())
        return {o.value for p, o in facts if p == self.type_predicate and isinstance(o, NamedNode)}

    def is_instance_head(self, head: str, class_iri: str) -> bool:
        """Return whether a head names an instance of the class of the cells below it."""
        return any(
            candidate.score >= _MIN_LINKED_SCORE and class_iri in self.get_classes(candidate.iri)
            for candidate in self.candidates_by_text.get(head.strip(), ())
        )

    def rank_classes(self, column: int) -> list[tuple[str, float]]:
        """Return classes by the share of cells that may be instances; smaller first if equal."""
        totals = Counter[str]()
        cells = 0
        for row in range(len(self.rows)):
            best: dict[str, float] = {}
            for item in self.get_best_candidates(row, column):
                for iri in self.get_classes(item.iri):
                    best[iri] = max(best.get(iri, 0.0), item.score)
            cells += bool(self.rows[row][column].strip())
            totals.update(best)
        sizes = {item.iri: item.instances for item in self.graph.profile.classes}
        shares = [(iri, total / cells) for iri, total in totals.items()]
        frequent = [item for item in shares if item[1] >= _MIN_ROW_SHARE]
        return sorted(
            frequent, key=lambda item: (-round(item[1], 3), sizes.get(item[0], 0), item[0])
        )

    def rank_predicates(self, subject: int, object: int) -> list[tuple[str, float]]:
        """Return predicates by the share of rows in which they lead from one column to another."""
        row_counts = Counter[str]()
        rows = 0
        for row, cells in enumerate(self.rows):
            if not (cells[subject].strip() and cells[object].strip()):
                continue
            rows += 1
            predicates_by_candidate = (
                self.find_predicates(at.iri, row, object)
                for at in self.get_best_candidates(row, subject)
            )
            row_counts.update({iri for some in predicates_by_candidate for iri in some})
        naming = {predicate.iri for predicate in self.graph.profile.predicates if predicate.naming}
        shares = ((iri, number / rows) for iri, number in row_counts.items() if iri not in naming)
        frequent = (pair for pair in shares if pair[1] >= _MIN_ROW_SHARE)
        return sorted(frequent, key=lambda pair: (-pair[1], pair[0]))

    def find_predicates(self, iri: str, row: int, column: int) -> set[str]:
        """Return the predicates that lead from a resource to a candidate or value of a cell."""
        target_iris = {candidate.iri for candidate in self.get_best_candidates(row, column)}
        text = self.rows[row][column]
        return {
            predicate
            for predicate, term in self.facts.get(iri, ())
            if predicate != self.type_predicate
            and (to_plain_value(term) in target_iris or _has_value(term, text))
        }

    def rank_cell_candidates(
        self,
        row: int,
        column: int,
        classes: Sequence[tuple[str, float]],
        pairs: Mapping[tuple[int, int], Sequence[tuple[str, float]]],
    ) -> tuple[AnnotationCandidate, ...]:
        """Rank the candidates of a cell by their names, the column's class and its predicates."""

        def score_candidate(candidate: AnnotationCandidate) -> float:
            matches = []
            for (subject, object_column), pair_predicates in pairs.items():
                best = pair_predicates[0][0]
                if subject == column:
                    matches.append(best in self.find_predicates(candidate.iri, row, object_column))
                if object_column == column:
                    fact = (best, NamedNode(candidate.iri))
                    sources = self.get_candidates(row, subject)
                    matches.append(any(fact in self.facts.get(item.iri, ()) for item in sources))
            parts = [(_NAME_WEIGHT, candidate.score)]
            if classes:
                parts.append(
                    (_CLASS_WEIGHT, float(classes[0][0] in self.get_classes(candidate.iri)))
                )
            if matches:
                parts.append((_PREDICATES_WEIGHT, sum(matches) / len(matches)))
            return sum(weight * part for weight, part in parts) / sum(weight for weight, _ in parts)

        scored = [
            replace(candidate, score=round(score_candidate(candidate), 3))
            for candidate in self.get_candidates(row, column)
        ]
        return tuple(sorted(scored, key=lambda candidate: -candidate.score))


async def _find_candidates(
    graph: KnowledgeGraph, texts: Sequence[str], limit: int, progress: Progress
) -> dict[str, tuple[AnnotationCandidate, ...]]:
    index = graph.indices.get("entities")
    if index is None:
        raise SetupError(
            f"graph {graph.name!r} has no entity index: build it with: askgraph index build"
        )

    def search_names(text: str) -> list[AnnotationCandidate]:
        items = [hit.item for hit in index.search(text, limit=limit)]
        scores = [max(_score_name(text, name) for name in item.names) for item in items]
        return [
            AnnotationCandidate(item.iri, item.label, score)
            for item, score in zip(items, scores, strict=True)
            if score >= _MIN_NAME_SCORE
        ]

    candidates_by_text = {}
    for done, text in enumerate(texts):
        if _parse_number(text) is None:
            candidates = await asyncio.to_thread(search_names, text)
            candidates_by_text[text] = tuple(
                sorted(candidates, key=lambda candidate: -candidate.score)
            )
        progress("looking for names", done + 1, len(texts))
    return candidates_by_text


async def _fetch_facts(
    graph: KnowledgeGraph, iris: Sequence[str], progress: Progress
) -> FactsBySubject:
    facts = defaultdict[str, list[tuple[str, Term]]](list)
    for at in range(0, len(iris), _MAX_QUERY_SUBJECTS):
        values = " ".join(str(NamedNode(iri)) for iri in iris[at : at + _MAX_QUERY_SUBJECTS])
        query = f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {values} }} ?s ?p ?o }}"
        result = await graph.endpoint.select(query, limit=_MAX_TRIPLES)
        for subject, predicate, term in result.rows:
            if isinstance(subject, NamedNode) and isinstance(predicate, NamedNode) and term:
                facts[subject.value].append((predicate.value, term))
        progress("asking what they are", min(at + _MAX_QUERY_SUBJECTS, len(iris)), len(iris))
    return facts


def _score_name(text: str, name: str) -> float:
    return float(fuzz.ratio(fold_word(text), fold_word(name))) / 100


def _parse_number(text: str) -> float | None:
    bare = text.strip().rstrip("%").strip()
    if _DECIMAL_COMMA.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    try:
        number = float(bare.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _has_value(term: Term, text: str) -> bool:
    """Return whether a literal equals a cell: the same words, or nearly the same number."""
    if not isinstance(term, Literal):
        return False
    cell_number, term_number = _parse_number(text), _parse_number(term.value)
    if cell_number is not None and term_number is not None:
        return abs(cell_number - term_number) <= _MAX_NUMBER_ERROR_RATIO * abs(term_number)
    return fold_word(text.strip()) == fold_word(term.value)
