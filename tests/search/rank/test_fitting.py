"""What is asked for against what is shown: persons, places and times, nouns, one or several."""

from collections.abc import Sequence

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.rank.faults import Subject, find_faults

TOWN = """
@prefix : <https://town.example/> .
@prefix t: <https://town.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

t:Concert rdfs:label "concert"@en, "Konzert"@de, "concierto"@es .
t:Choir rdfs:label "choir"@en . t:Hall rdfs:label "hall"@en . t:Singer rdfs:label "singer"@en .
t:Piece rdfs:label "piece"@en . t:Part rdfs:label "part"@en .
t:performanceHall rdfs:label "performance hall"@en, "Aufführungsort"@de, "lugar de actuación"@es .
t:performanceDate rdfs:label "performance date"@en, "Aufführungsdatum"@de .
t:performed rdfs:label "performed"@en ; rdfs:comment "The piece"@en .
t:leader rdfs:label "leader"@en . t:street rdfs:label "street"@en .
t:member rdfs:label "member"@en .
t:inChoir rdfs:label "choir"@en . t:price rdfs:label "ticket price"@en .
t:seats rdfs:label "seats"@en .

:May a t:Concert ; rdfs:label "May Gala" ; t:performanceHall :Dome ; t:performed :Elijah ;
    t:performanceDate "2021-05-02"^^xsd:date ; t:price 30 .
:June a t:Concert ; rdfs:label "June Gala" ; t:performanceHall :Barn ; t:performed :Messiah ;
    t:performanceDate "2022-06-07"^^xsd:date ; t:price 20 .
:Dome a t:Hall ; rdfs:label "Dome" ; t:street "Long Street" ; t:seats 900 .
:Barn a t:Hall ; rdfs:label "Barn" ; t:street "Mill Lane" ; t:seats 200 .
:Elijah a t:Piece ; rdfs:label "Elijah" . :Messiah a t:Piece ; rdfs:label "Messiah" .
:Larks a t:Choir ; rdfs:label "Larks" ; t:leader :Ada .
:Ada a t:Singer ; rdfs:label "Ada Moss" . :Ben a t:Singer ; rdfs:label "Ben Rill" .
:p1 a t:Part ; t:member :Ada ; t:inChoir :Larks . :p2 a t:Part ; t:member :Ben ; t:inChoir :Larks .
"""


@pytest.fixture(scope="module")
def town() -> Known:
    return Known(store_of(TOWN))


def shown(known: Known, question: str, language: str) -> Sequence[str]:
    """The values of all columns of the best candidate."""
    best = known.best(question, language)
    rows = known.rows(known.query(best.query))
    assert not isinstance(rows, bool)
    return sorted(_plain(term) for row in rows for term in row if term)


def _plain(term: str) -> str:
    return term.split('"')[1] if term.startswith('"') else term.strip("<>").rsplit("/", 1)[-1]


@for_each(
    ("question", "language", "wanted"),
    [
        ("Where was the May Gala performed?", "en", ["Dome"]),
        ("When was the May Gala performed?", "en", ["2021-05-02"]),
        ("What was performed at the May Gala?", "en", ["Elijah"]),
        ("Where is the May Gala?", "en", ["Dome"]),
        ("Where is the Dome?", "en", ["Long Street"]),
        ("Who is the leader of the Larks?", "en", ["Ada"]),
        ("Wo wurde die May Gala aufgeführt?", "de", ["Dome"]),
        ("What is the cheapest concert?", "en", ["June"]),
        ("What is the ticket price of the cheapest concert?", "en", ["20"]),
        ("What are the names of the halls?", "en", ["Barn", "Dome"]),
    ],
)
def test_what_is_shown_is_of_the_kind_that_is_asked_for(
    question: str, language: str, wanted: Sequence[str], town: Known
) -> None:
    assert shown(town, question, language) == wanted


@for_each(
    ("question", "language", "wanted"),
    [
        ("Where was Apollo 11 launched?", "en", ["Kennedy_Space_Center"]),
        ("When was Apollo 11 launched?", "en", ["1969-07-16"]),
        ("Who flew on Apollo 11?", "en", ["Buzz_Aldrin", "Michael_Collins", "Neil_Armstrong"]),
        ("Who was on Gemini 8?", "en", ["David_Scott", "Neil_Armstrong"]),
        ("What is the name of the largest moon of Jupiter?", "en", ["Ganymede"]),
        ("When did Apollo 11 end?", "en", ["1969-07-24"]),
        ("Wo wurde Apollo 11 gestartet?", "de", ["Kennedy_Space_Center"]),
        ("Wann startete Apollo 11?", "de", ["1969-07-16"]),
        ("¿Dónde fue lanzado el Apolo 11?", "es", ["Kennedy_Space_Center"]),
    ],
)
def test_of_several_links_that_of_the_kind_that_is_asked_for_is_taken(
    question: str, language: str, wanted: Sequence[str], space: Known
) -> None:
    assert shown(space, question, language) == wanted


def test_a_thing_of_another_kind_is_a_fault(town: Known) -> None:
    proposal = town.proposal("Who performed the May Gala?", "en")
    for candidate in proposal.candidates:
        wrong = "wrong_kind" in find_faults(Subject(proposal, candidate))
        assert wrong == bool(candidate.features["misfit"])
    assert any(candidate.features["misfit"] for candidate in proposal.candidates)


def test_one_row_disagrees_with_a_plural_and_several_with_a_singular(town: Known) -> None:
    several = town.proposal("What are the halls?", "en").candidates[0]
    assert not several.features["disagrees"]
    one = town.proposal("What is the hall?", "en").candidates[0]
    assert one.features["disagrees"]


def test_the_verb_of_a_question_is_no_noun_that_it_asks_for(space: Known) -> None:
    best = space.best("What did Galileo discover?")
    assert "discoverer" in space.query(best.query)
    assert "Galileo_Galilei" in space.query(best.query)
