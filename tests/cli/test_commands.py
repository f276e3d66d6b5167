"""The command line as a person and as a script uses it."""

import csv
import inspect
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.each import for_each
from tests.graphs import EXTRA, MOONS, PETS, store_of
from tests.servers import faults
from tests.servers.sparql import SparqlServer
from typer.testing import CliRunner

from askgraph.cli import COMMANDS, app, load_command

HEAVY = {"numpy", "pyoxigraph", "rdflib", "httpx2", "asyncio", "rich"}
STRANGE = ["?", "🪐🪐🪐", "the of and", "word " * 10_000, "SELECT * {", "\x00", "\ud800"]
MOON_QUERY = "SELECT ?moon { ?moon a onto:Moon } ORDER BY ?moon"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "workspace"
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(folder))
    monkeypatch.setenv("COLUMNS", "200")
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "moons.ttl"
    path.write_text(MOONS)
    return path


@pytest.fixture
def moons(source: Path) -> None:
    assert run("add", "moons", source).exit_code == 0


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(store_of(MOONS)) as server:
        yield server


def started(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "askgraph", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_help_and_adding(source: Path, tmp_path: Path) -> None:
    # Help names every command and exit code.
    said = run("--help").stdout
    for word in ("add", "graphs", "describe", "ask", "batch", "query", "evaluate", "remove", "130"):
        assert word in said
    # Help imports no command and nothing heavy.
    script = (
        "import sys\n"
        "from askgraph.cli import COMMANDS, GROUPS, app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"heavy = {HEAVY!r} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "commands = [f'askgraph.cli.{name}' for name in (*COMMANDS, *GROUPS)]\n"
        "imported = set(commands) & set(sys.modules)\n"
        "assert not imported, imported\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    # Version, also where another command ran before it in the same process.
    assert run("metadata", "--help").exit_code == 0
    assert run("--version").stdout.startswith("askgraph 0.")
    # Added listed described removed.
    added = run("add", "moons", source)
    assert added.exit_code == 0 and added.stdout == ""
    assert "added moons: 23 triples, 2 classes" in added.stderr and "moons" in run("graphs").stdout
    [entry] = json.loads(run("graphs", "--json").stdout)
    assert entry["triples"] == 23 and entry["problem"] is None
    described = run("describe").stdout
    assert "Moon" in described and "radius" in described and "Try:" in described
    assert run("remove", "moons").exit_code == 0
    assert json.loads(run("graphs", "--json").stdout) == [] and source.exists()
    # The workspace is named before or after the command.
    other = tmp_path / "other"
    assert run("--workspace", other, "add", "moons", source).exit_code == 0
    assert "moons" in run("graphs", "--workspace", other).stdout
    assert "moons" in run("--workspace", other, "graphs").stdout
    assert "moons" not in run("graphs").stdout


@for_each("command", ["ask", "add", "describe", "query", "batch", "evaluate"])
def test_the_help_of_a_command_imports_no_library_that_it_does_not_use(command: str) -> None:
    unused = {"rdflib", "openai", "anthropic", "torch", "transformers", "fastapi", "altair"}
    if command not in ("batch", "evaluate"):  # which speak of failures of HTTP
        unused.add("httpx2")
    script = (
        "import sys\n"
        "from askgraph.cli import app\n"
        f"try: app([{command!r}, '--help'])\n"
        "except SystemExit: pass\n"
        f"heavy = {unused!r} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@for_each("name", COMMANDS)
def test_the_summary_of_a_command_is_how_its_help_begins(name: str) -> None:
    command = load_command(name)
    assert (inspect.getdoc(command) or "").split("\n\n")[0].replace("\n", " ") == COMMANDS[name]


def test_describing_and_asking(moons: None, source: Path) -> None:
    # Describe speaks the language asked for.
    assert "Mond" in run("describe", "--lang", "de").stdout
    # Describe as json has examples and questions.
    content = json.loads(run("describe", "moons", "--json").stdout)
    examples = {p["iri"]: p["example"] for p in content["predicates"]}
    assert examples["http://example.org/onto#orbits"] == "Jupiter"
    assert len(content["questions"]) == 3
    # Describe notices a changed source.
    source.write_text(MOONS + "\n:Deimos a onto:Moon .")
    assert json.loads(run("describe", "--json").stdout)["classes"][0]["instances"] == 4
    # A question is answered for people.
    result = run("ask", "Which moons orbit Jupiter?")
    assert result.exit_code == 0
    for part in ("Io", "Europa", "Read as", "Confidence", "Query", "SELECT"):
        assert part in result.stdout
    assert "Phobos" not in result.stdout
    # Words of a question need no quotes.
    assert "Europa" in run("ask", "which", "moons", "orbit", "Jupiter").stdout
    # A question is answered as one json object.
    result = run("ask", "Which moons orbit Jupiter?", "-g", "moons", "--json")
    content = json.loads(result.stdout)
    assert result.exit_code == 0 and content["status"] == "answer"
    assert {value for row in content["rows"] for value in row} >= {
        "http://example.org/Io",
        "http://example.org/Europa",
    }
    keys = "sparql columns rows answer_columns confidence words seconds usage"
    assert set(keys.split()) <= content.keys()
    # A question is answered as csv.
    rows = list(csv.reader(io.StringIO(run("ask", "Which moons orbit Jupiter?", "--csv").stdout)))
    assert {"http://example.org/Io"} <= {value for row in rows[1:] for value in row}
    # A question about nothing here is no answer.
    result = run("ask", "Quantum zebra xylophone?", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["status"] in ("refusal", "clarification")


@for_each("question", STRANGE)
def test_no_question_is_too_strange(moons: None, question: str) -> None:
    result = run("ask", question, "--json")
    assert result.exit_code in (0, 1) and json.loads(result.stdout)["status"]


def test_limits_queries_and_errors(moons: None, tmp_path: Path) -> None:
    # Limit cuts the rows and says so.
    content = json.loads(run("ask", "Which moons are there?", "--json", "--limit", "1").stdout)
    assert len(content["rows"]) == 1 and content["truncated"]["by"] == "askgraph"
    # A query runs with the prefixes of the graph.
    result = run("query", MOON_QUERY, "--json")
    assert json.loads(result.stdout)["rows"][0] == ["http://example.org/Europa"]
    assert "3 rows" in run("query", MOON_QUERY).stdout
    assert run("query", MOON_QUERY, "--csv").stdout.splitlines()[0] == "moon"
    # A query comes from a file or standard input.
    (tmp_path / "q.rq").write_text(MOON_QUERY)
    assert "Europa" in run("query", f"@{tmp_path / 'q.rq'}").stdout
    assert "Europa" in CliRunner().invoke(app, ["query", "-"], input=MOON_QUERY).stdout
    assert run("query", "@missing.rq").exit_code == 2
    # Rows beyond the limit are told on standard error.
    result = run("query", MOON_QUERY, "--csv", "--limit", "1")
    assert len(result.stdout.splitlines()) == 2 and "cut off" in result.stderr
    # Two graphs are told apart.
    (tmp_path / "pets.ttl").write_text(PETS)
    run("add", "pets", tmp_path / "pets.ttl")
    unnamed = run("ask", "Who owns Rex?")
    assert unnamed.exit_code == 2 and "moons, pets" in unnamed.stderr
    assert json.loads(run("ask", "Who is the owner of Rex?", "-g", "pets", "--json").stdout)[
        "rows"
    ] == [["http://example.org/Ann"]]
    # Debug shows the traceback.
    assert "Traceback" in run("ask", "Hello", "-g", "nope", "--debug").stderr


@for_each(
    ("query", "said"),
    ("ASK { ?s a onto:Moon }", "Yes"),
    ("CONSTRUCT { ?s a onto:X } WHERE { ?s a onto:Planet }", "onto#X> ."),
    ("DESCRIBE <http://example.org/Io>", "1821.6"),
)
def test_other_forms_of_queries(moons: None, query: str, said: str) -> None:
    assert said in run("query", query).stdout and json.loads(run("query", query, "--json").stdout)
    assert run("query", query, "--csv").exit_code == 0


@for_each(
    ("arguments", "code", "said"),
    (
        ["ask", ""],
        2,
        r"the question is empty; ask, for example: askgraph ask \"Which moons are there\?\"",
    ),
    (["ask", " ", "--json"], 2, "the question is empty"),
    (["ask", "Hello", "-g", "nope"], 2, "did you mean|available: moons"),
    (["ask", "Hello", "--method", "nope"], 2, "no method named 'nope'"),
    (["add", "x", "picture.png"], 2, "unknown file type|no file"),
    (["add", "moons", "moons.ttl"], 2, "--replace"),
    (["remove", "mons"], 2, "did you mean 'moons'"),
    (["query", "SELECT {"], 3, "line 1"),
    (["query", "DELETE WHERE { ?s ?p ?o }"], 3, "update"),
    (["query", "SELECT * { SERVICE <http://x/> { ?s ?p ?o } }"], 3, "(?i)service"),
)
def test_errors_are_one_line_with_a_code(
    moons: None, arguments: list[str], code: int, said: str
) -> None:
    import re

    result = run(*arguments)
    assert result.exit_code == code and result.stdout == "" and re.search(said, result.stderr)
    assert "Traceback" not in result.stderr


def test_a_query_that_takes_too_long_is_a_service_error(moons: None) -> None:
    many = " ".join(f"?a{n} ?p{n} ?b{n} ." for n in range(12))
    result = run("query", f"SELECT (COUNT(*) AS ?n) {{ {many} }}", "--timeout", "0.5")
    assert result.exit_code == 4 and "0.5 seconds" in result.stderr


def test_endpoints(server: SparqlServer, workspace: Path) -> None:
    # An endpoint is a graph like any other.
    added = run("add", "far", server.url, "--timeout", "20")
    assert added.exit_code == 0, added.stderr
    near = json.loads(run("ask", "Which moons orbit Jupiter?", "--json").stdout)
    assert near["status"] == "answer" and len(near["rows"]) == 2
    assert json.loads(run("query", "ASK { ?s ?p ?o }", "--json").stdout) == {"boolean": True}
    # An address of a web page is said to be one once.
    server.always = faults.body("<html><title>Our shop</title></html>", kind="text/html")
    refused = run("add", "shop", server.url)
    assert refused.exit_code == 4
    assert refused.stderr.splitlines()[-1] == (
        f"askgraph: {server.url} sent a web page, not results; is it the SPARQL endpoint?"
        " It begins: Our shop"
    )


def test_stopped_while_asking_an_endpoint_it_goes_on_later(
    server: SparqlServer, workspace: Path
) -> None:
    server.acts.append(server_answers)
    server.always = faults.silence()
    process = started("add", "far", server.url)
    wait_until(lambda: len(server.requests) >= 2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130 and "Traceback" not in errors
    assert json.loads(run("graphs", "--json").stdout) == []
    server.always = None
    server.requests.clear()
    assert run("add", "far", server.url).exit_code == 0
    assert [path.name for path in (workspace / "data").iterdir() if path.name != ".lock"] == ["far"]
    left = len(server.requests)
    server.requests.clear()
    assert run("add", "anew", server.url).exit_code == 0
    assert left == len(server.requests) - 1, "what was answered before is not asked again"


def test_stopped_while_its_modules_are_read_it_ends_without_a_word(
    server: SparqlServer, workspace: Path
) -> None:
    code = "import signal, askgraph.__main__; print(signal.getsignal(signal.SIGINT).name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "SIG_DFL\n"


def test_an_endpoint_that_fails_is_a_service_error_and_adds_nothing(server: SparqlServer) -> None:
    server.always = faults.status(401)
    assert run("add", "far", server.url).exit_code == 4
    assert json.loads(run("graphs", "--json").stdout) == []
    server.always = faults.status(500)
    assert run("add", "far", server.url).exit_code == 4


def test_secrets_are_named_and_not_kept(
    server: SparqlServer, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("add", "x", server.url, "--auth", "bearer", "--token-env", "NO_SUCH").exit_code == 2
    monkeypatch.setenv("MY_TOKEN", "very-secret")
    added = run("add", "far", server.url, "--auth", "bearer", "--token-env", "MY_TOKEN")
    assert added.exit_code == 0, added.stderr
    assert server.requests[-1].headers["authorization"] == "Bearer very-secret"
    kept = [path for path in workspace.rglob("*") if path.is_file()]
    assert not any(b"very-secret" in path.read_bytes() for path in kept)
    assert "MY_TOKEN" in (workspace / "askgraph.toml").read_text()


def test_an_endpoint_whose_profile_is_damaged_says_what_to_do(
    server: SparqlServer, workspace: Path
) -> None:
    run("add", "far", server.url)
    (workspace / "data" / "far" / "profile.json").write_text("{}")
    result = run("ask", "Which moons orbit Jupiter?")
    assert result.exit_code == 2 and "add" in result.stderr
    assert run("add", "far", "--replace").exit_code == 0
    assert run("ask", "Which moons orbit Jupiter?").exit_code == 0


async def server_answers(server: SparqlServer, request: object, writer: object) -> None:
    reply = server.honest(request)  # type: ignore[arg-type]
    writer.write(reply.head + reply.body)  # type: ignore[attr-defined]
    await writer.drain()  # type: ignore[attr-defined]


def wait_until(holds: object, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Which moons orbit Jupiter?"),
        ("query", "SELECT * { ?s ?p ?o }"),
        ("batch", "asked.jsonl", "--out", "answers.jsonl"),
        ("evaluate", "asked.jsonl", "--out", "run"),
    ],
)
def test_stopped_while_an_endpoint_is_silent_a_command_says_so_in_a_line(
    server: SparqlServer, workspace: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert run("add", "far", server.url).exit_code == 0
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"id": 1, "question": "Which moons orbit Jupiter?", "sparql": "ASK {}"}\n')
    files = {"asked.jsonl": asked, "answers.jsonl": tmp_path / "new.jsonl", "run": tmp_path / "run"}
    server.requests.clear()
    server.always = faults.silence()
    process = started(*(files.get(word, word) for word in words))
    wait_until(lambda: bool(server.requests) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, ""), errors
    assert errors.splitlines()[-1] == "askgraph: stopped" and "Traceback" not in errors
    assert not (tmp_path / "new.jsonl").exists() or not (tmp_path / "new.jsonl").read_text()


@pytest.mark.slow
def test_stopped_while_loading_it_leaves_what_was_there(workspace: Path, source: Path) -> None:
    run("add", "moons", source)
    big = source.with_name("big.nt")
    lines = (f"<http://x/{n}> <http://x/p{n % 9}> <http://x/{n * 7}> .\n" for n in range(600_000))
    big.write_text("".join(lines))
    process = started("add", "moons", big, "--replace")
    wait_until(lambda: len(list((workspace / "data").iterdir())) > 2)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert {path.name for path in (workspace / "data").iterdir()} == {".lock", "moons"}
    assert json.loads(run("graphs", "--json").stdout)[0]["triples"] == 23


def test_a_pipe_that_closes_early_is_no_error(moons: None) -> None:
    line = f"{sys.executable} -m askgraph query 'SELECT * {{ ?s ?p ?o }}' --csv | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env=os.environ)
    assert len(done.stdout.splitlines()) == 1 and "Traceback" not in done.stderr


def test_completion_and_replacing(moons: None, tmp_path: Path) -> None:
    # Completion names the graphs.
    environment = {
        **os.environ,
        "_ASKGRAPH_COMPLETE": "complete_bash",
        "COMP_WORDS": "askgraph remove mo",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        ["askgraph"],
        executable=str(Path(sys.executable).with_name("askgraph")),
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "moons" in done.stdout
    # The source may be replaced by another.
    (tmp_path / "other.ttl").write_text(EXTRA)
    assert run("add", "moons", tmp_path / "other.ttl", "--replace").exit_code == 0
    assert json.loads(run("graphs", "--json").stdout)[0]["triples"] == 3
