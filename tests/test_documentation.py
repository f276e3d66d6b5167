"""What the README and the pages in docs/ say is so: their Python runs, their lists are complete."""

import ast
import dataclasses
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from typer.testing import CliRunner

import askgraph
from askgraph import sample
from askgraph.answers.codec import to_json_object
from askgraph.cli import COMMANDS, GROUPS, app
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import Guided
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.methods.tools import TOOL_SETS
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
        [sys.executable, "-"], input="\n".join(blocks), cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip

    assert blocks and done.returncode == 0, done.stderr


def test_the_cells_of_a_notebook_run_and_show_what_they_promise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    names: dict[str, Any] = {}
    shown: list[Any] = []
    for cell in json.loads(_text("examples/moons.ipynb"))["cells"]:
        if cell["cell_type"] == "code":
            *statements, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(statements, []), "cell", "exec"), names)
            assert isinstance(last, ast.Expr) and cell["outputs"] == []
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))

    moons, rows, europa, types, mars, _ = shown
    assert "Ganymede" in moons._repr_html_() and "Galileo" in europa.sentence
    assert len(rows) == 5 and not mars.answered and "datetime64[s]" in map(str, types)


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


def _fields(settings: type) -> set[str]:
    return {field.name for field in dataclasses.fields(settings)}


@for_each(
    ("page", "heading", "names"),
    [
        ("how-it-works", "### Rank", set(FEATURES)),
        ("how-it-works", "### Decide", EVIDENCE),
        ("python", "## The settings of graph search", _fields(GraphSearch)),
        ("endpoints", "## Settings", _fields(GraphSettings)),
        ("server", "## Settings", set(ServeSettings.model_fields)),
        ("agents", "## Settings of `grasp`", _fields(Grasp)),
        ("agents", "## Settings of `graf-von-data`", _fields(GrafVonData)),
        ("retrieval", "## Settings of `sparql-llm`", _fields(SparqlLlm)),
        ("retrieval", "## Settings of `dfsl`", _fields(Dfsl)),
        ("guided", "## Settings of `guided`", _fields(Guided)),
        ("multi-stage", "## Settings of `multi-stage`", _fields(MultiStage)),
        ("agents", "## Tools", TOOL_SETS.keys()),
        ("command-line", "### The JSON object", to_json_object(Refusal("none")).keys()),
    ],
)
def test_a_table_explains_all_that_there_is(page: str, heading: str, names: set[str]) -> None:
    rows = _rows(f"docs/{page}.md", heading)

    assert set(re.findall(r"`(\w+)`", " ".join(row[0] for row in rows))) == names


def test_each_part_of_a_paper_has_a_setting_and_a_test_that_is_there() -> None:
    section = _text("docs/reproductions.md").split("## As published\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    parts = [row for row in cells if row[0] != "section" and len(row) == 3]
    assert len(parts) > 60 and all(map(all, parts))
    # The counts are those of the tables, and of what `askgraph methods NAME` prints.
    tables = re.split("^[|] section .*", section, flags=re.MULTILINE)[1:]
    plugins: tuple[Any, ...] = (Grasp, Dfsl, SparqlLlm, MultiStage, GrafVonData)
    counts = dict(zip(plugins, tables, strict=True))
    for plugin, row in zip(counts, _rows("docs/reproductions.md", "## As published"), strict=True):
        lines = re.findall(r"^[|] ([^|]*) [|]", counts[plugin], re.MULTILINE)
        declared = sum(line.endswith("†") for line in lines)
        differences = len(plugin.published.differences)
        assert [*map(int, row[1:])] == [len(lines), len(lines) - declared, declared, differences]
    for *_, test in parts:
        file, _, name = test.strip("`").partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {name}(" in text, test


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


GLOSSARY = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `([\w.]+)` \|$", _text("docs/glossary.md"), flags=re.MULTILINE
)


@for_each(("term", "place"), GLOSSARY)
def test_a_term_is_defined_where_the_glossary_says(term: str, place: str) -> None:
    module, _, name = place.rpartition(".")
    if not name[0].isupper():
        import_module(place)
    else:
        assert getattr(import_module(module), name)


def test_each_term_of_the_glossary_stands_once_and_in_order() -> None:
    terms = [term for term, _ in GLOSSARY]
    assert len(terms) > 40
    assert terms == sorted(set(terms))
