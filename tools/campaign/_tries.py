"""What the parts of the campaign share: options and report, commands, workspaces, their states."""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import httpx2

from _measure import print_lines as print_lines
from _measure import tree as tree
from _served import served as served
from askgraph import sample
from askgraph.workspace import Workspace

MARK = "ASKGRAPH_CAMPAIGN"
"""A variable of the environment, by which the processes of one try are found."""
_OWN = (".lock", ".locks")


@dataclass(frozen=True)
class Tried:
    """Something that was tried, the `fault` that was found (empty: survived), and its seconds."""

    what: str
    how: str
    fault: str
    seconds: float
    words: str = ""


@dataclass(frozen=True)
class Ran:
    """A command that has ended: its exit code (of a signal, negative) and all that it wrote."""

    code: int
    out: str
    said: str
    seconds: float
    mb: float = 0.0
    """The most memory that one of its processes had, as far as was seen."""

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return (self.said.strip().splitlines() or [""])[-1]


def environment(place: Path, mark: str = "") -> dict[str, str]:
    """Return the environment of a command on a workspace."""
    return {**os.environ, "ASKGRAPH_WORKSPACE": str(place), MARK: mark, "OMP_NUM_THREADS": "1"}


def askgraph(
    place: Path,
    *arguments: object,
    program: Sequence[str] = (sys.executable, "-m", "askgraph"),
    mark: str = "",
    seconds: float = 60.0,
    limits: Callable[[], None] | None = None,
) -> Ran:
    """Run a command on a workspace; one that takes longer is killed, and its code is 124."""
    began = time.monotonic()
    command = [*program, *map(str, arguments)]
    with subprocess.Popen(
        command,
        cwd=place,
        env=environment(place, mark),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limits,
    ) as process:
        most, late = 0.0, False
        while True:
            try:
                out, said = process.communicate(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                most = max(most, *map(peak, tree(process.pid)))
                if time.monotonic() - began > seconds:
                    process.kill()
                    late = True
    return Ran(124 if late else process.returncode, out, said, time.monotonic() - began, most)


def peak(pid: int) -> float:
    """Return the most memory that a process ever had, in MB; 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def uploaded(client: httpx2.Client, graph: str, name: str, content: bytes) -> tuple[int, str]:
    """Upload a file as a graph; return 200, or the status and text of why it was not added."""
    files = [("files", (name, content))]
    reply = client.post("/api/v1/graphs/upload", data={"name": graph}, files=files)
    if reply.status_code >= 400:
        return reply.status_code, reply.text
    id, until = reply.json()["id"], time.monotonic() + 90
    while (job := client.get(f"/api/v1/jobs/{id}").json())["state"] in ("queued", "running"):
        if time.monotonic() > until:
            return 0, "it does not end"
        time.sleep(0.05)
    problem = job["problem"]
    return (problem["status"], json.dumps(problem)) if problem else (200, "")


def workspace(place: Path, settings: str = "") -> Path:
    """Make a workspace with the sample graph `space` and these settings; return its folder."""
    Workspace(place).add("space", [sample.graph_path()])
    with (place / "askgraph.toml").open("a") as file:
        file.write(settings)
    return place


def base(place: Path, settings: str = "") -> Path:
    """Make such a workspace with some questions, and another graph to add."""
    workspace(place, settings)
    known = sample.questions_path().with_suffix(".jsonl").read_text(encoding="utf-8")
    (place / "questions.jsonl").write_text("\n".join(known.splitlines()[:12]) + "\n")
    more = sample.graph_path().read_text(encoding="utf-8")
    (place / "more.ttl").write_text(more + "\n<http://e/a> <http://e/b> <http://e/c> .\n")
    return place


def triples(place: Path, name: str) -> int | None:
    """Return how many triples a graph gives when it is asked; None if there is no such graph."""
    workspace = Workspace(place)
    if name not in workspace.graphs():
        return None

    async def counted() -> int:
        graph = await asyncio.to_thread(workspace.graph, name)
        try:
            found = await graph.endpoint.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
            known = graph.profile.triples
            count = int(found.rows[0][0].value)  # type: ignore[union-attr]
            return count if count == known else -1
        finally:
            await graph.endpoint.close()

    return asyncio.run(counted())


def left_over(place: Path, known: Iterable[str] = ()) -> str:
    """Return what lies in a workspace that is no one's: files and folders on their way."""
    found = [
        path.relative_to(place).as_posix()
        for path in place.rglob("*")
        if (path.name.startswith(".") or path.name.endswith(".partial"))
        and path.name not in _OWN
        and not any(part.startswith(".") for part in path.relative_to(place).parts[:-1])
    ]
    return ", ".join(sorted(set(found) - set(known)))


def processes(mark: str) -> list[int]:
    """Return the processes that were started with a mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:
            continue  # it has ended, or is another's
    return found


def gone(mark: str, seconds: float = 5.0) -> bool:
    """Wait until no process has the mark any more; return whether it came to that."""
    until = time.monotonic() + seconds
    while processes(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


Campaign = Callable[[Path, argparse.Namespace], Iterable[Tried]]
"""What is tried, in a folder of its own and as the options say."""


def main(
    about: str | None,
    campaign: Campaign,
    known: Iterable[str] = (),
    numbers: Mapping[str, tuple[int | Sequence[int], str]] = MappingProxyType({}),
) -> int:
    """Try all, or those of `known` that `--only` names, and print the report; return the exit code.

    `numbers` are its options: what each is if it is not given, and what it means.
    """
    parser = argparse.ArgumentParser(description=about)
    if known := tuple(known):
        parser.add_argument("--only", nargs="*", choices=known, default=known, metavar="WHAT")
    for name, (number, what) in numbers.items():
        many = None if isinstance(number, int) else "*"
        parser.add_argument(f"--{name}", type=int, nargs=many, default=number, help=what)
    parser.add_argument("--json", type=Path, help="also write what came to this file")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for one in campaign(Path(folder), given):
            found.append(one)
            if one.seconds > 0.5:
                told = (one.what, one.how, f"{one.seconds:.1f} s", one.fault or one.words)
                print(*told, sep=" | ", file=sys.stderr, flush=True)
    return concluded(found, given.json)


def concluded(found: Sequence[Tried], kept: Path | None = None) -> int:
    """Print what was not survived, a line for each kind of thing, and the sums; the exit code."""
    lost = [one for one in found if one.fault]
    for one in lost:
        print(f"{one.what}, {one.how}: {one.fault} {one.words}".rstrip())
    lines = []
    for what in dict.fromkeys(one.what for one in found):
        ones = [one for one in found if one.what == what]
        slowest = max(one.seconds for one in ones)
        lines.append((what, len(ones), sum(not one.fault for one in ones), f"{slowest:.1f}"))
    print_lines(("what", "tried", "survived", "slowest"), *lines)
    if kept:
        kept.write_text(json.dumps([asdict(one) for one in found], indent=1))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{sum(one.ru_utime + one.ru_stime for one in used):.0f} s of the processor")
    print(f"tried {len(found)}, survived {len(found) - len(lost)}")
    return int(bool(lost))
