"""Short references in place of the terms of a query, so that a model can name nothing else.

>>> from askgraph.index.names import Kind
>>> from askgraph.methods.writing import Listed
>>> from askgraph.methods.writing.references import References
>>> references = References(
...     [
...         Listed(Kind.ENTITY, "http://example.org/Jupiter", "Jupiter"),
...         Listed(Kind.PREDICATE, "http://example.org/orbits", "orbits"),
...     ]
... )
>>> references.referenced("SELECT ?moon { ?moon <http://example.org/orbits> ?planet }")
'SELECT ?v0 WHERE { ?v0 P1 ?v1 . }'
>>> references.in_sparql("SELECT ?v0 WHERE { ?v0 P1 E1 . }")
'SELECT ?v0 WHERE { ?v0 <http://example.org/orbits> <http://example.org/Jupiter> . }'
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import Kind
from askgraph.methods.writing import Listed
from askgraph.methods.writing._sound import Change, changed, sound
from askgraph.sparql import Pattern, Term, walk
from askgraph.sparql.lexer import Token, lexed
from askgraph.sparql.parser import read
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import RDF, RDF_TYPE, RDFS, XSD, XSD_STRING

ALWAYS = (
    "rdf:type",
    "rdfs:label",
    "rdfs:comment",
    "rdfs:subClassOf",
    "rdfs:subPropertyOf",
    "rdfs:domain",
    "rdfs:range",
    "rdfs:seeAlso",
)
"""The terms that a query may name without their being listed."""

FREE_TYPES = (
    "integer",
    "decimal",
    "double",
    "date",
    "dateTime",
    "gYear",
    "gYearMonth",
    "time",
    "duration",
)
"""The datatypes of XML Schema whose literals need not be listed: numbers and times."""

CASTS = (*FREE_TYPES, "string", "boolean", "float")
"""The datatypes of XML Schema that a value may be turned into."""

REFERENCES, PLAIN, NAMES = FORMS = ("references", "plain", "names")
"""What may stand in a query for a term; see `References`."""

SEPARATOR = ", "
"""What stands between the values that GROUP_CONCAT puts together, whatever the query says."""

_LETTERS = {Kind.ENTITY: "E", Kind.CLASS: "C", Kind.PREDICATE: "P", Kind.VALUE: "V"}
_NAMESPACES = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD}
_W3C = "http://www.w3.org/"
_REFERENCE = re.compile(r"[ECPV][1-9][0-9]*")
_NUMBER = re.compile(r"[+-]?(?:\d+|\d*\.\d+|(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)")
_TAG = re.compile(r'"[a-z]{2}"')
_PLACE = re.compile(r"<ref:(\d+)>")
_NO_NAME = re.compile(r'[<>"{}|^`\\\x00-\x20]+')
_SEPARATED = re.compile(r'(?<=; SEPARATOR=)"(?:[^"\\]|\\.)*"')


class Unlisted(QuerySyntaxError):
    """A query names what is not listed: `term` is the IRI, literal or reference, as written."""

    def __init__(self, term: str) -> None:
        super().__init__(f"{term} is not listed, and a query may name only what is")
        self.term = term


@dataclass(frozen=True)
class References:
    """What is listed, each with its reference: its kind's letter and its number, from 1 on.

    E is an entity, C a class, P a predicate, V a value. A term listed twice keeps its first
    reference; one IRI may have one of each kind. The `form` says what stands in a query for a term:
    its reference; in the plain form its whole IRI or literal, so that a query is SPARQL as an
    endpoint takes it; or in that of names its label, as in `<body_builder>` or `"Mars"`, made
    different where two are alike: what a small model can copy from a question.
    """

    listed: Sequence[Listed]
    form: str = REFERENCES

    @property
    def plain(self) -> bool:
        """Whether queries are SPARQL as an endpoint takes it."""
        return self.form == PLAIN

    @cached_property
    def by_name(self) -> dict[str, Listed]:
        """The listed terms by their references, in the order listed."""
        there = dict[tuple[Kind, str], Listed]()
        for each in self.listed:
            there.setdefault((each.kind, each.target), each)
        counts = dict.fromkeys(Kind, 0)
        found: dict[str, Listed] = {}
        for each in there.values():
            counts[each.kind] += 1
            found[f"{_LETTERS[each.kind]}{counts[each.kind]}"] = each
        return found

    def names(self, kind: Kind) -> tuple[str, ...]:
        """The references of one kind."""
        return tuple(name for name, each in self.by_name.items() if each.kind is kind)

    def shown(self, name: str) -> str:
        """What stands in a query for a reference, or for a name of RDF, RDFS or XML Schema."""
        if self.form == NAMES:
            return self._texts.get(name, name)
        if not self.plain:
            return name
        if name in self.by_name:
            return _in_sparql(self.by_name[name])
        prefix, _, local = name.partition(":")
        return f"<{_NAMESPACES[prefix]}{local}>"

    def referenced(self, query: str, *, kept: Collection[str] = ()) -> str:
        """Return a SELECT or ASK query with references, in one layout, its variables numbered.

        Variables named in `kept` keep their names. Numbers, times, two-letter language tags in
        quotation marks and the terms in `ALWAYS` stand as they are. Raises `Unlisted` for any other
        term, `QuerySyntaxError` for a query that cannot be read or has a form that is not written.
        """
        tree = sound(read(query))
        texts = list[str]()

        def place(text: str) -> NamedNode:
            texts.append(text)
            return NamedNode(f"ref:{len(texts) - 1}")

        def term(given: Term) -> Term:
            match given:
                case NamedNode():
                    return place(self._iri(given.value, Kind.ENTITY, Kind.CLASS, Kind.PREDICATE))
                case Literal():
                    return place(self._literal(given))
                case _:
                    return given

        def predicate(given: NamedNode) -> NamedNode:
            return place(self._iri(given.value, Kind.PREDICATE))

        text: str = text_of(changed(tree, Change(predicate, term, _cast)))
        text = _SEPARATED.sub(f'"{SEPARATOR}"', text)
        shown = [self._texts.get(one, one) if self.form == NAMES else one for one in texts]
        text = numbered(_PLACE.sub(lambda found: shown[int(found[1])], text), kept=kept)
        return self._spelled(text) if self.plain else text

    def in_sparql(self, text: str, prefixes: Mapping[str, str] | None = None) -> str:
        """Return the query that a text with references means, its IRIs in full.

        Small slips against the rules on variables are mended (`methods.writing._sound`). Raises
        `Unlisted` for a reference or a term that is not listed, `QuerySyntaxError` for what cannot
        be read. A plain query may use the `prefixes`, and name any literal and what is the W3C's.
        """
        if not self.plain:
            return text_of(sound(read(self._spelled(text), {})))
        query: str = text_of(sound(read(text, prefixes or {})))
        allowed = {each.target for each in self.listed}
        for kind, named in gold_terms(query):
            if kind is not Kind.VALUE and named not in allowed and not named.startswith(_W3C):
                raise Unlisted(f"<{named}>")
        return query

    def _spelled(self, text: str) -> str:
        """The text with what each of its references stands for."""
        given = lexed(text).given
        pieces, at = list[str](), 0
        for number, token in enumerate(given):
            pieces += [text[at : token.start], self._spelled_out(token, given, number)]
            at = token.start + len(token.text)
        return "".join(pieces) + text[at:]

    @cached_property
    def _texts(self) -> dict[str, str]:
        """What stands for each reference in the form of names, no two alike."""
        found: dict[str, str] = {}
        used: set[str] = set()
        for name, each in self.by_name.items():
            texts = (_called(each, number) for number in count(1))
            found[name] = next(text for text in texts if text not in used)
            used.add(found[name])
        return found

    @cached_property
    def _by_text(self) -> dict[str, Listed]:
        texts = self._texts.items() if self.form == NAMES else ()
        return {text: self.by_name[name] for name, text in texts}

    @cached_property
    def _names_of(self) -> dict[tuple[Kind, str], str]:
        return {(each.kind, each.target): name for name, each in self.by_name.items()}

    def _iri(self, iri: str, *kinds: Kind) -> str:
        for kind in kinds:
            if name := self._names_of.get((kind, iri)):
                return name
        for prefix, namespace in _NAMESPACES.items():
            short = f"{prefix}:{iri.removeprefix(namespace)}"
            if iri.startswith(namespace) and short in ALWAYS:
                return short
        raise Unlisted(f"<{iri}>")

    def _literal(self, literal: Literal) -> str:
        if name := self._names_of.get((Kind.VALUE, str(literal))):
            return name
        text = text_of(literal)
        kind = literal.datatype.value
        local = kind.removeprefix(XSD)
        if _is_tag(literal):
            return text
        if text in ("true", "false") or _is_bare(literal):
            return literal.value
        if kind == XSD + local and local in FREE_TYPES:
            return f"{Literal(literal.value)}^^xsd:{local}"
        raise Unlisted(text)

    def _spelled_out(self, token: Token, given: Sequence[Token], at: int) -> str:
        """What a terminal stands for; `Unlisted` if it names what it may not."""
        match token.kind:
            case "iri" | "string" if token.text in self._by_text:
                return _in_sparql(self._by_text[token.text])
            case "word" if _REFERENCE.fullmatch(token.text):
                if token.text not in self.by_name:
                    raise Unlisted(token.text)
                return _in_sparql(self.by_name[token.text])
            case "pname":
                prefix, _, local = token.text.partition(":")
                if token.text not in ALWAYS and (prefix != "xsd" or local not in CASTS):
                    raise Unlisted(token.text)
                return f"<{_NAMESPACES[prefix]}{local}>"
            case "iri" | "language":
                raise Unlisted(token.text)
            case "string" if not _is_free(token, given, at):
                raise Unlisted(token.text)
        return token.text


def _called(listed: Listed, number: int) -> str:
    """A term by its label, numbered from the second one on."""
    more = f"_{number}" if number > 1 else ""
    if listed.kind is Kind.VALUE:
        return str(Literal(value_text(listed.target) + more))
    label = _NO_NAME.sub("_", listed.label).strip("_") or listed.kind.name.lower()
    if listed.kind is Kind.CLASS:
        label = label[0].upper() + label[1:]
    if listed.kind is Kind.PREDICATE:
        label = label[0].lower() + label[1:]
    return f"<{label}{more}>"


def needs_listing(term: NamedNode | Literal, *, as_object: bool = False) -> bool:
    """Return whether a query may name a term only if it is listed.

    A string of two small letters is free as a language tag, but not as the object of a pattern.
    """
    nothing = References(())
    try:
        match term:
            case NamedNode():
                nothing._iri(term.value)
            case Literal():
                nothing._literal(term)
                return as_object and _is_tag(term)
    except Unlisted:
        return True
    return False


def numbered(text: str, *, kept: Collection[str] = ()) -> str:
    """Return a query with its variables named `?v0`, `?v1` … in the order in which they come."""
    return "".join(_renamed(text, kept))


def _renamed(text: str, kept: Collection[str]) -> Iterator[str]:
    names = {name: f"?{name}" for name in kept}
    at = 0
    for token in lexed(text).all:
        if token.kind == "variable":
            yield text[at : token.start]
            yield names.setdefault(token.text[1:], f"?v{len(names) - len(kept)}")
            at = token.start + len(token.text)
    yield text[at:]


def _cast(iri: str) -> str:
    local = iri.removeprefix("<").removesuffix(">").removeprefix(XSD)
    if local not in CASTS:
        raise Unlisted(iri)
    return f"xsd:{local}"


def _is_tag(literal: Literal) -> bool:
    return literal.datatype.value == XSD_STRING and bool(_TAG.fullmatch(f'"{literal.value}"'))


def _is_bare(literal: Literal) -> bool:
    """Whether the value alone, without quotation marks, is read as this literal."""
    if not _NUMBER.fullmatch(literal.value):
        return False
    digits = literal.value.lower()
    kind = "double" if "e" in digits else "decimal" if "." in digits else "integer"
    return literal.datatype.value == XSD + kind


def _in_sparql(listed: Listed) -> str:
    return listed.target if listed.kind is Kind.VALUE else f"<{listed.target}>"


def _is_free(token: Token, given: Sequence[Token], at: int) -> bool:
    """Whether a string need not be listed: a separator, a language tag, a number or a time."""
    after = [each.text for each in given[at + 1 : at + 3]]
    if after[:1] == ["^^"]:
        return any(after[1:] == [f"xsd:{local}"] for local in FREE_TYPES)
    if [each.text.upper() for each in given[max(at - 2, 0) : at]] == ["SEPARATOR", "="]:
        return token.text == f'"{SEPARATOR}"'
    return bool(_TAG.fullmatch(token.text))


def gold_terms(query: str) -> tuple[tuple[Kind, str], ...]:
    """Return what must be listed for a query to have references, each once, in order.

    A target is an IRI, or a literal as N-Triples text. What stands behind `rdf:type` is a class.
    Raises `QuerySyntaxError` for a query that cannot be read.
    """
    tree = read(query)
    patterns = [node for node in walk(tree) if isinstance(node, Pattern)]
    typed = {each.object for each in patterns if each.predicate == NamedNode(RDF_TYPE)}
    objects = {each.object for each in patterns}
    found: dict[tuple[Kind, str], None] = {}

    def predicate(iri: NamedNode) -> NamedNode:
        if needs_listing(iri):
            found[Kind.PREDICATE, iri.value] = None
        return iri

    def term(given: Term) -> Term:
        match given:
            case NamedNode(value=iri) if needs_listing(given):
                found[Kind.CLASS if given in typed else Kind.ENTITY, iri] = None
            case Literal() if needs_listing(given, as_object=given in objects):
                found[Kind.VALUE, str(given)] = None
        return given

    changed(tree, Change(predicate, term))
    return tuple(found)


def terms_in(queries: Iterable[str]) -> frozenset[tuple[Kind, str]]:
    """Return what must be listed for several queries; what cannot be read names nothing."""
    found: set[tuple[Kind, str]] = set()
    for query in queries:
        with suppress(QuerySyntaxError):
            found.update(gold_terms(query))
    return frozenset(found)


def value_text(target: str) -> str:
    """Return the text of a literal given as N-Triples."""
    pattern = read(f"ASK {{ ?s ?p {target} }}").where.elements[0]
    literal = pattern.object if isinstance(pattern, Pattern) else None
    return literal.value if isinstance(literal, Literal) else target
