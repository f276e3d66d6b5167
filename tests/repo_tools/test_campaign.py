"""The campaigns that try to break it, each in short; and what runs all of them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tools.campaign.__main__ import PARTS, with_lines
from tools.campaign._tries import RULES
from tools.campaign.grammar import DRAWN, Drawn, down, grammar, understood
from tools.campaign.questions import made

ROOT = Path(__file__).parents[2]


def run_part(part: str, *options: str) -> str:
    """Run a part of the campaign, which has to survive all; return what it prints."""
    command = [sys.executable, "-m", f"tools.campaign.{part}", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    last = run.stdout.splitlines()[-1]
    counted = re.match(r"tried (\d+), survived (\d+)", last)
    assert counted and counted[1] == counted[2], last
    return run.stdout


def read_attempts(folder: Path, part: str, *options: str) -> list[dict[str, Any]]:
    """Run a part of the campaign; return all that was tried, as it is written to a file."""
    kept = folder / "found.json"
    printed = run_part(part, *options, "--json", str(kept))
    attempts: list[dict[str, Any]] = json.loads(kept.read_text())
    assert f"\ntried {len(attempts)}," in printed
    return attempts


@for_each(
    ("part", "options", "number"),
    [
        ("kills", "--only index batch --changes 2 --moments 0 --stops 1", 6),
        ("disk_full", "--only batch --room 0", 1),
        ("wires", "", 138),
        ("uploads", "--only names", 10),
    ],
)
def test_a_part_is_survived(part: str, options: str, number: int) -> None:
    assert f"\ntried {number}, survived {number}" in run_part(part, *options.split())


def test_graphs_that_are_added_at_once_are_all_whole() -> None:
    only = ["--only", "graphs of one name added at once", "--rounds", "1"]
    assert run_part("two_processes", *only).endswith("\ntried 1, survived 1\n")


def test_every_caller_gets_what_is_theirs_and_nothing_else(tmp_path: Path) -> None:
    parts = ["routes", "graphs", "belongings", "tools"]
    attempts = read_attempts(tmp_path, "authorisation", "--only", *parts)
    assert {one["what"] for one in attempts} == {*parts, "shares"}
    assert any(one["how"] == "bob, GET /api/v1/runs/{id}" for one in attempts)


def test_no_address_inside_is_reached_by_any_spelling(tmp_path: Path) -> None:
    doors = ["adding", "settings", "names"]
    attempts = read_attempts(tmp_path, "forgery", "--only", *doors)
    assert {one["what"] for one in attempts} == {*doors, "the server"}
    assert len(attempts) > 110


def test_queries_drawn_from_the_grammar_are_survived(tmp_path: Path) -> None:
    attempts = read_attempts(tmp_path, "grammar", "--number", "150", "--sent", "20")
    assert len(attempts) == 150 + 20 + 3 * 4 + 1


def test_made_up_questions_are_answered_or_refused(tmp_path: Path) -> None:
    attempts = read_attempts(tmp_path, "questions", "--number", "60", "--characters", "0")
    assert len(attempts) == 60
    assert {one["words"] for one in attempts} >= {"Answer", "Refusal"}


def test_nothing_that_a_graph_or_a_person_says_runs(tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api", reason="no playwright")
    from tests.server.browser.conftest import MISSING

    if MISSING:
        pytest.skip(MISSING)
    places = ["answers", "boards", "saved"]
    attempts = read_attempts(tmp_path, "scripting", "--only", *places)
    assert {one["what"] for one in attempts} == {*places, "the watch"}
    assert sum(one["what"] == "answers" for one in attempts) > 30


def test_each_method_survives_a_model_that_fails(tmp_path: Path) -> None:
    methods = ["guided", "grasp", "direct"]
    faults = ["ends its stream", "a page of HTML", "halves of characters"]
    options = ["--only", *methods, *faults, "--seconds", "30"]
    attempts = read_attempts(tmp_path, "model_faults", *options)
    assert len(attempts) == len(faults) * len(methods)
    words = {(one["what"], one["how"]): one["words"] for one in attempts}
    instead = "as graph search: without the model: the reply of"
    assert words["guided", "ends its stream"].startswith(instead)
    assert words["grasp", "a page of HTML"].startswith(instead)
    assert words["direct", "a page of HTML"].startswith("error MalformedReply: the reply of")


def test_a_server_survives_queries_that_are_long_deep_or_unfinished(tmp_path: Path) -> None:
    forms = ["services", "braces", "numbers", "a sum", "not", "at"]
    kept = tmp_path / "found.json"
    printed = run_part("query_bombs", "--only", *forms, "--json", str(kept))
    assert f"\ntried {len(forms)}," in printed
    assert re.search(r"; healthz of another: median \d+ ms, at most \d+ ms", printed)
    attempts = json.loads(kept.read_text())
    assert [one["how"] for one in attempts] == forms
    assert all(re.match(r"(1,000,|999,)\d{3} characters: .*400", one["words"]) for one in attempts)


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


def test_what_is_looked_for_is_found() -> None:
    assert down("SELECT * { ?s ?p ?o }", whole=True).faults == []
    assert down("DROP ALL", whole=True).faults == []
    found = down("SELECT * { ?s ?p ?o }", whole=True)
    found.tried("broken", lambda: str(1 / 0))
    assert found.faults == ["broken: ZeroDivisionError: division by zero"]


def test_the_same_seed_makes_the_same_questions() -> None:
    known = ["Which moons orbit Neptune?", "Who launched Sputnik 1?"]
    assert list(made(known, 50, seed=3)) == list(made(known, 50, seed=3))
    assert list(made(known, 50, seed=3)) != list(made(known, 50, seed=4))


def test_a_campaign_that_there_is_not_is_told() -> None:
    command = [sys.executable, "-m", "tools.campaign", "weather"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2
    assert "no campaign weather; there are " in run.stderr


def test_every_script_of_the_campaign_is_run_with_it() -> None:
    scripts = {path.stem for path in (ROOT / "tools" / "campaign").glob("[a-z]*.py")}
    assert set(PARTS) == scripts


def test_tests_that_the_page_names_are_there() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", (ROOT / "docs" / "security.md").read_text()))
    assert len(named) > 12
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_table_of_the_page_keeps_the_lines_of_parts_that_were_not_run() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    what, before = PARTS["questions"]
    line = f"| {what} | 7 | 6 | 5 | 4 | {before} |\n"
    with_it = with_lines(page, [line])
    assert line in with_it
    assert with_lines(with_it, [line.replace("| 7 |", "| 8 |")]).count(f"| {what} |") == 1
    assert all(one in with_it for one in page.splitlines() if not one.startswith(f"| {what} |"))
