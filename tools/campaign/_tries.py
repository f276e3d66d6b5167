"""What the parts of the campaign share: what was tried, and the report of it."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from _measure import print_table


@dataclass(frozen=True)
class Tried:
    """Something that was tried, the `fault` that was found (empty: survived), and its seconds."""

    what: str
    how: str
    fault: str
    seconds: float
    words: str = ""


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of all parts."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--only", nargs="*", metavar="WHAT", help="try these alone")
    parser.add_argument("--json", type=Path, help="also write what came to this file")
    return parser


def concluded(found: Sequence[Tried], kept: Path | None = None) -> int:
    """Print what was not survived, a line for each kind of thing, and the sum; the exit code."""
    lost = [one for one in found if one.fault]
    for one in lost:
        print(f"{one.what}, {one.how}: {one.fault} {one.words}".rstrip())
    kinds: Mapping[str, list[Tried]] = {}
    kinds = {what: [one for one in found if one.what == what] for what in {o.what for o in found}}
    lines = [
        (what, len(ones), sum(not one.fault for one in ones), f"{max(o.seconds for o in ones):.1f}")
        for what, ones in sorted(kinds.items())
    ]
    print_table(("what", "tried", "survived", "slowest"), *lines)
    if kept:
        kept.write_text(json.dumps([asdict(one) for one in found], indent=1))
    print(f"tried {len(found)}, survived {len(found) - len(lost)}")
    return int(bool(lost))
