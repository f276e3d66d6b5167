"""Convert what RDF parsers refuse: invalid IRIs and tags, contexts by address, rules, CSV."""

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import get_format_suffix


@dataclass
class OddStatements:
    """The statements of a file that were mended, or left out because they cannot be."""

    mended: int = 0
    left_out: int = 0
    example: str = ""


@cache
def load_file_facts() -> Mapping[str, Any]:
    """Return the advice on files, contexts and prefixes in the package."""
    return tomllib.loads(Path(__file__).with_name("rdf_files.toml").read_text(encoding="utf-8"))


def find_advice(name: str, head: bytes = b"") -> str | None:
    """Return what to do with a file that is not read, by its suffix or its first bytes, or None."""
    advice = load_file_facts()["advice"]
    owl_syntaxes = {
        # As the root: RDF/XML has an owl:Ontology within rdf:RDF.
        rb"\A[^<]*(<[?!][^<]*)*<(\w+:)?Ontology[\s>]": ".owx",
        rb"\A\s*(Prefix|Ontology)\(": ".ofn",
        rb"\A\s*(Prefix|Ontology):": ".omn",
        rb"\A\s*format-version:": ".obo",
        rb"\A\$HDT": ".hdt",
    }
    matches = (suffix for pattern, suffix in owl_syntaxes.items() if re.search(pattern, head))
    suffix = next(matches, None) if head else get_format_suffix(Path(name))
    return f"{name!r} {advice[suffix]}" if suffix in advice else None


def mend_quads(quads: Iterable[Quad], odd: OddStatements) -> Iterator[Quad]:
    """Yield quads with valid IRIs and language tags; others are mended and counted, or left out."""
    for quad in quads:
        try:
            terms = map(_mend_term, (quad.subject, quad.predicate, quad.object, quad.graph_name))
            mended = Quad(*terms)
        except ValueError:
            odd.left_out += 1
            continue
        if mended != quad:
            odd.mended += 1
            odd.example = odd.example or f"{quad} (now {mended})"
        yield mended


_INVALID_CHARACTER = re.compile(
    r'%(?![0-9A-Fa-f]{2})|[\x00-\x20<>"{}|\\^`\[\]#\x7f-\x9f\ue000-\uf8ff\ufff0-\uffff]'
)


def _mend_term(term: Any) -> Any:
    """Return a valid term, the same one if it is valid; `ValueError` if it cannot be mended."""
    if isinstance(term, NamedNode):
        try:
            NamedNode(term.value)
        except ValueError:
            start, mark, fragment = term.value.partition("#")
            parts = (
                _INVALID_CHARACTER.sub(lambda match: quote(match[0], safe=""), part)
                for part in (start, fragment)
            )
            return NamedNode(mark.join(parts) if mark else next(parts))
    elif isinstance(term, Literal) and term.language:
        try:
            Literal(term.value, language=term.language)
        except ValueError:
            subtags = term.language.replace("_", "-").split("-")
            tag = subtags[0] if re.fullmatch(r"[A-Za-z]{2,8}", subtags[0]) else None
            return Literal(term.value, language=tag)
    elif isinstance(term, Literal):
        return Literal(term.value, datatype=_mend_term(term.datatype))
    elif isinstance(term, Triple):
        return Triple(*map(_mend_term, (term.subject, term.predicate, term.object)))
    return term


def skip_rules(quads: Iterator[Quad], odd: OddStatements) -> Iterator[Quad]:
    """Yield the plain statements of N3; rules and quoted formulas are counted as left out."""
    while True:
        try:
            for quad in quads:
                if isinstance(quad.graph_name, BlankNode) or "10/swap/log#" in quad.predicate.value:
                    odd.left_out += 1
                else:
                    yield quad
            return
        except SyntaxError as problem:
            if "variables are not allowed" not in str(problem):
                raise
            odd.left_out += 1


def inline_contexts(name: str, content: bytes, folder: Path | None) -> bytes:
    """Return JSON-LD with the contexts that it names by address written out.

    Args:
        folder: a folder with contexts besides those in the package; see `_find_context`.

    Raises:
        SetupError: a context is in neither.
    """

    def replace_contexts(node: Any) -> Any:
        if isinstance(node, list):
            return [replace_contexts(part) for part in node]
        if not isinstance(node, dict):
            return node
        return {
            key: resolve(part) if key == "@context" else replace_contexts(part)
            for key, part in node.items()
        }

    def resolve(context: Any) -> Any:
        if isinstance(context, list):
            parts = [resolve(part) for part in context]
            return [
                inner for part in parts for inner in (part if isinstance(part, list) else [part])
            ]
        return _find_context(name, context, folder) if isinstance(context, str) else context

    try:
        return json.dumps(replace_contexts(json.loads(content.decode("utf-8-sig")))).encode()
    except (ValueError, RecursionError):
        return content  # the parser's message has the line


def _find_context(file: str, address: str, folder: Path | None) -> Any:
    """Return a context: the folder's file with the address's last part, else the package's own."""
    key = re.sub(r"^https?://(www\.)?", "", address).rstrip("/#")
    stem = (
        re.sub(r"[?#].*", "", key).rpartition("/")[2].removesuffix(".jsonld").removesuffix(".json")
    )
    for path in (folder / f"{stem}.jsonld", folder / f"{stem}.json") if folder else ():
        if path.is_file():
            try:
                return json.loads(path.read_text(encoding="utf-8-sig"))["@context"]
            except (ValueError, KeyError, TypeError) as problem:
                raise SetupError(
                    f"{str(path)!r} is not a JSON-LD context: it has no '@context'"
                ) from problem
    facts = load_file_facts()
    for start, terms in facts["contexts"].items():
        if re.match(rf"{re.escape(start)}(\b|$)", key):
            vocabulary = terms.get("@vocab", "")
            nodes = {
                name: {"@id": vocabulary + name, "@type": "@id"}
                for name in terms.get("_nodes", "").split()
            }
            return (
                facts["prefixes"]
                | nodes
                | {name: term for name, term in terms.items() if name != "_nodes"}
            )
    raise SetupError(
        f"{file} uses the JSON-LD context {address!r}, which askgraph does not bring: download "
        f"that address as {stem or 'context'}.jsonld into a folder, and add --contexts FOLDER"
    )


_MISSING = frozenset({"", "-", "–", "NA", "N/A", "n/a", "null", "NULL", "None", "nan", "NaN"})
_DATE = r"\d{4}-\d\d-\d\d"
_CELL_TYPES = (
    (v.XSD_INTEGER, re.compile(r"[+-]?(0|[1-9]\d*)")),
    (v.XSD_DECIMAL, re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?")),
    (v.XSD_DOUBLE, re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")),
    (v.XSD_DATE, re.compile(_DATE)),
    (v.XSD_DATE_TIME, re.compile(rf"{_DATE}[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")),
    (v.XSD_BOOLEAN, re.compile(r"true|false", re.IGNORECASE)),
    ("", re.compile(r"https?://[^\s<>\"{}|\\^`\[\]]+")),
)
"""Datatypes by the pattern of their cells; the one without a name is that of IRIs."""


@dataclass(frozen=True)
class Column:
    """A column of a table; `datatype` is None for texts and empty for IRIs."""

    header: str
    cells: tuple[str, ...]
    datatype: str | None = field(init=False)

    def __post_init__(self) -> None:
        cells = set(self.cells) - _MISSING
        matches = (name for name, pattern in _CELL_TYPES if all(map(pattern.fullmatch, cells)))
        object.__setattr__(self, "datatype", next(matches, None) if cells else None)

    def is_key(self) -> bool:
        """Return whether each cell is filled, and different from all others."""
        return "" not in self.cells and len(set(self.cells)) == len(self.cells)

    def parse_cell(self, cell: str) -> NamedNode | Literal | None:
        """Return the value of a cell; None if it is empty."""
        if self.datatype is None:
            return Literal(cell) if cell else None
        if cell in _MISSING:
            return None
        if not self.datatype:
            return NamedNode(cell)
        text = cell.lower() if self.datatype == v.XSD_BOOLEAN else cell.replace(" ", "T")
        return Literal(text, datatype=NamedNode(self.datatype))


class Table:
    """The rows of a CSV file: one row, one thing of the class with the file's name.

    Raises:
        SetupError: the file has no rows.
    """

    def __init__(self, file: str, content: bytes) -> None:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", "replace")
        delimiter = max(",;\t|", key=text.partition("\n")[0].count)
        try:
            lines = list(
                filter(any, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
            )
        except csv.Error as problem:
            raise SetupError(f"{file} is not CSV: {problem}; save it as CSV again") from problem
        if len(lines) <= 1:
            raise SetupError(f"{file} has no rows: add a line of column names, then rows")
        headers = [header.strip() or f"column {at}" for at, header in enumerate(lines[0], 1)]
        cells = list(zip_longest(*lines[1:], fillvalue=""))[: len(headers)]
        self.name = Path(file).name.partition(".")[0]
        cells += [("",) * (len(lines) - 1)] * (len(headers) - len(cells))
        columns = zip(headers, cells, strict=True)
        self.columns = [Column(header, tuple(map(str.strip, column))) for header, column in columns]
        self.words = _split_words(self.name)
        self.singular = self.words
        for plural, singular in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("s", "")):
            if self.words.endswith(plural) and not self.words.endswith("ss"):
                self.singular = self.words.removesuffix(plural) + singular
                break
        key_names = {"id", "key", "code", f"{self.singular} id", f"{self.singular} code"}
        keys = [c for c in self.columns if _split_words(c.header) in key_names]
        # The column that distinguishes the rows: one called so, else the first.
        self.key = next((c for c in [*keys, self.columns[0]] if c.is_key()), None)

    def is_linked_by(self, column: Column) -> bool:
        """Return whether all cells of another table's column are keys of this table.

        Numbers and dates link only if the column is also called like this table.
        """
        cells = set(column.cells) - _MISSING
        if self.key is None or not cells or not cells <= set(self.key.cells):
            return False
        is_named = _KEY_WORD.sub("", _split_words(column.header)) in (self.words, self.singular)
        return is_named or column.datatype is None

    def build_quads(self, tables: Sequence["Table"]) -> Iterator[Quad]:
        """Yield the statements of the rows, linked to the rows of other tables by their keys."""
        table_node = _name_node("table", self.name)
        yield _build_quad(table_node, v.RDFS_LABEL, Literal(self.singular))
        targets: dict[Column, Table] = {}
        for column in self.columns:
            words = _split_words(column.header)
            linked = (table for table in tables if table is not self and table.is_linked_by(column))
            if target := next(linked, None):
                targets[column] = target
                words = _KEY_WORD.sub("", words)
            node = _name_node("column", column.header)
            yield _build_quad(node, v.RDFS_LABEL, Literal(words or column.header))
        texts = [c for c in self.columns if c.datatype is None and c not in targets]
        name_words = ("name", "title", "label", f"{self.singular} name")
        naming = [c for c in texts if _split_words(c.header) in name_words]
        naming += [c for c in texts if c.is_key() and c is not self.key]
        is_text = self.key is not None and self.key.datatype is None
        for at in range(len(self.columns[0].cells)):
            key = self.key.cells[at] if self.key else str(at + 1)
            name = naming[0].cells[at] if naming else ""
            thing = _name_node(self.name, key)
            label = name or (key if is_text else f"{self.singular} {key}")
            yield _build_quad(thing, v.RDF_TYPE, table_node)
            yield _build_quad(thing, v.RDFS_LABEL, Literal(label))
            for column in self.columns:
                value = column.parse_cell(column.cells[at])
                if value is not None and column in targets:
                    value = _name_node(targets[column].name, column.cells[at])
                if value is not None:
                    yield _build_quad(thing, _name_node("column", column.header).value, value)


_KEY_WORD = re.compile(r" (id|key|code|no|nr|number)$")


def _split_words(text: str) -> str:
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)).strip().lower()


def _name_node(*parts: str) -> NamedNode:
    return NamedNode("urn:csv:" + "/".join(quote(part, safe="") for part in parts))


def _build_quad(subject: NamedNode, predicate: str, value: NamedNode | Literal) -> Quad:
    return Quad(subject, NamedNode(predicate), value)
