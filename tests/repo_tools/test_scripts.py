"""Scripts: the path of a question, a Virtuoso."""

import re
import subprocess
from pathlib import Path

from tests.each import for_each
from tools.question_path import trace_question


# The parser reads the tokens of two texts: a reply, and the same with its prefixes declared.
@for_each(("way", "files", "pairs", "texts"), [("cli", 72, 2, 0), ("guided", 105, 5, 2)])
def test_a_question_passes_few_files_and_no_query_of_ours_is_read(
    way: str, files: int, pairs: int, texts: int
) -> None:
    functions, calls = trace_question(way)

    passed = {name.partition(":")[0] for name in functions}
    methods = {name for name in passed if name.startswith("methods/") and name.count("/") == 1}
    assert way == "guided" or methods == {"methods/__init__.py", "methods/graph_search.py"}
    assert not any(name.startswith("server/") for name in passed)
    assert len(passed) <= files
    assert sum(caller < called and (called, caller) in calls for caller, called in calls) <= pairs
    assert functions.get("sparql/lexer.py:split_tokens", 0) == texts


TOOL = Path(__file__).parents[2] / "tools" / "virtuoso.sh"


@for_each(
    ("arguments", "code", "said"),
    (["help"], 2, r"(?s).*start --buffers N.*20000 are 180 MiB.*virtuoso-opensource-7-bin\.\n"),
    *((["start", "--buffers", n], 1, ".*not a number of pages.*\n") for n in ("many", "0", "-5")),
    *((["start", "--buffers", n], 1, ".*not a number of pages.*\n") for n in ("1e6", "")),
    (["start", "--memory", "4000"], 1, "virtuoso.sh: start knows no --memory\n"),
)
def test_a_virtuoso_says_how_it_is_started(arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)

    assert done.returncode == code
    assert re.fullmatch(said, done.stderr)
