"""Two conditions with "or" between them are one: what fits either of them fits."""

import pytest
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import in_words
from askgraph.search.query_pieces import alternatives_in, conditions_in, either_in
from askgraph.search.rank import clusters


@pytest.mark.parametrize(
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
    best = clusters(zoo.proposal(question).candidates)[0].best
    rows = zoo.rows(zoo.query(best.query))

    assert not isinstance(rows, bool)
    assert {str(row[0]) for row in rows} == {f"<https://zoo.example/{one}>" for one in found}
    assert not conditions_in(best.tree.where)
    assert len([*alternatives_in(best.tree.where), *either_in(best.tree.where)]) == 2


FILMS = """
@prefix : <https://films.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:director rdfs:label "directed by"@en, "Regie von"@de, "dirigida por"@es, "réalisé par"@fr .
:writer rdfs:label "written by"@en, "geschrieben von"@de, "escrita por"@es, "écrit par"@fr .
:Film rdfs:label "film"@en, "Film"@de, "película"@es, "film"@fr .
:year rdfs:label "release year" . :Person rdfs:label "person" .
:born rdfs:label "birth place" . :died rdfs:label "death place" .
:f1 a :Film ; rdfs:label "Dune" ; :director :ann ; :writer :bob ; :year 1984 .
:f2 a :Film ; rdfs:label "Eraserhead" ; :director :bob ; :writer :bob ; :year 1977 .
:f3 a :Film ; rdfs:label "Solaris" ; :director :cid ; :writer :ann ; :year 1972 .
:f4 a :Film ; rdfs:label "Mirror" ; :director :cid ; :writer :cid ; :year 1975 .
:ann a :Person ; rdfs:label "Ann Abel" ; :born :p ; :died :q .
:bob a :Person ; rdfs:label "Bob Bell" ; :born :q ; :died :r .
:cid a :Person ; rdfs:label "Cid Cole" ; :born :r ; :died :p .
:dan a :Person ; rdfs:label "Dan Dole" ; :born :q ; :died :q .
:p a :Town ; rdfs:label "Paris" . :q a :Town ; rdfs:label "Queens" .
:r a :Town ; rdfs:label "Rome" .
"""


@pytest.fixture(scope="module")
def films() -> Known:
    return Known(store_of(FILMS))


def found(known: Known, question: str, language: str = "en") -> set[str]:
    best = clusters(known.proposal(question, language).candidates)[0].best
    rows = known.rows(known.query(best.query))
    assert not isinstance(rows, bool)
    return {str(row[0]).removeprefix("<https://films.example/").rstrip(">") for row in rows}


@pytest.mark.parametrize(
    ("question", "language", "things"),
    [
        ("Which films were directed or written by Ann Abel?", "en", {"f1", "f3"}),
        ("Which films did Ann Abel direct or write?", "en", {"f1", "f3"}),
        ("Which films were directed by Bob Bell or written by Ann Abel?", "en", {"f2", "f3"}),
        ("Which films were directed by Bob Bell or released in 1972?", "en", {"f2", "f3"}),
        ("Which people were born in Paris or died in Rome?", "en", {"ann", "bob"}),
        ("Who was born in Paris or died in Rome?", "en", {"ann", "bob"}),
        ("Who directed or wrote Dune?", "en", {"ann", "bob"}),
        ("Welche Filme sind Regie von Bob Bell oder geschrieben von Ann Abel?", "de", {"f2", "f3"}),
        (
            "¿Qué películas fueron dirigidas por Bob Bell o escritas por Ann Abel?",
            "es",
            {"f2", "f3"},
        ),
        (
            "Quels films ont été réalisés par Bob Bell ou écrits par Ann Abel ?",
            "fr",
            {"f2", "f3"},
        ),
    ],
)
def test_what_fits_one_of_two_relations_is_found(
    films: Known, question: str, language: str, things: set[str]
) -> None:
    assert found(films, question, language) == things


def test_two_things_of_one_relation_stay_values_of_it(films: Known) -> None:
    question = "Which films were directed by Bob Bell or Ann Abel?"
    best = clusters(films.proposal(question).candidates)[0].best
    assert "IN (" in films.query(best.query) and found(films, question) == {"f1", "f2"}


def test_the_number_of_what_fits_one_of_two_relations_is_read_as_such(films: Known) -> None:
    question = "How many people were born in Paris or died in Rome?"
    query = films.query(clusters(films.proposal(question).candidates)[0].best.query)
    assert films.rows(query) == [('"2"^^<http://www.w3.org/2001/XMLSchema#integer>',)]
    labels = {"https://films.example/p": "Paris", "https://films.example/r": "Rome"}
    labels |= {"https://films.example/born": "birth place"}
    labels |= {"https://films.example/died": "death place"}
    text = in_words(query, labels, language="en")
    assert text == "The number of people whose birth place is Paris or whose death place is Rome."


def test_or_between_function_words_is_no_alternative(films: Known) -> None:
    question = "Which person directed Dune? Give his or her birth place."
    assert not films.proposal(question).frame.of("or")


LONG = """
:length rdfs:label "length" . :f2 :length 90 . :f5 a :Film ; rdfs:label "Opal" ; :length 300 .
"""


def test_what_fits_one_of_two_conditions_need_not_have_what_the_other_is_about() -> None:
    known = Known(store_of(FILMS + LONG))
    question = "Which films have a length above 200 or were directed by Bob Bell?"
    assert found(known, question) == {"f2", "f5"}
    assert found(known, "Which films were directed by Bob Bell or are longer than 200?") == {
        "f2",
        "f5",
    }
