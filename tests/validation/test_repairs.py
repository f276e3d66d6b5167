"""What has one reading is mended, and it is said how."""

import pytest
from tests.validation.conftest import HEAD

from askgraph.validation import Kind
from askgraph.validation.knowledge import Services
from askgraph.validation.validate import validated

REPAIRS = [
    ("SELECT * { ?p a onto:Planet ; onto:orbits ?m }", "^onto:orbits"),
    ("SELECT * { ?m a onto:moon }", "a onto:Moon"),
    ("SELECT * { ?m onto:orbts ?p }", "onto:orbits"),
    ('SELECT * { ?p onto:code "JUP"@en }', 'onto:code "JUP"'),
    ("SELECT COUNT(?m) { ?m a onto:Moon }", "(COUNT(?m) AS ?count)"),
]


@pytest.mark.parametrize(("query", "part"), REPAIRS)
def test_what_has_one_reading_is_repaired(query: str, part: str, moons: Services) -> None:
    found = validated(HEAD + query, moons)
    assert part in found.repaired
    assert found.remaining == ()
    assert found.repairs


def test_a_known_prefix_is_declared(moons: Services) -> None:
    found = validated("SELECT * { ?m a onto:Moon }", moons)
    assert found.repaired == (
        "PREFIX onto: <http://example.org/onto#>\nSELECT * { ?m a onto:Moon }"
    )
    assert [finding.kind for finding in found.findings] == [Kind.PREFIX]


def test_another_name_is_proposed_but_not_put_in(moons: Services) -> None:
    query = HEAD + "SELECT * { ?m a onto:Moon ; onto:code ?radius }"
    found = validated(query, moons)
    assert found.repaired == query
    finding = next(one for one in found.findings if one.term.endswith("code"))
    assert finding.proposals[0].text == "onto:radius"


def test_a_misprint_in_one_branch_is_repaired_beside_a_sound_one(cups: Services) -> None:
    found = validated(HEAD + "SELECT * { { ?x :holds ?y } UNION { ?x :heldby ?y } }", cups)
    assert found.is_wrong
    assert found.repaired.endswith("UNION { ?x :heldBy ?y } }")


MENDED = [  # as people write them, what comes out, what was done
    ("SELECT ?n { :Io rdfs:label ?n } ;", "SELECT ?n { :Io rdfs:label ?n } ", None),
    ("SELECT COUNT(?m) { ?m a onto:Moon }", "SELECT (COUNT(?m) AS ?count) { ?m a onto:Moon }",
     "an aggregate was given parentheses and a name"),
    ("SELECT ?m { ?p onto:orbits ?m . ?p a onto:Planet }",
     "SELECT ?m { ?p ^onto:orbits ?m . ?p a onto:Planet }", "a predicate was turned round"),
    ('SELECT ?m { ?m rdfs:label "Europa" }', 'SELECT ?m { ?m rdfs:label "Europa" }', None),
    ('SELECT ?p { ?p onto:code "MAR"@en }', 'SELECT ?p { ?p onto:code "MAR" }',
     "a datatype was corrected"),
    ("SELECT ?m { ?m a onto:moons }", "SELECT ?m { ?m a onto:Moon }", None),
    ("SELECT ?m { ?m a onto:moon }", "SELECT ?m { ?m a onto:Moon }",
     "the name of a class was corrected"),
    ("SELECT ?m { ?m onto:radus ?r }", "SELECT ?m { ?m onto:radius ?r }",
     "the name of a predicate was corrected"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "mended", "note"), MENDED)
def test_a_repair_says_what_it_did(
    query: str, mended: str, note: str | None, moons: Services
) -> None:
    found = validated(HEAD + query, moons)
    if note is not None:
        assert found.repaired == HEAD + mended
        assert [repair.note for repair in found.repairs] == [note]
    else:
        assert found.repairs == ()


def test_the_label_service_becomes_optional_labels(moons: Services) -> None:
    query = (
        "SELECT ?m ?mLabel { ?m a onto:Moon SERVICE <http://wikiba.se/ontology#label>"
        " { <http://www.bigdata.com/rdf#serviceParam> <http://wikiba.se/ontology#language> 'en' } }"
    )
    found = validated(HEAD + query, moons)
    assert "SERVICE" not in found.repaired
    assert "?mLabel" in found.repaired[found.repaired.index("OPTIONAL") :]
    assert found.remaining == ()
    assert found.repairs
