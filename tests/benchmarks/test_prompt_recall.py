"""The first prompts of the sample's questions, held against gold."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "prompt_recall.py"


def run(*options: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--set", "sample", "--sample", "3", "--jobs", "1", *options],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_prompts_are_looked_at_once_and_told_by_method(tmp_path: Path) -> None:
    # Prompts are looked at once and told by method.
    both = ("--method", "guided", "--method", "sparql-llm", "--cache", tmp_path)
    lines = [json.loads(line) for line in run(*both, "--json").splitlines()]
    guided = [line for line in lines if line["method"] == "guided"]
    assert len(lines) == 2 * len(guided) > 0
    assert all(0 < line["unused"] < line["told"] < line["tokens"] for line in lines)
    assert all(set(line["right"]) <= set(line["numbers"]) for line in lines)
    assert any(line["right"] for line in guided)
    assert not any(line["numbers"] for line in lines if line["method"] == "sparql-llm")
    kept = (tmp_path / "sample.jsonl").read_text()
    assert len(kept.splitlines()) == len(lines)
    assert "sample | guided" in run(*both)  # from what was kept
    assert (tmp_path / "sample.jsonl").read_text() == kept
    # A prompt without candidates and without a schema leaves gold out.
    bare = "sparql-llm room=0"
    [line, *_] = [json.loads(one) for one in run("--method", bare, "--json").splitlines()]
    assert line["numbers"] == [] and line["told"] == 0
    assert {kind for kind, _ in line["missing"]} & {"predicate", "class", "thing"}
