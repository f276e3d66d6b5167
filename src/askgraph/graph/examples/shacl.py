"""Examples as SHACL executables in Turtle: a file, a folder, an archive.

Bolleman et al., "A large collection of bioinformatics question–query pairs over federated knowledge
graphs", GigaScience 2025. Prefixes are declared once for many files and shared through a blank
node: a file knows its own and those of the files in its folder and in the folders above.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyoxigraph import BlankNode, NamedNode, RdfFormat

from askgraph.errors import QuerySyntaxError, SetupError
from askgraph.graph.archives import decoded, is_bundle, members, plain_name, text_of
from askgraph.graph.examples import (
    Collection,
    Confirmation,
    Origin,
    QueryExample,
    Unread,
    Wording,
)
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.judge import refuse_undeclared
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.parser import parse_query
from askgraph.sparql.prefixes import WELL_KNOWN, PrefixMap
from askgraph.sparql.rdf_files import Described, Statements, parsed

PREFIXES = "prefixes.ttl"
"""The file of a folder that declares the prefixes of its examples."""

SPEX = "https://purl.expasy.org/sparql-examples/ontology#"
SH_DESCRIBE = voc.SH + "describe"
SH_DESCRIBE_EXECUTABLE = voc.SH + "SPARQLDescribeExecutable"
SPEX_DESCRIBE = SPEX + "describe"
SPEX_DESCRIBE_EXECUTABLE = SPEX + "SPARQLDescribeExecutable"
FEDERATES_WITH = SPEX + "federatesWith"

EXECUTABLES = (
    voc.SH_SPARQL_EXECUTABLE,
    voc.SH_SPARQL_SELECT_EXECUTABLE,
    voc.SH_SPARQL_ASK_EXECUTABLE,
    voc.SH_SPARQL_CONSTRUCT_EXECUTABLE,
    SH_DESCRIBE_EXECUTABLE,
    SPEX_DESCRIBE_EXECUTABLE,
)

QUERIES = (voc.SH_SELECT, voc.SH_ASK, voc.SH_CONSTRUCT, SH_DESCRIBE, SPEX_DESCRIBE)

WRITTEN_AS = {
    "SELECT": (voc.SH_SPARQL_SELECT_EXECUTABLE, voc.SH_SELECT),
    "ASK": (voc.SH_SPARQL_ASK_EXECUTABLE, voc.SH_ASK),
    "CONSTRUCT": (voc.SH_SPARQL_CONSTRUCT_EXECUTABLE, voc.SH_CONSTRUCT),
    "DESCRIBE": (SPEX_DESCRIBE_EXECUTABLE, SPEX_DESCRIBE),
}

KEYWORDS = tuple(
    namespace + name
    for namespace in (voc.SCHEMA_HTTPS, voc.SCHEMA)
    for name in ("keywords", "keyword")
)

TARGETS = (voc.SCHEMA_HTTPS + "target", voc.SCHEMA_TARGET)

_ORIGINS: Mapping[str, Origin] = {"confirmed": "confirmed", "generated": "generated"}
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|div|em|i|li|ol|p|pre|small|span|strong|sub|sup|tt|u|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Executable:
    """A `sh:SPARQLExecutable` as it is described; `node` is its IRI or the name of a blank node.

    `wordings` are its comments without HTML. The prefixes that its query leaves to its surroundings
    are declared in it.
    """

    node: NamedNode | BlankNode
    query: str | None
    wordings: tuple[Wording, ...]
    keywords: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    federates_with: tuple[str, ...] = ()
    origin: Origin = "written"
    confirmation: Confirmation | None = None


Item = tuple[str, Executable | str]
"""The place of an executable; it, or the reason why there is none."""


def read_shacl(path: Path, *, declared: Mapping[str, str] | None = None) -> Collection:
    """Read all examples of a file, folder or archive; what is none is listed.

    `declared` are the prefixes around a file, if they are known (see `prefixes_beside`). Raises
    `SetupError` if the file or archive itself cannot be read.
    """
    return collected(executables(path, declared=declared))


def collected(items: Iterable[Item]) -> Collection:
    """Sort executables into examples and what is listed: those without a query or a question."""
    examples, unread = [], []
    for place, item in items:
        found = item if isinstance(item, str) else _example(item)
        if isinstance(found, str):
            unread.append(Unread(place, found))
        else:
            examples.append(found)
    return Collection(tuple(examples), tuple(unread))


def executables(path: Path, *, declared: Mapping[str, str] | None = None) -> Iterator[Item]:
    """Yield every executable of a file, folder or archive, or why there is none."""
    if is_bundle(path):
        yield from _in_bundle(path)
        return
    statements, _ = parsed(
        text_of(path),
        str(path),
        format=RdfFormat.from_extension(plain_name(path).rpartition(".")[2]) or RdfFormat.TURTLE,
    )
    around = prefixes_beside(path) if declared is None else declared
    yield from described_in(str(path), statements, {**around, **statements.declared()})


def prefixes_beside(path: Path) -> dict[str, str]:
    """Return the prefixes that are declared beside a file and in the folder above."""
    declared: dict[str, str] = {}
    for file in (path.absolute().parent.parent / PREFIXES, path.with_name(PREFIXES)):
        if file.is_file():
            declared |= parsed(text_of(file), str(file))[0].declared()
    return declared


def executables_in(text: str, place: str, *, format: RdfFormat) -> list[Item]:
    """Return every executable of a text, with the prefixes that it declares itself."""
    statements, _ = parsed(text, place, format=format)
    return list(described_in(place, statements, statements.declared()))


def _in_bundle(path: Path) -> Iterator[Item]:
    files: dict[PurePosixPath, Statements] = {}
    for name, content in members(path, ".ttl"):
        place = f"{path}, {name}"
        try:
            files[name], _ = parsed(decoded(content, place), place)
        except SetupError as error:
            yield place, str(error).removeprefix(place).lstrip(", ")
    folders: dict[PurePosixPath, dict[str, str]] = {}
    for name, statements in files.items():
        folders.setdefault(name.parent, {}).update(statements.declared())
    for name, statements in files.items():
        above = [folders.get(folder, {}) for folder in reversed(name.parents)]
        declared = {p: iri for known in above for p, iri in known.items()} | statements.declared()
        yield from described_in(f"{path}, {name}", statements, declared)


def described_in(place: str, statements: Statements, declared: Mapping[str, str]) -> Iterator[Item]:
    """Yield the executables among statements; their queries may leave out what is `declared`."""
    kinds = {NamedNode(iri) for iri in EXECUTABLES}
    for subject in statements.having(voc.RDF_TYPE):
        if not kinds.intersection(subject.objects(voc.RDF_TYPE)):
            continue
        own = statements.declared(subject.objects(voc.SH_PREFIXES))
        yield f"{place}, {subject.node}", _executable(subject, PrefixMap({**declared, **own}))


def _executable(subject: Described, prefixes: PrefixMap) -> Executable:
    query = next(filter(None, map(subject.text, QUERIES)), None)
    keywords = (literal.value for key in KEYWORDS for literal in subject.literals(key))
    targets = (iri for key in TARGETS for iri in subject.iris(key))
    comments = subject.labelled(voc.RDFS_COMMENT)
    return Executable(
        subject.node,
        None if query is None else with_declared(query, prefixes.namespaces),
        tuple(dict.fromkeys(Wording(plain(text), tag) for text, tag in comments)),
        tuple(dict.fromkeys(keywords)),
        tuple(dict.fromkeys(targets)),
        subject.iris(FEDERATES_WITH),
        _ORIGINS.get(subject.text(ORIGIN) or "", "written"),
        _confirmation(subject),
    )


def plain(comment: str) -> str:
    """Return a comment without HTML and with single spaces; other angle brackets are kept."""
    return " ".join(html.unescape(_TAG.sub("", comment)).split())


def _confirmation(subject: Described) -> Confirmation | None:
    when = subject.text(ACCEPTED)
    result = next(iter(subject.nodes(RESULT)), None)
    source = next(iter(subject.nodes(DERIVED_FROM)), None)
    if when is None or result is None or source is None:
        return None
    rows = result.text(COUNT) or ""
    if not rows.isascii() or not rows.isdigit():
        return None
    graph, snapshot = source.text(NAME) or "", source.text(VERSION) or ""
    people = (one.text(NAME) for one in subject.nodes(ATTRIBUTED_TO))
    by = next(filter(None, people), None)
    return Confirmation(when, graph, snapshot, int(rows), result.text(DIGEST), by)


def _example(item: Executable) -> QueryExample | str:
    if not item.query:
        return "it has no query: none of sh:select, sh:ask, sh:construct, sh:describe"
    asked = [wording for wording in item.wordings if wording.text]
    if not asked:
        return "it has no rdfs:comment to take the question from"
    return QueryExample(
        asked[0].text,
        item.query,
        asked[0].language,
        tuple(asked[1:]),
        item.node.value if isinstance(item.node, NamedNode) else None,
        item.keywords,
        item.targets,
        item.federates_with,
        item.origin,
        item.confirmation,
    )


# How an example came about, and the result by which a later one is compared.
ORIGIN = voc.DCTERMS + "type"
ACCEPTED = voc.DCTERMS + "dateAccepted"
DERIVED_FROM = voc.PROV + "wasDerivedFrom"
ATTRIBUTED_TO = voc.PROV + "wasAttributedTo"
NAME = voc.SCHEMA_HTTPS + "name"
VERSION = voc.SCHEMA_HTTPS + "version"
RESULT = voc.SCHEMA_HTTPS + "result"
COUNT = voc.SCHEMA_HTTPS + "numberOfItems"
DIGEST = voc.SCHEMA_HTTPS + "sha256"


def syntax_fault(query: str) -> str | None:
    """Return the fault of a query's syntax, None if it has none."""
    try:
        refuse_undeclared(query, WELL_KNOWN)
        parse_query(query)
    except QuerySyntaxError as fault:
        return str(fault)
    return None
