"""Names that are asked for are those of the thing that the words say."""

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import in_words


def text(term: str) -> str:
    return term[1:-1].rpartition("/")[2] if term.startswith("<") else term.split('"')[1]


def test_names_in_a_row_need_no_comma() -> None:
    staff = """
    @prefix : <https://staff.example/> .
    :a a :Clerk ; :firstName "Ann" ; :middleName "B" ; :lastName "Cole" .
    :b a :Clerk ; :firstName "Eve" ; :middleName "F" ; :lastName "Gray" .
    """
    known = Known(store_of(staff))
    question = "List the first name middle name and last name of all clerks."
    best = known.best(question)
    assert len(best.columns) == 3


@pytest.mark.parametrize(
    ("question", "language", "columns"),
    [
        ("List all missions before 1960 with their launch vehicle", "en", "mission launch_vehicle"),
        (
            "Astronauts born before 1930 with their birth date and nationality",
            "en",
            "astronaut birth_date nationality",
        ),
        ("Liste alle Missionen zur Venus mit ihrer Trägerrakete", "de", "mission launch_vehicle"),
    ],
)
def test_with_their_asks_for_more_columns(
    question: str, language: str, columns: str, space: Known
) -> None:
    best = space.best(question, language)
    names = [name.value for name, _ in best.query.columns]
    assert names == columns.split()


SHELVES = """
@prefix : <https://books.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Book rdfs:label "book"@en, "Buch"@de .
:b1 a :Book ; rdfs:label "Sea"@en, "Aal"@de .
:b2 a :Book ; rdfs:label "Ash"@en, "Ufer"@de .
:b3 a :Book ; rdfs:label "Fog"@en, "Nebel"@de .
:b4 a :Book .
"""


@for_each(
    ("question", "language", "ends"),
    [
        ("List the books in alphabetical order.", "en", ["b2", "b3", "b1"]),
        ("List the books in reverse alphabetical order.", "en", ["b1", "b3", "b2"]),
        ("alle Bücher in alphabetischer Reihenfolge", "de", ["b1", "b3", "b2"]),
        ("list the books sorted by name", "en", ["b2", "b3", "b1"]),
    ],
)
def test_things_are_sorted_by_their_labels_in_one_language(
    question: str, language: str, ends: list[str]
) -> None:
    known = Known(store_of(SHELVES))
    query = known.best_query(question, language)
    rows = known.rows(query)
    assert not isinstance(rows, bool)
    named = [text(str(row[0])) for row in rows]
    assert [one for one in named if one != "b4"] == ends and "b4" in named
    assert "sorted by label" in in_words(query, {}, language="en")
