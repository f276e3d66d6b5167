"""`askgraph index build --on`: indices in a PostgreSQL, filled by one process or by several."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.each import for_each
from tests.graphs import MOONS
from typer.testing import CliRunner, Result

from askgraph.cli import app
from askgraph.index._server import BATCH_SIZE, PASSWORD_VARIABLE
from askgraph.workspace import Workspace

EX = "http://example.org/"
NOWHERE = "postgresql://me@127.0.0.1:1/names"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    place = Workspace(tmp_path / "workspace")
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(place.folder))
    (tmp_path / "moons.ttl").write_text(MOONS)
    place.add("moons", [tmp_path / "moons.ttl"])
    return place


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["index", *map(str, arguments)])


def dump(path: Path, count: int) -> Path:
    with path.open("w") as file:
        for at in range(count):
            label = f'<http://www.w3.org/2000/01/rdf-schema#label> "thing {at}"'
            file.write(f"<{EX}t{at}> {label} .\n")
    return path


def asked(address: str, work: Callable[[Any], Any]) -> Any:
    async def answered() -> Any:
        connection = await asyncpg.connect(address, password=os.environ[PASSWORD_VARIABLE])
        try:
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(answered())


def names(address: str, workspace: Workspace) -> list[tuple[str, str]]:
    """The names that the table of the entities holds, and of what."""
    note = json.loads(
        (workspace.get_data_folder("moons") / "indices/entities/index.json").read_text()
    )
    assert note["index"]["settings"]["on"] == address

    async def rows(connection: Any) -> Any:
        table = await connection.fetchval(
            "SELECT tablename FROM pg_tables WHERE tablename ~ '^moons_entities_[0-9a-f]+$'"
        )
        found = await connection.fetch(f'SELECT iri, name FROM askgraph."{table}"')
        return sorted((row["iri"], row["name"]) for row in found)

    found: list[tuple[str, str]] = asked(address, rows)
    return found


def test_indices_in_a_database(
    index_database: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A graph is searched in a database.
    built = run("build", "--on", index_database, "--json")
    assert [
        (one["kind"], one["items"], one["bytes"] > 10_000, one["problem"])
        for one in json.loads(built.stdout)
    ] == [
        ("postgresql", 7, True, None),
        ("postgresql", 5, True, None),
        ("postgresql", 2, True, None),
    ]
    assert json.loads(run("search", "jupitre", "--json").stdout)[0]["label"] == "Jupiter"
    assert (
        json.loads(run("search", "jup", "--in", "literals", "--json").stdout)[0]["iri"] == '"JUP"'
    )
    assert run("info").exit_code == 0 and workspace.graphs()["moons"].on == index_database
    assert run("build", "--kind", "keyword").exit_code == 0
    assert workspace.graphs()["moons"].on is None
    # Info says that the server is gone.
    assert run("build", "--on", index_database).exit_code == 0
    monkeypatch.setenv(PASSWORD_VARIABLE, "wrong")
    info = run("info", "--json")
    assert info.exit_code == 1
    assert "password authentication failed" in json.loads(info.stdout)[0]["problem"]


@pytest.mark.slow
def test_a_build_that_was_killed_goes_on_and_every_name_is_there_once(
    index_database: str, workspace: Workspace, tmp_path: Path
) -> None:
    count = 12 * BATCH_SIZE
    file = dump(tmp_path / "things.nt", count)
    build = ["build", "moons", "--on", index_database, "--entities", str(file)]
    done = "SELECT count(*) FROM askgraph.batches WHERE name = 'moons entities'"

    process = subprocess.Popen(
        [sys.executable, "-m", "askgraph", "index", *build], stderr=subprocess.DEVNULL
    )

    async def begun(connection: Any) -> Any:
        there = "SELECT to_regclass('askgraph.batches') IS NOT NULL"
        while not (await connection.fetchval(there) and await connection.fetchval(done)):
            assert process.poll() is None
            await asyncio.sleep(0.01)

    try:
        asked(index_database, begun)
    finally:
        process.kill()
        process.wait()
    assert not (workspace.get_data_folder("moons") / "indices" / "entities").exists()
    assert run(*build).exit_code == 0

    of_dump = [(f"{EX}t{at}", f"thing {at}") for at in range(count)]
    there = names(index_database, workspace)
    assert [pair for pair in there if pair[0].startswith(f"{EX}t")] == sorted(of_dump)


@pytest.mark.slow
@for_each("executor", ["processes", "dask"], share_folder=True)
def test_several_processes_fill_one_index(
    index_database: str, workspace: Workspace, tmp_path: Path, executor: str
) -> None:
    if executor != "processes":
        pytest.importorskip("distributed")
    count = 3 * BATCH_SIZE + 5
    file = dump(tmp_path / "things.nt", count)

    build = ["build", "moons", "--on", index_database, "--entities", str(file)]
    done = run(*build, "--executor", executor, "--workers", "2")

    assert done.exit_code == 0, done.output
    there = [pair for pair in names(index_database, workspace) if pair[0].startswith(f"{EX}t")]
    assert there == sorted((f"{EX}t{at}", f"thing {at}") for at in range(count))


@for_each(
    ("options", "message"),
    (["--on", NOWHERE], "no PostgreSQL server at '127.0.0.1' answers"),
    (
        ["--on", "http://me@127.0.0.1:1"],
        "http://me@127.0.0.1:1: no OpenSearch server answers there",
    ),
    (
        ["--on", "mysql://me@localhost/names"],
        "is not the address of an index server; name postgresql://",
    ),
    (["--on", NOWHERE, "--kind", "bm25"], "has the kind 'postgresql'"),
    (["--executor", "processes"], "an index in files is written by one process"),
    (["--workers", "2"], "require --executor processes or --executor dask"),
)
def test_what_cannot_work_says_what_to_do(
    workspace: Workspace, options: list[str], message: str
) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "askgraph", "index", "build", *options],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "500"},
    )

    assert refused.returncode not in (0, None) and message in refused.stderr
    assert workspace.graphs()["moons"].on is None
