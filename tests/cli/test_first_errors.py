"""First errors of a person: the line says what is wrong and what to do."""

from pathlib import Path

import pytest
from tests.cli.running import askgraph

SOURCES = "name RDF files, a folder of them, or the URL of an endpoint"
QUESTIONS = "'askgraph benchmark list' names"
RUN = "Make one with: askgraph evaluate BENCHMARK --out nowhere"
ADD = "Add one with: askgraph add nowhere FILE"
TRACE = "'askgraph ask --trace FILE' keeps one"

MISSING = {
    "add new missing.ttl": ("there is no file or folder 'missing.ttl'", SOURCES),
    "serve missing.ttl": ("there is no file or folder 'missing.ttl'", SOURCES),
    "ask -g nowhere Why?": ("no graph 'nowhere'", ADD),
    "ask -g missing.ttl Why?": ("no file and no graph 'missing.ttl'", "askgraph add NAME FILE"),
    "describe nowhere": ("no graph 'nowhere'", ADD),
    "ask --after missing.jsonl Why?": ("cannot read the trace missing.jsonl", TRACE),
    "trace show missing.jsonl": ("cannot read the trace missing.jsonl", TRACE),
    "batch missing.jsonl --out new.jsonl": ("no file or folder 'missing.jsonl'", QUESTIONS),
    "evaluate missing.jsonl": ("no file or folder 'missing.jsonl'", QUESTIONS),
    "benchmark check missing.jsonl": ("no file or folder 'missing.jsonl'", QUESTIONS),
    "score missing.jsonl missing.jsonl": ("no file 'missing.jsonl'", "'askgraph batch' writes it"),
    "report nowhere": ("nowhere is no run of askgraph evaluate", RUN),
    "compare nowhere nowhere": ("nowhere is no run of askgraph evaluate", RUN),
    "validate missing.rq": ("there is no file 'missing.rq'", "give one that holds the query"),
    "finetune train model missing.jsonl -o new": (
        "cannot read missing.jsonl",
        "'askgraph finetune pairs' makes one",
    ),
}


@pytest.mark.parametrize("words", MISSING)
def test_a_thing_that_is_not_there_is_named_with_what_to_do(
    words: str, moons: Path, tmp_path: Path
) -> None:
    wrong, to_do = MISSING[words]

    done = askgraph(*words.split(), workspace=moons, folder=tmp_path)

    assert done.returncode == 2 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("askgraph: ") and wrong in line and to_do in line


@pytest.mark.parametrize("words", ["ask", "finetune train", "report", "add", "score"])
def test_a_missing_argument_is_named_with_the_command_that_explains_it(
    words: str, moons: Path, tmp_path: Path
) -> None:
    done = askgraph(*words.split(), workspace=moons, folder=tmp_path)

    assert done.returncode == 2
    assert "Missing argument" in done.stderr and f"{words} -h' for help" in done.stderr
