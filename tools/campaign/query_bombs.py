"""Queries made to hold a server: long, deep, unfinished; each sent to every route that reads one.

    python -m tools.campaign.query_bombs [--characters 1000000] [--only NAME ...] [--json FILE]

Another caller asks `healthz` all the while. A query is survived if each route answers or refuses it
with a status below 500 within a second of the processor, and the server lives on; the table shows
the slowest reply by the clock and by the processor, and how long the other caller waited.
"""

import asyncio
import contextlib
import os
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
from tools.campaign._tries import Tried, main, print_lines, served, tree

SECONDS = 1.0
ROUTES: dict[str, dict[str, int]] = {
    **{name: {} for name in ("query", "answer", "validate", "format", "parts")},
    "evidence": {"row": 0},
}
MOST = 100_000  # characters that a route of the REST interface takes; `/sparql` takes 1,000,000

# head, what is repeated, tail
FORMS = {
    "services": ("SELECT * WHERE { ", "SERVICE <http://e/a> { ?s ?p ?o } ", "}"),
    "services to a variable": ("SELECT * WHERE { ", "SERVICE SILENT ?v { } ", "}"),
    "the word SERVICE": ("SELECT * WHERE { ", "SERVICE ", "}"),
    "a list": ("SELECT * WHERE { ?s ?p (", "1 ", ")}"),
    "lists in lists": ("SELECT * WHERE { ?s ?p ", "(1 ", "}"),
    "braces": ("SELECT * WHERE ", "{", ""),
    "braces that close nothing": ("SELECT * WHERE ", "}", ""),
    "brackets": ("SELECT * WHERE { ?s ?p ", "[ ?p ", "}"),
    "less than": ("SELECT * WHERE { ", "<", "}"),
    "less than, apart": ("SELECT * WHERE { FILTER(1 ", "< ", "}"),
    "short comments": ("SELECT * WHERE { ", "#\n", "?s ?p ?o}"),
    "a comment that does not end": ("SELECT * WHERE { ", "# ", "?s ?p ?o}"),
    "at": ("SELECT * WHERE { ", "@", "}"),
    "tagged texts": ("SELECT * WHERE { ?s ?p ", "'a'@en, ", "1}"),
    "a number": ("SELECT * WHERE { ?s ?p ", "1", "}"),
    "exponents": ("SELECT * WHERE { ?s ?p ", "1e", "}"),
    "numbers": ("SELECT * WHERE { ?s ?p ", "1,", "2}"),
    "a sum": ("SELECT * WHERE { FILTER(1", "+1", ")}"),
    "signs": ("SELECT * WHERE { FILTER(", "+", ")}"),
    "not": ("SELECT * WHERE { FILTER(", "!", "1)}"),
    "or": ("SELECT * WHERE { FILTER(1", "||1", ")}"),
    "quotes": ("SELECT * WHERE { ", "'", "}"),
    "long quotes": ("SELECT * WHERE { ", '"""', "}"),
    "backslashes": ("SELECT * WHERE { ?s ?p '", "\\\\", "'}"),
    "escapes": ("SELECT * WHERE { ?s ?p '", "\\u0041", "'}"),
    "colons": ("SELECT * WHERE { ", ":", "}"),
    "alternatives": ("SELECT * WHERE { ?s ", "<a:b>|", "<a:b> ?o}"),
    "prefixes": ("", "PREFIX a: <http://x/> ", "SELECT * {}"),
    "columns": ("SELECT ", "?a ", "{}"),
    "dots": ("SELECT * WHERE { ?s ?p ?o ", ".", "}"),
    "patterns": ("SELECT * WHERE { ", "?s ?p ?o . ", "}"),
    "optionals": ("SELECT * WHERE { ", "OPTIONAL { ?s ?p ?o } ", "}"),
    "unions": ("SELECT * WHERE { {} ", "UNION {} ", "}"),
    "values": ("SELECT * WHERE { VALUES ?x {", "<http://e/a> ", "}}"),
    "unknown prefixes": ("SELECT * WHERE { VALUES ?x {", "wd:Q1 ", "}}"),
    "one of many": ("SELECT * WHERE { ?s ?p ?o FILTER(?o IN (1", ",1", "))}"),
    "spaces": ("SELECT * WHERE { ", " ", "}"),
    "a word": ("SELECT * WHERE { ", "a", "}"),
    "emoji": ("SELECT * WHERE { ", "😀", "}"),
    "zeros": ("SELECT * WHERE { ", "\0", "}"),
    "keys of groups": ("SELECT (1 AS ?x) WHERE { } GROUP BY ", "?a ", ""),
    "keys of order": ("SELECT * WHERE { } ORDER BY ", "?a ", ""),
    "queries in queries": ("", "SELECT * WHERE { ", "}"),
    "a path": ("SELECT * WHERE { ?s ", "a/", "a ?o}"),
    "a deep path": ("SELECT * WHERE { ?s ", "(", "a ?o}"),
    "inverses": ("SELECT * WHERE { ?s ", "^", "a ?o}"),
    "calls in calls": ("SELECT * WHERE { FILTER(", "str(", "}"),
    "graphs": ("SELECT * ", "FROM <http://e/> ", "WHERE {}"),
    "quoted triples": ("SELECT * WHERE { ", "<< ", "}"),
}


def bomb(form: str, characters: int) -> str:
    """Return a query of a form with so many characters."""
    head, part, tail = FORMS[form]
    return head + part * ((characters - len(head) - len(tail)) // len(part)) + tail


async def waited(url: str, stop: asyncio.Event) -> list[float]:
    """Ask `healthz` until it stops; return how long each took, in seconds."""
    took = []
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        while not stop.is_set():
            began = time.perf_counter()
            (await client.get("/healthz")).raise_for_status()
            took.append(time.perf_counter() - began)
            await asyncio.sleep(0.01)
    return took


def used(pid: int) -> float:
    """Return the seconds of the processor that a process and all below it took so far."""
    ticks = 0
    for one in tree(pid):
        with contextlib.suppress(OSError):  # it has ended: what it took is its parent's now
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Sent:
    """What came of a query: the slowest reply, and how long another caller waited meanwhile."""

    form: str
    characters: int
    statuses: list[int]
    seconds: float
    processor: float
    route: str
    others: list[float]

    @property
    def line(self) -> tuple[object, ...]:
        """Its line of the table; what others waited is in milliseconds."""
        median, most = (f"{1000 * one:.0f}" for one in (statistics.median(self.others), self.most))
        took = (f"{self.seconds:.2f}", f"{self.processor:.2f}", self.route, median, most)
        return (self.form, self.characters, *self.statuses[:1], *took)

    @property
    def most(self) -> float:
        """The longest that another caller waited."""
        return max(self.others)

    @property
    def fault(self) -> str:
        """What was not survived."""
        if self.statuses[-1] >= 500:
            return f"a status of {self.statuses[-1]}"
        return f"{self.processor:.2f} s of the processor" if self.processor > SECONDS else ""


async def sent(url: str, pid: int, form: str, characters: int) -> Sent:
    """Send a query to each route, one after the other; return what came."""
    query, shorter = bomb(form, characters), bomb(form, min(characters, MOST))
    stop = asyncio.Event()
    other = asyncio.create_task(waited(url, stop))
    replies: list[tuple[float, float, str]] = []
    statuses = set()
    async with httpx2.AsyncClient(base_url=url, timeout=120) as client:
        for route in (*ROUTES, "sparql"):
            began, before = time.perf_counter(), used(pid)
            if route == "sparql":
                reply = await client.post("/sparql/space", data={"query": query})
            else:
                body = {"query": shorter, **ROUTES[route]}
                reply = await client.post(f"/api/v1/graphs/space/{route}", json=body)
            if reply.status_code >= 500:
                print(form, route, reply.text[:300], file=sys.stderr)
            statuses.add(reply.status_code)
            replies.append((time.perf_counter() - began, used(pid) - before, route))
    stop.set()
    seconds, _, route = max(replies)
    most = max(processor for _, processor, _ in replies)
    return Sent(form, len(query), sorted(statuses), seconds, most, route, await other)


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Send every query, and print what each came to."""
    came = []
    with served(folder, "--sample") as (url, pid):
        asyncio.run(sent(url, pid, "patterns", 100))
        for form in given.only:
            came.append(one := asyncio.run(sent(url, pid, form, given.characters)))
            said = f"{one.characters:,} characters: {', '.join(map(str, one.statuses))}"
            yield Tried("a query", form, one.fault, one.seconds, said)
    heads = ("query", "characters", "status", "seconds", "processor", "route", "others, ms", "most")
    print_lines(heads, *(one.line for one in came))
    others = [wait for one in came for wait in one.others]
    print(
        f"slowest {max(one.seconds for one in came):.2f} s,"
        f" {max(one.processor for one in came):.2f} s of the processor; healthz of another:"
        f" median {1000 * statistics.median(others):.0f} ms, at most {1000 * max(others):.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, FORMS, {"characters": (1_000_000, "of each query")}))
