"""Commands and a server while the disk is full, or becomes it; then again when there is space.

    python -m tools.campaign.disk_full [--room KB ...] [--only COMMAND ...] [--json FILE]

The workspace lies on a file system of its own in memory (tmpfs) that is filled up to so many kB of
room. Without the right to mount one, no file may grow beyond so many (RLIMIT_FSIZE). Survived is:
an error that says that there is no space, and what to do; what was there is whole, and can be asked
meanwhile; with space, the same command ends well, and nothing is left over.
"""

import contextlib
import resource
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tools.campaign import _tries as tries
from tools.campaign.kills import CASES, survived

_ROOM = (0, 16, 64, 256, 1024)  # kB
_WORDS = ("space", "free some space")
_SIZE = 24  # MB


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a small file system at a folder; whether that is allowed."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={_SIZE}m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(["mount", *options], capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path, room: int) -> None:
    """Leave so many bytes on a disk."""
    with (disk / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    with (disk / "ballast").open("ab", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        file.truncate(max(0, file.tell() - room))


def command(name: str, room: int, template: Path, disk: Path, mounted: bool) -> str:
    """Run a command without space, look, and run it again with space; return a fault."""
    place = disk / "workspace"
    shutil.copytree(template, place)
    case = CASES[name]
    if mounted:
        fill(disk, room)
    most = (room, resource.RLIM_INFINITY)
    bound = None if mounted else partial(resource.setrlimit, resource.RLIMIT_FSIZE, most)
    ran = tries.askgraph(place, *case.arguments.split(), before=bound)
    asked = tries.triples(place, "space") if name != "add --replace" else 1
    if mounted:
        (disk / "ballast").unlink()
    try:
        if ran.code and (ran.code not in (2, 4) or not all(word in ran.said for word in _WORDS)):
            return f"{ran.code}: {ran.said.strip()[-300:]}"
        if not asked or asked < 0:
            return f"while it is full, the graph has {asked} triples"
        return survived(case, place)
    finally:
        shutil.rmtree(place)


def server(template: Path, disk: Path) -> Iterator[tuple[str, str]]:
    """Serve while the disk is full; yield what was tried, and a fault."""
    place = disk / "workspace"
    shutil.copytree(template, place)
    with tries.serve(place, timeout=30) as (client, _):
        question = {"question": tries.QUESTION}
        id = client.post("/api/v1/ask", json=question).json()["id"]
        more = (place / "more.ttl").read_bytes()

        def posted(path: str, body: dict[str, str]) -> tuple[int, str]:
            reply = client.post(f"/api/v1/{path}", json=body)
            return reply.status_code, reply.text

        calls: dict[str, Callable[[], tuple[int, str]]] = {
            "a question": lambda: posted("ask", question),
            "a verdict": lambda: posted(f"runs/{id}/feedback", {"verdict": "right"}),
            "an upload": lambda: tries.uploaded(client, "sent", "more.ttl", more),
        }
        fill(disk, 0)
        for name, call in calls.items():
            status, said = call()
            clear = status < 400 or (status in (502, 507) and all(w in said for w in _WORDS))
            yield f"{name}, full", "" if clear else f"{status} {said[:300]}"
        health = client.get("/healthz").status_code
        yield "healthz, full", "" if health == 200 else str(health)
        (disk / "ballast").unlink()
        for name, call in calls.items():
            status, said = call()
            yield f"{name}, again", "" if status < 400 else f"{status} {said[:300]}"
    shutil.rmtree(place)


def campaign(folder: Path, given: Namespace) -> Iterator[tries.Tried]:
    """Try the commands, each with so much room, and a server."""
    with small_disk(folder / "disk") as mounted:
        print("on a tmpfs" if mounted else "with RLIMIT_FSIZE: no file system could be mounted")
        disk, template = folder / "disk", tries.base(folder / "template")
        tries.askgraph(template, "index", "build", "space")
        for name in given.only:
            for room in given.room if name in CASES else ():
                act = partial(command, name, room * 1024, template, disk, mounted)
                yield tries.attempt(name, f"{room} kB", act)
        if mounted and "serve" in given.only:
            for how, fault in server(template, disk):
                yield tries.Tried("serve", how, fault)


if __name__ == "__main__":
    sys.exit(
        tries.main(__doc__, campaign, [*CASES, "serve"], {"room": (_ROOM, "kB that are free")})
    )
