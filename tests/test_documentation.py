"""What the README and the pages in docs/ say is so: their Python runs, their lists are complete."""

import dataclasses
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.each import for_each
from typer.testing import CliRunner

import askgraph
from askgraph import sample
from askgraph.answers.codec import answer_object
from askgraph.cli import COMMANDS, GROUPS, app
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import Guided
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.methods.tools import SETS
from askgraph.search.decide import EVIDENCE
from askgraph.search.rank import FEATURES
from askgraph.server.settings import ServeSettings
from askgraph.trace import Refusal
from askgraph.workspace.settings import GraphSettings

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "docs/python.md",
    "docs/how-it-works.md",
    "docs/evaluation.md",
    "docs/language-models.md",
    "docs/indices.md",
    "docs/metadata.md",
    "docs/validation.md",
)


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = _text(page).split(f"\n{heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@for_each("page", PAGES)
def test_the_python_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", _text(page), re.DOTALL)
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))

    done = subprocess.run(
        [sys.executable, "-"],
        input="\n".join(blocks),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert blocks and done.returncode == 0, done.stderr


def _short(result: askgraph.Result) -> str:
    """An answer as the README's tables give it: its values, or their number where they are many."""
    answer = result.json()
    if answer["status"] != "answer":
        return f"`{answer['status']}`"
    columns, labels, rows = answer["columns"], answer["labels"], answer["rows"]
    assert isinstance(columns, list) and isinstance(labels, dict) and isinstance(rows, list)
    if len(rows) > 3:
        return f"{len(rows)} rows"
    wanted = [columns.index(column) for column in answer["answer_columns"]]  # type: ignore[attr-defined]
    cells = [" · ".join(_cell(row[at], labels) for at in wanted) for row in rows]
    return ", ".join(cells if answer["ordered"] else sorted(cells))


def _cell(value: object, labels: dict[str, str]) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float() | int():
            return f"{value:.10g}"
        case _:
            return labels.get(str(value), str(value))


@for_each(
    ("page", "question", "answer"),
    [
        (page, row[-2], row[-1])
        for page, heading in (
            ("README.md", "## Questions it understands"),
            ("docs/questions.md", "## By example"),
            ("docs/questions.md", "## When it does not know"),
        )
        for row in _rows(page, heading)
    ],
)
def test_a_question_of_the_docs_has_the_answer_given_there(
    page: str, question: str, answer: str, workspace: Path
) -> None:
    result = askgraph.ask(question, sample.graph_path(), workspace=workspace)

    assert _short(result) == answer


def test_every_weight_is_explained() -> None:
    said = {row[0].strip("`") for row in _rows("docs/how-it-works.md", "### Rank")}
    rows = _rows("docs/how-it-works.md", "### Decide")
    sure = {name.strip("`") for row in rows for name in row[0].split(", ")}

    assert said == set(FEATURES)
    assert sure == EVIDENCE


def test_every_setting_is_explained() -> None:
    method = {
        row[0].strip("`") for row in _rows("docs/python.md", "## The settings of graph search")
    }
    graph = re.findall(
        r"`(\w+)`", " ".join(row[0] for row in _rows("docs/endpoints.md", "## Settings"))
    )

    assert method == {field.name for field in dataclasses.fields(GraphSearch)}
    assert set(graph) == {field.name for field in dataclasses.fields(GraphSettings)}


@for_each(
    "page, name, method",
    [
        ("agents", "grasp", Grasp),
        ("agents", "graf-von-data", GrafVonData),
        ("retrieval", "sparql-llm", SparqlLlm),
        ("retrieval", "dfsl", Dfsl),
        ("guided", "guided", Guided),
        ("multi-stage", "multi-stage", MultiStage),
    ],
)
def test_every_setting_of_the_methods_with_a_model_is_explained(
    page: str, name: str, method: type
) -> None:
    rows = _rows(f"docs/{page}.md", f"## Settings of `{name}`")

    said = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows))
    assert set(said) == {field.name for field in dataclasses.fields(method)}


def test_each_part_of_a_paper_has_a_setting_and_a_test_that_is_there() -> None:
    section = _text("docs/reproductions.md").split("## As published\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    parts = [row for row in cells if row[0] != "section"]

    assert len(parts) > 60 and all(len(row) == 3 and all(row) for row in parts)
    for *_, test in parts:
        file, _, name = test.strip("`").partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {name}(" in text, test


def test_every_setting_of_the_server_is_explained() -> None:
    rows = _rows("docs/server.md", "## Settings")

    said = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows))
    assert set(said) == set(ServeSettings.model_fields)


def test_every_set_of_tools_is_explained() -> None:
    assert {row[0].strip("`") for row in _rows("docs/agents.md", "## Tools")} == SETS.keys()


def test_every_key_of_the_answer_object_is_explained() -> None:
    rows = _rows("docs/command-line.md", "### The JSON object")
    said = set(re.findall(r"`(\w+)`", " ".join(row[0] for row in rows)))

    assert said == answer_object(Refusal("none")).keys()


def test_every_command_and_option_is_named() -> None:
    page = _text("docs/command-line.md")

    assert [name for name in (*COMMANDS, *GROUPS) if f"## `{name}`" not in page] == []
    groups = {name: getattr(import_module(f"askgraph.cli.{name}"), name) for name in GROUPS}
    below = [
        f"{name} {command.name}"
        for name, group in groups.items()
        for command in group.registered_commands
    ]
    for name in (*COMMANDS, *below):
        help_text = CliRunner().invoke(app, [*name.split(), "--help"]).stdout
        options = set(re.findall(r"--[a-z-]+", help_text.split("Options:", 1)[1]))
        assert [option for option in options if option not in page] == [], name


def test_links_between_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]

    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
