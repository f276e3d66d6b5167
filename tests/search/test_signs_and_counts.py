"""Numbers below zero, numbers in text, and what a count counts, by the rows of the best query."""

from operator import eq, ge, gt, le, lt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.rank import clusters
from askgraph.search.rank.faults import Subject, find_faults

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
    best = clusters(known.proposal(question, "en").candidates)[0].best
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


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("How many planets have moons?", "6"),
        ("How many astronauts have a death date?", "65"),
        ("How many missions have a launch date?", "155"),
    ],
)
def test_what_the_counted_must_have_is_a_condition(question: str, count: str, space: Known) -> None:
    assert rows(space, question) == [(count,)]


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


@pytest.mark.parametrize("name", ["vaccinated_yn", "is_vaccinated", "vaccinatedFlag"])
@pytest.mark.parametrize(
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


YEARS = """@prefix : <https://halls.example/> . @prefix h: <https://halls.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Ace a h:Hall ; rdfs:label "Ace" ; h:openingYear 1950 ; h:seats 20 .
:Bo a h:Hall ; rdfs:label "Bo" ; h:openingYear 1980 ; h:seats 30 .
:Cy a h:Hall ; rdfs:label "Cy" ; h:openingYear 2005 ; h:seats 10 .
"""


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which hall is the oldest?", ["Ace"]),
        ("Which halls are older than Bo?", ["Ace"]),
        ("Which halls are younger than Bo?", ["Cy"]),
        ("Which halls are older than 1960?", ["Ace"]),
        ("Which hall is older, Bo or Cy?", ["Bo"]),
        ("Which halls are newer than 1990?", ["Cy"]),
    ],
)
def test_the_older_one_has_the_lower_year_though_years_are_numbers(
    question: str, wanted: list[str]
) -> None:
    assert rows(Known(store_of(YEARS)), question) == [(one,) for one in wanted]
