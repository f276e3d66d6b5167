"""The lock files fit pyproject.toml, carry hashes, and name no address."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
DEV = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
LOCAL = (ROOT / "requirements" / "local.txt").read_text(encoding="utf-8")
LOCKS = pytest.mark.parametrize("lock", [RUN, DEV, LOCAL], ids=["run", "dev", "local"])


def _versions(lock: str) -> set[str]:
    return set(re.findall(r"^[a-z0-9-]+==\S+", lock, flags=re.MULTILINE))


def _pair(requirement: str) -> tuple[str, str]:
    name, _, version = requirement.partition("==")
    return name, version


def _names(requirements: set[str] | list[str]) -> set[str]:
    return {re.split(r"[<>=]", requirement)[0] for requirement in requirements}


@LOCKS
def test_a_lock_names_no_address(lock: str) -> None:
    assert re.findall(r"://|--index|--extra-index|--find-links|\.(?:org|com|io)\b", lock) == []


@LOCKS
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


def test_what_runs_models_here_is_locked_but_for_torch_and_fits_the_other_locks() -> None:
    needed = PROJECT["project"]["optional-dependencies"]["local"]
    elsewhere = dict(map(_pair, _versions(DEV)))
    here = dict(map(_pair, _versions(LOCAL)))

    assert _names(needed) - here.keys() == set()
    assert [name for name in here.keys() & elsewhere.keys() if name != "numpy"
            if here[name] != elsewhere[name]] == []  # fmt: skip
    for line in LOCAL.splitlines():
        if line.startswith(("torch==", "triton==")):
            assert "sys_platform == 'never'" in line
    assert "nvidia" not in LOCAL


def test_the_version_of_torch_that_tests_is_one_that_the_extra_allows() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    tested = re.search(r"^TORCH_VERSION := (\d+)\.(\d+)", makefile, flags=re.MULTILINE)
    needed = next(
        re.fullmatch(r"torch>=(\d+)\.(\d+)", each)
        for each in PROJECT["project"]["optional-dependencies"]["local"]
        if each.startswith("torch")
    )

    assert tested is not None
    assert needed is not None
    assert tuple(map(int, tested.groups())) >= tuple(map(int, needed.groups()))


def test_the_build_group_is_what_the_build_system_requires() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def test_locks_are_installed_as_they_stand() -> None:
    """Looked for once more, an extra's package may have a newer version, without a hash here."""
    texts = [
        (ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "deploy/install.sh")
    ]
    commands = "\n".join(texts).replace("\\\n", " ")
    installs = [line for line in commands.splitlines() if "--require-hashes" in line]

    assert len(installs) >= 7
    assert [line.strip() for line in installs if "--no-deps" not in line] == []


def test_a_lock_has_all_that_its_packages_need() -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"]
    check = subprocess.run(command, capture_output=True, text=True, check=False)

    found = [line for line in check.stdout.splitlines() if "requires triton" not in line]
    assert found in ([], ["No broken requirements found."])
