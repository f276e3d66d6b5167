"""What SPARQL-LLM retrieves for a question, and what its settings leave out."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tests.methods.moons_asked import ASKED, EX, EXAMPLES, GOOD, run, told

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import DatasetDescription
from askgraph.graph.examples import QueryExample
from askgraph.llm import estimate_input_tokens
from askgraph.llm.scripted import ScriptedModel
from askgraph.trace import PreviousQuestion, Question


@pytest.fixture
def moons(moons: KnowledgeGraph) -> KnowledgeGraph:
    return replace(moons, examples=EXAMPLES)


def test_a_description_is_shown_to_a_question_about_the_resource(moons: KnowledgeGraph) -> None:
    described = DatasetDescription("Dataset", "Moons", "All moons.", license="https://l.example/by")
    graph = replace(moons, descriptions=(described,))
    _, asking = run([GOOD], graph, question="Under which licence is this published?")
    _, other = run([GOOD], graph)
    assert "https://l.example/by" in told(asking) and "All moons." in told(asking)
    assert "https://l.example/by" not in told(other)


def test_a_split_may_say_that_a_question_is_about_the_resource(moons: KnowledgeGraph) -> None:
    parts = '{"steps": [], "classes": [], "entities": [], "intent": "resource"}'
    graph = replace(moons, descriptions=(DatasetDescription("Dataset", "Moons", "All moons."),))
    _, model = run([parts, GOOD], graph, question="Worum geht es hier?", decompose=True)
    assert "All moons." in told(model, 1)


@for_each(
    ("setting", "with_it", "without"),
    ({"shots": 0}, ["onto:Moon EXTRA"], ["orbit Mars"]),
    ({"classes": 0}, ["orbit Mars"], ["onto:Moon EXTRA"]),
    ({"names": False}, ["Shapes:"], ["Perhaps named"]),
    ({"without": "properties"}, ['onto:Moon  # "moon": 3 instances'], ["EXTRA", "onto:radius"]),
    ({"without": "ranges"}, ["onto:radius", "1821.6"], ["xsd:decimal", "{ a [ onto:Planet ] }"]),
    ({"without": "values"}, ["onto:radius", "xsd:decimal"], ["1821.6"]),
    ({"without": "order"}, ["onto:orbits"], []),
    ({"fraction": 0.5}, ["onto:Moon EXTRA"], ["onto:Planet EXTRA", "onto:code xsd"]),
)
def test_what_the_ablations_leave_out_is_not_in_the_prompt(
    moons: KnowledgeGraph, setting: dict[str, float], with_it: list[str], without: list[str]
) -> None:
    _, full = run([GOOD], moons)
    _, model = run([GOOD], moons, **setting)  # type: ignore[arg-type]
    assert [text for text in with_it if text not in told(model)] == []
    assert [text for text in without if text in told(model)] == []
    assert [text for text in without if text not in told(full)] == []


def test_as_published_each_sub_question_has_examples_and_each_class_its_shape(
    moons: KnowledgeGraph,
) -> None:
    both = {"Which", "What", "moon", "planet"}
    for steps, classes, number, shown in (
        (["What is the code of Mars?"], ["moon", "planets"], 1, both),
        ([], ["planet"], 1, {"Which", "planet"}),
        ([ASKED] * 3, ["moon"] * 3, 2, both),
        ([ASKED] * 4, ["moon"] * 4, 2, {"Which", "moon"}),  # of more than three, half as many
    ):
        split = json.dumps({"steps": steps, "classes": classes})
        _, model = run([split, GOOD, ""], moons, preset="paper", shots=number, classes=number)
        assert set(re.findall(r"^- (Wh\w+|\w+(?= \())", told(model, 1), re.MULTILINE)) == shown


def test_properties_come_by_frequency_or_by_their_names(moons: KnowledgeGraph) -> None:
    _, full = run([GOOD], moons)
    _, model = run([GOOD], moons, without="order")

    def at(request: ScriptedModel, text: str) -> int:
        return told(request).split("onto:Planet EXTRA")[1].index(text)

    assert at(full, "onto:code") < at(full, "^onto:orbits")
    assert at(model, "rdfs:label") > at(model, "^onto:orbits")


def test_examples_may_come_from_a_file_instead(moons: KnowledgeGraph, tmp_path: Path) -> None:
    query = EX + "ASK { ?m onto:orbits :Saturn }"
    other = {"id": "1", "lang": "en", "question": "Which moons orbit Saturn?", "sparql": query}
    (tmp_path / "questions.jsonl").write_text(json.dumps(other))

    _, model = run([GOOD], moons, examples=str(tmp_path / "questions.jsonl"))

    assert "orbit Saturn" in told(model) and "orbit Mars" not in told(model)
    with pytest.raises(SetupError, match="cannot read"):
        run([GOOD], moons, examples=str(tmp_path / "none.jsonl"))


def test_examples_are_found_by_meaning_with_an_embedder(moons: KnowledgeGraph) -> None:
    near, far = "What orbits Jupiter? Which moons?", "Which moons has Jupiter?"
    query = EX + "SELECT ?m { ?m onto:orbits :Jupiter }"
    graph = replace(moons, examples=(QueryExample(near, query), QueryExample(far, query)))
    split, paper = '{"steps": [], "classes": ["moons planets moon"]}', {"preset": "paper"}
    for embedder, shown, cls in (("hashed", near, "moon"), ("", far, "planet")):
        _, model = run([split, GOOD, ""], graph, embedder=embedder, shots=1, classes=1, **paper)
        assert re.findall(r"^- (.*?)(?: \(.*)?$", told(model, 1), re.MULTILINE)[-2:] == [shown, cls]


@pytest.mark.parametrize(("room", "most"), [(4_000, 5_000), (8_000, 9_000)])
def test_the_message_stays_below_its_bound(moons: KnowledgeGraph, room: int, most: int) -> None:
    many = tuple(
        QueryExample(f"Is thing {n} {'very ' * 30}large?", EX + f"ASK {{ ?x :is{n} :large }}")
        for n in range(200)
    )
    before = tuple(
        PreviousQuestion(f"Question {n}?", "SELECT * " + "{ ?a ?b ?c } " * 40) for n in range(20)
    )
    graph = replace(moons, examples=many)
    _, model = run([GOOD], graph, question=Question(ASKED, before=before), shots=200, room=room)

    assert most - 1_500 < estimate_input_tokens(model.requests[0]) <= most
    assert "Question 19?" in told(model) and "Question: Which moons orbit" in told(model)


@for_each(("settings", "number"), ({}, 10), ({"shots": 20}, 20))
def test_ten_classes_and_as_many_examples_are_shown_or_as_many_as_are_asked_for(
    local: KnowledgeGraph, settings: dict[str, Any], number: int
) -> None:
    query = "PREFIX onto: <http://example.org/onto#> SELECT ?m {{ ?m onto:orbits ?x }} LIMIT {}"
    long = "and say in many words what else there is to say of each of them, please, of all of them"
    examples = tuple(
        QueryExample(f"Which moons orbit planet {n} {long}?", query.format(1 + n))
        for n in range(60)
    )
    graph, alone = replace(local, examples=examples), {"decompose": False, "interpret": False}

    _, model = run([GOOD], graph, preset="paper", revisions=0, **{**alone, **settings})

    assert told(model).count("Which moons orbit planet") == number
    assert told(model).count("\nshape:") == 10
