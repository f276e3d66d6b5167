"""What every method keeps, whatever is asked and whatever a model says to it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.each import for_each
from tests.methods.guiding import reply
from tests.methods.strange import SOURCES, STRANGE

from askgraph import plugins
from askgraph.errors import Overloaded, ServiceError, SetupError
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Choice, Finish, Request, ToolCall
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods import Method, can_follow_up
from askgraph.sparql.results import to_plain_value
from askgraph.trace import (
    Answer,
    Answerer,
    Clarification,
    Outcome,
    PreviousQuestion,
    Question,
    Refusal,
    Step,
    get_attempt,
)
from askgraph.trace.codec import read_trace, write_trace
from askgraph.workspace import Workspace
from askgraph.workspace.replay import replayed
from askgraph.workspace.run_sync import head_of, run_coroutine

METHODS = plugins.list_names("method")
PUBLISHED = [name for name in METHODS if hasattr(plugins.load("method", name), "published")]
GRAPHS = ("moons", "empty", "blanks")
ASKED = ("nothing", "stop words", "emoji", "one very long word", "SPARQL", "lone surrogate")
WITHOUT = {"graph_search", "nearest_example"}
EXAMPLE = (
    "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
    "SELECT ?moon { ?moon onto:orbits :Mars }"
)
QUERY = "SELECT ?moon { ?moon onto:orbits :Jupiter }"
SAID: Mapping[str, ScriptedReply] = {
    "nothing": "",
    "prose": "I am afraid that I cannot help with moons.",
    "a refusal": Choice("", (), Finish.REFUSED, refusal="No."),
    "a reply that is cut off": Choice('{"thought": "Jup', (), Finish.LENGTH),
    "an object of another form": '{"answer": {"choose": [1]}, "query": 3, "between": "all"}',
    "a list": "[1, 2]",
    "no such candidate": reply(choose=99),
    "contradictions": reply(choose=2, query="ASK {}", ask="Which?", between=[1, 1], sure=1),
    "a query that cannot be read": reply(query="SELECT ?x WHERE {"),
    "an update": reply(query="DELETE WHERE { ?s ?p ?o }"),
    "a query in a block": f"```sparql\n{QUERY}\n```",
    "a chosen candidate": reply(choose=1),
    "a function that there is not": ToolCall("1", "launch", '{"rocket": true}'),
    "arguments that are no JSON": ToolCall("1", "answer", "moons of Jupiter"),
    "a failing server": Overloaded("too busy"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("workspace")
    example = {"question": "Which moons orbit Mars?", "sparql": EXAMPLE}
    (folder / "examples.jsonl").write_text(json.dumps(example))
    return Workspace(folder)


@pytest.fixture(scope="module")
def graphs(
    place: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("strange")
    opened = {}
    for name in GRAPHS:
        (folder / f"{name}.ttl").write_text(SOURCES[name], encoding="utf-8")
        opened[name] = place.open(folder / f"{name}.ttl")
    yield opened
    for graph in opened.values():
        run_coroutine(graph.endpoint.close())


def made(place: Workspace, name: str, said: ScriptedReply) -> Method:
    """A method whose model says the same whenever it is asked."""
    settings = {} if name in WITHOUT else {"model": ScriptedModel(lambda request: said)}
    learnt = {"examples": str(place.folder / "examples.jsonl")} if name == "nearest_example" else {}
    return place.method(name, settings | learnt)


async def steps_of(method: Method, text: str, graphs: list[KnowledgeGraph]) -> list[Step]:
    async with aclosing(method.answer(Question(text), graphs)) as steps:  # type: ignore[type-var]
        return [step async for step in steps]


def check(steps: list[Step]) -> None:
    """One outcome, the last step, that is sound."""
    assert [step for step in steps if isinstance(step, Outcome)] == steps[-1:]
    match steps[-1]:
        case Answer() as answer:
            assert answer.query and 0 <= answer.confidence <= 1
            assert set(answer.answer_columns) <= set(answer.result.variables)
        case Clarification(question, options):
            assert question and len(options) > 1
        case Refusal(reason):
            assert reason.strip()


# Graph search is asked all strange questions over all strange graphs in its own test.
@for_each("method", [name for name in METHODS if name != "graph_search"])
@for_each("graph", GRAPHS)
@for_each("strange", ASKED)
async def test_a_strange_question_ends_with_one_outcome(
    place: Workspace, graphs: dict[str, KnowledgeGraph], method: str, graph: str, strange: str
) -> None:
    steps = await steps_of(made(place, method, reply(choose=1)), STRANGE[strange], [graphs[graph]])

    check(steps)


@for_each("method", sorted(set(METHODS) - WITHOUT))
@for_each("said", SAID)
async def test_a_strange_reply_ends_with_one_outcome_or_says_that_the_server_fails(
    place: Workspace, graphs: dict[str, KnowledgeGraph], method: str, said: str
) -> None:
    asked = made(place, method, SAID[said])
    both = [graphs["moons"], graphs["blanks"]]

    try:
        check(await steps_of(asked, "Which moons orbit Jupiter?", both))
    except ServiceError as failed:
        assert said == "a failing server" and "too busy" in str(failed)


@for_each("method", PUBLISHED)
@for_each("said", SAID)
async def test_as_published_a_strange_reply_ends_with_one_outcome(
    place: Workspace, graphs: dict[str, KnowledgeGraph], method: str, said: str
) -> None:
    settings = {"preset": "paper", "hypotheses": "one"} if method == "dfsl" else {"preset": "paper"}
    asked = place.method(method, {"model": ScriptedModel(lambda _: SAID[said]), **settings})
    question = Question("Which moons orbit Jupiter?", given=("http://example.org/Jupiter",))

    try:
        stream = asked.answer(question, [graphs["moons"], graphs["blanks"]])
        async with aclosing(stream) as steps:  # type: ignore[type-var]
            check([step async for step in steps])
    except ServiceError as failed:
        assert said == "a failing server" and "too busy" in str(failed)


@for_each("method", METHODS)
async def test_a_run_may_be_left_at_any_step_and_the_graph_answers_on(
    place: Workspace, graphs: dict[str, KnowledgeGraph], method: str
) -> None:
    question, asked = "Which moons orbit Jupiter?", [graphs["moons"]]
    said = reply(query=QUERY, answer=["moon"])
    number = len(await steps_of(made(place, method, said), question, asked))

    for end in range(1, number):
        stream = made(place, method, said).answer(Question(question), asked)
        async with aclosing(stream) as steps:  # type: ignore[type-var]
            taken = [await anext(steps) for _ in range(end)]
        assert len(taken) == end

    assert await graphs["moons"].endpoint.ask("ASK { ?s ?p ?o }")


TALKING = sorted(set(METHODS) - {"grasp", "graf_von_data"})  # whose models have their say anyway


@for_each("name", TALKING)
async def test_with_interpret_the_model_says_the_answer_in_words(
    place: Workspace, graphs: dict[str, KnowledgeGraph], name: str
) -> None:
    def said(request: Request) -> ScriptedReply:
        shown = str(request.messages[-1])
        if "Result: " in shown and "The query gives: " in shown:
            return "Io and  Europa do."
        if name == "direct":
            return fitting(name)
        return reply(choose=1) if name in ("auto", "guided") else f"```sparql\n{QUERY}\n```"

    learnt = {"examples": str(place.folder / "examples.jsonl")} if name == "nearest_example" else {}
    settings = {"model": ScriptedModel(said), "interpret": True, **learnt}
    method, asked = place.method(name, settings), [graphs["moons"]]

    question = Question("Which moons orbit Jupiter?")
    trace = await trace_of(question, method=method, name=name, graphs=asked)

    answer = trace.outcome
    assert isinstance(answer, Answer)
    assert answer.interpretation == "Io and Europa do."
    assert answer.answered_by == (Answerer("graph-search") if name == "auto" else None)
    assert answer.usage.llm_calls == (1 if name in {*WITHOUT, "auto", "multi_stage"} else 2)
    again = await replayed(trace, head_of(method, asked))
    assert (again.same_answer, again.differs) == (True, None)


MODELLED = sorted(set(METHODS) - WITHOUT)
HOW: Mapping[str, list[dict[str, object]]] = {
    "dfsl": [{"hypotheses": "samples"}, {"preset": "paper", "variant": "plain", "interpret": True}],
    "guided": [
        {"interpret": True},
        {"n": 3, "interpret": True},
        {"consult": "sparql-llm+graph-search"},
        {"sees": "masked"},
        {"ask": "unsure", "sure_from": 0.1},
    ],
    "auto": [{"sure_from": 1.0}, {"sure_from": 1.0, "sees": "masked"}],
    "multi_stage": [
        {"writer": "model", "interpret": True},
        {"writer": "sparql", "entities": "reason"},
        {"preset": "paper"},
    ],
    "sparql_llm": [{"interpret": True}, {"preset": "paper"}],
    "grasp": [{"preset": "paper"}, {"interpret": True, "feedback": "always"}],
    "graf_von_data": [{"preset": "paper"}],
}
RUNS = [(name, how) for name in MODELLED for how in ({}, *HOW.get(name, []))]


@for_each(("name", "how"), RUNS)
@for_each("said", ["prose", "a query in a block", "a chosen candidate", "its own"])
@for_each("names", [("moons",), ("moons", "blanks")])
async def test_a_run_is_replayed_without_model_and_graph(
    place: Workspace,
    graphs: dict[str, KnowledgeGraph],
    tmp_path: Path,
    name: str,
    how: dict[str, object],
    said: str,
    names: tuple[str, ...],
) -> None:
    told: ScriptedReply = fitting(name) if said == "its own" else SAID[said]
    settings = {"model": ScriptedModel(lambda _: told), **how}
    method, asked = place.method(name, settings), [graphs[one] for one in names]
    question = Question("Which moons orbit Jupiter?", given=("http://example.org/Jupiter",))
    trace = await trace_of(question, method=method, name=name, graphs=asked)
    write_trace(tmp_path / "run.jsonl", trace, head_of(method, asked))

    again = await replayed(*read_trace(tmp_path / "run.jsonl"))

    assert again.same_answer
    assert again.differs is None, (trace.steps[again.differs], again.now.steps[again.differs])
    if said == "its own" and len(names) == 1 and not how:
        assert isinstance(get_attempt(again.now.outcome), Answer)


DECLARED = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
LARGEST = "SELECT ?moon { ?moon onto:orbits :Jupiter ; onto:radius ?r } ORDER BY DESC(?r) LIMIT 1"
FOLLOWING = {
    "And Mars?": QUERY.replace("Jupiter", "Mars"),
    "How many are these?": QUERY.replace("?moon", "(COUNT(?moon) AS ?n)", 1),
    "Only the first one": f"{QUERY} ORDER BY ?moon LIMIT 1",
    "Which of them is the largest?": LARGEST,
}
BEFORE = (PreviousQuestion("Which moons orbit Jupiter?", QUERY),)


@for_each("name", METHODS)
@for_each(
    ("text", "wanted"),
    ("And Mars?", {"http://example.org/Phobos"}),
    ("How many are these?", {"2"}),
    ("Only the first one", {"http://example.org/Europa"}),
    ("Which of them is the largest?", {"http://example.org/Io"}),
)
async def test_every_method_understands_a_question_that_follows_another(
    place: Workspace,
    graphs: dict[str, KnowledgeGraph],
    tmp_path: Path,
    name: str,
    text: str,
    wanted: set[str],
) -> None:
    """A model that is not told of the earlier question knows nothing."""

    def said(request: Request) -> ScriptedReply:
        told = "\n".join(message.text for message in request.messages)
        knows = "orbit Mars" in told or "orbit Jupiter" in told
        return fitting(name, FOLLOWING[text] if knows else "", *wanted)

    rows = [
        ("Which moons orbit Jupiter?", QUERY),
        ("Which moons orbit Mars?", FOLLOWING["And Mars?"]),
        ("Which of the moons that orbit Jupiter is the largest?", LARGEST),
    ]
    examples = [{"question": asked, "sparql": DECLARED + query} for asked, query in rows]
    (tmp_path / "known.jsonl").write_text("\n".join(map(json.dumps, examples)))
    learnt = {"examples": str(tmp_path / "known.jsonl")} if name == "nearest_example" else {}
    method = place.method(name, learnt if name in WITHOUT else {"model": ScriptedModel(said)})

    steps = await trace_of(
        Question(text, before=BEFORE), method=method, name=name, graphs=[graphs["moons"]]
    )

    answer = get_attempt(steps.outcome)
    assert can_follow_up(method) and answer is not None, steps.outcome
    assert {to_plain_value(term) for row in answer.result.rows for term in row[:1]} == wanted


def fitting(name: str, query: str = QUERY, *names: str) -> ScriptedReply:
    """What a model says that finds the moons, or what a query gives, by this method."""
    match name:
        case "direct":
            local = [one.rpartition("/")[2] for one in names or ("Io", "Europa") if query]
            return json.dumps({"known": bool(query), "yes": None, "answers": local})
        case "graf_von_data":
            return f"Think: that is it.\nAct: query('{query}') | success('')"
        case "grasp":
            return ToolCall("1", "answer", json.dumps({"query": query, "columns": ["*"]}))
        case "auto" | "guided":
            return reply(query=query)
        case _:
            return f"```sparql\n{query}\n```\nPICK: 1"


def test_words_need_a_model_that_may_see_the_rows(place: Workspace) -> None:
    with pytest.raises(SetupError, match="no language model is configured"):
        place.method("multi-stage", {"interpret": True})
    with pytest.raises(SetupError, match="no language model is configured"):
        place.method("graph-search", {"interpret": True})
    with pytest.raises(SetupError, match="leave out model, or set interpret=true"):
        place.method("graph-search", {"model": ScriptedModel([])})
    with pytest.raises(SetupError, match="sees=everything"):
        place.method("guided", {"model": ScriptedModel([]), "interpret": True, "sees": "masked"})
