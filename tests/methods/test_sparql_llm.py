"""SPARQL-LLM with scripted models: what it retrieves, what it mends, and when it asks again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from tests.graphs import MOONS

from askgraph.errors import Overloaded, SetupError
from askgraph.evaluation.asking import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import Reply, ScriptedModel
from askgraph.metadata.examples import Confirmation, QueryExample
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Answer, Question, Refusal, Thought, Trace
from askgraph.workspace import Workspace
from askgraph.workspace.running import result_of

EX = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
EXAMPLES = (
    QueryExample("Which moons orbit Mars?", EX + "SELECT ?m { ?m onto:orbits :Mars }"),
    QueryExample("What is the code of Mars?", EX + "SELECT ?c { :Mars onto:code ?c }"),
)
ASKED = "Which moons orbit Jupiter?"
GOOD = "```sparql\nSELECT DISTINCT ?m WHERE { ?m a onto:Moon ; onto:orbits :Jupiter }\n```"


@pytest.fixture(scope="module")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("sparql-llm")
    (folder / "moons.ttl").write_text(MOONS)
    graph = Workspace(folder / "workspace").open(folder / "moons.ttl")
    yield replace(graph, examples=EXAMPLES)
    result_of(graph.endpoint.close())


def run(
    replies: Sequence[Reply], graph: KnowledgeGraph, *, question: str = ASKED, **settings: object
) -> tuple[Trace, ScriptedModel]:
    model = ScriptedModel(replies)
    method = SparqlLlm(model, **settings)  # type: ignore[arg-type]
    asked = Question(question)
    return result_of(trace_of(asked, method=method, name="sparql-llm", graphs=[graph])), model


def told(model: ScriptedModel, request: int = 0) -> str:
    return "\n".join(str(getattr(m, "text", "")) for m in model.requests[request].messages)


def names(answer: Answer) -> set[str]:
    return {str(row[0]).rsplit("/", 1)[-1].rstrip(">") for row in answer.result.rows}


def fenced(query: str) -> str:
    return f"```sparql\n{query}\n```"


def test_the_happy_path_is_one_call(moons: KnowledgeGraph) -> None:
    trace, model = run([GOOD], moons)

    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.usage.llm_calls == len(model.requests) == 1
    assert trace.outcome.words and trace.outcome.evidence


def test_examples_shapes_and_names_are_in_the_prompt(moons: KnowledgeGraph) -> None:
    _, model = run([GOOD], moons)

    prompt = told(model)
    assert "Which moons orbit Mars?" in prompt and "?m onto:orbits :Mars" in prompt
    assert "onto:Moon EXTRA a {" in prompt and "onto:radius" in prompt
    assert ":Jupiter a onto:Planet" in prompt
    assert prompt.index("the code of Mars") < prompt.index("Which moons orbit Mars?")


def test_settings_leave_parts_of_the_prompt_out(moons: KnowledgeGraph) -> None:
    _, model = run([GOOD], moons, examples=0, classes=0)

    assert "Answered before" not in told(model) and "Shapes:" not in told(model)


def test_what_can_safely_be_mended_costs_no_call(moons: KnowledgeGraph) -> None:
    trace, model = run([fenced("SELECT ?m WHERE { :Jupiter onto:orbits ?m }")], moons)

    assert len(model.requests) == 1
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_an_unknown_name_is_told_with_the_nearest_before_anything_runs(
    moons: KnowledgeGraph,
) -> None:
    wrong = fenced("SELECT ?m WHERE { ?m a onto:Moon ; onto:revolvesAround :Jupiter }")
    trace, model = run([wrong, GOOD], moons)

    assert "onto:revolvesAround" in told(model, 1)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_without_validation_the_query_runs_as_it_was_written(moons: KnowledgeGraph) -> None:
    wrong = fenced("SELECT ?m WHERE { ?m onto:revolvesAround :Jupiter }")
    trace, model = run([wrong], moons, validate=False, revisions=0)

    assert len(model.requests) == 1
    assert isinstance(trace.outcome, Refusal)


def test_there_are_at_most_so_many_revisions(moons: KnowledgeGraph) -> None:
    wrong = fenced("SELECT ?m WHERE { ?m onto:nonsense :Jupiter }")
    trace, model = run([wrong] * 9, moons, revisions=2)

    assert len(model.requests) == 3
    assert isinstance(trace.outcome, Refusal)
    assert any(isinstance(step, Thought) for step in trace.steps)


def test_an_empty_result_is_told_with_its_reason(moons: KnowledgeGraph) -> None:
    empty = fenced("SELECT ?m WHERE { ?m onto:orbits :Jupiter ; onto:radius 5 }")
    trace, model = run([empty, GOOD], moons)

    assert "no result" in told(model, 1)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_a_model_may_split_the_question_first(moons: KnowledgeGraph) -> None:
    parts = '{"steps": ["moons of Jupiter"], "classes": ["planet"], "entities": ["Jupiter"]}'
    trace, model = run([parts, GOOD], moons, decompose=True)

    assert model.requests[0].schema is not None and model.requests[1].schema is None
    assert "onto:Planet EXTRA a {" in told(model, 1)
    assert isinstance(trace.outcome, Answer)


@pytest.mark.parametrize("parts", ["no JSON at all", '{"steps": 3}'])
def test_a_failed_split_does_not_end_the_run(moons: KnowledgeGraph, parts: str) -> None:
    trace, _ = run([parts, GOOD], moons, decompose=True)

    assert isinstance(trace.outcome, Answer)


def test_a_confirmed_answer_needs_no_model(moons: KnowledgeGraph) -> None:
    confirmation = Confirmation("2026-01-01T00:00:00+00:00", "moons", "", 2)
    known = QueryExample(
        ASKED,
        EX + "SELECT ?m { ?m onto:orbits :Jupiter }",
        origin="confirmed",
        confirmation=confirmation,
    )
    trace, model = run([], replace(moons, examples=(known,)))

    assert not model.requests
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}

    _, model = run([GOOD], replace(moons, examples=(known,)), confirmed=False)
    assert len(model.requests) == 1


def test_a_server_that_fails_is_a_refusal_that_says_so(moons: KnowledgeGraph) -> None:
    trace, _ = run([Overloaded("the server is busy")], moons)

    assert isinstance(trace.outcome, Refusal) and "busy" in trace.outcome.reason


def test_a_spent_budget_leaves_the_best_so_far(moons: KnowledgeGraph) -> None:
    empty = fenced("SELECT ?m WHERE { ?m onto:orbits :Jupiter ; onto:radius 5 }")
    trace, _ = run([empty] * 9, moons, tokens=1_500, revisions=9)

    assert isinstance(trace.outcome, Refusal) and trace.outcome.best is not None


@pytest.mark.parametrize("wrong", [{"examples": -1}, {"revisions": -1}])
def test_a_wrong_setting_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SetupError, match="0 or more"):
        SparqlLlm(ScriptedModel([]), **wrong)  # type: ignore[arg-type]
