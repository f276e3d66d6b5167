"""The lock files fit pyproject.toml, carry hashes, and name no address."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {
    name: (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    for name in ("run", "dev", "local", "uv")
}
VERSIONS = {
    name: dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, flags=re.MULTILINE))
    for name, text in LOCKS.items()
}
EXTRAS = PROJECT["project"]["optional-dependencies"]


def test_a_lock_names_no_address_and_has_a_hash_of_every_package() -> None:
    for lock in LOCKS.values():
        assert re.findall(r"://|--index|--extra-index|--find-links|\.(?:org|com|io)\b", lock) == []
        packages = re.split(r"\n(?=\S)", lock.strip())
        assert [package for package in packages if "--hash=sha256:" not in package] == []


def test_what_is_needed_is_locked_in_versions_that_fit() -> None:
    needed = {
        "run": PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"],
        "dev": EXTRAS["dev"],
        "local": EXTRAS["local"],
    }
    for lock, requirements in needed.items():
        assert {re.split(r"[<>=]", one)[0] for one in requirements} <= VERSIONS[lock].keys()
    assert VERSIONS["run"].items() <= VERSIONS["dev"].items()
    both = VERSIONS["local"].keys() & VERSIONS["dev"].keys() - {"numpy"}
    assert [name for name in both if VERSIONS["local"][name] != VERSIONS["dev"][name]] == []
    for line in LOCKS["local"].splitlines():
        if line.startswith(("torch==", "triton==")):
            assert "sys_platform == 'never'" in line
    assert "nvidia" not in LOCKS["local"]


def test_the_versions_in_the_makefile_are_allowed_and_locked() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [tested] = re.findall(r"^TORCH_VERSION := (\d+)\.(\d+)", makefile, flags=re.MULTILINE)
    [needed] = re.findall(r"torch>=(\d+)\.(\d+)", " ".join(EXTRAS["local"]))

    assert tuple(map(int, tested)) >= tuple(map(int, needed))
    assert f"\nUV_VERSION := {VERSIONS['uv']['uv']}\n" in makefile


def test_the_build_group_is_what_the_build_system_requires() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def test_locks_are_installed_as_they_stand() -> None:
    """Looked for once more, an extra's package may have a newer version, without a hash here."""
    texts = [
        (ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "deploy/install.sh")
    ]
    commands = "\n".join(texts).replace("\\\n", " ")
    parts = re.split(r"\n| \|\| ", commands)
    installs = [part for part in parts if re.search(r"--require-hashes|^\t\$\(call install,", part)]

    assert len(installs) >= 11
    locked = [part.strip() for part in installs if "--require-hashes" in part]
    assert [part for part in locked if "--no-deps" not in part] == []


def test_a_lock_has_all_that_its_packages_need() -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"]
    check = subprocess.run(command, capture_output=True, text=True, check=False)

    found = [line for line in check.stdout.splitlines() if "requires triton" not in line]
    assert found in ([], ["No broken requirements found."])
