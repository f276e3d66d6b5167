"""Answers to fit confidences to: to people's questions, and to questions that a graph gives itself.

A case is the first answer of graph search, with what speaks for it and its score. What the second
answers are worth is not fitted.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from tools.accuracy_floors import floors_run

from askgraph.candidates.calibration import calibrated
from askgraph.candidates.decide import evidence_for, weighed
from askgraph.candidates.propose import proposed, read_and_linked, schema_of
from askgraph.candidates.vote import clusters
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples.drafts import drafts
from askgraph.methods import Method
from askgraph.trace import Answer, Question
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.answering import outcome_of
from askgraph.workspace.planning import Asked
from askgraph.workspace.running import result_of
from askgraph.workspace.two_readings import results_of, same

__all__ = ["VARIANTS", "Case", "cases", "generated_cases"]

VARIANTS = {"default": "supply-kgrep", "inverse-and-shortcut": "supply-kgrep"}
_SECONDS = 10.0


@dataclass(frozen=True)
class Case:
    """A first answer: the set and the graph it is of, what speaks for it, and its F1.

    A `generated` question was made from a template; its F1 is 1 where the answer is what the
    template's own query gives, else 0.
    """

    set: str
    evidence: Mapping[str, float]
    f1: float
    graph: str = ""
    generated: bool = False

    @property
    def given(self) -> float:
        """What the logistic model gives for it."""
        return weighed(self.evidence)


def cases(asked: Asked, workspace: Workspace) -> Iterator[Case]:
    """The first answers of a set; where the first cluster gave no result, there is none.

    An answer to a question that the graph cannot answer has F1 0.
    """
    run = floors_run(workspace, [asked], method=DEFAULT_METHOD)
    records = {record.id: record for record in run.records}
    name = VARIANTS.get(asked.name, asked.name)
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        try:
            for question, place in zip(asked.questions, asked.graphs, strict=True):
                if place != source:
                    continue
                evidence = _evidence(question.text, question.language, graph)
                record = records[question.id]
                if evidence is None or record.error or record.gold_error:
                    continue
                if _is_first(record.confidence, evidence):
                    f1 = 0.0 if question.unanswerable else record.f1
                    yield Case(name, evidence, f1, _title(asked.name, graph))
        finally:
            result_of(_closed(graph.endpoint))


def generated_cases(asked: Asked, workspace: Workspace, *, number: int) -> Iterator[Case]:
    """First answers to so many questions that the profile of each graph of a set suggests."""
    method = workspace.method()
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_generated(graph, method, asked.name, number))


async def _generated(graph: KnowledgeGraph, method: Method, name: str, number: int) -> list[Case]:
    try:
        async with aclosing(_answered(graph, method, name)) as found:
            kept: list[Case] = []
            async for case in found:
                kept.append(case)
                if len(kept) == number:
                    break
            return kept
    finally:
        await graph.endpoint.close()


async def _answered(graph: KnowledgeGraph, method: Method, name: str) -> AsyncGenerator[Case, None]:
    async with aclosing(drafts(graph.profile, graph.endpoint, graph.prefixes)) as given:
        async for draft in given:
            evidence = _evidence(draft.question, "en", graph)
            try:
                results = await results_of(draft, graph)
                if not results or evidence is None:
                    continue
                asked = Question(draft.question, "en")
                outcome = await outcome_of(asked, method, [graph], timeout=_SECONDS)
            except (QueryError, ServiceError):
                continue
            best = outcome if isinstance(outcome, Answer) else outcome.best
            if best is None or not _is_first(best.confidence, evidence):
                continue
            right = any(same(best, query, result) for query, result in results)
            variant = VARIANTS.get(name, name)
            yield Case(variant, evidence, float(right), _title(name, graph), generated=True)


def _evidence(text: str, language: str | None, graph: KnowledgeGraph) -> dict[str, float] | None:
    if graph.arrays is None:
        return None
    linked = read_and_linked(text, language, graph.names)
    proposal = proposed(linked, schema_of(graph.arrays, graph.profile))
    found = clusters(proposal.candidates)
    return evidence_for(proposal, found) if found else None


def _is_first(confidence: float, evidence: Mapping[str, float]) -> bool:
    """Whether an answer is that of the first cluster: later ones are trusted less."""
    return abs(confidence - calibrated(weighed(evidence))) < 1e-4


def _title(name: str, graph: KnowledgeGraph) -> str:
    """What a graph counts as: variants of one graph are one."""
    return VARIANTS.get(name, graph.name)


async def _closed(endpoint: Endpoint) -> None:
    await endpoint.close()
