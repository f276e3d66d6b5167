"""SPARQL-LLM with scripted models: what it mends, when it asks again, and how it ends."""

from dataclasses import replace
from typing import Any

import pytest
from tests.each import for_each
from tests.methods.moons_asked import EXAMPLES, GOOD, fenced, names, run, told

from askgraph.errors import Overloaded, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import estimate_input_tokens
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.trace import Answer, Refusal, Thought


@pytest.fixture
def moons(moons: KnowledgeGraph) -> KnowledgeGraph:
    return replace(moons, examples=EXAMPLES)


@for_each("reply", [GOOD, fenced("SELECT ?m WHERE { :Jupiter onto:orbits ?m }")])
def test_a_good_or_safely_mended_query_is_one_call(moons: KnowledgeGraph, reply: str) -> None:
    trace, model = run([reply], moons)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.usage.llm_calls == len(model.requests) == 1
    assert trace.outcome.words and trace.outcome.evidence


def test_the_model_says_which_columns_were_asked_for(moons: KnowledgeGraph) -> None:
    query = "SELECT ?moon ?radius WHERE { ?moon onto:radius ?radius }"
    trace, _ = run([f"```sparql\n# answer: ?radius\n{query}\n```"], moons)
    assert isinstance(trace.outcome, Answer)
    assert trace.outcome.answer_columns == ("radius",)


EMPTY = fenced("SELECT ?m WHERE { ?m onto:orbits :Jupiter ; onto:radius 5 }")
DOUBTED = fenced("SELECT ?m WHERE { ?m onto:orbits :Jupiter OPTIONAL { ?m onto:nonsense ?o } }")
REVERSED = fenced("SELECT ?m WHERE { :Jupiter onto:orbits ?m }")
PAPER = {"preset": "paper", "decompose": False, "interpret": False}
WRONG = fenced("SELECT ?m WHERE { ?m onto:nonsense :Jupiter }")
BUSY = Overloaded("the server is busy")


@for_each(
    ("replies", "settings", "requests", "why"),
    ([WRONG], {"validate": False, "revisions": 0}, 1, ""),  # it runs as it was written
    ([WRONG] * 9, {"revisions": 2}, 3, ""),
    ([fenced("SELECT ?m WHERE { ?m onto:orbits")] * 4, {}, None, "failed"),
    ([EMPTY] * 9, {"revisions": 8}, 2, ""),  # it is insisted on
    ([EMPTY, BUSY], {}, None, ""),
    ([EMPTY], PAPER, 1, ""),  # as published, an empty result is a result
    ([REVERSED] * 9, PAPER, 4, ""),  # and only the model repairs
)
def test_a_refusal_comes_after_so_many_revisions_with_its_reason_and_the_best_so_far(
    moons: KnowledgeGraph,
    replies: list[ScriptedReply],
    settings: dict[str, Any],
    requests: int | None,
    why: str,
) -> None:
    trace, model = run(replies, moons, **settings)

    assert requests is None or len(model.requests) == requests
    assert isinstance(trace.outcome, Refusal) and why in trace.outcome.reason
    assert settings.get("revisions") != 2 or any(isinstance(one, Thought) for one in trace.steps)
    if EMPTY in replies:
        assert trace.outcome.best is not None
        assert BUSY not in replies or trace.outcome.best.cut_short == "the server is busy"


@for_each(
    ("wrong", "said"),
    ("I would select the moons.", "no SELECT or ASK query in your reply"),
    (fenced("DELETE WHERE { ?s ?p ?o }"), "no SELECT or ASK query in your reply"),
    (fenced("CONSTRUCT { ?m a onto:Moon } WHERE { ?m ?p :Io }"), "SELECT or an ASK query"),
    (fenced("SELECT ?m { ?m onto:revolvesAround :Jupiter }"), "onto:revolvesAround"),
    (DOUBTED, "onto:nonsense"),
    (fenced("SELECT ?m { ?m onto:orbits :Jupiter ; onto:radius 5 }"), "no result"),
)
def test_what_is_wrong_with_a_reply_is_told_and_mended(
    moons: KnowledgeGraph, wrong: str, said: str
) -> None:
    trace, model = run([wrong, GOOD], moons)
    (thought,) = (step for step in trace.steps if isinstance(step, Thought))
    assert said in thought.sent and thought.sent in told(model, 1) and len(model.requests) == 2
    assert "your" not in thought.text and "again" not in thought.text
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}


def test_a_model_may_split_the_question_first(moons: KnowledgeGraph) -> None:
    parts = '{"steps": ["its moons"], "classes": ["planet"], "entities": [], "intent": "content"}'
    trace, model = run([parts, GOOD], moons, decompose=True)
    assert model.requests[0].schema is not None and model.requests[1].schema is None
    assert "onto:Planet EXTRA a {" in told(model, 1)
    assert isinstance(trace.outcome, Answer)


@pytest.mark.parametrize("parts", ["no JSON at all", '{"steps": 3}'])
def test_a_failed_split_does_not_end_the_run(moons: KnowledgeGraph, parts: str) -> None:
    trace, _ = run([parts, GOOD], moons, decompose=True)
    assert isinstance(trace.outcome, Answer)


def test_words_that_cannot_be_had_cost_no_answer(moons: KnowledgeGraph) -> None:
    trace, _ = run([GOOD, Overloaded("the server is busy")], moons, interpret=True)
    assert isinstance(trace.outcome, Answer) and not trace.outcome.interpretation
    assert trace.outcome.cut_short is None


def test_an_answer_of_long_rows_is_interpreted_within_300_tokens(moons: KnowledgeGraph) -> None:
    longest = " ".join(["Which moons orbit Jupiter"] * 40)
    every = fenced("SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }")
    _, model = run([every, "Many."], moons, question=longest, interpret=True, validate=False)
    assert estimate_input_tokens(model.requests[1]) <= 310


def test_a_query_that_is_insisted_on_is_run(moons: KnowledgeGraph) -> None:
    trace, model = run([DOUBTED, DOUBTED.replace("?m", "?moon")], moons)
    _, at_once = run([DOUBTED], moons, validate=False)
    assert "onto:nonsense" in told(model, 1)
    assert (len(model.requests), len(at_once.requests)) == (2, 1)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.confidence < 0.5


def test_a_budget_that_ends_between_refused_queries_leaves_the_last(moons: KnowledgeGraph) -> None:
    trace, model = run([DOUBTED, GOOD], moons, tokens=800)
    assert len(model.requests) == 1
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.cut_short is not None and "budget" in trace.outcome.cut_short


def test_a_server_that_fails_before_any_query_ran_is_no_refusal(moons: KnowledgeGraph) -> None:
    with pytest.raises(Overloaded, match="busy"):
        run([Overloaded("the server is busy")], moons)


@for_each(
    "wrong", [{"shots": -1}, {"revisions": -1}, {"fraction": 0}, {"fraction": 1.5}, {"tokens": 0}]
)
def test_a_wrong_setting_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SetupError, match=r"0 or more|more than 0"):
        SparqlLlm(ScriptedModel([]), **wrong)  # type: ignore[arg-type]
