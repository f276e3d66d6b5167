"""A model is told of times and units what its question calls for, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.each import for_each
from tests.methods.tools.exploring import served
from tests.temporal.asked import HERE

from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.overview import overview
from askgraph.methods.tools.schema_lines import (
    SchemaSlice,
    describe_naming,
    render_full_schema,
    write_time_lines,
)
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine


@pytest.fixture(scope="module", params=["office", "statements", "bridges"])
def graph(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    opened = Workspace(tmp_path_factory.mktemp("graphs")).open(HERE / f"{request.param}.ttl")
    yield opened
    run_coroutine(opened.endpoint.close())


def told(question: str, graph: KnowledgeGraph) -> str:
    linked = run_coroutine(link_to_graph(tokenize(question), graph))
    return "\n".join(write_time_lines(SchemaSlice(graph, linked), graph.prefixes.shorten))


def test_a_question_of_a_time_is_told_what_starts_and_ends(graph: KnowledgeGraph) -> None:
    text = told("Who was in charge in 1995?", graph)
    spans = {"office": "o:from → o:until", "statements": "pq:P580 → pq:P582"}
    assert spans.get(_name(graph), "b:opened → b:closed") in text
    assert ("wikibase:rank" in text) == (_name(graph) == "statements")


async def test_the_overview_has_the_lines(graph: KnowledgeGraph) -> None:
    asked = Question("Who was in charge in 1995?", "en")
    seen = await overview(Context(graph, asked), asked.text)
    assert "start → end: " in seen.text


def _name(graph: KnowledgeGraph) -> str:
    return graph.name.rpartition("/")[2].removesuffix(".ttl")


TOWNS = """
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://towns.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Town rdfs:subClassOf :Place . :Village rdfs:subClassOf :Place . :City rdfs:subClassOf :Town .
:a a :Place, :Town ; rdfs:label "A" ; :within :r ; :mayor :p ; :area 5 .
:b a :Place, :Town ; rdfs:label "B" ; :within :r ; :mayor :q ; :area 7 .
:c a :Place, :Village ; rdfs:label "C" ; :within :r ; :area 2 . :r :seat :a .
:d a :City, :Town, :Place ; rdfs:label "D" ; :area 9 .
:x1 rdfs:label "height" .
:p a :Person ; rdfs:label "P" ; :x1 1 ; :born "1970-01-01"^^xsd:date .
:q a :Person ; rdfs:label "Q" .
"""


async def names_of(
    graph: KnowledgeGraph, question: str = "towns", *, most: int = 400
) -> str | None:
    shown = await render_full_schema(
        Context(graph, Question(question), ToolLimits()), max_tokens=most
    )
    return shown.text if shown else None


async def test_a_class_has_its_own_ranges_shares_values_and_counts(tmp_path: Path) -> None:
    more = """:f1 a :Fort ; :within :p ; :state "open" ; :built "1200" ; rdfs:comment "Old" .
    :f2 a :Fort ; :within :q ; :state "open" ; :built "1300" . :Keep rdfs:subClassOf :Fort .
    :k1 a :Keep . :b a :Hamlet ; :seat :a , :d . :c a :Hamlet ; :seat :a , :d ."""
    with served(TOWNS + more, tmp_path, prefixes={"": "http://towns.example/"}, local=True) as (
        graph,
        _,
    ):
        text = await names_of(graph)

    assert text is not None and text.splitlines()[2:4] == [
        ':Fort 2 (no name): :within → :Person, :state ("open"), rdfs:comment 50%; '
        "numbers as text :built; kinds, not counted here: :Keep 1",
        ":Hamlet 2: :seat*, :within → things, :mayor 50%; numbers :area",
    ]


async def test_a_property_stands_at_the_narrowest_class_that_has_all_of_it(tmp_path: Path) -> None:
    with served(TOWNS, tmp_path, prefixes={"": "http://towns.example/"}, local=True) as (graph, _):
        text = await names_of(graph)

    assert text == (
        ":Place 4: :within 75% → things; numbers :area; kinds: :Village 1\n"
        ":Town 3 (a :Place): :mayor 67% → :Person; kinds: :City 1\n"
        ':Person 2: dates :born 50%; numbers :x1 "height" 50%\n'
        "things of no class: :seat → :Town"
    )


def test_names_are_by_what_the_instances_of_a_class_are_called_by(tmp_path: Path) -> None:
    more = """
    :a :motto "Onward" ; :anthem "Long A" . :b :motto "Upward" ; :anthem "Long B" .
    :p rdfs:label "Peter"@de .
    """
    with served(TOWNS + more, tmp_path, local=True) as (graph, _):
        told_names = describe_naming(Context(graph, Question("towns"), ToolLimits()))

    assert told_names == "; names by rdfs:label @de"


async def test_a_schema_is_the_same_for_any_question_if_it_has_room(space: KnowledgeGraph) -> None:
    first = await names_of(space, "Which moons orbit Saturn?", most=600)
    assert first is not None and first == await names_of(space, "Who flew on Apollo 11?", most=600)
    assert await names_of(space, most=100) is None


def test_units_and_ages_are_told_where_question_and_graph_have_them(graph: KnowledgeGraph) -> None:
    units = "units: b:length in metre" if _name(graph) == "bridges" else ""
    converted = units and f"{units}\n2 mile is 3218.688 metre"
    assert told("Which things are there?", graph) == ""
    assert told("Which are longer than 2 miles?", graph) == converted
    assert told("Which are longer than 2 metres?", graph) == units
    assert "YEAR(?to) - YEAR(?from)" in told("How old is she?", graph)


@for_each(
    ("question", "name", "is_shown"),
    ("Which towns use Postgres?", "x:PostgreSql", True),
    ("Which towns have floor 8?", "x:floor_8", True),
    ("Which towns were born in spring?", "x:Born", False),
    ("Who was Born?", "x:Born", True),
)
async def test_names_are_shown_where_they_help(
    question: str, name: str, is_shown: bool, tmp_path: Path
) -> None:
    more = ':a :uses :PostgreSql ; :floor :floor_8 . :Born a :Person ; rdfs:label "Born" .'
    with served(TOWNS + more, tmp_path, prefixes={"x": "http://towns.example/"}, local=True) as (
        graph,
        _,
    ):
        text = (await overview(Context(graph, Question(question)), question)).text

    assert (f"\n- {name}" in text) == is_shown
