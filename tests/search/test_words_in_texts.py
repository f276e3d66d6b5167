"""Words that name nothing are looked for in the texts of things; numbers name one of a kind."""

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known, plain_cell

DRINKS = """
@prefix : <https://bar.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Drink rdfs:label "drink" . :recipe rdfs:label "recipe" . :Bar rdfs:label "bar" .
:served rdfs:label "served at" .
:a a :Drink ; rdfs:label "Sunrise" .
:a :recipe "Rum, orange juice, ice" .
:a :served :floor_2 .
:b a :Drink ; rdfs:label "Old Oak" .
:b :recipe "White rum and sugar with a slice of lime" .
:b :served :floor_4 .
:c a :Drink ; rdfs:label "Meadow" .
:c :recipe "Gin and tonic with a slice of lime" .
:c :served :floor_4 .
:d a :Drink ; rdfs:label "Garden" .
:d :recipe "Tomatoes, pepper" .
:d :served :floor_12 .
:e a :Drink ; rdfs:label "Steam" .
:e :recipe "Black tea, milk and a little sugar" .
:e :served :floor_1 .
:f a :Drink ; rdfs:label "Foam" .
:f :recipe "Skimmed milk, hot foam and cacao" .
:f :served :floor_3 .
:g a :Drink ; rdfs:label "Clay" .
:g :recipe "Cacao" .
:g :served :floor_R20B .
:Floor rdfs:label "floor" .
:floor_1 a :Floor . :floor_2 a :Floor . :floor_3 a :Floor . :floor_4 a :Floor .
:floor_5 a :Floor . :floor_6 a :Floor . :floor_7 a :Floor . :floor_12 a :Floor .
:floor_R20B a :Floor . :floor_R20C a :Floor .
"""


@pytest.fixture(scope="module")
def drinks() -> Known:
    return Known(store_of(DRINKS))


def list_things(known: Known, question: str) -> set[str]:
    return {plain_cell(row[0]) for row in known.named_rows(known.best_query(question))[1]}


@for_each(
    ("question", "things"),
    [
        ("drinks with rum", {"a", "b"}),
        ("drinks with orange juice", {"a"}),
        ("Which drinks are there with tomato?", {"d"}),
        ("drinks without milk", {"a", "b", "c", "d", "g"}),
    ],
)
def test_words_that_name_nothing_are_looked_for_in_texts(
    question: str, things: set[str], drinks: Known
) -> None:
    assert list_things(drinks, question) == things


@for_each("question", ["all drinks in the house", "drinks made with love"])
def test_words_that_no_text_has_are_no_condition(question: str, drinks: Known) -> None:
    assert "CONTAINS" not in drinks.best_query(question)


@for_each(
    ("question", "things"),
    [
        ("drinks served at floor 2", {"a"}),
        ("drinks served at the fourth floor", {"b", "c"}),
        ("drinks served at floor 12", {"d"}),
        ("drinks served at floor R20B", {"g"}),
    ],
)
def test_a_kind_and_a_number_name_one_thing(question: str, things: set[str], drinks: Known) -> None:
    assert list_things(drinks, question) == things
