"""Queries made to hold a server: long, deep, unfinished; each sent to every route that reads one.

    python -m tools.campaign.query_bombs [--characters 1000000] [--only NAME ...] [--json FILE]

Another caller asks `healthz` all the while. A query is survived if each route answers or refuses it
with a status below 500 within a second of the processor, and the server lives on; the table shows
the slowest reply by the clock and by the processor, and how long the other caller waited.
"""

import contextlib
import os
import statistics
import sys
import threading
import time
import tomllib
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
from tools.campaign._tries import Tried, main, print_lines, send_query, serve, tree

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


Row = tuple[str, int, int, float, float, str, list[float]]
"""A query, its characters and worst status, its slowest reply by the clock and by the processor,
the route of that, and the milliseconds that another caller waited meanwhile."""


def send(client: httpx2.Client, pid: int, form: str, characters: int) -> Row:
    """Send a query to each route, one after the other; return what came."""
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
    return form, len(query), status, seconds, processor, route, other.result()


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Send every query, and print what each came to."""
    rows: list[Row] = []
    with serve(folder, "--sample", timeout=120) as (client, pid):
        send(client, pid, "patterns", 100)
        for form in given.only:
            rows.append(row := send(client, pid, form, given.characters))
            _, characters, status, seconds, processor, *_ = row
            fault = f"{processor:.2f} s of the processor" if processor > SECONDS else ""
            fault = f"a status of {status}" if status >= 500 else fault
            words = f"{characters:,} characters: up to {status}"
            yield Tried("a query", form, fault, seconds, words)
    heads = ("query", "characters", "status", "seconds", "processor", "route", "others, ms", "most")
    figures = (
        (*row[:3], f"{row[3]:.2f}", f"{row[4]:.2f}", row[5], *describe(row[6])) for row in rows
    )
    print_lines(heads, *figures)
    median, most = describe([wait for row in rows for wait in row[6]])
    print(
        f"slowest {max(row[3] for row in rows):.2f} s,"
        f" {max(row[4] for row in rows):.2f} s of the processor; healthz of another:"
        f" median {median} ms, at most {most} ms"
    )


def describe(waits: Sequence[float]) -> tuple[str, str]:
    """Return the median and the maximum."""
    return f"{statistics.median(waits):.0f}", f"{max(waits):.0f}"


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, FORMS, {"characters": (1_000_000, "of each query")}))
