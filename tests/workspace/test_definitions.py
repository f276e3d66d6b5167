"""Definitions of a sales graph answer questions without a model, and are checked and explained."""

import itertools
import json
from pathlib import Path

import pytest
from tests.each import for_each
from typer.testing import CliRunner

from askgraph import ask
from askgraph.cli import app
from askgraph.errors import QueryError, SetupError
from askgraph.graph.glossary import format_turtle_glossary, parse_glossary, parse_turtle_glossary
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

DATA = Path(__file__).parent / "sales"
DEFINITIONS = (DATA / "definitions.toml").read_text(encoding="utf-8")
QUESTIONS = [json.loads(line) for line in (DATA / "questions.jsonl").read_text().splitlines()]
NAMES = {
    "net revenue": "Nettoumsatz",
    "active customer": "aktiver Kunde",
    "our home market": "unser Heimatmarkt",
}


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(tmp_path_factory.mktemp("sales"))
    workspace.add("sales", [DATA / "sales.ttl"])
    workspace.define("sales", *parse_glossary(DEFINITIONS, "definitions.toml").entries)
    return workspace


def answer(place: Workspace, question: str, language: str = "en") -> Answer:
    outcome = ask(question, "sales", workspace=place.folder, language=language).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome


def rows_of(result: SelectResult, columns: int) -> list[list[tuple[str, ...]]]:
    """The rows, sorted, for each choice of columns; numbers without trailing zeros."""
    rows = [[plain(getattr(cell, "value", "")) for cell in row] for row in result.rows]
    orders = itertools.permutations(range(len(result.variables)), columns)
    return [sorted(tuple(row[at] for at in order) for row in rows) for order in orders]


def plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if text.replace(".", "").isdigit() and "." in text else text


@for_each("asked", QUESTIONS)
def test_a_question_is_answered_by_its_definitions(sales: Workspace, asked: dict[str, object]) -> None:
    found = answer(sales, str(asked["question"]), str(asked["lang"]))
    expected = sorted(tuple(map(plain, row)) for row in asked["rows"])  # type: ignore[attr-defined]
    assert expected in rows_of(found.result, int(str(asked["columns"]))), found.query
    assert "internalCost" not in found.query and "urn:" not in found.query
    for name in asked["uses"]:  # type: ignore[attr-defined]
        assert (NAMES[name] if asked["lang"] == "de" else name) in found.words


def test_definitions_go_from_toml_to_turtle_and_back(sales: Workspace) -> None:
    glossary = sales.load_glossary("sales")
    prefixes = PrefixMap({"": "http://example.org/sales#"})
    turtle = format_turtle_glossary(glossary, prefixes)
    assert 'sh:select "SELECT ?this (SUM(?stock * ?listPrice) AS ?value) WHERE {' in turtle
    assert parse_turtle_glossary(turtle, "out.ttl") == glossary
