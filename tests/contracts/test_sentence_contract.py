"""The result as a sentence is the same by every way of asking, in all four languages."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from openai import OpenAI
from tests.each import for_each
from tests.server.mcp.conftest import Agents
from tests.servers.served import ServedThread, sample_workspace
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.server.openai.answers import escape_markdown
from askgraph.workspace import Workspace

OWN = {
    "en": ("Which moons are larger than Mercury?", "Is Titan larger than Mercury?"),
    "de": ("Welche Planeten haben Monde?", "Wie viele Monde hat Saturn?"),
    "fr": ("Combien de moons ?", "Quel est le diameter de Mars ?"),
    "es": ("¿Qué planetas tienen lunas?", "¿Cuántas lunas tiene Saturno?"),
}
"""Questions beside the starters; the graph has no names in French."""
STARTERS = 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return sample_workspace(tmp_path_factory.mktemp("space"))


@pytest.fixture(scope="module")
def url(place: Workspace) -> Iterator[str]:
    with ServedThread(place) as server:
        yield server.url


def by_cli(place: Workspace, question: str, language: str) -> tuple[dict[str, Any], str]:
    environment = {"ASKGRAPH_WORKSPACE": str(place.folder), "COLUMNS": "2000"}
    asked = ["ask", question, "--lang", language]
    told = CliRunner().invoke(app, [*asked, "--json"], env=environment)
    return json.loads(told.stdout), CliRunner().invoke(app, asked, env=environment).stdout


async def by_mcp(place: Workspace, question: str, language: str) -> dict[str, Any]:
    agents = Agents(place)
    asked = {"question": question, "language": language, "detail": True}
    async with agents.client("space") as client:
        result = await client.call_tool("ask", asked)
    agents.close()
    assert result.structured_content is not None
    return dict(result.structured_content)


def by_chat(url: str, question: str, language: str) -> str:
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        reply = client.chat.completions.create(
            model="askgraph",
            messages=[{"role": "user", "content": question}],
            extra_body={"language": language},
        )
    return reply.choices[0].message.content or ""


@for_each("language", OWN)
async def test_the_sentence_is_the_same_by_every_way_of_asking(
    place: Workspace, url: str, language: str
) -> None:
    path = f"{url}/api/v1/graphs/space/starters"
    found = httpx2.get(path, params={"language": language}, timeout=600).json()["questions"]
    answered = 0
    for question in (*OWN[language], *found[:STARTERS]):
        body = {"question": question, "language": language}
        rest = httpx2.post(f"{url}/api/v1/ask", json=body, timeout=600).json()["answer"]
        told, shown = by_cli(place, question, language)
        agent, chat = await by_mcp(place, question, language), by_chat(url, question, language)
        assert rest["status"] == told["status"] == agent["status"], question
        if rest["status"] != "answer":
            continue
        sentence = rest["sentence"]
        assert sentence and told["sentence"] == sentence, question
        assert sentence in " ".join(shown.split()) and agent["message"] == sentence, question
        assert chat.startswith(f"**{escape_markdown(sentence, 1_000)}**"), question
        answered += 1
    assert answered >= len(OWN[language])
