"""What a person types in the first five minutes is answered right, and nothing sure is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyoxigraph import NamedNode, QueryBoolean, QuerySolutions, RdfFormat, Store
from tests.each import for_each

import askgraph
from askgraph.answers.codec import plain_value
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

FILE = Path(__file__).with_name("first_questions.yaml")
SPACE = "https://example.org/space/"
PREFIXES = {"": SPACE, "o": f"{SPACE}ontology#"}
SURE = 0.9
RIGHT = 36
"""So many of the forty are right at least."""
SURELY_WRONG = 0
"""So many are called sure and are wrong, at most."""

Cells = frozenset[tuple[object, ...]]


@dataclass(frozen=True)
class Asked:
    """A question, what is right, and whether it follows the one before; see the file."""

    question: str
    sparql: Sequence[str]
    follows: bool = False
    least: str = ""


def _asked(entry: Mapping[str, Any]) -> Asked:
    queries = entry["sparql"]
    several = [queries] if isinstance(queries, str) else queries
    return Asked(
        str(entry["question"]), several, entry.get("follows", False), entry.get("least", "")
    )


QUESTIONS = [_asked(entry) for entry in yaml.safe_load(FILE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[askgraph.Result]]:
    graph = Workspace(tmp_path_factory.mktemp("first")).open(graph_path())
    found: list[askgraph.Result] = []
    for one in QUESTIONS:
        found.append(askgraph.ask(one.question, graph, after=found[-1] if one.follows else None))
    yield found
    result_of(graph.endpoint.close())


def gold(query: str, store: Store) -> bool | Cells:
    """The truth or the rows of a query."""
    found = store.query(query, prefixes=PREFIXES)
    if isinstance(found, QueryBoolean):
        return bool(found)
    assert isinstance(found, QuerySolutions)
    return frozenset(tuple(plain_value(term) for term in row) for row in found)


def is_right(one: Asked, answer: Mapping[str, Any], store: Store) -> bool:
    """Whether an answer says what one of the queries gives, in some of its columns."""
    if answer["status"] != "answer":
        return False
    if one.least:
        return describes(one, answer, store)
    return any(_same(gold(query, store), answer) for query in one.sparql)


def describes(one: Asked, answer: Mapping[str, Any], store: Store) -> bool:
    """Whether an answer holds all that it has to, and nothing that is not said of the thing."""
    has = {value for row in answer["rows"] for value in row}
    wanted = {row[0] for query in one.sparql for row in gold(query, store)}  # type: ignore[union-attr]
    thing = NamedNode(SPACE + one.least)
    said = [
        *store.quads_for_pattern(thing, None, None),
        *store.quads_for_pattern(None, None, thing),
    ]
    known = {plain_value(term) for quad in said for term in (quad[0], quad[1], quad[2])}
    return wanted <= has and has <= known | {None}


def _same(wanted: bool | Cells, answer: Mapping[str, Any]) -> bool:
    if isinstance(wanted, bool) or answer["boolean"] is not None:
        return answer["boolean"] is wanted
    width = max((len(row) for row in wanted), default=1)
    places = range(len(answer["columns"]))
    return any(
        wanted == frozenset(tuple(row[at] for at in chosen) for row in answer["rows"])
        for chosen in permutations(places, width)
    )


def test_there_are_forty_questions_in_four_languages() -> None:
    assert len(QUESTIONS) == len({one.question for one in QUESTIONS}) == 40


@for_each("one", QUESTIONS)
def test_each_question_has_an_answer_in_the_graph(one: Asked, store: Store) -> None:
    for query in one.sparql:
        found = gold(query, store)
        assert isinstance(found, bool) or any(None not in row for row in found), query


def test_most_of_the_first_questions_are_answered_right(
    results: Sequence[askgraph.Result], store: Store
) -> None:
    wrong = [
        f"{one.question}: {result.json()['status']}, {result.json()['confidence']:.2f}, "
        f"{result.json()['words']}"
        for one, result in zip(QUESTIONS, results, strict=True)
        if not is_right(one, result.json(), store)
    ]
    assert len(QUESTIONS) - len(wrong) >= RIGHT, "\n".join(wrong)


def test_hardly_a_first_question_is_answered_surely_and_wrong(
    results: Sequence[askgraph.Result], store: Store
) -> None:
    wrong = [
        f"{one.question}: {answer['words']}"
        for one, answer in zip(QUESTIONS, (result.json() for result in results), strict=True)
        if answer["status"] == "answer"
        and float(str(answer["confidence"])) >= SURE
        and not is_right(one, answer, store)
    ]
    assert len(wrong) <= SURELY_WRONG, "\n".join(wrong)
