"""Queries made to hold a server: long, deep, unfinished; each sent to every route that reads one.

    python -m tools.campaign.query_bombs [--characters 1000000] [--only NAME ...] [--json FILE]

Another caller asks `healthz` all the while. A query is survived if each route answers or refuses it
with a status below 500 within a second of the processor, and the server lives on. Told are the
slowest reply by the clock and by the processor, and how long the other caller waited.
"""

import contextlib
import os
import statistics
import sys
import threading
import time
import tomllib
from argparse import Namespace
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
from tools.campaign._tries import Tried, main, send_query, serve, tree

SECONDS = 1.0
MOST = 100_000  # characters that a route of the REST interface takes; `/sparql` takes 1,000,000

FORMS: Mapping[str, tuple[str, str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
"""Head, what is repeated, and tail of each query."""


def bomb(form: str, characters: int) -> str:
    """Return a query of a form with so many characters."""
    head, part, tail = FORMS[form]
    return head + part * ((characters - len(head) - len(tail)) // len(part)) + tail


def ask_health(client: httpx2.Client, stop: threading.Event) -> list[float]:
    """Ask `healthz` until it stops; return how long each took, in milliseconds."""
    took = []
    while not stop.wait(0.01):
        began = time.perf_counter()
        client.get("/healthz").raise_for_status()
        took.append(1000 * (time.perf_counter() - began))
    return took


def used(pid: int) -> float:
    """Return the seconds of the processor that a process and all below it took so far."""
    ticks = 0
    for one in tree(pid):
        with contextlib.suppress(OSError):  # it has ended: what it took is its parent's now
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def send(client: httpx2.Client, pid: int, form: str, characters: int) -> tuple[Tried, list[float]]:
    """Send a query to each route, one after the other; return what came, and others' waits."""
    query, shorter = bomb(form, characters), bomb(form, min(characters, MOST))
    stop = threading.Event()
    replies = []
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(ask_health, client, stop)
        try:
            began, before = time.perf_counter(), used(pid)
            for route, reply in send_query(client, shorter, whole=query):
                took = (time.perf_counter() - began, used(pid) - before)
                replies.append((*took, route, reply.status_code))
                if reply.status_code >= 500:
                    print(form, route, reply.text[:300], file=sys.stderr)
                began, before = time.perf_counter(), used(pid)
        finally:
            stop.set()
    seconds, _, route, _ = max(replies)
    processor, status = max(one[1] for one in replies), max(one[3] for one in replies)
    fault = f"{processor:.2f} s of the processor" if processor > SECONDS else ""
    fault = f"a status of {status}" if status >= 500 else fault
    words = f"{len(query):,} characters: up to {status}, {processor:.2f} s at work, {route}"
    return Tried("a query", form, fault, seconds, words), other.result()


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Send every query, and print how long another caller waited."""
    waits: list[float] = []
    with serve(folder, "--sample", timeout=120) as (client, pid):
        send(client, pid, "patterns", 100)
        for form in given.only:
            tried, more = send(client, pid, form, given.characters)
            waits += more
            yield tried
    print(f"healthz of another: median {statistics.median(waits):.0f} ms, at most {max(waits):.0f}")


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, FORMS, {"characters": (1_000_000, "of each query")}))
