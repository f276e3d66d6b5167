"""The lexicon that is distilled from WordNet, made from a small one."""

from pathlib import Path

import pytest
from tools.make_lexicon import WordNet, entries, main, text_of

from askgraph.search.link.lexicon import LEXICON

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


def test_words_lead_to_their_relatives(wordnet: Path) -> None:
    once, again = (text_of(entries(WordNet(wordnet))) for _ in range(2))
    lines = once.decode().splitlines()
    cells = {line.split()[0]: {f"{c[0]}{c[2:]}" for c in line.split()[1:]} for line in lines}

    # Adjectives lead to the noun of their scale in both directions.
    assert "+depth" in cells["deep"]
    assert "-depth" in cells["shallow"]
    # Words lead to those of one meaning, and to more general and special ones.
    assert {"sautomobile", "uvehicle"} <= cells["car"]
    assert "lcar" in cells["vehicle"]
    # It is the same each time, and sorted.
    assert once == again
    assert lines == sorted(lines, key=lambda line: line.split()[0].encode())


def test_a_check_writes_nothing_and_tells_a_difference(
    wordnet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = LEXICON.read_bytes()
    assert main(["--wordnet", str(wordnet), "--check"]) == 1
    assert "differs" in capsys.readouterr().out
    assert LEXICON.read_bytes() == before
