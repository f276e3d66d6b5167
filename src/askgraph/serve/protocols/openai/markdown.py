"""Texts of a graph within Markdown: whatever they say, they stay text.

No label can make a link, an image, an emphasis, a formula, HTML, or another row of a table.
"""

import re
from collections.abc import Sequence

__all__ = ["code_block", "link", "plain", "table"]

_SIGNS = re.compile(r"([\\`*_\[\]<>|~&$#^{}])")
_ADDRESS = re.compile(r"(?<=\w)@(?=\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
_START = re.compile(r"^(\d{1,9})([.)])|^([-+=!:])")
_LONGEST = 200


def plain(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line that Markdown shows as it is, of at most `most` characters."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    if len(line) > most:
        line = f"{line[: most - 1]}…"
    line = _SIGNS.sub(r"\\\1", line)
    line = _ADDRESS.sub(lambda sign: f"\\{sign[0]}", line)
    return _START.sub(_kept_at_start, line)


def link(text: str, iri: str) -> str:
    """Return a link, for an address of the web; else the text alone."""
    if not re.fullmatch(r"https?://[^\s<>\\|`]+", iri, re.IGNORECASE):
        return plain(text)
    return f"[{plain(text)}](<{iri}>)"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code_block(text: str, language: str) -> str:
    """Return a block of code that nothing within it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _kept_at_start(found: "re.Match[str]") -> str:
    return f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}"
