"""The same as a thing has, something else than it, and the others beside it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.answers.verbalize import verbalize_query
from askgraph.graph.literals import to_day_number
from askgraph.search.operators.query_builder import (
    QueryDraft,
    format_day_literal,
    get_year,
    is_sound,
)
from askgraph.search.pipeline import build_schema
from askgraph.search.query_pieces import (
    build_filter,
    build_not_exists,
    build_pattern,
    get_variable,
    parse_term,
)
from askgraph.search.rank import cluster_candidates
from askgraph.sparql import Pattern
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_DATE


def test_conditions_that_no_single_thing_fits_are_never_proposed() -> None:
    hosts = graph_named("hosts")
    for candidate in hosts.proposal(
        "Which hosts are older than 45 and younger than 35?"
    ).candidates:
        query = hosts.query(candidate.query)
        assert not ("> 45" in query and "< 35" in query)


@pytest.fixture(scope="module")
def films() -> Known:
    return graph_named("films")


def test_the_number_of_what_fits_one_of_two_relations_is_read_as_such(films: Known) -> None:
    query = films.best_query("How many people were born in Paris or died in Rome?")
    assert films.rows(query) == [('"2"^^<http://www.w3.org/2001/XMLSchema#integer>',)]
    labels = {"https://films.example/p": "Paris", "https://films.example/r": "Rome"}
    labels |= {"https://films.example/born": "birth place"}
    labels |= {"https://films.example/died": "death place"}
    text = verbalize_query(query, labels, language="en")
    assert text == "The number of people whose birth place is Paris or whose death place is Rome."


def test_or_between_function_words_is_no_alternative(films: Known) -> None:
    question = "Which person directed Dune? Give his or her birth place."
    assert not films.proposal(question).operators.get_operators("or")


def test_a_text_that_nothing_holds_is_no_condition(zoo: Known) -> None:
    for candidate in zoo.proposal("Which keepers have 'Xyz' in their names?").candidates:
        assert "CONTAINS" not in zoo.query(candidate.query)


@given(year=st.integers(-20_000, 120_000))
@example(year=0)
@example(year=1)
@example(year=9999)
@example(year=10_000)
def test_the_first_day_of_any_year_lies_in_that_year(year: int) -> None:
    assert get_year(to_day_number(year)) == year
    assert format_day_literal(to_day_number(year), XSD_DATE).startswith(
        f'"{year:0{5 if year < 0 else 4}}-'
    )


LIVES, EATS, KEPT = (f"https://zoo.example/terms#{name}" for name in ("livesIn", "eats", "caredBy"))
ROOT, ONE, OTHER = get_variable(0), get_variable(1), get_variable(2)
POOL, ROCK = parse_term("<https://zoo.example/Pool>"), parse_term("<https://zoo.example/Rock>")


@pytest.fixture
def draft(zoo: Known) -> QueryDraft:
    found = QueryDraft(build_schema(zoo.arrays, zoo.profile))
    found.patterns = [build_pattern(ROOT, LIVES, ONE)]
    found.columns = [ROOT]
    return found


def also(draft: QueryDraft, *patterns: Pattern) -> QueryDraft:
    draft.patterns += patterns
    return draft


def test_a_pattern_beside_its_own_denial_is_not_sound(draft: QueryDraft) -> None:
    assert is_sound(draft)
    draft.negations = [build_not_exists(build_pattern(ROOT, LIVES, OTHER))]
    assert not is_sound(draft)


def test_a_denial_that_says_more_than_the_pattern_is_sound(draft: QueryDraft) -> None:
    draft.negations = [build_not_exists(build_pattern(ROOT, LIVES, POOL))]
    assert is_sound(draft)
    draft.negations = [
        build_not_exists(build_pattern(ROOT, LIVES, OTHER), build_filter(OTHER, "=", Literal("x")))
    ]
    assert is_sound(draft)


def test_to_deny_another_value_of_what_has_only_one_says_nothing(draft: QueryDraft) -> None:
    draft.patterns = [build_pattern(ROOT, LIVES, ROCK)]
    draft.negations = [build_not_exists(build_pattern(ROOT, LIVES, POOL))]
    assert not is_sound(draft)
    draft.patterns = [build_pattern(ROOT, EATS, ROCK)]
    draft.negations = [build_not_exists(build_pattern(ROOT, EATS, POOL))]
    assert is_sound(draft)


def test_a_pattern_under_a_second_variable_says_nothing(draft: QueryDraft) -> None:
    draft.patterns = [build_pattern(ROOT, EATS, ONE)]
    food = parse_term("<https://zoo.example/terms#Food>")
    assert not is_sound(also(draft, build_pattern(ROOT, EATS, OTHER)))
    assert is_sound(
        also(draft, build_pattern(OTHER, RDF_TYPE, food), build_pattern(ONE, KEPT, ROCK))
    )
    assert not is_sound(also(draft, build_pattern(ONE, RDF_TYPE, food)))


def test_a_second_variable_that_is_shown_says_something(draft: QueryDraft) -> None:
    draft.patterns = [build_pattern(ROOT, EATS, ONE)]
    also(draft, build_pattern(ROOT, EATS, OTHER)).columns = [ONE, OTHER]
    assert is_sound(draft)
    draft.columns, draft.filters = [ROOT], [build_filter(ONE, "!=", OTHER)]
    assert is_sound(draft)


def test_a_second_variable_for_an_only_value_says_nothing(draft: QueryDraft) -> None:
    also(draft, build_pattern(ROOT, LIVES, OTHER)).columns = [ONE, OTHER]
    assert not is_sound(draft)


def test_each_reading_of_one_of_several_things_is_about_these(space: Known) -> None:
    found = cluster_candidates(space.proposal("Which moons orbit Saturn or Uranus?").candidates)[:3]

    assert all("IN (" in space.query(one.best.query) for one in found)
