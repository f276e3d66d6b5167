"""What the validator says of gold queries, and of the same queries with one fault planted.

    python benchmarks/validation.py [--faults 1000] [--seed 7]

Aims: no gold query is called wrong where the schema is complete for it, at most 2 % otherwise; a
query takes 10 ms (median), eight variables of a class that are all linked with each other 100 ms;
of 1,000 planted faults 90 % are found, and 75 % have the right name among the first three
proposals. A fault counts only if it leaves the patterns of the query without a solution (UniProt,
which is not here: if it names what its VoID does not have together); what a fault makes of a query
is decided by the store, not by the validator. Needs the benchmark data (ASKGRAPH_DATA).
"""

import argparse
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyoxigraph import RdfFormat, Store

from _examples import example_queries, void_profile
from _faults import FAULTS, Planted, planted
from _measure import print_table
from askgraph import sample
from askgraph.answers.validation import WRONG, Finding, Knowledge, Services
from askgraph.answers.validation.graph_knowledge import array_knowledge, profile_knowledge
from askgraph.answers.validation.validate import findings_on
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.sparql.parser import read
from askgraph.sparql.write import text_of

DATA = Path(os.environ.get("ASKGRAPH_DATA", "../shared/data"))


@dataclass(frozen=True)
class Asked:
    """A gold query, what is known of its graph, and the graph itself where it is here."""

    name: str
    query: str
    services: Services
    store: Store | None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    sets = {"sample": sampled(), "spider": spider(), "supply": supply(), "uniprot": uniprot()}
    asked = {name: list(queries) for name, queries in sets.items()}
    print_table(
        ("gold queries", "n", "called wrong", "median ms", "slowest ms"),
        *(gold(name, queries) for name, queries in asked.items()),
    )
    print(f"\na clique of 8 typed variables: {clique(asked['uniprot'][0].services):.1f} ms\n")
    print_faults([one for queries in asked.values() for one in queries], options)


def gold(name: str, queries: list[Asked]) -> tuple[object, ...]:
    """Validate the queries as they are; name those that are called wrong."""
    times, wrong = [], []
    for one in queries:
        start = time.perf_counter()
        found = findings_on(one.query, one.services)
        times.append(1000 * (time.perf_counter() - start))
        sure = [finding for finding in found if counts(finding)]
        if sure:
            wrong.append(one.name)
            print(f"{name} {one.name}: {sure[0].kind.value}: {sure[0].message}")
    median, most = statistics.median(times), max(times)
    return name, len(queries), len(wrong), f"{median:.2f}", f"{most:.1f}"


def counts(finding: Finding) -> bool:
    """Whether a finding calls its query wrong; prefixes are often left to the endpoint."""
    return finding.certainty >= WRONG and finding.kind.value != "missing prefix"


def clique(services: Services) -> float:
    """Milliseconds for eight variables of one class, each linked with each other one."""
    up = "http://purl.uniprot.org/core/"
    names = [f"?v{at}" for at in range(8)]
    lines = [f"{name} a <{up}Taxon> ." for name in names]
    lines += [f"{a} <{up}replaces> {b} ." for a in names for b in names if a != b]
    query = f"SELECT * {{ {' '.join(lines)} }}"
    start = time.perf_counter()
    findings_on(query, services)
    return 1000 * (time.perf_counter() - start)


def print_faults(asked: list[Asked], options: argparse.Namespace) -> None:
    """Plant faults of all kinds in turn, and print how many are found and how many named."""
    chance = Random(options.seed)
    total, found, named = Counter[str](), Counter[str](), Counter[str]()
    tried = 0
    while sum(total.values()) < options.faults and tried < 20 * options.faults:
        kind = FAULTS[tried % len(FAULTS)]
        tried += 1
        one = chance.choice(asked)
        fault = planted(one.query, kind, one.services.own, chance)
        if fault is None or not is_fault(one, fault):
            continue
        total[kind] += 1
        findings = [f for f in findings_on(fault.query, one.services) if counts(f)]
        found[kind] += bool(findings)
        named[kind] += any(is_named(f, fault) for f in findings)
    rows = [
        (kind, total[kind], share(found[kind], total[kind]), share(named[kind], total[kind]))
        for kind in FAULTS
    ]
    every = sum(total.values())
    rows.append(("all", every, share(found.total(), every), share(named.total(), every)))
    print_table(("planted fault", "n", "found", "right name in first three"), *rows)


def is_named(finding: Finding, fault: Planted) -> bool:
    """Whether what stood there before is among the first three proposals."""
    shown = finding.proposals[:3]
    return any(fault.right in (one.iri, one.text, one.text.lstrip("^")) for one in shown)


def is_fault(one: Asked, fault: Planted) -> bool:
    """Whether the patterns had a solution before and have none now."""
    if one.store is None:
        return not fault.fits
    return has_solution(one.query, one.store) and not has_solution(fault.query, one.store)


def has_solution(query: str, store: Store) -> bool:
    """Whether the WHERE part of a query has a solution."""
    return bool(store.query(f"ASK {text_of(read(query).where)}"))


def share(part: int, whole: int) -> str:
    """A share in per cent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def local(*files: Path) -> tuple[Store, Services]:
    """A graph from files, and what is known of it."""
    store = Store()
    for file in files:
        store.load(file.read_bytes(), format=RdfFormat.TURTLE)
    arrays = build_arrays(store.quads_for_pattern(None, None, None, None))
    return store, Services(array_knowledge(profile_knowledge(profile_of(arrays)), arrays))


def sampled() -> Iterator[Asked]:
    """The sample graph's questions."""
    path = sample.graph_path()
    store, services = local(path)
    yield from questions(path.parent / "questions.jsonl", store, services)


def supply() -> Iterator[Asked]:
    """The questions on the supply network."""
    folder = DATA / "supply-kgrep"
    store, services = local(folder / "kg/a-box-default.ttl", folder / "kg/t-box-default.ttl")
    yield from questions(folder / "questions.jsonl", store, services)


def spider() -> Iterator[Asked]:
    """The questions on fourteen small graphs."""
    folder = DATA / "spider4sparql"
    graphs = {path.name: local(path) for path in sorted((folder / "kg").iterdir())}
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        store, services = graphs[question["kg"]]
        yield Asked(question["id"], question["sparql"], services, store)


def questions(path: Path, store: Store, services: Services) -> Iterator[Asked]:
    """The queries of a file of questions on one graph."""
    for line in path.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question.get("sparql"):
            yield Asked(question["id"], question["sparql"], services, store)


def uniprot() -> Iterator[Asked]:
    """The examples of UniProt, with what its VoID tells."""
    folder = DATA / "sib-examples"
    known: Knowledge = profile_knowledge(void_profile(folder / "void_uniprot.ttl.gz"))
    for name, query in sorted(example_queries(folder / "examples.tar.gz", "UniProt").items()):
        yield Asked(name, query, Services(known), None)


if __name__ == "__main__":
    main()
