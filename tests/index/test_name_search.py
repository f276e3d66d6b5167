"""What each search asks for the words of a name; the rest is in the contract of all."""

import pytest

from askgraph.index.name_search import Naming, SparqlNameSearch
from askgraph.index.name_search.plain import PlainNames
from askgraph.index.name_search.virtuoso import VirtuosoNames

LABEL, ALT = "http://example.org/label", "http://example.org/alt"
BOTH = f"FILTER(?p IN (<{LABEL}>, <{ALT}>))"


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (VirtuosoNames, rf'?s <{LABEL}> ?name . ?name <bif:contains> "\"Ada\" AND \"King\"" .'),
        (PlainNames, ""),
    ],
)
def test_words_are_asked_for_as_the_product_wants_them(
    plugin: type[SparqlNameSearch], expected: str
) -> None:
    search = plugin(Naming((LABEL,)))
    assert search.pattern(["Ada", "King"], limit=5, within=False) == expected


def test_within_a_class_plain_search_takes_beginnings() -> None:
    query = PlainNames(Naming((LABEL,))).query(["Ada K"], within=["http://example.org/C"])
    assert "?s a ?c . ?s <http://example.org/label> ?name . FILTER(STRSTARTS(LCASE(" in query


def test_all_predicates_that_carry_names_are_asked_for() -> None:
    assert BOTH in VirtuosoNames(Naming((LABEL, ALT))).query(["Ada"])
    assert PlainNames(Naming(())).query(["Ada"]) == ""


def test_labels_are_compared_as_written_and_with_other_capitals() -> None:
    query = PlainNames(Naming((LABEL,), ("en",))).query(["ada king"], languages=("de",))
    terms = [f'"{text}"{tag}' for text in ("ada king", "Ada King") for tag in ("", "@de", "@en")]
    assert all(term in query for term in terms)
