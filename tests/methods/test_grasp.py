"""GRASP with scripted models: what it shows them, does for them, and makes of what they say."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.each import for_each
from tests.methods.moons_asked import last_message as told
from tests.methods.moons_asked import names, run_method

from askgraph.endpoint import CountingEndpoint
from askgraph.errors import Overloaded, SetupError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.llm import Assistant, Choice, Finish, Request, ToolCall, ToolResult
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.grasp import Grasp
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, PreviousQuestion, Prompt, Question, Refusal, ToolUse

REPLY = 40  # tokens of a scripted reply: a script does not heed `max_tokens`, as servers do
ALL = "SELECT DISTINCT ?moon WHERE { ?moon onto:orbits :Jupiter }"
BIG = "SELECT ?moon WHERE { ?moon onto:radius ?r FILTER(?r > 1700) }"
NONE = "SELECT ?moon WHERE { ?moon onto:orbits :Io }"
DONE = '{"status": "done", "feedback": "Good."}'
FOLLOWING = Question("Which moons orbit Mars?", before=(PreviousQuestion("Moons?", ALL),))


def call(tool: str, /, **arguments: object) -> ToolCall:
    return ToolCall("1", tool, json.dumps(arguments))


def answered(query: str, *columns: str, **more: object) -> ToolCall:
    return call("answer", query=query, columns=list(columns), **{"certainty": 1.0, **more})


TRIPLES = call("execute", query="CONSTRUCT WHERE { ?s ?p ?o }")


run = partial(run_method, Grasp, feedback="never")


def test_an_answer_at_once_takes_one_call_of_the_model(moons: KnowledgeGraph) -> None:
    trace, model = run([answered(ALL, "moon", certainty=0.9)], moons)
    assert isinstance(trace.outcome, Answer)
    assert names(trace.outcome) == {"Io", "Europa"}
    assert trace.outcome.confidence >= 0.9
    assert trace.outcome.usage.llm_calls == len(model.requests) == 1
    assert trace.outcome.usage.input_tokens > 0 and trace.outcome.evidence


@pytest.mark.parametrize("by", ["similar", "random"])
def test_as_many_examples_are_shown_as_are_wanted(moons: KnowledgeGraph, by: str) -> None:
    query = "SELECT ?m {{ ?m <http://example.org/onto#orbits> <http://example.org/P{}> }}"
    text = "Which moons orbit planet {}?"
    examples = tuple(QueryExample(text.format(n), query.format(n)) for n in range(9))
    graph = replace(moons, examples=examples)

    settings: dict[str, Any] = {"shots": 7, "shots_by": by, "propose": False, "guarded": False}
    _, model = run([answered(ALL, "moon")], graph, **settings)

    assert told(model, 0).count("Which moons orbit planet") == 7
    assert ("Similar questions" in told(model, 0)) is (by == "similar")


def test_similar_examples_may_be_those_whose_embeddings_are_near(moons: KnowledgeGraph) -> None:
    examples = tuple(
        QueryExample(text, "SELECT ?m { ?m a <http://example.org/onto#Moon> }")
        for text in ("Jupiter orbits?", "Which cats sleep?", "Which moons orbit Neptune?")
    )
    graph = replace(moons, examples=examples)

    trace, _ = run([answered(ALL, "moon")], graph, shots=1, embedder="hashed", guarded=False)

    uses = [step for step in trace.steps if isinstance(step, ToolUse)]
    [looked] = [use for use in uses if use.tool == "find_similar_examples"]
    assert looked.arguments["embedder"] == "hashed"
    assert "Neptune" in looked.observation.text


class Late(CountingEndpoint):
    async def select(self, query: str, **bounds: Any) -> SelectResult:
        raise TimedOut(f"no reply in {bounds['timeout']} s")


def test_as_published_a_query_runs_as_it_is_and_its_error_is_told_as_it_is(
    moons: KnowledgeGraph,
) -> None:
    repaired = "SELECT COUNT(?m) WHERE { ?m a onto:Moon }"
    final = call("answer", query=NONE, text="None.", graph=moons.name)

    first = call("execute", query=repaired, graph=moons.name)
    trace, model = run([first, final], moons, preset="paper")
    _, other = run([call("execute", query=repaired), answered(ALL, "moon")], moons)
    late = replace(moons, endpoint=Late(moons.endpoint))
    _, waiting = run([first, first], late, preset="paper", steps=2)

    assert "the query failed" in told(model, 1) and "the query failed" not in told(other, 1)
    assert "the query failed: no reply in 60.0 s" in told(waiting, 1)
    assert isinstance(trace.outcome, Answer) and trace.outcome.is_empty


def test_sets_of_tools_and_further_tools_are_named_together(moons: KnowledgeGraph) -> None:
    _, model = run([answered(ALL, "moon")], moons, tools="S_E,shape_of", guarded=False)
    offered = [tool.name for tool in model.requests[0].tools]
    assert offered[:3] == ["answer", "cancel", "execute"] and offered[-1] == "shape_of"


def test_calls_of_one_turn_are_run_together_and_told_in_their_order(moons: KnowledgeGraph) -> None:
    two = (replace(call("execute", query=text), id=name) for name, text in (("a", ALL), ("b", BIG)))
    trace, model = run([Choice(calls=tuple(two)), answered(BIG, "moon")], moons)
    results = [m for m in model.requests[1].messages if isinstance(m, ToolResult)]
    assert [result.call for result in results] == ["a", "b"]
    uses = [use.call for use in trace.steps if isinstance(use, ToolUse) and use.call]
    assert uses == ["a", "b", "1"]


def test_as_published_a_hundred_turns_are_one_context(moons: KnowledgeGraph) -> None:
    def thinks(request: Request) -> ScriptedReply:
        query = f"SELECT * {{ ?a ?b ?c . ?d ?e ?f }} # {len(request.messages)}"
        return Choice("I look.", calls=(call("execute", query=query, graph="moons"),))

    _, model = run(thinks, moons, preset="paper")
    last = model.requests[-1].messages
    assert [len(request.messages) for request in model.requests] == list(range(2, 202, 2))
    assert all(request.messages == last[: len(request.messages)] for request in model.requests)
    assert {len(str(message)) > 500 for message in last[3::2]} == {True}, "no result is shortened"
    assert {getattr(message, "text", "") for message in last[2::2]} == {"I look."}


@for_each(
    ("strange", "said"),
    (ToolCall("1", "serch", '{"query": "Io"}'), "no tool"),
    (ToolCall("1", "execute", '{"query": "SEL'), "no JSON"),
    (ToolCall("1", "execute", "{}"), "query"),
    (call("execute", query="SELECT ?x WHERE {"), "failed"),
    (call("answer", query="DROP ALL", columns=[]), "not taken"),
    (Choice(""), "empty"),
    (Choice("I will think.", finish=Finish.LENGTH), "cut off"),
    (Choice(refusal="I cannot.", finish=Finish.REFUSED), "refusal"),
    (Choice("I think it is Io."), "called nothing"),
)
def test_a_strange_reply_is_told_to_the_model_and_the_run_goes_on(
    moons: KnowledgeGraph, strange: ScriptedReply, said: str
) -> None:
    trace, model = run([strange, answered(ALL, "moon")], moons)
    assert said in told(model, 1)
    assert isinstance(trace.outcome, Answer)


@for_each(
    ("replies", "settings", "said"),
    ([f"Here it is:\n```sparql\n{ALL}\n```"], {}, ""),  # a query in the text
    ([answered(ALL.replace("orbits", "orbit"), "moon"), answered(ALL, "moon")], {}, "orbits"),
    ([], {"tokens": 10}, ""),  # no call at all: what graph search found
    ([call("execute", query=ALL), Overloaded("the server is busy")], {}, ""),
    ([call("execute", query=ALL), TRIPLES, "a", "b", "c"], {"propose": False}, ""),
)
def test_the_last_query_that_can_be_an_answer_is_taken(
    moons: KnowledgeGraph, replies: Sequence[ScriptedReply], settings: dict[str, Any], said: str
) -> None:
    trace, model = run(replies, moons, **settings)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    assert not said or f"onto:{said}" in told(model, 1)
    assert bool(model.requests) is bool(replies)


def test_a_cancelled_run_is_a_refusal_with_the_reason_and_the_best_attempt(
    moons: KnowledgeGraph,
) -> None:
    trace, _ = run([call("cancel", reason="No comets here.", query=BIG)], moons)
    assert isinstance(trace.outcome, Refusal)
    assert trace.outcome.reason == "No comets here."
    assert trace.outcome.best is not None and trace.outcome.best.confidence <= 0.3
    assert names(trace.outcome.best) == {"Io"}, "as queried, not as proposed"


def explores(request: Request) -> ScriptedReply:
    return call("execute", query=f"{ALL} # {len(request.messages)}")


@pytest.mark.parametrize("bound", [{"steps": 7}, {"tokens": 5_000}])
def test_an_endless_model_costs_its_bounds(moons: KnowledgeGraph, bound: dict[str, int]) -> None:
    trace, model = run(explores, moons, question="Which moons?", **bound)

    assert isinstance(trace.outcome, Answer), "the last query with a result is taken"
    assert trace.outcome.confidence <= 0.4 and names(trace.outcome) == {"Io", "Europa"}
    spent = trace.outcome.usage
    assert len(model.requests) <= 7 and spent.input_tokens + spent.output_tokens <= 12_000
    if "tokens" in bound:
        assert spent.input_tokens + spent.output_tokens <= 5_000 + REPLY


@pytest.mark.parametrize("period", [1, 2])
def test_a_model_in_circles_is_told_and_then_stopped(moons: KnowledgeGraph, period: int) -> None:
    turns = [call("execute", query=f"SELECT ?x {{ ?x ?p {n} }}") for n in range(period)]

    def circles(request: Request) -> ScriptedReply:
        return turns[sum(not isinstance(m, ToolResult) for m in request.messages) % period]

    trace, model = run(circles, moons, steps=50)

    assert len(model.requests) < 12
    assert "once more" in str(model.requests[-1].messages)
    assert isinstance(trace.outcome, Answer | Refusal)


def test_an_empty_result_is_looked_at_again_by_the_same_model(moons: KnowledgeGraph) -> None:
    twice = [answered(NONE, "moon"), answered(NONE, "moon")]
    verdict = '{"status": "retry", "feedback": "Nothing orbits Io: take Jupiter."}'
    trace, model = run([*twice, verdict, answered(ALL, "moon")], moons, feedback="risk")

    review = str(model.requests[2].messages)
    assert NONE.split("{")[1].strip(" }") in review.replace("\\n", " ") or ":Io" in review
    assert "overview" not in review, "the colleague sees the answer, not the way to it"
    assert "Nothing orbits Io" in told(model, 3)
    assert isinstance(trace.outcome, Answer) and names(trace.outcome) == {"Io", "Europa"}
    purposes = [step.purpose for step in trace.steps if isinstance(step, Prompt)]
    assert purposes == ["question", "feedback"]


def test_feedback_comes_at_most_twice_and_ends_with_done(moons: KnowledgeGraph) -> None:
    refine = '{"status": "refine", "feedback": "Say it otherwise."}'
    first, second = answered(ALL, "moon"), answered(BIG, "moon")
    trace, model = run([first, refine, second, refine, first], moons, feedback="always")
    assert len(model.requests) == 5 and isinstance(trace.outcome, Answer)
    _, model = run([first, DONE], moons, feedback="always")
    assert len(model.requests) == 2


def test_among_graphs_the_model_names_one(moons: KnowledgeGraph, pets: KnowledgeGraph) -> None:
    query = "SELECT ?who WHERE { :Rex :owner ?who }"
    reply = call("answer", graph="pets", query=query, columns=["who"])
    trace, model = run([reply], moons, pets, question="Who owns Rex?")
    assert "graph moons" in told(model, 0) and "graph pets" in told(model, 0)
    assert isinstance(trace.outcome, Answer)
    assert trace.outcome.graph == "pets" and names(trace.outcome) == {"Ann"}


@for_each(
    ("question", "query", "settings", "calls"),
    ("Which moons orbit Jupiter?", ALL, {}, 1),
    ("Which moons orbit Jupiter?", ALL, {"propose": False, "guarded": False}, 2),
    ("Which moons orbit Mars?", "SELECT ?moon WHERE { ?moon a onto:Moon }", {}, 2),
    (FOLLOWING, "SELECT ?moon WHERE { ?moon a onto:Moon }", {}, 1),
)
def test_feedback_on_risk_is_for_what_nothing_showed_and_graph_search_contradicts(
    moons: KnowledgeGraph,
    question: str | Question,
    query: str,
    settings: dict[str, bool],
    calls: int,
) -> None:
    final = answered(query, "moon")
    _, model = run([final, DONE], moons, question=question, feedback="risk", **settings)
    assert len(model.requests) == calls
    if settings:
        assert "http://example.org/onto#orbits" in told(model, 1)


def test_a_follow_up_question_tells_both_what_was_asked_before(moons: KnowledgeGraph) -> None:
    follow = Question("And Mars?", before=(PreviousQuestion("Which moons orbit Jupiter?", ALL),))
    _, model = run([answered(BIG, "moon"), DONE], moons, question=follow, feedback="always")
    for request in (0, 1):
        assert "Which moons orbit Jupiter?" in told(model, request)
        assert "Question: And Mars?" in told(model, request)


def test_a_query_in_text_is_of_the_last_graph(moons: KnowledgeGraph, pets: KnowledgeGraph) -> None:
    text = "```sparql\nSELECT ?who WHERE { :Rex :owner ?who }\n```"
    looked = call("execute", graph="pets", query="SELECT * { :Rex ?p ?o }")
    trace, model = run([text, looked, text], moons, pets, question="Who owns Rex?")
    assert "called nothing" in told(model, 1), "nobody knows which graph is meant"
    assert isinstance(trace.outcome, Answer)
    assert trace.outcome.graph == "pets" and names(trace.outcome) == {"Ann"}


def test_an_answer_is_insisted_on_in_the_text_too(moons: KnowledgeGraph) -> None:
    text = f"```sparql\n{NONE}\n```"
    trace, model = run([text, text], moons, propose=False, guarded=False)
    assert "no rows" in told(model, 1)
    assert isinstance(trace.outcome, Answer) and not trace.outcome.result.rows


def test_each_call_has_a_result_though_its_id_came_before(moons: KnowledgeGraph) -> None:
    same = call("execute", query=BIG)
    _, model = run([call("execute", query=ALL), same, same, answered(ALL, "moon")], moons)
    messages = model.requests[-1].messages
    calls = [one.id for m in messages if isinstance(m, Assistant) for one in m.calls]
    assert [m.call for m in messages if isinstance(m, ToolResult)] == calls


def test_what_a_lookup_did_not_find_is_not_shown(moons: KnowledgeGraph) -> None:
    _, model = run([call("cancel", reason="?")], moons, question="Quux?")
    assert "Candidates" not in told(model, 0)


@for_each(
    ("wrong", "said"),
    ({"tools": "S_X"}, "S_E"),
    ({"tools": ""}, "S_E"),
    ({"feedback": "sometimes"}, "never"),
    ({"shots_by": "luck"}, "random"),
    ({"steps": 0}, "'steps' must be 1 or more"),
    ({"rows": -1}, "'rows' must be 1 or more"),
    ({"timeout": 0}, "'timeout' must be more than 0"),
)
def test_a_wrong_setting_says_what_there_is(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(SetupError, match=said):
        Grasp(ScriptedModel([]), **wrong)  # type: ignore[arg-type]
