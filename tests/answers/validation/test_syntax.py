"""What no parser reads is told; what is huge, new or nested is not called wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.answers.validation.conftest import HEAD, only

from askgraph.answers.validation import Kind, Services
from askgraph.answers.validation.validate import findings_on, validated

UNREADABLE = [
    ("SELECT ?m { ?m a onto:Moon ?m onto:orbits ?p }", 1.0),
    ("SELECT ?m { ?m a onto:Moon FILTER(NOSUCH(?m)) }", 1.0),
    ("SELECT ?m, ?p { ?m onto:orbits ?p }", 1.0),
    ("INSERT DATA { :Io a onto:Moon }", 1.0),
    ("SELECT ?t { << :Io onto:orbits :Jupiter >> ?q ?t }", 0.3),
]


@pytest.mark.parametrize(("query", "sure"), UNREADABLE)
def test_what_only_some_parsers_read_is_not_called_wrong(
    query: str, sure: float, moons: Services
) -> None:
    finding = only(query, moons)
    assert (finding.kind, finding.certainty) == (Kind.SYNTAX, sure)


def test_names_may_be_relative_to_a_base(moons: Services) -> None:
    query = "BASE <http://example.org/> SELECT ?m { ?m <onto#orbits> <Jupiter> ; <onto#raduis> ?r }"
    (finding,) = findings_on(query, moons)
    assert finding.term == "http://example.org/onto#raduis"


HUGE = {
    "conditions": "?m onto:radius ?r FILTER("
    + " || ".join(f"?r = {at}" for at in range(3000))
    + ")",
    "a sum": "?m onto:radius ?r FILTER(?r > " + " + ".join(map(str, range(3000))) + ")",
    "optional parts": "?m a onto:Moon " + "OPTIONAL { ?m onto:orbits ?p " * 400 + "}" * 400,
    "a megabyte": "?m a onto:Moon . " * 60_000,
    "patterns": " ".join(f"?v{at} ?p{at} ?v{at + 1} ." for at in range(200)),
    "unions": " UNION ".join(f"{{ ?m onto:orbits ?p{at} }}" for at in range(100)),
}


@pytest.mark.parametrize("what", HUGE)
def test_a_huge_query_is_not_called_wrong_for_its_size(what: str, moons: Services) -> None:
    assert not validated(HEAD + f"SELECT * {{ {HUGE[what]} }}", moons).is_wrong


def test_a_list_is_looked_for_in_a_graph_that_has_none(moons: Services, cups: Services) -> None:
    for services in (moons, cups):
        long = " ".join(map(str, range(3000)))
        found = findings_on(HEAD + f"SELECT * {{ ?m ?p ({long}) }}", services)
        assert {one.term.rpartition("#")[2] for one in found} == {"first", "rest"}


PIECES = st.sampled_from(
    "SELECT ASK * ?m ?p { } ( ) . ; , a onto:Moon onto:orbits :Io 'x' @en 5 FILTER OPTIONAL UNION "
    "MINUS GRAPH SERVICE VALUES BIND AS COUNT GROUP BY EXISTS NOT ^ / | * + ! = < [ ]".split()
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=25))
def test_no_text_breaks_it(moons: Services, pieces: list[str]) -> None:
    found = validated(HEAD + " ".join(pieces), moons)
    assert found.repaired
    for finding in found.findings:
        assert 0 <= finding.certainty <= 1
