"""What the docs print below requests to the server is what it replies."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.servers.curl import send_curl

DOCS = Path(__file__).parents[2] / "docs"
ADDRESS = "http://127.0.0.1:8000"
AS_TABLE = " | python -m json.tool"  # how the page makes JSON readable


def _requests(page: str) -> Iterator[tuple[str, list[str]]]:
    """The `curl` commands of a page with the lines below each."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for session in re.split(r"^\$ (?=curl )", block, flags=re.M)[1:]:
            command, *shown = session.rstrip("\n").split("\n")
            yield command, shown


def _asked(client: httpx2.Client, command: str) -> str:
    """Do what a `curl` command does, and return what it prints."""
    reply = send_curl(client, command.removesuffix(AS_TABLE), ADDRESS)
    if command.endswith(AS_TABLE):
        return json.dumps(reply.json(), indent=4)
    return reply.text.replace("\r\n", "\n").rstrip("\n")


def _like(shown: list[str]) -> str:
    """A pattern for the page's lines: `…` stands for any text, a line of it for any lines."""
    lines = (".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in shown)
    return "\n".join(lines)


@pytest.mark.parametrize("page", ["server.md", "agents.md"])
def test_the_requests_of_a_page_have_the_replies_that_it_shows(
    page: str, client: httpx2.Client
) -> None:
    wrong = []

    for command, shown in _requests(page):
        printed = _asked(client, command)
        if not re.fullmatch(_like(shown), printed, re.DOTALL):
            wrong.append(f"$ {command}\n{printed}")

    assert list(_requests(page)) and not wrong, "\n".join(wrong)
