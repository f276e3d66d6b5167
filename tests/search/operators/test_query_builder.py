"""Days as literals, also where no calendar reaches."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal
from tests.search.asking import Known

from askgraph.graph.literals import day_number
from askgraph.search.operators.query_builder import Draft, day_literal, is_sound, year_of
from askgraph.search.pipeline import build_schema
from askgraph.search.query_pieces import condition, denied, pattern, term_of, variable
from askgraph.sparql import Pattern
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_DATE


@given(year=st.integers(-20_000, 120_000))
@example(year=0)
@example(year=1)
@example(year=9999)
@example(year=10_000)
def test_the_first_day_of_any_year_lies_in_that_year(year: int) -> None:
    assert year_of(day_number(year)) == year
    assert day_literal(day_number(year), XSD_DATE).startswith(f'"{year:0{5 if year < 0 else 4}}-')


LIVES, EATS, KEPT = (f"https://zoo.example/terms#{name}" for name in ("livesIn", "eats", "caredBy"))
ROOT, ONE, OTHER = variable(0), variable(1), variable(2)
POOL, ROCK = term_of("<https://zoo.example/Pool>"), term_of("<https://zoo.example/Rock>")


@pytest.fixture
def draft(zoo: Known) -> Draft:
    found = Draft(build_schema(zoo.arrays, zoo.profile))
    found.patterns = [pattern(ROOT, LIVES, ONE)]
    found.columns = [ROOT]
    return found


def also(draft: Draft, *patterns: Pattern) -> Draft:
    draft.patterns += patterns
    return draft


def test_a_pattern_beside_its_own_denial_is_not_sound(draft: Draft) -> None:
    assert is_sound(draft)
    draft.denied = [denied(pattern(ROOT, LIVES, OTHER))]
    assert not is_sound(draft)


def test_a_denial_that_says_more_than_the_pattern_is_sound(draft: Draft) -> None:
    draft.denied = [denied(pattern(ROOT, LIVES, POOL))]
    assert is_sound(draft)
    draft.denied = [denied(pattern(ROOT, LIVES, OTHER), condition(OTHER, "=", Literal("x")))]
    assert is_sound(draft)


def test_to_deny_another_value_of_what_has_only_one_says_nothing(draft: Draft) -> None:
    draft.patterns = [pattern(ROOT, LIVES, ROCK)]
    draft.denied = [denied(pattern(ROOT, LIVES, POOL))]
    assert not is_sound(draft)
    draft.patterns = [pattern(ROOT, EATS, ROCK)]
    draft.denied = [denied(pattern(ROOT, EATS, POOL))]
    assert is_sound(draft)


def test_a_pattern_under_a_second_variable_says_nothing(draft: Draft) -> None:
    draft.patterns = [pattern(ROOT, EATS, ONE)]
    food = term_of("<https://zoo.example/terms#Food>")
    assert not is_sound(also(draft, pattern(ROOT, EATS, OTHER)))
    assert is_sound(also(draft, pattern(OTHER, RDF_TYPE, food), pattern(ONE, KEPT, ROCK)))
    assert not is_sound(also(draft, pattern(ONE, RDF_TYPE, food)))


def test_a_second_variable_that_is_shown_says_something(draft: Draft) -> None:
    draft.patterns = [pattern(ROOT, EATS, ONE)]
    also(draft, pattern(ROOT, EATS, OTHER)).columns = [ONE, OTHER]
    assert is_sound(draft)
    draft.columns, draft.filters = [ROOT], [condition(ONE, "!=", OTHER)]
    assert is_sound(draft)


def test_a_second_variable_for_an_only_value_says_nothing(draft: Draft) -> None:
    also(draft, pattern(ROOT, LIVES, OTHER)).columns = [ONE, OTHER]
    assert not is_sound(draft)
