"""An incremental parser of SPARQL JSON results; other formats are parsed when they are complete."""

import codecs
import csv
import io
import json
import re
from collections.abc import Generator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from pyoxigraph import (
    BaseDirection,
    BlankNode,
    Literal,
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    Triple,
    parse_query_results,
)

from askgraph.endpoint._dialects import repair_value
from askgraph.errors import ErrorReply, MalformedReply
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, Term

MAX_VALUE_CHARACTERS = 64 * 1024 * 1024  # characters of one row, or of one other value

_DECODE = json.JSONDecoder(strict=False).raw_decode
_NUMBER_OR_WORD_PATTERN = re.compile(r"[-+.\w]*")  # the token may continue in the next chunk
_SPACE_PATTERN = re.compile(r"[ \t\r\n]*")


class ResultsParser:
    """Parses the bytes of one reply in pieces of any size.

    `full` becomes true at a row beyond `limit`: no further bytes are needed.

    Raises:
        MalformedReply: the reply is not a SPARQL result.
        ErrorReply: the reply is JSON with an error message.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.boolean: bool | None = None
        self.is_full = False
        self._limit = limit
        self._names: dict[str, int] = {}
        self._rows: list[Row] = []
        self._terms = _TermParser()
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._text = ""
        self._position = 0
        self._ended = False
        self._other_members: dict[str, object] = {}
        self._has_result = False
        self._steps = self._parse_reply()
        next(self._steps)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the result; complete at the end of the reply."""
        return tuple(self._names)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows so far, each as long as `variables`."""
        width = len(self._names)
        return tuple([row + (None,) * (width - len(row)) for row in self._rows])

    def feed(self, data: bytes | None) -> None:
        """Parse the next bytes; None is the end of the reply."""
        if self.is_full:
            return
        try:
            text = self._decoder.decode(data or b"", data is None)
        except UnicodeDecodeError as problem:
            raise MalformedReply("the reply is not UTF-8 text, or is cut off") from problem
        self._ended = data is None
        self._text, self._position = self._text[self._position :] + text, 0
        next(self._steps, None)

    def load_table(self, format_name: str, body: bytes) -> None:
        """Parse a complete reply in a format that `detect_format` returns."""
        if (word := body.strip().lower()) in (b"true", b"false"):
            self.boolean = word == b"true"
            return
        try:
            if format_name == "csv":
                header, *lines = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))
                names = [name.removeprefix("?") for name in header]
                rows = [tuple([_parse_csv_cell(cell) for cell in line]) for line in lines]
            else:
                kind = QueryResultsFormat.XML if format_name == "xml" else QueryResultsFormat.TSV
                results = parse_query_results(body.removeprefix(codecs.BOM_UTF8), kind)
                if isinstance(results, QueryBoolean):
                    self.boolean = bool(results)
                    return
                names = [variable.value for variable in results.variables]
                rows = [tuple(solution) for solution in results]
        except (SyntaxError, ValueError, csv.Error) as problem:
            raise MalformedReply(
                f"the {format_name.upper()} results are cut off or broken: {problem}"
            ) from problem
        self._names = {name: position for position, name in enumerate(names)}
        self.is_full = self._limit is not None and len(rows) > self._limit
        self._rows = rows[: self._limit]

    @property
    def unread(self) -> str:
        """The beginning of the unread text, for messages."""
        return self._text[self._position : self._position + 2000]

    # The reader is one generator: it yields where it needs more text.

    def _parse_reply(self) -> Generator[None, None, None]:
        yield
        yield from self._parse_object(self._parse_root_member)
        if self.is_full:
            return
        yield from self._expect_end()
        if not self._has_result:
            for key in ("exception", "error", "message", "errors", "detail"):
                if message := self._other_members.get(key):
                    raise ErrorReply(" ".join(str(message).split())[:500])
            raise MalformedReply("the reply is JSON, but not a SPARQL result")

    def _parse_root_member(self, key: str) -> Generator[None, None, None]:
        if key == "results":
            self._has_result = True
            yield from self._parse_object(self._parse_results_member)
            return
        value = yield from self._parse_value()
        match key, value:
            case "boolean", bool():
                self._has_result = True
                self.boolean = value
            case "head", {"vars": list(names)}:
                for name in names:
                    self._names.setdefault(str(name), len(self._names))
            case _:
                self._other_members[key] = value

    def _parse_results_member(self, key: str) -> Generator[None, None, None]:
        if key != "bindings":
            yield from self._parse_value()
            return
        yield from self._take_character("[")
        if (yield from self._peek()) == "]":
            self._position += 1
            return
        while not self.is_full:
            self._add_row((yield from self._parse_value()))
            if (yield from self._take_character(",]")) == "]":
                return

    def _parse_object(self, parse_member: Any) -> Generator[None, None, None]:
        yield from self._take_character("{")
        if (yield from self._peek()) == "}":
            self._position += 1
            return
        while True:
            key = yield from self._parse_value()
            if not isinstance(key, str):
                self._raise_syntax_error("a name")
            yield from self._take_character(":")
            yield from parse_member(key)
            if self.is_full or (yield from self._take_character(",}")) == "}":
                return

    def _add_row(self, binding: object) -> None:
        if not isinstance(binding, dict):
            raise MalformedReply("a row of the reply is not a JSON object")
        if self._limit is not None and len(self._rows) >= self._limit:
            self.is_full = True
            return
        for name in binding:
            self._names.setdefault(name, len(self._names))
        row: list[Term | None] = [None] * len(self._names)
        for name, value in binding.items():
            row[self._names[name]] = self._terms.parse_term(value)
        self._rows.append(tuple(row))

    def _peek(self) -> Generator[None, None, str]:
        while True:
            match = _SPACE_PATTERN.match(self._text, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._text):
                return self._text[self._position]
            if self._ended:
                raise self._build_truncation_error()
            yield

    def _take_character(self, allowed: str) -> Generator[None, None, str]:
        character = yield from self._peek()
        if character not in allowed:
            self._raise_syntax_error(" or ".join(map(repr, allowed)))
        self._position += 1
        return character

    def _parse_value(self) -> Generator[None, None, Any]:
        yield from self._peek()
        while True:
            try:
                value, end = _DECODE(self._text, self._position)
            except json.JSONDecodeError as problem:
                # Raise if more text cannot complete it.
                near_end = problem.pos >= len(self._text) - 8
                if not near_end and not problem.msg.startswith("Unterminated"):
                    self._raise_syntax_error("JSON")
                if self._ended:
                    raise self._build_truncation_error() from problem
            except RecursionError as problem:
                raise MalformedReply("the reply is nested too deeply") from problem
            else:
                is_complete = isinstance(value, str | dict | list) or self._ended
                if is_complete or not _NUMBER_OR_WORD_PATTERN.fullmatch(self._text, self._position):
                    self._position = end
                    return value
            # Wait until there is twice as much text, so that a long value is not read too often.
            size = len(self._text) - self._position
            if size > MAX_VALUE_CHARACTERS:
                raise MalformedReply("one value of the reply is unreasonably long")
            while not self._ended and len(self._text) - self._position < 2 * size:
                yield

    def _expect_end(self) -> Generator[None, None, None]:
        while True:
            if self._text[self._position :].strip(" \t\r\n\x00"):
                self._raise_syntax_error("the end")
            if self._ended:
                return
            yield

    def _build_truncation_error(self) -> MalformedReply:
        return MalformedReply(f"the reply is cut off after {len(self._rows):,} rows")

    def _raise_syntax_error(self, expected: str) -> None:
        actual = " ".join(self.unread.split())[:120]
        raise MalformedReply(
            f"the reply is not SPARQL JSON: expected {expected} after {len(self._rows):,} "
            f"rows, not {actual!r}"
        )


_KEYS = ("type", "value", "datatype", "xml:lang", "its:dir")


class _TermParser:
    """Parses RDF terms from JSON; equal terms are created once."""

    def __init__(self) -> None:
        self._cache: dict[tuple[str, ...], Term] = {}

    def parse_term(self, value: object) -> Term:
        if not isinstance(value, dict):
            raise MalformedReply("a value of the reply is not a JSON object")
        if value.get("type") == "triple":
            return self._parse_triple(value.get("value"))
        kind, *details = (str(value.get(name, "")) for name in _KEYS)
        key = (kind, *details)
        term = self._cache.get(key)
        if term is None:
            term = self._cache[key] = _build_term(kind, *details)
        return term

    def _parse_triple(self, value: object) -> Triple:
        if not isinstance(value, dict):
            raise MalformedReply("a triple of the reply is not a JSON object")
        parts: Any = [
            self.parse_term(value.get(part)) for part in ("subject", "predicate", "object")
        ]
        try:
            return Triple(*parts)
        except TypeError as problem:
            raise MalformedReply(f"a triple of the reply is invalid: {problem}") from problem


def _build_term(kind: str, value: str, datatype: str, language: str, direction: str) -> Term:
    match kind:
        case "uri":
            return _build_iri(value)
        case "bnode":
            return BlankNode(re.sub(r"[^A-Za-z0-9_]", "_", value) or "b")
        case "literal" | "typed-literal":
            if datatype and not language:
                return Literal(repair_value(value, datatype), datatype=_build_iri(datatype))
            known_direction = _DIRECTIONS.get(direction)
            for tag, way in ((language, known_direction), (language.replace("_", "-"), None)):
                with suppress(ValueError):
                    return Literal(value, language=tag or None, direction=way if tag else None)
            return Literal(value)
        case _:
            raise MalformedReply(f"a value of the reply has the unknown type {kind!r}")


def _build_iri(value: str) -> NamedNode:
    """Return an IRI; invalid characters, which some stores contain, are percent-encoded."""
    with suppress(ValueError):
        return NamedNode(value)
    try:
        return NamedNode(re.sub(r'[\x00-\x20<>"{}|\\^`]', lambda match: quote(match[0]), value))
    except ValueError as problem:
        raise MalformedReply(
            f"the reply contains {value[:200]!r}, which is not an IRI"
        ) from problem


_DIRECTIONS: Mapping[str, BaseDirection] = {"ltr": BaseDirection.LTR, "rtl": BaseDirection.RTL}


_FORMATS = {"text/tab-separated-values": "tsv", "text/csv": "csv"}
_INTEGER_PATTERN = re.compile(r"[+-]?\d+")
_DECIMAL_PATTERN = re.compile(r"[+-]?\d*\.\d+")
_IRI_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://)?[^\s<>\"{}|\\^`]+")
_IRI_SCHEMES = ("http", "https", "urn", "mailto", "tag", "file")


def detect_format(media_type: str, start: bytes) -> str:
    """Return the format of a reply that is not JSON: xml, tsv, csv, or "" if it has no results."""
    return "xml" if b"<sparql" in start[:2000] else _FORMATS.get(media_type, "")


def _parse_csv_cell(cell: str) -> Term | None:
    """Return the term of a cell, whose kind CSV does not state: by its form."""
    if not cell:
        return None
    if cell.startswith("_:"):
        return _build_term("bnode", cell[2:], "", "", "")
    if _IRI_PATTERN.fullmatch(cell) and cell.partition(":")[0].lower() in _IRI_SCHEMES:
        return _build_iri(cell)
    if _INTEGER_PATTERN.fullmatch(cell):
        return Literal(cell, datatype=NamedNode(voc.XSD_INTEGER))
    if _DECIMAL_PATTERN.fullmatch(cell):
        return Literal(cell, datatype=NamedNode(voc.XSD_DECIMAL))
    return Literal(cell)
