"""Recorded answers for benchmarks/voting.py: read from files and runs, run again on the graph."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.errors import ErrorReply, QueryError, TimedOut
from askgraph.evaluation import Table
from askgraph.evaluation.questions import gold_table
from askgraph.evaluation.runs import Record, read_run
from askgraph.evaluation.runs.predictions import read_predictions
from askgraph.graph import KnowledgeGraph
from askgraph.sparql import Group, Nested, Pattern
from askgraph.sparql.judge import admitted
from askgraph.sparql.parser import read
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import LABEL_PREDICATES
from askgraph.trace import Answer
from askgraph.workspace import Workspace
from askgraph.workspace.plans import Asked

SECONDS = 20.0  # a query
ROWS = 20_000


@dataclass(frozen=True)
class Recorded:
    """What a method gave to a question in one of its rounds: a query, or none.

    Where it refused or asked back, the query is its best attempt, as `askgraph evaluate` counts.
    """

    method: str
    id: str
    query: str | None
    confidence: float | None = None
    repeat: int = 0


@dataclass(frozen=True)
class Ran:
    """A recorded query with what it gives; none where there is no query, or it cannot be run."""

    recorded: Recorded
    answer: Answer | None


def recorded_in(name: str, path: Path) -> list[Recorded]:
    """Read the answers in a file of predictions, or in a folder of `askgraph evaluate`."""
    if path.is_dir():
        return recorded_of(name, read_run(path).records)
    return [
        Recorded(name, said.id, said.sparql, said.confidence, said.repeat)
        for said in read_predictions(path)
    ]


def recorded_of(name: str, records: Iterable[Record]) -> list[Recorded]:
    """The answers of a run of one method."""
    return [
        Recorded(name, record.id, record.sparql, record.confidence, record.repeat)
        for record in records
    ]


async def run_again(
    workspace: Workspace, benchmarks: Sequence[Asked], said: Sequence[Recorded]
) -> tuple[dict[str, list[Ran]], dict[str, Table], dict[str, str]]:
    """Run every query once; return the answers, the gold and the graph of each question, by its id.

    Only questions that somebody was asked and that have a gold query are there.
    """
    of_question: dict[str, list[Recorded]] = defaultdict(list)
    for one in said:
        of_question[one.id].append(one)
    ran: dict[str, list[Ran]] = {}
    gold: dict[str, Table] = {}
    graphs: dict[str, str] = {}
    opened: dict[str, KnowledgeGraph] = {}
    questions = [
        (question, place, asked.contents.prefixes)
        for asked in benchmarks
        for question, place in zip(asked.questions, asked.graphs, strict=True)
        if question.sparql is not None and question.id in of_question
    ]
    for question, place, declared in questions:
        if str(place) not in opened:
            opened[str(place)] = workspace.find(place)
        graph = opened[str(place)]
        prefixes = {**graph.prefixes.namespaces, **declared}
        gold[question.id] = await gold_table(
            question, graph.endpoint, prefixes=prefixes, timeout=SECONDS
        )
        queries = {one.query for one in of_question[question.id] if one.query is not None}
        answers = {query: await answer_of(query, graph, prefixes) for query in sorted(queries)}
        ran[question.id] = [
            Ran(one, answers.get(one.query or "")) for one in of_question[question.id]
        ]
        graphs[question.id] = graph.name
    await asyncio.gather(*(graph.endpoint.close() for graph in opened.values()))
    return ran, gold, graphs


async def answer_of(
    query: str, graph: KnowledgeGraph, prefixes: Mapping[str, str]
) -> Answer | None:
    """Return what a query gives, without its columns of labels; None where it cannot be run.

    That is where it is to blame: refused, or too slow. Raises `ServiceError` where the graph is.
    """
    boolean, result = None, SelectResult((), ())
    try:
        text = admitted(query, prefixes=prefixes)
        if text.form == "ASK":
            boolean = await graph.endpoint.ask(text.text, timeout=SECONDS)
        else:
            result = await graph.endpoint.select(text.text, timeout=SECONDS, limit=ROWS)
    except (QueryError, ErrorReply, TimedOut):
        return None
    columns = told(text.text, result)
    return Answer(query, graph.name, result, columns, "", 0.5, boolean)


def told(query: str, result: SelectResult) -> tuple[str, ...]:
    """The columns of a result but those that only name another one of them."""
    try:
        where = read(query).where
    except QueryError:
        return result.variables
    names = {
        pattern.object.value
        for pattern in patterns(where)
        if str(pattern.predicate)[1:-1] in LABEL_PREDICATES
        and getattr(pattern.subject, "value", None) in result.variables
        and str(pattern.object).startswith("?")
    }
    return tuple(name for name in result.variables if name not in names) or result.variables


def patterns(group: Group) -> Iterator[Pattern]:
    """The patterns of a group and of those in it."""
    for element in group.elements:
        if isinstance(element, Pattern):
            yield element
        elif isinstance(element, Nested):
            yield from patterns(element.group)
