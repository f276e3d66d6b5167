"""Two answers are told apart by rows that one of them has."""

import asyncio
import re
from collections.abc import Iterator

import pytest
from tests.methods.tools.exploring import SAMPLE, SPACE, explored, served

from askgraph.graph import KnowledgeGraph
from askgraph.methods.guided.verdict import describe_result_difference
from askgraph.methods.tools import Context
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, Question


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The sample graph behind a server."""
    with served(SAMPLE, tmp_path_factory.mktemp("space"), prefixes=SPACE) as (graph, _):
        yield graph


def apart(graph: KnowledgeGraph, first: str, second: str, *, limit: int | None = None) -> str:
    """How the answers of two queries differ, each with all of its columns."""

    async def told() -> str:
        async with explored(graph) as opened:
            answers = [await answer(opened, query, limit) for query in (first, second)]
            return await describe_result_difference(Context(opened, Question("?")), *answers)

    return asyncio.run(told())


async def answer(graph: KnowledgeGraph, query: str, limit: int | None) -> Answer:
    boolean, result = None, SelectResult((), ())
    if query.startswith("ASK"):
        boolean = await graph.endpoint.ask(query)
    else:
        result = await graph.endpoint.select(query, limit=limit)
    return Answer(query, graph.name, result, result.variables, "", 0.5, boolean)


def test_the_same_in_other_words_is_not_told_apart(space: KnowledgeGraph) -> None:
    one = "SELECT ?m { ?m ont:orbits space:Saturn }"
    other = "SELECT DISTINCT ?x { ?x ont:orbits ?p FILTER(?p = space:Saturn) } ORDER BY ?x"

    assert apart(space, one, other) == ""


def test_a_filter_more_is_told_by_the_rows_that_it_takes(space: KnowledgeGraph) -> None:
    every = "SELECT ?x { ?x a ont:LaunchVehicle ; ont:payloadToLEO ?kg }"
    heavy = "SELECT ?x { ?x a ont:LaunchVehicle ; ont:payloadToLEO ?kg FILTER(?kg > 50000) }"

    found = apart(space, every, heavy)

    sizes = re.match(r"1 has (\d+) rows, 2 has (\d+) rows; (\d+) in common", found)
    assert sizes is not None
    first, second, common = map(int, sizes.groups())
    assert common == second < first - 3
    assert f"and {first - common - 3} more" in found and "Only 2" not in found


def test_numbers_and_yes_or_no_stand_for_themselves(space: KnowledgeGraph) -> None:
    out = "SELECT (COUNT(?x) AS ?n) { space:Saturn ont:orbits ?x }"
    into = "SELECT (COUNT(?x) AS ?n) { ?x ont:orbits space:Mars }"
    numbers = apart(space, out, into)
    answers = apart(
        space,
        "ASK { space:Titan ont:orbits space:Saturn }",
        "ASK { space:Saturn ont:orbits space:Titan }",
    )

    assert numbers == "1 gives 1, 2 gives 2."
    assert answers == "1 gives yes, 2 gives no."


def test_a_text_is_short_however_much_differs_and_says_where_a_result_was_cut(
    space: KnowledgeGraph,
) -> None:
    every = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o"
    found = apart(space, every, "SELECT ?o ?p ?s ?z { ?o ?p ?s . ?z ?p ?s }", limit=500)

    assert len(found) < 1200 and "the first 500 " in found


def test_a_yes_and_a_wider_row_do_not_differ_in_columns(space: KnowledgeGraph) -> None:
    yes, wide = "ASK { ?x a ont:Planet }", "SELECT ?yes ?n { VALUES (?yes ?n) { (true 1) } }"
    narrow = "SELECT ?yes { VALUES ?yes { true } }"

    mixed, both = apart(space, yes, wide), apart(space, narrow, wide)

    assert mixed and "columns" not in mixed
    assert both.endswith("They differ in the number of columns.")
