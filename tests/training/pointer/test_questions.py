"""Made-up graphs and the questions over them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.search.asking import Known

from askgraph.methods.writing.pointer.skeleton import skeleton_of, terms_of
from askgraph.sample import graph_path
from askgraph.search.expand.schema import Schema
from askgraph.search.pipeline import build_schema
from askgraph.search.query_pieces import conditions_in, denied_in
from askgraph.training.pointer.questions import Asked, asked, world

NUMBER = 60


def known(text: bytes, format: RdfFormat) -> Known:
    store = Store()
    store.bulk_load(text, format)
    return Known(store)


@pytest.fixture(scope="module", params=["a made-up graph", "the sample graph"])
def graph(request: pytest.FixtureRequest) -> Iterator[Known]:
    if request.param == "the sample graph":
        yield known(Path(graph_path()).read_bytes(), RdfFormat.TURTLE)
    else:
        yield known(world(1).encode(), RdfFormat.N_TRIPLES)


def schema(graph: Known) -> Schema:
    return build_schema(graph.arrays, graph.profile)


@pytest.fixture(scope="module")
def questions(graph: Known) -> list[Asked]:
    return list(asked(schema(graph), 7, NUMBER))


def test_a_world_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert world(3) == world(3)
    assert world(3) != world(4)


def test_as_many_questions_are_asked_as_wanted(questions: list[Asked]) -> None:
    assert len(questions) == NUMBER
    assert len({one.text for one in questions}) > NUMBER * 0.8


def test_the_same_seed_asks_the_same(graph: Known, questions: list[Asked]) -> None:
    assert [one.text for one in asked(schema(graph), 7, NUMBER)] == [q.text for q in questions]


def test_every_query_can_be_run_and_most_give_something(
    graph: Known, questions: list[Asked]
) -> None:
    rows = [graph.rows(graph.query(one.query)) for one in questions]
    assert sum(bool(found) for found in rows) > NUMBER * 0.6


def test_every_query_has_a_skeleton(questions: list[Asked]) -> None:
    for one in questions:
        terms = terms_of(one.query)
        assert skeleton_of(one.query, {term: at for at, term in enumerate(terms)})[-1] == "STOP"


def test_questions_are_of_many_kinds(questions: list[Asked]) -> None:
    queries = [one.query for one in questions]
    assert any(query.group_by for query in queries)
    assert any(query.order for query in queries)
    assert any(conditions_in(query.where) for query in queries)
    assert any(query.form == "ASK" or denied_in(query.where) for query in queries)
