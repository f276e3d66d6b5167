"""The embedded endpoint: loading, and workers that are killed and replaced."""

import asyncio
import bz2
import gzip
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, RdfFormat, Store, Triple, serialize
from tests.each import for_each
from tests.servers.fixtures import SMALL

from askgraph.endpoint.oxigraph import MAX_ACTIVE_STORES, OxigraphEndpoint, set_max_active_stores
from askgraph.errors import (
    ForbiddenQuery,
    QueryError,
    QuerySyntaxError,
    ServiceError,
    SetupError,
    TimedOut,
)

ONE = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> .\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
BOMB = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 20,000 triples, of which a product takes for ever."""
    folder = tmp_path_factory.mktemp("many")
    lines = (
        b"<http://example.org/%d> <http://example.org/p> %d .\n" % (n, n) for n in range(20000)
    )
    (folder / "many.ttl").write_bytes(b"".join(lines))
    OxigraphEndpoint.load([folder], folder / "db")
    return folder / "db"


@pytest.fixture
async def endpoint(many: Path) -> AsyncIterator[OxigraphEndpoint]:
    made = OxigraphEndpoint(many)
    yield made
    await made.close()


async def count(path: Path) -> int:
    endpoint = OxigraphEndpoint(path)
    try:
        return len((await endpoint.select("SELECT * { ?s ?p ?o }")).rows)
    finally:
        await endpoint.close()


@for_each("name", ["a.ttl", "a.nt", "a.nq", "a.trig", "a.rdf", "a.owl", "a.jsonld"])
@for_each("packed", PACKERS)
async def test_every_format_is_loaded_packed_or_not(tmp_path: Path, name: str, packed: str) -> None:
    kind = RdfFormat.from_extension({"ttl": "ttl", "owl": "rdf"}.get(name[2:], name[2:]))
    assert kind
    triple = Triple(
        NamedNode("http://example.org/s"), NamedNode("http://example.org/p"), NamedNode("a:b")
    )
    data = serialize([triple], format=kind)
    assert data
    (tmp_path / (name + packed)).write_bytes(PACKERS[packed](data))

    OxigraphEndpoint.load([tmp_path / (name + packed)], tmp_path / "db")

    assert await count(tmp_path / "db") == 1


async def test_a_folder_is_loaded_with_all_below_and_other_files_are_left(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "a.nt").write_bytes(ONE)
    (tmp_path / "data" / "deep" / "b.TTL").write_bytes(b"\xef\xbb\xbf" + ONE.replace(b"/o", b"/o2"))
    (tmp_path / "data" / "README.md").write_text("not RDF")
    (tmp_path / "data" / ".hidden.ttl").write_text("not RDF")
    told: list[tuple[int, int, str]] = []

    files = OxigraphEndpoint.load(
        [tmp_path / "data"], tmp_path / "db", progress=lambda *step: told.append(step)
    )

    assert files == 2
    assert await count(tmp_path / "db") == 2
    done, total, _ = told[-1]
    assert done == total > 0


@for_each(
    ("name", "content", "words"),
    ("a.ttl", b"<a:b> <a:c> 1 .\n<a:b> <a:c> ; .", r"a\.ttl, line 2, column \d+: "),
    ("a.ttl.gz", gzip.compress(b"<a:b> <a:c> oops ."), r"a\.ttl\.gz, line 1, column"),
    ("a.ttl.gz", gzip.compress(ONE * 99)[:-9], "cannot be unpacked"),
    ("a.ttl.gz", b"not gzip", "cannot be unpacked"),
    ("a.ttl.xz", b"not xz at all", "cannot be unpacked"),
    ("a.jsonld", b'{"@id": }', r"a\.jsonld, line 1"),
    ("a.rdf", b"<a></b>", r"a\.rdf"),
    ("a.nt", b'<a:b> <a:c> "\xff\xfe" .', r"a\.nt"),
    ("a.txt", b"a,b", "unknown extension '.txt'"),
    ("a", b"", "unknown extension ''"),
)
def test_a_bad_file_is_named_and_leaves_nothing_behind(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SetupError, match=words):
        OxigraphEndpoint.load([tmp_path / name], tmp_path / "db")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="does not exist"):
        OxigraphEndpoint.load([tmp_path / "no.ttl"], tmp_path / "db")
    with pytest.raises(SetupError, match="contains no RDF file"):
        OxigraphEndpoint.load([tmp_path], tmp_path / "db")
    with pytest.raises(SetupError, match="not an Oxigraph store"):
        OxigraphEndpoint(tmp_path / "db")


def test_a_failed_load_leaves_the_old_store_and_a_good_one_replaces_it(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.nt", tmp_path / "bad.nt"
    good.write_bytes(ONE)
    bad.write_bytes(b"oops")
    OxigraphEndpoint.load([good], tmp_path / "db")
    with pytest.raises(SetupError):
        OxigraphEndpoint.load([good, bad], tmp_path / "db")
    assert asyncio.run(count(tmp_path / "db")) == 1

    good.write_bytes(ONE + ONE.replace(b"/o", b"/o2"))
    OxigraphEndpoint.load([good], tmp_path / "db")
    assert asyncio.run(count(tmp_path / "db")) == 2
    assert {file.name for file in tmp_path.iterdir()} == {"bad.nt", "db", "good.nt"}


async def test_blank_nodes_of_two_files_stay_apart_and_a_triple_in_two_graphs_counts_once(
    tmp_path: Path,
) -> None:
    for name in ("a.ttl", "b.ttl"):
        (tmp_path / name).write_text('_:x <http://example.org/p> "v" .')
    OxigraphEndpoint.load([tmp_path / "a.ttl", tmp_path / "b.ttl"], tmp_path / "db")
    assert await count(tmp_path / "db") == 2

    (tmp_path / "a.nq").write_bytes(
        b"<a:s> <a:p> <a:o> <a:g1> .\n<a:s> <a:p> <a:o> <a:g2> .\n<a:s> <a:p> <a:o> .\n"
    )
    OxigraphEndpoint.load([tmp_path / "a.nq"], tmp_path / "db")
    assert await count(tmp_path / "db") == 1


async def test_given_graphs_and_those_of_from_are_all_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "small.trig").write_text(SMALL)
    OxigraphEndpoint.load([tmp_path / "small.trig"], tmp_path / "db")
    endpoint = OxigraphEndpoint(tmp_path / "db", graphs=["http://example.org/graph1"])
    one = await endpoint.select("SELECT * { ?s a ?c }")
    other = await endpoint.select("SELECT * { GRAPH <http://example.org/graph2> { ?s a ?c } }")
    named = "SELECT * FROM <http://example.org/graph%d> { ?s a ?c }"
    assert (len(one.rows), len(other.rows)) == (1, 0)
    assert len((await endpoint.select(named % 1)).rows) == 1
    with pytest.raises(ForbiddenQuery, match="graph2"):
        await endpoint.select(named % 2)
    await endpoint.close()

    endpoint = OxigraphEndpoint(tmp_path / "db")
    result = await endpoint.select(named.replace("*", "?s") % 2)
    assert [str(row[0]) for row in result.rows] == ["<http://example.org/deimos>"]
    await endpoint.close()


async def test_the_columns_of_a_star_come_in_the_order_written(endpoint: OxigraphEndpoint) -> None:
    for query in ("SELECT * { ?s ?p ?o } LIMIT 2", "SELECT * { ?o ?p ?s } LIMIT 2"):
        result = await endpoint.select(query)
        assert result.variables == (("s", "p", "o") if "?s ?p" in query else ("o", "p", "s"))
        assert str(result.get_column(result.variables[0])[0]).startswith("<http://example.org/")


async def test_a_query_bomb_is_stopped_and_the_next_query_runs_at_once(
    endpoint: OxigraphEndpoint,
) -> None:
    began = time.monotonic()
    with pytest.raises(TimedOut, match=r"0\.5 seconds"):
        await endpoint.select(BOMB, timeout=0.5)
    assert await endpoint.ask("ASK { ?s ?p ?o }")
    assert time.monotonic() - began < 30


async def test_no_query_waits_for_a_free_worker_longer_than_its_timeout(
    endpoint: OxigraphEndpoint,
) -> None:
    busy = asyncio.create_task(endpoint.select(BOMB, timeout=60))
    await asyncio.sleep(0.2)
    with pytest.raises(TimedOut, match="no worker was free"):
        await endpoint.ask("ASK {}", timeout=0.3)
    assert not busy.done()
    busy.cancel()
    with pytest.raises(asyncio.CancelledError):
        await busy


async def test_a_cancelled_query_is_killed_and_no_reply_is_mixed_up(
    endpoint: OxigraphEndpoint,
) -> None:
    for number in range(5):
        busy = asyncio.create_task(endpoint.select(BOMB, timeout=60))
        await asyncio.sleep(0.05)
        busy.cancel()
        with pytest.raises(asyncio.CancelledError):
            await busy
        await select_number(endpoint, number)


async def test_many_calls_cancelled_at_any_moment_leave_right_answers(
    endpoint: OxigraphEndpoint,
) -> None:
    tasks = [asyncio.create_task(select_number(endpoint, number)) for number in range(60)]
    for number, task in enumerate(tasks):
        if number % 3 == 0:
            await asyncio.sleep(0.002)
            task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(o is None or isinstance(o, asyncio.CancelledError) for o in outcomes)


async def select_number(endpoint: OxigraphEndpoint, number: int) -> None:
    result = await endpoint.select(f"SELECT ({number} AS ?x) {{}}", timeout=120)
    assert getattr(result.rows[0][0], "value", "") == str(number)


async def test_a_worker_killed_by_the_system_is_reported_and_replaced(
    endpoint: OxigraphEndpoint,
) -> None:
    others = workers_of(os.getpid())  # of tests before, which may end meanwhile
    assert await endpoint.ask("ASK {}")
    workers = sorted(set(workers_of(os.getpid())) - set(others))
    busy = asyncio.create_task(endpoint.select(BOMB, timeout=60))
    await asyncio.to_thread(until_busy, workers)
    for child in workers:
        os.kill(child, signal.SIGKILL)
    with pytest.raises(ServiceError, match="killed by the system"):
        await busy
    assert await endpoint.ask("ASK { ?s ?p ?o }")


@pytest.fixture
def one_awake() -> Iterator[None]:
    set_max_active_stores(1)
    yield
    set_max_active_stores(MAX_ACTIVE_STORES)


@pytest.mark.usefixtures("one_awake")
async def test_the_store_asked_longest_ago_rests_until_it_is_asked_again(many: Path) -> None:
    before = set(workers_of(os.getpid()))
    endpoints = [OxigraphEndpoint(many) for _ in range(3)]
    try:
        for endpoint in [*endpoints, *endpoints]:
            assert await endpoint.ask("ASK { ?s ?p ?o }")
            await asyncio.to_thread(until_so_many, before, 1)
    finally:
        for endpoint in endpoints:
            await endpoint.close()


@pytest.mark.usefixtures("one_awake")
async def test_no_store_is_put_to_rest_in_the_middle_of_a_query(many: Path) -> None:
    endpoints = [OxigraphEndpoint(many) for _ in range(4)]
    queries = [f"SELECT ?s {{ ?s ?p {n} }}" for n in range(120)]
    asked = (one.select(query) for one, query in zip(cycle(endpoints), queries, strict=False))
    try:
        found = await asyncio.gather(*asked)
    finally:
        for endpoint in endpoints:
            await endpoint.close()
    assert [one.rows[0][0] for one in found] == [
        NamedNode(f"http://example.org/{n}") for n in range(120)
    ]


def until_so_many(before: set[int], number: int) -> None:
    """Wait until so many workers run that were not there before."""
    end = time.monotonic() + 30
    while len(set(workers_of(os.getpid())) - before) != number:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(("doubled", "rows"), [(21, 1), (20, 40)], ids=["a value", "all rows"])
async def test_a_result_of_too_many_bytes_is_refused(many: Path, doubled: int, rows: int) -> None:
    steps = " ".join(f"BIND(CONCAT(?a{n}, ?a{n}) AS ?a{n + 1})" for n in range(doubled))
    numbers = " ".join(map(str, range(rows)))
    query = f"SELECT ?a{doubled} {{ VALUES ?n {{ {numbers} }} BIND('12345678' AS ?a0) {steps} }}"
    endpoint = OxigraphEndpoint(many)
    with pytest.raises(ServiceError, match="too large"):
        await endpoint.select(query, limit=100, timeout=120)
    assert await endpoint.ask("ASK {}")
    await endpoint.close()


async def test_a_query_that_eats_memory_hurts_only_itself(many: Path) -> None:
    endpoint = OxigraphEndpoint(many, memory=256 * 2**20)
    with pytest.raises(ServiceError, match="memory"):
        await endpoint.select("SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c", timeout=60)
    assert await endpoint.ask("ASK { ?s ?p ?o }")
    await endpoint.close()


async def test_what_only_the_store_knows_to_be_wrong_is_told(endpoint: OxigraphEndpoint) -> None:
    with pytest.raises(QuerySyntaxError, match="unbound"):
        await endpoint.select("SELECT ?s (COUNT(?p) AS ?n) { ?s ?p ?o }")
    with pytest.raises(QueryError, match="custom function"):
        await endpoint.select("SELECT (<http://x.example/f>(?s) AS ?n) { ?s ?p ?o } LIMIT 1")


async def test_known_prefixes_need_no_declaration_and_a_closed_endpoint_says_so(many: Path) -> None:
    endpoint = OxigraphEndpoint(many, prefixes={"ex": "http://example.org/"})
    assert await endpoint.ask("ASK { ex:7 ex:p 7 }")
    await endpoint.close()
    with pytest.raises(ServiceError, match="closed"):
        await endpoint.ask("ASK {}")


def test_an_endpoint_outlives_event_loops(many: Path) -> None:
    endpoint = OxigraphEndpoint(many)
    for _ in range(2):
        assert asyncio.run(endpoint.ask("ASK { ?s ?p ?o }"))
    asyncio.run(endpoint.close())


SCRIPT = """
import asyncio, sys
from askgraph.endpoint.oxigraph import MAX_ACTIVE_STORES, OxigraphEndpoint, set_max_active_stores
async def main():
    endpoint = OxigraphEndpoint(sys.argv[1])
    await endpoint.ask("ASK {}")
    print("ready", flush=True)
    await endpoint.select(sys.argv[2], timeout=100)
asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_worker_outlives_its_parent_even_within_a_query(many: Path, how: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(many), BOMB],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    assert parent.stdout.readline() == "ready\n"
    workers = workers_of(parent.pid)
    assert len(workers) == 1
    until_busy(workers)

    parent.send_signal(how)
    _, errors = parent.communicate(timeout=60)

    ends = time.monotonic() + 30
    while Path(f"/proc/{workers[0]}").exists() and time.monotonic() < ends:
        time.sleep(0.02)
    assert not Path(f"/proc/{workers[0]}").exists()
    assert "_oxigraph_worker" not in errors


def until_busy(workers: list[int]) -> None:
    """Return once each worker has computed for a while, which is in the middle of a query."""

    def ticks(worker: int) -> int:
        return int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[11])

    before = {worker: ticks(worker) for worker in workers}
    while any(ticks(worker) < before[worker] + 20 for worker in workers):
        time.sleep(0.02)


def workers_of(parent: int) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            status = (process / "status").read_text()
        except OSError:
            continue
        if b"_oxigraph_worker" in command and f"PPid:\t{parent}\n" in status:
            found.append(int(process.name))
    return found


def test_a_store_that_is_damaged_is_the_operators_to_mend(tmp_path: Path) -> None:
    Store(tmp_path / "db").flush()
    for file in (tmp_path / "db").glob("MANIFEST*"):
        file.unlink()
    endpoint = OxigraphEndpoint(tmp_path / "db")

    async def ask() -> None:
        try:
            await endpoint.ask("ASK {}")
        finally:
            await endpoint.close()

    with pytest.raises(SetupError, match="cannot be opened"):
        asyncio.run(ask())
