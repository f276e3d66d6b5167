"""The writer without a model names nothing but what is listed, whatever is listed."""

import asyncio
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askgraph.answers.verbalize import list_query_iris
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind
from askgraph.methods.writing import Hypothesis, ListedTerm
from askgraph.methods.writing.graph_search_writer import GraphSearchWriter
from askgraph.trace import Question

EX, ONTO = "http://example.org/", "http://example.org/onto#"
TERMS = (
    ListedTerm(ItemKind.ENTITY, f"{EX}Jupiter", "Jupiter", score=1.0),
    ListedTerm(ItemKind.ENTITY, f"{EX}Io", "Io", score=1.0),
    ListedTerm(ItemKind.CLASS, f"{ONTO}Moon", "moon", score=1.0),
    ListedTerm(ItemKind.PREDICATE, f"{ONTO}orbits", "orbits", score=1.0),
    ListedTerm(ItemKind.PREDICATE, f"{ONTO}radius", "radius"),
    ListedTerm(ItemKind.PREDICATE, f"{ONTO}code", "code"),
)


def written(graph: KnowledgeGraph, text: str, listed: list[ListedTerm], n: int) -> list[Hypothesis]:
    return asyncio.run(GraphSearchWriter().write(Question(text), listed, graph, n=n))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    listed=st.lists(st.sampled_from(TERMS), unique=True),
    text=st.sampled_from(["Which moons orbit Jupiter?", "What is the radius of Io?", "How many?"]),
    n=st.integers(1, 6),
)
def test_only_listed_terms_are_named_and_no_query_comes_twice(
    moons: KnowledgeGraph, listed: list[ListedTerm], text: str, n: int
) -> None:
    found = written(moons, text, listed, n)
    allowed = {one.target for one in listed}
    assert all(allowed.issuperset(list_query_iris(one.query)) for one in found)
    assert len({one.query for one in found}) == len(found) <= n
    scores = [one.score for one in found]
    assert all(a is not None and b is not None and 0 >= a > b for a, b in pairwise(scores))


def test_a_listed_thing_that_no_word_names_is_used(moons: KnowledgeGraph) -> None:
    (best,) = written(moons, "What circles the giant?", [TERMS[0], TERMS[3]], 1)
    assert {f"{EX}Jupiter", f"{ONTO}orbits"} <= set(list_query_iris(best.query))


def test_nothing_is_written_where_nothing_is_listed(moons: KnowledgeGraph) -> None:
    assert written(moons, "Which moons orbit Jupiter?", [], 3) == []
