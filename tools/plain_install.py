"""Install the wheel without extras, and with each extra alone, and try every command there.

    make plain                                        # builds the wheel
    python tools/plain_install.py --wheel FILE --only serve --only vector
    python tools/plain_install.py --ask "Which moons are there?" space.ttl Titan

In each environment every command and subcommand explains itself (`--help`), the questions of
`make demo` are answered, and the extra does what it is for. Without extras the same calls must name
the extra to install. Prints a table; exits with 1 if anything failed. Versions are the locked ones.

`--ask` measures the first minute of a new user instead: the seconds from nothing installed to an
answer that holds a word, by `uvx` with an empty cache, in the newest versions; at most 90.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
MINILM = ROOT / "build" / "models" / "minilm"
PLAN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
Line = tuple[str, int, float, str]
"""What was called, its exit code, its seconds, and what was wrong."""

PLAIN = "none"  # the environment without extras
WITH_TORCH = {"embeddings", "local"}
TIMEOUT_SECONDS = 300
FIRST_ANSWER_SECONDS = 90
HELP = """
import json, time
from importlib import import_module
from typer.testing import CliRunner
from askgraph.cli import COMMANDS, GROUPS, app
def show(*words):
    start = time.perf_counter()
    done = CliRunner().invoke(app, [*words, "--help"])
    code = done.exit_code or (0 if done.stdout.startswith("Usage: ") else 1)
    print(json.dumps([" ".join(words), code, time.perf_counter() - start, done.output]))
    return code
show()
for name in (*COMMANDS, *GROUPS):
    if show(name) == 0 and name in GROUPS:
        group = getattr(import_module(f"askgraph.cli.{name}"), name)
        for command in group.registered_commands:
            show(name, command.name)
"""


@dataclass(frozen=True)
class Check:
    """A call of askgraph: its exit code, words that it must print, whether it needs its extra."""

    words: str
    code: int = 0
    says: str = ""
    needs: bool = True


CHECKS = {extra: [Check(**each) for each in plan] for extra, plan in PLAN["checks"].items()}


def main() -> int:
    """Try all environments, two at a time, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help="try this wheel instead of building one")
    parser.add_argument("--only", action="append", help="an extra, or 'none'; repeatable")
    parser.add_argument("--ask", nargs=3, metavar=("QUESTION", "FILE", "WORD"))
    given = parser.parse_args()
    if given.ask:
        given.only = ["first answer"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    every = {PLAIN, *project["optional-dependencies"], *CHECKS} - {"dev"}
    extras = sorted(given.only or every, key=lambda one: (one not in WITH_TORCH, one))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="plain-") as name, ThreadPoolExecutor(2) as two:
        prepared = prepare(Path(name), given.wheel, torch=not WITH_TORCH.isdisjoint(extras))
        attempt = partial(ask_first, given.ask) if given.ask else try_extra
        tried = two.map(partial(attempt, *prepared), extras)
        for extra, lines in zip(extras, tried, strict=True):
            for what, code, seconds, fault in lines:
                row = f"{extra:15} {what:88.88} {code:3} {seconds:6.1f}  {fault}"
                print(row.rstrip(), flush=True)
                failed += bool(fault)
    print(f"{failed} failed" if failed else "everything works")
    return 1 if failed else 0


def prepare(folder: Path, wheel: Path | None, *, torch: bool) -> tuple[Path, Path, Path]:
    """Return the folder, uv and the wheel; fetch PyTorch as `make` does, once for all."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    version = dict(re.findall(r"^(\w+)_VERSION := (\S+)", makefile, re.MULTILINE))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    uv = shutil.which("uv", path=f"{ROOT}/build/lock/bin{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        install = ["install", "--target", str(folder / "uv"), f"uv=={version['UV']}"]
        subprocess.run([*pip, *install], check=True)
        uv = f"{folder}/uv/bin/uv"
    if wheel is None:
        subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], check=True)
        [wheel] = folder.glob("*.whl")
    (folder / "torch").mkdir()
    if torch:
        download = ["download", "--no-deps", "--dest", str(folder / "torch")]
        subprocess.run([*pip, *download, f"torch=={version['TORCH']}"], check=True)
    return folder, Path(uv), wheel.resolve()


def try_extra(folder: Path, uv: Path, wheel: Path, extra: str) -> list[Line]:
    """Install the wheel with an extra into a fresh environment and return what each call did."""
    place = folder / extra
    (place / "workspace").mkdir(parents=True)
    (place / "workspace" / "askgraph.toml").write_text(PLAN["models"], "utf-8")
    (place / "questions.yml").write_text(PLAN["questions"], "utf-8")
    wanted = str(wheel) if extra == PLAIN else f"{wheel}[{extra}]"
    locks = [f"--constraints={ROOT}/requirements/{lock}.txt" for lock in ("dev", "local")]
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, place / "venv"], check=True)
    install = ["pip", "install", "--quiet", "--python=venv", f"--find-links={folder / 'torch'}"]
    lines = [call(place, f"install {extra}", [str(uv), *install, *locks, wanted])]
    if lines[0][-1]:
        return lines
    lines += [*explain(place), call(place, "demo", ["bash", f"{ROOT}/examples/demo.sh"])]
    sample = next(place.glob("venv/lib/*/site-packages/askgraph/sample"))
    lines.append(call(place, "add space", ["askgraph", "add", "space", f"{sample}/space.ttl"]))
    checks = CHECKS.get(extra, [])
    if extra == PLAIN:
        needing = [check for checks in CHECKS.values() for check in checks if check.needs]
        checks = [Check(check.words, 2, "pip install 'askgraph[") for check in needing]
    for check in checks:
        text = check.words.replace("ASK", PLAN["ask"]).replace("MINILM", str(MINILM))
        words = shlex.split(text.replace("QUESTIONS", f"{sample}/questions.jsonl"))
        lines.append(call(place, check.words, ["askgraph", *words], check.code, check.says))
    return [*lines, serve_and_ask(place)] if extra == "serve" else lines


def ask_first(words: list[str], folder: Path, uv: Path, wheel: Path, name: str) -> list[Line]:
    """Ask a file with `uvx`, which installs the wheel and what it needs; nothing is cached."""
    os.environ["UV_CACHE_DIR"] = str(folder / "cache")
    question, file, word = words
    uvx = [str(uv), "tool", "run", "--quiet", "--from", str(wheel), "askgraph"]
    line = call(folder, name, [*uvx, "ask", question, str(Path(file).resolve())], says=word)
    late = f"more than {FIRST_ANSWER_SECONDS} seconds" if line[2] > FIRST_ANSWER_SECONDS else ""
    return [(*line[:3], line[3] or late)]


def environment(place: Path) -> dict[str, str]:
    """Return the variables of a call: of this process, only those that find programs and files."""
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"), "none")
    own = {key: value for key, value in os.environ.items() if key.startswith(("UV_", "SSL_"))}
    paths = {"HOME": os.environ["HOME"], "ASKGRAPH_WORKSPACE": str(place / "workspace")}
    path = f"{place}/venv/bin{os.pathsep}{os.environ['PATH']}"
    return {**keys, **own, **paths, "PATH": path, "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1"}


def call(place: Path, name: str, command: list[str], code: int = 0, says: str = "") -> Line:
    """Run a command of an environment; compare its exit code and its words with what is wanted."""
    start = time.perf_counter()
    program = shutil.which(command[0], path=f"{place}/venv/bin{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(
        [program or command[0], *command[1:]], cwd=place, env=environment(place),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    said = done.stdout + done.stderr
    wrong = done.returncode != code or says not in said or "Traceback" in said or "a bug:" in said
    wrong |= code == 2 and len(re.findall("^askgraph: ", done.stderr, re.MULTILINE)) != 1
    fault = f"expected {code} {says!r}: {said[-600:]}" if wrong else ""
    return name, done.returncode, time.perf_counter() - start, fault


def explain(place: Path) -> list[Line]:
    """Ask every command for its help, in one process; return one line if all of them have it."""
    start = time.perf_counter()
    python = [f"{place}/venv/bin/python", "-c", HELP]
    pipe = subprocess.PIPE
    done = subprocess.run(python, cwd=place, env=environment(place), stdout=pipe, text=True)
    helps: list[Line] = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    missing = "" if done.returncode == 0 and len(helps) > 40 else "not every command was asked"
    name, seconds = f"--help of {len(helps)} commands", time.perf_counter() - start
    return [*(each for each in helps if each[1]), (name, done.returncode, seconds, missing)]


def serve_and_ask(place: Path) -> Line:
    """Start the server on a free port, ask one question over HTTP, and stop it."""
    start, first, said = time.perf_counter(), "", ""
    command = [f"{place}/venv/bin/askgraph", "serve", "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        command, cwd=place, env=environment(place), stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            first = server.stderr.readline() if server.stderr else ""
            address = f"{first.split()[-1].rstrip('/')}/api/v1/ask"
            body = json.dumps({"question": "Which moons does Mars have?", "graphs": ["space"]})
            kind = {"Content-Type": "application/json"}
            request = urllib.request.Request(address, body.encode(), kind)
            with urllib.request.urlopen(request, timeout=60) as reply:
                said = reply.read().decode()
        except (OSError, ValueError, IndexError) as error:
            said = f"{first}{error!r}"
        server.terminate()
        server.communicate(timeout=60)
    fault = "" if "Phobos" in said else said[-600:]
    return "serve, and ask over HTTP", server.returncode, time.perf_counter() - start, fault


if __name__ == "__main__":
    sys.exit(main())
