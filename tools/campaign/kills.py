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
import time
import uuid
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx2
from tools.campaign._tries import (
    Tried,
    askgraph,
    base,
    environment,
    gone,
    left_over,
    main,
    served,
    tree,
    triples,
    uploaded,
)

from askgraph.evaluation.runs import read_run
from askgraph.workspace import Workspace

_PROGRAM = [sys.executable, str(Path(__file__).parent / "_killed.py")]
_OLD, _NEW = 8132, 8133  # triples of the sample, and of what takes its place
_QUESTIONS = 12

Look = Callable[[Path], str]


@dataclass(frozen=True)
class Case:
    """A command; `whole` and `done` name a fault in a workspace after the kill, and at the end."""

    arguments: str
    whole: Look
    done: Look
    kept: str = ""
    """A file whose whole lines the next call goes on from."""


def _added(place: Path) -> str:
    found = triples(place, "more")
    return "" if found in (None, _NEW) else f"half of a graph: {found}"


def _replaced(place: Path) -> str:
    found = triples(place, "space")
    return "" if found in (_OLD, _NEW) else f"neither old nor new: {found}"


def _is_new(name: str) -> Look:
    def done(place: Path) -> str:
        found = triples(place, name)
        return "" if found == _NEW else f"not the new graph: {found}"

    return done


def _searches(place: Path) -> str:
    graph = Workspace(place).graph("space")
    found = graph.indices["entities"].search("Jupiter")
    return "" if found else "the index finds nothing"


def _examples(place: Path) -> str:
    Workspace(place).known_examples("space")
    return ""


def _some_examples(place: Path) -> str:
    return "" if Workspace(place).known_examples("space") else "no example was kept"


def _lines(place: Path) -> list[str]:
    path = place / "out.jsonl"
    return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []


def _batch(place: Path) -> str:
    whole = [json.loads(line)["id"] for line in _lines(place) if line.endswith("\n")]
    return "" if len(whole) == len(set(whole)) else "an answer twice"


def _all_answers(place: Path) -> str:
    found = [json.loads(line) for line in _lines(place)]
    asked = [json.loads(line)["id"] for line in (place / "questions.jsonl").open()]
    return "" if [one["id"] for one in found] == asked else f"{len(found)} answers, or not in order"


def _run(place: Path) -> str:
    if (place / "run" / "run.json").exists():
        read_run(place / "run")
    return ""


def _all_records(place: Path) -> str:
    found = read_run(place / "run").records
    return "" if len(found) == _QUESTIONS else f"{len(found)} records"


CASES = {
    "add": Case("add more more.ttl", _added, _is_new("more")),
    "add --replace": Case("add space more.ttl --replace", _replaced, _is_new("space")),
    "index": Case("index build space --kind bm25", _searches, _searches),
    "examples": Case(
        "examples generate -g space --number 4 --seconds 20", _examples, _some_examples
    ),
    "batch": Case(
        "batch questions.jsonl -g space --out out.jsonl", _batch, _all_answers, "out.jsonl"
    ),
    "evaluate": Case(
        "evaluate questions.jsonl -g space --out run", _run, _all_records, "run/records.jsonl"
    ),
}


def killed(case: Case, place: Path, mark: str, *, change: int = 0, seconds: float = 0.0) -> str:
    """Run a command, and kill it at a change or after so many seconds; return how that went."""
    command = [*_PROGRAM, str(change), str(place), *case.arguments.split()]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=place, env=environment(place, mark), stdin=quiet, stdout=quiet, stderr=quiet
    ) as process:
        if not change:
            time.sleep(seconds)
            process.kill()
        process.wait(60)
    return "" if gone(mark) else "a process stays"


def stopped(case: Case, place: Path, mark: str, seconds: float) -> str:
    """Run a command, and stop it by Ctrl-C after so many seconds; return what it left undone."""
    command = [sys.executable, "-m", "askgraph", *case.arguments.split()]
    with subprocess.Popen(
        command,
        cwd=place,
        env=environment(place, mark),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    lost = said.startswith("Exception ignored in")  # by the interpreter's own lock of imports
    told = "Traceback" in said and not lost
    if process.returncode not in (0, 130, -signal.SIGINT) or told:
        return f"stopped: {process.returncode} {said.strip()[-300:]}"
    if not gone(mark):
        return "a process stays"
    left = left_over(place)
    return f"left over by Ctrl-C: {left}" if left else ""


def survived(case: Case, place: Path) -> str:
    """Look at a workspace after a kill, and run the command again; return a fault."""
    if fault := case.whole(place):
        return fault
    before = _whole_lines(place / case.kept) if case.kept else set()
    again = askgraph(place, *case.arguments.split())
    if again.code and "already" not in again.last:
        return f"again: {again.code} {again.last}"
    if fault := case.done(place):
        return f"again: {fault}"
    if case.kept and not before <= _whole_lines(place / case.kept):
        return "what was done was done again"
    left = left_over(place)
    return f"left over: {left}" if left else ""


def _whole_lines(path: Path) -> set[str]:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return {line for line in lines if line.endswith("\n")}


def commands(only: list[str], given: Namespace, folder: Path) -> Iterator[Tried]:
    """Kill each command at changes and moments, and stop it, two at a time."""
    template = base(folder / "template")
    if "index" in only:
        askgraph(template, "index", "build", "space")
    chance = random.Random(24)

    def one(name: str, how: str, change: int, seconds: float, stops: bool) -> Tried:
        mark = uuid.uuid4().hex
        place = folder / mark
        shutil.copytree(template, place)
        began = time.monotonic()
        case = CASES[name]
        try:
            if stops:
                fault = stopped(case, place, mark, seconds)
            else:
                fault = killed(case, place, mark, change=change, seconds=seconds)
            fault = fault or survived(case, place)
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
            fault = f"{type(error).__name__}: {error}"
        shutil.rmtree(place)
        return Tried(name, how, fault, time.monotonic() - began)

    with ThreadPoolExecutor(2) as pool:
        waiting = []
        for name in only:
            whole = _whole(name, template, folder / "whole")
            waiting += [pool.submit(one, name, *how) for how in _hows(*whole, given, chance)]
        for each in waiting:
            yield each.result()


def _hows(
    seconds: float, number: int, given: Namespace, chance: random.Random
) -> Iterator[tuple[str, int, float, bool]]:
    """Yield how a command is killed: in words, at which change or moment, whether by Ctrl-C."""
    changes = given.changes
    for at in sorted({round(1 + i * (number - 1) / changes) for i in range(changes)}):
        yield f"change {at} of {number}", at, 0.0, False
    for at in range(given.moments + given.stops):
        stops, moment = at >= given.moments, seconds * chance.uniform(0.3, 1.0)
        yield f"{'Ctrl-C ' if stops else ''}after {moment:.2f} s", 0, moment, stops


def _whole(name: str, template: Path, place: Path) -> tuple[float, int]:
    """Run a command to its end; return its seconds, and the number of its changes."""
    shutil.copytree(template, place)
    program = [*_PROGRAM, "0", str(place)]
    whole = askgraph(place, *CASES[name].arguments.split(), program=program)
    assert whole.code == 0, whole.said
    shutil.rmtree(place)
    return whole.seconds, int(whole.last)


def serves(number: int, folder: Path) -> Iterator[Tried]:
    """Kill a server so many times while it answers, takes verdicts and adds a graph."""
    place, chance = base(folder / "served"), random.Random(24)
    for at in range(number):
        began, graph = time.monotonic(), f"sent{at}"
        visitor, kept, family = _struck(place, graph, chance.uniform(0, 1.5))
        stay = [one for one in family if not ended(one)]
        fault = f"processes stay: {stay}" if stay else _went_on(place, graph, visitor, kept)
        fault = fault or left_over(place)
        yield Tried("serve", f"{len(kept)} verdicts", fault, time.monotonic() - began)


def _struck(place: Path, graph: str, seconds: float) -> tuple[dict[str, str], list[str], list[int]]:
    """Kill a server at work; return its visitor, the verdicts it took, and its processes."""
    question = {"question": "Which moons orbit Jupiter?", "graphs": ["space"]}
    kept: list[str] = []
    with served(place) as (url, pid), httpx2.Client(base_url=url, timeout=60) as client:
        client.get("/api/v1/me")  # from here on it is one visitor, by a cookie

        def judged() -> None:
            with contextlib.suppress(httpx2.TransportError):
                while True:
                    id = client.post("/api/v1/ask", json=question).json()["id"]
                    said = client.post(f"/api/v1/runs/{id}/feedback", json={"verdict": "right"})
                    if said.status_code == 200:
                        kept.append(id)

        with ThreadPoolExecutor(3) as pool:
            working = [pool.submit(judged) for _ in range(3)]
            while not kept and not any(one.done() for one in working):
                time.sleep(0.05)
            files = [("files", ("more.ttl", (place / "more.ttl").read_bytes()))]
            client.post("/api/v1/graphs/upload", data={"name": graph}, files=files)
            time.sleep(seconds)
            family = list(tree(pid))
            os.kill(pid, signal.SIGKILL)
            for one in working:
                one.result()
        return dict(client.cookies), kept, family


def _went_on(place: Path, graph: str, visitor: dict[str, str], kept: list[str]) -> str:
    """Serve again; return a fault of the verdicts or of the graph that was being added."""
    with (
        served(place) as (url, _),
        httpx2.Client(base_url=url, cookies=visitor, timeout=60) as client,
    ):
        runs = [client.get(f"/api/v1/runs/{id}").json() for id in kept]
        if lost := [run for run in runs if not run.get("feedback")]:
            return f"{len(lost)} of {len(kept)} verdicts are lost"
        found = triples(place, graph)
        if found is None:
            status, said = uploaded(client, graph, "more.ttl", (place / "more.ttl").read_bytes())
            return "" if status == 200 else f"again: {status} {said}"
        return "" if found == _NEW else f"half of a graph: {found}"


def ended(pid: int, seconds: float = 10.0) -> bool:
    """Wait until a process has ended; whether it has."""
    until = time.monotonic() + seconds
    while Path(f"/proc/{pid}").exists():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Kill the commands, and servers."""
    known = [name for name in given.only if name in CASES]
    yield from commands(known, given, folder)
    if "serve" in given.only:
        yield from serves(given.moments, folder)


if __name__ == "__main__":
    each = "of each command, at which it is killed"
    options = {
        "changes": (5, f"changes {each}"),
        "moments": (2, f"moments {each}, or a server"),
        "stops": (1, "times that each is stopped by Ctrl-C"),
    }
    sys.exit(main(__doc__, campaign, [*CASES, "serve"], options))
