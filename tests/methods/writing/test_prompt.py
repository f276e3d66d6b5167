"""The text that trains a model and asks it, and what its replies mean."""

import pytest
from tests.each import for_each

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import ItemKind
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.prompt import build_prompt, build_target, parse_query
from askgraph.methods.writing.references import References

EX = "http://example.org/"
REFERENCES = References(
    [
        ListedTerm(ItemKind.CLASS, EX + "Moon", "moon", "a body\nthat orbits a planet"),
        ListedTerm(ItemKind.ENTITY, EX + "Jupiter", "Jupiter", "gas giant " * 40),
        ListedTerm(ItemKind.PREDICATE, EX + "orbits", "orbits"),
        ListedTerm(ItemKind.PREDICATE, EX + "discoverer", "discoverer"),
    ]
)
PREFIX = f"PREFIX : <{EX}> "


def test_each_term_has_a_line_below_the_heading_of_its_kind() -> None:
    lines = build_prompt("Who discovered\nIo?", REFERENCES).splitlines()

    assert lines[:3] == ["Question: Who discovered Io?", "", "Entities"]
    assert lines[3].startswith("E1: Jupiter — gas giant gas")
    assert lines[3].endswith("giant …")
    assert lines[4:] == [
        "Classes", "C1: moon — a body that orbits a planet", "Predicates", "P1: orbits",
        "P2: discoverer",
    ]  # fmt: skip


@for_each(
    ("query", "mark"),
    [
        ("SELECT ?m { ?m :orbits :Jupiter }", "single-hop"),
        ("SELECT ?m { ?m a :Moon ; :orbits :Jupiter }", "single-hop"),
        ("SELECT ?p { ?m :orbits :Jupiter ; :discoverer ?p }", "multi-hop"),
        ("SELECT ?m { ?m :orbits+ :Jupiter }", "multi-hop"),
        ("SELECT ?m { ?m a :Moon FILTER NOT EXISTS { ?m :orbits :Jupiter } }", "single-hop"),
    ],
)
def test_a_target_says_how_far_its_query_goes(query: str, mark: str) -> None:
    assert build_target(PREFIX + query, REFERENCES).splitlines()[0] == mark


@for_each(
    "reply",
    [
        "SELECT ?v0 WHERE { ?v0 P1 E1 . }",
        "single-hop\nSELECT ?v0 WHERE { ?v0 P1 E1 . }",
        "Here it is:\n```sparql\nSELECT ?v0\nWHERE { ?v0 P1 E1 }\n```\nIt selects moons.",
        "SELECT ?v0 { ?v0 P1 E1 }\n\nIt asks for moons.",
    ],
)
def test_words_around_a_query_are_forgiven(reply: str) -> None:
    assert parse_query(reply, REFERENCES) == (
        f"SELECT ?v0 WHERE {{ ?v0 <{EX}orbits> <{EX}Jupiter> . }}"
    )


@pytest.mark.parametrize(
    ("reply", "said"),
    [("I do not know.", "no SELECT or ASK"), ("SELECT ?v0 WHERE { ?v0 P9 E1 . }", "P9")],
)
def test_a_reply_without_a_query_is_an_error(reply: str, said: str) -> None:
    with pytest.raises(QuerySyntaxError, match=said):
        parse_query(reply, REFERENCES)
