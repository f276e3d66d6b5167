"""Guided with scripted models: what it asks, what it makes of replies, and how it ends."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.methods.guiding import guided, outcome, prompt_text, reply, turns

from askgraph import sample
from askgraph.endpoint import EndpointWrapper, Kind, RunOnEndpoint
from askgraph.errors import Overloaded, SetupError, TimedOut, Unauthorised, Unreachable
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Choice, Finish, Request, ToolCall, estimate_input_tokens
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import PROMPT_DETAILS, Auto, Guided, PromptDetail
from askgraph.sparql.comparison import select_columns
from askgraph.sparql.judge import EndpointRequest
from askgraph.trace import (
    Answer,
    Answerer,
    Clarification,
    Draft,
    ModelTurn,
    PreviousQuestion,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    ToolUse,
)
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method

QUESTIONS = [
    question.text
    for question in read_questions(sample.questions_path().with_suffix(".jsonl"))
    if question.sparql
]
GALILEO = "Which moons of Jupiter were discovered by Galileo?"
OWN = "SELECT DISTINCT ?moon WHERE { ?moon ont:orbits space:Jupiter ; ont:discoverer ?who }"
EMPTY = "SELECT DISTINCT ?moon WHERE { ?moon ont:orbits space:Titan }"


WRONG = "SELECT ?moon { ?moon ont:orbitz space:Jupiter }"
PLAIN = "SELECT DISTINCT ?who { ?moon ont:orbits space:Jupiter ; ont:discoverer ?who }"
FAULTY = "SELECT ?who { ?who ont:orbits space:Mars MINUS { ?who a ont:Starr } }"
YES = reply(query="ASK { space:Io ont:orbits space:Jupiter }", sure=0.5)
CANCEL = ToolCall("1", "cancel", '{"reason": "Nothing is said of moons."}')


async def searched(graph: KnowledgeGraph, question: str, **settings: object) -> object:
    method = GraphSearch(**settings)  # type: ignore[arg-type]
    return [step async for step in method.answer(Question(question), [graph])][-1]


async def test_the_first_candidate_is_graph_searchs_answer_cheaply(space: KnowledgeGraph) -> None:
    instructions = set()
    for question in QUESTIONS[::6]:
        steps, model = await guided(space, question, [reply(choose=1)])
        own = await searched(space, question, answer_from=0.0)

        found = outcome(steps)
        assert isinstance(own, Answer) and isinstance(found, Answer)
        assert select_columns(found.result, own.result.variables).rows == own.result.rows
        assert (found.answer_columns, found.words) == (own.answer_columns, own.words)
        assert found.evidence == own.evidence and turns(steps) == 1
        assert estimate_input_tokens(model.requests[0]) <= 1_300
        instructions.add(model.requests[0].messages[0])
    assert len(instructions) == 1


@for_each(
    "broken",
    "I would rather tell you about the weather.",
    "",
    '{"choose": "first',
    Choice("", finish=Finish.REFUSED, refusal="I cannot help with that."),
    reply(choose=99),
    reply(query="DROP ALL"),
    reply(query="SELECT ?x WHERE { ?x ?y"),
)
async def test_useless_replies_change_nothing(space: KnowledgeGraph, broken: str | Choice) -> None:
    steps, _ = await guided(space, GALILEO, [broken, broken], turns=0)
    own = await searched(space, GALILEO)
    found = outcome(steps)
    assert isinstance(own, Answer) and isinstance(found, Answer)
    assert found.query == own.query and found.cut_short


@for_each(
    ("replies", "told", "turned", "query"),
    ([reply(query=PLAIN, sure=0.8)], None, 1, "?who"),
    ([reply(query=WRONG), reply(choose=1)], "no predicate ont:orbitz.*ont:orbits", 2, ""),
    ([reply(query=EMPTY), reply(choose=1)], "no result.*other direction", 2, ""),
    ([reply(query=OWN, sure=0.4)], None, 1, "?who"),
    ([reply(query=FAULTY), "same"], "Your query gives.*no instances of ont:Starr", 2, "?who"),
    (["same", reply(choose=1)], "nothing before this", 2, ""),
    ([reply(ask="Which?"), reply(choose=1)], "decide yourself", 2, ""),
    ([f"Here it is:\n```sparql\n{PLAIN}\n```"], None, 1, "?who"),
)
async def test_a_doubt_is_told_with_its_evidence_and_the_last_answer_with_rows_stands(
    space: KnowledgeGraph,
    replies: Sequence[ScriptedReply],
    told: str | None,
    turned: int,
    query: str,
) -> None:
    steps, model = await guided(space, GALILEO, replies, turns=0)

    assert query in best_query(steps) and turns(steps) == turned
    assert isinstance(outcome(steps), Answer | Clarification)
    thoughts = [step for step in steps if isinstance(step, Thought)]
    assert not re.search(r"\b[Yy]our?\b|leaves|decide", "".join(step.text for step in thoughts))
    if told is not None:
        assert re.search(told, said(model, 1), re.DOTALL) and thoughts[0].sent in said(model, 1)


async def test_a_query_is_mended_before_it_runs(space: KnowledgeGraph) -> None:
    asked = "What were the roles of the crew members of Skylab 4?"
    flipped = reply(query="SELECT ?m { space:Skylab_4 ont:mission ?m . ?m ont:role ?role }")
    mended, _ = await guided(space, asked, [flipped], looks=0, turns=0)
    assert "space:Skylab_4 ^ont:mission ?m" in best_query(mended)


NONE = reply(thought="There are none.")


@for_each(
    ("replies", "settings", "why"),
    ([NONE], {}, "There are none."),
    ([[Choice(NONE)] * 3], {"n": 3}, "There are none."),
    ([reply(query=EMPTY)] * 2 + [Choice(calls=(CANCEL,))], {}, "Nothing is said of moons."),
)
async def test_a_model_that_insists_on_a_lack_is_believed(
    space: KnowledgeGraph, replies: Sequence[ScriptedReply], settings: dict[str, object], why: str
) -> None:
    steps, model = await guided(space, GALILEO, replies, **settings)
    found = outcome(steps)
    assert isinstance(found, Refusal) and why in found.reason
    assert found.best is None or found.best.confidence <= 0.3
    assert len(model.requests) == len(replies)


RARE = """
@prefix : <http://a.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://rare.example/lakes/file1#Blue_Lake> a :Lake ; rdfs:label "Blue Lake"@en ; :depth 7 .
<http://rare.example/lakes/file2#Red_Lake> a :Lake ; rdfs:label "Red Lake"@en ; :depth 9 .
"""


async def test_a_rare_namespace_has_a_prefix_which_a_query_may_use(tmp_path: Path) -> None:
    (tmp_path / "lakes.ttl").write_text(RARE, encoding="utf-8")
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "lakes.ttl")
    asked = "What is the depth of Blue Lake?"
    steps, _ = await guided(graph, asked, [reply(choose=1)])
    [name] = {*re.findall(r"[\w-]+:Blue_Lake", prompt_text(steps))}
    steps, _ = await guided(graph, asked, [reply(query=f"SELECT ?n {{ {name} :depth ?n }}")])
    await graph.endpoint.close()

    found = outcome(steps)
    assert "<http://rare" not in prompt_text(steps) and turns(steps) == 1
    assert isinstance(found, Answer) and str(found.result.rows[0][0]).startswith('"7"')


@for_each(
    ("numbers", "taken"),
    [((1,), 1), ((2, 2), 1), ((2, 1), 2), ((3, 3), 1), ((0, 1), 1), ((0, 0), 0)],
)
async def test_a_small_model_overrules_graph_search_only_in_two_orders(
    space: KnowledgeGraph, numbers: Sequence[int], taken: int
) -> None:
    question, replies = "What about Galileo?", [f'{{"choose": {number}}}' for number in numbers]
    steps, model = await guided(space, question, replies, detail="brief")
    full, _ = await guided(space, question, [reply(choose=taken or 1)], looks=0)

    got, other = outcome(steps), outcome(full)
    assert isinstance(got, Answer if taken else Refusal) and isinstance(other, Answer)
    if isinstance(got, Answer):
        first, second = (select_columns(one.result, one.answer_columns) for one in (got, other))
        assert {*first.rows} == {*second.rows}
        assert (got.answered_by == Answerer("graph-search")) is (taken == 1)
    assert "Schema:" not in prompt_text(steps) and estimate_input_tokens(model.requests[0]) <= 550
    assert turns(steps) == len(numbers)


async def test_without_looks_it_is_never_asked_again(space: KnowledgeGraph) -> None:
    steps, _ = await guided(space, GALILEO, [reply(query=EMPTY)], looks=0, turns=0)
    found = outcome(steps)
    assert isinstance(found, Refusal) and found.reason == "No query that was found has a result."
    assert found.best is not None and found.best.why_empty and turns(steps) == 1


async def test_the_model_says_which_columns_answer(space: KnowledgeGraph) -> None:
    query = "SELECT ?moon ?year { ?moon ont:orbits space:Jupiter ; ont:discoveryYear ?year }"
    question = "When were the moons of Jupiter discovered?"
    told, _ = await guided(space, question, [reply(query=query, answer=["?year"])])
    silent, _ = await guided(space, question, [reply(query=query)])
    assert getattr(outcome(told), "answer_columns", None) == ("year",)
    assert "year" in getattr(outcome(silent), "answer_columns", ())


@for_each(
    ("query", "columns"),
    ("?moon { ?moon ont:orbits space:Mars ; ont:diameter ?d FILTER(?d > 1) }", ["d", "name"]),
    ("?moon { ?moon ont:orbits space:Saturn } ORDER BY ?moon LIMIT 2", []),
    ("?moon { ?moon ont:orbits space:Mars ; ont:diameter ?d } ORDER BY ?d LIMIT 1", ["d"]),
    ("?d { ?moon ont:orbits space:Mars ; ont:diameter ?d }", ["moon", "name"]),
    ("?p { ?m ont:orbits ?p } GROUP BY ?p ORDER BY DESC(COUNT(?m)) LIMIT 3", ["value"]),
    ("DISTINCT ?d { ?moon ont:orbits ?planet ; ont:discoverer ?d }", ["name"]),
)
async def test_the_thing_its_name_and_the_compared_value_are_context(
    space: KnowledgeGraph, query: str, columns: Sequence[str]
) -> None:
    steps, _ = await guided(space, GALILEO, [reply(query=f"SELECT {query}")], looks=0, turns=0)
    bare = await space.endpoint.select(f"SELECT {query}")

    found = best(steps)
    assert found.answer_columns == bare.variables
    added = [name for name in found.result.variables if name not in bare.variables]
    assert [name.rpartition("_")[2] for name in added] == columns
    rows = select_columns(found.result, bare.variables).rows
    assert sorted(map(str, rows)) == sorted(map(str, bare.rows))


async def test_it_asks_back_if_it_is_unsure_and_graph_search_differs(space: KnowledgeGraph) -> None:
    unsure = reply(query=OWN, sure=0.2)
    asked, _ = await guided(space, GALILEO, [unsure, unsure])
    silent, _ = await guided(space, GALILEO, [unsure, unsure], asks_back=False)
    found = outcome(asked)
    assert isinstance(found, Clarification) and len({one.count for one in found.options}) == 2
    assert isinstance(outcome(silent), Answer)


async def test_a_question_back_has_options_in_words_with_counts(space: KnowledgeGraph) -> None:
    steps, _ = await guided(space, GALILEO, [reply(ask="By whom?", between=[1, 2])])
    back = reply(choose=1, ask="By whom?", between=[1, 2])
    silent, _ = await guided(space, GALILEO, [back], asks_back=False)

    found = outcome(steps)
    assert isinstance(found, Clarification) and found.question == "By whom?"
    assert len(found.options) == 2 and all(one.count and one.words for one in found.options)
    assert found.best is not None and isinstance(outcome(silent), Answer)


async def test_the_model_is_not_asked_where_graph_search_is_sure(space: KnowledgeGraph) -> None:
    sure, _ = await guided(space, GALILEO, [], ask="unsure", sure_from=0.5)
    never, _ = await guided(space, GALILEO, [], ask="never")
    unsure, _ = await guided(space, GALILEO, [reply(choose=1)], ask="unsure", sure_from=1.0)
    assert isinstance(outcome(sure), Answer) and turns(sure) == 0
    assert isinstance(outcome(never), Answer) and turns(never) == 0
    assert turns(unsure) == 1


async def test_where_the_budget_ends_the_best_so_far_stands(space: KnowledgeGraph) -> None:
    none, _ = await guided(space, GALILEO, [reply(choose=1)], tokens=100)
    one, _ = await guided(space, GALILEO, [reply(query=FAULTY)], tokens=1_500)

    found = outcome(none)
    assert isinstance(found, Answer) and found.cut_short and found.usage.llm_calls == 0
    half = outcome(one)
    assert isinstance(half, Answer) and half.cut_short and "?who" in half.query
    assert half.usage.llm_calls == 1 and half.usage.input_tokens > 1_000


async def test_without_its_model_graph_search_answers_and_says_so(space: KnowledgeGraph) -> None:
    steps, _ = await guided(space, GALILEO, [Overloaded("busy")])
    search = [step async for step in GraphSearch().answer(Question(GALILEO), [space])]

    found, own = outcome(steps), outcome(search)
    assert isinstance(found, Answer) and isinstance(own, Answer)
    assert found.cut_short == "without the model: busy"
    assert (found.query, found.confidence) == (own.query, own.confidence)
    assert found.result.rows == own.result.rows
    later, _ = await guided(space, GALILEO, [reply(query=FAULTY), Overloaded("busy")])
    assert isinstance(half := outcome(later), Answer) and half.cut_short == "busy"
    with pytest.raises(Overloaded):
        await guided(space, GALILEO, [Overloaded("busy")], fallback=False)


UNSURE = Question("What did Galileo find?")
EARLIER = PreviousQuestion(
    "Which moons orbit Jupiter?", "SELECT ?m { ?m ont:orbits space:Jupiter }"
)
SEARCH, FAILED = Answerer("graph-search"), Answerer("graph-search", "scripted", failed=True)
BUDGET = "the budget of the question is used up: the time limit of 4 seconds was reached"


@for_each(
    ("question", "said", "by", "note"),
    (Question("Which moons orbit Mars?"), [], SEARCH, None),
    (Question("And Saturn?", before=(EARLIER,)), [], SEARCH, None),
    (UNSURE, [reply(query=OWN, sure=0.9)], Answerer("guided", "scripted"), None),
    (UNSURE, [Overloaded("busy")], FAILED, "without the model: busy"),
    (UNSURE, [Unauthorised("no key")], FAILED, "without the model: no key"),
    (UNSURE, [], FAILED, BUDGET),  # it takes too long
)
async def test_by_default_the_model_is_asked_only_where_graph_search_is_unsure(
    space: KnowledgeGraph, question: Question, said: list[ScriptedReply], by: Answerer, note: str
) -> None:
    model = ScriptedModel(said or [reply(query=OWN)], delay=0.0 if said else 60.0)
    found = await ask_method(question, Auto(model, seconds=None if said else 4.0), [space])
    own = await ask_method(question, GraphSearch(), [space])

    assert isinstance(found, Answer) and isinstance(own, Answer)
    assert (found.answered_by, found.cut_short) == (by, note)
    assert found.usage.output_tokens > 0 if by.method == "guided" else found.query == own.query
    assert (by != SEARCH) == bool(model.requests)


async def test_what_is_missing_is_looked_up_with_functions(space: KnowledgeGraph) -> None:
    look = ToolCall("1", "execute", '{"query": "SELECT ?x { ?x ont:orbits space:Jupiter }"}')
    end = ToolCall("2", "answer", f'{{"query": "{OWN}", "columns": ["moon"]}}')
    empty = reply(query=EMPTY)
    script: list[ScriptedReply] = [empty, empty, Choice(calls=(look,)), Choice(calls=(end,))]
    steps, model = await guided(space, GALILEO, script)

    found = outcome(steps)
    assert isinstance(found, Answer) and "?who" in found.query
    assert [step.tool for step in steps if isinstance(step, ToolUse)] == ["execute", "answer"]
    assert not model.requests[0].tools and model.requests[2].tools


async def test_between_two_that_are_as_good_neither_is_sure(space: KnowledgeGraph) -> None:
    replies = [
        Choice(reply(query=f"SELECT ?value {{ space:Mars ont:{name} ?value }}"))
        for name in ("surfaceGravity", "rotationPeriod")
    ]
    steps, model = await guided(
        space, "What is the population of Mars?", lambda request: replies[: request.n], n=2
    )

    assert best(steps).confidence < 0.5 and len(model.requests) == 1


async def test_two_renderings_of_the_schema_are_two_prompts(space: KnowledgeGraph) -> None:
    steps, model = await guided(space, GALILEO, lambda _: reply(choose=1), detail="both")
    texts = [said(model, at) for at in range(2)]
    assert [sum(mark in text for text in texts) for mark in ("Shapes:", "EXTRA a {")] == [1, 1]
    assert sum(isinstance(step, Prompt) for step in steps) == 2


async def test_other_methods_and_models_have_a_say(space: KnowledgeGraph) -> None:
    other = ScriptedModel(lambda _: reply(choose=1))
    model = ScriptedModel(lambda _: reply(query=OWN))
    method = Guided(model, further={"other": other}, others={"graph-search": GraphSearch()})
    steps = [step async for step in method.answer(Question(GALILEO), [space])]

    found = outcome(steps)
    assert isinstance(found, Answer) and len(found.result.rows) == 4
    assert len(other.requests) == 1 and len(model.requests) >= 1
    assert sum(isinstance(step, Draft) for step in steps) >= 3


async def test_of_several_models_and_methods_one_may_fail(space: KnowledgeGraph) -> None:
    down = ScriptedModel([Overloaded("down")])
    both = Guided(ScriptedModel([reply(choose=1)]), further={"down": down})
    others = {"broken": Guided(ScriptedModel([Overloaded("down")]))}
    method = Guided(ScriptedModel(lambda _: reply(choose=1)), others=others)
    none = Guided(ScriptedModel([Overloaded("down")]), further={"down": down}, fallback=False)

    for asked, thought in ((both, "down said nothing"), (method, "down")):
        steps = [step async for step in asked.answer(Question(GALILEO), [space])]
        assert isinstance(outcome(steps), Answer)
        assert any(isinstance(s, Thought) and thought in s.text for s in steps)
    with pytest.raises(Overloaded):
        down.requests.clear()
        [step async for step in none.answer(Question(GALILEO), [space])]


async def test_graph_search_has_no_say_on_a_question_after_another(space: KnowledgeGraph) -> None:
    before = (
        PreviousQuestion("Which moons orbit Saturn?", "SELECT ?m { ?m ont:orbits space:Saturn }"),
    )
    asked = Question("And which orbit Jupiter?", before=before)
    good, bad = (ScriptedModel([one] * 4) for one in (reply(query=OWN, sure=0.99), "What?"))
    own = [s async for s in Guided(good, ask="unsure", sure_from=0.0).answer(asked, [space])]

    assert isinstance(outcome(own), Answer) and len(good.requests) == 1
    assert "Asked before: Which moons orbit Saturn?" in said(good, 0)
    for others in ({}, {"graph-search": GraphSearch()}):
        none = [s async for s in Guided(bad, turns=0, others=others).answer(asked, [space])]
        assert isinstance(outcome(none), Refusal)


async def test_a_model_that_declines_does_not_outvote_two_methods(space: KnowledgeGraph) -> None:
    others = {"one": GraphSearch(), "two": GraphSearch(states=100)}
    method = Guided(ScriptedModel([reply(thought="Nothing.")]), others=others)
    steps = [s async for s in method.answer(Question(GALILEO), [space])]
    assert isinstance(outcome(steps), Answer)


async def test_several_replies_are_voted_on_and_most_must_ask_back(space: KnowledgeGraph) -> None:
    said = [Choice(reply(choose=1)), Choice(reply(query=OWN)), Choice(reply(choose=1))]
    steps, model = await guided(space, GALILEO, lambda request: said[: request.n], n=3)
    back, sure = Choice(reply(ask="By whom?", between=[1, 2])), Choice(reply(choose=1))
    few, _ = await guided(space, GALILEO, lambda request: [sure, back, sure][: request.n], n=3)
    most, _ = await guided(space, GALILEO, lambda request: [back, sure, back][: request.n], n=3)

    found = outcome(steps)
    assert isinstance(found, Answer) and len(found.result.rows) == 4
    assert turns(steps) == 3 and len(model.requests) == found.usage.llm_calls == 1
    assert isinstance(outcome(few), Answer) and isinstance(outcome(most), Clarification)


async def test_a_yes_or_no_is_not_given_up_for_an_empty_result(space: KnowledgeGraph) -> None:
    question = "Which things does Io orbit?"
    steps, _ = await guided(space, question, [YES, reply(query=EMPTY)], turns=0)
    assert best(steps).boolean is True


async def test_graph_search_keeps_to_the_same_limits(space: KnowledgeGraph) -> None:
    unsure = "What is the population of Mars?"
    quiet, _ = await guided(space, unsure, [], ask="never", asks_back=False)
    strict, _ = await guided(space, GALILEO, [], ask="never", ask_from=0.99, answer_from=0.99)
    assert not isinstance(outcome(quiet), Clarification)
    assert isinstance(outcome(strict), Refusal)


async def test_a_question_of_no_word_costs_no_call(space: KnowledgeGraph) -> None:
    steps, model = await guided(space, "???", [])
    assert isinstance(outcome(steps), Refusal) and not model.requests


@pytest.mark.slow
async def test_the_time_holds_for_methods_that_are_consulted(space: KnowledgeGraph) -> None:
    slow = Guided(ScriptedModel([reply(choose=1)], delay=60.0))
    method = Guided(ScriptedModel([reply(choose=1)]), others={"slow": slow}, seconds=3.0)
    steps = [step async for step in method.answer(Question(GALILEO), [space])]
    found = outcome(steps)
    assert isinstance(found, Answer) and found.cut_short and found.usage.seconds < 30


async def test_a_question_has_the_same_candidates_however_busy_it_is(space: KnowledgeGraph) -> None:
    alone = [prompt_text((await guided(space, one, _first))[0]) for one in QUESTIONS[:12]]
    runs = await asyncio.gather(*(guided(space, one, _first) for one in QUESTIONS[:12]))
    assert [prompt_text(steps) for steps, _ in runs] == alone


async def test_the_prompt_shows_what_the_graph_holds(space: KnowledgeGraph) -> None:
    steps, _ = await guided(space, GALILEO, [reply(choose=1)])
    bare, _ = await guided(space, GALILEO, lambda _: reply(query=OWN), detail="no-candidates")
    hidden, _ = await guided(space, GALILEO, [reply(choose=1)], detail="no-rows")
    both, _ = await guided(space, "Who flew on both Gemini 8 and Apollo 11?", [reply(choose=1)])

    text = prompt_text(steps)
    assert "1. SELECT DISTINCT ?moon" in text and "4 rows: space:Callisto" in text
    assert "Candidates:\n\nnone" in prompt_text(bare)
    assert "1. SELECT" in prompt_text(hidden) and "4 rows" not in prompt_text(hidden)
    assert "mission space:Apollo_11 . }" in prompt_text(both)
    assert "→ 1 row: space:Neil_Armstrong\n" in prompt_text(both)


@pytest.mark.parametrize("room", [300, 500, 900])
async def test_candidates_are_numbered_without_gaps(
    space: KnowledgeGraph, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROMPT_DETAILS, "full", PromptDetail(room=room))
    question = "Which moons of Jupiter were discovered before 1950?"
    _, model = await guided(space, question, [reply(choose=1)], ask="always")
    numbers = [int(n) for n in re.findall(r"^(\d+)\. (?:SELECT|ASK)", said(model, 0), re.MULTILINE)]
    assert numbers == [*range(1, len(numbers) + 1)] and numbers


class Late(EndpointWrapper):
    """An endpoint on which no query ends in time."""

    async def _run_request(
        self, asked: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        raise TimedOut(f"{self.address} did not answer within {asked.timeout} seconds")


async def test_what_takes_too_long_is_shown_without_a_number(space: KnowledgeGraph) -> None:
    question = "Which moons have a diameter above 1,234 km?"
    late = replace(space, endpoint=Late(space.endpoint))
    steps, _ = await guided(late, question, [reply(thought="Nothing ran.")] * 9)
    told = prompt_text(steps).split("Candidates:")[1]
    assert told.strip().startswith("- not run, as it takes long: SELECT DISTINCT ?moon")


async def test_no_candidate_only_adds_what_nobody_asks_for(
    space: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROMPT_DETAILS, "full", PromptDetail(room=900))
    _, model = await guided(space, "What is the diameter of Mars?", [reply(choose=1)])
    candidates = said(model, 0).split("Candidates:")[1]
    assert "{ space:Mars ont:diameter ?diameter . }" in candidates
    assert "space:Mars ont:orbits ?orbits . ?asteroid" not in candidates


STOCKS = """
@prefix : <http://a.example/> .
:p1 a :Phone ; :name "Alpha" . :p2 a :Phone ; :name "Beta" . :m1 a :Market . :m2 a :Market .
:s1 a :Offer ; :phone :p1 ; :market :m1 ; :numberOfStock 4 .
:s2 a :Offer ; :phone :p1 ; :market :m2 ; :numberOfStock 5 .
:s3 a :Offer ; :phone :p2 ; :market :m2 ; :numberOfStock 6 .
"""


async def test_no_candidate_only_adds_a_column_or_gives_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "stocks.ttl").write_text(STOCKS, encoding="utf-8")
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "stocks.ttl")
    asked = "For each phone, show its name and the total number of stock."
    _, model = await guided(graph, asked, [reply(choose=1)])
    steps, _ = await guided(graph, "Which phones are there?", [reply(choose=1)])
    await graph.endpoint.close()

    candidates = said(model, 0).split("Candidates:")[1]
    gives = re.findall(r"^   → .*?: (.*)$", candidates, re.MULTILINE)
    assert gives[0] == '"Alpha", 9; "Beta", 6' and len({*gives}) == len(gives)
    assert ':p1, "Alpha", 9' not in candidates
    # Things are shown without a column for their names.
    text = prompt_text(steps)
    assert "SELECT DISTINCT ?phone WHERE { ?phone a :Phone . }" in text
    assert '→ 2 rows: :p1 "Alpha"; :p2 "Beta"' in text and "names by :name" in text
    assert isinstance(found := outcome(steps), Answer) and "Alpha" in str(found.result.rows)


async def test_the_cost_of_all_calls_is_told(space: KnowledgeGraph) -> None:
    steps, _ = await guided(space, GALILEO, [reply(query=EMPTY), reply(choose=1)])
    spent = [step.usage for step in steps if isinstance(step, ModelTurn)]
    found = outcome(steps)
    assert found.usage.llm_calls == 2
    assert found.usage.input_tokens == sum(one.input_tokens for one in spent)
    assert found.usage.requests > 0 and found.usage.seconds > 0


@for_each(
    "wrong",
    {"ask": "sometimes"},
    {"detail": "drawing"},
    {"looks": -1},
    {"n": 0},
    {"tokens": 0},
    {"sure_from": 1.5},
    {"answer_from": -0.1},
    {"ask_from": 0.9, "answer_from": 0.2},
)
def test_settings_that_make_no_sense_are_told(wrong: dict[str, object]) -> None:
    with pytest.raises(SetupError, match=next(iter(wrong))):
        Guided(ScriptedModel([]), **wrong)  # type: ignore[arg-type]


def _first(_: Request) -> ScriptedReply:
    return reply(choose=1)


def best(steps: Sequence[Step]) -> Answer:
    """Return the answer, or the best attempt."""
    found = outcome(steps)
    answer = found if isinstance(found, Answer) else found.best
    assert answer is not None
    return answer


def best_query(steps: Sequence[Step]) -> str:
    """The query of the answer, or of the best attempt; without line breaks."""
    return " ".join(best(steps).query.split())


def said(model: ScriptedModel, request: int) -> str:
    return "\n".join(str(getattr(m, "text", "")) for m in model.requests[request].messages)


async def test_a_writer_has_a_say_beside_graph_search(space: KnowledgeGraph) -> None:
    asked = "Which moons does Neptune have?"

    def written(request: Request) -> str:
        assert "\n<orbits>" in getattr(request.messages[-1], "text", "")
        return "SELECT ?v0 WHERE { ?v0 <orbits> <Neptune> . }"

    steps, model = await guided(space, asked, written, detail="written")

    found, alone = outcome(steps), await searched(space, asked)
    assert isinstance(found, Answer) and isinstance(alone, Answer)
    moons = select_columns(found.result, found.answer_columns).rows
    assert moons and sorted(moons) == sorted(alone.result.rows)
    assert found.confidence > alone.confidence
    assert len(model.requests) == 1
    told = getattr(model.requests[0].messages[-1], "text", "")
    assert told.startswith(f"Question: {asked}")


async def test_a_writer_that_fails_leaves_graph_search_s_answer(space: KnowledgeGraph) -> None:
    asked = "Which moons does Neptune have?"
    for broken in (Unreachable("the model is down"), "no query at all"):
        steps, _ = await guided(space, asked, [broken], detail="written")

        found, alone = outcome(steps), await searched(space, asked)
        assert isinstance(found, Answer) and isinstance(alone, Answer)
        moons = select_columns(found.result, found.answer_columns).rows
        assert sorted(moons) == sorted(alone.result.rows)
