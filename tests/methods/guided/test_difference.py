"""Two answers are told apart by rows that one of them has, else by a few triples of the graph."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple
from tests.servers.faults import status
from tests.tools.exploring import SAMPLE, SPACE, explored, served

from askgraph.errors import Unauthorised, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.methods.guided.difference import Apart, shrunk, told_apart
from askgraph.sparql.results import SelectResult
from askgraph.tools import Context
from askgraph.trace import Answer, Question


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The sample graph behind a server."""
    with served(SAMPLE, tmp_path_factory.mktemp("space"), prefixes=SPACE) as (graph, _):
        yield graph


def apart(
    graph: KnowledgeGraph, first: str, second: str, *, limit: int | None = None
) -> Apart | None:
    """How the answers of two queries differ, each with all of its columns."""

    async def told() -> Apart | None:
        async with explored(graph) as opened:
            answers = [await answer(opened, query, limit) for query in (first, second)]
            return await told_apart(Context(opened, Question("?")), *answers)

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

    assert apart(space, one, other) is None


def test_a_filter_more_is_told_by_the_rows_that_it_takes(space: KnowledgeGraph) -> None:
    every = "SELECT ?x { ?x a ont:LaunchVehicle ; ont:payloadToLEO ?kg }"
    heavy = "SELECT ?x { ?x a ont:LaunchVehicle ; ont:payloadToLEO ?kg FILTER(?kg > 50000) }"

    found = apart(space, every, heavy)

    assert found is not None and found.only_first > 3 and found.only_second == 0
    assert f"{found.common} in common." in found.text
    assert f"and {found.only_first - 3} more" in found.text and "Only 2" not in found.text


def test_a_count_of_the_other_direction_is_told_by_one_triple(space: KnowledgeGraph) -> None:
    out = "SELECT (COUNT(?x) AS ?n) { space:Saturn ont:orbits ?x }"
    into = "SELECT (COUNT(?x) AS ?n) { ?x ont:orbits space:Saturn }"

    found = apart(space, out, into)

    assert found is not None and len(found.example) == 1
    assert "ont:orbits space:" in found.text
    assert found.text.splitlines()[-1].startswith("For example, on these triples alone: space:")


def test_a_count_without_distinct_is_told_by_what_it_counts_twice(space: KnowledgeGraph) -> None:
    pattern = "{ ?x ont:orbits ?planet . ?planet a ont:Planet }"
    every = f"SELECT (COUNT(?planet) AS ?n) {pattern}"
    distinct = f"SELECT (COUNT(DISTINCT ?planet) AS ?n) {pattern}"

    found = apart(space, every, distinct)

    assert found is not None and len(found.example) == 3
    assert found.text.endswith("1 gives 2, 2 gives 1.")


def test_a_count_with_a_condition_that_must_not_be_is_told_by_it(space: KnowledgeGraph) -> None:
    every = "SELECT (COUNT(?x) AS ?n) { ?x a ont:Planet }"
    moonless = "SELECT (COUNT(?x) AS ?n) { ?x a ont:Planet MINUS { ?moon ont:orbits ?x } }"

    found = apart(space, every, moonless)

    assert found is not None and len(found.example) == 2
    assert found.text.endswith("1 gives 1, 2 gives 0.")


def test_yes_and_no_are_told_by_the_triples_between_them(space: KnowledgeGraph) -> None:
    found = apart(
        space,
        "ASK { space:Titan ont:orbits space:Saturn }",
        "ASK { space:Saturn ont:orbits space:Titan }",
    )

    assert found is not None and found.text.startswith("1 gives yes, 2 gives no.")


def test_where_nothing_small_differs_the_numbers_stand_alone(space: KnowledgeGraph) -> None:
    found = apart(space, "SELECT (1 AS ?n) {}", "SELECT (2 AS ?n) {}")

    assert found is not None and found.text == "1 gives 1, 2 gives 2." and not found.example


def test_truncated_results_are_told_by_an_example_too(space: KnowledgeGraph) -> None:
    stars = "SELECT ?x { ?x ont:orbits ?y } ORDER BY ?x"
    moons = "SELECT ?x { ?y ont:orbits ?x } ORDER BY ?x"

    found = apart(space, stars, moons, limit=2)

    assert found is not None and len(found.example) == 1 and "the first 2 rows" in found.text


def test_a_text_is_short_however_much_differs(space: KnowledgeGraph) -> None:
    found = apart(
        space, "SELECT * { ?s ?p ?o }", "SELECT ?o ?p ?s ?s2 { ?o ?p ?s . ?s2 ?p ?s }", limit=500
    )

    assert found is not None and len(found.text) < 1200


@pytest.mark.parametrize(
    "elsewhere",
    [
        "FILTER EXISTS { GRAPH ?g { ?x a ont:Planet } }",
        "{ GRAPH ?g { ?x ont:mass ?m } } UNION { ?x ont:orbits ont:nothing }",
        "{ SELECT ?x { GRAPH ?g { ?x a ont:Planet } } }",
        "MINUS { ?x a ont:Planet FILTER NOT EXISTS { GRAPH ?g { ?x ?p ?o } } }",
    ],
)
def test_a_query_that_names_a_graph_anywhere_has_no_example(
    space: KnowledgeGraph, elsewhere: str
) -> None:
    every = "SELECT (COUNT(?x) AS ?n) { ?x a ont:Planet }"

    found = apart(space, every, f"SELECT (COUNT(?x) AS ?n) {{ ?x a ont:Planet {elsewhere} }}")

    assert found is not None and found.text == "1 gives 8, 2 gives 0." and not found.example


@pytest.mark.parametrize(
    "pattern",
    [
        "?a a ont:Planet . ?b a ont:Planet . ?c a ont:Planet FILTER(?a != ?b)",
        "?a a ?x . ?b a ?x . ?c a ?x . VALUES ?x { ont:Moon }",
    ],
)
def test_queries_with_very_many_solutions_are_not_tried_on_an_example(
    space: KnowledgeGraph, pattern: str
) -> None:
    every, distinct = (
        f"SELECT (COUNT({distinct} ?a) AS ?n) {{ {pattern} }}" for distinct in ("", "DISTINCT")
    )

    found = apart(space, every, distinct)

    assert found is not None and found.only_first == 1 and not found.example


def test_a_yes_and_a_wider_row_do_not_differ_in_columns(space: KnowledgeGraph) -> None:
    yes, wide = "ASK { ?x a ont:Planet }", "SELECT ?yes ?n { VALUES (?yes ?n) { (true 1) } }"
    narrow = "SELECT ?yes { VALUES ?yes { true } }"

    mixed, both = apart(space, yes, wide), apart(space, narrow, wide)

    assert mixed is not None and "columns" not in mixed.text
    assert both is not None and both.text.endswith("They differ in the number of columns.")


def counted(query: str, number: int) -> Answer:
    """An answer that was given before the server went away."""
    result = SelectResult(("n",), ((Literal(number),),))
    return Answer(query, "sample", result, ("n",), "", 0.5)


PLANETS = counted("SELECT (COUNT(?x) AS ?n) { ?x a ont:Planet }", 8)
STARS = counted("SELECT (COUNT(?x) AS ?n) { ?x a ont:Star }", 1)


@pytest.mark.parametrize("code", [400, 503])
def test_a_server_that_gives_no_example_leaves_the_rows(
    code: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with served(SAMPLE, tmp_path_factory.mktemp("busy"), prefixes=SPACE) as (graph, server):
        server.always = status(code, "not now")

        found = told(graph)

    assert found is not None and found.text == "1 gives 8, 2 gives 1."


def test_a_server_that_is_gone_or_refuses_is_an_error(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with served(SAMPLE, tmp_path_factory.mktemp("gone"), prefixes=SPACE) as (graph, server):
        server.always = status(401, "who are you?")
        with pytest.raises(Unauthorised):
            told(graph)
    with pytest.raises(Unreachable):
        told(graph)


def told(graph: KnowledgeGraph) -> Apart | None:
    async def asked() -> Apart | None:
        async with explored(graph) as opened:
            return await told_apart(Context(opened, Question("?")), PLANETS, STARS)

    return asyncio.run(asked())


def triple(number: int) -> Triple:
    iri = NamedNode("http://example.org/p")
    return Triple(iri, iri, Literal(number))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_what_stays_is_what_tells(case: tuple[int, set[int]]) -> None:
    size, needed = case
    wanted = {triple(number) for number in needed}

    left = shrunk([triple(n) for n in range(size)], lambda some: wanted <= set(some), seconds=60)

    assert set(left) == wanted or (not wanted and len(left) == 1)


def test_without_time_everything_stays() -> None:
    every = [triple(number) for number in range(8)]

    def tells(_: Sequence[Triple]) -> bool:
        return True

    assert shrunk(every, tells, seconds=0) == every
