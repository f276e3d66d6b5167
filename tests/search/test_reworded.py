"""Questions reworded: the topic first, two things with one value, an order by its ends."""

import pytest
from pyoxigraph import RdfFormat, Store
from tests.each import for_each
from tests.search.asking import Known

SHOPS = """
@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Company ; rdfs:label "Arbo" ; :industry "Banking" ; :city "Ulm" ; :marketValue 30 .
:b a :Company ; rdfs:label "Belo" ; :industry "Oil and gas" ; :city "Ulm" ; :marketValue 10 .
:c a :Company ; rdfs:label "Cado" ; :industry "Banking" ; :city "Bonn" ; :marketValue 20 .
:d a :Company ; rdfs:label "Dena" ; :industry "Retail" ; :city "Bonn" ; :marketValue 40 .
:e1 a :Exam ; rdfs:label "Exam 1" ; :grade "B" . :e2 a :Exam ; rdfs:label "Exam 2" ; :grade "B+" .
:e3 a :Exam ; rdfs:label "Exam 3" ; :grade "B+" . :e4 a :Exam ; rdfs:label "Exam 4" ; :grade "A" .
:p a :Student ; rdfs:label "Mark Good" . :q a :Student ; rdfs:label "Ann Lee" .
"""


@pytest.fixture(scope="module")
def known() -> Known:
    store = Store()
    store.load(SHOPS.encode(), RdfFormat.TURTLE)
    return Known(store)


@for_each(
    ("question", "rows"),
    [
        ("Companies, how many are there?", [("4",)]),
        ("Exams, how many have we held so far?", [("4",)]),
        ('In which city are there both "Banking" and "Oil and gas" companies?', [("Ulm",)]),
        (
            'Which industries have companies in "Ulm" as well as companies in "Bonn"?',
            [("Banking",)],
        ),
        (
            "Companies, from the one worth most on the market to the one worth least",
            [("d",), ("a",), ("c",), ("b",)],
        ),
        ('How many exams have the grade "B"?', [("1",)]),
        ('How many exams have the grade "B+"?', [("2",)]),
        ("I'd like to know how rare a good mark is: how many exams are there?", [("4",)]),
    ],
)
def test_reworded_questions_have_the_same_answer(
    known: Known, question: str, rows: list[tuple[str, ...]]
) -> None:
    assert known.best_rows(question) == rows
