"""The text that trains a model and asks it, and what its replies mean."""

import pytest
from tests.each import for_each

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import ItemKind
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.model_writer import build_prompt, parse_query
from askgraph.methods.writing.term_names import TermNames

EX = "http://example.org/"
NAMED = TermNames(
    [
        ListedTerm(ItemKind.CLASS, EX + "Moon", "moon", "a body\nthat orbits a planet"),
        ListedTerm(ItemKind.ENTITY, EX + "Jupiter", "Jupiter", "gas giant " * 40),
        ListedTerm(ItemKind.PREDICATE, EX + "orbits", "orbits"),
        ListedTerm(ItemKind.PREDICATE, EX + "discoverer", "discoverer"),
    ]
)


def test_each_term_has_a_line_below_the_heading_of_its_kind() -> None:
    lines = build_prompt("Who discovered\nIo?", NAMED).splitlines()

    assert lines[:3] == ["Question: Who discovered Io?", "", "Entities"]
    assert lines[3].startswith("<Jupiter> — gas giant gas")
    assert lines[3].endswith("giant …")
    assert lines[4:] == [
        "Classes", "<Moon> — a body that orbits a planet", "Predicates", "<orbits>", "<discoverer>",
    ]  # fmt: skip


@for_each(
    "reply",
    "SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }",
    "It is:\nSELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }",
    "Here:\n```sparql\nSELECT ?v0\nWHERE { ?v0 <orbits> <Jupiter> }\n```\nIt selects moons.",
    "SELECT ?v0 { ?v0 <orbits> <Jupiter> }\n\nIt asks for moons.",
)
def test_words_around_a_query_are_forgiven(reply: str) -> None:
    assert parse_query(reply, NAMED) == (f"SELECT ?v0 WHERE {{ ?v0 <{EX}orbits> <{EX}Jupiter> . }}")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I do not know.", "no SELECT or ASK"),
        ("SELECT ?v0 WHERE { ?v0 <radius> <Jupiter> . }", "<radius>"),
    ],
)
def test_a_reply_without_a_query_is_an_error(reply: str, said: str) -> None:
    with pytest.raises(QuerySyntaxError, match=said):
        parse_query(reply, NAMED)
