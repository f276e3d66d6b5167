"""A skeleton is the same for queries that are put together alike, and another one for others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import QuerySyntaxError
from askgraph.sparql.skeleton import skeleton

EX = {"": "http://example.org/"}
ORBITS = "SELECT ?m WHERE { ?m a :Moon ; :orbits :Mars . FILTER(?m != :Io) } LIMIT 3"


def of(query: str) -> str:
    return skeleton(query, prefixes=EX)


@pytest.mark.parametrize(
    "other",
    [
        "SELECT ?dog WHERE { ?dog a :Dog ; :livesIn :Paris . FILTER(?dog != :Rex) } LIMIT 10",
        "SELECT ?m WHERE { FILTER(?m != :Io) ?m :orbits :Mars . ?m a :Moon } LIMIT 3",
        "SELECT ?m { ?m a :Moon ; :orbits :Mars, :Mars ; a :Moon . FILTER(?m != :Io) } LIMIT 3",
    ],
)
def test_names_numbers_order_and_repetition_are_no_part_of_it(other: str) -> None:
    assert of(other) == of(ORBITS)


@pytest.mark.parametrize(
    "other",
    [
        "SELECT ?m WHERE { ?m a :Moon ; :orbits :Mars . FILTER(?m != :Io) }",
        "SELECT ?m WHERE { ?m a :Moon . :Mars :orbits ?m . FILTER(?m != :Io) } LIMIT 3",
        "SELECT ?m WHERE { ?m :is :Moon ; :orbits :Mars . FILTER(?m != :Io) } LIMIT 3",
        "SELECT ?m WHERE { ?m a :Moon ; :orbits ?o . FILTER(?m != :Io) } LIMIT 3",
        "SELECT ?m WHERE { ?m a :Moon ; :orbits :Mars . FILTER(?m = :Io) } LIMIT 3",
        "SELECT (COUNT(?m) AS ?n) WHERE { ?m a :Moon ; :orbits :Mars FILTER(?m != :Io) } LIMIT 3",
    ],
)
def test_what_makes_another_kind_of_query_is_part_of_it(other: str) -> None:
    assert of(other) != of(ORBITS)


def test_the_direction_of_an_order_counts_and_groups_within_groups_are_looked_into() -> None:
    most, least = (f"SELECT ?m {{ ?m :size ?s }} ORDER BY {way}(?s)" for way in ("DESC", "ASC"))
    assert of(most) != of(least)

    one, other = (
        f"SELECT ?m {{ ?m a :Moon OPTIONAL {{ ?m :name {name} }} }}" for name in ('"Io"', '"X"@en')
    )
    assert of(one) == of(other)


def test_a_text_that_is_no_query_has_none() -> None:
    with pytest.raises(QuerySyntaxError):
        of("SELECT nonsense")


@given(
    st.lists(st.tuples(*[st.sampled_from(["?a", "?b", ":x", ":y"])] * 3), min_size=1, max_size=4),
    st.permutations(["?a", "?b"]),
)
def test_other_names_for_variables_give_the_same(
    triples: list[tuple[str, str, str]], names: list[str]
) -> None:
    written = " . ".join(" ".join(triple) for triple in triples)
    renamed = written.replace("?a", "?1").replace("?b", names[1]).replace("?1", names[0])

    assert of(f"SELECT * {{ {renamed} }}") == of(f"SELECT * {{ {written} }}")
