"""Notes that agents keep about a graph for later runs: a sentence each, the oldest first.

They lie in a file of JSON lines, `{"text", "kept", "snapshot"}`, which a person may edit. What a
model wrote is trusted as little as what a graph holds: a note is one line of few characters.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from askgraph.atomic_files import locked, refused, write_whole
from askgraph.errors import SetupError

MOST: Final = 16
"""So many notes a graph has at most: the oldest go."""
LONGEST: Final = 300
"""So many characters a note has at most."""


@dataclass(frozen=True)
class Note:
    """A sentence about a graph, the day when it was kept (ISO 8601), the graph's snapshot then."""

    text: str
    kept: str = ""
    snapshot: str = ""

    @property
    def key(self) -> str:
        """Its text as far as it matters: notes that have the same are the same."""
        return self.text.casefold().rstrip(" .!;")


def on_one_line(text: str) -> str:
    """Return a text with one space for any, and for what is no character to be seen."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def notes_in(path: Path) -> tuple[Note, ...]:
    """Return the notes in a file, within the bounds; none if there is no file.

    Raises `SetupError` if it cannot be read: then it was written by hand.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the notes {path} cannot be read: {error}") from error
    return _bounded([_note(line, f"{path}:{at}") for at, line in enumerate(lines, 1) if line])


def keep(path: Path, text: str, snapshot: str) -> bool:
    """Keep a note, and return whether it is new; one that was kept before is the newest then.

    Raises `ValueError` for a text that is empty or too long, `SetupError` if it cannot be kept.
    """
    line = on_one_line(text)
    if not line:
        raise ValueError("a note is a sentence: this one is empty")
    if len(line) > LONGEST:
        raise ValueError(f"a note has at most {LONGEST} characters, this one has {len(line):,}")
    note = Note(line, datetime.now(UTC).date().isoformat(), snapshot)
    before: list[Note] = []

    def change(notes: Sequence[Note]) -> Sequence[Note]:
        before.extend(one for one in notes if one.key == note.key)
        return [*(one for one in notes if one.key != note.key), note]

    changed(path, change)
    return not before


def changed(path: Path, change: Callable[[Sequence[Note]], Sequence[Note]]) -> tuple[Note, ...]:
    """Write what a change makes of the notes in a file, and return it; nothing if it raises.

    One process at a time does it. Raises `SetupError` if the file cannot be written.
    """
    try:
        with locked(path.with_name(f".{path.name}.lock")):
            made = _bounded(change(notes_in(path)))
            lines = (json.dumps(asdict(one), ensure_ascii=False) for one in made)
            write_whole(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise refused(f"the notes {path} cannot be written", error) from error
    return made


def _bounded(notes: Sequence[Note]) -> tuple[Note, ...]:
    return tuple(notes[-MOST:])


def _note(line: str, place: str) -> Note:
    try:
        match json.loads(line):
            case {"text": str(text), **more}:
                kept, snapshot = (str(more.get(key, "")) for key in ("kept", "snapshot"))
                return Note(on_one_line(text)[:LONGEST], kept, snapshot)
    except ValueError:
        pass
    raise SetupError(f'{place}: no note: a line is {{"text": …, "kept": …, "snapshot": …}}')
