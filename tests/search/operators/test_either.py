"""Two conditions with "or" between them are one: what fits either of them fits."""

import pytest
from tests.each import for_each
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.explanation import in_words
from askgraph.search import alternatives_in, conditions_in, either_in


@for_each(
    ("question", "found"),
    [
        (
            "Which enclosures have a surface area above 2000 or an opening year after 2010?",
            {"Hall", "Pool", "Cave"},
        ),
        ("Which animals were born before 2000 or after 2019?", {"Humbo", "Pep"}),
        ("Which animals have a weight below 5 or a weight above 4000?", {"Pip", "Humbo"}),
        ("Welche Tiere wurden vor 2000 oder nach 2019 geboren?", {"Humbo", "Pep"}),
    ],
)
def test_what_fits_one_of_two_conditions_is_found(
    question: str, found: set[str], zoo: Known
) -> None:
    best = zoo.best(question)
    rows = zoo.rows(zoo.query(best.query))

    assert not isinstance(rows, bool)
    assert {str(row[0]) for row in rows} == {f"<https://zoo.example/{one}>" for one in found}
    assert not conditions_in(best.tree.where)
    assert len([*alternatives_in(best.tree.where), *either_in(best.tree.where)]) == 2


@pytest.fixture(scope="module")
def films() -> Known:
    return graph_named("films")


def found(known: Known, question: str, language: str = "en") -> set[str]:
    best = known.best(question, language)
    rows = known.rows(known.query(best.query))
    assert not isinstance(rows, bool)
    return {str(row[0]).removeprefix("<https://films.example/").rstrip(">") for row in rows}


def test_two_things_of_one_relation_stay_values_of_it(films: Known) -> None:
    question = "Which films were directed by Bob Bell or Ann Abel?"
    best = films.best(question)
    assert "IN (" in films.query(best.query) and found(films, question) == {"f1", "f2"}


def test_the_number_of_what_fits_one_of_two_relations_is_read_as_such(films: Known) -> None:
    question = "How many people were born in Paris or died in Rome?"
    query = films.best_query(question)
    assert films.rows(query) == [('"2"^^<http://www.w3.org/2001/XMLSchema#integer>',)]
    labels = {"https://films.example/p": "Paris", "https://films.example/r": "Rome"}
    labels |= {"https://films.example/born": "birth place"}
    labels |= {"https://films.example/died": "death place"}
    text = in_words(query, labels, language="en")
    assert text == "The number of people whose birth place is Paris or whose death place is Rome."


def test_or_between_function_words_is_no_alternative(films: Known) -> None:
    question = "Which person directed Dune? Give his or her birth place."
    assert not films.proposal(question).frame.of("or")
