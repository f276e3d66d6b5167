"""First errors of a person: the line says what is wrong and what to do."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import get_args

from tests.cli.running import askgraph
from tests.cli.test_options import commands
from tests.each import for_each

SOURCES = "name RDF files, a folder of them, or the URL of an endpoint"
QUESTIONS = "'askgraph benchmark list' names"
RUN = "Create one with: askgraph evaluate BENCHMARK --out nowhere"
ADD = "Add one with: askgraph add nowhere FILE"
NO_NAME = "is not the name of a graph: add it first with: "
TRACE = "create one with: askgraph ask --trace FILE"

MISSING = {
    "add new missing.ttl": ("there is no file or folder 'missing.ttl'", SOURCES),
    "serve missing.ttl": ("there is no file or folder 'missing.ttl'", SOURCES),
    "ask -g nowhere Why?": ("no graph 'nowhere'", ADD),
    "ask -g missing.ttl Why?": ("no file and no graph 'missing.ttl'", "askgraph add NAME FILE"),
    "ask -g http://e.org/a%20b.ttl Why?": (NO_NAME, "askgraph add a-20b http://e.org/a%20b.ttl, "),
    "query -g . ASK{}": (NO_NAME, "askgraph add graph ., and name it with -g graph"),
    "describe nowhere": ("no graph 'nowhere'", ADD),
    "ask --after missing.jsonl Why?": ("cannot read the trace missing.jsonl", TRACE),
    "trace show missing.jsonl": ("cannot read the trace missing.jsonl", TRACE),
    "batch missing.jsonl --out new.jsonl": ("no file or folder 'missing.jsonl'", QUESTIONS),
    "evaluate missing.jsonl": ("no file or folder 'missing.jsonl'", QUESTIONS),
    "benchmark check missing.jsonl": ("no file or folder 'missing.jsonl'", QUESTIONS),
    "score missing.jsonl missing.jsonl": (
        "no file 'missing.jsonl'",
        "in the format that 'askgraph batch' writes",
    ),
    "report nowhere": ("nowhere is not a run of askgraph evaluate", RUN),
    "compare nowhere nowhere": ("nowhere is not a run of askgraph evaluate", RUN),
    "validate missing.rq": ("there is no file 'missing.rq'", "name one that contains the query"),
    "finetune train model missing.jsonl -o new": (
        "cannot read missing.jsonl",
        "create one with: askgraph finetune pairs",
    ),
}


@for_each("words", MISSING, share_folder=True)
def test_a_thing_that_is_not_there_is_named_with_what_to_do(
    words: str, moons: Path, tmp_path: Path
) -> None:
    wrong, to_do = MISSING[words]
    done = askgraph(*words.split(), workspace=moons, folder=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("askgraph: ") and wrong in line and to_do in line


MISTYPED = {
    "ask": "askgraph ask needs QUESTION; see askgraph ask -h",
    "finetune train": "askgraph finetune train needs MODEL; ",
    "report": "askgraph report needs ",
    "add": "askgraph add needs NAME; ",
    "score a": "askgraph score needs BENCHMARK; ",
    "batch a.jsonl": "askgraph batch needs --out; ",
    "ask --nope x": "askgraph ask has no option '--nope'",
    "ask --limt 3 x": "has no option '--limt' (did you mean --limit or --timeout?)",
    "ask x --set a=b": "give settings with the method: --method NAME:SETTING=VALUE, not --set",
    "ask --limit": "the option --limit needs a value after it; ",
    "ask --quiet=3 x": "the option --quiet takes no value; ",
    "--workspce x graphs": "has no option '--workspce' (did you mean --workspace?)",
    "askk hello": "has no command 'askk' (did you mean ask?); see askgraph -h",
    "index buil": "askgraph index has no command 'buil' (did you mean build?)",
    "zzz": "has no command 'zzz'; ",
    "validate a b c": "askgraph validate does not expect 'b c'; put quotation marks around",
}


@for_each("words", MISTYPED, share_folder=True)
def test_what_is_mistyped_is_one_line_with_the_nearest_names_and_what_explains_it(
    words: str, moons: Path, tmp_path: Path
) -> None:
    done = askgraph(*words.split(), workspace=moons, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("askgraph: ") and MISTYPED[words] in line


def test_wrong_options(moons: Path, tmp_path: Path) -> None:
    # An option that there is not is one line of every command.
    for name, _ in commands():
        done = askgraph(*name.split(), "--nope", workspace=moons, folder=tmp_path)
        said = f"askgraph: askgraph {name} has no option '--nope'"
        assert (done.returncode, done.stdout) == (2, ""), name
        assert done.stderr.startswith(said) and done.stderr.count("\n") == 1, done.stderr
    # A wrong number or choice of any option is said in our words.
    told = 0
    for name, flag, value in options_with_bounds():
        for given in {value, "x"}:
            words = (*name.split(), "moons", "moons", f"{flag}={given}")
            done = askgraph(*words, workspace=moons, folder=tmp_path)
            said = done.stdout + done.stderr
            assert not FOREIGN.search(said), (words, said)
            if given == "x" and " needs " not in said:
                assert re.search(rf"{flag}( takes a|: 'x' is not one of)", said), (words, said)
                told += 1
    assert told > 40


FOREIGN = re.compile(r"Input should|Value error|validation error|type=|pydantic|unable to parse")


def options_with_bounds() -> Iterator[tuple[str, str, str]]:
    """Every option that takes a number or one of some choices: its command, flag and a value."""
    for name, command in commands():
        for one in inspect.signature(command, eval_str=True).parameters.values():
            kinds = {one.annotation, *get_args(one.annotation)}
            kinds |= {inner for kind in kinds for inner in get_args(kind)}
            about = next((k for k in get_args(one.annotation) if hasattr(k, "param_decls")), None)
            flags = (getattr(about, "default", None), *(getattr(about, "param_decls", None) or ()))
            flag = next((f for f in flags if isinstance(f, str) and f[:2] == "--"), None)
            if flag is not None and any(
                isinstance(kind, type) and (kind in (int, float) or issubclass(kind, Enum))
                for kind in kinds
            ):
                yield name, flag, "-7" if getattr(about, "min", None) is not None else "x"


@for_each(
    ("words", "said"),
    ("ask moons --limit x", "--limit takes a whole number of at least 1; got 'x'"),
    ("ask moons --timeout 0", "--timeout takes a number of at least 0.001; got '0'"),
    ("serve --port 70000", "--port takes a whole number from 0 to 65535; got '70000'"),
    ("report run --by foo", "--by: 'foo' is not one of 'metric', 'tag'"),
    share_folder=True,
)
def test_a_wrong_value_of_an_option_says_what_it_takes(
    words: str, said: str, moons: Path, tmp_path: Path
) -> None:
    done = askgraph(*words.split(), workspace=moons, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(f"askgraph: {said}")
