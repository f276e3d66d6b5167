"""What is wrong with a request is said in our words, whatever is wrong, wherever it is sent."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

FOREIGN = re.compile(
    r"pydantic|Input should|Field required|Extra inputs|String should|List should|Value error|"
    r"type=|loc\b.*msg|validation error|\bbody\.|string_|_parsing"
)
"""Words of the library that reads requests."""

WRONG: tuple[Any, ...] = (
    None, 7, 1.5, True, "", "text", "a\0b", "x" * 200_000, [], [7], [None], [[]], {},
    {"nonsense": 1}, {"": None}, -1, 10**12, [{}] * 600,
    "\ud83d", ["\ud83d"], {"\ud83d": 1}, [{"role": "user", "content": "\ud83d"}],
)  # fmt: skip
JSON = {"Accept": "application/json"}
PATH = {"graph": "space", "id": "none-such", "model": "nope", "verified": "none"}
Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def description(served: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx2.get(f"{served}/api/v1/openapi.json").json()
    return found


def operations(description: dict[str, Any]) -> Iterator[Operation]:
    """Every operation: its method, its address, what is said of it."""
    for path, methods in description["paths"].items():
        address = re.sub(r"\{(\w+)\}", lambda found: PATH.get(found[1], "none"), path)
        for method, said in methods.items():
            yield method.upper(), address, said


def bodies(said: dict[str, Any], schemas: dict[str, Any]) -> Iterator[bytes]:
    """Bodies that are wrong: no JSON, no object, unknown fields, fields of another kind."""
    content = said.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    yield from (b"", b"{", b"[]", b"null", b'"text"', b"7", b"\xff\xfe", b'{"a": 1, "a"}', b"{}")
    schema = schemas[content["schema"]["$ref"].rpartition("/")[2]]
    yield json.dumps({"nonsense": 1}).encode()
    for name in schema["properties"]:
        others = {one: _fitting(schema["properties"][one]) for one in schema.get("required", ())}
        for value in WRONG:
            yield json.dumps({**others, name: value}).encode()


def _fitting(schema: dict[str, Any]) -> Any:
    kinds = {"string": "x", "integer": 0, "number": 1, "boolean": False, "array": [], "object": {}}
    return kinds.get(schema.get("type", "string"), "x")


def is_in_our_words(response: httpx2.Response, address: str) -> bool:
    """Whether a reply is fine, or a problem in our form and words."""
    if response.status_code < 400:
        return True
    told = response.json()
    text = told["error"]["message"] if address.startswith("/v1/") else told["detail"]
    return response.status_code < 500 and not FOREIGN.search(response.text) and len(text) > 10


@pytest.mark.slow
def test_no_error_speaks_in_words_of_a_library(
    client: httpx2.Client, description: dict[str, Any]
) -> None:
    # No wrong body of any operation is told in words of a library.
    schemas, tried, refused = description["components"]["schemas"], 0, 0
    for method, address, said in operations(description):
        for body in bodies(said, schemas):
            kind = {"Content-Type": "application/json"}
            response = client.request(method, address, content=body, headers=kind)
            assert is_in_our_words(response, address), (method, address, body[:80], response.text)
            tried, refused = tried + 1, refused + (response.status_code >= 400)
    assert tried > 500 and refused > tried / 2
    # No wrong parameter is told in words of a library.
    refused = 0
    for method, address, said in operations(description):
        for one in said.get("parameters", []):
            for value in (
                ("", "x", "-1", "1e99", "x" * 3_000, "%00", "!") if method == "GET" else ()
            ):
                given = {one["name"]: value} if one["in"] == "query" else {}
                response = client.request(method, address, params=given, headers=JSON)
                assert is_in_our_words(response, address), (address, given, response.text)
                refused += response.status_code == 422
    assert refused > 30
    # A question that fails on the way has the status of its problem and is kept.
    response = client.post("/api/v1/ask", json={"question": "Which moons?", "timeout": 1e-6})
    assert response.status_code == 504 and "no answer within" in response.json()["detail"]
    kept = client.get(f"/api/v1/runs/{response.json()['run']}").json()
    assert (kept["state"], kept["problem"]["status"]) == ("failed", 504)


@for_each(
    ("body", "words"),
    (b"{", "the body is not JSON: expecting property name enclosed in double quotes"),
    (b"", "the body is missing: send a JSON object"),
    (b"[]", "the body must be an object, not a list"),
    (b"{}", "'question' is missing"),
    (b'{"question": ""}', "'question' is empty"),
    (b'{"question": " \\n"}', "the question is empty: ask, for example,"),
    (b'{"question": 7}', "'question' must be text, not 7"),
    (b'{"question": "\\ud83d"}', "'question' must be text without lone surrogates, not \""),
    (b'{"question": "a", "graphs": "space"}', "'graphs' must be a list, not \"space\""),
    (b'{"question": "a", "seconds": 0}', "'seconds' must be more than 0, not 0"),
    (b'{"question": "a", "language": "!"}', "must be a language tag such as en or de-AT"),
    (b'{"question": "a", "graph": "space"}', "there is no field 'graph'; the fields are quest"),
    (
        b'{"question": "a", "settings": {"beam": []}}',
        "'settings.beam' must be true or false, a whole number, a number or text, not a l",
    ),
)
def test_a_fault_says_where_it_is_and_what_to_send(
    client: httpx2.Client, body: bytes, words: str
) -> None:
    kind = {"Content-Type": "application/json"}
    response = client.post("/api/v1/ask", content=body, headers=kind)

    assert response.status_code == 422 and words in response.json()["detail"]


def test_faults_of_settings_name_the_setting(
    sample_place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match="'port' must be a whole number, not \"x\""):
        ServeSettings.from_folder(sample_place.folder, {"port": "x"})
    with pytest.raises(SetupError, match="no setting 'prt'; the settings are host, port"):
        ServeSettings.from_folder(sample_place.folder, {"prt": 1})
    monkeypatch.setenv("ASKGRAPH_SERVE_METHODS", "grasp")
    with pytest.raises(SetupError, match="ASKGRAPH_SERVE_METHODS must contain JSON"):
        ServeSettings.from_folder(sample_place.folder)


@for_each("value", ["x", [], {}, True, -1, 1e400, "x" * 10_000, None])
def test_no_wrong_setting_in_a_file_or_a_variable_is_told_in_words_of_a_library(
    value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = 0
    for name in ServeSettings.model_fields:
        monkeypatch.setenv(f"ASKGRAPH_SERVE_{name.upper()}", str(value))
        for given in ({name: value}, {}):
            try:
                ServeSettings.from_folder(tmp_path, given)
            except SetupError as error:
                assert not FOREIGN.search(str(error)) and name in str(error).lower(), (name, error)
                refused += 1
        monkeypatch.delenv(f"ASKGRAPH_SERVE_{name.upper()}")
    assert refused > 5


@for_each("accept", ["application/json", "text/event-stream"])
@for_each(
    ("body", "status", "words"),
    ({"method": "grasp"}, 422, "no language model is configured"),
    ({"method": "oracle"}, 422, "no method 'oracle' here; available: auto, dfsl"),
    ({"graphs": ["sky"]}, 404, "there is no graph 'sky'; available: space"),
    ({"settings": {"beam": "wide"}}, 403, "is not a setting of"),
    ({"settings": {"ranking": "/etc/passwd"}}, 403, "is not a setting of"),
    ({"settings": {"looks": "many"}}, 422, "looks"),
    ({"settings": {"looks": 10**9}}, 403, "at most"),
    ({"settings": {"a\0": 1}}, 422, "NUL"),
    ({"graphs": ["sp\0ce"]}, 422, "NUL"),
    ({"question": "Hi\0"}, 422, "NUL"),
    ({"before": ["forged"]}, 422, "before"),
    ({"model": "gpt"}, 403, "this server has no model 'gpt'"),
    ({"question": "  "}, 422, "the question is empty"),
    ({"after": "none-such"}, 404, "There is no question 'none-such'"),
    ({"session": "none-such"}, 404, "there is no session 'none-such'"),
)
def test_a_question_that_cannot_be_worked_on_is_refused_streamed_or_not(
    client: httpx2.Client,
    monkeypatch: pytest.MonkeyPatch,
    accept: str,
    body: dict[str, Any],
    status: int,
    words: str,
) -> None:
    monkeypatch.delenv("ASKGRAPH_MODEL", raising=False)
    asked = {"question": "Which moons orbit Mars?", **body}

    response = client.post("/api/v1/ask", json=asked, headers={"Accept": accept})

    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/problem+json")
    assert words in response.json()["detail"]
    assert client.get("/api/v1/runs").json()["runs"] == []  # nothing was begun


@pytest.mark.parametrize("path", ["/api/v1/socket", "/api/v1/sessions/abc/socket"])
def test_a_client_of_the_websocket_is_told_what_takes_its_place(
    client: httpx2.Client, path: str
) -> None:
    opening = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    response = client.get(
        path, headers={**opening, "Sec-WebSocket-Key": "AQIDBAUGBwgJCgsMDQ4PEA=="}
    )

    assert response.status_code == 410
    assert response.headers["content-type"] == "application/problem+json"
    assert "text/event-stream" in response.json()["detail"]


@for_each(
    ("method", "path", "status", "words"),
    ("GET", "/api/v1/nope", 404, "there is nothing at /api/v1/nope; /docs has all operations"),
    ("GET", "/v1/nope", 404, "there is nothing at /v1/nope; /docs has all operations"),
    ("GET", "/nope", 404, "there is nothing at /nope; /docs has all operations"),
    ("GET", "/api/v1/ask", 405, "/api/v1/ask accepts POST, not GET"),
    ("PUT", "/v1/models", 405, "/v1/models accepts GET, not PUT"),
)
def test_an_address_that_leads_nowhere_says_where_to_look(
    client: httpx2.Client, method: str, path: str, status: int, words: str
) -> None:
    response = client.request(method, path)

    assert response.status_code == status
    told = response.json()
    assert words in (told["error"]["message"] if path.startswith("/v1/") else told["detail"])


WRONG_FAULTS: tuple[Any, ...] = (7, -1, True, [], [7], {}, "", None, "a\0b", "x" * 150_000)
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def test_wrong_arguments_and_prompts(served: str) -> None:
    # No wrong argument of any tool is told in words of a library.
    refused = 0
    async with Client(f"{served}/mcp") as client:
        for tool in (await client.list_tools()).tools:
            names = list(tool.input_schema.get("properties", {}))
            for arguments in (
                {},
                {"nonsense": 1},
                *({one: it} for one in names for it in WRONG_FAULTS),
            ):
                found = await client.call_tool(tool.name, arguments)
                told = "".join(part.model_dump().get("text", "") for part in found.content)
                if found.is_error:
                    refused += 1
                    assert told.startswith(tool.name) and not FOREIGN.search(told), told
                    assert "Error executing" not in told
    assert refused > 150
    # A prompt that is none or lacks an argument is an error of the caller.
    async with Client(f"{served}/mcp") as client:
        with pytest.raises(MCPError, match="there is no prompt 'nope'; available: explore_graph"):
            await client.get_prompt("nope", {})
        with pytest.raises(MCPError, match="write_query: the argument 'question' is missing"):
            await client.get_prompt("write_query", {})


@for_each(
    ("body", "words"),
    (b"", "the message is not JSON"),
    (b"{", "the message is not JSON"),
    (b"[" * 100_000, "the message is not JSON, or is too deep"),
    (b"[]", "send one message at a time, for example"),
    (b"{}", "send one message at a time, for example"),
    (b'{"jsonrpc": "2.0", "id": 1}', "the message needs a 'method'"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', "the message needs a 'method'"),
    (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', "'id' must be text or a whole"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', "'params' must be an"),
)
def test_a_message_that_is_none_is_refused(served: str, body: bytes, words: str) -> None:
    response = httpx2.post(f"{served}/mcp", content=body, headers=HEADERS, timeout=600)

    assert response.status_code == 400 and words in response.json()["error"]["message"]
    assert not FOREIGN.search(response.text)
