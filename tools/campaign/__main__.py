"""The campaign: all that is tried against the product, one after the other, and what survived.

    python -m tools.campaign [NAME ...] [--write]
    make campaign

Each is a script in this folder, and can be run alone with options of its own. `--write` puts the
table into `docs/security.md`; lines of those that were not run stay as they are.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

_FOLDER = Path(__file__).parent
_PAGE = _FOLDER.parents[1] / "docs" / "security.md"
_TOLD = re.compile(r"tried ([\d,]+), survived ([\d,]+)")
_HEAD = "| tried | times | survived | seconds | before |\n|---|---:|---:|---:|---|\n"

# script: what it tries, and what the first campaign found, before anything was mended
PARTS = {
    "disk_full": ("commands and a server on a full disk", "not tried"),
    "authorisation": ("who may do what, and what is another's", "112: all"),
    "kills": ("commands and servers killed at any moment", "20: none lost; folders left over"),
    "scripting": (
        "script in what is shown and saved, in Chromium",
        "cells of CSV ran; else not tried",
    ),
    "forgery": ("requests to this machine and its network", "160: all"),
    "grammar": ("queries drawn from the grammar, whole and broken", "not tried"),
    "model_faults": ("model servers that fail, under each method", "240: an error, no answer"),
    "query_bombs": ("queries made to hold a server", "20: others waited 8 s, 500s, signal 11"),
    "two_processes": ("several processes on one workspace", "25 adds at once: all there"),
    "uploads": ("files that grow, reach out or are broken", "20: bounded; one ended as a bug"),
    "questions": ("questions that nobody would ask", "1,000: all; one token of 100,000: > 60 s"),
}


def main() -> int:
    """Run those named, or all; return 1 if something was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(PARTS)):
        print(f"no campaign {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    lost = False
    lines = []
    for name in given.names or PARTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        began = time.monotonic()
        command = [sys.executable, str(_FOLDER / f"{name}.py")]
        run = subprocess.run(command, capture_output=True, text=True)
        told = _TOLD.search(run.stdout)
        tried, survived = told.groups() if told else ("?", "?")
        lost = lost or run.returncode != 0
        if run.returncode:
            print(run.stdout[-4000:], run.stderr[-4000:], file=sys.stderr)
        what, before = PARTS[name]
        took = f"{time.monotonic() - began:.0f}"
        lines.append(f"| {what} | {tried} | {survived} | {took} | {before} |\n")
    print(_HEAD + "".join(lines), end="")
    if given.write:
        page = _PAGE.read_text(encoding="utf-8")
        _PAGE.write_text(with_lines(page, lines), encoding="utf-8")
    return int(lost)


def with_lines(page: str, lines: list[str]) -> str:
    """Return a page with these lines in its table of the campaign, in the order of the parts."""
    before, _, rest = page.partition(_HEAD)
    end = re.match(r"(?:\|.*\n)*", rest)
    assert end is not None
    table = {line.split(" | ")[0]: line for line in (*end[0].splitlines(keepends=True), *lines)}
    order = [f"| {what}" for what, _ in PARTS.values()]
    known = [table[key] for key in order if key in table]
    return before + _HEAD + "".join(known) + rest[end.end() :]


if __name__ == "__main__":
    sys.exit(main())
