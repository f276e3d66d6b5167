"""What no parser reads is told; what is huge, new or nested is not called wrong."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.answers.validation.conftest import HEAD, only
from tests.each import for_each

from askgraph.answers.validation import FaultKind, ServiceKnowledge
from askgraph.answers.validation.validate import find_faults, validate_query

UNREADABLE = [
    ("SELECT ?m { ?m a onto:Moon ?m onto:orbits ?p }", 1.0),
    ("SELECT ?m { ?m a onto:Moon FILTER(NOSUCH(?m)) }", 1.0),
    ("SELECT ?m, ?p { ?m onto:orbits ?p }", 1.0),
    ("INSERT DATA { :Io a onto:Moon }", 1.0),
    ("SELECT ?t { << :Io onto:orbits :Jupiter >> ?q ?t }", 0.3),
]


@for_each(("query", "sure"), UNREADABLE)
def test_what_only_some_parsers_read_is_not_called_wrong(
    query: str, sure: float, moons: ServiceKnowledge
) -> None:
    finding = only(query, moons)
    assert (finding.kind, finding.certainty) == (FaultKind.SYNTAX, sure)


def test_names_may_be_relative_to_a_base(moons: ServiceKnowledge) -> None:
    query = "BASE <http://example.org/> SELECT ?m { ?m <onto#orbits> <Jupiter> ; <onto#raduis> ?r }"
    (finding,) = find_faults(query, moons)
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


@for_each("what", HUGE)
def test_a_huge_query_is_not_called_wrong_for_its_size(what: str, moons: ServiceKnowledge) -> None:
    assert not validate_query(HEAD + f"SELECT * {{ {HUGE[what]} }}", moons).is_wrong


def test_a_list_is_looked_for_in_a_graph_that_has_none(
    moons: ServiceKnowledge, cups: ServiceKnowledge
) -> None:
    for services in (moons, cups):
        long = " ".join(map(str, range(3000)))
        found = find_faults(HEAD + f"SELECT * {{ ?m ?p ({long}) }}", services)
        assert {one.term.rpartition("#")[2] for one in found} == {"first", "rest"}


PIECES = st.sampled_from(
    "SELECT ASK * ?m ?p { } ( ) . ; , a onto:Moon onto:orbits :Io 'x' @en 5 FILTER OPTIONAL UNION "
    "MINUS GRAPH SERVICE VALUES BIND AS COUNT GROUP BY EXISTS NOT ^ / | * + ! = < [ ]".split()
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=25))
def test_no_text_breaks_it(moons: ServiceKnowledge, pieces: list[str]) -> None:
    found = validate_query(HEAD + " ".join(pieces), moons)
    assert found.repaired
    for finding in found.findings:
        assert 0 <= finding.certainty <= 1


PRODUCTS = [
    ("SELECT * { ?m a onto:Moon . ?p a onto:Planet }", 0.6),
    ("SELECT ?m { ?m onto:orbits ?p . ?q onto:code 'JUP' }", 0.6),
    ("SELECT ?r ?s { :Io onto:radius ?r . :Europa onto:radius ?s }", 0.4),
    ("SELECT ?r ?s { ?a rdfs:label 'Io'@en ; onto:radius ?r . ?b onto:radius ?s }", 0.4),
    ("SELECT ?m ?n { ?m onto:orbits :Jupiter . ?n onto:orbits :Mars }", 0.4),
]


@for_each(("query", "sure"), PRODUCTS)
def test_things_that_are_named_are_compared_on_purpose(
    query: str, sure: float, moons: ServiceKnowledge
) -> None:
    finding = only(query, moons)
    assert (finding.kind, finding.certainty) == (FaultKind.UNJOINED, sure)


COMPARED = [
    ("?n > 5 && ?n < 3", "?n cannot be both > 5 and < 3"),
    ("?n = 5 && 6 <= ?n", "?n cannot be both = 5 and >= 6"),
    ("?n > 5) FILTER(?n <= 5", "?n cannot be both > 5 and <= 5"),
    ("?n > 5 && ?n <= 6", ""),
    ("?n < 3 || ?n > 5", ""),
    ("RAND() > 0.9 && RAND() < 0.1", ""),
    ('?n IN ("a", "b")', 'no value of ?n can be compared with "a"'),
    ('?n IN ("a", 5)', ""),
]


@for_each(("condition", "reason"), COMPARED)
def test_conditions_that_exclude_each_other_are_found(
    condition: str, reason: str, cups: ServiceKnowledge
) -> None:
    found = find_faults(HEAD + f"SELECT * {{ ?x :size ?n FILTER({condition}) }}", cups)
    assert [finding.message for finding in found] == ([reason] if reason else [])


def test_bounds_exclude_each_other_in_a_graph_of_which_nothing_is_known(
    cups: ServiceKnowledge,
) -> None:
    query = "SELECT * { SERVICE <http://elsewhere.example/> { ?x ?p ?n FILTER(?n > 5 && ?n < 3) } }"
    assert only(query, cups).kind is FaultKind.FILTER
