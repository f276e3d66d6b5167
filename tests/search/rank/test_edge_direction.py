"""Relations go the way that grammar says, no step is one too many, and none goes too far."""

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.query_pieces import aggregates_of, patterns_in, predicate_of
from askgraph.search.rank import clusters
from askgraph.search.rank.faults import Subject, find_faults

GRAPH = """
@prefix : <https://art.example/> .
@prefix a: <https://art.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

a:Painter rdfs:label "painter" . a:taught rdfs:label "taught" .
a:praisedBy rdfs:label "praised by" . a:mentor rdfs:label "mentor" .

:ada a a:Painter ; rdfs:label "Ada" ; a:taught :ben ; a:praisedBy :ben ; a:mentor :ben .
:ben a a:Painter ; rdfs:label "Ben" ; a:taught :cleo ; a:praisedBy :cleo ; a:mentor :cleo .
:cleo a a:Painter ; rdfs:label "Cleo" ; a:taught :dan ; a:praisedBy :dan ; a:mentor :dan .
:dan a a:Painter ; rdfs:label "Dan" ; a:taught :ada ; a:praisedBy :ada ; a:mentor :ada .
"""

ASKED = [
    ("Who taught Ben?", "ada"),
    ("Whom has Ben taught?", "cleo"),
    ("Who was taught by Ben?", "cleo"),
    ("Who was praised by Cleo?", "ben"),
    ("Who praised Ben?", "cleo"),
    ("Who is the mentor of Ben?", "cleo"),
    ("Who is Ben's mentor?", "cleo"),
]


@pytest.fixture(scope="module")
def art() -> Known:
    """Painters in rings of pupils, of praise and of mentors."""
    return Known(store_of(GRAPH))


@for_each(("question", "expected"), ASKED)
def test_a_relation_is_read_as_the_grammar_says(question: str, expected: str, art: Known) -> None:
    best = art.best(question)
    rows = art.rows(art.query(best.query))
    assert not isinstance(rows, bool)
    assert {str(row[0])[1:-1].rpartition("/")[2] for row in rows} == {expected}


HARBOUR = """
@prefix : <https://port.example/> .
@prefix p: <https://port.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

p:Captain rdfs:label "captain" . p:Voyage rdfs:label "voyage" . p:Ship rdfs:label "ship" .
p:captain rdfs:label "captain" . p:homeTown rdfs:label "home town" . p:ship rdfs:label "ship" .
p:owner rdfs:label "owner" . p:permit rdfs:label "permit" . p:needs rdfs:label "requires" .
p:Permit rdfs:label "permit" . p:tons rdfs:label "tonnage" . p:berthNumber rdfs:label "berth number" .
p:Pilot rdfs:label "pilot" . p:guides rdfs:label "guides" .

:p1 a p:Pilot ; rdfs:label "Kim Roe" ; p:guides :s1 .
:p2 a p:Pilot ; rdfs:label "Kim Roe" ; p:guides :s2, :s3, :s1 , :v1, :v2, :v3, :v4, :q1, :q2 .
:p3 a p:Pilot ; rdfs:label "Lee Orr" ; p:guides :s1 .
:p4 a p:Pilot ; rdfs:label "Lee Orr" ; p:guides :s3 .

:ann a p:Captain ; rdfs:label "Ann" ; p:homeTown "Kiel" .
:bob a p:Captain ; rdfs:label "Bob" ; p:homeTown "Kiel" .
:cid a p:Captain ; rdfs:label "Cid" ; p:homeTown "Bari" .
:eve a p:Captain ; rdfs:label "Eve" ; p:homeTown "Bari" .
:fay a p:Captain ; rdfs:label "Fay" ; p:homeTown "Bari" .
:v1 a p:Voyage ; p:captain :ann ; p:ship :s1 . :v2 a p:Voyage ; p:captain :ann ; p:ship :s2 .
:v3 a p:Voyage ; p:captain :bob ; p:ship :s1 . :v4 a p:Voyage ; p:captain :cid ; p:ship :s3 .
:s1 a p:Ship ; rdfs:label "Heron" ; p:owner "Lund" ; p:tons 20 ; p:berthNumber 4 . :s2 a p:Ship ; rdfs:label "Tern" ; p:owner "Lund" ; p:tons 30 ; p:berthNumber 7 .
:s3 a p:Ship ; rdfs:label "Gull" ; p:owner "Moss" ; p:tons 40 ; p:berthNumber 9 .
:q1 a p:Permit ; rdfs:label "Harbour pass" .
:q2 a p:Permit ; rdfs:label "Coastal licence" ; p:needs :q1 .
:q3 a p:Permit ; rdfs:label "Ocean licence" ; p:needs :q2 .
:q4 a p:Permit ; rdfs:label "Polar licence" ; p:needs :q3 .
"""  # noqa: E501


@pytest.fixture(scope="module")
def port() -> Known:
    """Captains from towns, some of them with voyages; permits in a chain."""
    return Known(store_of(HARBOUR))


def _answer(question: str, port: Known) -> set[tuple[str, ...]]:
    best = port.best(question)
    rows = port.rows(port.query(best.query))
    assert not isinstance(rows, bool)
    return {tuple(str(cell) for cell in row) for row in rows}


def test_captains_are_not_asked_for_voyages(port: Known) -> None:
    assert _answer("Which home towns have at least three captains?", port) == {('"Bari"',)}
    assert _answer("Which home town has the most captains?", port) == {('"Bari"',)}


def test_a_step_that_no_word_asks_for_is_needless(port: Known) -> None:
    found = port.proposal("Show the captains in Kiel.").candidates
    detours = [
        one
        for one in found
        if any(predicate_of(step).endswith("#captain") for step in patterns_in(one.query.where))
    ]
    assert not found[0].features["needless"]
    assert detours
    assert any(one.features["needless"] for one in detours)


def test_a_compound_is_counted_by_its_last_noun(port: Known) -> None:
    assert {
        int(row[0].split('"')[1]) for row in _answer("How many ship owners are there?", port)
    } == {2}


def test_a_chain_is_walked_once(port: Known) -> None:
    asked = "Which permit requires the Harbour pass?"
    assert _answer(asked, port) == {("<https://port.example/q2>",)}


def test_no_candidate_counts_what_it_groups_by(port: Known) -> None:
    for question in ("How many captains are there for each home town?", "voyages per captain"):
        for one in port.proposal(question).candidates:
            counted = {call.arguments[0] for call in aggregates_of(one.tree)}
            assert counted.isdisjoint(value for value, _ in one.tree.group_by)


def test_names_of_a_property_whose_texts_are_names_add_no_column(port: Known) -> None:
    assert _answer("Show all owner names.", port) == {('"Lund"',), ('"Moss"',)}


def test_one_wrong_letter_does_not_hide_an_extreme(port: Known) -> None:
    [row] = _answer("What is the maximum and mininum tonnage?", port)
    assert [cell.split('"')[1] for cell in row] == ["40", "20"]


def test_a_number_of_things_is_no_number_that_they_have(port: Known) -> None:
    best = port.proposal("Count the number of berths.").candidates
    assert not any("berth" in port.query(one.query) for one in best[:1])


def test_two_of_a_kind_with_one_name_are_both_meant(port: Known) -> None:
    found = {row[0] for row in _answer("Which ships does Lee Orr guide?", port)}
    assert found == {"<https://port.example/s1>", "<https://port.example/s3>"}


def test_the_better_known_of_two_leaves_a_doubt(port: Known) -> None:
    def faults(question: str) -> tuple[str, ...]:
        proposal = port.proposal(question)
        return find_faults(Subject(proposal, clusters(proposal.candidates)[0].best))

    assert "namesake" in faults("Which ships does Kim Roe guide?")
    assert "namesake" not in faults("Which captain has the voyages of Heron?")


def test_a_second_question_asks_for_a_second_column(port: Known) -> None:
    proposal = port.proposal("What are the owners of the ships and what are the captains?")
    one = next(one for one in proposal.candidates if len(one.shown) == 1)
    assert "columns_missing" in find_faults(Subject(proposal, one))
