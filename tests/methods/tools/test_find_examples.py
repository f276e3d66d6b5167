"""Examples are shown by chance, but the same ones each time."""

from dataclasses import replace

from tests.methods.tools.exploring import called

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample

EXAMPLES = tuple(
    QueryExample(
        f"Which moons orbit {name}?",
        "PREFIX ont: <https://example.org/space/ontology#>\n"
        f"SELECT ?m WHERE {{ ?m ont:orbits <https://example.org/space/{name}> }}",
    )
    for name in ("Saturn", "Jupiter", "Mars", "Uranus", "Neptune", "Pluto", "Earth")
)


async def test_the_same_question_gets_the_same_examples(near: KnowledgeGraph) -> None:
    graph = replace(near, examples=EXAMPLES)
    texts = {(await called(graph, "find_examples")).text for _ in range(3)}
    assert len(texts) == 1 and texts.pop().count("Which moons orbit") == 3


async def test_another_question_may_get_others(near: KnowledgeGraph) -> None:
    graph = replace(near, examples=EXAMPLES)
    asked = [f"question {number}" for number in range(8)]
    texts = {(await called(graph, "find_examples", asked=text)).text for text in asked}
    assert len(texts) > 1


async def test_a_query_is_short_and_what_it_names_counts_as_seen(near: KnowledgeGraph) -> None:
    graph = replace(near, examples=EXAMPLES[:1])
    found = await called(graph, "find_examples")
    assert "PREFIX" not in found.text and "?m ont:orbits space:Saturn" in found.text
    assert "https://example.org/space/Saturn" in found.seen


async def test_no_examples_are_said_so(near: KnowledgeGraph) -> None:
    found = await called(near, "find_examples")
    assert found.failed and "no examples" in found.text
