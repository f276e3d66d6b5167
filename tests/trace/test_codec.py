"""A trace on disk: what is read is what was written, and damage is named."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.llm import Assistant, Choice, Finish, System, TokenLogprob, ToolCall, ToolSchema
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import (
    Answer,
    Clarification,
    Draft,
    Evidence,
    Findings,
    Heard,
    Mention,
    ModelTurn,
    Observation,
    Option,
    Outcome,
    PreviousQuestion,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Trace,
    Usage,
    build_follow_up,
    codec,
)

MOON = NamedNode("http://example.org/Moon")
ROWS = (
    (MOON, None),
    (BlankNode("b1"), Literal("Mond", language="de")),
    (Literal("1.0", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal")), Literal("")),
    (Literal("ab", language="he", direction=BaseDirection.RTL), Triple(MOON, MOON, MOON)),
)
ANSWER = Answer(
    "SELECT ?moon ?name { ?moon a :Moon }", "space",
    SelectResult(("moon", "name"), ROWS, Truncation("server", "a cap of 4"), 0.25), ("moon",),
    "moons", 0.75, labels={MOON.value: "Moon"},
    evidence=(Evidence(0, (("<a>", "<b>", '"c"'),), ("a b c",)),),
    usage=Usage(1.5, 3, 2, 100, 40, 20, 0.001),
)  # fmt: skip
STEPS: tuple[Step, ...] = (
    Findings((Mention("moons", "class", MOON.value, "Moon", 0.9),), ("which",)),
    Draft("SELECT * { ?s ?p ?o }", 0.5, "all"),
    Prompt(
        "question",
        (System("Work."), Assistant("", (ToolCall("c1", "execute", "{}"),), "Hm.", "{}")),
        (ToolSchema("execute", "Run.", {"type": "object", "properties": {}}),),
    ),
    Thought("Well.", Usage(seconds=0.5)),
    ModelTurn(
        Choice("I look.", (ToolCall("c1", "execute", "{"),), Finish.CALLS, "Hm.", "", (), "{}"),
        Usage(llm_calls=1, input_tokens=100),
        "m-served",
    ),
    ToolUse(
        "execute",
        {"query": "ASK {}", "columns": ["a", None, 1.5, {"b": True}]},
        Observation("one row", (MOON.value,), False, "ASK {}", 1, "answer", ANSWER),
        0.125,
        "c1",
    ),
    Clarification("Which?", (Option("moons", 4, "SELECT …"),), ANSWER),
    Refusal("No.", replace(ANSWER, boolean=False, result=SelectResult((), ()), why_empty="why")),
    Heard({"tried 1f": ({"gave": ["", None]}, {"failed": "TimedOut", "why": "late"})}),
    ANSWER,
)


def test_every_kind_of_step_is_read_as_it_was_written() -> None:
    assert {type(step) for step in STEPS} == set(get_args(Step))
    assert tuple(codec.parse_step(codec.serialize_step(step)) for step in STEPS) == STEPS


texts = st.text(st.characters(exclude_categories=[]))  # lone surrogates among them
numbers = st.floats(allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=5,
)
sound_texts = st.text()  # what an engine can hold
literals = st.builds(Literal, sound_texts) | st.builds(Literal, sound_texts, datatype=st.just(MOON))
terms = st.none() | st.just(MOON) | st.builds(BlankNode, st.just("b")) | literals
tables = st.integers(0, 3).flatmap(
    lambda wide: st.builds(
        SelectResult,
        st.just(tuple(f"v{at}" for at in range(wide))),
        st.lists(st.tuples(*[terms] * wide)).map(tuple),
        st.none() | st.builds(Truncation, st.sampled_from(["askgraph", "server"]), texts),
        numbers,
    )
)
usages = st.builds(Usage, numbers, st.integers(), st.integers(), money=numbers)
answers = st.builds(
    Answer, texts, texts, tables, st.lists(texts).map(tuple), texts, numbers,
    st.none() | st.booleans(), st.booleans(), st.dictionaries(texts, texts), usage=usages,
)  # fmt: skip
observations = st.builds(
    Observation, texts, st.lists(texts).map(tuple), st.booleans(), st.none() | texts,
    st.none() | st.integers(), st.sampled_from(["", "answer", "cancel"]), st.none() | answers,
)  # fmt: skip
choices = st.builds(
    Choice, texts, st.lists(st.builds(ToolCall, texts, texts, texts)).map(tuple),
    st.sampled_from(Finish), texts, texts,
    st.lists(st.builds(TokenLogprob, texts, numbers)).map(tuple), texts,
)  # fmt: skip
steps = st.one_of(
    answers,
    st.builds(ModelTurn, choices, usages, texts),
    st.builds(ToolUse, texts, st.dictionaries(texts, json_values), observations, numbers, texts),
    st.builds(Refusal, texts, st.none() | answers, usages),
    st.builds(Thought, texts, usages, texts),
)


@given(steps)
def test_whatever_a_step_holds_comes_back(step: Step) -> None:
    assert codec.parse_step(codec.serialize_step(step)) == step


def test_a_trace_is_read_with_all_that_was_said_of_it(tmp_path: Path) -> None:
    question = Question("Which \ud800 moons?", "en", (PreviousQuestion("And Mars?", "ASK {}"),))
    trace = Trace(question, "grasp", STEPS)
    settings: dict[str, object] = {"steps": 5, "model": {"provider": "openai", "model": "m"}}
    head = codec.TraceHead(settings, (codec.GraphState("space", "abc"),))
    codec.write_trace(tmp_path / "run.jsonl", trace, head)
    assert codec.read_trace(tmp_path / "run.jsonl") == (trace, head)
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_run_without_an_outcome_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    trace = Trace(Question("?"), "grasp", STEPS[:2])
    codec.write_trace(tmp_path / "run.jsonl", trace)
    assert codec.read_trace(tmp_path / "run.jsonl")[0] == trace


@dataclass(frozen=True)
class Damage:
    old: str
    new: str
    told: str


DAMAGES = {
    "no JSON": Damage('{"step": "draft"', '"step": "draft"', "line 3: not JSON, .* at character"),
    "no object": Damage('{"step": "draft"', '[]\n{"step": "draft"', "line 3: no object"),
    "unknown step": Damage('"draft"', '"drift"', "line 3: 'drift' is not a kind of step"),
    "a field is missing": Damage('"score": 0.5, ', "", "line 3: there is no 'score'"),
    "a field of another type": Damage(
        '"score": 0.5', '"score": "much"', "line 3: 'much' is not of type float"
    ),
    "a row too short": Damage('{"b": "b1"}, ', "", "is damaged: line 7: "),
    "another version": Damage('"version": 1', '"version": 2', "version 2, .* reads version 1"),
    "no head": Damage(
        '"version": 1', '"vision": 1', "is not a trace of .*: line 1: there is no 'version'"
    ),
    "cut off": Damage('"why"', "\N{NULL}", "line 9 is cut off"),
}


@for_each("damage", DAMAGES.values())
def test_a_damaged_file_is_refused_with_its_line(tmp_path: Path, damage: Damage) -> None:
    path = tmp_path / "run.jsonl"
    codec.write_trace(path, Trace(Question("?"), "grasp", STEPS))
    text = path.read_text().replace(damage.old, damage.new, 1)
    path.write_text(text.split("\N{NULL}")[0])
    with pytest.raises(SetupError, match=damage.told.replace("(", r"\(").replace(")", r"\)")):
        codec.read_trace(path)


def test_a_file_that_is_not_there_or_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"cannot read the trace .* No such file"):
        codec.read_trace(tmp_path / "none.jsonl")
    with pytest.raises(SetupError, match="cannot write the trace"):
        codec.write_trace(tmp_path / "none" / "run.jsonl", Trace(Question("?"), "m", ()))


def test_fields_that_came_later_have_their_defaults_in_older_files() -> None:
    older = json.loads(codec.serialize_step(ANSWER))
    del older["why_empty"], older["usage"]
    assert codec.parse_step(json.dumps(older)) == replace(ANSWER, usage=Usage())


FIRST = Question(
    "Which moons orbit Jupiter?", "en", (PreviousQuestion("Planets?", "SELECT ?p {}"),)
)
FOUND = Answer("SELECT ?moon {}", "space", SelectResult((), ()), (), "", 0.9)


@pytest.mark.parametrize(
    "outcome", [FOUND, Refusal("unsure", FOUND), Clarification("Which?", (), FOUND)]
)
def test_what_was_asked_before_comes_oldest_first_with_its_queries(outcome: Outcome) -> None:
    second = build_follow_up("Und der Mars?", FIRST, outcome, language="de")
    assert (second.text, second.language) == ("Und der Mars?", "de")
    assert second.before == (
        PreviousQuestion("Planets?", "SELECT ?p {}"),
        PreviousQuestion("Which moons orbit Jupiter?", "SELECT ?moon {}"),
    )


def test_a_question_that_came_to_no_query_is_passed_over() -> None:
    found = build_follow_up("And Mars?", FIRST, Refusal("not here"))
    assert found.before == (PreviousQuestion("Planets?", "SELECT ?p {}"),)
