"""Two things compared or reckoned with: the larger one, the difference, the ratio, the sum."""

import pytest
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import in_words
from askgraph.search.rank import clusters

PEAKS = """
@prefix : <https://peaks.example/> .
@prefix p: <https://peaks.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

p:Mountain rdfs:label "mountain"@en, "Berg"@de, "montaña"@es, "montagne"@fr .
p:Climber rdfs:label "climber"@en .
p:height rdfs:label "height"@en, "Höhe"@de, "altura"@es, "hauteur"@fr .
p:visitors rdfs:label "visitors"@en, "Besucher"@de, "visitantes"@es, "visiteurs"@fr .
p:born rdfs:label "birth date"@en .

:Alba a p:Mountain ; rdfs:label "Alba" ; p:height 3000 ; p:visitors 50 .
:Brock a p:Mountain ; rdfs:label "Brock" ; p:height 1200 ; p:visitors 200 .
:Corvo a p:Mountain ; rdfs:label "Corvo" ; p:height 1200 ; p:visitors 10 .
:Ida a p:Climber ; rdfs:label "Ida" ; p:born "1950-05-01"^^xsd:date .
:Jon a p:Climber ; rdfs:label "Jon" ; p:born "1962-03-01"^^xsd:date .
"""
Rows = set[tuple[str, ...]]


@pytest.fixture(scope="module")
def peaks() -> Known:
    return Known(store_of(PEAKS))


def answer(known: Known, question: str, language: str = "en") -> Rows:
    rows = known.rows(best_query(known, question, language))
    assert not isinstance(rows, bool)
    return {tuple(plain(cell or "") for cell in row) for row in rows}


def best_query(known: Known, question: str, language: str = "en") -> str:
    return known.query(clusters(known.proposal(question, language).candidates)[0].best.query)


def plain(cell: str) -> str:
    text = cell.split("^^")[0].strip('"<>').removeprefix("https://peaks.example/")
    return f"{float(text):g}" if text.replace(".", "", 1).lstrip("-").isdigit() else text


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("Which is higher, Alba or Brock?", "en", {("Alba",)}),
        ("Which mountain has more visitors, Alba or Brock?", "en", {("Brock",)}),
        ("Which has fewer visitors, Alba or Corvo?", "en", {("Corvo",)}),
        ("Welcher Berg hat mehr Besucher, Alba oder Brock?", "de", {("Brock",)}),
        ("¿Qué montaña tiene más visitantes, Alba o Brock?", "es", {("Brock",)}),
        ("Quelle montagne a plus de visiteurs, Alba ou Brock ?", "fr", {("Brock",)}),
        ("What is taller, Corvo or Alba?", "en", {("Alba",)}),
        ("Which mountain is lower, Brock or Alba?", "en", {("Brock",)}),
        ("Which mountain is the tallest, Brock or Alba?", "en", {("Alba",)}),
        ("Who is older, Ida or Jon?", "en", {("Ida",)}),
        ("Who is younger, Ida or Jon?", "en", {("Jon",)}),
        ("Welcher Berg ist höher, Alba oder Brock?", "de", {("Alba",)}),
        ("¿Qué montaña es más alta, Alba o Brock?", "es", {("Alba",)}),
        ("Quelle montagne est plus haute, Alba ou Brock ?", "fr", {("Alba",)}),
    ],
)
def test_the_one_of_two_that_has_more_is_the_answer(
    peaks: Known, question: str, language: str, rows: Rows
) -> None:
    assert answer(peaks, question, language) == rows


def test_two_that_have_the_same_are_both_the_answer(peaks: Known) -> None:
    assert answer(peaks, "Which is higher, Brock or Corvo?") == {("Brock",), ("Corvo",)}


@pytest.mark.parametrize(
    ("question", "language", "value"),
    [
        ("How much higher is Alba than Brock?", "en", "1800"),
        ("How much lower is Brock than Alba?", "en", "1800"),
        ("How many more visitors does Brock have than Alba?", "en", "150"),
        ("By how much is Alba taller than Brock?", "en", "1800"),
        ("What is the difference between the height of Brock and Alba?", "en", "1800"),
        ("the difference in visitors between Alba and Corvo", "en", "40"),
        ("How many times higher is Alba than Brock?", "en", "2.5"),
        ("What is the ratio of the visitors of Brock to the visitors of Alba?", "en", "4"),
        ("What is the total height of Alba and Brock?", "en", "4200"),
        ("How much older is Ida than Jon?", "en", "11"),
        ("Wie viel höher ist Alba als Brock?", "de", "1800"),
        ("Was ist der Unterschied zwischen der Höhe von Alba und Brock?", "de", "1800"),
        ("¿Cuánto más alta es Alba que Brock?", "es", "1800"),
        ("¿Cuál es la diferencia entre la altura de Alba y Brock?", "es", "1800"),
        ("Quelle est la différence entre la hauteur de Alba et celle de Brock ?", "fr", "1800"),
    ],
)
def test_two_things_are_reckoned_with(
    peaks: Known, question: str, language: str, value: str
) -> None:
    assert answer(peaks, question, language) == {(value,)}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Of Alba and Brock, the one with the highest height."),
        ("de", "Von Alba und Brock der Eintrag mit dem höchsten Wert für height."),
        ("es", "De Alba y Brock, el elemento con el mayor valor de height."),
        ("fr", "Parmi Alba et Brock, l’élément avec la plus grande valeur de height."),
    ],
)
def test_the_one_of_two_is_read_as_such(peaks: Known, language: str, text: str) -> None:
    query = best_query(peaks, "Which is higher, Alba or Brock?")
    assert in_words(query, {}, language=language) == text


def test_a_comparison_with_one_thing_is_a_condition(peaks: Known) -> None:
    assert answer(peaks, "Which mountains are higher than Brock?") == {("Alba",)}
