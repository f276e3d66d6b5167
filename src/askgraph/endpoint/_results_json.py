"""SPARQL JSON results, read while they arrive: a row is a row as soon as it is complete."""

import codecs
import json
import re
from collections.abc import Generator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from askgraph.endpoint._dialects import mended
from askgraph.errors import ErrorReply, MalformedReply
from askgraph.sparql.results import Row, Term

MAX_VALUE = 64 * 1024 * 1024  # characters of one row, or of one other value

_DECODE = json.JSONDecoder(strict=False).raw_decode
_NUMBER_OR_WORD = re.compile(r"[-+.\w]*")  # more of it may come
_SPACE = re.compile(r"[ \t\r\n]*")


class ResultsParser:
    """Takes the bytes of one reply in any pieces; holds what was complete in them.

    `full` is true once a row beyond `limit` was seen: no more bytes are needed then. Raises
    `MalformedReply` for anything but a SPARQL result, `ErrorReply` for JSON that is an error
    message.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.boolean: bool | None = None
        self.full = False
        self._limit = limit
        self._names: dict[str, int] = {}
        self._rows: list[Row] = []
        self._terms = _Terms()
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._text = ""
        self._at = 0
        self._ended = False
        self._others: dict[str, object] = {}
        self._found = False
        self._steps = self._reply()
        next(self._steps)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the result; complete once the reply is."""
        return tuple(self._names)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows so far, each as long as `variables`."""
        width = len(self._names)
        return tuple([row + (None,) * (width - len(row)) for row in self._rows])

    def feed(self, data: bytes | None) -> None:
        """Take the next bytes, or None at the end of the reply."""
        if self.full:
            return
        try:
            text = self._decoder.decode(data or b"", data is None)
        except UnicodeDecodeError as problem:
            raise MalformedReply("the reply is not UTF-8 text, or is cut off") from problem
        self._ended = data is None
        self._text, self._at = self._text[self._at :] + text, 0
        next(self._steps, None)

    @property
    def unread(self) -> str:
        """The beginning of what could not be read, for messages."""
        return self._text[self._at : self._at + 2000]

    # The reader is one generator: it yields where it needs more text.

    def _reply(self) -> Generator[None, None, None]:
        yield
        yield from self._object(self._root_member)
        if self.full:
            return
        yield from self._only_space()
        if not self._found:
            for key in ("exception", "error", "message", "errors", "detail"):
                if message := self._others.get(key):
                    raise ErrorReply(" ".join(str(message).split())[:500])
            raise MalformedReply("the reply is JSON, but no SPARQL result")

    def _root_member(self, key: str) -> Generator[None, None, None]:
        if key == "results":
            self._found = True
            yield from self._object(self._results_member)
            return
        value = yield from self._value()
        match key, value:
            case "boolean", bool():
                self._found = True
                self.boolean = value
            case "head", {"vars": list(names)}:
                for name in names:
                    self._names.setdefault(str(name), len(self._names))
            case _:
                self._others[key] = value

    def _results_member(self, key: str) -> Generator[None, None, None]:
        if key != "bindings":
            yield from self._value()
            return
        yield from self._take("[")
        if (yield from self._peek()) == "]":
            self._at += 1
            return
        while not self.full:
            self._add((yield from self._value()))
            if (yield from self._take(",]")) == "]":
                return

    def _object(self, member: Any) -> Generator[None, None, None]:
        yield from self._take("{")
        if (yield from self._peek()) == "}":
            self._at += 1
            return
        while True:
            key = yield from self._value()
            if not isinstance(key, str):
                self._wrong("a name")
            yield from self._take(":")
            yield from member(key)
            if self.full or (yield from self._take(",}")) == "}":
                return

    def _add(self, binding: object) -> None:
        if not isinstance(binding, dict):
            raise MalformedReply("a row of the reply is no JSON object")
        if self._limit is not None and len(self._rows) >= self._limit:
            self.full = True
            return
        for name in binding:
            self._names.setdefault(name, len(self._names))
        row: list[Term | None] = [None] * len(self._names)
        for name, value in binding.items():
            row[self._names[name]] = self._terms.term(value)
        self._rows.append(tuple(row))

    def _peek(self) -> Generator[None, None, str]:
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                raise self._cut_off()
            yield

    def _take(self, one_of: str) -> Generator[None, None, str]:
        character = yield from self._peek()
        if character not in one_of:
            self._wrong(" or ".join(map(repr, one_of)))
        self._at += 1
        return character

    def _value(self) -> Generator[None, None, Any]:
        yield from self._peek()
        while True:
            try:
                value, end = _DECODE(self._text, self._at)
            except json.JSONDecodeError as problem:
                # Raise if more text cannot mend it.
                near_end = problem.pos >= len(self._text) - 8
                if not near_end and not problem.msg.startswith("Unterminated"):
                    self._wrong("JSON")
                if self._ended:
                    raise self._cut_off() from problem
            except RecursionError as problem:
                raise MalformedReply("the reply is nested too deeply") from problem
            else:
                whole = isinstance(value, str | dict | list) or self._ended
                if whole or not _NUMBER_OR_WORD.fullmatch(self._text, self._at):
                    self._at = end
                    return value
            # Wait until there is twice as much text, so that a long value is not read too often.
            size = len(self._text) - self._at
            if size > MAX_VALUE:
                raise MalformedReply("one value of the reply is unreasonably long")
            while not self._ended and len(self._text) - self._at < 2 * size:
                yield

    def _only_space(self) -> Generator[None, None, None]:
        while True:
            if self._text[self._at :].strip(" \t\r\n\x00"):
                self._wrong("the end")
            if self._ended:
                return
            yield

    def _cut_off(self) -> MalformedReply:
        return MalformedReply(f"the reply is cut off after {len(self._rows):,} rows")

    def _wrong(self, wanted: str) -> None:
        found = " ".join(self.unread.split())[:120]
        raise MalformedReply(
            f"the reply is no SPARQL JSON: after {len(self._rows):,} rows there should be"
            f" {wanted}, but there is {found!r}"
        )


_KEYS = ("type", "value", "datatype", "xml:lang", "its:dir")


class _Terms:
    """RDF terms from their JSON; equal ones are made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Term] = {}

    def term(self, value: object) -> Term:
        if not isinstance(value, dict):
            raise MalformedReply("a value of the reply is no JSON object")
        if value.get("type") == "triple":
            return self._triple(value.get("value"))
        kind, *rest = (str(value.get(name, "")) for name in _KEYS)
        key = (kind, *rest)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _plain_term(kind, *rest)
        return known

    def _triple(self, value: object) -> Triple:
        if not isinstance(value, dict):
            raise MalformedReply("a triple of the reply is no JSON object")
        parts: Any = [self.term(value.get(part)) for part in ("subject", "predicate", "object")]
        try:
            return Triple(*parts)
        except TypeError as problem:
            raise MalformedReply(f"a triple of the reply is none: {problem}") from problem


def _plain_term(kind: str, value: str, datatype: str, language: str, direction: str) -> Term:
    match kind:
        case "uri":
            return _iri(value)
        case "bnode":
            return BlankNode(re.sub(r"[^A-Za-z0-9_]", "_", value) or "b")
        case "literal" | "typed-literal":
            return _literal(value, datatype, language, direction)
        case _:
            raise MalformedReply(f"a value of the reply has the unknown type {kind!r}")


def _iri(value: str) -> NamedNode:
    """Return an IRI; characters that no IRI may hold are percent-encoded, as some stores let in."""
    with suppress(ValueError):
        return NamedNode(value)
    try:
        return NamedNode(re.sub(r'[\x00-\x20<>"{}|\\^`]', lambda bad: quote(bad[0]), value))
    except ValueError as problem:
        raise MalformedReply(f"the reply holds {value[:200]!r}, which is no IRI") from problem


_DIRECTIONS: Mapping[str, BaseDirection] = {"ltr": BaseDirection.LTR, "rtl": BaseDirection.RTL}


def _literal(value: str, datatype: str, language: str, direction: str) -> Literal:
    if datatype and not language:
        return Literal(mended(value, datatype), datatype=_iri(datatype))
    for tag, way in ((language, _DIRECTIONS.get(direction)), (language.replace("_", "-"), None)):
        with suppress(ValueError):
            return Literal(value, language=tag or None, direction=way if tag else None)
    return Literal(value)
