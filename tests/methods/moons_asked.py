"""`sparql-llm` on a small graph with scripted replies, for the tests of what it does and shows."""

from collections.abc import Sequence

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Answer, PreviousQuestion, Question, Trace
from askgraph.workspace.run_sync import run_coroutine

EX = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
EXAMPLES = (
    QueryExample("Which moons orbit Mars?", EX + "SELECT ?m { ?m onto:orbits :Mars }"),
    QueryExample("What is the code of Mars?", EX + "SELECT ?c { :Mars onto:code ?c }"),
)
ASKED = "Which moons orbit Jupiter?"
GOOD = "```sparql\nSELECT DISTINCT ?m WHERE { ?m a onto:Moon ; onto:orbits :Jupiter }\n```"


def run(
    replies: Sequence[ScriptedReply],
    graph: KnowledgeGraph,
    *,
    question: str = ASKED,
    before: tuple[PreviousQuestion, ...] = (),
    **settings: object,
) -> tuple[Trace, ScriptedModel]:
    """Ask, with these settings; the model notes what it is told."""
    model = ScriptedModel(replies)
    method = SparqlLlm(model, **settings)  # type: ignore[arg-type]
    asked = Question(question, before=before)
    return run_coroutine(trace_of(asked, method=method, name="sparql-llm", graphs=[graph])), model


def told(model: ScriptedModel, request: int = 0) -> str:
    """All messages of a request."""
    return "\n".join(str(getattr(m, "text", "")) for m in model.requests[request].messages)


def names(answer: Answer | None) -> set[str]:
    """The local names in the first column."""
    assert answer is not None
    return {str(row[0]).rsplit("/", 1)[-1].rstrip(">") for row in answer.result.rows}


def fenced(query: str) -> str:
    """A query in a block of code."""
    return f"```sparql\n{query}\n```"
