"""Files of texts with what they read as: a line, and below it `  language: text` for each language.

Lines that begin with `# ` say what the next lines show.
"""

from collections.abc import Iterator
from pathlib import Path

__all__ = ["Reading", "read_readings"]

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
