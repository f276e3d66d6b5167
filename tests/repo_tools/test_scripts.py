"""Scripts: the fault table, the path of a question, a Virtuoso, the lexicon."""

import subprocess
from pathlib import Path

import pytest
from tests.each import for_each
from tools.fault_table import TIMEOUT, lines
from tools.make_lexicon import WordNet, entries, main, text_of
from tools.question_path import trace_question

from askgraph.search.link.lexicon import LEXICON


@pytest.mark.slow
async def test_every_fault_ends_in_time_with_a_clear_outcome() -> None:
    found = await lines()
    assert len(found) > 30
    for line in found:
        assert line.seconds < TIMEOUT + 0.5, line
        assert " rows" in line.seen or ": " in line.seen, line


# The parser reads the tokens of two texts: a reply, and the same with its prefixes declared.
@for_each(("way", "files", "pairs", "texts"), [("cli", 66, 8, 0), ("guided", 101, 11, 2)])
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
    assert functions.get("sparql/lexer.py:tokens", 0) == texts


TOOL = Path(__file__).parents[2] / "tools" / "virtuoso.sh"


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_its_help_says_how_much_memory_it_takes() -> None:
    code, told = run("help")
    assert code == 2
    assert "start --buffers N" in told and "20000 are 180 MiB" in told
    assert told.endswith("virtuoso-opensource-7-bin.\n")


@for_each("buffers", ["many", "0", "-5", "1e6", ""])
def test_memory_that_is_no_number_of_pages_is_refused(buffers: str) -> None:
    code, told = run("start", "--buffers", buffers)
    assert code == 1
    assert "not a number of pages" in told


def test_another_option_is_refused() -> None:
    assert run("start", "--memory", "4000") == (1, "virtuoso.sh: start knows no --memory\n")


HEAD = "  1 A licence.  \n  2  \n  3 Its second part.  \n"
DATA = {
    "data.noun": [
        "00000001 03 n 02 depth 0 deepness 0 003 = 00000011 a 0000 + 00000011 a 0201"
        " @ 00000004 n 0000"
        " | depth depth depth deepness deepness",
        "00000002 05 n 02 automobile 0 car 0 001 @ 00000003 n 0000 | car car automobile automobile",
        "00000003 06 n 01 vehicle 0 001 ~ 00000002 n 0000 | vehicle vehicle vehicle automobile",
        "00000004 07 n 01 dimension 0 001 ~ 00000001 n 0000 | dimension dimension dimension",
    ],
    "data.adj": [
        "00000011 00 a 01 deep 0 003 = 00000001 n 0000 + 00000001 n 0102 ! 00000012 a 0101"
        " | deep deep deep",
        "00000012 00 a 01 shallow 0 002 = 00000001 n 0000 ! 00000011 a 0101"
        " | shallow shallow shallow",
    ],
    "data.verb": [],
    "data.adv": [],
    "index.noun": [
        "automobile n 1 1 @ 1 0 00000002",
        "car n 1 1 @ 1 1 00000002",
        "deepness n 1 1 @ 1 0 00000001",
        "depth n 1 1 @ 1 0 00000001",
        "dimension n 1 1 ~ 1 0 00000004",
        "vehicle n 1 1 ~ 1 0 00000003",
    ],
    "index.adj": ["deep a 1 3 = + ! 1 0 00000011", "shallow a 1 2 = ! 1 0 00000012"],
    "index.verb": [],
    "index.adv": [],
    "noun.exc": ["deepnesses deepness"],
    "verb.exc": [],
    "adj.exc": [],
    "adv.exc": [],
    "cntlist.rev": ["car%1:06:00:: 1 7"],
}


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    for name, content in DATA.items():
        text = HEAD if name.startswith("data") else ""
        (tmp_path / name).write_text(text + "".join(f"{line}\n" for line in content), "utf-8")
    return tmp_path


def cells(wordnet: Path) -> dict[str, set[str]]:
    lines = text_of(entries(WordNet(wordnet))).decode().splitlines()
    return {line.split()[0]: {f"{c[0]}{c[2:]}" for c in line.split()[1:]} for line in lines}


def test_adjectives_lead_to_the_noun_of_their_scale_in_both_directions(wordnet: Path) -> None:
    found = cells(wordnet)
    assert "+depth" in found["deep"]
    assert "-depth" in found["shallow"]


def test_words_lead_to_those_of_one_meaning_and_to_more_general_and_special_ones(
    wordnet: Path,
) -> None:
    found = cells(wordnet)
    assert {"sautomobile", "uvehicle"} <= found["car"]
    assert "lcar" in found["vehicle"]


def test_it_is_the_same_each_time_and_sorted(wordnet: Path) -> None:
    once, again = (text_of(entries(WordNet(wordnet))) for _ in range(2))
    assert once == again
    assert once.splitlines() == sorted(once.splitlines(), key=lambda line: line.split(b" ")[0])


def test_a_check_writes_nothing_and_tells_a_difference(
    wordnet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = LEXICON.read_bytes()
    assert main(["--wordnet", str(wordnet), "--check"]) == 1
    assert "differs" in capsys.readouterr().out
    assert LEXICON.read_bytes() == before
