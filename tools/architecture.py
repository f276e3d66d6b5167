"""The page on the architecture, made from the code: its layers, a question's path, its files.

    python -m tools.architecture          # print the page

`docs/architecture.md` has the words and the places; the site shows the drawing of the layers in
the contract of `pyproject.toml`, the files that a traced question passes, and the tree of files.
A file is described by the first sentence of its docstring; what is no module by `OTHERS`.
"""

import ast
import html
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.question_path import QUESTION, trace_question

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "askgraph"
PAGE = "docs/architecture.md"

OTHERS = {
    "search/tokenize/words/": "the closed word lists: English, German, Spanish, French",
    "py.typed": "marks the package as typed",
    "sample/questions.jsonl": "questions on the sample graph with their answers, one a line",
    "sample/questions.ttl": "the same questions with their queries, as SHACL examples",
    "sample/space.ttl": "the sample graph",
    "server/web/": "the page, in TypeScript: `make page` builds it into static/",
}
"""Descriptions of what has no docstring."""

WIDTH, HEIGHT, GAP = 720, 34, 8
"""Pixels of the drawing: its width, a layer's height, the space between two."""


def filled(text: str) -> str:
    """Return the page with the parts that are made from the code in their places."""
    parts = {
        "layers": drawn(layers(), dict(_described(PACKAGE))),
        "path": path_table(passed()),
        "files": f"```text\n{tree()}\n```",
    }
    return re.sub(r"<!-- (\w+) -->", lambda found: parts[found[1]], text)


def layers() -> list[list[str]]:
    """Return the packages of each layer, the uppermost first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [[name.strip(" ()") for name in row.split("|")] for row in rows]


def drawn(rows: list[list[str]], words: Mapping[str, str]) -> str:
    """Return layers as a drawing in SVG; over a name stands what it is for."""
    boxes = []
    for at, row in enumerate(rows):
        width = (WIDTH - GAP * (len(row) - 1)) / len(row)
        for place, name in enumerate(row):
            x, y = place * (width + GAP), at * (HEIGHT + GAP)
            what = (words.get(f"{name}/") or words.get(f"{name}.py", "")).replace("`", "")
            box = _box(name, what if len(row) == 1 else "", x, y, width)
            boxes.append(f"<g><title>{html.escape(f'{name}: {what}')}</title>{box}</g>")
    height = len(rows) * (HEIGHT + GAP) - GAP
    style = 'font-family="sans-serif" font-size="13" role="img" style="max-width:100%"'
    label = "The layers of the package; imports point down"
    svg = f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" aria-label="{label}" {style}>'
    return f"<div>{svg}{''.join(boxes)}</svg></div>"


def _box(name: str, words: str, x: float, y: float, width: float) -> str:
    room, fill = int((width - 120) / 6.4), 'fill="currentColor"'
    short = words if len(words) <= room else words[: room - 1].rsplit(" ", 1)[0] + " …"

    def text(at: float, style: str, words: str) -> str:
        return f'<text x="{at:g}" y="{y + HEIGHT / 2 + 4.5:g}" {fill} {style}>{words}</text>'

    said = text(x + 120, 'opacity="0.75" font-size="12"', html.escape(short)) if short else ""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="4" {fill}'
        ' fill-opacity="0.06" stroke="currentColor" stroke-opacity="0.5"/>'
        + text(x + 12, 'font-weight="bold"', name)
        + said
    )


def passed() -> dict[str, str]:
    """Return the files that a question passes, in order, with the function that is called first."""
    called: dict[str, str] = {}
    for name in trace_question("python")[0]:
        file, _, function = name.partition(":")
        called.setdefault(file, function)
    return called


def path_table(called: Mapping[str, str]) -> str:
    """Return the files that a question passes as a table: number, file, function, what it is."""
    words = dict(_described(PACKAGE))
    lines = ["| | file | first called | what it is |", "|---|---|---|---|"]
    for number, (file, function) in enumerate(called.items(), start=1):
        what = words.get(file) or words.get(file.removesuffix("__init__.py"), "")
        lines.append(f"| {number} | `{file}` | `{function}` | {what.replace('|', '&#124;')} |")
    return "\n".join([f"Asked: {QUESTION}\n", *lines])


def tree(package: Path = PACKAGE) -> str:
    """Return the tree of a package: folders with what they are, below them their files."""
    shown = {}
    for name, text in sorted(_described(package), key=lambda pair: _place(pair[0])):
        folders, _, last = name.rstrip("/").rpartition("/")
        depth = 1 + len(folders.split("/")) if folders else 1
        shown["  " * depth + last + "/" * name.endswith("/"), name] = text
    width = max(len(line) for line, _ in shown)
    lines = [f"{line:<{width}}  {text}".rstrip() for (line, _), text in shown.items()]
    return "\n".join(["src/askgraph/", *lines])


def _described(package: Path) -> Iterator[tuple[str, str]]:
    """Yield every file by its path, with its first sentence; a folder is its `__init__.py`."""
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        folder = name.removesuffix("__init__.py")
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        first = " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".")
        yield (folder if folder != name and folder else name, first)
    yield from OTHERS.items()


def _place(name: str) -> tuple[bool, str, bool, str]:
    """Files of the package itself first, then folder after folder, each before its files."""
    folder, slash, rest = name.partition("/")
    return bool(slash), folder if slash else "", bool(rest), rest if slash else name


if __name__ == "__main__":
    print(filled((ROOT / PAGE).read_text(encoding="utf-8")))
