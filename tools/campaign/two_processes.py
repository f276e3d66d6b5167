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
from functools import partial
from pathlib import Path

import httpx2
from tools.campaign import _tries as tries
from tools.campaign.kills import CASES

from askgraph.workspace import Workspace

_COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
_ASKED = {"question": tries.QUESTION, "graphs": ["space"]}


def together(place: Path, *commands: str) -> list[tries.Ran]:
    """Run commands at once."""
    with ThreadPoolExecutor(len(commands)) as pool:
        return list(pool.map(lambda one: tries.askgraph(place, *one.split()), commands))


def failed(runs: list[tries.Ran], *fine: str) -> Iterator[str]:
    """Yield what failed, but for refusals with one of these words."""
    for ran in runs:
        if ran.code and not (ran.code == 2 and any(words in ran.said for words in fine)):
            yield f"{ran.code} {ran.last[-200:]}"


def lacking(place: Path, *names: str) -> Iterator[str]:
    """Yield which of some graphs are not the new one."""
    if lost := [name for name in names if tries.triples(place, name) != tries.NEW]:
        yield f"not there, or not whole: {lost}"


def six_graphs(place: Path) -> Iterator[str]:
    """Add six graphs at once."""
    names = [f"g{at}" for at in range(6)]
    yield from failed(together(place, *(f"add {name} more.ttl" for name in names)))
    yield from lacking(place, *names)


def one_name(place: Path) -> Iterator[str]:
    """Add graphs of one name at once, in place of another and not."""
    yield from failed(together(place, *["add new more.ttl"] * 3), "already")
    yield from failed(together(place, *["add space more.ttl --replace"] * 3))
    yield from lacking(place, "new", "space")


def index_beside_replace(place: Path) -> Iterator[str]:
    """Build an index while its graph is replaced."""
    build = "index build space --kind bm25"
    yield from failed(together(place, build, "add space more.ttl --replace", build), "rebuilt")
    if not Workspace(place).graph("space").indices["entities"].search("Jupiter"):
        yield "the index finds nothing"


def one_file(place: Path) -> Iterator[str]:
    """Write one file of answers, and one run, from two processes."""
    for name in ("batch", "evaluate", "examples"):
        case = CASES[name]
        yield from failed(together(place, case.arguments, case.arguments), "another process")
        tries.askgraph(place, *case.arguments.split())
        if fault := case.done(place):
            yield f"{name}: {fault}"


def commands_while_replaced(place: Path) -> Iterator[str]:
    """Ask on the command line while the graph is replaced, to and fro."""
    (place / "count.rq").write_text(_COUNT)
    with replacing(place) as going:
        while not going.done():
            yield from failed(together(place, "query -g space @count.rq"))
    yield from failed(going.result())
    if tries.triples(place, "space") not in (tries.OLD, tries.NEW):
        yield "it is not whole"


@contextmanager
def replacing(place: Path, *, remove: bool = False) -> Iterator["Future[list[tries.Ran]]"]:
    """Replace the graph four times meanwhile, or remove it and add it again."""
    shutil.copy(place / "more.ttl", place / "other.ttl")

    def work() -> list[tries.Ran]:
        runs = []
        for at in range(4):
            if remove:
                runs.append(tries.askgraph(place, "remove", "space"))
            file = ("more.ttl", "other.ttl")[at % 2]
            runs.append(tries.askgraph(place, "add", "space", file, "--replace"))
        return runs

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work)


def unlike(what: str, reply: httpx2.Response, *fine: int) -> Iterator[str]:
    """Yield a reply whose status is not as it has to be."""
    if reply.status_code not in fine:
        yield f"{what}: {reply.status_code} {reply.text[:200]}"


def server_while_replaced(place: Path, *, remove: bool = False) -> Iterator[str]:
    """Ask a server while the graph is replaced, or removed and added again."""
    fine = (200, 404, 422) if remove else (200,)
    with tries.serve(place) as (client, _):
        with replacing(place, remove=remove) as going:
            while not going.done():
                path = "/api/v1/graphs/space/query"
                yield from unlike("query", client.post(path, json={"query": _COUNT}), *fine)
                yield from unlike("ask", client.post("/api/v1/ask", json=_ASKED), *fine)
                time.sleep(0.02)
        yield from failed(going.result())
        reply = client.post("/api/v1/ask", json={"question": tries.QUESTION})
        yield from unlike("at the end", reply, 200)


def two_servers(place: Path) -> Iterator[str]:
    """Ask, judge and upload at two servers of one workspace and database."""
    more = (place / "more.ttl").read_bytes()
    with (
        tries.serve(place) as (one, _),
        tries.serve(place) as (two, _),
        ThreadPoolExecutor(4) as pool,
    ):
        both = [pool.submit(tries.uploaded, at, "sent", "more.ttl", more) for at in (one, two)]
        asking = [pool.submit(at.post, "/api/v1/ask", json=_ASKED) for at in (one, two) * 10]
        for each in asking:
            yield from unlike("ask", each.result(), 200)
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
        yield from unlike("what was sent", reply, 200)
        if str(tries.NEW) not in reply.text:
            yield f"what was sent: {reply.text[:200]}"
    yield from unlike("remove", one.delete("/api/v1/graphs/sent"), 204)
    yield from unlike("removed at the other", two.post(asked, json=body), 404)


TOGETHER: dict[str, Callable[[Path], Iterator[str]]] = {
    "six graphs added at once": six_graphs,
    "graphs of one name added at once": one_name,
    "an index built beside a replacement": index_beside_replace,
    "two processes write one file": one_file,
    "commands while a graph is replaced": commands_while_replaced,
    "a server while a graph is replaced": server_while_replaced,
    "a server while a graph is removed": partial(server_while_replaced, remove=True),
    "two servers": two_servers,
}


def campaign(folder: Path, given: Namespace) -> Iterator[tries.Tried]:
    """Try each so many times, in a workspace of its own."""
    template = tries.base(folder / "template")
    for what in given.only:
        for at in range(given.rounds):
            place = folder / f"{at}-{what.replace(' ', '-')}"
            shutil.copytree(template, place)

            def act(what: str = what, place: Path = place) -> str:
                faults = [*dict.fromkeys(TOGETHER[what](place)), tries.left_over(place)]
                return "; ".join(filter(None, faults))

            yield tries.attempt(what, f"round {at + 1}", act)


if __name__ == "__main__":
    sys.exit(tries.main(__doc__, campaign, TOGETHER, {"rounds": (1, "times that each is tried")}))
