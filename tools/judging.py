"""Candidates of graph search for questions over one graph, scored by what they give against gold.

Weights of the ranking (`ranking.py`) and of confidence (`calibrate.py`) are fitted to them, and
`unseen.py` measures by them. Scores of queries are kept in a file where a folder is named: features
change more often than results.
"""

import asyncio
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt
from tools.accuracy_floors import FLOORS, data_folder, sets

from askgraph.errors import AskgraphError, QueryError, ServiceError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.files import replace_file
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import GoldQuestion, run_query, score_by_name
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import Result
from askgraph.graph.examples.drafts import ExampleDraft, generate_drafts
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import Cluster, RankedCandidates
from askgraph.sparql.comparison import Cell
from askgraph.sparql.serializer import render_query
from askgraph.workspace import Workspace
from askgraph.workspace.generation import fetch_results
from askgraph.workspace.plans import BenchmarkQuestions

Floats = npt.NDArray[np.float64]
Weights = Mapping[str, float]
Item = TypeVar("Item")

VARIANTS = {"default": "supply-kgrep", "inverse-and-shortcut": "supply-kgrep"}
"""Graphs that count as one, by the names of their sets."""

Source = Literal["people", "generated", "masked"]

PARTS: Mapping[Source, float] = {"people": 1.0, "generated": 0.25, "masked": 0.1}
"""The weight of all questions of a source over one graph, for each 1 of people's."""

Score = tuple[float, float, bool]
"""The F1 of a query by its best column, its F1 by names, and whether the result is empty."""


def find_sets(
    workspace: Workspace, names: Sequence[str] | None, *, every: bool
) -> list[BenchmarkQuestions]:
    """Return the sets of these names, or all that are there; `every` if none may be missing."""
    chosen = list(sets(data_folder(), workspace, names or ()))
    missing = set(FLOORS) - {one.name for one in chosen}
    if not chosen or (every and missing):
        raise SystemExit(f"{data_folder()} lacks {', '.join(sorted(missing))}")
    return chosen


def open_graphs(
    asked: BenchmarkQuestions, workspace: Workspace, scores: Path | None = None
) -> Iterator[tuple["Judge", str, list[GoldQuestion]]]:
    """Yield a judge of each graph of a set, the name that it counts by, and its own questions.

    Variants of one graph are one.
    """
    for source in dict.fromkeys(asked.graphs):
        pairs = zip(asked.questions, asked.graphs, strict=True)
        with Judge(workspace.find(source), scores) as judge:
            title = VARIANTS.get(asked.name, judge.graph.name)
            yield judge, title, [question for question, place in pairs if place == source]


def share_weights(cases: Sequence[tuple[str, Source]]) -> Floats:
    """Return the weight of each case, given by its graph and source.

    A graph weighs the square root of the number of people's questions, so that none rules and none
    is ruled by a few; `PARTS` has the weight of other sources beside these.
    """
    count = Counter(cases)
    return np.array(
        [
            (count[graph, "people"] or count[graph, source]) ** 0.5
            * PARTS[source]
            / count[graph, source]
            for graph, source in cases
        ]
    )  # fmt: skip


def group_others(items: Sequence[Item], group: Callable[[Item], str]) -> dict[str, list[Item]]:
    """Return for each group of items all those of other groups."""
    names = sorted(set(map(group, items)))
    return {name: [item for item in items if group(item) != name] for name in names}


@dataclass
class Judge:
    """A graph that is searched, and the scores of queries over it; use it in a `with` statement.

    Args:
        graph: It is closed at the end.
        scores: A folder of scores by graph; none are kept if it is None.
        names: The names of things, for the F1 by name; without them it is that of the best column.
        seconds: The time that a candidate's query may take.
    """

    graph: KnowledgeGraph
    scores: Path | None = None
    names: Mapping[str, Set[Cell]] = field(default_factory=dict)
    seconds: float = 10.0
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    known: dict[str, Score] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Read the scores that were kept."""
        if self._path is not None and self._path.is_file():
            kept = json.loads(gzip.decompress(self._path.read_bytes()))
            self.known = {key: (f1, named, empty) for key, (f1, named, empty) in kept.items()}
        return self

    def __exit__(self, *_: object) -> None:
        """Keep the scores and close the graph."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(self._path) as file:
                file.write(gzip.compress(json.dumps(self.known).encode(), 1))
        self.runner.run(self.graph.endpoint.close())
        self.runner.close()

    @property
    def _path(self) -> Path | None:
        return None if self.scores is None else self.scores / f"{self.graph.name}.json.gz"

    def propose(
        self, text: str, language: str | None, weights: Weights | None = None
    ) -> RankedCandidates:
        """Grow and rank the candidates for a question."""
        graph = self.graph
        if graph.arrays is None:
            raise ValueError(f"the graph {graph.name!r} has no arrays to grow candidates over")
        linked = link_text(text, language, graph.names)
        schema = build_schema(graph.arrays, graph.profile)
        return propose_from_links(linked, schema, weights=weights)

    def score(
        self, key: str, cluster: Cluster, golds: Callable[[], Sequence[ResultTable]]
    ) -> tuple[str, Score]:
        """Return the query of a cluster's best candidate and its score for the question `key`.

        Gold is asked for if the score is not known; of several tables the nearest counts. A result
        that cannot be had counts as empty.
        """
        query = render_query(cluster.best.query, self.graph.prefixes)
        known = hashlib.sha256(f"{key} {query}".encode()).hexdigest()[:20]
        if known not in self.known:
            self.known[known] = self._score(query, golds())
        return query, self.known[known]

    def _score(self, query: str, golds: Sequence[ResultTable]) -> Score:
        try:
            table = self.table(query, self.seconds)
        except AskgraphError:
            return 0.0, 0.0, True
        f1 = max(best_column(table, gold).f1 for gold in golds)
        named = (
            max(score_by_name(table, gold, self.names).f1 for gold in golds) if self.names else f1
        )
        return f1, named, not table.rows

    def table(self, query: str, seconds: float) -> ResultTable:
        """Run a query; raises what the endpoint raises."""
        return self.runner.run(run_query(query, self.graph.endpoint, timeout=seconds))

    def drafts(self) -> Iterator[tuple[ExampleDraft, list[tuple[str, Result]]]]:
        """Yield questions that the graph suggests, each with its queries and what they give."""
        suggested = generate_drafts(self.graph.profile, self.graph.endpoint, self.graph.prefixes)

        async def find_next() -> tuple[ExampleDraft, list[tuple[str, Result]]] | None:
            async for draft in suggested:
                with suppress(QueryError, ServiceError):
                    if results := await fetch_results(draft, self.graph):
                        return draft, results
            return None

        while draft := self.runner.run(find_next()):
            yield draft


@dataclass(frozen=True)
class Found:
    """Candidates with one result: the features of each, the F1 of the result, if it is empty."""

    members: tuple[Mapping[str, float], ...]
    f1: float
    empty: bool


@dataclass(frozen=True)
class Case:
    """A question of a set and the clusters of its candidates.

    `name` is that of its graph, `graph` what it counts as: variants of one graph are one.
    """

    id: str
    set: str
    name: str
    graph: str
    found: tuple[Found, ...]
    source: Source = "people"
