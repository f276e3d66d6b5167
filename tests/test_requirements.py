"""The lock files fit pyproject.toml, carry hashes, and name no address."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
DEV = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")


def _versions(lock: str) -> set[str]:
    return set(re.findall(r"^[a-z0-9-]+==\S+", lock, flags=re.MULTILINE))


def _names(requirements: set[str] | list[str]) -> set[str]:
    return {re.split(r"[<>=]", requirement)[0] for requirement in requirements}


@pytest.mark.parametrize("lock", [RUN, DEV], ids=["run", "dev"])
def test_a_lock_names_no_address(lock: str) -> None:
    assert re.findall(r"://|--index|--extra-index|--find-links|\.(?:org|com|io)\b", lock) == []


@pytest.mark.parametrize("lock", [RUN, DEV], ids=["run", "dev"])
def test_every_locked_package_has_a_hash(lock: str) -> None:
    packages = re.split(r"\n(?=\S)", lock.strip())

    assert [package for package in packages if "--hash=sha256:" not in package] == []


def test_what_runs_and_builds_the_package_is_locked() -> None:
    needed = PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"]

    assert _names(needed) - _names(_versions(RUN)) == set()


def test_what_tests_the_package_is_locked_on_top_of_what_runs_it() -> None:
    needed = PROJECT["project"]["optional-dependencies"]["dev"]

    assert _names(needed) - _names(_versions(DEV)) == set()
    assert _versions(RUN) <= _versions(DEV)


def test_the_build_group_is_what_the_build_system_requires() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]
