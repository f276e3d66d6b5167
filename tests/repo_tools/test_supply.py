"""Licences of what is installed: the page is that of the lock files, and all are allowed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tools.supply import PAGE, SUPPLY, Package, bill, faults, locked, main, of_page, page

LISTED = of_page(PAGE.read_text("utf-8"))
NUMPY = Package("run", "numpy", "1.0", "BSD-3-Clause")


def test_the_page_of_licences_is_that_of_the_lock_files_and_all_are_allowed() -> None:
    assert faults(LISTED, locked()) == []
    assert {each.part for each in LISTED} == {"run", "serve", "web", "local", "dev", "web-dev"}
    some = {"rdflib", "fastapi", "d3-force", "peft", "pytest", "esbuild"}
    assert some < {each.name for each in LISTED}


def test_a_package_that_is_locked_anew_has_to_be_put_on_the_page() -> None:
    new = replace(NUMPY, version="2.0")

    assert faults([NUMPY], [new]) == [
        "numpy 1.0 is on the page, and in no lock file: make licences",
        "numpy 2.0 is locked, and not on the page: make licences",
    ]


@for_each(
    ("licence", "fine"),
    *((good, True) for good in ("MIT", "GPL-3.0-only OR MIT", "MIT AND (0BSD OR GPL-2.0-only)")),
    *((bad, False) for bad in ("MIT AND GPL-2.0-only", "unknown", "")),
)
def test_a_licence_is_allowed_by_all_its_parts_or_one_alternative(licence: str, fine: bool) -> None:
    told = faults([replace(NUMPY, licence=licence)], [NUMPY])

    refused = f"numpy 1.0: {licence} is no licence that tools/supply.toml allows"
    assert told == ([] if fine else [refused])


def test_a_page_is_read_as_it_was_written() -> None:
    assert of_page(page(LISTED)) == LISTED
    assert page(LISTED) == PAGE.read_text("utf-8")


def test_a_bill_of_materials_has_every_package_once_and_no_path_of_a_machine() -> None:
    told = {"name": "NumPy", "externalReferences": [{"type": "other", "url": "file:///home"}]}
    made = bill(LISTED, [told], "9.9")
    addresses = [each["purl"] for each in made["components"]]

    assert len(set(addresses)) == len(LISTED)
    assert made["metadata"]["component"]["purl"] == "pkg:pypi/askgraph@9.9"
    assert any(each.startswith("pkg:npm/%40codemirror/view@") for each in addresses)
    assert "file:" not in json.dumps(made)


def test_the_bill_of_materials_fits_its_schema(tmp_path: Path) -> None:
    if not (SUPPLY / "cyclonedx-py").exists():
        pytest.skip("make build/supply/stamp")

    assert main(["--bill", str(tmp_path)]) == 0
    (path,) = tmp_path.glob("askgraph-*.cdx.json")
    components = json.loads(path.read_text())["components"]
    assert sum("description" in each for each in components) > 50
