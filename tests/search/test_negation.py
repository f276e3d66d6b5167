"""A negation is about the noun before it and holds what is said after it."""

from operator import eq, ge, gt, le, lt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.search.rank import cluster_candidates
from askgraph.search.rank.faults import FaultContext, find_faults


def test_a_question_for_yes_or_no_holds_no_condition_on_groups(zoo: Known) -> None:
    for question in (
        "Does Lion Rock have more than one animal?",
        "Is there a keeper without email?",
    ):
        for candidate in zoo.proposal(question).candidates:
            assert not (candidate.is_ask and candidate.tree.having)


def test_a_denial_ends_with_its_clause() -> None:
    port = graph_named("port")
    question = "Which voyages that do not have the goal Crete are owned by Acme?"
    for candidate in port.proposal(question).candidates:
        assert "acme" not in port.query(candidate.query).partition("NOT EXISTS")[2]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Which astronauts were never on the Moon?", "en"),
        ("Welche Astronauten waren nie auf dem Mond?", "de"),
    ],
)
def test_a_named_class_is_kept_beside_a_denial(question: str, language: str, space: Known) -> None:
    found = {row[0] for row in space.best_rows(question, language)}
    assert "Alexander_Gerst" in found and "Neil_Armstrong" not in found


TEMPERATURES = {"Uno": -30.0, "Dua": -10.5, "Tri": 0.0, "Kvar": 10.5, "Kvin": 30.0}

COMPARISONS = {"below": lt, "above": gt, "of at least": ge, "of at most": le, "of": eq}


@pytest.fixture(scope="module")
def things() -> Known:
    return graph_named("measured")


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(sorted(COMPARISONS)),
    st.sampled_from([-30.0, -20.0, -10.5, 0.0, 10.5, 20.0]),
    st.sampled_from(["-", "\N{MINUS SIGN}", "minus "]),
)
def test_numbers_compare_with_signs(things: Known, words: str, value: float, minus: str) -> None:
    wanted = sorted((name,) for name, own in TEMPERATURES.items() if COMPARISONS[words](own, value))
    number = f"{minus if value < 0 else ''}{abs(value):g}"
    question = f"Which planets have a temperature {words} {number}?"
    if wanted:
        assert sorted(things.best_rows(question, "en")) == wanted


def test_a_number_that_lost_its_sign_is_missing(things: Known) -> None:
    signed = things.proposal("Which planets have a temperature of -10.5?", "en")
    plain = things.proposal("Which planets have a temperature of 10.5?", "en")
    best = cluster_candidates(plain.candidates)[0].best
    assert "number_missing" in find_faults(FaultContext(signed, best))
    assert "number_missing" not in find_faults(FaultContext(plain, best))


def test_a_count_for_each_keeps_its_rows(space: Known) -> None:
    assert ("Saturn", "18") in space.best_rows("How many moons does each planet have?")


@for_each("name", ["vaccinated_yn", "is_vaccinated", "vaccinatedFlag"])
@for_each(
    ("question", "wanted"),
    [("Which pets are vaccinated?", ["Ace", "Bo"]), ("Which pets are not vaccinated?", ["Cy"])],
)
def test_a_number_is_true_or_false_where_the_name_of_the_property_says_so(
    name: str, question: str, wanted: list[str]
) -> None:
    turtle = "@prefix : <https://pets.example/> . @prefix p: <https://pets.example/terms#> ."
    for pet, value in (("Ace", 1), ("Bo", 1), ("Cy", 0)):
        turtle += f"\n:{pet} a p:Pet ; p:{name} {value} ; p:legs 4 ."
    assert sorted(Known(store_of(turtle)).best_rows(question, "en")) == [(one,) for one in wanted]
