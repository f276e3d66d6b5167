"""The campaign: all that is tried against the product, and what survived.

    python -m tools.campaign [NAME ...] [--jobs 3] [--write]
    make campaign

Each is a script in this folder, and can be run alone with options of its own. `--write` puts the
table into `docs/security.md`; lines of those that were not run stay as they are.
"""

import argparse
import re
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "security.md"
_TOLD = re.compile(r"(\d+) s of the processor\ntried ([\d,]+), survived ([\d,]+)")
_HEAD = (
    "| tried | times | survived | seconds | of the processor | before |\n"
    "|---|---:|---:|---:|---:|---|\n"
)

PARTS = tomllib.loads(Path(__file__).with_name("parts.toml").read_text("utf-8"))
"""What each tries, the longest first; and what the first campaign found."""


def main() -> int:
    """Run those named, or all, so many at once; return 1 if something was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=3, help="that run at once (3)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/security.md")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(PARTS)):
        print(f"no campaign {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    began = time.monotonic()
    with ThreadPoolExecutor(given.jobs) as pool:
        ran = list(pool.map(run, given.names or PARTS))
    lines = [line for line, _ in ran]
    print(_HEAD + "".join(lines), end="")
    print(f"all in {time.monotonic() - began:.0f} seconds, {given.jobs} at once")
    if given.write:
        page = _PAGE.read_text(encoding="utf-8")
        _PAGE.write_text(with_lines(page, lines), encoding="utf-8")
    return int(any(lost for _, lost in ran))


def run(name: str) -> tuple[str, bool]:
    """Run one; return its line of the table, and whether something was not survived."""
    print(f"{name} …", file=sys.stderr, flush=True)
    began = time.monotonic()
    command = [sys.executable, "-m", f"tools.campaign.{name}"]
    ended = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)
    told = _TOLD.search(ended.stdout)
    used, tried, survived = told.groups() if told else ("?", "?", "?")
    if ended.returncode:
        print(name, ended.stdout[-4000:], ended.stderr[-4000:], sep="\n", file=sys.stderr)
    what, before = PARTS[name]
    took = f"{time.monotonic() - began:.0f}"
    return (
        f"| {what} | {tried} | {survived} | {took} | {used} | {before} |\n",
        ended.returncode != 0,
    )


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
