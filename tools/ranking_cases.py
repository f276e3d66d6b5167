"""Candidates to fit a ranking to: all readings of people's and of generated questions, scored.

A case is one question with the best clusters of its candidates: the features of each candidate, and
the F1 (best column) of each cluster's result. Scores are kept in a file where one is named: the
features change more often than the results.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from tools.calibration_cases import VARIANTS

from askgraph.errors import AskgraphError, QueryError, ServiceError
from askgraph.evaluation import Table
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import gold_or_reason, query_table
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples.drafts import drafts
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import clusters
from askgraph.sparql.results import SelectResult
from askgraph.sparql.write import plain_text
from askgraph.workspace import Workspace
from askgraph.workspace.generation import results_of
from askgraph.workspace.plans import Asked
from askgraph.workspace.run_sync import result_of

__all__ = ["Case", "Found", "Scores", "cases_of", "generated_of"]

_SECONDS = 10.0


@dataclass(frozen=True)
class Found:
    """Candidates with one result: the features of each, the F1 of the result, whether it is empty.

    `query` is that of the best of them. A result that could not be had counts as empty.
    """

    query: str
    members: tuple[Mapping[str, float], ...]
    f1: float
    empty: bool


@dataclass(frozen=True)
class Case:
    """A question of a set and what was found for it.

    `name` is what its graph is called, `graph` what it counts as: variants of one graph are one.
    """

    id: str
    question: str
    set: str
    name: str
    graph: str
    found: tuple[Found, ...]
    generated: bool = False


@dataclass
class Scores:
    """F1 and emptiness of queries by question, kept as lines of JSON where a file is named."""

    path: Path | None = None
    known: dict[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read what was kept."""
        if self.path is not None and self.path.is_file():
            for line in self.path.read_text("utf-8").splitlines():
                question, query, f1, empty = json.loads(line)
                self.known[question, query] = f1, empty

    def keep(self, question: str, query: str, score: tuple[float, bool]) -> None:
        """Remember a score."""
        self.known[question, query] = score
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([question, query, *score]) + "\n")


def cases_of(asked: Asked, workspace: Workspace, scores: Scores, *, most: int) -> Iterator[Case]:
    """People's questions of a set that have an answer, each with its `most` best clusters."""
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_of_people(asked, graph, source, _Judge(graph, scores, most)))


def generated_of(
    asked: Asked, workspace: Workspace, scores: Scores, *, most: int, number: int
) -> Iterator[Case]:
    """So many questions that the profile of each graph of a set suggests."""
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_of_graph(asked.name, graph, number, _Judge(graph, scores, most)))


@dataclass(frozen=True)
class _Judge:
    """Finds and scores the best clusters of one question after the other over a graph."""

    graph: KnowledgeGraph
    scores: Scores
    most: int

    async def found(
        self, key: str, text: str, language: str | None, gold: Sequence[Table]
    ) -> tuple[Found, ...]:
        """The best clusters with the F1 of each: of several tables of gold the nearest counts."""
        if self.graph.arrays is None:
            return ()
        linked = link_text(text, language, self.graph.names)
        proposal = propose_from_links(linked, build_schema(self.graph.arrays, self.graph.profile))
        found = []
        for cluster in clusters(proposal.candidates)[: self.most]:
            query = plain_text(cluster.best.query, self.graph.prefixes)
            if (key, query) not in self.scores.known:
                self.scores.keep(key, query, await self._score(query, gold))
            members = tuple(dict(member.features) for member in cluster.members)
            found.append(Found(query, members, *self.scores.known[key, query]))
        return tuple(found)

    async def _score(self, query: str, gold: Sequence[Table]) -> tuple[float, bool]:
        try:
            table = await query_table(query, self.graph.endpoint, timeout=_SECONDS)
        except AskgraphError:
            return 0.0, True
        return max(best_column(table, one).f1 for one in gold), not table.rows


async def _of_people(
    asked: Asked, graph: KnowledgeGraph, source: str | Path, judge: _Judge
) -> list[Case]:
    title, cases = _title(asked.name, graph), []
    try:
        for question, place in zip(asked.questions, asked.graphs, strict=True):
            if place != source or question.unanswerable:
                continue
            gold, _ = await gold_or_reason(question, graph.endpoint, timeout=_SECONDS)
            if gold is not None:
                key = f"{asked.name} {question.id}"
                found = await judge.found(key, question.text, question.language, [gold])
                cases.append(Case(key, question.text, asked.name, graph.name, title, found))
        return cases
    finally:
        await graph.endpoint.close()


async def _of_graph(name: str, graph: KnowledgeGraph, number: int, judge: _Judge) -> list[Case]:
    title = _title(name, graph)
    cases: list[Case] = []
    try:
        async with aclosing(drafts(graph.profile, graph.endpoint, graph.prefixes)) as given:
            async for draft in given:
                try:
                    results = await results_of(draft, graph)
                except (QueryError, ServiceError):
                    continue
                if results:
                    key = f"{name} {graph.name} generated {draft.question}"
                    gold = [_table(result) for _, result in results]
                    found = await judge.found(key, draft.question, "en", gold)
                    made = Case(key, draft.question, name, graph.name, title, found, generated=True)
                    cases.append(made)
                if len(cases) == number:
                    break
        return cases
    finally:
        await graph.endpoint.close()


def _table(result: object) -> Table:
    if isinstance(result, bool):
        return Table.of_boolean(result)
    if not isinstance(result, SelectResult):
        raise TypeError("a draft asks for rows or for yes or no")
    return Table.of_result(result)


def _title(name: str, graph: KnowledgeGraph) -> str:
    """What a graph counts as: variants of one graph are one."""
    return VARIANTS.get(name, graph.name)
