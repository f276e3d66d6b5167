"""What an answer is compared with, over HTTP: runners-up, and the place of a number."""

from pathlib import Path
from typing import Any

from tests.each import for_each
from tests.servers.served import ServedThread, Visitor
from tests.servers.sparql import SparqlServer

from askgraph.workspace import Workspace


def context_of(client: Visitor, question: str) -> dict[str, Any]:
    run = client.ask(question)
    context: dict[str, Any] = client.get(f"/api/v1/runs/{run['id']}/context").json()
    return context


def rows_of(context: dict[str, Any]) -> str:
    return ", ".join(
        f"{'*' * row['is_answer']}{'=' * row['is_joint']}{row['rank']} {row['entity']['label']}"
        for row in context["ranking"]
    )


SUPERLATIVES = {
    "Which moon of Saturn is the largest?": "*1 Titan, 2 Rhea, 3 Iapetus, 4 Dione, 5 Tethys",
    "What is the smallest planet?": "*1 Mercury, 2 Mars, 3 Venus, 4 Earth, 5 Neptune",
    "Which planets are the three largest?": "*1 Jupiter, *2 Saturn, *3 Uranus, 4 Neptune, 5 Earth, "
    "6 Venus, 7 Mars",
    "Which planet has the most moons?": "*1 Saturn, 2 Jupiter, =3 Neptune, =3 Uranus, 5 Mars",
    "When was the first crewed mission?": "*1 Vostok 1, 2 Mercury-Redstone 3, "
    "3 Mercury-Redstone 4, 4 Vostok 2, 5 Mercury-Atlas 6",
}
NUMBERS = {
    "What is the mass of Mars?": ("1 Jupiter, 6 Venus, *7 Mars, 8 Mercury", "planet", 8, "kg"),
    "How many moons does Saturn have?": ("*1 Saturn, 2 Jupiter, 6 Earth", "planet", 6, None),
    "How big is Titan?": ("1 Ganymede, *2 Titan, 3 Callisto, 42 Dimorphos", "moon", 42, "km"),
}


@for_each("question, ranking", SUPERLATIVES.items())
def test_a_superlative_has_its_runners_up(client: Visitor, question: str, ranking: str) -> None:
    context = context_of(client, question)
    assert rows_of(context) == ranking
    assert context["class"] is None and all(row["value"] for row in context["ranking"])


@for_each("question, expected", NUMBERS.items())
def test_a_number_of_one_thing_has_its_place_in_the_class(
    client: Visitor, question: str, expected: tuple[Any, ...]
) -> None:
    context = context_of(client, question)
    cls = context["class"]["label"]
    assert (rows_of(context), cls, context["total"], context["unit"]) == expected


@for_each(
    "question",
    "Which moons orbit Mars?",
    "Show the first five planets sorted by name.",
    "Who was the commander of Apollo 11?",
    "How many planets are there?",
    "Is Titan a moon?",
    "What is the population of Mars?",
)
def test_other_answers_are_compared_with_nothing(client: Visitor, question: str) -> None:
    assert context_of(client, question) == {
        "ranking": [], "unit": None, "class": None, "total": None, "left_out": None
    }  # fmt: skip


@for_each(
    "question, left_out",
    ("How many moons are there for each discoverer?", 19),
    ("How many moons of Saturn are there for each discoverer?", 7),
    ("How many missions per launch site?", 0),
    ("How many missions were launched each year?", None),
)
def test_a_count_for_each_value_says_how_many_things_have_none(
    client: Visitor, question: str, left_out: int
) -> None:
    assert context_of(client, question)["left_out"] == left_out


def test_an_endpoint_is_asked_for_both_and_its_labels_are_in_the_language(
    tmp_path: Path, sample_endpoint: SparqlServer
) -> None:
    workspace = Workspace(tmp_path)
    workspace.add("far", [sample_endpoint.url])
    with ServedThread(workspace) as server, Visitor(server.url) as client:
        largest = context_of(client, "Which moon of Saturn is the largest?")
        assert rows_of(largest) == SUPERLATIVES["Which moon of Saturn is the largest?"]
        mass = context_of(client, "What is the mass of Mars?")
        assert rows_of(mass) == NUMBERS["What is the mass of Mars?"][0] and mass["total"] == 8
        run = client.ask("What is the mass of Mars?")
        german = {"language": "de"}
        context = client.get(f"/api/v1/runs/{run['id']}/context", params=german).json()
        assert context["ranking"][-1]["entity"]["label"] == "Merkur"
