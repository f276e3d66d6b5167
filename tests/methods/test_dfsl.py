"""Dynamic few-shot learning: what goes into its one prompt, and which query of several it takes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from tests.graphs import MOONS

from askgraph.errors import Overloaded, SetupError
from askgraph.evaluation.asking import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Choice
from askgraph.llm.scripted import Reply, ScriptedModel
from askgraph.metadata.examples import QueryExample
from askgraph.methods.dfsl import Dfsl
from askgraph.trace import Answer, Draft, Question, Refusal, Trace
from askgraph.workspace import Workspace
from askgraph.workspace.running import result_of

EX = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
EXAMPLES = (
    QueryExample("Which moons orbit Mars?", EX + "SELECT ?m { ?m onto:orbits :Mars }"),
    QueryExample("What is the code of Mars?", EX + "SELECT ?c { :Mars onto:code ?c }"),
    QueryExample("How large is Europa?", EX + "SELECT ?r { :Europa onto:radius ?r }"),
)
GOOD = "<sparql>SELECT ?m WHERE { ?m onto:orbits :Jupiter }</sparql>"
FLIPPED = "<sparql>SELECT ?m WHERE { :Jupiter onto:orbits ?m }</sparql>"


@pytest.fixture(scope="module")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("dfsl")
    (folder / "moons.ttl").write_text(MOONS)
    graph = Workspace(folder / "workspace").open(folder / "moons.ttl")
    yield replace(graph, examples=EXAMPLES)
    result_of(graph.endpoint.close())


def run(
    replies: Sequence[Reply],
    graph: KnowledgeGraph,
    *,
    question: str | Question = "",
    **settings: object,
) -> tuple[Trace, ScriptedModel]:
    model = ScriptedModel(replies)
    method = Dfsl(model, **settings)  # type: ignore[arg-type]
    asked = question if isinstance(question, Question) else Question(question or ASKED)
    return result_of(trace_of(asked, method=method, name="dfsl", graphs=[graph])), model


ASKED = "Which moons orbit Jupiter?"


def told(model: ScriptedModel) -> str:
    return "\n".join(str(getattr(m, "text", "")) for m in model.requests[0].messages)


def names(answer: Answer) -> set[str]:
    return {str(row[0]).rsplit("/", 1)[-1].rstrip(">") for row in answer.result.rows}


def test_one_call_with_the_nearest_examples_and_the_terms_of_the_question(
    moons: KnowledgeGraph,
) -> None:
    trace, model = run([GOOD], moons, k=1)

    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert len(model.requests) == trace.outcome.usage.llm_calls == 1
    prompt = told(model)
    assert "Which moons orbit Mars?" in prompt and "?m onto:orbits :Mars" in prompt
    assert "How large is Europa?" not in prompt
    assert ":Jupiter" in prompt and "onto:orbits" in prompt


def test_the_nearest_example_stands_last_before_the_question(moons: KnowledgeGraph) -> None:
    _, model = run([GOOD], moons, k=3)

    prompt = told(model)
    assert prompt.index("How large is Europa?") < prompt.index("Which moons orbit Mars?")
    assert prompt.index("Which moons orbit Mars?") < prompt.index(ASKED)


def test_the_question_itself_is_never_its_own_example(moons: KnowledgeGraph) -> None:
    _, model = run([GOOD], moons, question="which moons orbit mars", k=3)

    assert "?m onto:orbits :Mars" not in told(model)


@pytest.mark.parametrize(
    ("variant", "iris", "examples"),
    [
        ("plain", False, False),
        ("zero", True, False),
        ("fixed", True, True),
        ("dynamic", True, True),
    ],
)
def test_the_variants_of_the_paper(
    moons: KnowledgeGraph, variant: str, iris: bool, examples: bool
) -> None:
    _, model = run([GOOD], moons, variant=variant, k=2)

    prompt = told(model)
    assert ("Entities: " in prompt) is iris
    assert ("###" in prompt) is examples


def test_a_triple_the_wrong_way_round_is_flipped_without_the_model(moons: KnowledgeGraph) -> None:
    trace, model = run([FLIPPED], moons)

    assert len(model.requests) == 1
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.confidence < 0.8


def test_one_hypothesis_is_not_flipped(moons: KnowledgeGraph) -> None:
    trace, _ = run([FLIPPED], moons, hypotheses="one")

    assert isinstance(trace.outcome, Refusal)
    assert trace.outcome.best is not None and not trace.outcome.best.result.rows


@pytest.mark.parametrize(
    ("choose", "expected"),
    [("first", {"Phobos"}), ("largest", {"Io", "Europa", "Phobos"}), ("vote", {"Io", "Europa"})],
)
def test_of_several_samples_one_is_chosen(
    moons: KnowledgeGraph, choose: str, expected: set[str]
) -> None:
    queries = [
        "SELECT ?m { ?m onto:orbits :Io }",
        "SELECT ?m { ?m onto:orbits :Mars }",
        "SELECT ?m { ?m onto:orbits :Jupiter }",
        "SELECT ?x { ?x onto:orbits :Jupiter ; a onto:Moon }",
        "SELECT ?m { ?m a onto:Moon }",
    ]
    samples = [Choice(f"<sparql>{query}</sparql>") for query in queries]
    trace, model = run([samples], moons, hypotheses="samples", n=5, choose=choose)

    assert model.requests[0].n == 5
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == expected


def test_several_queries_may_be_asked_for_in_words(moons: KnowledgeGraph) -> None:
    trace, model = run([FLIPPED + GOOD], moons, hypotheses="prompt", n=3)

    assert "up to 3" in told(model)
    assert len([step for step in trace.steps if isinstance(step, Draft)]) == 2
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_given_links_are_taken_as_they_are_and_never_made_up(moons: KnowledgeGraph) -> None:
    given = ("http://example.org/Mars", "http://example.org/onto#orbits")
    _, model = run([GOOD], moons, question=Question("Its moons?", given=given), links="given")

    assert "Entities: :Mars" in told(model) and "Relations: onto:orbits" in told(model)
    with pytest.raises(SetupError, match="given"):
        run([GOOD], moons, links="given")


@pytest.mark.parametrize("reply", ["I cannot.", "", "<sparql>SELECT nonsense</sparql>"])
def test_a_reply_without_a_query_that_runs_is_a_refusal(moons: KnowledgeGraph, reply: str) -> None:
    trace, _ = run([reply], moons)

    assert isinstance(trace.outcome, Refusal)


def test_a_server_that_fails_and_a_budget_that_is_spent_are_refusals(moons: KnowledgeGraph) -> None:
    for replies, settings in (([Overloaded("busy")], {}), ([], {"tokens": 5})):
        trace, _ = run(replies, moons, **settings)  # type: ignore[arg-type]

        assert isinstance(trace.outcome, Refusal)


def test_without_examples_it_works_as_zero_shot(moons: KnowledgeGraph) -> None:
    trace, model = run([GOOD], replace(moons, examples=()))

    assert "###" not in told(model)
    assert isinstance(trace.outcome, Answer)


@pytest.mark.parametrize("wrong", [{"variant": "few"}, {"match": "x"}, {"choose": "best"}])
def test_a_wrong_setting_says_what_there_is(wrong: dict[str, str]) -> None:
    with pytest.raises(SetupError, match="is one of"):
        Dfsl(ScriptedModel([]), **wrong)  # type: ignore[arg-type]
