"""Dates of every datatype, and those kept as texts."""

from functools import cache

import pytest
from tests.graphs import store_of
from tests.search.asking import Known, plain_cell

PREFIXES = """
@prefix : <https://example.org/fleet/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
NAMES = "Altair Berenice Cassiopeia Draco Electra Fornax Gemma Hydra Izar Kochab".split()
SITES = ("Kourou", "Baikonur", "Wenchang")


@cache
def fleet(datatype: str) -> Known:
    """Return ten probes from 1965 to 1992, whose dates have a datatype or a language."""
    lines = [f':site{at} a :LaunchSite ; rdfs:label "{site}" .' for at, site in enumerate(SITES)]
    for at, name in enumerate(NAMES):
        year = 1965 + 3 * at
        lines += [
            f':p{at} a :Probe ; rdfs:label "{name}" ; :launchedFrom :site{at % 3} .',
            f':p{at} :launchDate "{year}-05-1{at}"{datatype} .',
        ]
        if at % 2:
            lines.append(f':p{at} :endDate "{year + 8}-01-02"{datatype} .')
    return Known(store_of(PREFIXES + "\n".join(lines)))


def answer(graph: Known, question: str) -> set[str]:
    """Return the first cell of each row of the best query, without labels beside it."""
    result = graph.rows(graph.best_query(question))
    assert not isinstance(result, bool)
    return {plain_cell(row[0]) for row in result}


DATATYPES = ("^^xsd:date", "", "@en", "^^xsd:dateTimes")


@pytest.mark.parametrize("datatype", DATATYPES)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("probes launched before 1970", "p0 p1"),
        ("probes launched in 1974", "p3"),
        ("which probes were launched in the 1970s?", "p2 p3 p4"),
        ("probes launched in or after 1989", "p8 p9"),
        ("probes launched no later than 1968", "p0 p1"),
        ("which probe was launched first?", "p0"),
        ("the latest probe", "p9"),
    ],
)
def test_dates_of_any_datatype_are_compared(datatype: str, question: str, expected: str) -> None:
    assert answer(fleet(datatype), question) == set(expected.split())


@pytest.mark.parametrize("datatype", DATATYPES)
def test_the_verb_of_a_place_also_names_the_date(datatype: str) -> None:
    graph = fleet(datatype)
    assert answer(graph, "which probes were launched from Kourou in the 1970s?") == {"p3"}
    assert answer(graph, "which probes were launched from Kourou in 1974?") == {"p3"}
