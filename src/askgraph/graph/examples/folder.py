"""Examples in a folder of Turtle files, one an example, as a version control system likes them.

They are SHACL executables, which read back as the same examples. Prefixes are declared once and
left out of the queries, if leaving them out loses nothing. The same examples give the same bytes.
"""

import html
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.atomic_files import write_whole
from askgraph.errors import SetupError
from askgraph.graph.archives import text_of
from askgraph.graph.examples import Confirmation, QueryExample, Wording, plain_question
from askgraph.graph.examples import shacl as terms
from askgraph.graph.examples.shacl import PREFIXES, executables, plain, prefixes_beside, read_shacl
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.lexer import lexed, with_declared
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import parsed, turtle_text

_LONGEST = 60


@dataclass(frozen=True)
class Stored:
    """An example with its file; `id` is the file's name without `.ttl`."""

    id: str
    path: Path
    example: QueryExample


@dataclass(frozen=True)
class ExampleFolder:
    """A folder of examples; `prefixes.ttl` in it declares what their queries leave out.

    Whoever writes to it keeps other processes from doing so at the same time.
    """

    path: Path

    def stored(self) -> tuple[Stored, ...]:
        """Return all examples, sorted by file; none if there is no folder.

        Raises `SetupError` if a file holds anything else: it was written by hand.
        """
        return tuple(self._read()) if self.path.is_dir() else ()

    def add(self, examples: Sequence[QueryExample]) -> tuple[Stored, ...]:
        """Write examples, each whole; one with the IRI of another takes its place.

        Raises `SetupError` if that one shares its file with others, before anything is written.
        An example without an IRI gets one. Prefixes are only ever added, so that the files that are
        there keep their meaning.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        for left in self.path.glob(".*.ttl.*"):  # half-written by a process that was killed
            left.unlink()
        there, new = self.stored(), [named(example) for example in examples]
        stems = list(_stems(new, there))
        file = self.path / PREFIXES
        known = parsed(text_of(file), str(file))[0].declared() if file.is_file() else {}
        declared = shared_prefixes([*(one.example for one in there), *new]) | known
        if declared != known:
            write_whole(self.path / PREFIXES, declarations(declared))
        written = []
        for example, stem in zip(new, stems, strict=True):
            path = self.path / f"{stem}.ttl"
            write_whole(path, example_turtle(example, declared))
            written.append(Stored(stem, path, example))
        return tuple(written)

    def remove(self, stored: Stored) -> None:
        """Delete an example's file; `SetupError` if the file holds others too."""
        if sum(1 for _ in executables(stored.path)) > 1:
            raise SetupError(f"{stored.path} holds several examples: take this one out by hand")
        stored.path.unlink()

    def _read(self) -> Iterator[Stored]:
        declared = prefixes_beside(self.path / PREFIXES)
        for path in sorted(self.path.glob("*.ttl")):
            if path.name == PREFIXES:
                continue
            found = read_shacl(path, declared=declared)
            for unread in found.unread:
                raise SetupError(f"{unread.place}: {unread.reason}; mend it, or take it away")
            for number, example in enumerate(found.examples, start=1):
                name = path.stem if len(found.examples) == 1 else f"{path.stem}#{number}"
                yield Stored(name, path, example)


def named(example: QueryExample) -> QueryExample:
    """Return the example with an IRI: a `urn:uuid:` that the same question always gets."""
    if example.iri:
        return example
    text = f"{(example.language or '').lower()} {plain_question(example.question)}"
    return replace(example, iri=uuid.uuid5(uuid.NAMESPACE_OID, text).urn)


def _stems(examples: Sequence[QueryExample], there: Sequence[Stored]) -> Iterator[str]:
    """File names: those they have, else as the IRIs say, numbered if two would have the same."""
    shared = {path for path, number in Counter(one.path for one in there).items() if number > 1}
    places = {one.example.iri: one.path for one in there if one.example.iri}
    taken = {
        one.path.stem.casefold(): None if one.path in shared else one.example.iri for one in there
    }
    taken[PREFIXES.removesuffix(".ttl")] = None
    for example in examples:
        path = places.get(example.iri or "")
        if path in shared:
            raise SetupError(f"{path} holds several examples: take this one out by hand")
        if path is not None:
            yield path.stem
            continue
        name = stem = _stem(example)
        number = 1
        while taken.get(stem.casefold(), example.iri) != example.iri:
            number += 1
            stem = f"{name}-{number}"
        taken[stem.casefold()] = example.iri
        yield stem


def _stem(example: QueryExample) -> str:
    iri = example.iri or ""
    if iri.startswith("urn:uuid:"):
        return f"{_slug(example.question)[:_LONGEST].rstrip('-')}-{iri[9:17]}"
    return _slug(re.split(r"[#/:]", iri.rstrip("#/"))[-1])[:_LONGEST] or "example"


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-_")


_NODE = "_:prefixes"
_SHORT = PrefixMap(
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
_LINE = re.compile(r"PREFIX ([^\s:]*): <([^<>]*)>\n")


def shared_prefixes(examples: Iterable[QueryExample]) -> dict[str, str]:
    """Return the prefixes to declare once for these examples, sorted.

    Of several namespaces under one prefix it is the most frequent. A prefix that a query uses
    without declaring it is left out: declaring it would change that query.
    """
    counts: Counter[tuple[str, str]] = Counter()
    left_open: set[str] = set()
    for example in examples:
        counts.update(lexed(example.query).declared.items())
        left_open.update(lexed(example.query).undeclared)
    found: dict[str, str] = {}
    for (prefix, namespace), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if prefix not in left_open:
            found.setdefault(prefix, namespace)
    return dict(sorted(found.items()))


def document(examples: Sequence[QueryExample]) -> str:
    """Return one Turtle text with the prefixes of these examples and all of them."""
    declared = shared_prefixes(examples)
    head = [_declared(declared)] if declared else []
    return _with_header([*head, *(_described(example, declared) for example in examples)])


def declarations(declared: Mapping[str, str]) -> str:
    """Return a Turtle text that declares prefixes for the examples in the same folder."""
    return _with_header([_declared(declared)] if declared else [])


def example_turtle(example: QueryExample, declared: Mapping[str, str]) -> str:
    """Return one example as a Turtle text, in a folder whose prefixes are declared beside it.

    Raises `SetupError` if it holds an IRI or a language that RDF does not allow.
    """
    return _with_header([_described(example, declared)])


def _with_header(blocks: Sequence[str]) -> str:
    body = "\n".join(f"{block}\n" for block in blocks)
    used = sorted(prefix for prefix in _SHORT.used_in(body) if prefix in _SHORT.own)
    lines = "".join(f"@prefix {prefix}: <{_SHORT.namespaces[prefix]}> .\n" for prefix in used)
    return f"{lines}\n{body}"


def _declared(declared: Mapping[str, str]) -> str:
    entries = (
        f"[ sh:prefix {Literal(prefix)} ; sh:namespace {turtle_text(space)}^^xsd:anyURI ]"
        for prefix, space in sorted(declared.items())
    )
    return f"{_NODE} sh:declare\n    " + " ,\n    ".join(entries) + " ."


def _described(example: QueryExample, declared: Mapping[str, str]) -> str:
    try:
        subject = f"{NamedNode(example.iri)}" if example.iri else "[]"
        return f"{subject} " + " ;\n    ".join(_statements(example, declared)) + " ."
    except ValueError as error:
        raise SetupError(f"the example {example.question!r} cannot be written: {error}") from error


def _statements(example: QueryExample, declared: Mapping[str, str]) -> Iterator[str]:
    kind, predicate = terms.WRITTEN_AS.get(example.form, terms.WRITTEN_AS["SELECT"])
    yield f"a sh:SPARQLExecutable , {_SHORT.shorten(kind)}"
    yield "rdfs:comment " + " ,\n        ".join(map(_comment, example.wordings))
    query = _without(example.query, declared)
    if query != example.query:
        yield f"sh:prefixes {_NODE}"
    yield f"{_SHORT.shorten(predicate)} {turtle_text(query)}"
    if example.keywords:
        yield "schema:keywords " + " , ".join(map(turtle_text, example.keywords))
    for predicate, iris in (
        ("schema:target", example.targets),
        ("spex:federatesWith", example.federates_with),
    ):
        if iris:
            yield f"{predicate} " + " , ".join(str(NamedNode(iri)) for iri in iris)
    if example.origin != "written":
        yield f"dcterms:type {turtle_text(example.origin)}"
    if example.confirmation:
        yield from _confirmed(example.confirmation)


def _comment(wording: Wording) -> str:
    """A wording as a literal; escaped if it would be read as HTML."""
    text = wording.text
    shown = text if plain(text) == text else html.escape(text, quote=False)
    return (
        str(Literal(shown, language=wording.language)) if wording.language else turtle_text(shown)
    )


def _without(query: str, declared: Mapping[str, str]) -> str:
    """Return the query without the declarations at its head that a reader puts back."""
    head = end = 0
    kept = ""
    while line := _LINE.match(query, end):
        head, end = end, line.end()
        if declared.get(line[1]) != line[2]:
            kept += query[head:end]
    body = kept + query[end:]
    return body if with_declared(body, PrefixMap(declared).namespaces) == query else query


def _confirmed(confirmation: Confirmation) -> Iterator[str]:
    yield f"dcterms:dateAccepted {turtle_text(confirmation.when)}^^xsd:dateTime"
    source = f"schema:name {turtle_text(confirmation.graph)} ; schema:version "
    yield f"prov:wasDerivedFrom [ {source}{turtle_text(confirmation.snapshot)} ]"
    if confirmation.by:
        yield f"prov:wasAttributedTo [ schema:name {turtle_text(confirmation.by)} ]"
    digest = f" ; schema:sha256 {turtle_text(confirmation.digest)}" if confirmation.digest else ""
    yield f"schema:result [ schema:numberOfItems {confirmation.rows}{digest} ]"
