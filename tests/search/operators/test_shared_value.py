"""The same as a thing has, something else than it, and the others beside it."""

import pytest
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.rank import clusters


def best_rows(known: Known, question: str) -> set[str]:
    rows = known.rows(known.query(clusters(known.proposal(question).candidates)[0].best.query))
    assert not isinstance(rows, bool)
    return {str(row[-1]).removeprefix("<https://zoo.example/").rstrip(">") for row in rows}


def test_what_has_a_value_in_common_with_a_thing_leaves_the_thing_out(zoo: Known) -> None:
    assert best_rows(zoo, "Which animals live in the same enclosure as Kito?") == {"Tara"}
    assert best_rows(zoo, "Which animals are cared for by the same keeper as Pip?") == {
        "Kito",
        "Tara",
    }


def test_what_has_another_value_than_a_thing(zoo: Known) -> None:
    found = best_rows(zoo, "Which birds are cared for by a different keeper than Pep?")
    assert found == {"Pip"}


def test_the_others_are_those_beside_the_thing_by_which_one_came(zoo: Known) -> None:
    assert best_rows(zoo, "Which other animals live in the enclosure of Kito?") == {"Tara"}


HOSTS = """
@prefix : <https://hosts.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Host ; :name "Ann" ; :age 50 ; :nation "Chile" ; :trade "Cook" .
:b a :Host ; :name "Bob" ; :age 30 ; :nation "Chile" ; :trade "Clerk" .
:c a :Host ; :name "Cid" ; :age 55 ; :nation "Peru" ; :trade "Cook" .
:d a :Host ; :name "Dot" ; :age 61 ; :nation "Peru" ; :trade "Smith" .
:e a :Host ; :name "Eve" ; :age 20 ; :nation "Cuba" ; :trade "Clerk" .
"""


@pytest.fixture(scope="module")
def hosts() -> Known:
    return Known(store_of(HOSTS))


def last_values(known: Known, question: str) -> set[str]:
    rows = known.rows(known.query(clusters(known.proposal(question).candidates)[0].best.query))
    assert not isinstance(rows, bool)
    return {str(row[-1]).strip('"') for row in rows}


@pytest.mark.parametrize(
    "question",
    [
        "Which nations have both hosts with an age above 45 and hosts with an age below 35?",
        "Show the nations that have hosts older than 45 and hosts younger than 35.",
        "Which nations have both hosts with the trade Cook and hosts with the trade Clerk?",
    ],
)
def test_what_is_shown_is_shared_by_two_things(question: str, hosts: Known) -> None:
    assert last_values(hosts, question) == {"Chile"}


def test_conditions_that_no_single_thing_fits_are_never_proposed(hosts: Known) -> None:
    for candidate in hosts.proposal(
        "Which hosts are older than 45 and younger than 35?"
    ).candidates:
        query = hosts.query(candidate.query)
        assert not ("> 45" in query and "< 35" in query)


def test_exactly_so_many_are_counted(zoo: Known) -> None:
    assert last_values(zoo, "Which enclosures have exactly two animals?") == {
        "<https://zoo.example/Rock>"
    }
    assert last_values(zoo, "Which enclosures have only one animal?") == {
        "<https://zoo.example/Hall>"
    }


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which nations have never had a host with the trade Clerk?", {"Peru"}),
        ("Show the nations without any host with the trade Cook.", {"Cuba"}),
    ],
)
def test_a_value_that_is_asked_for_is_denied_what_any_thing_with_it_has(
    question: str, found: set[str], hosts: Known
) -> None:
    assert last_values(hosts, question) == found


def test_the_value_of_a_thing_is_denied_only_what_the_thing_has(hosts: Known) -> None:
    question = "What are the nations of the hosts who do not have the trade Clerk?"
    assert last_values(hosts, question) == {"Chile", "Peru"}
