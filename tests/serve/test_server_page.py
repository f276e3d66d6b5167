"""What docs/server.md prints below its requests is what a server replies."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx2

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
ADDRESS = "http://127.0.0.1:8000"
AS_TABLE = " | python -m json.tool"
"""How the page makes JSON readable."""


def _requests() -> Iterator[tuple[str, list[str]]]:
    """The `curl` commands of the page with the lines below each."""
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for session in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *shown = session.rstrip("\n").split("\n")
            yield command, shown


def _asked(client: httpx2.Client, command: str) -> str:
    """Do what a `curl` command does, and return what it prints."""
    name, *words = shlex.split(command.removesuffix(AS_TABLE))
    assert name == "curl"
    headers: dict[str, str] = {}
    parameters: dict[str, str] = {}
    body, path = None, ""
    while words:
        match words.pop(0):
            case "-H":
                key, value = words.pop(0).split(": ", 1)
                headers[key] = value
            case "-d":
                body = words.pop(0)
            case "--data-urlencode":
                key, value = words.pop(0).split("=", 1)
                parameters[key] = value
            case "-s" | "-N" | "-G":
                pass
            case address:
                assert address.startswith(ADDRESS)
                path = address.removeprefix(ADDRESS)
    method = "GET" if body is None else "POST"
    reply = client.request(method, path, headers=headers, content=body, params=parameters or None)
    if command.endswith(AS_TABLE):
        return json.dumps(reply.json(), indent=4)
    return reply.text.replace("\r\n", "\n").rstrip("\n")


def _like(shown: list[str]) -> str:
    """A pattern for the page's lines: `…` stands for any text, a line of it for any lines."""
    lines = (".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in shown)
    return "\n".join(lines)


def test_the_requests_of_the_page_have_the_replies_that_it_shows(client: httpx2.Client) -> None:
    wrong = []

    for command, shown in _requests():
        printed = _asked(client, command)
        if not re.fullmatch(_like(shown), printed, re.DOTALL):
            wrong.append(f"$ {command}\n{printed}")

    assert len(list(_requests())) > 2 and not wrong, "\n".join(wrong)
