"""Known holes in what is installed: the lock files by pip-audit, the page's packages by npm audit.

    make audit                # 1 if there is one; a sentence where no database can be reached

Runs in an environment of its own, with nothing but pip-audit in it.
"""

import json
import subprocess
import sys
from pathlib import Path

__all__ = ["main", "of_npm", "of_pip"]

ROOT = Path(__file__).parents[1]
LOCKS = ("dev", "local", "clients")
"""The first holds what runs and serves, too."""


def main() -> int:
    """Print a line for each hole, and one for each list that could not be looked at."""
    found: list[str] = []
    for lock in LOCKS:
        name = f"requirements/{lock}.txt"
        arguments = ["-r", name, "--disable-pip", "--require-hashes", "--format", "json"]
        command = [sys.executable, "-m", "pip_audit", *arguments, "--progress-spinner", "off"]
        found += _told(name, of_pip(_output(command, ROOT)))
    web = ROOT / "src/askgraph/server/web"
    npm = ["npm", "audit", "--json", "--package-lock-only"]
    found += _told("package-lock.json", of_npm(_output(npm, web)))
    return 1 if found else 0


def of_pip(output: str) -> list[str] | None:
    """Return the holes that pip-audit reports; None if its database knew no package."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError):
        return None
    known = [each for each in packages if "vulns" in each]
    lines = [
        f"{each['name']} {each['version']}: {hole['id']}, mended in "
        f"{', '.join(hole['fix_versions']) or 'no version yet'}"
        for each in known
        for hole in each["vulns"]
    ]
    return lines if known or not packages else None


def of_npm(output: str) -> list[str] | None:
    """Return the holes that npm audit reports; None if its database could not be asked."""
    try:
        holes = json.loads(output)["vulnerabilities"]
    except (ValueError, KeyError):
        return None
    return [f"{name} {each['range']}: {each['severity']}" for name, each in sorted(holes.items())]


def _output(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout


def _told(name: str, holes: list[str] | None) -> list[str]:
    if holes is None:
        print(f"{name}: not looked at, the database of known holes cannot be reached from here")
    else:
        print(f"{name}: {len(holes) or 'no'} known holes", *holes, sep="\n  ")
    return holes or []


if __name__ == "__main__":
    sys.exit(main())
