"""What a person types in the first five minutes, `first_questions.txt`, is answered right."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import pytest
from pyoxigraph import NamedNode, QueryBoolean, QuerySolutions, RdfFormat, Store
from tests.readings import read_table

import askgraph
from askgraph.answers.codec import to_json_value
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

SPACE = "https://example.org/space/"
PREFIXES = {"": SPACE, "o": f"{SPACE}ontology#"}
SURE = 0.9
RIGHT = 36  # so many of the forty are right at least; none is sure and wrong

Cells = frozenset[tuple[object, ...]]


class Asked(NamedTuple):
    """A question, how it is asked, and what is right."""

    question: str
    how: str
    sparql: Sequence[str]


QUESTIONS = [
    Asked(question, how, queries)
    for question, how, *queries in read_table(__file__, "first_questions.txt")
]


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Mapping[str, Any]]]:
    graph = Workspace(tmp_path_factory.mktemp("first")).open(graph_path())
    found: list[askgraph.Result] = []
    for one in QUESTIONS:
        after = found[-1] if one.how == "follows" else None
        found.append(askgraph.ask(one.question, graph, after=after))
    yield [result.json() for result in found]
    run_coroutine(graph.endpoint.close())


def gold(query: str, store: Store) -> bool | Cells:
    """The truth or the rows of a query."""
    found = store.query(query, prefixes=PREFIXES)
    if isinstance(found, QueryBoolean):
        return bool(found)
    assert isinstance(found, QuerySolutions)
    return frozenset(tuple(to_json_value(term) for term in row) for row in found)


def is_right(one: Asked, answer: Mapping[str, Any], store: Store) -> bool:
    """Whether an answer says what one of the queries gives, in some of its columns."""
    wanted = [gold(query, store) for query in one.sparql]
    assert all(cells or cells is False for cells in wanted), one
    if answer["status"] != "answer":
        return False
    if one.how not in ("-", "follows"):
        return describes(SPACE + one.how, wanted, answer, store)
    return any(_same(cells, answer) for cells in wanted)


def describes(
    iri: str, wanted: Sequence[bool | Cells], answer: Mapping[str, Any], store: Store
) -> bool:
    """Whether an answer holds all that it has to, and nothing that is not said of the thing."""
    has, thing = {value for row in answer["rows"] for value in row}, NamedNode(iri)
    said = [
        *store.quads_for_pattern(thing, None, None),
        *store.quads_for_pattern(None, None, thing),
    ]
    known = {to_json_value(term) for quad in said for term in (quad[0], quad[1], quad[2])}
    least = {row[0] for cells in wanted if not isinstance(cells, bool) for row in cells}
    return least <= has <= known | {None}


def _same(wanted: bool | Cells, answer: Mapping[str, Any]) -> bool:
    if isinstance(wanted, bool) or answer["boolean"] is not None:
        return answer["boolean"] is wanted
    width = max((len(row) for row in wanted), default=1)
    places = range(len(answer["columns"]))
    return any(
        wanted == frozenset(tuple(row[at] for at in chosen) for row in answer["rows"])
        for chosen in permutations(places, width)
    )


def test_most_of_the_first_questions_are_answered_right_and_none_surely_wrong(
    answers: Sequence[Mapping[str, Any]], store: Store
) -> None:
    assert len(QUESTIONS) == len({one.question for one in QUESTIONS}) == 40
    wrong = [
        (answer["status"] == "answer" and answer["confidence"] >= SURE, one.question, answer)
        for one, answer in zip(QUESTIONS, answers, strict=True)
        if not is_right(one, answer, store)
    ]
    assert len(QUESTIONS) - len(wrong) >= RIGHT, wrong
    assert not [one for one in wrong if one[0]]
