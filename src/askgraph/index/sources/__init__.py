r"""Sources of an index's resources: files of rows, dumps, and the two queries of an endpoint.

The queries, for entities and properties, are a file each in `queries`, in a folder for the graph;
`default` works on any. A file of rows has a head of column names, then one resource a line, tabs
between. Columns of both are `iri` and `label`, and maybe `score`, `synonyms` and `infos`, in any
order; several synonyms or infos have `;;;` between. Tabs, ends of lines and backslashes within a
value of a file are `\t`, `\n`, `\r` and `\\`. A file whose name ends in `.gz` is packed:

    iri	label	score	synonyms	infos
    http://example.org/42	Ganymede	12	Jupiter III	moon of Jupiter;;;discovered in 1610

A dump is read triple by triple. What is known of the IRIs is kept in memory up to a bound, then
written aside in order, and put together at the end; so a dump may be larger than memory.
"""

import gzip
import heapq
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, cast

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, split_local_name
from askgraph.sparql.results import SelectResult, to_plain_value

_QUERIES = files(__package__) / "queries"


def graphs() -> tuple[str, ...]:
    """Return the graphs that have queries of their own."""
    names = (item.name for item in _QUERIES.iterdir() if item.is_dir())
    return tuple(sorted(name for name in names if name.isalpha() and name != "default"))


def query_for(key: str, graph: str | None = None) -> str:
    """Return the query for `entities` or `properties` of a graph by name, else for any graph."""
    if graph is not None and graph not in graphs():
        raise SetupError(
            f"no index queries for {graph!r}; there are some for {', '.join(graphs())}, and those "
            "for any graph"
        )
    return (_QUERIES / (graph or "default") / f"{key}.rq").read_text(encoding="utf-8")


_COLUMNS = ("iri", "label", "score", "synonyms", "infos")
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_PLAIN = {written: sign for sign, written in _ESCAPES.items()}
_WRITTEN = re.compile(r"\\[\\tnr]")


def read_tsv(path: Path) -> Iterator[Resource]:
    """Yield the resources of a file, read as they are asked for.

    Raises `SetupError` with the number of the line that is not as it should be.
    """
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            head = file.readline().rstrip("\r\n").split("\t")
            at = columns_of(head, f"{path}, line 1")
            for number, line in enumerate(file, start=2):
                place = f"{path}, line {number}"
                cells = line.rstrip("\r\n").split("\t")
                if len(cells) != len(head):
                    raise SetupError(f"{place}: {len(cells)} columns instead of {len(head)}")
                yield resource_of([_read(cell) for cell in cells], at, place)
    except FileNotFoundError as error:
        raise SetupError(f"there is no file {path}") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


def write_tsv(path: Path, resources: Iterable[Resource]) -> int:
    """Write resources as `read_tsv` reads them; return how many."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(_COLUMNS) + "\n")
        for resource in resources:
            several = (SEPARATOR.join(resource.synonyms), SEPARATOR.join(resource.infos))
            cells = (resource.iri, resource.label, repr(resource.score), *several)
            written = ("".join(_ESCAPES.get(sign, sign) for sign in cell) for cell in cells)
            file.write("\t".join(written) + "\n")
            count += 1
    return count


def _read(cell: str) -> str:
    return _WRITTEN.sub(lambda found: _PLAIN[found[0]], cell) if "\\" in cell else cell


SEPARATOR = ";;;"
"""The separator of several synonyms or infos in one cell."""


def resources_of(result: SelectResult) -> Iterator[Resource]:
    """Yield the resources of a query's result, but for rows with a blank node or nothing as IRI.

    A literal in the column `iri` stands for itself. Raises `SetupError` for a result without the
    columns, and for a score that is no number.
    """
    at = columns_of(result.variables, "the query")
    for row in result.rows:
        term = row[at["iri"]]
        if term is None or isinstance(term, BlankNode):
            continue
        cells = [to_plain_value(cell) or "" for cell in row]
        if isinstance(term, Literal):
            cells[at["iri"]] = str(term)
        yield resource_of(cells, at, f"the row of {cells[at['iri']]}")


def columns_of(names: Sequence[str], place: str) -> Mapping[str, int]:
    """Return the place of each column; `SetupError` if one is missing, unknown or there twice."""
    wrong = [name for name in names if name not in _COLUMNS or list(names).count(name) > 1]
    missing = [name for name in _COLUMNS[:2] if name not in names]
    if wrong or missing:
        listed = ", ".join(names)
        raise SetupError(
            f"{place}: the columns are {listed!r}; there must be 'iri' and 'label', and may be "
            "'score', 'synonyms' and 'infos'"
        )
    return {name: at for at, name in enumerate(names)}


def resource_of(cells: Sequence[str], at: Mapping[str, int], place: str) -> Resource:
    """Return the resource of one row; `SetupError` if its score is no number."""
    score = cells[at["score"]] if "score" in at else ""
    try:
        number = float(score or 0)
    except ValueError as error:
        raise SetupError(f"{place}: the score {score!r} is no number") from error
    label = cells[at["label"]]
    synonyms = tuple(name for name in _several(cells, at, "synonyms") if name != label)
    return Resource(cells[at["iri"]], label, synonyms, number, _several(cells, at, "infos"))


def _several(cells: Sequence[str], at: Mapping[str, int], column: str) -> tuple[str, ...]:
    if column not in at:
        return ()
    parts = (part.strip() for part in cells[at[column]].split(SEPARATOR))
    return tuple(dict.fromkeys(part for part in parts if part))


_KEPT = 500_000
_LABELS = frozenset(v.LABEL_PREDICATES)
_NAMES = frozenset(v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES)
_INFOS = frozenset(v.DESCRIPTION_PREDICATES)
_SCHEMA = frozenset({v.RDFS_DOMAIN, v.RDFS_RANGE})
_TEXTUAL = frozenset({v.XSD_STRING, v.RDF_LANG_STRING})
_LONGEST_NAME = 200
_LONGEST_VALUE = 80
_MOST_VALUES = 5


@dataclass
class _Known:
    """The statements of a part of the dump about an IRI; labels are (text, language) pairs."""

    uses: int = 0
    as_predicate: int = 0
    labels: list[tuple[str, str]] = field(default_factory=list)
    synonyms: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    infos: list[str] = field(default_factory=list)


def entities_of_dump(
    paths: Sequence[Path], *, languages: Sequence[str] = ("en",), kept: int = _KEPT
) -> Iterator[Resource]:
    """Yield each IRI that is a subject or an object, scored by its triples.

    The label is the best one in the languages; all others, of any language, are synonyms. An IRI
    without a label is called by its local name and found by its short values too. Infos are its
    classes and descriptions. Raises `SetupError` for a file that cannot be read.
    """
    for iri, known in _known(paths, kept):
        if known.uses:
            yield _resource(iri, known, known.uses, languages)


def properties_of_dump(
    paths: Sequence[Path], *, languages: Sequence[str] = ("en",), kept: int = _KEPT
) -> Iterator[Resource]:
    """Yield each IRI that is a predicate, scored by its triples; see `entities_of_dump`."""
    for iri, known in _known(paths, kept):
        if known.as_predicate:
            yield _resource(iri, known, known.as_predicate, languages)


def _resource(iri: str, known: _Known, score: int, languages: Sequence[str]) -> Resource:
    named = [(text, language or None) for text, language in known.labels]
    label = choose_label(named, languages) or split_local_name(iri)
    others = [text for text, _ in named] + known.synonyms
    if not named:
        others += known.values[:_MOST_VALUES]
    synonyms = tuple(text for text in dict.fromkeys(others) if text != label)
    return Resource(iri, label, synonyms, float(score), tuple(dict.fromkeys(known.infos)))


def _known(paths: Sequence[Path], kept: int) -> Iterator[tuple[str, _Known]]:
    """Yield all IRIs in order, each with all that the files say of it."""
    with ExitStack() as stack:
        runs: list[IO[str]] = []
        for part in _parts(_quads(paths), kept):
            runs.append(stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")))
            for iri in sorted(part):
                runs[-1].write(json.dumps([iri, vars(part[iri])], ensure_ascii=False) + "\n")
            runs[-1].seek(0)
        merged = heapq.merge(*(map(json.loads, run) for run in runs), key=itemgetter(0))
        for iri, lines in groupby(merged, key=itemgetter(0)):
            known = vars(_Known())
            for _, part in lines:
                known = {name: known[name] + value for name, value in part.items()}
            yield iri, _Known(**known)


def _quads(paths: Sequence[Path]) -> Iterator[Quad]:
    for path in paths:
        packed = path.suffix == ".gz"
        inner = path.with_suffix("") if packed else path
        kind = RdfFormat.from_extension(inner.suffix.removeprefix("."))
        if kind is None:
            raise SetupError(f"{path}: no RDF format has the ending {inner.suffix!r}")
        try:
            with path.open("rb") as raw:
                file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
                yield from pyoxigraph.parse(file, format=kind)
        except (OSError, EOFError, SyntaxError) as error:
            raise SetupError(f"{path} cannot be read: {error}") from error


def _parts(quads: Iterable[Quad], kept: int) -> Iterator[dict[str, _Known]]:
    part: dict[str, _Known] = defaultdict(_Known)
    for quad in quads:
        _note(part, quad)
        if len(part) >= kept:
            yield part
            part = defaultdict(_Known)
    yield part


def _note(part: dict[str, _Known], quad: Quad) -> None:
    predicate = quad.predicate.value
    part[predicate].as_predicate += 1
    if isinstance(quad.object, NamedNode) and predicate not in (v.RDF_TYPE, *_SCHEMA):
        part[quad.object.value].uses += 1
    if not isinstance(quad.subject, NamedNode):
        return
    known = part[quad.subject.value]
    known.uses += 1
    if isinstance(quad.object, Literal):
        literal, text = quad.object, quad.object.value
        if predicate in _INFOS:
            known.infos.append(text)
        elif predicate in _NAMES and len(text) <= _LONGEST_NAME:
            if predicate in _LABELS:
                known.labels.append((text, literal.language or ""))
            else:
                known.synonyms.append(text)
        elif literal.datatype.value in _TEXTUAL and len(text) <= _LONGEST_VALUE:
            known.values[_MOST_VALUES:] = [text]
    elif isinstance(quad.object, NamedNode):
        if predicate == v.RDF_TYPE:
            known.infos.append(split_local_name(quad.object.value))
        elif predicate in _SCHEMA:
            word = split_local_name(predicate)
            known.infos.append(f"{word} {split_local_name(quad.object.value)}")
