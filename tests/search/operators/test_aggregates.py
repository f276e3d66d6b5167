"""Rows for each thing or year count what is asked for, if no other measure is named."""

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.rank import clusters

BIRTHS = {("1998", 1), ("2012", 1), ("2014", 1), ("2016", 1), ("2019", 1), ("2020", 1)}


def rows(zoo: Known, question: str, language: str | None = None) -> set[tuple[str, float]]:
    """The groups and numbers that the best query gives."""
    best = clusters(zoo.proposal(question, language).candidates)[0].best
    found = zoo.rows(zoo.query(best.query))
    assert not isinstance(found, bool)
    return {(_short(str(one)), float(_short(str(number)))) for one, number in found}


def _short(term: str) -> str:
    return term.partition("^^")[0].strip('"<>').rpartition("/")[2]


@for_each(
    ("question", "language"),
    [
        ("births per year", "en"),
        ("animals born per year", "en"),
        ("How many animals were born each year?", "en"),
        ("Tiere pro Jahr", "de"),
    ],
)
def test_births_are_counted_by_the_year_of_the_birth_date(
    question: str, language: str, zoo: Known
) -> None:
    assert rows(zoo, question, language) == BIRTHS


def test_things_per_thing_are_counted(zoo: Known) -> None:
    assert rows(zoo, "animals per enclosure") == {("Rock", 2), ("Hall", 1), ("Pool", 3)}


def test_a_measure_per_thing_is_shown_and_not_counted(zoo: Known) -> None:
    assert rows(zoo, "average weight per enclosure") == {
        ("Rock", 160.25), ("Hall", 4200), ("Pool", 5.5),
    }  # fmt: skip


PUPILS = """
@prefix : <https://school.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Pupil ; rdfs:label "Ann" ; :gender "female" ; :age 10 ; :state "active" ; :class :c1 .
:b a :Pupil ; rdfs:label "Bob" ; :gender "male" ; :age 12 ; :state "active" ; :class :c1 .
:c a :Pupil ; rdfs:label "Cyd" ; :gender "female" ; :age 11 ; :state "absent" ; :class :c2 .
:d a :Pupil ; rdfs:label "Dot" ; :gender "female" ; :age 15 ; :state "waiting" ; :class :c2 .
:c1 a :Course ; rdfs:label "North" . :c2 a :Course ; rdfs:label "South" .
"""


@for_each(
    ("question", "language", "expected"),
    [
        ("How many male and female pupils are there?", "en", {("male", 1), ("female", 3)}),
        ("the number of active pupils and of absent pupils", "en", {("active", 2), ("absent", 1)}),
        ("How many pupils are male and how many are female?", "en", {("male", 1), ("female", 3)}),
        (
            "What is the average age of male and female pupils?",
            "en",
            {("male", 12), ("female", 12)},
        ),
        ("Wie viele männliche und weibliche Pupils gibt es?", "de", {("male", 1), ("female", 3)}),
    ],
)
def test_values_that_are_named_side_by_side_have_a_row_each(
    question: str, language: str, expected: set[tuple[str, float]]
) -> None:
    found = Known(store_of(PUPILS))
    best = clusters(found.proposal(question, language).candidates)[0].best
    listed = found.rows(found.query(best.query))
    assert not isinstance(listed, bool)
    assert {(_text(one), float(_text(number))) for one, number in listed} == expected


def _text(term: str | None) -> str:
    return str(term).partition("^^")[0].strip('"')


@for_each(
    ("question", "language"),
    [
        ("What is the number and average age of pupils?", "en"),
        ("What are the number, and the average age of the pupils?", "en"),
        ("Wie ist die Anzahl und das durchschnittliche Age der Pupils?", "de"),
        ("Quel est le nombre et l'âge moyen des pupils ?", "fr"),
    ],
)
def test_a_number_beside_an_aggregate_is_a_count(question: str, language: str) -> None:
    graph = PUPILS + ':age rdfs:label "age"@en, "âge"@fr .'
    found = Known(store_of(graph))
    best = clusters(found.proposal(question, language).candidates)[0].best
    listed = found.rows(found.query(best.query))
    assert not isinstance(listed, bool)
    assert [[float(_text(cell)) for cell in row] for row in listed] == [[4, 12]]


@for_each(
    ("question", "language"),
    [
        ("What is the average number of beds of the rooms?", "en"),
        ("Wie ist die durchschnittliche Anzahl der Betten der Zimmer?", "de"),
        ("¿Cuál es el promedio del número de camas de las habitaciones?", "es"),
        ("Quel est le nombre moyen de lits des chambres ?", "fr"),
    ],
)
def test_an_average_number_of_what_things_have_is_no_count(question: str, language: str) -> None:
    names = """:beds rdfs:label "Betten"@de, "camas"@es, "lits"@fr .
:Room rdfs:label "Zimmer"@de, "habitaciones"@es, "chambres"@fr ."""
    found = Known(store_of(ROOMS + names))
    best = clusters(found.proposal(question, language).candidates)[0].best
    listed = found.rows(found.query(best.query))
    assert not isinstance(listed, bool)
    assert [[round(float(_text(cell)), 2) for cell in row] for row in listed] == [[1.67]]


def test_values_joined_behind_the_noun_are_counted_together() -> None:
    found = Known(store_of(PUPILS))
    best = clusters(found.proposal("How many pupils are in North and South?").candidates)[0].best
    listed = found.rows(found.query(best.query))
    assert not isinstance(listed, bool)
    assert [float(_text(row[-1])) for row in listed] == [4]


ROOMS = """
@prefix : <https://inn.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:q a :Room ; rdfs:label "Quiet" ; :beds 2 ; :kind "King" .
:r a :Room ; rdfs:label "Rustic" ; :beds 1 ; :kind "King" .
:s a :Room ; rdfs:label "Sunny" ; :beds 2 ; :kind "Twin" .
:g a :GasStation ; rdfs:label "North" ; :runBy :c .
:h a :GasStation ; rdfs:label "South" ; :runBy :c .
:c a :Company ; rdfs:label "Acme" .
:GasStation rdfs:label "gas station" .
"""


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("How many beds are there?", 5),
        ("How many King beds are there?", 3),
        ("How many gas companies are there?", 1),
    ],
)
def test_how_many_adds_up_what_things_have_and_counts_what_the_last_noun_says(
    question: str, number: float
) -> None:
    inn = Known(store_of(ROOMS))
    best = clusters(inn.proposal(question).candidates)[0].best
    found = inn.rows(inn.query(best.query))
    assert not isinstance(found, bool)
    assert [[float(_text(cell)) for cell in row] for row in found] == [[number]]


def test_a_number_of_each_named_thing_is_shown_and_not_added_up() -> None:
    inn = Known(store_of(ROOMS))
    best = clusters(inn.proposal("How many beds does each room have?").candidates)[0].best
    assert "SUM" not in inn.query(best.query)
    assert len(list(inn.rows(inn.query(best.query)))) == 3  # type: ignore[arg-type]


@for_each(
    ("question", "language"),
    [
        ("What is the average mass of moons by planet?", "en"),
        ("average mass of the moons by planet", "en"),
        ("durchschnittliche Masse der Monde nach Planet", "de"),
        ("masa media de las lunas por planeta", "es"),
    ],
)
def test_by_between_two_nouns_makes_groups(question: str, language: str, space: Known) -> None:
    query = clusters(space.proposal(question, language).candidates)[0].best.query
    assert "GROUP BY ?planet" in space.query(query)


def test_by_after_a_verb_makes_none(space: Known) -> None:
    for question in (
        "How many moons were discovered by a scientist?",
        "How many missions were flown by astronauts?",
    ):
        query = clusters(space.proposal(question).candidates)[0].best.query
        assert "GROUP BY" not in space.query(query)


SHOPS = """
@prefix : <https://shops.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Hotel rdfs:label "hotel" . :beds rdfs:label "beds" . :city rdfs:label "city" .
:room rdfs:label "room number" . :staff rdfs:label "number of employees" .
:h1 a :Hotel ; rdfs:label "Ash" ; :beds 10 ; :city "Bonn" ; :staff 9 .
:h2 a :Hotel ; rdfs:label "Elm" ; :beds 20 ; :city "Bonn" ; :staff 7 .
:h3 a :Hotel ; rdfs:label "Oak" ; :beds 5 ; :city "Rome" ; :staff 8 .
"""


@for_each(
    ("question", "rows"),
    [
        ("number of beds per city", {("Bonn", "30"), ("Rome", "5")}),
        ("How many beds does each city have?", {("Bonn", "30"), ("Rome", "5")}),
        ("number of beds of each hotel", {("h1", "10"), ("h2", "20"), ("h3", "5")}),
        ("Which hotel has the highest number of employees?", {("h1",)}),
        ("Which hotel has the lowest number of employees?", {("h2",)}),
    ],
)
def test_numbers_of_several_things_are_added_up_for_what_is_not_one_of_them(
    question: str, rows: set[tuple[str, ...]]
) -> None:
    known = Known(store_of(SHOPS))
    found = known.rows(known.query(clusters(known.proposal(question).candidates)[0].best.query))
    assert not isinstance(found, bool)
    cells = ([(cell or "").split("^^")[0].strip('"<>') for cell in row] for row in found)
    assert {
        tuple(cell.removeprefix("https://shops.example/") for cell in row) for row in cells
    } == rows
