"""Guided under a veil: who is asked at all, and that no placeholder ever reaches a person."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tests.methods.guiding import guided, outcome, prompt_text, reply

from askgraph import sample, trace
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Request
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Guided
from askgraph.workspace import Workspace

QUESTIONS = [
    question.text
    for question in read_questions(sample.questions_path().with_suffix(".jsonl"))
    if question.sparql
]
GALILEO = "Which moons of Jupiter were discovered by Galileo before 1700?"
AGENCIES = "Which agencies have operated more than 20 missions?"
MASKED = re.compile(
    r"Which moons of (?P<planet>hidden:e\d+) were discovered by (?P<who>hidden:e\d+) before "
    r"(?P<year>hidden:v\d+) \(a year, or a number\)\?\Z"
)
THOUGHT = "Hidden:e1 and hidden:e2 fit: hidden:v1."


async def galileo(
    space: KnowledgeGraph, settings: Mapping[str, Any], **said: Any
) -> tuple[list[trace.Step], Mapping[str, str]]:
    """Ask about Galileo; the reply has the placeholders of the question in place of names."""
    named: dict[str, str] = {}

    def script(request: Request) -> str:
        text = str(getattr(request.messages[1], "text", ""))
        if found := MASKED.search(text):
            named.update(found.groupdict())
        filled: dict[str, Any] = {
            key: value.format(**named) if isinstance(value, str) else value
            for key, value in said.items()
        }
        return reply(**filled)

    steps, _ = await guided(space, GALILEO, script, **{"sees": "masked", **settings})
    return steps, named


REPLIES: Mapping[str, tuple[Sequence[str], Mapping[str, Any]]] = {
    "a choice": ([reply(choose=1, thought=THOUGHT)] * 2, {}),
    "its own query": (
        [
            reply(
                query="PREFIX hidden: <https://hidden.example/>\n# hidden:e1 is asked about\n"
                'SELECT ?p ("hidden:e1" AS ?name) { hidden:e1 ?p ?o } # hidden:v1',
                thought=THOUGHT,
            )
        ]
        * 2,
        {},
    ),
    "one without rows": (
        [reply(query="SELECT ?x { ?x ont:orbits <hidden:e1>, hidden:e2 }")] * 2,
        {},
    ),
    "an address around it": (
        [reply(query="SELECT ?x { ?x ?p <https://example.org/space/hidden:e1> }")] * 2,
        {},
    ),
    "one that stands for nothing": ([reply(query="SELECT ?x { ?x ?p hidden:e999 }")] * 2, {}),
    "a lack": ([reply(thought=f"Nothing is said of hidden:e1. {THOUGHT}")] * 2, {}),
    "no form": (["hidden:e1 it is", "hidden:e2"], {}),
    "a question back": (
        [reply(choose=1, ask="Is it hidden:e1 or hidden:v1?", between=[1, 2])] * 2,
        {},
    ),
    "doubt": ([reply(choose=2, sure=0.1, thought=THOUGHT)] * 2, {"answer_from": 0.99}),
    "despair": (
        [reply(choose=2, sure=0.0, thought=THOUGHT)] * 2,
        {"ask_from": 0.99, "answer_from": 1.0},
    ),
    "two opinions": ([reply(choose=1), reply(choose=2)] * 2, {"detail": "both", "n": 2}),
}  # fmt: skip


@pytest.mark.slow
@for_each("sees", ["masked", "schema"])
@for_each("kind", REPLIES)
async def test_no_placeholder_reaches_a_person(space: KnowledgeGraph, kind: str, sees: str) -> None:
    replies, settings = REPLIES[kind]
    found = [
        outcome((await guided(space, question, replies, sees=sees, **settings))[0])
        for question in (GALILEO, AGENCIES, *QUESTIONS[::24])
    ]
    assert not [one for one in found if "hidden:" in repr(one).casefold()]


async def test_what_a_model_says_has_names_in_it(space: KnowledgeGraph) -> None:
    back, lack, despair = [
        outcome((await galileo(space, settings, **said))[0])
        for said, settings in (
            ({"choose": 1, "ask": "Is it {who} or {year}?", "between": [1, 2]}, {}),
            ({"thought": "Nothing of {who} and {planet}."}, {}),
            (
                {"choose": 2, "sure": 0.0, "thought": "Perhaps {who} in {year}."},
                {"ask_from": 0.99, "answer_from": 1.0},
            ),
        )
    ]

    assert isinstance(back, trace.Clarification) and back.question == "Is it Galileo or 1700?"
    assert isinstance(lack, trace.Refusal) and lack.reason == "Nothing of Galileo and Jupiter."
    assert isinstance(despair, trace.Refusal) and despair.reason.endswith(
        "Perhaps Galileo in 1700."
    )


async def test_the_question_has_placeholders_of_the_best_candidate(space: KnowledgeGraph) -> None:
    steps, named = await galileo(space, {"sees": "schema"}, choose=1)

    told = prompt_text(steps)
    assert (
        "1. SELECT DISTINCT ?moon WHERE {{ ?moon ont:discoverer {who} . ?moon ont:orbits {planet} "
        ". ?moon ont:discoveryYear ?year_of_discovery . FILTER(?year_of_discovery < {year}^^xsd"
    ).format(**named) in told
    assert re.search(rf"- hidden:e\d+ a ont:RoboticMission \| has .* \| for '{named['who']}'", told)


async def test_a_masked_query_is_run_on_the_things_that_it_means(space: KnowledgeGraph) -> None:
    query = "SELECT DISTINCT ?m {{ ?m ont:orbits {planet} ; ont:discoverer {who} }}"
    steps, _ = await galileo(space, {}, query=query)
    found = outcome(steps)
    assert isinstance(found, trace.Answer) and len(found.result.rows) == 4
    assert "Galileo Galilei" in found.words and "Jupiter" in found.words


async def test_where_nothing_may_be_seen_no_model_is_asked(space: KnowledgeGraph) -> None:
    steps, model = await guided(space, GALILEO, [], sees="nothing")
    assert model.requests == [] and not any(
        isinstance(s, trace.Prompt | trace.ModelTurn) for s in steps
    )
    own = [step async for step in GraphSearch().answer(trace.Question(GALILEO), [space])][-1]
    assert said(outcome(steps)) == said(own)


@for_each("sees", ["masked", "schema", "nothing"])
@for_each(
    ("wrong", "named"),
    ({"embedder": "http://localhost:1/v1"}, "embedder"),
    ({"others": {"dfsl": Dfsl(ScriptedModel([]))}}, "dfsl"),
)
def test_others_see_nothing_hidden_either(sees: str, wrong: Mapping[str, Any], named: str) -> None:
    with pytest.raises(SetupError, match=named):
        Guided(ScriptedModel([]), sees=sees, **wrong)  # type: ignore[arg-type]


def test_a_method_without_a_model_can_be_consulted_under_a_veil() -> None:
    assert Guided(ScriptedModel([]), sees="masked", others={"graph-search": GraphSearch()}).others


def said(step: trace.Step) -> tuple[str, object]:
    """The kind of an outcome, and the query of its answer."""
    assert isinstance(step, trace.Outcome)
    best = step if isinstance(step, trace.Answer) else step.best
    return type(step).__name__, best and best.query


RIVERS = """
@prefix ex: <http://{graph}.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:River rdfs:label "river" . ex:flowsTo rdfs:label "flows to" .
ex:r{graph}1 a ex:River ; rdfs:label "Blue {graph}" ; ex:flowsTo ex:r{graph}2 .
ex:r{graph}2 a ex:River ; rdfs:label "Green {graph}" ; ex:flowsTo ex:r{graph}3 .
ex:r{graph}3 a ex:River ; rdfs:label "Red {graph}" .
"""


async def test_things_of_two_graphs_that_share_a_prefix_are_hidden_in_both(tmp_path: Path) -> None:
    graphs = []
    for name in ("west", "east"):
        (tmp_path / f"{name}.ttl").write_text(RIVERS.format(graph=name))
        graphs.append(Workspace(tmp_path / "workspace").open(tmp_path / f"{name}.ttl"))
    model = ScriptedModel(lambda _: reply(query="SELECT ?r { ?r ex:flowsTo ?s }", sure=0.3))
    asked = trace.Question("Which river flows to Green east?")
    for detail in ("full", "both"):
        guided_by = Guided(model, sees="masked", detail=detail, turns=0)
        steps = [step async for step in guided_by.answer(asked, graphs)]
        assert "hidden:" not in repr(outcome(steps))
    for graph in graphs:
        await graph.endpoint.close()

    sent = " ".join(getattr(m, "text", "") for r in model.requests for m in r.messages)
    assert "ex2:flowsTo" in sent
    assert not re.search(r"r(west|east)\d|(Blue|Green|Red) ", sent)
