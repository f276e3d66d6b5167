"""The reference pages say what the code says: every command, every public name, every setting."""

import dataclasses
import re
from pathlib import Path

import pytest
from tools import reference
from tools.reference import (
    commands_page,
    module_section,
    package_pages,
    prose,
    rest_page,
)

from askgraph import plugins
from askgraph.server.settings import ServeSettings
from askgraph.workspace.settings import GraphSettings

MODULE = '''"""Moons and what they orbit."""

from askgraph.graph import KnowledgeGraph

__all__ = ["EARTH", "KnowledgeGraph", "Moon", "orbits"]

EARTH = "Earth"
"""Where we are."""


class Moon:
    """A moon of *some* planet."""

    name: str
    """What it is called."""
    _hidden: int = 0

    @property
    def large(self) -> bool:
        """Whether it is larger than [ours]."""

    def _secret(self) -> None: ...


async def orbits(moon: Moon, /, *names: str, around: str = EARTH, **more: int | None) -> bool:
    """Whether it does; `<b>` stays.

        orbits(moon)  # *code* is left alone
    """
'''


@pytest.fixture
def section(tmp_path: Path) -> str:
    (tmp_path / "sky").mkdir()
    (tmp_path / "sky" / "moons.py").write_text(MODULE)
    return module_section(tmp_path / "sky" / "moons.py", tmp_path / "sky", level=1)


def test_a_module_is_described_by_its_public_names_in_the_order_of_all(section: str) -> None:
    assert [line for line in section.splitlines() if line.startswith("#")] == [
        "# `sky.moons` {#sky.moons}",
        "## `EARTH` {#sky.moons.EARTH}",
        "## `Moon` {#sky.moons.Moon}",
        "## `orbits` {#sky.moons.orbits}",
    ]
    assert "- `KnowledgeGraph`, from `askgraph.graph`" in section
    # A signature has every kind of argument.
    signature = section.split("async def ", 1)[1].split("\n```")[0]
    assert " ".join(signature.split()) == (
        "orbits( moon: Moon, /, *names: str, around: str = EARTH, **more: int | None, ) -> bool"
    )
    # A class shows public fields and methods only.
    shown = section.split("## `Moon`")[1].split("## `orbits`")[0]
    assert "name: str" in shown and "- `name`: What it is called." in shown
    assert "@property\ndef large(self) -> bool" in shown
    assert "_hidden" not in shown and "_secret" not in shown


def test_words_of_a_docstring_are_no_markup_but_its_code_is_code() -> None:
    assert prose("A *star*, `a*b`, <b> and [x].\n\n    a *b* <c>") == (
        "A \\*star\\*, `a*b`, \\<b> and \\[x].\n\n    a *b* <c>"
    )


def test_every_part_of_the_package_has_a_page_that_the_index_lists() -> None:
    pages = package_pages(reference.PACKAGE, leave_out={"cli"})
    parts = {
        path.name.removesuffix(".py")
        for path in reference.PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"cli", "__init__", "__main__"}

    assert set(pages) == parts | {"index"}
    assert [name for name in parts if f"]({name}.md)" not in pages["index"]] == []


def test_every_command_has_its_help() -> None:
    page = commands_page()

    assert page.count("\nUsage: askgraph") == page.count("\n## askgraph")
    for name in ("ask", "examples add", "finetune pairs"):
        assert f"\n## askgraph {name}\n\n```text\nUsage: askgraph {name} " in page


def test_every_setting_is_in_its_table_those_of_the_server_with_a_word_on_it() -> None:
    page = reference.settings_page()

    for field in dataclasses.fields(GraphSettings):
        assert f"\n| `{field.name}` | " in page
    assert "| `timeout` | `float` | `60.0` |" in page
    for name in ServeSettings.model_fields:
        assert re.search(rf"^\| `{name}` \| `.*` \| .+ \|$", page, re.MULTILINE), name


def test_every_method_has_its_settings() -> None:
    assert {name for name, *_ in reference.METHODS} == set(plugins.list_names("method"))
    headings = re.findall(r"^## (.+)$", reference.methods_page(), re.MULTILINE)
    shared = [heading for heading in headings if heading.endswith("Settings")]
    assert len(headings) - len(shared) == len(reference.METHODS)
    assert len(shared) == 4  # what several methods have in common


def test_an_operation_is_shown_with_its_parameters_body_and_answers() -> None:
    strings = {"type": "array", "items": {"type": "string"}}
    asked = {"question": {"type": "string"}, "graphs": {"anyOf": [strings, {"type": "null"}]}}
    body = {"schema": {"$ref": "#/components/schemas/Asked"}}
    operation = {
        "tags": ["asking"],
        "summary": "Ask a question.",
        "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
        "requestBody": {"content": {"application/json": body}},
        "responses": {"200": {"description": "The answer"}},
    }
    schemas = {"Asked": {"required": ["question"], "properties": asked}}
    page = rest_page({"paths": {"/ask": {"post": operation}}, "components": {"schemas": schemas}})

    assert "## asking\n\n### `POST /ask`\n\nAsk a question." in page
    assert "| `limit` | query | integer |  |" in page
    assert "Body, `application/json`: [Asked](#Asked)" in page
    assert "| `200` | The answer |  |" in page
    assert "### Asked {#Asked}" in page and "| `question` | string |  |" in page
    assert "| `graphs` | list of string or null, optional |  |" in page
