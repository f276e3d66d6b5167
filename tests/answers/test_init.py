"""Answers are built with the labels of their rows; the reading that somebody chose is run."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import NamedNode
from tests.tool_graphs import opened_sample

import askgraph
from askgraph.answers import AnswerBuilder, answer_option
from askgraph.answers.codec import to_json_object, to_json_value
from askgraph.endpoint import CountingEndpoint
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Answer, Clarification, Option, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method, run_coroutine


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = opened_sample(tmp_path_factory.mktemp("choosing"))
    yield graph
    run_coroutine(graph.endpoint.close())


@pytest.fixture(scope="module")
def asked_back(space: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Clarification:
    method = Workspace(tmp_path_factory.mktemp("method")).method()
    question = Question("What is the population of Mars?")
    outcome = run_coroutine(ask_method(question, method, [space]))
    assert isinstance(outcome, Clarification)
    return outcome


def test_the_reading_that_was_chosen_is_run(
    space: KnowledgeGraph, asked_back: Clarification
) -> None:
    option = max(asked_back.options[:2], key=lambda one: one.count)

    answer = run_coroutine(answer_option(option, asked_back, space, languages=["en"]))

    assert len(answer.result.rows) == option.count == 2
    assert answer.chosen
    assert "Phobos" in answer.labels.values()
    assert answer.sentence == "Deimos and Phobos are the things that orbit Mars."
    assert answer.words == option.words and answer.evidence


def test_the_values_that_decided_stand_beside_the_rows(
    space: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory
) -> None:
    method = Workspace(tmp_path_factory.mktemp("context")).method()
    tables = {}
    for text in (
        "Which moons are larger than Mercury?",
        "Which agencies operated more than 20 missions?",
        "What are the two largest moons?",
        "Which moons orbit Mars?",
    ):
        answer = run_coroutine(ask_method(Question(text), method, [space]))
        assert isinstance(answer, Answer)
        assert answer.result.variables == answer.answer_columns
        context = answer.context
        assert to_json_object(answer)["context"] == {
            "columns": list(context.variables),
            "rows": [[to_json_value(term) for term in row] for row in context.rows],
        }
        tables[text] = {
            answer.labels[row[0].value]: [to_json_value(term) for term in row[1:]]
            for row in answer.table.rows
            if isinstance(row[0], NamedNode)
        }
    assert tables == {
        "Which moons are larger than Mercury?": {"Ganymede": [5268.2], "Titan": [5149.5]},
        "Which agencies operated more than 20 missions?": {
            "National Aeronautics and Space Administration": [94],
            "Soviet space program": [28],
        },
        "What are the two largest moons?": {"Ganymede": [5268.2], "Titan": [5149.5]},
        "Which moons orbit Mars?": {"Deimos": [], "Phobos": []},
    }


def test_a_thing_that_is_found_by_its_name_is_called_by_it(tmp_path: Path) -> None:
    file = tmp_path / "players.ttl"
    people = {"Ann Abt": "1960-05-01", "Bo Bay": "1971-02-03", "Cy Cole": "1982-11-12"}
    file.write_text(
        "@prefix : <https://players.example/> .\n"
        + "".join(
            f':p{at} a :Player ; :fullName "{name}" ; :birthDate "{day}" .\n'
            for at, (name, day) in enumerate(people.items())
        )
    )
    answer = askgraph.ask("What is the birth date of Bo Bay?", file, workspace=tmp_path).json()

    assert "fullName" in str(answer["sparql"])
    assert answer["words"] == "The birth date of Bo Bay."
    assert answer["sentence"] == "The birth date of Bo Bay is 1971-02-03."


def test_the_best_attempt_is_not_run_again(
    space: KnowledgeGraph, asked_back: Clarification
) -> None:
    best = asked_back.best
    assert best is not None
    option = Option(best.words, 1, best.query)

    answer = run_coroutine(answer_option(option, asked_back, space))

    assert answer == replace(best, confidence=1.0, chosen=True)


def test_a_reading_that_is_a_yes_or_no_is_asked(
    space: KnowledgeGraph, asked_back: Clarification
) -> None:
    option = Option("Is Mars a planet?", 1, "ASK { space:Mars a ont:Planet }")

    assert run_coroutine(answer_option(option, asked_back, space)).boolean is True


def test_all_rows_are_labelled_and_those_of_a_remote_graph_by_a_few_requests(
    space: KnowledgeGraph,
) -> None:
    query = "SELECT ?thing WHERE { ?thing rdfs:label ?label . FILTER(ISIRI(?thing)) }"
    result = run_coroutine(space.endpoint.select(query))
    counted = CountingEndpoint(space.endpoint)
    remote = replace(space, arrays=None, endpoint=counted)
    built, fetched = (
        run_coroutine(
            AnswerBuilder(graph, ["en"], evidence_rows=0).build_user_answer(query, result)
        )
        for graph in (space, remote)
    )

    iris, first = (
        [str(row[0]).strip("<>") for row in answer.result.rows[:limit]]
        for answer, limit in ((built, None), (fetched, 1_000))
    )
    assert len(iris) > 1_000 and set(iris) <= built.labels.keys()
    assert counted.requests <= 6 and set(first) <= fetched.labels.keys()
    labels = to_json_object(built, limit=10)["labels"]
    assert isinstance(labels, dict) and {*labels} == set(iris[:10])
