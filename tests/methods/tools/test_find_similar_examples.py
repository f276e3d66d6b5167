"""The examples most like a question come first."""

from dataclasses import replace

from tests.methods.tools.exploring import called

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.methods.tools import Context
from askgraph.methods.tools.find_similar_examples import find_similar_examples
from askgraph.trace import Question

EXAMPLES = (
    QueryExample("Who discovered Titan?", "SELECT ?x WHERE { ?x a <http://example.org/A> }"),
    QueryExample("Which moons orbit Mars?", "SELECT ?x WHERE { ?x a <http://example.org/B> }"),
    QueryExample("How heavy is the Sun?", "SELECT ?x WHERE { ?x a <http://example.org/C> }"),
)


async def test_the_users_question_is_the_default(near: KnowledgeGraph) -> None:
    found = await called(replace(near, examples=EXAMPLES), "find_similar_examples")
    assert found.text.startswith('"Which moons orbit Mars?"\nSELECT')


async def test_another_text_may_be_given(near: KnowledgeGraph) -> None:
    graph = Context(replace(near, examples=EXAMPLES), Question("Which moons orbit Saturn?"))
    found = await find_similar_examples(graph, "Mass of the sun")
    assert found.text.startswith('"How heavy is the Sun?"')
