"""Resources from dumps, triple by triple: the names of each IRI, and how often it is used.

What is known of the IRIs is kept in memory up to a bound, then written aside in order, and put
together at the end; so a dump may be larger than memory.
"""

import gzip
import heapq
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import IO, Any, cast

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import best_label, words_of_local_name

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
    label = best_label(named, languages) or words_of_local_name(iri)
    others = [text for text, _ in named] + known.synonyms
    if not named:
        others += known.values[:_MOST_VALUES]
    synonyms = tuple(text for text in dict.fromkeys(others) if text != label)
    return Resource(iri, label, synonyms, float(score), tuple(dict.fromkeys(known.infos)))


def _known(paths: Sequence[Path], kept: int) -> Iterator[tuple[str, _Known]]:
    """Yield all IRIs in order, each with all that the files say of it."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            _written(Path(folder, str(number)), part)
            for number, part in enumerate(_parts(_quads(paths), kept))
        ]
        files = [run.open(encoding="utf-8") for run in runs]
        try:
            merged = heapq.merge(*map(_lines, files), key=lambda line: line[0])
            for iri, lines in groupby(merged, key=lambda line: line[0]):
                parts = (fields for _, fields in lines)
                known = _Known()
                for part in parts:
                    known.uses += part["uses"]
                    known.as_predicate += part["as_predicate"]
                    known.labels += [(text, language) for text, language in part["labels"]]
                    known.synonyms += part["synonyms"]
                    known.values += part["values"]
                    known.infos += part["infos"]
                yield iri, known
        finally:
            for file in files:
                file.close()


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
        literal = quad.object
        text = literal.value
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
            known.infos.append(words_of_local_name(quad.object.value))
        elif predicate in _SCHEMA:
            word = words_of_local_name(predicate)
            known.infos.append(f"{word} {words_of_local_name(quad.object.value)}")


def _written(path: Path, part: dict[str, _Known]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for iri in sorted(part):
            file.write(json.dumps([iri, vars(part[iri])], ensure_ascii=False) + "\n")
    return path


def _lines(file: IO[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in file:
        iri, fields = json.loads(line)
        yield iri, fields
