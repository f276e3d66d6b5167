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
def test_a_question_is_answered_by_its_definitions(
    sales: Workspace, asked: dict[str, object]
) -> None:
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


@for_each(
    ("question", "column", "expected"),
    ("What is the average net revenue of customers in Germany?", 0, ["7301.727083333333333333"]),
    ("Which region has the most active customers?", 0, ["r-central"]),
    ("stock value by category", 1, ["16800", "19355", "19435", "23480", "26560"]),
    ("Net revenue of active customers", 0, ["58231.9125"]),
    ("How many products are there per category?", 1, ["3", "3", "3", "3", "3"]),
    ("Which products are not on sale?", 0, ["p11", "p16", "p19", "p3", "p6"]),
    ("How many discontinued products are there?", 0, ["5"]),
    ("Which products have a stock value over 10000?", 0, ["p5"]),
)
def test_definitions_combine_with_operators(
    sales: Workspace, question: str, column: int, expected: list[str]
) -> None:
    found = answer(sales, question).result
    cells = [plain(getattr(row[column], "value", "")) for row in found.rows]
    assert sorted(cell.rpartition("#")[2] for cell in cells) == expected


def test_no_query_reads_a_hidden_property(sales: Workspace) -> None:
    outcome = ask("What is the internal cost of the Oak Desk?", "sales", workspace=sales.folder)
    assert not isinstance(outcome.outcome, Answer)
    graph = sales.graph("sales")

    async def check() -> None:
        result = await graph.endpoint.select("SELECT ?p ?o { :p1 ?p ?o }")
        assert len(result.rows) == 6  # of seven
        described = await graph.endpoint.describe("DESCRIBE :p1")
        assert not any("internalCost" in str(triple) for triple in described.triples)
        for query in ("SELECT ?o { :p1 :internalCost ?o }", "ASK { ?s ^:internalCost ?o }"):
            with pytest.raises(QueryError, match="is hidden by the graph's glossary"):
                await graph.endpoint.select(query)
        await graph.endpoint.close()

    run_coroutine(check())


def test_a_row_rule_orders_and_limits_a_list(sales: Workspace) -> None:
    found = answer(sales, "Which sales people are there?")
    names = [found.labels[str(getattr(row[0], "value", ""))] for row in found.result.rows]
    assert found.ordered and set(names[:2]) == {"Marta Nowak", "Paolo Ricci"} and len(names) == 3


@for_each(
    ("text", "fault"),
    ('of = ":Basket"\npattern = "?this a :Basket"', "has no ':Basket'"),
    ('of = ":Product"\npattern = "?this :colour ?c"', "has :colour, which the graph lacks"),
    ('of = ":Product"\npattern = "?this :stock"', "the pattern of 'new' cannot be used"),
    ('of = ":Product"\npattern = "?x :stock ?n"', "has no [?]this"),
    ('of = ":Product"\nvalue = "1"', "by one of means"),
    ('of = ":Product"\npattern = "?this :stock 1"\naggregate = "mode"', "must be one of sum"),
    ('means = ":stock"\nsynonyms = ["net sales"]', "'net sales' is a word of both"),
    ('means = ":stock"\ntests = [{}]', "a test needs a 'question'"),
    ('means = ":stock"\nhidden = "yes"', "'hidden' must be true or false"),
)
def test_a_definition_that_cannot_hold_is_refused(sales: Workspace, text: str, fault: str) -> None:
    before = sales.load_glossary("sales")
    with pytest.raises(SetupError, match=fault):
        entries = parse_glossary(f'[[entry]]\nword = "new"\n{text}\n', "new.toml").entries
        sales.define("sales", *entries)
    assert sales.load_glossary("sales") == before


def test_tests_and_conflicts_of_definitions_are_told(
    sales: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(sales.folder))
    checked = CliRunner().invoke(app, ["examples", "check"])
    assert checked.exit_code == 0 and "8 examples: 8 same" in checked.output
    entry = ["define", "sales", "sold out", "--set=of=product", "--set=pattern=?this :onSale false"]
    told = CliRunner().invoke(app, entry)
    assert "the default filter 'products on sale' contradicts 'sold out'" in told.output
    shown = CliRunner().invoke(app, ["define", "sales"]).output
    assert "measure" in shown and "What a customer pays for an order line" in shown
    assert CliRunner().invoke(app, ["define", "sales", "sold out", "--remove"]).exit_code == 0
