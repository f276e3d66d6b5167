"""Profiles of graphs that their endpoint counts: queries, seconds, and how much of the schema.

    python benchmarks/profiles.py [--seconds 120] [--cap ROWS] [--harsh ROWS]

Each graph of spider4sparql and one of supply-kgrep (ASKGRAPH_DATA, else ../shared/data) behind the
embedded store, and behind Virtuoso where ASKGRAPH_TEST_VIRTUOSO names one (CONTRIBUTING.md). No
graph is taken for small enough to be fetched. `wrong` counts what the triples refute: partitions,
and parts of the schema that are called complete. With `--harsh` no endpoint counts over all
triples, and results are cut off in silence.
"""

import argparse
import asyncio
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pyoxigraph import DefaultGraph, RdfFormat, Store

from _measure import print_table
from askgraph.endpoint import Counted, Endpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import TimedOut
from askgraph.graph import remote_profile as remote
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.graph.profile import Profile
from askgraph.sparql.results import SelectResult

TOOL = Path(__file__).parents[1] / "tools" / "virtuoso.sh"
GRAPH = "http://example.org/profiled"
OVER_ALL = re.compile(r"(?s)^(?!.*(VALUES|LIMIT \d+ \}|<http)).*(COUNT|GROUP BY)")


def files() -> list[Path]:
    """The graphs to profile."""
    shared = Path(__file__).parents[2] / "shared" / "data"
    data = Path(os.environ.get("ASKGRAPH_DATA") or shared)
    some = [data / "supply-kgrep" / "kg" / "a-box-inverse.ttl"]
    return [*sorted((data / "spider4sparql" / "kg").glob("*.ttl*")), *filter(Path.exists, some)]


def endpoints(store: Store, folder: Path, cap: int) -> Iterator[tuple[str, Endpoint]]:
    """The endpoints that hold a graph: the embedded store, and Virtuoso where there is one.

    They get it as N-Triples: Virtuoso reads the escapes of Turtle's names in its own way.
    """
    file = folder / "graph.nt"
    store.dump(str(file), RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
    OxigraphEndpoint.load([file], folder / "store")
    yield "embedded", OxigraphEndpoint(folder / "store", max_rows=cap)
    if address := os.environ.get("ASKGRAPH_TEST_VIRTUOSO"):
        subprocess.run([TOOL, "load", file, GRAPH], check=True, stdout=subprocess.DEVNULL)
        yield "Virtuoso", HttpEndpoint(address, graphs=[GRAPH], max_rows=cap)


class Harsh(Counted):
    """Takes too long over all triples, and cuts results off in silence."""

    cap = 1_000_000

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query, or do not."""
        if OVER_ALL.search(query):
            self.requests += 1
            raise TimedOut(f"{self.address} gave no complete answer within {timeout:g} seconds")
        result = await super().select(query, timeout=timeout, limit=limit)
        return replace(result, rows=result.rows[: self.cap])


def refuted(profile: Profile, exact: Profile) -> int:
    """How many partitions and complete parts are not as the triples have them."""
    wrong = len({one for one in profile.partitions if not one.sampled} - set(exact.partitions))
    whole = {part.name for part in profile.completeness if part.share == 1.0}
    wrong += "triples" in whole and profile.triples != exact.triples
    for part, found, truth in (
        ("classes", profile.classes, exact.classes),
        ("predicates", profile.predicates, exact.predicates),
    ):
        wrong += part in whole and {one.iri for one in found} != {one.iri for one in truth}
    return wrong


async def profiled(endpoint: Endpoint, seconds: float, harsh: int) -> tuple[Profile, int, float]:
    """A profile, the queries that it cost, and the seconds."""
    counted = Harsh(endpoint) if harsh else Counted(endpoint)
    if isinstance(counted, Harsh):
        counted.cap = harsh
    began = time.monotonic()
    profile, _ = await remote.profile_endpoint(counted, max_seconds=seconds)
    await endpoint.close()
    return profile, counted.requests, time.monotonic() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="the bound")
    parser.add_argument("--cap", type=int, default=1_000_000, help="rows of a result at most")
    parser.add_argument("--harsh", type=int, default=0, metavar="ROWS", help="cut in silence")
    options = parser.parse_args()
    remote.SMALL = 0
    lines = []
    for file in files():
        store = Store()
        store.bulk_load(path=str(file))
        exact = profile_of(build_arrays(store))
        with tempfile.TemporaryDirectory() as folder:
            for server, endpoint in endpoints(store, Path(folder), options.cap):
                work = profiled(endpoint, options.seconds, options.harsh)
                profile, queries, taken = asyncio.run(work)
                name = file.name.partition(".")[0]
                share = f"{100 * profile.known_share('partitions'):.0f} %"
                there = set(profile.partitions) & set(exact.partitions)
                found = f"{len(there)} of {len(exact.partitions)}"
                row = [name, server, f"{profile.triples:,}", str(queries), f"{taken:.1f}", share]
                lines.append([*row, found, str(refuted(profile, exact))])
    head = ["graph", "server", "triples", "queries", "seconds", "known", "partitions", "wrong"]
    print_table(head, *lines)


if __name__ == "__main__":
    main()
