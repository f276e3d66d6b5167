"""Notes about a graph in their file: bounds, order, several processes, what a person wrote."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.graph.glossary import MAX_NOTE_CHARACTERS, MAX_NOTES, add_note, read_notes

KEEPING = """
import sys
from pathlib import Path
from askgraph.graph.glossary import add_note
for at in range(8):
    add_note(Path(sys.argv[1]), f"{sys.argv[2]} {at}", "s")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "notes" / "moons.jsonl"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=2 * MAX_NOTE_CHARACTERS), max_size=2 * MAX_NOTES))
def test_notes_stay_within_their_bounds_on_one_line_each_and_once(texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "notes.jsonl"
        for text in texts:
            try:
                add_note(path, text, "s")
            except ValueError as problem:
                assert str(problem).startswith(("a note can have", "the note is empty"))

        kept = read_notes(path)

        assert len(kept) <= MAX_NOTES and len({one.key for one in kept}) == len(kept)
        assert all(
            0 < len(one.text) <= MAX_NOTE_CHARACTERS and one.text.isprintable() for one in kept
        )
        assert not path.exists() or path.read_text(encoding="utf-8").count("\n") == len(kept)


def test_the_oldest_go_and_the_same_one_is_kept_once(file: Path) -> None:
    for at in range(MAX_NOTES + 2):
        assert add_note(file, f"Note {at}", "s")
    assert not add_note(file, "note  2.", "later")

    kept = read_notes(file)

    assert [one.text for one in kept] == [
        *(f"Note {at}" for at in range(3, MAX_NOTES + 2)),
        "note 2.",
    ]
    assert kept[-1].snapshot == "later"


def test_processes_that_note_at_once_lose_nothing(file: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", KEEPING, str(file), name]) for name in ("a", "b")
    ]
    assert [one.wait(timeout=600) for one in started] == [0, 0]
    kept = [one.text for one in read_notes(file)]
    assert sorted(kept) == sorted(f"{name} {at}" for name in "ab" for at in range(8))
    assert [one for one in kept if one[0] == "a"] == [f"a {at}" for at in range(8)]


@pytest.mark.parametrize("line", ["nonsense", '{"note": "x"}', '{"text": 3}', "[]"])
def test_a_line_that_is_no_note_is_named(file: Path, line: str) -> None:
    add_note(file, "Radii are in kilometres.", "s")
    with file.open("a") as more:
        more.write(f"{line}\n")
    with pytest.raises(SetupError, match=r"moons.jsonl:2: not a note"):
        read_notes(file)


def test_what_a_person_wrote_is_cut_to_the_bounds(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('{"text": "a\\nb\\u202e' + "c" * 2 * MAX_NOTE_CHARACTERS + '"}\n' * 1)
    [note] = read_notes(file)
    assert note.text.startswith("a b c") and len(note.text) == MAX_NOTE_CHARACTERS
