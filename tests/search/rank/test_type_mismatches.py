"""What is said of results that do not have the shape asked for, and of those that do."""

import pytest
from pyoxigraph import QueryBoolean, QuerySolutions
from tests.search.asking import Known

from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import expect_answer
from askgraph.search.rank.type_mismatches import find_type_mismatches
from askgraph.sparql.results import SelectResult

PREFIXES = """\
PREFIX : <https://example.org/space/>
PREFIX ont: <https://example.org/space/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


def outcome_of(space: Known, query: str) -> SelectResult | bool:
    result = space.store.query(query)
    if isinstance(result, QueryBoolean):
        return bool(result)
    assert isinstance(result, QuerySolutions)
    names = tuple(variable.value for variable in result.variables)
    return SelectResult(names, tuple(tuple(row) for row in result))


def said(space: Known, question: str, query: str) -> str:
    """All that is said of a query's result."""
    expected = expect_answer(link_text(question, None, space.names))
    outcome = outcome_of(space, PREFIXES + query)
    return " ".join(find_type_mismatches(expected, PREFIXES + query, outcome, space.profile))


@pytest.mark.parametrize(
    ("question", "query", "words"),
    [
        (
            "Is Titan a moon of Saturn?",
            "SELECT ?m { ?m ont:orbits :Saturn }",
            "asks for yes or no",
        ),
        ("Which moons does Mars have?", "ASK { ?m ont:orbits :Mars }", "gives yes or no"),
        (
            "How many moons does Mars have?",
            "SELECT ?m { ?m ont:orbits :Mars }",
            "asks how many, and no column holds a number",
        ),
        (
            "When was Rosetta launched?",
            "SELECT ?site { :Rosetta ont:launchSite ?site }",
            "no column holds a date",
        ),
        (
            "Who discovered Titan?",
            "SELECT ?d { :Titan ont:discoveryYear ?d }",
            "asks who, and the query gives only numbers or dates",
        ),
        (
            "Which moons does Mars have?",
            "SELECT ?d { ?m ont:orbits :Mars ; ont:diameter ?d }",
            "asks for things, and the query gives only numbers",
        ),
        (
            "What is the largest moon?",
            "SELECT ?m { ?m a ont:Moon ; ont:diameter ?d } ORDER BY DESC(?d)",
            "nothing in the query keeps those",
        ),
        (
            "What are the three largest moons?",
            "SELECT ?m { ?m a ont:Moon ; ont:diameter ?d } ORDER BY DESC(?d) LIMIT 5",
            "asks for 3 of an order, and the query keeps 5",
        ),
        (
            "What are the three largest moons?",
            "SELECT ?m { ?m a ont:Moon ; ont:diameter ?d } ORDER BY DESC(?d) LIMIT 1",
            "asks for 3, and the query keeps only 1",
        ),
        (
            "What are the mass, diameter and orbital period of Mars?",
            "SELECT ?mass { :Mars ont:mass ?mass }",
            "lists 3 things to show, and the query gives 1 column.",
        ),
        (
            "Which moons does Mars have?",
            "SELECT ?name { ?m ont:orbits :Mars ; rdfs:label ?name }",
            "only labels: select the things themselves (?m)",
        ),
    ],
)
def test_what_does_not_fit_is_said(space: Known, question: str, query: str, words: str) -> None:
    assert words in said(space, question, query)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Is Titan a moon of Saturn?", "ASK { :Titan ont:orbits :Saturn }"),
        ("Can you list the moons of Mars?", "SELECT ?m { ?m ont:orbits :Mars }"),
        ("How many moons does Mars have?", "SELECT (COUNT(*) AS ?n) { ?m ont:orbits :Mars }"),
        ("When was Rosetta launched?", "SELECT ?d { :Rosetta ont:launchDate ?d }"),
        ("When was Pluto discovered?", "SELECT ?d { :Pluto ont:discoveryYear ?d }"),
        ("Who discovered Titan?", "SELECT ?p { :Titan ont:discoverer ?p }"),
        (
            "What are the names of the moons of Mars?",
            "SELECT ?name { ?m ont:orbits :Mars ; rdfs:label ?name }",
        ),
        (
            "Which moons does Mars have?",
            "SELECT ?m ?name { ?m ont:orbits :Mars ; rdfs:label ?name }",
        ),
        (
            "What is the largest moon?",
            "SELECT ?m { ?m a ont:Moon ; ont:diameter ?d . "
            "FILTER NOT EXISTS { ?o a ont:Moon ; ont:diameter ?e FILTER(?e > ?d) } }",
        ),
        (
            "What is the largest moon of each planet?",
            "SELECT ?p (MAX(?d) AS ?most) { ?m ont:orbits ?p ; ont:diameter ?d } GROUP BY ?p",
        ),
        (
            "What are the mass and diameter of Mars?",
            "SELECT ?value { :Mars ont:mass|ont:diameter ?value }",
        ),
        ("How many moons does Mars have?", "SELECT ?m { ?m ont:orbits :Nothing }"),
        (
            "What moons were discovered in the last century, and by whom?",
            "SELECT ?m ?p { ?m a ont:Moon ; ont:discoverer ?p }",
        ),
        ("Could someone tell me the diameter of Titan?", "SELECT ?d { :Titan ont:diameter ?d }"),
        ("Is there any moon? Which ones?", "SELECT ?m { ?m a ont:Moon }"),
        (
            "What is the total diameter of all moons of Mars?",
            "SELECT (SUM(?d) AS ?total) { ?m ont:orbits :Mars ; ont:diameter ?d }",
        ),
        (
            "What is the average number of moons of the planets?",
            "SELECT (AVG(?n) AS ?mean) "
            "{ SELECT ?p (COUNT(?m) AS ?n) { ?m ont:orbits ?p } GROUP BY ?p }",
        ),
    ],
)
def test_nothing_is_said_of_what_fits(space: Known, question: str, query: str) -> None:
    assert said(space, question, query) == ""


def test_nothing_is_said_of_a_query_that_cannot_be_read(space: Known) -> None:
    expected = expect_answer(link_text("Which moons are there?", None, space.names))
    assert (
        find_type_mismatches(expected, "SELECT ?m {", SelectResult(("m",), ()), space.profile) == ()
    )
