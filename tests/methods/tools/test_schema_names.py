"""The whole schema of a small graph by name, and that it is left out if it is too large."""

from pathlib import Path

from tests.methods.tools.exploring import served

from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context, Limits
from askgraph.methods.tools.schema_names import naming, whole_schema
from askgraph.trace import Question

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


async def told(graph: KnowledgeGraph, question: str = "towns", *, most: int = 400) -> str | None:
    shown = await whole_schema(Context(graph, Question(question), Limits()), most=most)
    return shown.text if shown else None


async def test_a_property_stands_at_the_narrowest_class_that_has_all_of_it(tmp_path: Path) -> None:
    with served(TOWNS, tmp_path, prefixes={"": "http://towns.example/"}, local=True) as (graph, _):
        text = await told(graph)

    assert text == (
        ":Place 4: :within → things; numbers :area; kinds: :Village 1\n"
        ":Town 3 (a :Place): :mayor → :Person; kinds: :City 1\n"
        ':Person 2: numbers :x1 "height"; dates :born\n'
        "things of no class: :seat → :Town"
    )


def test_names_are_by_what_the_instances_of_a_class_are_called_by(tmp_path: Path) -> None:
    more = """
    :a :motto "Onward" ; :anthem "Long A" . :b :motto "Upward" ; :anthem "Long B" .
    :p rdfs:label "Peter"@de .
    """
    with served(TOWNS + more, tmp_path, local=True) as (graph, _):
        told = naming(Context(graph, Question("towns"), Limits()))

    assert told == "; names by rdfs:label @de"


async def test_it_is_the_same_for_any_question(space: KnowledgeGraph) -> None:
    first = await told(space, "Which moons orbit Saturn?", most=600)

    assert first is not None and first == await told(space, "Who flew on Apollo 11?", most=600)


async def test_a_schema_that_has_no_room_is_not_told(space: KnowledgeGraph) -> None:
    assert await told(space, most=100) is None
