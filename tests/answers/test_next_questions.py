"""Questions to ask next: each that is proposed has an answer, as one that follows."""

import json
import re
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph import api
from askgraph.answers.next_questions import propose_next_questions
from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path, questions_path
from askgraph.trace import Answer, Outcome, PreviousQuestion, Question, Refusal, Trace
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import stream_steps

QUESTIONS = [
    (one["question"], one["lang"])
    for line in questions_path().with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    if (one := json.loads(line))["sparql"]
]
BAD = re.compile(r"\bthe has |\d{4,}|[_/#]")


async def asked(
    text: str, graph: KnowledgeGraph, *before: PreviousQuestion, language: str | None = None
) -> Outcome:
    question = Question(text, language, before)
    async with aclosing(stream_steps(question, Workspace().method(), [graph])) as steps:
        return Trace(question, "graph-search", tuple([step async for step in steps])).outcome


async def proposed(text: str, language: str, graph: KnowledgeGraph) -> tuple[str, ...]:
    answer = await asked(text, graph, language=language)
    if not isinstance(answer, Answer):
        return ()
    before = PreviousQuestion(text, answer.query)
    return await propose_next_questions(
        answer, text, graph, lambda one: asked(one, graph, before), language=language
    )


@pytest.mark.slow
@for_each(("text", "language"), QUESTIONS[::9])
async def test_each_next_question_has_an_answer_and_reads_as_people_ask(
    text: str, language: str, space: KnowledgeGraph
) -> None:
    first = await asked(text, space, language=language)
    assert isinstance(first, Answer)

    found = await proposed(text, language, space)

    assert len(found) == len(set(found)) == 3
    for one in found:
        outcome = await asked(one, space, PreviousQuestion(text, first.query))
        assert isinstance(outcome, Answer) and not outcome.is_empty, one
        assert outcome.query != first.query
        assert not BAD.search(one)


@for_each(
    ("text", "language", "wanted"),
    ("Which dwarf planets are there?", "en", "Which of them has the greatest diameter?"),
    ("Which moons does Neptune have?", "en", "And Mars?"),
    ("Which launch sites are in Europe?", "en", "Show them on a map"),
    ("Which launch sites are in Europe?", "en", "How many launch sites are there per country?"),
    ("Wer entdeckte Uranus?", "de", "Und Neptun?"),
    ("¿Cuál es la masa de Saturno?", "es", "¿Y Marte?"),
    ("Quelles lunes orbitent Saturn ?", "fr", "Et Mars ?"),
)
async def test_they_go_on_from_what_the_answer_shows(
    text: str, language: str, wanted: str, space: KnowledgeGraph
) -> None:
    assert wanted in await proposed(text, language, space)


@pytest.mark.parametrize("text", ["Show the launch sites on a map", "Where are the launch sites?"])
async def test_a_map_that_was_asked_for_is_not_proposed(text: str, space: KnowledgeGraph) -> None:
    assert "Show them on a map" in await proposed("Which launch sites are there?", "en", space)
    assert "Show them on a map" not in await proposed(text, "en", space)


async def test_of_them_is_of_those_that_were_found_and_and_of_the_same_kind(
    space: KnowledgeGraph,
) -> None:
    found = await proposed("Which moons are larger than Mercury?", "en", space)
    assert "Which of them has the longest orbital period?" in found
    assert "And Mars?" not in found  # read as what orbits things that are larger than Mars


async def test_no_two_of_them_have_one_answer_and_one_stands_alone(space: KnowledgeGraph) -> None:
    for text in ("Which dwarf planets are there?", "How many moons are there per planet?"):
        first = await asked(text, space)
        assert isinstance(first, Answer)
        rows, alone = [], 0
        for one in await proposed(text, "en", space):
            outcome = await asked(one, space, PreviousQuestion(text, first.query))
            assert isinstance(outcome, Answer) and outcome.confidence >= 0.7
            rows.append(str(outcome.result.rows))
            alone += isinstance(await asked(one, space), Answer)
        assert len(rows) == len(set(rows)) == 3
        assert alone


async def test_the_best_known_thing_of_a_result_is_asked_about(space: KnowledgeGraph) -> None:
    found = await proposed("Which moons orbit Jupiter?", "en", space)
    assert "What is the year of discovery of Europa?" in found


@pytest.mark.parametrize(
    ("text", "word", "names"),
    [
        ("What is the population of Mars?", "population", {"diameter", "mass"}),
        ("What is the colour of Titan?", "colour", {"diameter"}),
    ],
)
def test_what_the_thing_has_is_offered_for_a_property_that_is_not_known(
    tmp_path_factory: pytest.TempPathFactory, text: str, word: str, names: set[str]
) -> None:
    place = tmp_path_factory.getbasetemp() / "nearest"
    found = api.ask(text, graph_path(), workspace=place).json()

    missing = found["missing"]
    assert isinstance(missing, list)
    assert missing[0]["words"] == word and names <= set(missing[0]["names"])
    for name in missing[0]["names"]:
        told = api.ask(text.replace(word, name), graph_path(), workspace=place).json()
        assert told["status"] == "answer" and told["rows"], name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Why is Pluto not a planet?",
            "The link between 'Pluto' and the rest of the question is not clear. For Pluto there "
            "is: year of discovery, discoverer, diameter and orbital period.",
        ),
        (
            "Which books are there?",
            "Nothing in the graph matches 'books'. It holds astronauts, robotic missions, crewed "
            "missions, scientists, moons and 17 more kinds of things.",
        ),
        (
            "What is the largest city in Texas?",
            "The link between 'largest' and the rest of the question is not clear.",
        ),
        (
            "Who taught Sagan to dance?",
            "The graph seems to hold nothing on 'taught'. The graph has names with 'Sagan', but "
            "nothing that links them as the question does.",
        ),
    ],
)
def test_a_refusal_says_what_the_graph_has(tmp_path: Path, text: str, reason: str) -> None:
    outcome = api.ask(text, graph_path(), workspace=tmp_path).outcome

    assert isinstance(outcome, Refusal) and outcome.reason == reason
    assert all(word.words not in word.names for word in outcome.missing)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "Which missions were launched in 1850?",
            "The graph has no missions launched in 1850. "
            "The earliest launch date is 4 October 1957.",
        ),
        (
            "How many astronauts were born in 2090?",
            "There are no astronauts born in 2090. The latest birth date is 19 September 1987.",
        ),
        (
            "Welche Astronauten wurden 1700 geboren?",
            "Nichts im Graphen passt auf: Astronauten mit Geburtsdatum im Jahr 1700. "
            "Frühester Wert von Geburtsdatum: 18. Juli 1921.",
        ),
    ],
)
def test_a_year_outside_all_values_has_none(tmp_path: Path, text: str, sentence: str) -> None:
    outcome = api.ask(text, graph_path(), workspace=tmp_path).outcome

    assert isinstance(outcome, Answer) and outcome.confidence > 0.9
    assert outcome.sentence == sentence


def test_another_graph_that_knows_the_words_is_offered(tmp_path: Path) -> None:
    file = tmp_path / "geo.ttl"
    file.write_text(
        "@prefix : <http://example.org/geo/> ."
        " @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ' :City rdfs:label "city"@en . :Texas rdfs:label "Texas"@en .'
        ' :Austin a :City ; rdfs:label "Austin"@en ; :in :Texas ; :population 961855 .'
    )
    workspace = Workspace(tmp_path / "workspace")
    for name, source in (("space", graph_path()), ("geo", file)):
        workspace.add(name, [source])
    for text, offered in (
        ("What is the largest city in Texas?", ("geo",)),
        ("What is the population of Mars?", ()),
        ("Which moons orbit Saturn?", ()),
    ):
        result = api.ask(text, "space", workspace=workspace.folder)
        assert result.outcome.other_graphs == offered, text
        assert result.json()["other_graphs"] == list(offered)
        hidden = replace(result.outcome, other_graphs=())
        assert hidden == workspace.offer_graphs(result.question, [], hidden, visible=[])


def test_words_that_nothing_is_near_to_are_named_without_an_offer(tmp_path: Path) -> None:
    found = api.ask("What is the capital of Mongolia?", graph_path(), workspace=tmp_path).json()

    assert found["status"] == "refusal"
    missing = found["missing"]
    assert missing == [{"words": "capital", "names": []}, {"words": "Mongolia", "names": []}]


def test_an_answer_lacks_nothing(tmp_path: Path) -> None:
    found = api.ask("Who discovered Titan?", graph_path(), workspace=tmp_path).json()
    assert found["missing"] == []
