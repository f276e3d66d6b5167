"""Methods on a small graph with scripted replies, for the tests of what they do and show."""

from collections.abc import Callable, Sequence
from functools import partial

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm import Request
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods import Method
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Answer, Question, Trace
from askgraph.workspace.run_sync import run_coroutine

EX = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
EXAMPLES = (
    QueryExample("Which moons orbit Mars?", EX + "SELECT ?m { ?m onto:orbits :Mars }"),
    QueryExample("What is the code of Mars?", EX + "SELECT ?c { :Mars onto:code ?c }"),
)
ASKED = "Which moons orbit Jupiter?"
GOOD = "```sparql\nSELECT DISTINCT ?m WHERE { ?m a onto:Moon ; onto:orbits :Jupiter }\n```"


def run_method(
    plugin: Callable[..., Method],
    replies: Sequence[ScriptedReply] | Callable[[Request], ScriptedReply],
    *graphs: KnowledgeGraph,
    question: str | Question = ASKED,
    **settings: object,
) -> tuple[Trace, ScriptedModel]:
    """Ask a method, with these settings; the model notes what it is told."""
    model = ScriptedModel(replies)
    asked = Question(question) if isinstance(question, str) else question
    tracing = trace_of(asked, method=plugin(model, **settings), name="scripted", graphs=graphs)
    return run_coroutine(tracing), model


run = partial(run_method, SparqlLlm)


def last_message(model: ScriptedModel, request: int) -> str:
    """The last message of a request."""
    return str(model.requests[request].messages[-1])


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
