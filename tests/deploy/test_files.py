"""The files of deployment hold what their linters ask, and agree with the server's settings."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from askgraph.server.settings import ServeSettings

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "askgraph.service"
SETTINGS = ServeSettings()


def _linter(name: str) -> str:
    """A program of the development environment, or of the system."""
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(name, path=place)
    if found is None and os.environ.get("CI") != "true":
        pytest.skip(f"there is no {name}")
    assert found is not None, f"there is no {name}"
    return found


def _run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_dockerfile_has_no_finding(dockerfile: str) -> None:
    done = _run(_linter("hadolint"), "--no-color", ROOT / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")
    # The image is built by the commands that are documented.
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    assert "\nRUN make wheel\n" in dockerfile and "`make wheel`" in page
    assert "\nRUN deploy/install.sh dist/askgraph-*.whl /opt/askgraph\n" in dockerfile
    assert "\n    deploy/install.sh dist/askgraph-*.whl /opt/askgraph\n" in page
    # The image runs as nobody in particular and says whether it lives.
    last = dockerfile.rsplit("\nFROM ", 1)[1]
    assert re.search(r"^USER [1-9]\d{3,}$", last, re.MULTILINE)
    assert "/healthz" in last.split("HEALTHCHECK", 1)[1].split("\n\n")[0]
    assert f"\nEXPOSE {SETTINGS.port}\n" in last and f":{SETTINGS.port}/healthz" in last
    # The compose file fits its schema.
    schema = "vendor.compose-spec"
    done = _run(_linter("check-jsonschema"), "--builtin-schema", schema, ROOT / "compose.yaml")
    assert done.returncode == 0, done.stdout


def test_every_variable_of_the_compose_file_is_explained(compose: dict[str, Any]) -> None:
    wanted = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text(encoding="utf-8")))
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"`(\w+)`", page.split("## In containers")[1].split("## Behind")[0]))
    assert wanted and wanted <= rows
    # Variables of the server are settings of it.
    given = compose["services"]["askgraph"]["environment"]
    names = {
        name.removeprefix("ASKGRAPH_SERVE_").lower()
        for name in [*given, *re.findall(r"ASKGRAPH_SERVE_\w+", (ROOT / "Dockerfile").read_text())]
        if name.startswith("ASKGRAPH_SERVE_")
    }
    assert names and names <= set(ServeSettings.model_fields)
    # The container can write to its workspace only.
    service = compose["services"]["askgraph"]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["volumes"] == ["workspace:/workspace"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    # Whoever stops the server waits until questions are done.
    stop = re.search(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.MULTILINE)
    grace = compose["services"]["askgraph"]["stop_grace_period"]
    assert stop and int(stop[1]) > SETTINGS.grace + 5
    assert int(grace.removesuffix("s")) > SETTINGS.grace + 5


def test_systemd_understands_the_unit_and_finds_it_well_confined(tmp_path: Path) -> None:
    analyze = _linter("systemd-analyze")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/askgraph/bin/askgraph", sys.executable))
    verified = _run(analyze, "verify", unit)
    confined = _run(analyze, "security", "--offline=true", "--threshold=15", unit)
    assert (verified.returncode, verified.stderr) == (0, "")
    assert confined.returncode == 0, confined.stdout[-200:]
    # The installation needs no more than a plain shell.
    script = ROOT / "deploy" / "install.sh"
    assert script.stat().st_mode & 0o111
    assert _run("sh", "-n", script).returncode == 0


def test_the_workflows_are_valid_and_trust_nobody_more_than_they_must() -> None:
    check = (_linter("check-jsonschema"), "--builtin-schema")
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    schemas = {
        "github-workflows": files,
        "dependabot": [ROOT / ".github" / "dependabot.yml"],
        "citation-file-format": [ROOT / "CITATION.cff"],
    }
    for schema, paths in schemas.items():
        done = _run(*check, f"vendor.{schema}", *paths)
        assert done.returncode == 0, done.stdout
    used = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"pull_request_target|\{\{ github\.event|\b(pypi|ghcr)\.(org|io)", text
        )
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
        used += re.findall(r"uses: (\S+)@(\S+)(.*)", text)
    for action, version, comment in used:
        by_tag = action.startswith("slsa-framework/slsa-github-generator/")
        pin, note = (r"v\d+\.\d+\.\d+", "") if by_tag else (r"[0-9a-f]{40}", r" # v\d+\.\d+\.\d+")
        assert re.fullmatch(pin, version) and re.fullmatch(note, comment), action
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert len(used) >= 20 and citation["version"] == project["version"]
