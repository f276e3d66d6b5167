"""Short references for the terms of a query, so that a model cannot use any other terms.

>>> from askgraph.index.names import Kind
>>> from askgraph.methods.writing import ListedTerm
>>> from askgraph.methods.writing.references import References
>>> references = References(
...     [
...         ListedTerm(Kind.ENTITY, "http://example.org/Jupiter", "Jupiter"),
...         ListedTerm(Kind.PREDICATE, "http://example.org/orbits", "orbits"),
...     ]
... )
>>> references.encode_query("SELECT ?moon { ?moon <http://example.org/orbits> ?planet }")
'SELECT ?v0 WHERE { ?v0 P1 ?v1 . }'
>>> references.decode_query("SELECT ?v0 WHERE { ?v0 P1 E1 . }")
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
from askgraph.index.names import ItemKind
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing._tree_rewriting import TermMapping, fix_variables, map_terms
from askgraph.sparql import Pattern, Term, walk
from askgraph.sparql.lexer import Token, tokenize
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

REFERENCES, PLAIN, NAMES = FORMS = ("references", "plain", "names")
"""Forms of terms in a query; see `References`."""

SEPARATOR = ", "
"""Separator of values in GROUP_CONCAT, whatever the query uses."""

_KIND_LETTERS = {
    ItemKind.ENTITY: "E",
    ItemKind.CLASS: "C",
    ItemKind.PREDICATE: "P",
    ItemKind.VALUE: "V",
}
_NAMESPACES = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD}
_W3C_NAMESPACE = "http://www.w3.org/"
_REFERENCE = re.compile(r"[ECPV][1-9][0-9]*")
_NUMBER = re.compile(r"[+-]?(?:\d+|\d*\.\d+|(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)")
_TAG = re.compile(r'"[a-z]{2}"')
_TERM_PLACEHOLDER = re.compile(r"<ref:(\d+)>")
_FORBIDDEN_IN_NAME = re.compile(r'[<>"{}|^`\\\x00-\x20]+')
_SEPARATOR_VALUE = re.compile(r'(?<=; SEPARATOR=)"(?:[^"\\]|\\.)*"')


class UnlistedTermError(QuerySyntaxError):
    """A query uses an unlisted `term`: the IRI, literal or reference, as written."""

    def __init__(self, term: str) -> None:
        super().__init__(f"{term} is not listed, and a query may name only what is")
        self.term = term


@dataclass(frozen=True)
class References:
    """Listed terms, each with its reference: the letter of its kind and a number, from 1 on.

    E is an entity, C a class, P a predicate, V a value. A term listed twice keeps its first
    reference; an IRI may have one of each kind. The `form` determines how queries write a term: as
    its reference; in the plain form as its full IRI or literal, so that the query is valid SPARQL;
    or in the form of names as its label, such as `<body_builder>` or `"Mars"`, numbered if two are
    alike, which a small model can copy from a question.
    """

    terms: Sequence[ListedTerm]
    form: str = REFERENCES

    @property
    def is_plain(self) -> bool:
        """Whether queries are valid SPARQL for an endpoint."""
        return self.form == PLAIN

    @cached_property
    def by_name(self) -> dict[str, ListedTerm]:
        """Listed terms by reference, in the order listed."""
        unique_terms = dict[tuple[ItemKind, str], ListedTerm]()
        for term in self.terms:
            unique_terms.setdefault((term.kind, term.target), term)
        counts = dict.fromkeys(ItemKind, 0)
        terms_by_name: dict[str, ListedTerm] = {}
        for term in unique_terms.values():
            counts[term.kind] += 1
            terms_by_name[f"{_KIND_LETTERS[term.kind]}{counts[term.kind]}"] = term
        return terms_by_name

    def list_names(self, kind: ItemKind) -> tuple[str, ...]:
        """Return the references of one kind."""
        return tuple(name for name, term in self.by_name.items() if term.kind is kind)

    def render_name(self, name: str) -> str:
        """Return the text in a query for a reference or a name of RDF, RDFS or XML Schema."""
        if self.form == NAMES:
            return self._texts_by_name.get(name, name)
        if not self.is_plain:
            return name
        if name in self.by_name:
            return _to_sparql(self.by_name[name])
        prefix, _, local = name.partition(":")
        return f"<{_NAMESPACES[prefix]}{local}>"

    def encode_query(self, query: str, *, keep_variables: Collection[str] = ()) -> str:
        """Return a SELECT or ASK query with references, in one layout, its variables numbered.

        Numbers, times, two-letter language tags in quotation marks and the terms in
        `ALWAYS_ALLOWED` stay as they are.

        Args:
            keep_variables: variables that keep their names.

        Raises:
            UnlistedTermError: the query uses any other term.
            QuerySyntaxError: the query cannot be read or has an unsupported form.
        """
        tree = fix_variables(parse_tree(query))
        texts = list[str]()

        def add_placeholder(text: str) -> NamedNode:
            texts.append(text)
            return NamedNode(f"ref:{len(texts) - 1}")

        def replace_term(node: Term) -> Term:
            match node:
                case NamedNode():
                    return add_placeholder(
                        self._name_iri(
                            node.value, ItemKind.ENTITY, ItemKind.CLASS, ItemKind.PREDICATE
                        )
                    )
                case Literal():
                    return add_placeholder(self._name_literal(node))
                case _:
                    return node

        def replace_predicate(iri_node: NamedNode) -> NamedNode:
            return add_placeholder(self._name_iri(iri_node.value, ItemKind.PREDICATE))

        text: str = to_text(
            map_terms(tree, TermMapping(replace_predicate, replace_term, _shorten_cast))
        )
        text = _SEPARATOR_VALUE.sub(f'"{SEPARATOR}"', text)
        rendered_names = [
            self._texts_by_name.get(name, name) if self.form == NAMES else name for name in texts
        ]
        text = number_variables(
            _TERM_PLACEHOLDER.sub(lambda match: rendered_names[int(match[1])], text),
            keep_variables=keep_variables,
        )
        return self._expand_text(text) if self.is_plain else text

    def decode_query(self, text: str, prefixes: Mapping[str, str] | None = None) -> str:
        """Return the SPARQL query for a text with references, with full IRIs.

        Small errors in the use of variables are fixed (`methods.writing._tree_rewriting`). A plain
        query may use `prefixes`, any literal, and any term of the W3C.

        Raises:
            UnlistedTermError: the text uses a reference or term that is not listed.
            QuerySyntaxError: the text cannot be read.
        """
        if not self.is_plain:
            return to_text(fix_variables(parse_tree(self._expand_text(text), {})))
        query: str = to_text(fix_variables(parse_tree(text, prefixes or {})))
        listed_targets = {term.target for term in self.terms}
        for kind, target in list_required_terms(query):
            if (
                kind is not ItemKind.VALUE
                and target not in listed_targets
                and not target.startswith(_W3C_NAMESPACE)
            ):
                raise UnlistedTermError(f"<{target}>")
        return query

    def _expand_text(self, text: str) -> str:
        tokens = tokenize(text).tokens
        pieces, at = list[str](), 0
        for number, token in enumerate(tokens):
            pieces += [text[at : token.start], self._expand_token(token, tokens, number)]
            at = token.start + len(token.text)
        return "".join(pieces) + text[at:]

    @cached_property
    def _texts_by_name(self) -> dict[str, str]:
        """Texts of references in the form of names, all different."""
        text_by_name: dict[str, str] = {}
        used_texts: set[str] = set()
        for name, term in self.by_name.items():
            texts = (_render_label(term, number) for number in count(1))
            text_by_name[name] = next(text for text in texts if text not in used_texts)
            used_texts.add(text_by_name[name])
        return text_by_name

    @cached_property
    def _terms_by_text(self) -> dict[str, ListedTerm]:
        texts = self._texts_by_name.items() if self.form == NAMES else ()
        return {text: self.by_name[name] for name, text in texts}

    @cached_property
    def _names_by_target(self) -> dict[tuple[ItemKind, str], str]:
        return {(term.kind, term.target): name for name, term in self.by_name.items()}

    def _name_iri(self, iri: str, *kinds: ItemKind) -> str:
        for kind in kinds:
            if name := self._names_by_target.get((kind, iri)):
                return name
        for prefix, namespace in _NAMESPACES.items():
            short = f"{prefix}:{iri.removeprefix(namespace)}"
            if iri.startswith(namespace) and short in ALWAYS_ALLOWED:
                return short
        raise UnlistedTermError(f"<{iri}>")

    def _name_literal(self, literal: Literal) -> str:
        if name := self._names_by_target.get((ItemKind.VALUE, str(literal))):
            return name
        text = to_text(literal)
        kind = literal.datatype.value
        local = kind.removeprefix(XSD)
        if _is_tag(literal):
            return text
        if text in ("true", "false") or _is_bare(literal):
            return literal.value
        if kind == XSD + local and local in FREE_DATATYPES:
            return f"{Literal(literal.value)}^^xsd:{local}"
        raise UnlistedTermError(text)

    def _expand_token(self, token: Token, tokens: Sequence[Token], at: int) -> str:
        """Return the text of a token's term; raise `UnlistedTermError` if it is not allowed."""
        match token.kind:
            case "iri" | "string" if token.text in self._terms_by_text:
                return _to_sparql(self._terms_by_text[token.text])
            case "word" if _REFERENCE.fullmatch(token.text):
                if token.text not in self.by_name:
                    raise UnlistedTermError(token.text)
                return _to_sparql(self.by_name[token.text])
            case "pname":
                prefix, _, local = token.text.partition(":")
                if token.text not in ALWAYS_ALLOWED and (
                    prefix != "xsd" or local not in CAST_DATATYPES
                ):
                    raise UnlistedTermError(token.text)
                return f"<{_NAMESPACES[prefix]}{local}>"
            case "iri" | "language":
                raise UnlistedTermError(token.text)
            case "string" if not _is_free(token, tokens, at):
                raise UnlistedTermError(token.text)
        return token.text


def _render_label(term: ListedTerm, number: int) -> str:
    """Return a term by its label, with a number from the second one on."""
    suffix = f"_{number}" if number > 1 else ""
    if term.kind is ItemKind.VALUE:
        return str(Literal(parse_literal_text(term.target) + suffix))
    label = _FORBIDDEN_IN_NAME.sub("_", term.label).strip("_") or term.kind.name.lower()
    if term.kind is ItemKind.CLASS:
        label = label[0].upper() + label[1:]
    if term.kind is ItemKind.PREDICATE:
        label = label[0].lower() + label[1:]
    return f"<{label}{suffix}>"


def is_listing_required(term: NamedNode | Literal, *, as_object: bool = False) -> bool:
    """Return whether a query may use a term only if it is listed.

    A string of two lowercase letters is free as a language tag, but not as the object of a pattern.
    """
    empty_references = References(())
    try:
        match term:
            case NamedNode():
                empty_references._name_iri(term.value)
            case Literal():
                empty_references._name_literal(term)
                return as_object and _is_tag(term)
    except UnlistedTermError:
        return True
    return False


def number_variables(text: str, *, keep_variables: Collection[str] = ()) -> str:
    """Return a query with its variables renamed to `?v0`, `?v1` … in order of appearance."""
    return "".join(_split_with_new_names(text, keep_variables))


def _split_with_new_names(text: str, keep_variables: Collection[str]) -> Iterator[str]:
    names = {name: f"?{name}" for name in keep_variables}
    at = 0
    for token in tokenize(text).all_tokens:
        if token.kind == "variable":
            yield text[at : token.start]
            yield names.setdefault(token.text[1:], f"?v{len(names) - len(keep_variables)}")
            at = token.start + len(token.text)
    yield text[at:]


def _shorten_cast(iri: str) -> str:
    local = iri.removeprefix("<").removesuffix(">").removeprefix(XSD)
    if local not in CAST_DATATYPES:
        raise UnlistedTermError(iri)
    return f"xsd:{local}"


def _is_tag(literal: Literal) -> bool:
    return literal.datatype.value == XSD_STRING and bool(_TAG.fullmatch(f'"{literal.value}"'))


def _is_bare(literal: Literal) -> bool:
    """Return whether the value without quotation marks is read as this literal."""
    if not _NUMBER.fullmatch(literal.value):
        return False
    digits = literal.value.lower()
    kind = "double" if "e" in digits else "decimal" if "." in digits else "integer"
    return literal.datatype.value == XSD + kind


def _to_sparql(term: ListedTerm) -> str:
    return term.target if term.kind is ItemKind.VALUE else f"<{term.target}>"


def _is_free(token: Token, tokens: Sequence[Token], at: int) -> bool:
    """Return whether a string needs no listing: a separator, language tag, number or time."""
    after = [token_nearby.text for token_nearby in tokens[at + 1 : at + 3]]
    if after[:1] == ["^^"]:
        return any(after[1:] == [f"xsd:{local}"] for local in FREE_DATATYPES)
    if [token_nearby.text.upper() for token_nearby in tokens[max(at - 2, 0) : at]] == [
        "SEPARATOR",
        "=",
    ]:
        return token.text == f'"{SEPARATOR}"'
    return bool(_TAG.fullmatch(token.text))


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

    def collect_predicate(iri: NamedNode) -> NamedNode:
        if is_listing_required(iri):
            required_terms[ItemKind.PREDICATE, iri.value] = None
        return iri

    def collect_term(node: Term) -> Term:
        match node:
            case NamedNode(value=iri) if is_listing_required(node):
                required_terms[ItemKind.CLASS if node in class_nodes else ItemKind.ENTITY, iri] = (
                    None
                )
            case Literal() if is_listing_required(node, as_object=node in objects):
                required_terms[ItemKind.VALUE, str(node)] = None
        return node

    map_terms(tree, TermMapping(collect_predicate, collect_term))
    return tuple(required_terms)


def collect_required_terms(queries: Iterable[str]) -> frozenset[tuple[ItemKind, str]]:
    """Return the terms that must be listed for some queries; skip unreadable queries."""
    required_terms: set[tuple[ItemKind, str]] = set()
    for query in queries:
        with suppress(QuerySyntaxError):
            required_terms.update(list_required_terms(query))
    return frozenset(required_terms)


def parse_literal_text(target: str) -> str:
    """Return the text of a literal in N-Triples."""
    pattern = parse_tree(f"ASK {{ ?s ?p {target} }}").where.elements[0]
    literal = pattern.object if isinstance(pattern, Pattern) else None
    return literal.value if isinstance(literal, Literal) else target
