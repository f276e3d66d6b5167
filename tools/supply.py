"""Packages that askgraph is installed with: their licences, as a page, and a bill of materials.

    python -m tools.supply                  # docs/licences.md anew (make licences)
    python -m tools.supply --check          # 1 if the page lacks something, or is of other versions
    python -m tools.supply --bill dist      # dist/askgraph-VERSION.cdx.json, in CycloneDX's form

Versions are those of `requirements/*.txt` and of the page's `package-lock.json`; licences are those
that the packages in the environment name, read by cyclonedx-py (`make build/supply/stamp`). Which
are allowed, and those that packages leave open, stand in `tools/supply.toml`.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
SUPPLY = ROOT / "build" / "supply" / "bin"  # the programs of an environment of their own
RULES: Mapping[str, Any] = tomllib.loads((ROOT / "tools" / "supply.toml").read_text("utf-8"))
PARTS: Mapping[str, Sequence[str]] = RULES["parts"]
"""What a package comes with: its heading and a sentence."""

_LOCKED = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[.*\])?==(\S+)(?: ; (.*?))? \\$", re.MULTILINE)
_ROW = re.compile(r"^\| (\S+) \| (\S+) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Package:
    """A package at a version, what it comes with (of `PARTS`), and its licence in SPDX's words."""

    part: str
    name: str
    version: str
    licence: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page, or write the bill of materials."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bill", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.bill:
        version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
        made = bill(of_page(PAGE.read_text("utf-8")), installed(), version)
        _write_valid(made, options.bill / f"askgraph-{version}.cdx.json")
        return 0
    if not options.check:
        PAGE.write_text(page([*with_licences(locked(), installed())]), "utf-8")
    wrong = faults(of_page(PAGE.read_text("utf-8")), locked())
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


def locked(root: Path = ROOT) -> list[Package]:
    """Return all packages of the lock files, each with the first part that it comes with."""
    found: dict[tuple[str, str, str], Package] = {}
    for part in ("run", "serve", "dev", "local"):
        text = (root / "requirements" / f"{part}.txt").read_text("utf-8")
        for name, version, marker in _LOCKED.findall(text):
            if "'never'" not in marker:
                key = ("pypi", name, version)
                found.setdefault(key, Package(part, name, version))
    web = root / "src/askgraph/server/web/package-lock.json"
    for path, entry in json.loads(web.read_text("utf-8"))["packages"].items():
        if path:
            part, name = "web-dev" if entry.get("dev") else "web", path.split("node_modules/")[-1]
            package = Package(part, name, entry["version"], entry.get("license", ""))
            found.setdefault(("npm", name, entry["version"]), package)
    return sorted(found.values(), key=lambda each: ([*PARTS].index(each.part), each))


def installed() -> list[dict[str, Any]]:
    """Return the packages in this environment as CycloneDX's components."""
    command = [str(SUPPLY / "cyclonedx-py"), "environment", sys.executable]
    options = ["--output-reproducible", "--of", "JSON", "--no-validate"]
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, check=True)
    components: list[dict[str, Any]] = json.loads(done.stdout)["components"]
    return components


def with_licences(
    packages: Iterable[Package], components: Iterable[Mapping[str, Any]]
) -> Iterator[Package]:
    """Yield the packages with the licences that they name themselves, or that the rules have."""
    named = {_folded(each["name"]): _licence(each) for each in components}
    for package in packages:
        own = package.licence or named.get(package.name, "")
        yield replace(package, licence=RULES["licences"].get(package.name, own) or "unknown")


def page(packages: Sequence[Package]) -> str:
    """Return the page: a table for each part."""
    text = str(RULES["top"])
    for part, (heading, sentence) in PARTS.items():
        own = (each for each in packages if each.part == part)
        rows = (f"| {each.name} | {each.version} | {each.licence} |\n" for each in own)
        text += f"\n## {heading}\n\n{sentence}\n\n| package | version | licence |\n|---|---|---|\n"
        text += "".join(rows)
    return text


def of_page(text: str) -> list[Package]:
    """Return the packages that stand on a page."""
    parts = {heading: part for part, (heading, _) in PARTS.items()}
    found = []
    for section in text.split("\n## ")[1:]:
        heading = section.partition("\n")[0]
        rows = _ROW.findall(section)[1:]
        found += [Package(parts.get(heading, heading), *row) for row in rows]
    return found


def faults(listed: Sequence[Package], wanted: Sequence[Package]) -> list[str]:
    """Return what is wrong with a page's packages, a line each: none, if all is well."""
    here, there = ({(p.part, p.name, p.version) for p in some} for some in (listed, wanted))
    lines = [f"{name} {v} is on the page, and in no lock file" for _, name, v in here - there]
    lines += [f"{name} {v} is locked, and not on the page" for _, name, v in there - here]
    refused = [
        f"{each.name} {each.version}: {each.licence} is no licence that tools/supply.toml allows"
        for each in listed
        if each.name not in RULES["exceptions"] and not _is_allowed(each.licence)
    ]
    return [*(f"{line}: make licences" for line in sorted(lines)), *refused]


def bill(
    packages: Sequence[Package], components: Iterable[Mapping[str, Any]], version: str
) -> dict[str, Any]:
    """Return the bill of materials: what the packages tell of themselves, and the page's."""
    own = {_folded(each["name"]): each for each in components}
    listed = []
    for package in packages:
        is_npm = "web" in package.part
        purl = f"pkg:{'npm' if is_npm else 'pypi'}/{package.name.replace('@', '%40')}"
        told = {} if is_npm else own.get(package.name, {})
        links = [one for one in told.get("externalReferences", ()) if one["url"].startswith("http")]
        scope = "required" if package.part in ("run", "web") else "optional"
        more = {"description": told.get("description"), "externalReferences": links}
        listed.append(
            {
                **_component("library", package.name, package.version, purl, package.licence),
                "scope": scope,
                **{key: value for key, value in more.items() if value},
            }
        )
    licence = "MIT AND LicenseRef-WordNet-3.0 AND Apache-2.0 AND CC-BY-SA-4.0"
    product = _component("application", "askgraph", version, "pkg:pypi/askgraph", licence)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product},
        "components": listed,
    }


def _component(kind: str, name: str, version: str, purl: str, licence: str) -> dict[str, Any]:
    address = f"{purl}@{version}"
    about = {"type": kind, "bom-ref": address, "name": name, "version": version, "purl": address}
    return {**about, "licenses": [{"expression": licence}]}


_VALID = """import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()))"""


def _write_valid(made: Mapping[str, Any], path: Path) -> None:
    """Write a bill that fits the schema; `CalledProcessError` if it does not."""
    text = json.dumps(made, indent=1) + "\n"
    subprocess.run([str(SUPPLY / "python"), "-c", _VALID], input=text.encode(), check=True)
    path.write_text(text, "utf-8")


def _licence(component: Mapping[str, Any]) -> str:
    """The licence as SPDX's expression; "" if the component names none that has one."""
    told = []
    for each in component.get("licenses", ()):
        if "expression" in each:
            return str(each["expression"])
        licence = each["license"]
        told.append(licence.get("id") or RULES["names"].get(licence["name"]))
    return " AND ".join(dict.fromkeys(filter(None, told)))


def _is_allowed(licence: str) -> bool:
    """Whether all licences of an expression are allowed, of alternatives one."""
    return all(
        any(each.strip("() ") in RULES["allowed"] for each in either.split(" OR "))
        for either in licence.split(" AND ")
    )


def _folded(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
