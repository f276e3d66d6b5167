"""What is wrong with a built site: links that lead nowhere, and anything fetched from elsewhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["complaints"]

_FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
_STYLED = re.compile(r"""url\(\s*["']?(?:https?:)?//|@import\s+["']?(?:https?:)?//""")


@dataclass
class _Page:
    """What a page has: the ids that a link may name, its links, and what it fetches."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)


def complaints(site: Path) -> list[str]:
    """Return a line for each broken link and each resource of another host, sorted."""
    pages = {path.resolve(): _read(path) for path in site.rglob("*.html")}
    found = [
        f"{path.relative_to(site.resolve())}: {words}"
        for path in pages
        for words in _wrong(site, path, pages)
    ]
    for path in site.rglob("*.css"):
        if _STYLED.search(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)}: a style from another host")
    return sorted(found)


def _wrong(site: Path, path: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    page = pages[path]
    for address in page.fetched:
        if urlsplit(address).netloc:
            yield f"fetches {address}"
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


def _read(path: Path) -> _Page:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = _Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.page.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        elif tag in _FETCHED and _FETCHED[tag] in values and values.get("rel") != "canonical":
            self.page.fetched.append(values[_FETCHED[tag]])
