"""What the image is made of: the wheel from what enters the build, installed, started, asked."""

import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.servers.served import ServedProcess
from tools.supply import PAGE as PAGE_OF_LICENCES
from tools.supply import of_page

ROOT = Path(__file__).parents[2]
PAGE = Path("src/askgraph/server/web/static")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def _let_in() -> Iterator[Path]:
    """The tracked files that .dockerignore lets into the build, by its own rules."""
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        allowed = True
        for rule in rules:
            pattern = rule.removeprefix("!").removeprefix("**/")
            if fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, f"{pattern}/*"):
                allowed = rule.startswith("!")
        if allowed:
            yield Path(name)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `COPY . .` copies, and the page as it was built here."""
    folder = tmp_path_factory.mktemp("context")
    if not (ROOT / PAGE / "index.html").exists() and os.environ.get("CI") != "true":
        pytest.skip("the page is not built: make page")
    for path in _let_in():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, folder / path)
    shutil.copytree(ROOT / PAGE, folder / PAGE)
    return folder


@pytest.fixture(scope="module")
def installed(context: Path) -> Path:
    """The environment that the image holds, by the commands of the Dockerfile."""
    # The page and the environment that builds the wheel are those of this checkout.
    wheel = _wheel(context)
    environment = context / "opt"
    quick = {**os.environ, "PIP_NO_COMPILE": "1"}
    subprocess.run(["deploy/install.sh", wheel, environment], cwd=context, env=quick, check=True)
    return environment


def _wheel(context: Path) -> Path:
    ready = [f"{sys.prefix}/run.stamp", str(PAGE / "index.html")]
    kept = [word for stamp in ready for word in ("--old-file", stamp)]
    subprocess.run(["make", "wheel", f"VENV={sys.prefix}", *kept], cwd=context, check=True)
    (wheel,) = (context / "dist").glob("askgraph-*.whl")
    return wheel


@pytest.fixture(scope="module")
def address(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the installed server listens, started as the image starts it."""
    program = [str(installed / "bin" / "askgraph")]
    folder = tmp_path_factory.mktemp("workspace")
    own = {"PYTHONPATH": "", "PYTHONNOUSERSITE": "1"}
    with ServedProcess.start(folder, "--sample", env=own, program=program) as server:
        yield server.url


def test_the_installed_server_answers(address: str) -> None:
    question = {"question": "Which moons are larger than Mercury?"}
    reply = httpx2.post(f"{address}/api/v1/ask", json=question, timeout=600).json()
    assert reply["answer"]["rows"] == [
        ["https://example.org/space/Ganymede"],
        ["https://example.org/space/Titan"],
    ]
    # The installed server has the page with its scripts.
    page = httpx2.get(address, timeout=600)
    script = re.search(r'src="(/[^"]+\.js)"', page.text)
    assert page.headers["content-type"].startswith("text/html") and script
    assert "javascript" in httpx2.get(address + script[1], timeout=600).headers["content-type"]


def test_sources_of_the_page_and_tests_are_not_installed(
    installed: Path, context: Path, tmp_path: Path
) -> None:
    (package,) = installed.glob("lib/python3*/site-packages/askgraph")
    assert (package / "server" / "web" / "static" / "index.html").exists()
    assert not (package / "server" / "web" / "src").exists()
    assert not (package / "server" / "web" / "node_modules").exists()
    # The licences of what the page bundles are installed.
    (licences,) = installed.glob("lib/python3*/site-packages/askgraph/**/static/licences.txt")
    bundled = {each.name for each in of_page(PAGE_OF_LICENCES.read_text("utf-8"))}
    told = re.findall(r"^((?:@\w+/)?[\w-]+) \d+\.\S+$", licences.read_text("utf-8"), re.MULTILINE)
    assert "d3-force" in told and set(told) <= bundled
    # A wheel from another copy at another time has the same bytes.
    (first,) = (context / "dist").glob("askgraph-*.whl")
    copy = tmp_path / "copy"
    shutil.copytree(context, copy, ignore=shutil.ignore_patterns("opt", "dist"))
    for path in copy.rglob("*"):
        os.utime(path, (2e9, 2e9))
    second = _wheel(copy)
    digest = hashlib.sha256(second.read_bytes()).hexdigest()
    assert second.name == first.name and second.read_bytes() == first.read_bytes()
    assert (copy / "dist" / "SHA256SUMS").read_text("utf-8") == f"{digest}  {second.name}\n"
