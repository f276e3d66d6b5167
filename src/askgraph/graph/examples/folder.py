"""Store examples in a folder of Turtle files, one per example, for version control.

They are SHACL executables, which read back as the same examples. Prefixes are declared once and
removed from the queries where that loses nothing. The output is deterministic.
"""

import html
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.atomic_files import write_text_atomically
from askgraph.errors import SetupError
from askgraph.graph.archives import read_text
from askgraph.graph.examples import QueryExample, Wording, normalize_question
from askgraph.graph.examples import shacl as terms
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.lexer import declare_prefixes, tokenize
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import parse_statements, write_turtle_string

_MAX_NAME_CHARACTERS = 60


@dataclass(frozen=True)
class StoredExample:
    """An example with its file; `id` is the file's name without `.ttl`."""

    id: str
    path: Path
    example: QueryExample


@dataclass(frozen=True)
class ExampleFolder:
    """A folder of examples; its `prefixes.ttl` declares the prefixes of their queries.

    Writers must keep other processes from writing at the same time.
    """

    path: Path

    def list_examples(self) -> tuple[StoredExample, ...]:
        """Return all examples, sorted by file; raise `SetupError` if a file has other content."""
        return tuple(self._iterate_examples()) if self.path.is_dir() else ()

    def add(self, examples: Sequence[QueryExample]) -> tuple[StoredExample, ...]:
        """Write examples atomically; an example with an existing IRI replaces the old one.

        An example without an IRI gets one. Prefixes are only added, so that existing files keep
        their meaning.

        Raises:
            SetupError: An example to replace shares its file with others; nothing is written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        for leftover in self.path.glob(".*.ttl.*"):  # half-written by a process that was killed
            leftover.unlink()
        existing, new = self.list_examples(), [ensure_iri(example) for example in examples]
        stems = list(_choose_stems(new, existing))
        file = self.path / terms.PREFIXES_FILE
        current_prefixes = (
            parse_statements(read_text(file), str(file))[0].get_declared_prefixes()
            if file.is_file()
            else {}
        )
        prefixes = collect_prefixes([*(item.example for item in existing), *new]) | current_prefixes
        if prefixes != current_prefixes:
            write_text_atomically(self.path / terms.PREFIXES_FILE, format_declarations(prefixes))
        stored = []
        for example, stem in zip(new, stems, strict=True):
            path = self.path / f"{stem}.ttl"
            write_text_atomically(path, format_example(example, prefixes))
            stored.append(StoredExample(stem, path, example))
        return tuple(stored)

    def remove(self, stored: StoredExample) -> None:
        """Delete an example's file; raises `SetupError` if the file has several examples."""
        if sum(1 for _ in terms.iterate_executables(stored.path)) > 1:
            raise SetupError(f"{stored.path} contains several examples: remove this one by hand")
        stored.path.unlink()

    def _iterate_examples(self) -> Iterator[StoredExample]:
        prefixes = terms.read_surrounding_prefixes(self.path / terms.PREFIXES_FILE)
        for path in sorted(self.path.glob("*.ttl")):
            if path.name == terms.PREFIXES_FILE:
                continue
            collection = terms.read_shacl(path, prefixes=prefixes)
            for unread in collection.skipped:
                raise SetupError(f"{unread.place}: {unread.reason}; fix or remove it")
            for number, example in enumerate(collection.examples, start=1):
                name = path.stem if len(collection.examples) == 1 else f"{path.stem}#{number}"
                yield StoredExample(name, path, example)


def ensure_iri(example: QueryExample) -> QueryExample:
    """Return the example with an IRI: a `urn:uuid:` derived from the question if it has none."""
    if example.iri:
        return example
    text = f"{(example.language or '').lower()} {normalize_question(example.question)}"
    return replace(example, iri=uuid.uuid5(uuid.NAMESPACE_OID, text).urn)


def _choose_stems(
    examples: Sequence[QueryExample], existing: Sequence[StoredExample]
) -> Iterator[str]:
    """Yield file names: existing ones, else derived from the IRIs, numbered if they collide."""
    shared_paths = {
        path for path, number in Counter(item.path for item in existing).items() if number > 1
    }
    places = {item.example.iri: item.path for item in existing if item.example.iri}
    iris_by_stem = {
        item.path.stem.casefold(): None if item.path in shared_paths else item.example.iri
        for item in existing
    }
    iris_by_stem[terms.PREFIXES_FILE.removesuffix(".ttl")] = None
    for example in examples:
        path = places.get(example.iri or "")
        if path in shared_paths:
            raise SetupError(f"{path} contains several examples: remove this one by hand")
        if path is not None:
            yield path.stem
            continue
        name = stem = _build_stem(example)
        number = 1
        while iris_by_stem.get(stem.casefold(), example.iri) != example.iri:
            number += 1
            stem = f"{name}-{number}"
        iris_by_stem[stem.casefold()] = example.iri
        yield stem


def _build_stem(example: QueryExample) -> str:
    iri = example.iri or ""
    if iri.startswith("urn:uuid:"):
        return f"{_format_slug(example.question)[:_MAX_NAME_CHARACTERS].rstrip('-')}-{iri[9:17]}"
    return (
        _format_slug(re.split(r"[#/:]", iri.rstrip("#/"))[-1])[:_MAX_NAME_CHARACTERS] or "example"
    )


def _format_slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-_")


_PREFIX_NODE = "_:prefixes"
_PREFIXES = PrefixMap(
    {
        "rdfs": voc.RDFS,
        "sh": voc.SH,
        "schema": voc.SCHEMA_HTTPS,
        "spex": terms.SPEX,
        "dcterms": voc.DCTERMS,
        "prov": voc.PROV,
        "xsd": voc.XSD,
    }
)
_PREFIX_LINE = re.compile(r"PREFIX ([^\s:]*): <([^<>]*)>\n")


def collect_prefixes(examples: Iterable[QueryExample]) -> dict[str, str]:
    """Return the prefixes to declare once for these examples, sorted.

    Of several namespaces for one prefix, the most frequent is chosen. A prefix that a query uses
    without declaring it is left out: declaring it would change that query.
    """
    counts: Counter[tuple[str, str]] = Counter()
    undeclared: set[str] = set()
    for example in examples:
        counts.update(tokenize(example.query).declared_prefixes.items())
        undeclared.update(tokenize(example.query).undeclared_prefixes)
    prefixes: dict[str, str] = {}
    for (prefix, namespace), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if prefix not in undeclared:
            prefixes.setdefault(prefix, namespace)
    return dict(sorted(prefixes.items()))


def format_document(examples: Sequence[QueryExample]) -> str:
    """Format examples and their prefixes as one Turtle text."""
    prefixes = collect_prefixes(examples)
    head = [_format_prefixes(prefixes)] if prefixes else []
    return _add_header([*head, *(_format_node(example, prefixes) for example in examples)])


def format_declarations(prefixes: Mapping[str, str]) -> str:
    """Format a Turtle text that declares prefixes for the examples in the same folder."""
    return _add_header([_format_prefixes(prefixes)] if prefixes else [])


def format_example(example: QueryExample, prefixes: Mapping[str, str]) -> str:
    """Format one example as Turtle for a folder that declares the prefixes.

    Raises:
        SetupError: It has an IRI or a language tag that RDF does not permit.
    """
    return _add_header([_format_node(example, prefixes)])


def _add_header(blocks: Sequence[str]) -> str:
    body = "\n".join(f"{block}\n" for block in blocks)
    used_prefixes = sorted(
        prefix for prefix in _PREFIXES.list_used_prefixes(body) if prefix in _PREFIXES.own_prefixes
    )
    lines = "".join(
        f"@prefix {prefix}: <{_PREFIXES.namespaces[prefix]}> .\n" for prefix in used_prefixes
    )
    return f"{lines}\n{body}"


def _format_prefixes(prefixes: Mapping[str, str]) -> str:
    entries = (
        f"[ sh:prefix {Literal(prefix)} ; sh:namespace {write_turtle_string(space)}^^xsd:anyURI ]"
        for prefix, space in sorted(prefixes.items())
    )
    return f"{_PREFIX_NODE} sh:declare\n    " + " ,\n    ".join(entries) + " ."


def _format_node(example: QueryExample, prefixes: Mapping[str, str]) -> str:
    try:
        subject = f"{NamedNode(example.iri)}" if example.iri else "[]"
        return f"{subject} " + " ;\n    ".join(_format_statements(example, prefixes)) + " ."
    except ValueError as error:
        raise SetupError(f"the example {example.question!r} cannot be written: {error}") from error


def _format_statements(example: QueryExample, prefixes: Mapping[str, str]) -> Iterator[str]:
    kind, predicate = terms.TERMS_BY_FORM.get(example.form, terms.TERMS_BY_FORM["SELECT"])
    yield f"a sh:SPARQLExecutable , {_PREFIXES.shorten(kind)}"
    yield "rdfs:comment " + " ,\n        ".join(map(_format_comment, example.wordings))
    query = _strip_prefixes(example.query, prefixes)
    if query != example.query:
        yield f"sh:prefixes {_PREFIX_NODE}"
    yield f"{_PREFIXES.shorten(predicate)} {write_turtle_string(query)}"
    if example.keywords:
        yield "schema:keywords " + " , ".join(map(write_turtle_string, example.keywords))
    for predicate, iris in (
        ("schema:target", example.targets),
        ("spex:federatesWith", example.federates_with),
    ):
        if iris:
            yield f"{predicate} " + " , ".join(str(NamedNode(iri)) for iri in iris)
    if example.origin != "written":
        yield f"dcterms:type {write_turtle_string(example.origin)}"
    if example.confirmation:
        confirmation = example.confirmation
        yield f"dcterms:dateAccepted {write_turtle_string(confirmation.when)}^^xsd:dateTime"
        source = f"schema:name {write_turtle_string(confirmation.graph)} ; schema:version "
        yield f"prov:wasDerivedFrom [ {source}{write_turtle_string(confirmation.snapshot)} ]"
        if confirmation.by:
            yield f"prov:wasAttributedTo [ schema:name {write_turtle_string(confirmation.by)} ]"
        digest = (
            f" ; schema:sha256 {write_turtle_string(confirmation.digest)}"
            if confirmation.digest
            else ""
        )
        yield f"schema:result [ schema:numberOfItems {confirmation.rows}{digest} ]"


def _format_comment(wording: Wording) -> str:
    """Format a wording as a literal, escaped if it would be read as HTML."""
    text = wording.text
    escaped = text if terms.strip_html(text) == text else html.escape(text, quote=False)
    return (
        str(Literal(escaped, language=wording.language))
        if wording.language
        else write_turtle_string(escaped)
    )


def _strip_prefixes(query: str, prefixes: Mapping[str, str]) -> str:
    head = end = 0
    remaining_head = ""
    while line := _PREFIX_LINE.match(query, end):
        head, end = end, line.end()
        if prefixes.get(line[1]) != line[2]:
            remaining_head += query[head:end]
    body = remaining_head + query[end:]
    return body if declare_prefixes(body, PrefixMap(prefixes).namespaces) == query else query
