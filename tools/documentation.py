"""The documentation site: pages gathered, reference made, site built and looked over.

    python -m tools.documentation      # build/site, from docs/, the README and the code

Pages keep the places and the links that they have in the repository; a link to a file that is no
page of the site becomes one to the reference of that module, or plain text.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from tools import architecture
from tools.reference import pages as reference_pages
from tools.site_check import complaints

__all__ = ["built", "decisions_page", "gather", "placed", "relinked"]

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
PAGES = "documentation"
SITE = "site"

ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/decisions": "decisions/index.md",
    "docs/decisions/": "decisions/index.md",
}
"""Where pages of the repository that do not lie in docs/ are on the site."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|mailto:|#)([^()\s#]+)(#[^()\s]*)?\)")


def gather(root: Path, build: Path) -> None:
    """Put the pages of a repository, its reference and the configuration below `build`, afresh."""
    shutil.rmtree(build / PAGES, ignore_errors=True)
    sources = {path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md")}
    texts = {}
    for source in sources | {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}:
        text = (root / source).read_text(encoding="utf-8")
        if source == architecture.PAGE:
            text = architecture.filled(text)
        texts[placed(source)] = relinked(text, source)
    decisions = {name: text for name, text in texts.items() if name.startswith("decisions/")}
    texts["decisions/index.md"] = decisions_page(decisions)
    texts |= {f"reference/{name}": text for name, text in reference_pages().items()}
    for name, text in texts.items():
        place = build / PAGES / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    shutil.copy(root / "docs" / "zensical.toml", build / "zensical.toml")


def placed(source: str) -> str:
    """Return where a page of the repository is on the site."""
    return ELSEWHERE.get(source, source.removeprefix("docs/"))


def relinked(text: str, source: str) -> str:
    """Return a page whose links hold on the site; `source` is its place in the repository."""
    pieces = _FENCED.split(text)
    pieces[::2] = [_LINK.sub(_link_of(source), piece) for piece in pieces[::2]]
    return "".join(pieces)


def decisions_page(decisions: dict[str, str]) -> str:
    """Return the list of all decisions, by the first lines of their pages."""
    lines = ["# Decisions\n", "Why it is built so: each with its context and its price.\n"]
    for name in sorted(decisions):
        title = decisions[name].splitlines()[0].removeprefix("# ")
        lines.append(f"- [{title}]({PurePosixPath(name).name})")
    return "\n".join(lines) + "\n"


def _link_of(source: str) -> Callable[[re.Match[str]], str]:
    """What a link of a page becomes."""
    here = PurePosixPath(placed(source)).parent

    def made(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        wanted = _normal(PurePosixPath(source).parent / target)
        if target.endswith("/"):
            wanted += "/"
        if wanted.startswith("src/askgraph/") and wanted.endswith(".py"):
            dotted = wanted.removeprefix("src/").removesuffix(".py").replace("/", ".")
            dotted = dotted.removesuffix(".__init__")
            page = f"reference/python/{dotted.split('.')[1]}.md"
            return f"[{words}]({_relative(page, here)}#{dotted})"
        if wanted in ELSEWHERE or wanted.startswith("docs/"):
            return f"[{words}]({_relative(placed(wanted), here)}{anchor})"
        return words

    return made


def _normal(path: PurePosixPath) -> str:
    """A path without `..`, as `os.path.normpath` has it, with slashes on every system."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts)


def _relative(page: str, here: PurePosixPath) -> str:
    up = "../" * len(here.parts)
    below = PurePosixPath(page)
    return str(below.relative_to(here)) if below.is_relative_to(here) else f"{up}{page}"


def built(build: Path) -> list[str]:
    """Build the site of gathered pages, and return what is wrong with it."""
    site = build / SITE
    shutil.rmtree(site, ignore_errors=True)
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"],
        cwd=build,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        told = _COLOURS.sub("", done.stdout + done.stderr)
        return [told.split("Traceback (most recent call last)")[0]]
    return complaints(site)


def main() -> int:
    """Build the site, and print what is wrong with it; 1 where something is."""
    gather(ROOT, BUILD)
    found = built(BUILD)
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        site = BUILD / SITE
        print(f"{site.relative_to(ROOT)}: {sum(1 for _ in site.rglob('*.html'))} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
