"""The documentation site: pages gathered, reference made, site built and looked over.

    python -m tools.documentation      # build/site, from docs/, the README and the code

Pages keep the places and the links that they have in the repository; a link to a file that is no
page of the site becomes plain text.
"""

import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from tools import architecture
from tools.reference import pages as reference_pages

_FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
_STYLED = re.compile(r"""url\(\s*["']?(?:https?:)?//|@import\s+["']?(?:https?:)?//""")


class _Page(HTMLParser):
    """A page of the site: the ids that a link may name, its links, and what it fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids, self.links, self.fetched = set[str](), list[str](), list[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names or leads to."""
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in _FETCHED and _FETCHED[tag] in values and values.get("rel") != "canonical":
            self.fetched.append(values[_FETCHED[tag]])


def complaints(site: Path) -> list[str]:
    """Return a line for each broken link and each resource of another host, sorted."""
    pages = {path.resolve(): _Page(path) for path in site.rglob("*.html")}
    found = [
        f"{path.relative_to(site.resolve())}: {words}"
        for path in pages
        for words in _wrong(site, path, pages)
    ]
    found += [
        f"{path.relative_to(site)}: a style from another host"
        for path in site.rglob("*.css")
        if _STYLED.search(path.read_text(encoding="utf-8"))
    ]
    return sorted(found)


def _wrong(site: Path, path: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    page = pages[path]
    yield from (f"fetches {address}" for address in page.fetched if urlsplit(address).netloc)
    for link in [*page.links, *page.fetched]:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        root = site if parts.path.startswith("/") else path.parent
        target = (root / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
        if not target.is_file():
            yield f"{link} leads nowhere"
        elif (
            target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].ids
        ):
            yield f"{link} has no such heading"


ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
PAGES = "documentation"
SITE = "site"

ELSEWHERE: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))[
    "elsewhere"
]
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
    decisions = ["# Decisions\n", "Why it is built so: each with its context and its price.\n"]
    for name in sorted(name for name in texts if name.startswith("decisions/")):
        title = texts[name].splitlines()[0].removeprefix("# ")
        decisions.append(f"- [{title}]({PurePosixPath(name).name})")
    texts["decisions/index.md"] = "\n".join(decisions) + "\n"
    texts |= {f"reference/{name}": text for name, text in reference_pages().items()}
    for name, text in texts.items():
        place = build / PAGES / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    shutil.copy(root / "docs" / "page.png", build / PAGES)
    shutil.copy(root / "docs" / "zensical.toml", build / "zensical.toml")


def placed(source: str) -> str:
    """Return where a page of the repository is on the site."""
    return ELSEWHERE.get(source, source.removeprefix("docs/"))


def relinked(text: str, source: str) -> str:
    """Return a page whose links hold on the site; `source` is its place in the repository."""
    here = posixpath.dirname(placed(source))

    def relink(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        wanted += "/" * target.endswith("/")
        if wanted in ELSEWHERE or wanted.startswith("docs/"):
            page = placed(wanted)
        else:
            return words
        below = page.removeprefix(f"{here}/") if here else page
        up = "../" * (here.count("/") + 1) if here and below == page else ""
        return f"[{words}]({up}{below}{anchor})"

    pieces = _FENCED.split(text)
    pieces[::2] = [_LINK.sub(relink, piece) for piece in pieces[::2]]
    return "".join(pieces)


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
