"""Answers to fit confidences to: to people's questions, and to questions that a graph gives itself.

Some of the latter have a word masked that nobody knows, so that most of them cannot be answered.
Each graph is ranked by weights that were fitted without it.

A case is the answer of graph search to a question, with what speaks for its best reading and its
score. The graphs of one original (default, inverse and shortcut properties) count as one graph.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np
import numpy.typing as npt
from tools.accuracy_floors import HELD_OUT, floors_run

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples.drafts import drafts
from askgraph.methods import Method
from askgraph.search.decide import calibrated, collect_evidence, weighed
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import Proposal, clusters, weights_for
from askgraph.trace import Answer, Question
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.generation import results_of, same
from askgraph.workspace.outcome import outcome_of
from askgraph.workspace.plans import Asked
from askgraph.workspace.run_sync import result_of

__all__ = ["PARTS", "VARIANTS", "Case", "Floats", "Source", "cases", "generated_cases", "shares"]

Floats = npt.NDArray[np.float64]

VARIANTS = {"default": "supply-kgrep", "inverse-and-shortcut": "supply-kgrep"}

Source = Literal["people", "generated", "masked"]

PARTS: Mapping[Source, float] = {"people": 1.0, "generated": 0.25, "masked": 0.1}
"""What all questions of a source weigh over one graph, for each 1 that people's weigh."""

_UNHEARD = "qwertzuiop"
_SECONDS = 10.0
_RIGHT = 1 - 1e-9


@dataclass(frozen=True)
class Case:
    """An answer: the set and the graph it is of, what speaks for its best reading, and its F1.

    `left` is what is left of the confidence in the best reading, below 1 where another reading was
    passed over or the result is empty; `asked` is the set by its own name, `fold` a group of graphs
    that are left out together. A `generated` question
    was made from a template; its F1 is 1 where the answer is what the template's own query gives,
    else 0. In a `masked` one a word is replaced by one that means nothing; only where the best
    query stays the same, its F1 does, else it is 0.
    """

    set: str
    evidence: Mapping[str, float]
    f1: float
    graph: str = ""
    source: Source = "people"
    left: float = 1.0
    asked: str = ""
    fold: str = ""

    @property
    def held(self) -> str:
        """What is left out as a whole when this case is judged: its fold, else its graph."""
        return self.fold or self.graph

    @property
    def given(self) -> float:
        """What the logistic model in use gives for it."""
        return weighed(self.evidence)

    @property
    def right(self) -> bool:
        """Whether nothing of the answer is wrong or missing."""
        return self.f1 >= _RIGHT


def shares(found: Sequence[Case]) -> Floats:
    """Return the weight of each case, 1 on average.

    A graph weighs the square root of the number of people's questions, so that none rules and none
    is ruled by a few; what others weigh beside these is in `PARTS`.
    """
    number = Counter((case.graph, case.source) for case in found)
    weights = np.array(
        [
            (number[case.graph, "people"] or number[case.graph, case.source]) ** 0.5
            * PARTS[case.source]
            / number[case.graph, case.source]
            for case in found
        ]
    )  # fmt: skip
    return np.asarray(weights / weights.mean())


def cases(asked: Asked, workspace: Workspace, *, jobs: int = 1) -> Iterator[Case]:
    """The answers to the questions of a set; where there is no attempt at all, there is no case.

    An answer to a question that the graph cannot answer has F1 0.
    """
    run = floors_run(
        workspace, [asked], method=DEFAULT_METHOD, settings=[f"ranking={HELD_OUT}"], jobs=jobs
    )
    records = {record.id: record for record in run.records}
    name = VARIANTS.get(asked.name, asked.name)
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        try:
            for question, place in zip(asked.questions, asked.graphs, strict=True):
                record = records[question.id]
                if place != source or record.sparql is None or record.error or record.gold_error:
                    continue
                evidence = _evidence(question.text, question.language, graph)
                if evidence is not None:
                    f1 = 0.0 if question.unanswerable else record.f1
                    left = _left(record.confidence, evidence)
                    title = _title(asked.name, graph)
                    yield Case(name, evidence, f1, title, left=left, asked=asked.name)
        finally:
            result_of(_closed(graph.endpoint))


def generated_cases(asked: Asked, workspace: Workspace, *, number: int) -> Iterator[Case]:
    """First answers to so many questions that the profile of each graph of a set suggests.

    After each of them comes the same question with a word masked, where it has one to mask.
    """
    method, chance = workspace.method(settings={"ranking": str(HELD_OUT)}), Random(0)
    for source in dict.fromkeys(asked.graphs):
        graph = workspace.find(source)
        yield from result_of(_generated(graph, method, asked.name, number, chance))


async def _generated(
    graph: KnowledgeGraph, method: Method, name: str, number: int, chance: Random
) -> list[Case]:
    try:
        async with aclosing(_answered(graph, method, name)) as found:
            kept: list[Case] = []
            count = 0
            async for question, case in found:
                kept += [case, *_masked(question, case, graph, chance)]
                count += 1
                if count == number:
                    break
            return kept
    finally:
        await graph.endpoint.close()


async def _answered(
    graph: KnowledgeGraph, method: Method, name: str
) -> AsyncGenerator[tuple[str, Case], None]:
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
            if best is None or _left(best.confidence, evidence) < 1:
                continue
            right = any(same(best, query, result) for query, result in results)
            variant = VARIANTS.get(name, name)
            title = _title(name, graph)
            yield draft.question, Case(variant, evidence, float(right), title, "generated")


def _masked(text: str, case: Case, graph: KnowledgeGraph, chance: Random) -> Iterator[Case]:
    """The same question with one of the words masked that its best query uses."""
    whole = _proposal(text, "en", graph)
    best = clusters(whole.candidates)[0].best
    used = [
        token
        for at, token in enumerate(whole.reading.tokens)
        if whole.linked.weights[at] and best.used >> at & 1 and token.text.isalpha()
    ]
    if not used:
        return
    token = chance.choice(used)
    unheard = _UNHEARD.capitalize() if token.capital else _UNHEARD
    proposal = _proposal(f"{text[: token.start]}{unheard}{text[token.end :]}", "en", graph)
    if found := clusters(proposal.candidates):
        f1 = case.f1 if found[0].best.tree == best.tree else 0.0
        yield Case(case.set, collect_evidence(proposal, found), f1, case.graph, "masked")


def _evidence(text: str, language: str | None, graph: KnowledgeGraph) -> dict[str, float] | None:
    proposal = _proposal(text, language, graph)
    found = clusters(proposal.candidates)
    return collect_evidence(proposal, found) if found else None


def _proposal(text: str, language: str | None, graph: KnowledgeGraph) -> Proposal:
    if graph.arrays is None:
        raise ValueError(f"the graph {graph.name!r} has no arrays to grow candidates over")
    linked = link_text(text, language, graph.names)
    weights = weights_for(graph.name, str(HELD_OUT))
    return propose_from_links(linked, build_schema(graph.arrays, graph.profile), weights=weights)


def _left(confidence: float, evidence: Mapping[str, float]) -> float:
    """What is left of the confidence in the best reading; 1 where that is what was answered."""
    whole = calibrated(weighed(evidence))
    return 1.0 if abs(confidence - whole) < 1e-4 else min(1.0, confidence / whole)


def _title(name: str, graph: KnowledgeGraph) -> str:
    """What a graph counts as: variants of one graph are one."""
    return VARIANTS.get(name, graph.name)


async def _closed(endpoint: Endpoint) -> None:
    await endpoint.close()
