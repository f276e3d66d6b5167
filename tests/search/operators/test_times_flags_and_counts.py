"""Dates kept as texts, flags, repetitions and counts of classes, over small graphs."""

from functools import cache

import pytest
from pyoxigraph import RdfFormat, Store
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
        if at % 3 == 0:
            lines.append(f':p{at} :isReusable "true" .')
        if at % 4 == 0:
            lines.append(f':p{at} :isCrewed "true" .')
    return load(lines)


@cache
def clubs() -> Known:
    """Return clubs with members and medals: two, one and none."""
    lines = [f':c{at} a :Club ; rdfs:label "Club {name}" .' for at, name in enumerate("ABC")]
    for at, club in enumerate((0, 0, 0, 1, 1, 2)):
        lines.append(f':m{at} a :Athlete ; rdfs:label "{NAMES[at]}" . :c{club} :member :m{at} .')
    for at, winner in enumerate((0, 0, 1)):
        lines.append(f':m{winner} :won :medal{at} . :medal{at} a :Medal ; rdfs:label "No. {at}" .')
    return load(lines)


def load(lines: list[str]) -> Known:
    store = Store()
    store.load((PREFIXES + "\n".join(lines)).encode(), format=RdfFormat.TURTLE)
    return Known(store)


def answer(graph: Known, question: str) -> set[str]:
    """Return the first cell of each row of the best query, without labels beside it."""
    return {row[0] for row in rows(graph, question)}


def rows(graph: Known, question: str) -> list[tuple[str, ...]]:
    """Return the rows of the best query, with local names for IRIs."""
    result = graph.rows(graph.best_query(question))
    assert not isinstance(result, bool)
    return [tuple(map(plain_cell, row)) for row in result]


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
def test_dates_are_compared_whatever_their_datatype(
    datatype: str, question: str, expected: str
) -> None:
    assert answer(fleet(datatype), question) == set(expected.split())


@pytest.mark.parametrize("datatype", DATATYPES)
def test_the_verb_of_a_place_also_names_the_date(datatype: str) -> None:
    graph = fleet(datatype)
    assert answer(graph, "which probes were launched from Kourou in the 1970s?") == {"p3"}
    assert answer(graph, "which probes were launched from Kourou in 1974?") == {"p3"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which probes are reusable?", "p0 p3 p6 p9"),
        ("reusable probes", "p0 p3 p6 p9"),
        ("how many are reusable?", "4"),
        ("probes that are crewed but not reusable", "p4 p8"),
        ("which probes are reusable and crewed?", "p0"),
        ("probes that are neither reusable nor crewed", "p1 p2 p5 p7"),
    ],
)
def test_flags_are_conditions_and_no_answers(question: str, expected: str) -> None:
    assert answer(fleet("^^xsd:date"), question) == set(expected.split())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("athletes who won twice or more", "m0"),
        ("athletes who won more than once", "m0"),
        ("athletes who won at least two times", "m0"),
        ("which athlete won most often?", "m0"),
        ("which club has the most people?", "c0"),
        ("clubs with more than one person", "c0 c1"),
    ],
)
def test_repetitions_and_people_are_counted(question: str, expected: str) -> None:
    assert answer(clubs(), question) == set(expected.split())


def test_several_classes_are_counted_one_by_one() -> None:
    paired = "number of clubs vs number of athletes"
    for question in (paired, "how many clubs and how many athletes are there?"):
        assert sorted(rows(clubs(), question)) == [("Athlete", "6"), ("Club", "3")]


def test_a_run_from_one_year_to_another_is_exact_if_there_is_one() -> None:
    lines = [
        f':e{at} a :Era ; rdfs:label "Era {at}" ; :start "{start}"^^xsd:gYear ; '
        f':end "{end}"^^xsd:gYear .'
        for at, (start, end) in enumerate(
            (("-0700", "-0480"), ("-0480", "-0323"), ("-0323", "-0031"))
        )
    ]

    assert answer(load(lines), "which era runs from 480 to 323 BC?") == {"e1"}
