"""Commands and servers killed (SIGKILL) at any moment, then looked at, then run again.

    python -m tools.campaign.kills [--changes 5] [--moments 2] [--stops 1] [--only COMMAND ...]

A command is killed at so many of its changes to the disk, evenly taken, and at so many moments by
chance, and stopped (Ctrl-C) so many times; a server is killed so many times, while it takes
verdicts and adds a graph. Survived is: what was there is whole, old or new; no process stays; the
same command then ends well, with all that it should give, what was done is not done again, and
nothing is left over, of what was stopped before that, too.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import uuid
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import sleep

import httpx2
from tools.campaign import _tries as tries

from askgraph.evaluation.runs import read_run
from askgraph.workspace import Workspace

_PROGRAM = [sys.executable, str(Path(__file__).parent / "_killed.py")]
_ASKED = {"question": tries.QUESTION, "graphs": ["space"]}


@dataclass(frozen=True)
class Case:
    """A command; `whole` and `done` name a fault in a workspace after the kill, and at the end."""

    arguments: str
    whole: Callable[[Path], str]
    done: Callable[[Path], str]
    kept: str = ""  # A file whose whole lines the next call goes on from


def _has(name: str, *sizes: int | None) -> Callable[[Path], str]:
    """Return what looks whether a graph has one of these numbers of triples."""

    def look(place: Path) -> str:
        found = tries.triples(place, name)
        return "" if found in sizes else f"a graph of {found} triples"

    return look


def _searches(place: Path) -> str:
    found = Workspace(place).graph("space").indices["entities"].search("Jupiter")
    return "" if found else "the index finds nothing"


def _examples(place: Path, *, some: bool) -> str:
    known = Workspace(place).load_examples("space")
    return "" if known or not some else "no example was kept"


def _batch(place: Path) -> str:
    whole = [json.loads(line)["id"] for line in _whole_lines(place / "out.jsonl")]
    return "" if len(whole) == len(set(whole)) else "an answer twice"


def _all_answers(place: Path) -> str:
    asked, found = (
        [json.loads(line)["id"] for line in (place / name).open()]
        for name in ("questions.jsonl", "out.jsonl")
    )
    return "" if found == asked else f"{len(found)} answers, or not in order"


def _run(place: Path, number: int | None = None) -> str:
    if number is None and not (place / "run" / "run.json").exists():
        return ""
    records = read_run(place / "run").records
    return "" if number in (None, len(records)) else f"{len(records)} records"


CASES = {
    "add": Case("add more more.ttl", _has("more", None, tries.NEW), _has("more", tries.NEW)),
    "add --replace": Case(
        "add space more.ttl --replace",
        _has("space", tries.OLD, tries.NEW),
        _has("space", tries.NEW),
    ),
    "index": Case("index build space --kind bm25", _searches, _searches),
    "examples": Case(
        "examples generate -g space --number 4 --seconds 20",
        partial(_examples, some=False),
        partial(_examples, some=True),
    ),
    "batch": Case(
        "batch questions.jsonl -g space --out out.jsonl", _batch, _all_answers, "out.jsonl"
    ),
    "evaluate": Case(
        "evaluate questions.jsonl -g space --out run",
        _run,
        partial(_run, number=12),
        "run/records.jsonl",
    ),
}


def kill(case: Case, place: Path, mark: str, *, change: int = 0, seconds: float = 0.0) -> str:
    """Run a command, and kill it at a change or after so many seconds; return how that went."""
    program = [*_PROGRAM, str(change), str(place)]
    stop = None if change else (seconds, signal.SIGKILL)
    words, quiet = case.arguments.split(), subprocess.DEVNULL
    tries.askgraph(place, *words, program=program, mark=mark, stop=stop, output=quiet)
    return "" if tries.is_gone(mark) else "a process stays"


def interrupt(case: Case, place: Path, mark: str, seconds: float) -> str:
    """Run a command, and stop it by Ctrl-C after so many seconds; return what it left undone."""
    ran = tries.askgraph(
        place, *case.arguments.split(), mark=mark, stop=(seconds, signal.SIGINT),
        before=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    lost = ran.said.startswith("Exception ignored in")  # by the interpreter's own lock of imports
    if ran.code not in (0, 130, -signal.SIGINT) or ("Traceback" in ran.said and not lost):
        return f"stopped: {ran.code} {ran.said.strip()[-300:]}"
    return tries.left_over(place) if tries.is_gone(mark) else "a process stays"


def survived(case: Case, place: Path) -> str:
    """Look at a workspace after a kill, and run the command again; return a fault."""
    if fault := case.whole(place):
        return fault
    before = _whole_lines(place / case.kept) if case.kept else []
    again = tries.askgraph(place, *case.arguments.split())
    if again.code and "already" not in again.last:
        return f"again: {again.code} {again.last}"
    if fault := case.done(place):
        return f"again: {fault}"
    if case.kept and not set(before) <= set(_whole_lines(place / case.kept)):
        return "what was done was done again"
    return tries.left_over(place)


def _whole_lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith("\n")]


def commands(only: list[str], given: Namespace, folder: Path) -> Iterator[tries.Tried]:
    """Kill each command at changes and moments, and stop it, two at a time."""
    template = tries.base(folder / "template")
    if "index" in only:
        tries.askgraph(template, "index", "build", "space")
    chance = random.Random(24)

    def try_one(name: str, how: str, change: int, seconds: float, *, stops: bool) -> tries.Tried:
        mark, case = uuid.uuid4().hex, CASES[name]
        place = folder / mark
        shutil.copytree(template, place)

        def act() -> str:
            if stops:
                fault = interrupt(case, place, mark, seconds)
            else:
                fault = kill(case, place, mark, change=change, seconds=seconds)
            return fault or survived(case, place)

        tried = tries.attempt(name, how, act)
        shutil.rmtree(place)
        return tried

    with ThreadPoolExecutor(2) as pool:
        waiting = []
        for name in only:
            seconds, number = _measure_whole(name, template, folder / "whole")
            changes = given.changes
            for at in sorted({round(1 + i * (number - 1) / changes) for i in range(changes)}):
                how = f"change {at} of {number}"
                waiting.append(pool.submit(try_one, name, how, at, 0.0, stops=False))
            for at in range(given.moments + given.stops):
                stops, moment = at >= given.moments, seconds * chance.uniform(0.3, 1.0)
                how = f"{'Ctrl-C ' if stops else ''}after {moment:.2f} s"
                waiting.append(pool.submit(try_one, name, how, 0, moment, stops=stops))
        for each in waiting:
            yield each.result()


def _measure_whole(name: str, template: Path, place: Path) -> tuple[float, int]:
    """Run a command to its end; return its seconds, and the number of its changes."""
    shutil.copytree(template, place)
    program = [*_PROGRAM, "0", str(place)]
    whole = tries.askgraph(place, *CASES[name].arguments.split(), program=program)
    assert whole.code == 0, whole.said
    shutil.rmtree(place)
    return whole.seconds, int(whole.last)


def servers(number: int, folder: Path) -> Iterator[tries.Tried]:
    """Kill a server so many times while it answers, takes verdicts and adds a graph."""
    place, chance = tries.base(folder / "served"), random.Random(24)
    for at in range(number):
        kept: list[str] = []

        def act(kept: list[str] = kept, graph: str = f"sent{at}") -> str:
            visitor, family = _strike(place, graph, chance.uniform(0, 1.5), kept)
            stay = [one for one in family if not tries.wait_until(lambda one=one: _ended(one), 10)]  # type: ignore[misc]
            fault = f"processes stay: {stay}" if stay else _go_on(place, graph, visitor, kept)
            return fault or tries.left_over(place)

        tried = tries.attempt("serve", "", act)
        yield tries.Tried("serve", f"{len(kept)} verdicts", tried.fault, tried.seconds)


def _ended(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def _strike(
    place: Path, graph: str, seconds: float, kept: list[str]
) -> tuple[dict[str, str], list[int]]:
    """Kill a server at work, which adds to the verdicts; return its visitor and its processes."""
    with tries.serve(place) as (client, pid):
        client.get("/api/v1/me")  # from here on it is one visitor, by a cookie

        def judge() -> None:
            with contextlib.suppress(httpx2.TransportError):
                while True:
                    id = client.post("/api/v1/ask", json=_ASKED).json()["id"]
                    said = client.post(f"/api/v1/runs/{id}/feedback", json={"verdict": "right"})
                    if said.status_code == 200:
                        kept.append(id)

        with ThreadPoolExecutor(3) as pool:
            working = [pool.submit(judge) for _ in range(3)]
            while not kept and not any(one.done() for one in working):
                sleep(0.05)
            files = [("files", ("more.ttl", (place / "more.ttl").read_bytes()))]
            client.post("/api/v1/graphs/upload", data={"name": graph}, files=files)
            sleep(seconds)
            family = list(tries.tree(pid))
            os.kill(pid, signal.SIGKILL)
            for one in working:
                one.result()
        return dict(client.cookies), family


def _go_on(place: Path, graph: str, visitor: dict[str, str], kept: list[str]) -> str:
    """Serve again; return a fault of the verdicts or of the graph that was being added."""
    with tries.serve(place, cookies=visitor) as (client, _):
        runs = [client.get(f"/api/v1/runs/{id}").json() for id in kept]
        if lost := [run for run in runs if not run.get("feedback")]:
            return f"{len(lost)} of {len(kept)} verdicts are lost"
        if tries.triples(place, graph) is not None:
            return _has(graph, tries.NEW)(place)
        status, said = tries.uploaded(client, graph, "more.ttl", (place / "more.ttl").read_bytes())
        return "" if status == 200 else f"again: {status} {said}"


def campaign(folder: Path, given: Namespace) -> Iterator[tries.Tried]:
    """Kill the commands, and servers."""
    yield from commands([name for name in given.only if name in CASES], given, folder)
    if "serve" in given.only:
        yield from servers(given.moments, folder)


if __name__ == "__main__":
    each = "of each command, at which it is killed"
    options = {
        "changes": (5, f"changes {each}"),
        "moments": (2, f"moments {each}, or a server"),
        "stops": (1, "times that each is stopped by Ctrl-C"),
    }
    sys.exit(tries.main(__doc__, campaign, [*CASES, "serve"], options))
