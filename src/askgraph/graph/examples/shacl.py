"""Read examples from SHACL executables in Turtle: a file, a folder, an archive.

Bolleman et al., "A large collection of bioinformatics question–query pairs over federated knowledge
graphs", GigaScience 2025. Prefixes are declared once for many files and shared through a blank
node: a file sees its own prefixes and those of its folder and of the folders above.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyoxigraph import BlankNode, NamedNode, RdfFormat

from askgraph.errors import QuerySyntaxError, SetupError
from askgraph.graph import archives
from askgraph.graph.examples import (
    Confirmation,
    ExampleCollection,
    Origin,
    QueryExample,
    SkippedItem,
    Wording,
)
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.judge import check_prefixes
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.parser import parse_query
from askgraph.sparql.prefixes import WELL_KNOWN_PREFIXES, PrefixMap
from askgraph.sparql.rdf_files import RdfStatements, SubjectDescription, parse_statements

PREFIXES_FILE = "prefixes.ttl"
"""The file of a folder that declares the prefixes of its examples."""

SPEX = "https://purl.expasy.org/sparql-examples/ontology#"
SH_DESCRIBE = voc.SH + "describe"
SH_DESCRIBE_EXECUTABLE = voc.SH + "SPARQLDescribeExecutable"
SPEX_DESCRIBE = SPEX + "describe"
SPEX_DESCRIBE_EXECUTABLE = SPEX + "SPARQLDescribeExecutable"
FEDERATES_WITH = SPEX + "federatesWith"

EXECUTABLE_CLASSES = (
    voc.SH_SPARQL_EXECUTABLE,
    voc.SH_SPARQL_SELECT_EXECUTABLE,
    voc.SH_SPARQL_ASK_EXECUTABLE,
    voc.SH_SPARQL_CONSTRUCT_EXECUTABLE,
    SH_DESCRIBE_EXECUTABLE,
    SPEX_DESCRIBE_EXECUTABLE,
)

QUERY_PREDICATES = (voc.SH_SELECT, voc.SH_ASK, voc.SH_CONSTRUCT, SH_DESCRIBE, SPEX_DESCRIBE)

TERMS_BY_FORM = {
    "SELECT": (voc.SH_SPARQL_SELECT_EXECUTABLE, voc.SH_SELECT),
    "ASK": (voc.SH_SPARQL_ASK_EXECUTABLE, voc.SH_ASK),
    "CONSTRUCT": (voc.SH_SPARQL_CONSTRUCT_EXECUTABLE, voc.SH_CONSTRUCT),
    "DESCRIBE": (SPEX_DESCRIBE_EXECUTABLE, SPEX_DESCRIBE),
}

KEYWORD_PREDICATES = tuple(
    namespace + name
    for namespace in (voc.SCHEMA_HTTPS, voc.SCHEMA)
    for name in ("keywords", "keyword")
)

TARGET_PREDICATES = (voc.SCHEMA_HTTPS + "target", voc.SCHEMA_TARGET)

_ORIGINS: Mapping[str, Origin] = {"confirmed": "confirmed", "generated": "generated"}
_HTML_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|div|em|i|li|ol|p|pre|small|span|strong|sub|sup|tt|u|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ShaclExecutable:
    """A `sh:SPARQLExecutable`."""

    node: NamedNode | BlankNode  # its IRI or blank node
    query: str | None  # the query with all prefixes declared; None if it has none
    wordings: tuple[Wording, ...]  # its comments without HTML
    keywords: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()  # addresses of the endpoints that the query is for
    federates_with: tuple[str, ...] = ()  # endpoints that the query calls by SERVICE
    origin: Origin = "written"  # how the example came about
    confirmation: Confirmation | None = None  # the confirmed result, if there is one


ExecutableItem = tuple[str, ShaclExecutable | str]
"""The position of an executable, and it or the reason why it is invalid."""


def read_shacl(path: Path, *, prefixes: Mapping[str, str] | None = None) -> ExampleCollection:
    """Read all examples of a file, folder or archive, and list invalid items.

    `prefixes` are those around a file, if known (see `read_surrounding_prefixes`).

    Raises:
        SetupError: The file or archive cannot be read.
    """
    return collect_examples(iterate_executables(path, prefixes=prefixes))


def collect_examples(items: Iterable[ExecutableItem]) -> ExampleCollection:
    """Sort executables into examples and items without a query or a question."""
    examples, unread = [], []
    for position, item in items:
        example = item if isinstance(item, str) else _build_example(item)
        if isinstance(example, str):
            unread.append(SkippedItem(position, example))
        else:
            examples.append(example)
    return ExampleCollection(tuple(examples), tuple(unread))


def iterate_executables(
    path: Path, *, prefixes: Mapping[str, str] | None = None
) -> Iterator[ExecutableItem]:
    """Yield every executable of a file, folder or archive, or the reason why it is invalid."""
    if archives.is_bundle(path):
        yield from _iterate_bundle(path)
        return
    statements, _ = parse_statements(
        archives.read_text(path),
        str(path),
        format=RdfFormat.from_extension(archives.get_plain_name(path).rpartition(".")[2])
        or RdfFormat.TURTLE,
    )
    outer_prefixes = read_surrounding_prefixes(path) if prefixes is None else prefixes
    yield from find_executables(
        str(path), statements, {**outer_prefixes, **statements.get_declared_prefixes()}
    )


def read_surrounding_prefixes(path: Path) -> dict[str, str]:
    """Return the prefixes declared in the folder of a file and in the folder above."""
    prefixes: dict[str, str] = {}
    for file in (path.absolute().parent.parent / PREFIXES_FILE, path.with_name(PREFIXES_FILE)):
        if file.is_file():
            prefixes |= parse_statements(archives.read_text(file), str(file))[
                0
            ].get_declared_prefixes()
    return prefixes


def parse_executables(text: str, source: str, *, format: RdfFormat) -> list[ExecutableItem]:
    """Return every executable of a text, with the prefixes that the text declares."""
    statements, _ = parse_statements(text, source, format=format)
    return list(find_executables(source, statements, statements.get_declared_prefixes()))


def _iterate_bundle(path: Path) -> Iterator[ExecutableItem]:
    files: dict[PurePosixPath, RdfStatements] = {}
    for name, content in archives.iterate_members(path, ".ttl"):
        source = f"{path}, {name}"
        try:
            files[name], _ = parse_statements(archives.decode_text(content, source), source)
        except SetupError as error:
            yield source, str(error).removeprefix(source).lstrip(", ")
    folders: dict[PurePosixPath, dict[str, str]] = {}
    for name, statements in files.items():
        folders.setdefault(name.parent, {}).update(statements.get_declared_prefixes())
    for name, statements in files.items():
        ancestor_prefixes = [folders.get(folder, {}) for folder in reversed(name.parents)]
        prefixes = {
            p: iri for folder_prefixes in ancestor_prefixes for p, iri in folder_prefixes.items()
        } | statements.get_declared_prefixes()
        yield from find_executables(f"{path}, {name}", statements, prefixes)


def find_executables(
    source: str, statements: RdfStatements, prefixes: Mapping[str, str]
) -> Iterator[ExecutableItem]:
    """Yield the executables among statements; their queries may omit the given `prefixes`."""
    executable_types = {NamedNode(iri) for iri in EXECUTABLE_CLASSES}
    for subject in statements.describe_subjects(voc.RDF_TYPE):
        if not executable_types.intersection(subject.get_objects(voc.RDF_TYPE)):
            continue
        own_prefixes = statements.get_declared_prefixes(subject.get_objects(voc.SH_PREFIXES))
        yield (
            f"{source}, {subject.node}",
            _build_executable(subject, PrefixMap({**prefixes, **own_prefixes})),
        )


def _build_executable(subject: SubjectDescription, prefixes: PrefixMap) -> ShaclExecutable:
    query = next(filter(None, map(subject.get_text, QUERY_PREDICATES)), None)
    keywords = (
        literal.value for key in KEYWORD_PREDICATES for literal in subject.get_literals(key)
    )
    targets = (iri for key in TARGET_PREDICATES for iri in subject.get_iris(key))
    comments = subject.get_labels(voc.RDFS_COMMENT)
    return ShaclExecutable(
        subject.node,
        None if query is None else declare_prefixes(query, prefixes.namespaces),
        tuple(dict.fromkeys(Wording(strip_html(text), tag) for text, tag in comments)),
        tuple(dict.fromkeys(keywords)),
        tuple(dict.fromkeys(targets)),
        subject.get_iris(FEDERATES_WITH),
        _ORIGINS.get(subject.get_text(ORIGIN_PREDICATE) or "", "written"),
        _read_confirmation(subject),
    )


def strip_html(comment: str) -> str:
    """Return a comment without HTML and repeated spaces; other angle brackets are kept."""
    return " ".join(html.unescape(_HTML_TAG.sub("", comment)).split())


def _read_confirmation(subject: SubjectDescription) -> Confirmation | None:
    when = subject.get_text(ACCEPTED_PREDICATE)
    result = next(iter(subject.get_nodes(RESULT_PREDICATE)), None)
    source = next(iter(subject.get_nodes(DERIVED_FROM_PREDICATE)), None)
    if when is None or result is None or source is None:
        return None
    rows = result.get_text(COUNT_PREDICATE) or ""
    if not rows.isascii() or not rows.isdigit():
        return None
    graph = source.get_text(NAME_PREDICATE) or ""
    snapshot = source.get_text(VERSION_PREDICATE) or ""
    people = (
        person.get_text(NAME_PREDICATE) for person in subject.get_nodes(ATTRIBUTED_TO_PREDICATE)
    )
    name = next(filter(None, people), None)
    return Confirmation(when, graph, snapshot, int(rows), result.get_text(DIGEST_PREDICATE), name)


def _build_example(item: ShaclExecutable) -> QueryExample | str:
    if not item.query:
        return "it has no query: none of sh:select, sh:ask, sh:construct, sh:describe"
    questions = [wording for wording in item.wordings if wording.text]
    if not questions:
        return "it has no rdfs:comment with the question"
    return QueryExample(
        questions[0].text,
        item.query,
        questions[0].language,
        tuple(questions[1:]),
        item.node.value if isinstance(item.node, NamedNode) else None,
        item.keywords,
        item.targets,
        item.federates_with,
        item.origin,
        item.confirmation,
    )


# The origin of an example, and its result for later comparisons.
ORIGIN_PREDICATE = voc.DCTERMS + "type"
ACCEPTED_PREDICATE = voc.DCTERMS + "dateAccepted"
DERIVED_FROM_PREDICATE = voc.PROV + "wasDerivedFrom"
ATTRIBUTED_TO_PREDICATE = voc.PROV + "wasAttributedTo"
NAME_PREDICATE = voc.SCHEMA_HTTPS + "name"
VERSION_PREDICATE = voc.SCHEMA_HTTPS + "version"
RESULT_PREDICATE = voc.SCHEMA_HTTPS + "result"
COUNT_PREDICATE = voc.SCHEMA_HTTPS + "numberOfItems"
DIGEST_PREDICATE = voc.SCHEMA_HTTPS + "sha256"


def find_syntax_fault(query: str) -> str | None:
    """Return a query's syntax error as text, or None."""
    try:
        check_prefixes(query, WELL_KNOWN_PREFIXES)
        parse_query(query)
    except QuerySyntaxError as fault:
        return str(fault)
    return None
