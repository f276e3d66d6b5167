"""The log of what is sent to model servers: all of it, before it goes out, and no key."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.servers import faults
from tests.servers.llm import LlmServer

from askgraph import plugins
from askgraph.errors import ServiceError, SetupError
from askgraph.llm import LanguageModel, Message, System, User, read_completion

ASKED: list[Message] = [System("Answer in German."), User("What orbits the Earth? “Größe”")]


def model_at(server: LlmServer, name: str, log: Path) -> LanguageModel:
    base = server.base + {"openai": "/v1"}.get(name, "")
    plugin = plugins.load("llm", name)
    model: LanguageModel = plugin("m", base_url=base, key_env="THE_KEY", sent=log)
    return model


async def ask(model: LanguageModel) -> None:
    try:
        await read_completion(model.complete(ASKED))
    finally:
        await model.close()


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "secret-of-the-owner")


@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
async def test_the_log_has_each_body_as_the_server_got_it_and_no_key(
    llm_server: LlmServer, tmp_path: Path, name: str
) -> None:
    log = tmp_path / "logs" / "sent.jsonl"
    log.parent.mkdir()
    log.touch(mode=0o644)

    await ask(model_at(llm_server, name, log))
    await ask(model_at(llm_server, name, log))

    bodies = [request.body for request in llm_server.requests]
    assert len(bodies) == 2
    assert [line["body"].encode() for line in lines(log)] == bodies
    assert [line["bytes"] for line in lines(log)] == list(map(len, bodies))
    assert all(line["address"].startswith(llm_server.base) for line in lines(log))
    assert not any("?" in line["address"] for line in lines(log))
    assert "secret-of-the-owner" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_what_was_sent_in_vain_is_logged_too(llm_server: LlmServer, tmp_path: Path) -> None:
    llm_server.always = faults.status(503)
    log = tmp_path / "sent.jsonl"

    with pytest.raises(ServiceError):
        await ask(model_at(llm_server, "openai", log))

    assert len(lines(log)) == 1


async def test_what_cannot_be_logged_is_not_sent(llm_server: LlmServer, tmp_path: Path) -> None:
    log = tmp_path / "sent.jsonl"
    model = model_at(llm_server, "openai", log)
    log.unlink()
    log.mkdir()

    with pytest.raises(SetupError, match="cannot be logged"):
        model_at(llm_server, "openai", tmp_path)
    with pytest.raises(SetupError, match="cannot be logged"):
        await ask(model)

    assert llm_server.requests == []
