"""Keep the file tree in README.md in step with the files: each with its first line.

    python tools/file_tree.py          # print the tree
    python tools/file_tree.py --write  # put it into README.md, between its two marks

What a file is for is the first sentence of its docstring; what is no module has its line in
`OTHERS`.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["END", "START", "in_step", "tree"]

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "askgraph"
START = "<!-- file tree: python tools/file_tree.py --write -->"
END = "<!-- end of the file tree -->"

OTHERS = {
    "search/linking/words/": "the closed word lists: English, German, Spanish, French",
    "py.typed": "says that the package is typed",
    "sample/questions.jsonl": "questions on the sample graph with their answers, one a line",
    "sample/questions.ttl": "the same questions with their queries, as SHACL examples",
    "sample/space.ttl": "the sample graph",
    "serve/web/": "the page, in TypeScript: `make page` builds it into static/",
}
"""What files are for that cannot say so themselves."""


def tree(package: Path = PACKAGE) -> str:
    """Return the tree of a package: folders with what they are, below them their files."""
    named = sorted(_described(package), key=lambda pair: _place(pair[0]))
    width = max(len(_shown(name)) for name, _ in named)
    lines = [f"{_shown(name):<{width}}  {text}".rstrip() for name, text in named]
    return "\n".join(["src/askgraph/", *lines])


def in_step(readme: str, wanted: str) -> str:
    """Return the text of a README with the tree between its marks."""
    block = f"{START}\n```text\n{wanted}\n```\n{END}"
    return re.sub(f"{re.escape(START)}.*?{re.escape(END)}", lambda _: block, readme, flags=re.S)


def _described(package: Path) -> Iterator[tuple[str, str]]:
    """Every file by its path in the package; a folder stands for its `__init__.py`."""
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        folder = name.removesuffix("__init__.py")
        yield (folder if folder != name and folder else name, _first_sentence(path))
    yield from OTHERS.items()


def _first_sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".")


def _place(name: str) -> tuple[bool, str, bool, str]:
    """Files of the package itself first, then folder after folder, each before its files."""
    folder, slash, rest = name.partition("/")
    return bool(slash), folder if slash else "", bool(rest), rest if slash else name


def _shown(name: str) -> str:
    return "  " * (1 + name.rstrip("/").count("/")) + (
        name.rstrip("/").rsplit("/", 1)[-1] + ("/" if name.endswith("/") else "")
    )


def main() -> int:
    """Print the tree, or write it; 1 where README.md has no marks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the tree into README.md")
    if not parser.parse_args().write:
        print(tree())
        return 0
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    if START not in text or END not in text:
        print(f"{readme.name} lacks the marks {START!r} and {END!r}", file=sys.stderr)
        return 1
    readme.write_text(in_step(text, tree()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
