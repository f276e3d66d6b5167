"""The campaign of queries drawn from the grammar, in short."""

import json
import subprocess
import sys
from pathlib import Path

from tools.campaign.grammar import DRAWN, Drawn, down, grammar, understood

ROOT = Path(__file__).parents[2]


def test_queries_drawn_from_the_grammar_are_survived(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, "-m", "tools.campaign.grammar", "--number", "150", "--sent", "20"]
    run = subprocess.run([*command, "--json", str(kept)], cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(kept.read_text())
    assert f"tried {len(found)}, survived {len(found)}" in run.stdout
    assert len(found) == 150 + 20 + 3 * 4 + 1


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
