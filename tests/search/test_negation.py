"""A negation is about the noun before it and holds what is said after it."""

from operator import eq, ge, gt, le, lt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.search.rank import clusters
from askgraph.search.rank.faults import Subject, find_faults


def test_a_question_for_yes_or_no_holds_no_condition_on_groups(zoo: Known) -> None:
    for question in (
        "Does Lion Rock have more than one animal?",
        "Is there a keeper without email?",
    ):
        for candidate in zoo.proposal(question).candidates:
            assert not (candidate.asks and candidate.tree.having)


def test_a_denial_ends_with_its_clause() -> None:
    port = graph_named("port")
    question = "Which voyages that do not have the goal Crete are owned by Acme?"
    for candidate in port.proposal(question).candidates:
        query = port.query(candidate.query)
        assert "acme" not in query.partition("NOT EXISTS")[2]


@pytest.mark.parametrize(
    "question",
    ["Which astronauts were never on the Moon?", "Welche Astronauten waren nie auf dem Mond?"],
)
def test_a_class_that_words_name_is_kept_beside_the_denial(question: str, space: Known) -> None:
    language = "de" if question.startswith("Welche") else "en"
    query = space.best(question, language).query
    rows = space.rows(space.query(query))
    assert not isinstance(rows, bool)
    found = {str(row[0]).rsplit("/", 1)[-1].rstrip(">") for row in rows}
    assert "Alexander_Gerst" in found and "Neil_Armstrong" not in found


TEMPERATURES = {"Uno": -30.0, "Dua": -10.5, "Tri": 0.0, "Kvar": 10.5, "Kvin": 30.0}
POWERS = {"Ada": 90, "Bella": 150, "Cora": 165, "Dora": 200, "Elsa": 1000}
RATINGS = {"Ash": (3, 4), "Birch": (5,), "Cedar": (1, 2, 5)}

THINGS = "\n".join(
    [
        "@prefix : <https://things.example/> . @prefix t: <https://things.example/terms#> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        't:Planet rdfs:label "planet" . t:Car rdfs:label "car" . t:Film rdfs:label "film" .',
        't:temperature rdfs:label "temperature" . t:horsepower rdfs:label "horsepower" .',
        't:rating rdfs:label "rating" . t:mass rdfs:label "mass" .',
        *(
            f':{name} a t:Planet ; rdfs:label "{name}" ; t:temperature {value} ;'
            f" t:mass {10.0 ** (22 + at)!r} ."
            for at, (name, value) in enumerate(TEMPERATURES.items())
        ),
        *(
            f':{name} a t:Car ; rdfs:label "{name}" ; t:horsepower "{value}" .'
            for name, value in POWERS.items()
        ),
        *(
            f':{name} a t:Film ; rdfs:label "{name}" ; t:rating {", ".join(map(str, values))} .'
            for name, values in RATINGS.items()
        ),
    ]
)
COMPARISONS = {"below": lt, "above": gt, "of at least": ge, "of at most": le, "of": eq}


@pytest.fixture(scope="module")
def things() -> Known:
    return Known(store_of(THINGS))


def rows(known: Known, question: str) -> list[tuple[str, ...]]:
    """The rows of the best query, things by their last name and literals by their text."""
    best = known.best(question, "en")
    found = known.rows(known.query(best.query))
    assert isinstance(found, list)
    return sorted(
        tuple((term or "").split("^^")[0].strip('"<>').split("/")[-1] for term in row)
        for row in found
    )


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(sorted(COMPARISONS)),
    st.sampled_from([-30.0, -20.0, -10.5, 0.0, 10.5, 20.0]),
    st.sampled_from(["-", "\N{MINUS SIGN}", "minus "]),
)
def test_a_number_is_compared_with_its_sign(
    things: Known, words: str, value: float, minus: str
) -> None:
    wanted = sorted((name,) for name, own in TEMPERATURES.items() if COMPARISONS[words](own, value))
    number = f"{minus if value < 0 else ''}{abs(value):g}"
    question = f"Which planets have a temperature {words} {number}?"
    if wanted:
        assert rows(things, question) == wanted


def test_both_bounds_may_be_below_zero(things: Known) -> None:
    question = "Which planets have a temperature between -20 and -5?"
    assert rows(things, question) == [("Dua",)]


def test_a_power_of_ten_is_one_number(things: Known) -> None:
    assert rows(things, "Which planets have a mass above 1e24?") == [("Kvar",), ("Kvin",)]


def test_a_number_that_lost_its_sign_is_missing(things: Known) -> None:
    signed = things.proposal("Which planets have a temperature of -10.5?", "en")
    plain = things.proposal("Which planets have a temperature of 10.5?", "en")
    best = clusters(plain.candidates)[0].best
    assert "number_missing" in find_faults(Subject(signed, best))
    assert "number_missing" not in find_faults(Subject(plain, best))


def test_a_count_for_each_keeps_its_rows(space: Known) -> None:
    assert ("Saturn", "18") in rows(space, "How many moons does each planet have?")


def test_several_numbers_of_one_thing_are_counted(things: Known) -> None:
    found = rows(things, "How many ratings does each film have?")
    assert found == [("Ash", "2"), ("Birch", "1"), ("Cedar", "3")]


def test_numbers_in_text_are_compared_as_numbers(things: Known) -> None:
    found = rows(things, "Which cars have a horsepower over 150?")
    assert found == [("Cora",), ("Dora",), ("Elsa",)]


def test_numbers_in_text_are_ordered_as_numbers(things: Known) -> None:
    assert rows(things, "Which car has the highest horsepower?") == [("Elsa",)]


@for_each("name", ["vaccinated_yn", "is_vaccinated", "vaccinatedFlag"])
@for_each(
    ("question", "wanted"),
    [
        ("Which pets are vaccinated?", ["Ace", "Bo"]),
        ("Which pets are not vaccinated?", ["Cy"]),
    ],
)
def test_a_number_is_true_or_false_where_the_name_of_the_property_says_so(
    name: str, question: str, wanted: list[str]
) -> None:
    turtle = "@prefix : <https://pets.example/> . @prefix p: <https://pets.example/terms#> ."
    for pet, value in (("Ace", 1), ("Bo", 1), ("Cy", 0)):
        turtle += f"\n:{pet} a p:Pet ; p:{name} {value} ; p:legs 4 ."
    assert rows(Known(store_of(turtle)), question) == [(one,) for one in wanted]
