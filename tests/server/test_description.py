"""The page that describes the REST API has every operation, and examples that work."""

import json
import re
import shlex
from typing import Any

import httpx2
import pytest
from tests.servers.curl import send_curl

from askgraph.server.page import build_example_request, describe_api

ADDRESS = "http://graphs.example"


@pytest.fixture(scope="module")
def openapi(served: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx2.get(f"{served}/api/v1/openapi.json").json()
    return found


def test_what_the_description_holds(openapi: dict[str, Any], served: str) -> None:
    # Every operation and every object is there.
    page = httpx2.get(f"{served}/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for path, methods in openapi["paths"].items():
        for method in methods:
            assert f'<span class="verb">{method.upper()}</span> <code>{path}</code>' in page.text
    ids = re.findall(r' id="([^"]+)"', page.text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page.text)) <= set(ids)  # no link leads nowhere
    # Nothing on it is a script or from elsewhere.
    text = httpx2.get(f"{served}/docs").text
    assert not re.search(r"<script(?! src=\"/assets/)|<style| style=| on\w+=", text)
    sources = re.findall(r'(?:src|<link[^>]*href)="([^"]+)"', text)
    assert sources and all(one.startswith(("/assets/", "data:")) for one in sources)
    # No text of a description becomes markup.
    said = {"description": "Evil `<b>`. <script>", "tags": ["<i>"], "responses": {"200": {}}}
    openapi = {"paths": {"/<b>": {"get": said}}, "components": {"schemas": {}}}
    text = describe_api(openapi, ADDRESS)
    assert "<script>" not in text and "<b>" not in text and "<i>" not in text


def test_requests_of_the_description(openapi: dict[str, Any], client: httpx2.Client) -> None:
    # The requests that it shows are understood.
    schemas, tried = openapi["components"]["schemas"], 0
    for path, methods in openapi["paths"].items():
        for method, said in methods.items():
            command = build_example_request(method.upper(), path, said, schemas, ADDRESS)
            if "files=@" in command or path.endswith("/events"):
                continue
            response = send_curl(client, command.replace("GRAPH", "space"), ADDRESS)
            text = response.text if response.status_code >= 400 else ""
            # An id of the example may be nobody's, and the graph's address none; all else holds.
            assert response.status_code < 500, (command, text)
            assert "must be" not in text and "is missing" not in text, (command, text)
            assert '"type":"urn:askgraph:problem:request"' not in text, (command, text)
            tried += response.status_code < 300
    assert tried > 25
    # Commands quote what they send.
    schema = {"properties": {"it": {"enum": ["it's"]}}, "required": ["it"]}
    body = {"content": {"application/json": {"schema": {"$ref": "#/x/It"}}}}
    command = build_example_request(
        "POST", "/a/{id}", {"requestBody": body}, {"It": schema}, ADDRESS
    )
    words = shlex.split(command)
    assert words[2] == f"{ADDRESS}/a/ID" or f"{ADDRESS}/a/ID" in words
    assert json.loads(words[-1]) == {"it": "it's"}
