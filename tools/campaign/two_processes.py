"""Several processes at work on one workspace: commands beside commands, and beside servers.

    python -m tools.campaign.two_processes [--rounds 1] [--only WHAT ...] [--json FILE]

Survived is: each command and request ends well, or says that another one was faster; what is asked
meanwhile is answered of the old or the new content, or there is no such graph; and at the end all
is whole, with nothing left over.
"""

import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
from tools.campaign._tries import (
    Ran,
    Tried,
    askgraph,
    base,
    left_over,
    main,
    served,
    triples,
    uploaded,
)
from tools.campaign.kills import CASES

from askgraph.workspace import Workspace

_COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
_SIZES = {8132, 8133}  # triples of the sample, and of what takes its place


def together(place: Path, *commands: str) -> list[Ran]:
    """Run commands at once."""
    with ThreadPoolExecutor(len(commands)) as pool:
        return list(pool.map(lambda one: askgraph(place, *one.split()), commands))


def failed(runs: list[Ran], *fine: str) -> Iterator[str]:
    """Yield what failed, but for refusals with one of these words."""
    for ran in runs:
        if ran.code and not (ran.code == 2 and any(words in ran.said for words in fine)):
            yield f"{ran.code} {ran.last[-200:]}"


def six_graphs(place: Path) -> Iterator[str]:
    """Add six graphs at once."""
    names = [f"g{at}" for at in range(6)]
    yield from failed(together(place, *(f"add {name} more.ttl" for name in names)))
    if lost := [name for name in names if triples(place, name) != 8133]:
        yield f"not there: {lost}"


def one_name(place: Path) -> Iterator[str]:
    """Add graphs of one name at once, in place of another and not."""
    runs = together(place, *["add new more.ttl"] * 3)
    yield from failed(runs, "already")
    yield from failed(together(place, *["add space more.ttl --replace"] * 3))
    for name in ("new", "space"):
        if triples(place, name) != 8133:
            yield f"{name} is not whole"


def index_beside_replace(place: Path) -> Iterator[str]:
    """Build an index while its graph is replaced."""
    build = "index build space --kind bm25"
    yield from failed(together(place, build, "add space more.ttl --replace", build), "built anew")
    graph = Workspace(place).graph("space")
    if not graph.indices["entities"].search("Jupiter"):
        yield "the index finds nothing"


def one_file(place: Path) -> Iterator[str]:
    """Write one file of answers, and one run, from two processes."""
    for name in ("batch", "evaluate", "examples"):
        case = CASES[name]
        yield from failed(together(place, case.arguments, case.arguments), "another process")
        askgraph(place, *case.arguments.split())
        if fault := case.done(place):
            yield f"{name}: {fault}"


def commands_while_replaced(place: Path) -> Iterator[str]:
    """Ask on the command line while the graph is replaced, to and fro."""
    (place / "count.rq").write_text(_COUNT)
    with replacing(place) as going:
        while not going.done():
            yield from failed(together(place, "query -g space @count.rq"))
    yield from failed(going.result())
    if triples(place, "space") not in _SIZES:
        yield "it is not whole"


@contextmanager
def replacing(place: Path, *, remove: bool = False) -> Iterator["Future[list[Ran]]"]:
    """Replace the graph four times meanwhile, or remove it and add it again."""
    shutil.copy(place / "more.ttl", place / "other.ttl")

    def work() -> list[Ran]:
        runs = []
        for at in range(4):
            if remove:
                runs.append(askgraph(place, "remove", "space"))
            file = ("more.ttl", "other.ttl")[at % 2]
            runs.append(askgraph(place, "add", "space", file, "--replace"))
        return runs

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work)


def server_while_replaced(place: Path) -> Iterator[str]:
    """Ask a server while the graph is replaced."""
    yield from _asked(place, remove=False, fine=(200,))


def server_while_removed(place: Path) -> Iterator[str]:
    """Ask a server while the graph is removed and added again."""
    yield from _asked(place, remove=True, fine=(200, 404, 422))


def _asked(place: Path, *, remove: bool, fine: tuple[int, ...]) -> Iterator[str]:
    with served(place) as (url, _), httpx2.Client(base_url=url, timeout=60) as client:
        with replacing(place, remove=remove) as going:
            while not going.done():
                body = {"query": _COUNT}
                reply = client.post("/api/v1/graphs/space/query", json=body)
                if reply.status_code not in fine:
                    yield f"query: {reply.status_code} {reply.text[:200]}"
                question = {"question": "Which moons orbit Jupiter?", "graphs": ["space"]}
                reply = client.post("/api/v1/ask", json=question)
                if reply.status_code not in fine:
                    yield f"ask: {reply.status_code} {reply.text[:200]}"
                time.sleep(0.02)
        yield from failed(going.result())
        reply = client.post("/api/v1/ask", json={"question": "Which moons orbit Jupiter?"})
        if reply.status_code != 200:
            yield f"at the end: {reply.status_code} {reply.text[:200]}"


def two_servers(place: Path) -> Iterator[str]:
    """Ask, judge and upload at two servers of one workspace and database."""
    more = (place / "more.ttl").read_bytes()
    with (
        served(place) as (url, _),
        served(place) as (other, _),
        httpx2.Client(base_url=url, timeout=60) as one,
        httpx2.Client(base_url=other, timeout=60) as two,
        ThreadPoolExecutor(4) as pool,
    ):
        both = [pool.submit(uploaded, at, "sent", "more.ttl", more) for at in (one, two)]
        question = {"question": "Which moons orbit Jupiter?", "graphs": ["space"]}
        asking = [pool.submit(at.post, "/api/v1/ask", json=question) for at in (one, two) * 10]
        for reply in (each.result() for each in asking):
            if reply.status_code != 200:
                yield f"ask: {reply.status_code} {reply.text[:200]}"
        found = [each.result() for each in both]
        if not any(status == 200 for status, _ in found):
            yield f"neither upload was added: {found}"
        for status, said in found:
            if status not in (200, 422):
                yield f"upload: {status} {said[:200]}"
        yield from _seen(one, two)


def _seen(one: httpx2.Client, two: httpx2.Client) -> Iterator[str]:
    """Yield how a graph that was uploaded at one server is not there at both, or stays."""
    asked, body = "/api/v1/graphs/sent/query", {"query": _COUNT}
    for at in (one, two):
        reply = at.post(asked, json=body)
        if reply.status_code != 200 or "8133" not in reply.text:
            yield f"what was sent: {reply.status_code} {reply.text[:200]}"
    if (reply := one.delete("/api/v1/graphs/sent")).status_code != 204:
        yield f"remove: {reply.status_code} {reply.text[:200]}"
    if (reply := two.post(asked, json=body)).status_code != 404:
        yield f"removed at the other: {reply.status_code} {reply.text[:200]}"


TOGETHER: dict[str, Callable[[Path], Iterator[str]]] = {
    "six graphs added at once": six_graphs,
    "graphs of one name added at once": one_name,
    "an index built beside a replacement": index_beside_replace,
    "two processes write one file": one_file,
    "commands while a graph is replaced": commands_while_replaced,
    "a server while a graph is replaced": server_while_replaced,
    "a server while a graph is removed": server_while_removed,
    "two servers": two_servers,
}


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Try each so many times, in a workspace of its own."""
    template = base(folder / "template")
    for what in given.only:
        for at in range(given.rounds):
            place = folder / f"{at}-{what.replace(' ', '-')}"
            shutil.copytree(template, place)
            began = time.monotonic()
            try:
                faults = list(dict.fromkeys(TOGETHER[what](place)))
            except Exception as error:  # noqa: BLE001 - anything raised is what is looked for
                faults = [f"{type(error).__name__}: {error}"]
            if left := left_over(place):
                faults.append(f"left over: {left}")
            took = time.monotonic() - began
            yield Tried(what, f"round {at + 1}", "; ".join(faults)[:600], took)


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, TOGETHER, {"rounds": (1, "times that each is tried")}))
