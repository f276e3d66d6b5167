"""Lines of a query that is laid out: the names of its IRIs, blocks of triples, groups in braces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from askgraph.rdf import PrefixMap, words_of_local_name

WIDTH = 100
INLINE_WIDTH = 72
_LABEL_LENGTH = 60
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|<[^<>\s]*>|[?$]?(?:[\w:%·‿⁀-]|\.(?=[\w:%-])|\\.)+')


@dataclass(frozen=True)
class Names:
    """The short names of one query's IRIs, and the comments that explain them."""

    prefixes: PrefixMap
    labels: Mapping[str, str]
    comments: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def of(self, iri: str) -> str:
        """Return the shortest name that an IRI has."""
        if iri in self.known:
            return self.known[iri]
        name = self.known[iri] = self.prefixes.shorten(iri)
        label = self.labels.get(iri)
        if label and _adds(label, iri):
            self.comments[name] = _shortened(label)
        return name

    def finished(self, lines: Iterable[str]) -> str:
        """Return the lines as one text, with the declarations and comments that they need."""
        lines = list(lines)
        body = "\n".join(map(self._with_comment, lines)) if self.comments else "\n".join(lines)
        return self.prefixes.header("\n".join(lines)) + body

    def _with_comment(self, line: str) -> str:
        """The line, its opaque names explained at its end."""
        if not any(name in line for name in self.comments):
            return line
        named = dict.fromkeys(name for name in _NAME.findall(line) if name in self.comments)
        return f"{line}  # {', '.join(self.comments[name] for name in named)}" if named else line


def _adds(label: str, iri: str) -> bool:
    """Whether a label says more than the local name of its IRI does."""
    local = words_of_local_name(iri).casefold()
    said = set(re.findall(r"\w+", local))
    words = re.findall(r"\w+", label.casefold())
    return not set(words) <= said and "".join(words) != "".join(re.findall(r"\w+", local))


def _shortened(label: str) -> str:
    text = " ".join(label.split())
    return text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 1].rstrip() + "…"


@dataclass
class Triples:
    """Triple patterns in a row, gathered by subject."""

    subjects: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, subject: str, pairs: Iterable[tuple[str, str, bool]]) -> None:
        """Add predicates and objects of one subject; a pattern already there is dropped.

        The third of each says that the pattern must stay, as a path may match more than once.
        """
        key = f"{subject}\n{len(self.subjects)}" if subject[0] in "[(" else subject
        there = self.subjects.setdefault(key, [])
        for verb, objects, stays in pairs:
            if stays or objects[0] in "[(" or (verb, objects) not in there:
                there.append((verb, objects))

    def lines(self) -> list[str]:
        """Return one line a pattern, the class of a subject first."""
        found: list[str] = []
        for key, pairs in self.subjects.items():
            pairs.sort(key=lambda pair: pair[0] != "a")
            texts = [" ".join(pair) for pair in pairs]
            lines = [" ".join([key.partition("\n")[0], *texts[:1]])]
            lines += ["    " + text for text in texts[1:]]
            found += [line + " ;" for line in lines[:-1]] + [lines[-1] + " ."]
        return found


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines as the body of what stands around them."""
    return ["  " + line for line in lines]


def braced(head: str, body: list[str]) -> list[str]:
    """Return a group after its words, on one line if it is short."""
    if len(body) == 1 and len(head) + len(body[0]) <= INLINE_WIDTH:
        return [f"{head}{{ {body[0]} }}"]
    return [f"{head}{{", *indented(body), "}"]


def select_lines(items: list[str]) -> list[str]:
    """Return the head of a SELECT, on one line if it fits; the first item is the keyword."""
    one_line = " ".join(items)
    fits = len(one_line) <= WIDTH - len(" WHERE {")
    return [one_line] if fits else [items[0], *indented(items[1:])]


def opened(lines: list[str], keyword: str, body: list[str]) -> list[str]:
    """Return the lines of a head with the WHERE group behind them."""
    opening = f"{keyword} {{".lstrip()
    joined = len(lines) == 1 or lines[-1] == "}"
    last = [f"{lines[-1]} {opening}"] if joined else [lines[-1], opening]
    return [*lines[:-1], *last, *indented(body), "}"]


def union_lines(parts: list[list[str]]) -> list[str]:
    """Return groups with UNION between them."""
    if all(len(part) == 1 for part in parts):
        line = " UNION ".join(f"{{ {part[0]} }}" for part in parts)
        if len(line) <= WIDTH - 8:
            return [line]
    lines: list[str] = []
    for part in parts:
        lines[-1:] = ["} UNION {"] if lines else ["{"]
        lines += [*indented(part), "}"]
    return lines


def values_lines(head: str, rows: list[str], *, tuples: bool) -> list[str]:
    """Return VALUES, on one line if it is short."""
    line = f"VALUES {head} {{ {' '.join(rows)} }}"
    if len(line) <= WIDTH - 8 and (not tuples or len(rows) < 3):
        return [line]
    return [f"VALUES {head} {{", *indented(rows), "}"]
