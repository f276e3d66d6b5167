"""Examples written as SHACL executables in Turtle, which read back as the same examples.

Prefixes are declared once and left out of the queries, if leaving them out loses nothing. The
same examples give the same bytes.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode

from askgraph.errors import SetupError
from askgraph.graph.examples import Confirmation, QueryExample, Wording
from askgraph.graph.examples import shacl as terms
from askgraph.graph.examples.shacl import plain
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.lexer import lexed, with_declared
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import turtle_text

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
