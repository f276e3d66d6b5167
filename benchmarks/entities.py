"""The index of entities of a big graph: time and memory to read them off the graph, and to build.

    python benchmarks/entities.py [--entities 1_000_000]

Seven in ten have a class, two labels, every second one more name, and a link; three in ten are jobs
without a name that join a person and an employer, found by the names of both. The triples lie as
arrays, as `askgraph add` leaves them. "peak MB" is the most memory of a process of its own; some
200 MB of it are pages of these arrays, which the operating system may take back.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.graph.nodes import entity_resources
from askgraph.graph.profile import load_profile, save_profile
from askgraph.index.keyword import KeywordIndex
from askgraph.sparql import vocabulary as v
from indices import name_of, vocabulary

NS = "http://example.org/world/"
SEED = 7


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--one", nargs=2, help="measure one step: what, folder")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measured(chosen.one[0], Path(chosen.one[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        arrays = build_arrays(triples(chosen.entities))
        arrays.save(Path(folder))
        save_profile(profile_of(arrays), Path(folder, "profile.json"))
        lines = [(what, f"{len(arrays):,}", *apart(what, folder)) for what in ("read", "build")]
    # Costs memory that is not the index's, so only here.
    from _measure import print_table

    print_table(("what", "triples", "items", "s", "peak MB"), *lines)


def apart(what: str, folder: str) -> list[str]:
    """Measure one step in a new process."""
    command = [sys.executable, __file__, "--one", what, folder]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: list[str] = json.loads(done.stdout)
    return figures


def measured(what: str, folder: Path) -> list[str]:
    """Read the entities, or build their index; return items, seconds and megabytes."""
    arrays, profile = GraphArrays.load(folder), load_profile(folder / "profile.json")
    start = time.perf_counter()
    found = entity_resources(arrays, profile)
    if what == "read":
        items = sum(1 for _ in found)
    else:
        items = len(KeywordIndex.build(found, folder / "index"))
    seconds = time.perf_counter() - start
    return [f"{items:,}", f"{seconds:.1f}", f"{peak():.0f}"]


def peak() -> float:
    """The most megabytes that this process held at once (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0]) / 1024


def triples(count: int) -> Iterator[Triple]:
    """The generated graph, the same each time."""
    chance = random.Random(SEED)
    words, weights = vocabulary(count)
    label, other, kind = map(NamedNode, (v.RDFS_LABEL, v.SKOS_ALT_LABEL, v.RDF_TYPE))
    knows, worker, employer, since = (
        NamedNode(NS + name) for name in ("knows", "worker", "employer", "since")
    )
    things = count * 7 // 10

    def name(language: str) -> Literal:
        return Literal(name_of(chance, words, weights), language=language)

    def some() -> NamedNode:
        return NamedNode(f"{NS}thing/{int(things * chance.random() ** 3)}")

    for number in range(things):
        thing = NamedNode(f"{NS}thing/{number}")
        yield Triple(thing, kind, NamedNode(f"{NS}Class{number % 50}"))
        yield Triple(thing, label, name("en"))
        yield Triple(thing, label, name("de"))
        if number % 2:
            yield Triple(thing, other, name("en"))
        yield Triple(thing, knows, some())
    for number in range(count - things):
        job = NamedNode(f"{NS}job-{number}")
        yield Triple(job, kind, NamedNode(NS + "Job"))
        yield Triple(job, worker, some())
        yield Triple(job, employer, some())
        day = f"{chance.randrange(1950, 2025)}-0{chance.randrange(1, 10)}-1{chance.randrange(10)}"
        yield Triple(job, since, Literal(day, datatype=NamedNode(v.XSD_DATE)))


if __name__ == "__main__":
    main()
