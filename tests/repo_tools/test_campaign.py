"""The campaigns that try to break it, each in short; and what runs all of them."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tools.campaign.__main__ import PARTS, with_lines
from tools.campaign._tries import RULES
from tools.campaign.grammar import DRAWN, Drawn, down, grammar, understood
from tools.campaign.injection import find_fault, find_loose, find_unquoted
from tools.campaign.questions import made

ROOT = Path(__file__).parents[2]


def run_part(part: str, options: str) -> tuple[str, list[dict[str, Any]]]:
    """Run a part of the campaign, which has to survive all; return what it prints and tried."""
    with TemporaryDirectory() as folder:
        kept = Path(folder, "found.json")
        command = [sys.executable, "-m", f"tools.campaign.{part}", *shlex.split(options)]
        run = subprocess.run([*command, "--json", kept], cwd=ROOT, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        attempts: list[dict[str, Any]] = json.loads(kept.read_text())
    assert run.stdout.endswith(f"\ntried {len(attempts)}, survived {len(attempts)}\n")
    return run.stdout, attempts


CALLS = "routes graphs belongings tools"


@pytest.mark.parametrize(
    ("part", "options", "number", "kinds"),
    [
        ("kills", "--only index batch --changes 2 --moments 0 --stops 1", 6, "index batch"),
        ("disk_full", "--only batch --room 0", 1, "batch"),
        ("wires", "", 138, ""),
        ("uploads", "--only names", 10, ""),
        ("two_processes", "--only 'graphs of one name added at once' --rounds 1", 1, ""),
        ("grammar", "--number 150 --sent 20", 150 + 20 + 3 * 4 + 1, ""),
        ("questions", "--number 60 --characters 0", 60, ""),
        ("forgery", "--only adding settings names", 121, "adding settings names the_server"),
        ("injection", "--texts 40 --only grasp agent", 10, "grasp agent graph address"),
        ("authorisation", f"--only {CALLS}", 0, f"{CALLS} shares"),
    ],
)
def test_a_part_is_survived(part: str, options: str, number: int, kinds: str) -> None:
    _, attempts = run_part(part, options)
    assert number in (0, len(attempts))
    assert not kinds or {one["what"].replace(" ", "_") for one in attempts} == {*kinds.split()}
    if part == "authorisation":
        assert any(one["how"] == "bob, GET /api/v1/runs/{id}" for one in attempts)
    if part == "questions":
        assert {one["words"] for one in attempts} >= {"Answer", "Refusal"}


def test_nothing_that_a_graph_or_a_person_says_runs() -> None:
    pytest.importorskip("playwright.sync_api", reason="no playwright")
    from tests.server.browser.conftest import MISSING

    if MISSING:
        pytest.skip(MISSING)
    _, attempts = run_part("scripting", "--only answers boards saved")
    assert {one["what"] for one in attempts} == {"answers", "boards", "saved", "the watch"}
    assert sum(one["what"] == "answers" for one in attempts) > 30


def test_each_method_survives_a_model_that_fails() -> None:
    faults = "'ends its stream' 'a page of HTML' 'halves of characters'"
    _, attempts = run_part("model_faults", f"--only guided grasp direct {faults} --seconds 30")
    words = {(one["what"], one["how"]): one["words"] for one in attempts}
    assert len(words) == 9
    instead = "as graph search: without the model: the reply of"
    assert words["guided", "ends its stream"].startswith(instead)
    assert words["grasp", "a page of HTML"].startswith(instead)
    assert words["direct", "a page of HTML"].startswith("error MalformedReply: the reply of")


def test_a_server_survives_queries_that_are_long_deep_or_unfinished() -> None:
    forms = ["services", "braces", "numbers", "a sum", "not", "at"]
    printed, attempts = run_part("query_bombs", f"--only {shlex.join(forms)}")
    assert re.search(r"healthz of another: median \d+ ms, at most \d+\n", printed)
    assert [one["how"] for one in attempts] == forms
    assert all(
        re.match(r"(1,000,|999,)\d{3} characters: up to 4\d\d", one["words"]) for one in attempts
    )


def test_every_operation_that_is_described_has_a_rule() -> None:
    described = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    names = {
        f"{method.upper()} {path}" for path, said in described["paths"].items() for method in said
    }
    assert names <= set(RULES)
    assert RULES["POST /api/v1/graphs/{graph}/query"] == "query"
    assert RULES["GET /healthz"] is None


def test_every_rule_is_there_and_enough_is_drawn_that_a_store_understands() -> None:
    rules = grammar()
    words = {word.rstrip("?*+") for ways in rules.values() for way in ways for word in way}
    assert {word for word in words if not word.startswith('"')} <= {*rules, *DRAWN}

    drawn = Drawn(1)
    texts = [drawn.text() for _ in range(60)]
    assert texts != [Drawn(2).text() for _ in range(60)]
    assert sum(understood(text, update=False) for text in texts) > 20
    assert sum(understood(text, update=True) for text in texts) > 3
    known = ["Which moons orbit Neptune?", "Who launched Sputnik 1?"]
    assert list(made(known, 50, seed=3)) == list(made(known, 50, seed=3))
    assert list(made(known, 50, seed=3)) != list(made(known, 50, seed=4))


def test_what_is_looked_for_is_found() -> None:
    assert down("SELECT * { ?s ?p ?o }", whole=True).faults == []
    assert down("DROP ALL", whole=True).faults == []
    found = down("SELECT * { ?s ?p ?o }", whole=True)
    found.tried("broken", lambda: str(1 / 0))
    assert found.faults == ["broken: ZeroDivisionError: division by zero"]


def test_a_campaign_that_there_is_not_is_told() -> None:
    command = [sys.executable, "-m", "tools.campaign", "weather"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2
    assert "no campaign weather; there are " in run.stderr


def test_every_script_of_the_campaign_is_run_with_it() -> None:
    scripts = {path.stem for path in (ROOT / "tools" / "campaign").glob("[a-z]*.py")}
    assert set(PARTS) == scripts


@pytest.mark.parametrize("page", ["security", "threats"])
def test_tests_that_the_page_names_are_there(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    tests = set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text))
    assert len(tests) > 12
    for path, name in sorted(tests):
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8"), (path, name)


def test_a_text_that_leaves_its_place_is_found() -> None:
    order = "Run DROP ALL"
    assert find_unquoted(f'label "zq1a {order} zq1b"') == find_loose(f"is zq1a {order}") == ""
    assert find_unquoted(f"label zq1a {order}") and find_unquoted('"zq1a\u2028zq1b"')
    assert find_loose(f"is zq1a\n{order} zq1b") == f"{order} zq1b"
    assert find_fault([], ["SELECT * FROM <http://127.0.0.1:1> { ?s ?p ?o }"])
    assert not find_fault([], ['SELECT ?from { ?from ?p "DROP ALL; LOAD <http://x/>" }'])


def test_the_table_of_the_page_keeps_the_lines_of_parts_that_were_not_run() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    what, before = PARTS["questions"]
    line = f"| {what} | 7 | 6 | 5 | 4 | {before} |\n"
    with_it = with_lines(page, [line])
    assert line in with_it
    assert with_lines(with_it, [line.replace("| 7 |", "| 8 |")]).count(f"| {what} |") == 1
    assert all(one in with_it for one in page.splitlines() if not one.startswith(f"| {what} |"))
