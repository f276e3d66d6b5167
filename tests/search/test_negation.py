"""A negation is about the noun before it and holds what is said after it."""

import pytest
from tests.search.asking import Known

from askgraph.search.rank import clusters


def best(known: Known, question: str) -> str:
    return known.query(clusters(known.proposal(question).candidates)[0].best.query)


@pytest.mark.parametrize(
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
