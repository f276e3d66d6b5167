"""Tables of tests in files: cells beside each other, or texts with what they read as.

In a file of readings, a line has `  language: text` below it for each language; a line that begins
with `# ` says what the next ones show.
"""

from collections.abc import Iterator
from pathlib import Path

__all__ = ["Reading", "read_readings", "read_table"]

Reading = tuple[str, str, str]


def read_readings(path: Path) -> Iterator[Reading]:
    """Read lines, each with a language and what it reads as in it."""
    line = ""
    for text in path.read_text(encoding="utf-8").splitlines():
        if text.startswith("  "):
            language, _, reading = text.strip().partition(":")
            yield line, language, reading.strip()
        elif not text.startswith("# "):
            line = text


def read_table(module: str, name: str) -> list[tuple[str, ...]]:
    """Read a row from each line of a file beside a module, with ` | ` between its cells."""
    text = Path(module).with_name(name).read_text(encoding="utf-8")
    return [tuple(line.split(" | ")) for line in text.splitlines()]
