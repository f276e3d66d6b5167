"""How often the examples that a question is shown are put together like its own query.

    python benchmarks/retrieval.py [--embedder NAME]

Recall: the share of questions for which one of the five nearest examples has the skeleton of the
gold query (`askgraph.sparql.rewrite.canonical`), over the questions for which the store holds such
an example at all; how many these are stands beside it. The store is, for Spider4SPARQL, the
questions about all other graphs, for supply-kgrep and the sample graph all other questions, always
without those that repeat the question (`askgraph.evaluation.gold`). The first two need
ASKGRAPH_DATA, else ../shared/data. `linked` terms are those that we find, `given` those
of the gold query. `chance` is the mean recall of five examples drawn at random.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path

from _measure import print_table
from askgraph import sample
from askgraph.errors import QueryError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.gold.near_duplicates import duplicate_groups
from askgraph.evaluation.metrics.linking import links
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.methods.dfsl.prompt import given_terms, linked_terms
from askgraph.methods.shared.examples import Shot, Term, nearest, shots_of
from askgraph.methods.tools import Context
from askgraph.sparql.rewrite.canonical import skeleton
from askgraph.trace import Question
from askgraph.workspace import Workspace

SHOWN = 5
WAYS = (
    ("form", "linked"),
    ("question", "linked"),
    ("terms", "linked"),
    ("terms", "given"),
    ("masked", "linked"),
    ("masked", "given"),
)


@dataclass(frozen=True)
class Case:
    """A question on its graph; `store` holds the places of the questions that it may be shown."""

    question: GoldQuestion
    graph: KnowledgeGraph
    store: tuple[int, ...]


def sets(folder: Path) -> Iterator[tuple[str, list[Case]]]:
    """The questions of each set, with their graphs opened and their stores."""
    shared = Path(__file__).parents[2] / "shared" / "data"
    data = Path(os.environ.get("ASKGRAPH_DATA") or shared)
    if (data / "spider4sparql").is_dir():
        spider = asked(data / "spider4sparql" / "questions.jsonl")
        files = {q.graph: [data / "spider4sparql" / "kg" / str(q.graph)] for q in spider}
        opened = {
            name: graph(folder, f"spider-{Path(str(name)).stem}", files[name]) for name in files
        }
        yield "Spider4SPARQL", cases(spider, lambda q: opened[q.graph], lambda q: q.graph)
    if (data / "supply-kgrep").is_dir():
        boxes = [data / "supply-kgrep" / "kg" / f"{box}-box-default.ttl" for box in "at"]
        supply = graph(folder, "supply", boxes)
        yield (
            "supply-kgrep",
            cases(
                asked(data / "supply-kgrep" / "questions.jsonl"), lambda _: supply, lambda q: q.id
            ),
        )
    space = graph(folder, "space", [sample.graph_path()])
    questions = asked(sample.questions_path().with_suffix(".jsonl"))
    yield "sample", cases(questions, lambda _: space, lambda q: q.id)


def asked(path: Path) -> list[GoldQuestion]:
    """The questions with a query that can be read."""
    return [question for question in read_questions(path) if kind(question.sparql or "")]


def graph(folder: Path, name: str, files: list[Path]) -> KnowledgeGraph:
    """A graph in a workspace of its own."""
    workspace = Workspace(folder / name)
    workspace.add(name, files)
    return workspace.graph(name)


def cases(
    questions: list[GoldQuestion],
    of: Callable[[GoldQuestion], KnowledgeGraph],
    apart: Callable[[GoldQuestion], object],
) -> list[Case]:
    """Each question with the store of those that are `apart` from it and do not repeat it."""
    repeats = duplicate_groups(
        [GoldQuestion(q.id, q.text, q.language, q.sparql) for q in questions]
    )
    return [
        Case(
            question,
            of(question),
            tuple(
                place
                for place, other in enumerate(questions)
                if apart(other) != apart(question) and repeats[place] != repeats[at]
            ),
        )
        for at, question in enumerate(questions)
    ]


def kind(query: str) -> str:
    """The skeleton of a query; empty where it cannot be read."""
    try:
        return skeleton(query)
    except QueryError:
        return ""


async def found(cases: Sequence[Case], embedder: str | None) -> dict[tuple[str, str], list[bool]]:
    """Whether one of the nearest examples has the question's skeleton, for each way to compare."""
    kinds = [kind(case.question.sparql or "") for case in cases]
    examples = [
        QueryExample(case.question.text, case.question.sparql or "", case.question.language)
        for case in cases
    ]
    stores: dict[str, tuple[Shot, ...]] = {}
    hits: dict[tuple[str, str], list[bool]] = {way: [] for way in WAYS}
    for case, own in zip(cases, kinds, strict=True):
        if own not in {kinds[at] for at in case.store}:
            continue
        context = Context(case.graph, asking(case.question))
        if case.graph.name not in stores:
            stores[case.graph.name] = await shots_of(context, examples)
        store = [stores[case.graph.name][at] for at in case.store]
        terms = {
            "linked": (await linked_terms(context)).terms,
            "given": (await given_terms(context)).terms,
        }
        for match, source in WAYS:
            shown = similar(case.question.text, terms[source], store, match, embedder)
            hits[match, source].append(any(kind(shot.example.query) == own for shot in shown))
    return hits


def asking(question: GoldQuestion) -> Question:
    """The question with the entities and relations of its gold query."""
    gold = links(question.sparql)
    return Question(
        question.text, question.language, given=(*sorted(gold.entities), *sorted(gold.predicates))
    )


def similar(
    question: str, terms: Sequence[Term], store: Sequence[Shot], match: str, embedder: str | None
) -> list[Shot]:
    """The examples that the question is shown."""
    return nearest(question, terms, store, limit=SHOWN, match=match, embedder=embedder)


def chance(cases: Sequence[Case]) -> float:
    """The mean recall of examples drawn at random, over the questions that have one to find."""
    kinds = [kind(case.question.sparql or "") for case in cases]
    shares = []
    for case, own in zip(cases, kinds, strict=True):
        alike = sum(kinds[at] == own for at in case.store)
        if alike:
            there = len(case.store)
            shares.append(1 - comb(there - alike, SHOWN) / comb(there, SHOWN))
    return sum(shares) / len(shares)


async def measured(cases: Sequence[Case], embedder: str | None) -> list[str]:
    """The cells of one set's row."""
    try:
        hits = await found(cases, embedder)
    finally:
        for opened in {id(case.graph): case.graph for case in cases}.values():
            await opened.endpoint.close()
    findable = len(next(iter(hits.values())))
    shares = [f"{sum(hits[way]) / findable:.1%}" for way in WAYS]
    return [str(len(cases)), str(findable), f"{chance(cases):.1%}", *shares]


def main() -> None:
    """Measure and print."""
    embedder = sys.argv[2] if sys.argv[1:2] == ["--embedder"] else None
    lines = [
        ["set", "questions", "findable", "chance", *(f"{match}, {how}" for match, how in WAYS)]
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, there in sets(Path(folder)):
            lines.append([name, *asyncio.run(measured(there, embedder))])
    print_table(*lines)


if __name__ == "__main__":
    main()
