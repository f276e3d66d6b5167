"""Adjectives that no list has are operators if the graph has a noun of their scale."""

import pytest

from askgraph.index.names import Kind, Name, NameIndex
from askgraph.search.linking.link import link
from askgraph.search.linking.operators import frame_of
from askgraph.search.linking.text import read

NAMES = ("profitability", "loudness", "riskiness", "frequency")
INDEX = NameIndex.of([Name(name, f"http://example.org/{name}", Kind.PREDICATE) for name in NAMES])


@pytest.mark.parametrize(
    ("question", "degree", "up", "noun"),
    [
        ("Which is the loudest engine?", "superlative", True, "loudness"),
        ("Which is the least loud engine?", "superlative", False, "loudness"),
        ("Which is the riskiest engine?", "superlative", True, "riskiness"),
        ("Which are riskier than 3?", "comparative", True, "riskiness"),
        ("Which are less frequent than 3?", "comparative", False, "frequency"),
    ],
)
def test_an_adjective_leads_to_the_noun_of_its_scale(
    question: str, degree: str, up: bool, noun: str
) -> None:
    linked = link(read(question, "en"), INDEX)
    [operator] = frame_of(linked.reading, linked.scales).of("superlative", "comparative")
    assert operator.name == degree
    assert operator.measure is not None
    assert (operator.measure.up, operator.measure.measures[0]) == (up, noun)


def test_it_is_no_operator_if_the_graph_has_no_such_noun() -> None:
    linked = link(read("Which is the saddest engine?", "en"), INDEX)
    assert linked.scales == ()
