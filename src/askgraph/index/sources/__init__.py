r"""Sources of an index's resources: tables, dumps, and two queries for an endpoint.

The queries, for entities and properties, are files in `queries`, in a folder for each graph;
`default` works on any graph. A table is a text file with a header of column names and one resource
in each line, separated by tabs. The columns of both are `iri` and `label`, and optionally `score`,
`synonyms` and `infos`, in any order; `;;;` separates several synonyms or infos. Tabs, line ends and
backslashes within a value are `\t`, `\n`, `\r` and `\\`. A file whose name ends in `.gz` is
compressed:

    iri	label	score	synonyms	infos
    http://example.org/42	Ganymede	12	Jupiter III	moon of Jupiter;;;discovered in 1610

The index data of GRASP are read as well: `data.jsonl`, with an `identifier` and its `fields` in
each line, and rows of its queries as SPARQL TSV (`?id`, `?label` or `?value`, `?score`).

A dump is read triple by triple. The facts of the IRIs are kept in memory up to a limit, then sorted
and written to temporary files, and merged at the end; so a dump may be larger than memory.
"""

import gzip
import heapq
import io
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, cast

import pyoxigraph
from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
)

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name
from askgraph.sparql.results import SelectResult, Term, to_plain_value

_QUERIES = files(__package__) / "queries"


def list_graphs() -> tuple[str, ...]:
    """Return the graphs with specific queries."""
    names = (item.name for item in _QUERIES.iterdir() if item.is_dir())
    return tuple(sorted(name for name in names if name.isalpha() and name != "default"))


def load_query(key: str, graph: str | None = None) -> str:
    """Return the query for `entities` or `properties` of a graph; raise `SetupError` if none."""
    if graph is not None and graph not in list_graphs():
        raise SetupError(
            f"there are no index queries for {graph!r}; available: "
            f"{', '.join(list_graphs())}, and 'default' for any graph"
        )
    return (_QUERIES / (graph or "default") / f"{key}.rq").read_text(encoding="utf-8")


_COLUMNS = ("iri", "label", "score", "synonyms", "infos")
_COLUMN_BY_ALIAS = {"id": "iri", "value": "label", "main_label": "label", "aliases": "synonyms"}
_IGNORED_COLUMNS = ("tag", "tags", "type")  # the main label comes first in any case
_CHARACTER_BY_ESCAPE = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
_ESCAPE_PATTERN = re.compile(r"\\[\\tnr]")


def read_table(path: Path) -> Iterator[Resource]:
    """Yield the resources of a table lazily; raise `SetupError` with the number of a bad line."""
    try:
        open_file = gzip.open if path.suffix == ".gz" else open
        with cast(io.BufferedReader, open_file(path, "rb")) as file:
            first_character = file.peek(1)[:1]
            if first_character == b"?":
                solutions = pyoxigraph.parse_query_results(file, format=QueryResultsFormat.TSV)
                assert isinstance(solutions, QuerySolutions)  # TSV has no other results
                names = [variable.value for variable in solutions.variables]
                yield from _read_solutions(names, map(tuple, solutions), str(path))
                return
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n")
            yield from (_read_items if first_character == b"{" else _read_rows)(lines, path)
    except FileNotFoundError as error:
        raise SetupError(f"there is no file {path}") from error
    except (OSError, EOFError, UnicodeDecodeError, SyntaxError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


def _read_rows(lines: Iterable[str], path: Path) -> Iterator[Resource]:
    rows = enumerate((line.rstrip("\r\n").split("\t") for line in lines), start=1)
    _, header = next(rows, (1, [""]))
    columns = find_columns(header, f"{path}, line 1")
    for number, cells in rows:
        line_name = f"{path}, line {number}"
        if len(cells) != len(header):
            raise SetupError(f"{line_name}: {len(cells)} columns instead of {len(header)}")
        cells = [
            _ESCAPE_PATTERN.sub(lambda match: _CHARACTER_BY_ESCAPE[match[0]], cell)
            if "\\" in cell
            else cell
            for cell in cells
        ]
        yield parse_row(cells, columns, line_name)


def _read_items(lines: Iterable[str], path: Path) -> Iterator[Resource]:
    for number, line in enumerate(lines, start=1):
        try:
            item = json.loads(line)
            fields = [field for field in item["fields"] if field.get("type", "text") == "text"]
            fields.sort(key=lambda field: "main" not in field.get("tags", ()))
            label, *synonyms = dict.fromkeys(field["value"] for field in fields) or [""]
            iri = re.sub("^<(.*)>$", r"\1", item["identifier"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SetupError(
                f"{path}, line {number}: not an object with an 'identifier' and 'fields', which "
                f"have a 'value': {error!r}"
            ) from error
        yield Resource(iri, label, tuple(synonyms))


SEPARATOR = ";;;"
"""The separator of several synonyms or infos in one cell."""


def read_result(result: SelectResult) -> Iterator[Resource]:
    """Yield the resources of a query's result, except rows whose IRI is missing or a blank node.

    A literal in the column `iri` is its own id. Several rows in turn of one IRI are its names.

    Raises:
        SetupError: a column is missing, or a score is not a number.
    """
    return _read_solutions(result.variables, result.rows, "the query")


def _read_solutions(
    names: Sequence[str], rows: Iterable[Sequence[Term | None]], source: str
) -> Iterator[Resource]:
    columns = find_columns(names, source)
    position = columns["iri"]
    for term, group in groupby(rows, key=itemgetter(position)):
        if term is None or isinstance(term, BlankNode):
            continue
        iri = str(term) if isinstance(term, Literal) else to_plain_value(term) or ""
        resources = []
        for row in group:
            cells = [to_plain_value(cell) or "" for cell in row]
            cells[position] = iri
            resources.append(parse_row(cells, columns, f"the row of {iri}"))
        label = resources[0].label
        all_names = (name for item in resources for name in (item.label, *item.synonyms))
        synonyms = tuple(name for name in dict.fromkeys(all_names) if name not in ("", label))
        yield replace(resources[0], synonyms=synonyms)


def find_columns(names: Sequence[str], source: str) -> Mapping[str, int]:
    """Return the position of each column; raise `SetupError` for a missing or invalid column."""
    columns = [_COLUMN_BY_ALIAS.get(name, name) for name in names]
    usable = [name for name in columns if name not in _IGNORED_COLUMNS]
    invalid = [name for name in usable if name not in _COLUMNS or usable.count(name) > 1]
    if invalid or not {"iri", "label"} <= set(usable):
        column_list = ", ".join(names)
        raise SetupError(
            f"{source}: the columns are {column_list!r}; 'iri' and 'label' are required, "
            "'score', 'synonyms' and 'infos' are optional"
        )
    return {name: position for position, name in enumerate(columns)}


def parse_row(cells: Sequence[str], columns: Mapping[str, int], row_name: str) -> Resource:
    """Return the resource of a row; raise `SetupError` if its score is not a number."""
    score = cells[columns["score"]] if "score" in columns else ""
    try:
        number = float(score or 0)
    except ValueError as error:
        raise SetupError(f"{row_name}: the score {score!r} is not a number") from error
    label = cells[columns["label"]]
    synonyms = tuple(name for name in _split_cell(cells, columns, "synonyms") if name != label)
    return Resource(
        cells[columns["iri"]], label, synonyms, number, _split_cell(cells, columns, "infos")
    )


def _split_cell(cells: Sequence[str], columns: Mapping[str, int], column: str) -> tuple[str, ...]:
    if column not in columns:
        return ()
    parts = (part.strip() for part in cells[columns[column]].split(SEPARATOR))
    return tuple(dict.fromkeys(part for part in parts if part))


_MAX_IRIS_COUNT = 500_000
_LABEL_PREDICATES = frozenset(v.LABEL_PREDICATES)
_NAME_PREDICATES = frozenset(v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES)
_INFO_PREDICATES = frozenset(v.DESCRIPTION_PREDICATES)
_SCHEMA_PREDICATES = frozenset({v.RDFS_DOMAIN, v.RDFS_RANGE})
_TEXT_DATATYPES = frozenset({v.XSD_STRING, v.RDF_LANG_STRING})
_MAX_NAME_CHARACTERS = 200
_MAX_VALUE_CHARACTERS = 80
_MAX_VALUES_COUNT = 5


@dataclass
class _IriFacts:
    """The facts about an IRI in a part of a dump; labels are (text, language) pairs."""

    uses: int = 0
    as_predicate: int = 0
    labels: list[tuple[str, str]] = field(default_factory=list)
    synonyms: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    infos: list[str] = field(default_factory=list)


def read_dump(
    paths: Sequence[Path],
    *,
    properties: bool = False,
    languages: Sequence[str] = ("en",),
    max_iris: int = _MAX_IRIS_COUNT,
) -> Iterator[Resource]:
    """Yield each IRI that is a subject or an object, or each predicate, scored by its triples.

    The label is the best one in the languages; all other labels, of any language, are synonyms.
    An IRI without a label gets its local name as label, and its short values as synonyms. Infos
    are its classes and descriptions. At most `max_iris` IRIs are in memory.

    Raises:
        SetupError: a file cannot be read.
    """
    for iri, facts in _collect_facts(paths, max_iris):
        if score := facts.as_predicate if properties else facts.uses:
            yield _build_resource(iri, facts, score, languages)


def _build_resource(iri: str, facts: _IriFacts, score: int, languages: Sequence[str]) -> Resource:
    labels = [(text, language or None) for text, language in facts.labels]
    label = choose_label(labels, languages) or split_local_name(iri)
    other_names = [text for text, _ in labels] + facts.synonyms
    if not labels:
        other_names += facts.values[:_MAX_VALUES_COUNT]
    synonyms = tuple(text for text in dict.fromkeys(other_names) if text != label)
    return Resource(iri, label, synonyms, float(score), tuple(dict.fromkeys(facts.infos)))


def _collect_facts(paths: Sequence[Path], max_iris: int) -> Iterator[tuple[str, _IriFacts]]:
    """Yield all IRIs in order, each with its facts from all files."""
    with ExitStack() as stack:
        runs: list[IO[str]] = []
        for part in _split_facts(_read_quads(paths), max_iris):
            runs.append(stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")))
            for iri in sorted(part):
                runs[-1].write(json.dumps([iri, vars(part[iri])], ensure_ascii=False) + "\n")
            runs[-1].seek(0)
        merged = heapq.merge(*(map(json.loads, run) for run in runs), key=itemgetter(0))
        for iri, lines in groupby(merged, key=itemgetter(0)):
            fields = vars(_IriFacts())
            for _, part in lines:
                fields = {name: fields[name] + value for name, value in part.items()}
            yield iri, _IriFacts(**fields)


def _read_quads(paths: Sequence[Path]) -> Iterator[Quad]:
    for path in paths:
        is_compressed = path.suffix == ".gz"
        uncompressed_path = path.with_suffix("") if is_compressed else path
        rdf_format = RdfFormat.from_extension(uncompressed_path.suffix.removeprefix("."))
        if rdf_format is None:
            raise SetupError(
                f"{path}: no RDF format has the file extension {uncompressed_path.suffix!r}"
            )
        try:
            with path.open("rb") as raw:
                file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if is_compressed else raw
                yield from pyoxigraph.parse(file, format=rdf_format)
        except (OSError, EOFError, SyntaxError) as error:
            raise SetupError(f"{path} cannot be read: {error}") from error


def _split_facts(quads: Iterable[Quad], max_iris: int) -> Iterator[dict[str, _IriFacts]]:
    part: dict[str, _IriFacts] = defaultdict(_IriFacts)
    for quad in quads:
        _add_quad(part, quad)
        if len(part) >= max_iris:
            yield part
            part = defaultdict(_IriFacts)
    yield part


def _add_quad(part: dict[str, _IriFacts], quad: Quad) -> None:
    predicate = quad.predicate.value
    part[predicate].as_predicate += 1
    if isinstance(quad.object, NamedNode) and predicate not in (v.RDF_TYPE, *_SCHEMA_PREDICATES):
        part[quad.object.value].uses += 1
    if not isinstance(quad.subject, NamedNode):
        return
    facts = part[quad.subject.value]
    facts.uses += 1
    if isinstance(quad.object, Literal):
        literal, text = quad.object, quad.object.value
        if predicate in _INFO_PREDICATES:
            facts.infos.append(text)
        elif predicate in _NAME_PREDICATES and len(text) <= _MAX_NAME_CHARACTERS:
            if predicate in _LABEL_PREDICATES:
                facts.labels.append((text, literal.language or ""))
            else:
                facts.synonyms.append(text)
        elif literal.datatype.value in _TEXT_DATATYPES and len(text) <= _MAX_VALUE_CHARACTERS:
            facts.values[_MAX_VALUES_COUNT:] = [text]
    elif isinstance(quad.object, NamedNode):
        if predicate == v.RDF_TYPE:
            facts.infos.append(split_local_name(quad.object.value))
        elif predicate in _SCHEMA_PREDICATES:
            word = split_local_name(predicate)
            facts.infos.append(f"{word} {split_local_name(quad.object.value)}")
