"""Examples as SHACL executables in Turtle: a file, a folder, an archive, an endpoint.

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

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.metadata.bundles import decoded, is_bundle, members, plain_name, text_of
from askgraph.metadata.examples import (
    Collection,
    Confirmation,
    Origin,
    QueryExample,
    Unread,
    Wording,
)
from askgraph.metadata.examples import _terms as terms
from askgraph.rdf import vocabulary as voc
from askgraph.rdf.prefixes import PrefixMap
from askgraph.rdf.statements import Described, Statements, parsed
from askgraph.sparql.declared import with_declared

__all__ = [
    "PREFIXES",
    "Executable",
    "Item",
    "collected",
    "executables",
    "executables_in",
    "plain",
    "prefixes_beside",
    "published",
    "read_shacl",
]

PREFIXES = "prefixes.ttl"
"""The file of a folder that declares the prefixes of its examples."""


_EXAMPLES = (
    "CONSTRUCT { ?s ?p ?o } WHERE { { SELECT DISTINCT ?s WHERE { { ?s <"
    + "> ?query } UNION { ?s <".join(terms.QUERIES)
    + f"> ?query }} UNION {{ ?s <{voc.SH_DECLARE}> ?prefix }} "
    + f"UNION {{ ?prefixes <{voc.SH_DECLARE}> ?s }} }} }} ?s ?p ?o }}"
)
_ORIGINS: Mapping[str, Origin] = {"confirmed": "confirmed", "generated": "generated"}
_MOST_TRIPLES = 200_000
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
"""Where an executable stands; it, or the reason why there is none."""


def read_shacl(path: Path, *, declared: Mapping[str, str] | None = None) -> Collection:
    """Read all examples of a file, folder or archive; what is none is listed.

    `declared` are the prefixes around a file, where they are known (see `prefixes_beside`). Raises
    `SetupError` where the file or archive itself cannot be read.
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
    statements, _ = parsed(text_of(path), str(path), format=_format(path))
    around = prefixes_beside(path) if declared is None else declared
    yield from _described(str(path), statements, {**around, **statements.declared()})


def prefixes_beside(path: Path) -> dict[str, str]:
    """Return the prefixes that are declared beside a file and in the folder above."""
    declared: dict[str, str] = {}
    for file in (path.absolute().parent.parent / PREFIXES, path.with_name(PREFIXES)):
        if file.is_file():
            declared |= parsed(text_of(file), str(file))[0].declared()
    return declared


async def published(endpoint: Endpoint, *, timeout: float | None = 60.0) -> list[Item]:
    """Return every executable that a SPARQL endpoint holds in its own graph, by one query.

    Raises `ServiceError` where the endpoint fails; that its reply was cut off is an item.
    """
    reply = await endpoint.construct(_EXAMPLES, timeout=timeout, limit=_MOST_TRIPLES)
    statements = Statements(reply.triples)
    items = list(_described(endpoint.address, statements, statements.declared()))
    if reply.truncated:
        items.append((endpoint.address, f"more examples may exist: {reply.truncated.reason}"))
    return items


def executables_in(text: str, place: str, *, format: RdfFormat) -> list[Item]:
    """Return every executable of a text, with the prefixes that it declares itself."""
    statements, _ = parsed(text, place, format=format)
    return list(_described(place, statements, statements.declared()))


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
        yield from _described(f"{path}, {name}", statements, declared)


def _format(path: Path) -> RdfFormat:
    return RdfFormat.from_extension(plain_name(path).rpartition(".")[2]) or RdfFormat.TURTLE


def _described(place: str, statements: Statements, declared: Mapping[str, str]) -> Iterator[Item]:
    kinds = {NamedNode(iri) for iri in terms.EXECUTABLES}
    for subject in statements.having(voc.RDF_TYPE):
        if not kinds.intersection(subject.objects(voc.RDF_TYPE)):
            continue
        own = statements.declared(subject.objects(voc.SH_PREFIXES))
        yield f"{place}, {subject.node}", _executable(subject, PrefixMap({**declared, **own}))


def _executable(subject: Described, prefixes: PrefixMap) -> Executable:
    query = next(filter(None, map(subject.text, terms.QUERIES)), None)
    keywords = (literal.value for key in terms.KEYWORDS for literal in subject.literals(key))
    targets = (iri for key in terms.TARGETS for iri in subject.iris(key))
    comments = subject.labelled(voc.RDFS_COMMENT)
    return Executable(
        subject.node,
        None if query is None else with_declared(query, prefixes.namespaces),
        tuple(dict.fromkeys(Wording(plain(text), tag) for text, tag in comments)),
        tuple(dict.fromkeys(keywords)),
        tuple(dict.fromkeys(targets)),
        subject.iris(terms.FEDERATES_WITH),
        _ORIGINS.get(subject.text(terms.ORIGIN) or "", "written"),
        _confirmation(subject),
    )


def plain(comment: str) -> str:
    """Return a comment without HTML and with single spaces; other angle brackets are kept."""
    return " ".join(html.unescape(_TAG.sub("", comment)).split())


def _confirmation(subject: Described) -> Confirmation | None:
    when = subject.text(terms.ACCEPTED)
    result = next(iter(subject.nodes(terms.RESULT)), None)
    source = next(iter(subject.nodes(terms.DERIVED_FROM)), None)
    if when is None or result is None or source is None:
        return None
    rows = result.text(terms.COUNT) or ""
    if not rows.isascii() or not rows.isdigit():
        return None
    graph, snapshot = source.text(terms.NAME) or "", source.text(terms.VERSION) or ""
    people = (one.text(terms.NAME) for one in subject.nodes(terms.ATTRIBUTED_TO))
    by = next(filter(None, people), None)
    return Confirmation(when, graph, snapshot, int(rows), result.text(terms.DIGEST), by)


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
