"""The campaign: all that is tried against the product, one after the other, and what survived.

    python -m tools.campaign [NAME ...]
    make campaign

Each is a script in this folder, and can be run alone with options of its own.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

_FOLDER = Path(__file__).parent
_TOLD = re.compile(r"tried ([\d,]+), survived ([\d,]+)")


def main(names: list[str]) -> int:
    """Run those named, or all; return 1 if something was not survived."""
    known = sorted(path.stem for path in _FOLDER.glob("[a-z]*.py"))
    if unknown := sorted(set(names) - set(known)):
        print(f"no campaign {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    lost = False
    lines = []
    for name in names or known:
        print(f"{name} …", file=sys.stderr, flush=True)
        began = time.monotonic()
        command = [sys.executable, str(_FOLDER / f"{name}.py")]
        run = subprocess.run(command, capture_output=True, text=True)
        told = _TOLD.search(run.stdout)
        tried, survived = told.groups() if told else ("?", "?")
        lost = lost or run.returncode != 0
        if run.returncode:
            print(run.stdout[-4000:], run.stderr[-4000:], file=sys.stderr)
        lines.append((name.replace("_", " "), tried, survived, f"{time.monotonic() - began:.0f} s"))
    for line in (("what", "tried", "survived", "took"), *lines):
        print(f"{line[0]:<16} | {line[1]:>6} | {line[2]:>8} | {line[3]:>6}")
    return int(lost)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
