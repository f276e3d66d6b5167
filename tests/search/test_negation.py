"""A negation is about the noun before it and holds what is said after it."""

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.rank import clusters


def best(known: Known, question: str) -> str:
    return known.query(clusters(known.proposal(question).candidates)[0].best.query)


@for_each(
    ("question", "found"),
    [
        ("Which keepers do not care for any bird?", {"Otto"}),
        ("Which keepers never fed Kito?", {"Otto"}),
        ("Which enclosures have no mammal?", {"Pool", "Cave"}),
        ("Which animals were never fed?", {"Tara", "Pep", "Pup"}),
        ("Which animals have no feeding?", {"Tara", "Pep", "Pup"}),
        ("Which parks have no enclosure?", {"SouthPark", "Zoo"}),
        ("Welche Gehege haben keine Vögel?", {"Rock", "Hall", "Cave"}),
        ("Which enclosures do not have an animal heavier than 150 kg?", {"Pool", "Cave"}),
        ("Which keepers have not fed an animal before 2 May 2024?", {"Lena"}),
        ("Welche Gehege haben kein Tier, das schwerer als 150 kg ist?", {"Pool", "Cave"}),
        ("Which enclosures without birds are larger than 500?", {"Rock", "Hall"}),
    ],
)
def test_what_is_asked_for_lacks_what_is_denied(question: str, found: set[str], zoo: Known) -> None:
    rows = zoo.rows(best(zoo, question))
    assert not isinstance(rows, bool)
    assert {str(row[0]) for row in rows} == {f"<https://zoo.example/{one}>" for one in found}


def test_how_many_lack_it_is_one_number(zoo: Known) -> None:
    rows = zoo.rows(best(zoo, "How many enclosures have no birds?"))
    assert not isinstance(rows, bool)
    assert [str(row[0]).split('"')[1] for row in rows] == ["3"]


def test_a_question_for_yes_or_no_holds_no_condition_on_groups(zoo: Known) -> None:
    for question in (
        "Does Lion Rock have more than one animal?",
        "Is there a keeper without email?",
    ):
        for candidate in zoo.proposal(question).candidates:
            assert not (candidate.asks and candidate.tree.having)


PORT = """
@prefix : <https://port.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ana a :Sailor ; rdfs:label "Ana" . :bo a :Sailor ; rdfs:label "Bo" .
:cem a :Sailor ; rdfs:label "Cem" .
:b1 a :Berth ; :holder :ana ; :voyage :v1 . :b2 a :Berth ; :holder :bo ; :voyage :v2 .
:b3 a :Berth ; :holder :cem ; :voyage :v2 . :b4 a :Berth ; :holder :cem ; :voyage :v1 .
:v1 a :Voyage ; rdfs:label "Silver Tide" ; :goal :malta ; :owner :acme .
:v2 a :Voyage ; rdfs:label "Grey Gull" ; :goal :crete ; :owner :acme .
:acme a :Company ; rdfs:label "Acme" .
:malta a :Island ; rdfs:label "Malta" . :crete a :Island ; rdfs:label "Crete" .
"""


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("Which sailors were never on Malta?", "en", {"bo"}),
        ("Welche Sailor waren nie auf Malta?", "de", {"bo"}),
        ("Which sailors were not among the merry holders of a berth of Silver Tide?", "en", {"bo"}),
    ],
)
def test_what_is_denied_may_lie_steps_away_that_no_word_names(
    question: str, language: str, found: set[str]
) -> None:
    port = Known(store_of(PORT))
    query = clusters(port.proposal(question, language).candidates)[0].best.query
    rows = port.rows(port.query(query))
    assert not isinstance(rows, bool)
    assert {str(row[0]) for row in rows} == {f"<https://port.example/{one}>" for one in found}


def test_a_denial_ends_with_its_clause() -> None:
    port = Known(store_of(PORT))
    question = "Which voyages that do not have the goal Crete are owned by Acme?"
    for candidate in port.proposal(question).candidates:
        query = port.query(candidate.query)
        assert "acme" not in query.partition("NOT EXISTS")[2]


@pytest.mark.parametrize(
    "question",
    ["Which astronauts were never on the Moon?", "Welche Astronauten waren nie auf dem Mond?"],
)
def test_a_class_that_words_name_is_kept_beside_the_denial(question: str, space: Known) -> None:
    language = "de" if question.startswith("Welche") else "en"
    query = clusters(space.proposal(question, language).candidates)[0].best.query
    rows = space.rows(space.query(query))
    assert not isinstance(rows, bool)
    found = {str(row[0]).rsplit("/", 1)[-1].rstrip(">") for row in rows}
    assert "Alexander_Gerst" in found and "Neil_Armstrong" not in found
