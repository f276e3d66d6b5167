"""Names for the terms of a query, so that a model cannot use any other terms.

>>> from askgraph.index.names import ItemKind
>>> from askgraph.methods.writing import ListedTerm
>>> from askgraph.methods.writing.term_names import TermNames
>>> names = TermNames(
...     [
...         ListedTerm(ItemKind.ENTITY, "http://example.org/Jupiter", "Jupiter"),
...         ListedTerm(ItemKind.PREDICATE, "http://example.org/orbits", "orbits"),
...     ]
... )
>>> names.encode_query("SELECT ?moon { ?moon <http://example.org/orbits> ?planet }")
'SELECT ?v0 WHERE { ?v0 <orbits> ?v1 . }'
>>> names.decode_query("SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> . }")
'SELECT ?v0 WHERE { ?v0 <http://example.org/orbits> <http://example.org/Jupiter> . }'
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.graph.names import UNSEEN_RANGES
from askgraph.index.names import ItemKind
from askgraph.methods.tools.rendering import clip_text
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing._tree_rewriting import fix_variables
from askgraph.sparql import Call, Path, Pattern, get_children, transform, walk
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import RDF, RDF_TYPE, RDFS, XSD, XSD_STRING

ALWAYS_ALLOWED = tuple(
    (
        "rdf:type rdfs:label rdfs:comment rdfs:subClassOf rdfs:subPropertyOf rdfs:domain "
        "rdfs:range rdfs:seeAlso"
    ).split()
)
"""Terms that a query may always use, without listing them."""

FREE_DATATYPES = tuple(
    ("integer decimal double date dateTime gYear gYearMonth time duration").split()
)
"""Datatypes of XML Schema whose literals need no listing: numbers and times."""

CAST_DATATYPES = (*FREE_DATATYPES, "string", "boolean", "float")
"""Datatypes of XML Schema to which a value may be cast."""

PLAIN, NAMES = FORMS = ("plain", "names")
"""Forms of terms in a query; see `TermNames`."""

_NAMESPACES = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD}
_ALLOWED_SHORT_NAMES = {*ALWAYS_ALLOWED, *(f"xsd:{local}" for local in CAST_DATATYPES)}
_W3C_NAMESPACE = "http://www.w3.org/"
_PLACEHOLDER = re.compile(r"<ref:(\d+)>|\?(\w+)")
_FORBIDDEN_IN_NAME = re.compile(rf'[<>"{{}}|^`\\\x00-\x20{UNSEEN_RANGES}]+')
_MAX_NAME_CHARACTERS = 80


class UnlistedTermError(QuerySyntaxError):
    """A query uses an unlisted term: an IRI, a literal or a name, as written."""

    def __init__(self, term: str) -> None:
        super().__init__(f"{term} is not listed, and a query may name only what is")


@dataclass(frozen=True)
class TermNames:
    """Listed terms, each with its name in a query; duplicates count once.

    In the `form` names, a term is its label, such as `<body_builder>` or `"Mars"`, numbered if two
    are alike; a small model can copy it from a question. In the plain form, it is the full IRI or
    literal, so that the query is valid SPARQL.
    """

    terms: Sequence[ListedTerm]
    form: str = NAMES

    @property
    def is_plain(self) -> bool:
        """Whether queries are valid SPARQL for an endpoint."""
        return self.form == PLAIN

    @cached_property
    def entries(self) -> tuple[tuple[str, ListedTerm], ...]:
        """Listed terms with their names, in the order listed; an IRI may have several kinds."""
        unique_terms = dict[tuple[ItemKind, str], ListedTerm]()
        for term in self.terms:
            unique_terms.setdefault((term.kind, term.target), term)
        if self.is_plain:
            return tuple((_to_sparql(term), term) for term in unique_terms.values())
        terms_by_name = dict[str, ListedTerm]()
        for term in unique_terms.values():
            names = (_render_label(term, number) for number in count(1))
            terms_by_name[next(name for name in names if name not in terms_by_name)] = term
        return tuple(terms_by_name.items())

    @cached_property
    def by_target(self) -> dict[str, str]:
        """Names by IRI or literal; that of a predicate or class is right in more places."""
        by_kind = sorted(self.entries, key=lambda entry: entry[1].kind)
        return {term.target: name for name, term in by_kind}

    def list_names(self, kind: ItemKind) -> tuple[str, ...]:
        """Return the names of one kind."""
        return tuple(name for name, term in self.entries if term.kind is kind)

    def render_standard_name(self, name: str) -> str:
        """Return the text in a query for a name of RDF, RDFS or XML Schema, such as `rdf:type`."""
        prefix, _, local = name.partition(":")
        return f"<{_NAMESPACES[prefix]}{local}>" if self.is_plain else name

    def encode_query(self, query: str) -> str:
        """Return a SELECT or ASK query with names, in one layout, its variables numbered.

        Numbers, times, two-letter language tags in quotation marks and the terms in
        `ALWAYS_ALLOWED` stay as they are.

        Raises:
            UnlistedTermError: the query uses any other term.
            QuerySyntaxError: the query cannot be read or has an unsupported form.
        """
        texts, variables = list[str](), dict[str, str]()

        def add_placeholder(node: Any) -> Any:
            match node:
                case NamedNode() | Literal():
                    texts.append(self._name_term(node))
                    return NamedNode(f"ref:{len(texts) - 1}")
                case Call(name=name, separator=separator):
                    if ":" in name:
                        name = f"xsd:{name.strip('<>').removeprefix(XSD)}"
                        if name not in _ALLOWED_SHORT_NAMES:
                            raise UnlistedTermError(node.name)
                        name = self.render_standard_name(name)
                    separator = None if separator is None else ", "  # as in the grammar
                    return replace(node, name=name, separator=separator)
            return node

        def fill_placeholder(match: re.Match[str]) -> str:
            if match[1]:
                return texts[int(match[1])]
            return variables.setdefault(match[2], f"?v{len(variables)}")

        text: str = to_text(transform(fix_variables(parse_tree(query)), add_placeholder))
        return _PLACEHOLDER.sub(fill_placeholder, text)

    def decode_query(self, text: str, prefixes: Mapping[str, str] | None = None) -> str:
        """Return the SPARQL query for a text with names, with full IRIs.

        Small errors in the use of variables are fixed (`methods.writing._tree_rewriting`). A plain
        query may use `prefixes`, any literal, and any term of the W3C.

        Raises:
            UnlistedTermError: the text uses a name or term that is not listed.
            QuerySyntaxError: the text cannot be read.
        """
        if not self.is_plain:
            terms_by_name, pieces, at = dict(self.entries), list[str](), 0
            for token in tokenize(text).tokens:
                term = terms_by_name.get(token.text)
                if term is None and (
                    token.kind == "iri"
                    or (token.kind == "pname" and token.text not in _ALLOWED_SHORT_NAMES)
                ):
                    raise UnlistedTermError(token.text)
                pieces += [text[at : token.start], _to_sparql(term) if term else token.text]
                at = token.start + len(token.text)
            text, prefixes = ("".join(pieces) + text[at:]), _NAMESPACES
        query: str = to_text(fix_variables(parse_tree(text, prefixes or {})))
        for kind, target in list_required_terms(query):
            is_free = kind is ItemKind.VALUE or target.startswith(_W3C_NAMESPACE)
            if target not in self.by_target and not (self.is_plain and is_free):
                raise UnlistedTermError(target if kind is ItemKind.VALUE else f"<{target}>")
        return query

    def _name_term(self, term: NamedNode | Literal) -> str:
        if name := self.by_target.get(term.value if isinstance(term, NamedNode) else str(term)):
            return name
        if is_listing_required(term):
            raise UnlistedTermError(to_text(term))
        if isinstance(term, NamedNode):
            return self.render_standard_name(_shorten(term.value))
        if _is_bare(term):
            return term.value
        if _is_tag(term):
            return to_text(term)
        return f"{Literal(term.value)}^^{self.render_standard_name(_shorten(term.datatype.value))}"


def _render_label(term: ListedTerm, number: int) -> str:
    """Return a term by its label, with a number from the second one on."""
    suffix = f"_{number}" if number > 1 else ""
    if term.kind is ItemKind.VALUE:
        return str(Literal(parse_literal_text(term.target) + suffix))
    label = clip_text(term.label, _MAX_NAME_CHARACTERS)
    label = _FORBIDDEN_IN_NAME.sub("_", label).strip("_") or term.kind.name.lower()
    if term.kind is ItemKind.CLASS:
        label = label[0].upper() + label[1:]
    if term.kind is ItemKind.PREDICATE:
        label = label[0].lower() + label[1:]
    return f"<{label}{suffix}>"


def is_listing_required(term: NamedNode | Literal, *, as_object: bool = False) -> bool:
    """Return whether a query may use a term only if it is listed.

    A string of two lowercase letters is free as a language tag, but not as the object of a pattern.
    """
    if isinstance(term, NamedNode):
        return _shorten(term.value) not in ALWAYS_ALLOWED
    if _is_tag(term):
        return as_object
    is_free = _shorten(term.datatype.value) in [f"xsd:{local}" for local in FREE_DATATYPES]
    return not is_free and not _is_bare(term)


def _shorten(iri: str) -> str:
    """Return the short name of an IRI of RDF, RDFS or XML Schema; any other IRI as it is."""
    for prefix, namespace in _NAMESPACES.items():
        if iri.startswith(namespace):
            return f"{prefix}:{iri.removeprefix(namespace)}"
    return iri


def _is_tag(literal: Literal) -> bool:
    is_text = literal.datatype.value == XSD_STRING
    return is_text and re.fullmatch("[a-z]{2}", literal.value) is not None


def _is_bare(literal: Literal) -> bool:
    """Return whether the value without quotation marks is read as this literal."""
    unsigned = Literal(re.sub("^[+-]", "", literal.value), datatype=literal.datatype)
    return not to_text(unsigned).startswith('"')


def _to_sparql(term: ListedTerm) -> str:
    return term.target if term.kind is ItemKind.VALUE else f"<{term.target}>"


def list_required_terms(query: str) -> tuple[tuple[ItemKind, str], ...]:
    """Return the terms that must be listed for a query, in order and without duplicates.

    A target is an IRI, or a literal as N-Triples text. The object of `rdf:type` is a class.

    Raises:
        QuerySyntaxError: the query cannot be read.
    """
    tree = parse_tree(query)
    patterns = [node for node in walk(tree) if isinstance(node, Pattern)]
    class_nodes = {
        pattern.object for pattern in patterns if pattern.predicate == NamedNode(RDF_TYPE)
    }
    objects = {pattern.object for pattern in patterns}
    required_terms: dict[tuple[ItemKind, str], None] = {}

    def list_parts(node: object) -> tuple[object, ...]:
        match node:
            case Path():
                return ()
            case Pattern(predicate=NamedNode() as predicate):
                return (node.subject, Path("", (predicate,)), node.object)
        return get_children(node)

    for node in walk(tree, into=list_parts):
        match node:
            case Path():
                for part in walk(node):
                    if isinstance(part, NamedNode) and is_listing_required(part):
                        required_terms[ItemKind.PREDICATE, part.value] = None
            case NamedNode(value=iri) if is_listing_required(node):
                kind = ItemKind.CLASS if node in class_nodes else ItemKind.ENTITY
                required_terms[kind, iri] = None
            case Literal() if is_listing_required(node, as_object=node in objects):
                required_terms[ItemKind.VALUE, str(node)] = None
    return tuple(required_terms)


def parse_literal_text(target: str) -> str:
    """Return the text of a literal in N-Triples."""
    pattern = parse_tree(f"ASK {{ ?s ?p {target} }}").where.elements[0]
    literal = pattern.object if isinstance(pattern, Pattern) else None
    return literal.value if isinstance(literal, Literal) else target
