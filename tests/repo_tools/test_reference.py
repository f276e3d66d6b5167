"""The reference pages say what the code says: every command, every setting."""

import dataclasses
import re

from tools import reference
from tools.reference import commands_page, prose, rest_page

from askgraph import plugins
from askgraph.server.settings import ServeSettings
from askgraph.workspace.settings import GraphSettings


def test_words_of_a_docstring_are_no_markup_but_its_code_is_code() -> None:
    assert prose("A *star*, `a*b`, <b> and [x].\n\n    a *b* <c>") == (
        "A \\*star\\*, `a*b`, \\<b> and \\[x].\n\n    a *b* <c>"
    )


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
