"""Record and replay: the same answers and errors, without the endpoint."""

from pathlib import Path

import pytest
from tests.servers import faults
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.recorded import RecordedEndpoint
from askgraph.errors import Overloaded, SetupError

ALL = "SELECT * { ?s ?p ?o }"


async def test_answers_and_errors_are_repeated_in_their_order(
    sparql_server: SparqlServer, tmp_path: Path
) -> None:
    inner = HttpEndpoint(sparql_server.url, retries=0)
    recorder = RecordedEndpoint(tmp_path / "r.jsonl", inner)
    rows = await recorder.select(ALL)
    sparql_server.acts.append(faults.status(503, "busy"))
    with pytest.raises(Overloaded):
        await recorder.select(ALL)
    triples = await recorder.construct("CONSTRUCT WHERE { ?s ?p ?o }", limit=5)
    truth = await recorder.ask("ASK { ?s ?p ?o }")
    await recorder.close()

    player = RecordedEndpoint(tmp_path / "r.jsonl")
    assert player.address == inner.address
    assert (await player.select(ALL)).rows == rows.rows
    with pytest.raises(Overloaded, match="busy"):
        await player.select(ALL)
    assert (await player.construct("CONSTRUCT WHERE { ?s ?p ?o }", limit=5)).triples == (
        triples.triples
    )
    assert await player.ask("ASK { ?s ?p ?o }") is truth
    await player.close()


async def test_a_query_that_was_not_recorded_is_named(
    sparql_server: SparqlServer, tmp_path: Path
) -> None:
    recorder = RecordedEndpoint(tmp_path / "r.jsonl", HttpEndpoint(sparql_server.url))
    await recorder.ask("ASK { ?s ?p ?o }")
    await recorder.close()
    player = RecordedEndpoint(tmp_path / "r.jsonl")
    with pytest.raises(SetupError, match=r"no answer to this SELECT query.*record it.*\?s \?p"):
        await player.select(ALL)


async def test_no_secret_is_written(
    sparql_server: SparqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("T_SECRET", "s3cr3t")
    inner = HttpEndpoint(sparql_server.url + "?k=s3cr3t", auth="bearer", token_env="T_SECRET")
    recorder = RecordedEndpoint(tmp_path / "r.jsonl", inner)
    await recorder.ask("ASK { ?s ?p ?o }")
    await recorder.close()
    assert "s3cr3t" not in (tmp_path / "r.jsonl").read_text()


def test_a_damaged_recording_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"address": "a"}\n{"form"\n')
    with pytest.raises(SetupError, match="line 2"):
        RecordedEndpoint(tmp_path / "r.jsonl")
    with pytest.raises(SetupError, match="cannot be read"):
        RecordedEndpoint(tmp_path / "none.jsonl")
