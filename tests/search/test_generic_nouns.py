"""Nouns for anything stand for the things that a graph is about, and never for a part of a name."""

from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known, plain_cell
from tests.search.test_names_of_things import asked

MUSEUM = """
@prefix : <https://museum.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:E22 rdfs:label "E22 Human-Made" . :E39 rdfs:label "E39" .
:maker rdfs:label "maker" . :material rdfs:label "material" . :page rdfs:label "page" .
:year rdfs:label "year" . :place rdfs:label "place" .
:a a :E22 ; rdfs:label "The Bull" ; :maker :ann ; :material "bronze" ; :year 1901 .
:a :page <https://museum.example/tools/> .
:b a :E22 ; rdfs:label "The Lake" ; :maker :bob ; :material "oil" ; :year 1880 .
:c a :E22 ; rdfs:label "The Road" ; :maker :ann ; :material "oil" ; :year 1910 .
:d a :E22 ; rdfs:label "The Hill" ; :maker :foundry ; :material "bronze" ; :year 1890 .
:ann a :E39 ; rdfs:label "Ann Bell" . :bob a :E39 ; rdfs:label "Bob Hart" .
:foundry a :E39 ; rdfs:label "Roman Bronze Works" .
"""


@pytest.fixture(scope="module")
def museum() -> Known:
    return Known(store_of(MUSEUM))


@for_each(
    ("question", "things"),
    [
        ("works by Ann Bell", {"a", "c"}),
        ("Which objects are there?", {"a", "b", "c", "d"}),
        ("pieces with maker Bob Hart", {"b"}),
        ("tools with material bronze", {"a", "d"}),
        ("works by Roman Bronze Works", {"d"}),
    ],
)
def test_a_generic_noun_is_one_of_the_main_class(
    question: str, things: set[str], museum: Known
) -> None:
    rows = museum.named_rows(museum.best_query(question))[1]
    assert {plain_cell(row[0]) for row in rows} == things


@for_each("question", ["How many objects are there?", "How many items are there?"])
def test_generic_nouns_are_counted(question: str, museum: Known) -> None:
    rows = museum.named_rows(museum.best_query(question))[1]
    assert [plain_cell(row[0]) for row in rows] == ["4"]


@for_each("question", ["works by Ann Bell", "tools with material bronze"])
def test_a_generic_noun_is_no_part_of_a_name_or_path(question: str, museum: Known) -> None:
    query = museum.best_query(question)
    assert "foundry" not in query and "/tools/" not in query


def test_a_class_of_that_name_is_meant_before_the_main_class() -> None:
    turtle = MUSEUM + ':Tool rdfs:label "tool" . :saw a :Tool ; rdfs:label "Saw" .'
    known = Known(store_of(turtle))
    assert "/Tool>" in known.best_query("Which tools are there?")


@for_each(
    ("question", "status"),
    [
        ("What is the most common material among them?", "answer"),
        ("Which maker has the most of these works?", "answer"),
        ("which of them is the largest?", "refusal"),
    ],
)
def test_a_first_question_of_its_own_needs_no_result_before(
    question: str, status: str, tmp_path: Path
) -> None:
    found = asked(question, tmp_path, MUSEUM)
    reason = str(found.get("reason", ""))
    assert ("no result before" in reason) is (status == "refusal")


CATEGORIES = """
@prefix : <https://bar.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:category rdfs:label "category" . :note rdfs:label "note" .
:c1 rdfs:label "Cocktails with gin" . :c2 rdfs:label "Mint drinks" .
:c3 rdfs:label "Cold drinks" . :c4 rdfs:label "Coffee drinks" .
:fizz rdfs:label "Fizz" ; :category :c1 , :c3 ; :note [ rdf:value "stirred" ] .
:julep rdfs:label "Julep" ; :category :c2 ; :note [ rdf:value "shaken well" ] .
:mule rdfs:label "Mule" ; :category :c1 , :c2 ; :note [ rdf:value "shaken well" ] .
:irish rdfs:label "Irish" ; :category :c4 ; :note [ rdf:value "stirred" ] .
"""


@for_each(
    ("question", "things"),
    [
        ("drinks with gin", {"fizz", "mule"}),
        ("cold drinks", {"fizz"}),
        ("Which are shaken well?", {"julep", "mule"}),
    ],
)
def test_a_plural_in_several_names_is_a_kind_and_no_part_of_one(
    question: str, things: set[str]
) -> None:
    bar = Known(store_of(CATEGORIES))
    rows = bar.named_rows(bar.best_query(question))[1]
    assert {plain_cell(row[0]) for row in rows} == things


def test_a_generic_noun_has_no_meaning_of_its_own() -> None:
    turtle = MUSEUM + ':contributor rdfs:label "contributor" . :set :contributor "A B" .'
    known = Known(store_of(turtle))
    rows = known.named_rows(known.best_query("works by Ann Bell"))[1]
    assert {plain_cell(row[0]) for row in rows} == {"a", "c"}


EVENTS = """
@prefix : <https://museum.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a a :Painting ; rdfs:label "The Bull" ; :producedBy :pa .
:b a :Painting ; rdfs:label "The Lake" ; :producedBy :pb .
:c a :Print ; rdfs:label "The Road" ; :producedBy :pc .
:pa a :Production ; :timeSpan :ta . :pb a :Production ; :timeSpan :tb .
:pc a :Production ; :timeSpan :tc .
:ta a :Span ; rdfs:label "1840s" ; :begin "1841-01-01"^^xsd:date ; :finish "1849-01-01"^^xsd:date .
:tb a :Span ; rdfs:label "1860s" ; :begin "1861-01-01"^^xsd:date ; :finish "1869-01-01"^^xsd:date .
:tc a :Span ; rdfs:label "1830s" ; :begin "1831-01-01"^^xsd:date ; :finish "1839-01-01"^^xsd:date .
"""


@for_each(
    ("question", "things"),
    [
        ("paintings from before 1850", {"a"}),
        ("paintings from after 1850", {"b"}),
        ("the oldest painting", {"a"}),
    ],
)
def test_things_have_the_date_of_the_event_behind_them(question: str, things: set[str]) -> None:
    museum = Known(store_of(EVENTS))
    rows = museum.named_rows(museum.best_query(question))[1]
    assert {plain_cell(row[0]) for row in rows} == things


SONGS = """
@prefix : <https://music.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:name rdfs:label "name" . :artist rdfs:label "artist" . :release rdfs:label "release" .
:language rdfs:label "programming language" . :implements rdfs:label "implements" .
:ann a :Artist ; :name "Ann Bell" .
:x a :Album ; :name "Ann Bell (1967 album)" ; :artist :ann .
:y a :Album ; :name "Rivers" ; :artist :ann .
:z a :Album ; :name "Hills" ; :artist :bob .
:bob a :Artist ; :name "Bob Hart" .
:p1 a :Project ; :release :r1 , :r2 ; :language "Java" , "Scala" .
:p2 a :Project ; :release :r3 ; :language "Java" ; :implements :s1 .
:s1 a :Standard . :r1 a :Version . :r2 a :Version . :r3 a :Version .
"""


@for_each(
    ("question", "cells"),
    [
        ("How many albums did Ann Bell make?", {"2"}),
        ("Which project has published the most releases?", {"p1"}),
        ("projects that use more than one programming language", {"p1"}),
    ],
)
def test_words_that_mean_little_add_no_condition_and_no_column(
    question: str, cells: set[str]
) -> None:
    music = Known(store_of(SONGS))
    rows = music.named_rows(music.best_query(question))[1]
    assert {plain_cell(row[0]) for row in rows} == cells


PRIZES = """
@prefix : <https://prizes.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:category rdfs:label "category" . :country rdfs:label "country" .
:p1 a :Prize ; :category :physics ; :country :norway . :p2 a :Prize ; :category :physics .
:p3 a :Prize ; :category :peace ; :country :norway . :norway a :Country .
:e1 a :Entry , :Vase . :e2 a :Entry , :Vase . :e3 a :Entry , :Potter .
"""


@for_each(
    ("question", "rows"),
    [
        ("number of prizes per field", {("physics", "2"), ("peace", "1")}),
        ("number of entries of each sort", {("Vase", "2"), ("Potter", "1")}),
    ],
)
def test_things_are_counted_by_their_kind(question: str, rows: set[tuple[str, str]]) -> None:
    prizes = Known(store_of(PRIZES))
    found = prizes.named_rows(prizes.best_query(question))[1]
    assert {(plain_cell(row[0]), plain_cell(row[-1])) for row in found} == rows
