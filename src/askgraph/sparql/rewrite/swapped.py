"""Terms at their places in a query, and the query with one in place of another, else as it was.

Triples are also turned the other way round, as a model that mixes up their ends meant them: the
error and its name are D'Abramo's (arXiv 2407.01409, section 4.4), who asks the model for such
queries; here they are made without one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count, islice

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.sparql import Bind, Call, Filter, Group, Pattern, Query, children, transform, walk
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import Edit, edited, lexed, unescaped
from askgraph.sparql.parser import WrittenTerm, parse_query
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.vocabulary import RDF_TYPE

_IRI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]+')
_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_DAY = r"-?\d{4,9}-\d\d-\d\d"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BARE = re.compile(r"[+-]?(?:\d+|\d*\.\d+|(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)")
_FORMS = {
    v.XSD_DATE: (re.compile(_DAY + _ZONE), "a date, like 1969-07-20"),
    v.XSD_DATE_TIME: (
        re.compile(rf"{_DAY}T\d\d:\d\d:\d\d(?:\.\d+)?{_ZONE}"),
        "a date and time, like 1969-07-20T20:17:00Z",
    ),
    v.XSD_G_YEAR: (re.compile(rf"-?\d{{4,9}}{_ZONE}"), "a year, like 1969"),
    v.XSD_G_YEAR_MONTH: (re.compile(rf"-?\d{{4,9}}-\d\d{_ZONE}"), "a month, like 1969-07"),
    v.XSD_BOOLEAN: (re.compile("true|false"), "true or false"),
}
_ESCAPES = {"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def swapped(
    query: str,
    old: NamedNode | Literal,
    new: str,
    *,
    prefixes: PrefixMap,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Return the query with another term wherever `old` stands.

    `new` is an IRI in place of an IRI, and the text of a value in place of a literal, whose
    language or datatype stays. An IRI is written short if the query or `prefixes` have a prefix
    for it, which is then declared. `labels` (IRI -> label) are what comments on the same lines call
    the two. Raises `QueryError` if the query does not hold `old`, or if `new` is no IRI, or
    no value of that kind.
    """
    text = unescaped(query)
    terms = parse_query(text, prefixes.namespaces).terms
    places = [one for one in terms if one.term == old]
    if not places:
        raise QueryError(f"the query does not hold {old}: take one of its parts")
    if isinstance(old, NamedNode):
        return _with_iri(text, places, _iri(new), prefixes, labels or {})
    value = _value(new, old)
    return edited(text, [_written(text, place, value) for place in places])


def _iri(text: str) -> str:
    bare = text.strip()
    if not _IRI.fullmatch(bare):
        raise QueryError(f"{bare!r} is no IRI: give one in full, as http://example.org/Mars")
    return bare


def _with_iri(
    query: str,
    places: Sequence[WrittenTerm],
    new: str,
    prefixes: PrefixMap,
    labels: Mapping[str, str],
) -> str:
    declared = lexed(query).declared
    known = PrefixMap({**prefixes.own, **declared})
    short = known.shorten(new)
    edits = [(place.start, place.end, short) for place in places]
    old = places[0].term.value
    if old in labels and new in labels:
        edits += _comments(query, places, labels[old], labels[new])
    text = edited(query, sorted(edits))
    prefix = "" if short.startswith("<") else short.partition(":")[0]
    if short.startswith("<") or prefix in declared:
        return text
    return f"PREFIX {prefix}: <{known.namespaces[prefix]}>\n{text}"


def _comments(query: str, places: Sequence[WrittenTerm], old: str, new: str) -> Iterator[Edit]:
    """The label of the old term by that of the new one, in comments on its lines."""
    lines = {query.count("\n", 0, place.start) for place in places}
    called = re.compile(rf"(?<!\w){re.escape(' '.join(old.split()))}(?!\w)")
    for token in lexed(query).all:
        if token.kind == "comment" and query.count("\n", 0, token.start) in lines:
            text = called.sub(lambda _: " ".join(new.split()), token.text)
            yield token.start, token.end, text


def _value(text: str, old: Literal) -> str:
    """The text of a new value of the kind of the old one."""
    datatype = old.datatype.value
    bare = text if datatype in (v.XSD_STRING, v.RDF_LANG_STRING) else text.strip()
    if datatype in v.INTEGER_DATATYPES and not re.fullmatch(r"[+-]?\d+", bare):
        if not _NUMBER.fullmatch(bare) or datatype != v.XSD_INTEGER:
            raise QueryError(f"{text!r} is no whole number: give one, like 12")
    elif datatype in v.NUMERIC_DATATYPES and not _NUMBER.fullmatch(bare):
        raise QueryError(f"{text!r} is no number: give one, like 12 or 3.5")
    if datatype == v.XSD_DATE_TIME and re.fullmatch(_DAY, bare):
        bare += "T00:00:00"
    form, meant = _FORMS.get(datatype, (None, ""))
    if form is not None and not form.fullmatch(bare):
        raise QueryError(f"{text!r} does not fit: give {meant}")
    return bare


def _written(query: str, place: WrittenTerm, value: str) -> Edit:
    """A new value in the way the old one is written: in its quotation marks, or without any."""
    quote = query[place.start]
    if quote in "\"'":
        width = 3 if query[place.start : place.start + 3] == quote * 3 else 1
        escapes = {**_ESCAPES, quote: "\\" + quote}
        body = "".join(escapes.get(letter, letter) for letter in value)
        return place.start, place.value_end, quote * width + body + quote * width
    return place.start, place.end, value if _is_bare(value) else f"{value.rstrip('.')}.0"


def _is_bare(value: str) -> bool:
    return value in ("true", "false") or bool(_BARE.fullmatch(value))


_MOST = 12  # triples that are flipped at all


def flipped(query: Query, *, limit: int = 15) -> Iterator[Query]:
    """Give the query with one triple flipped, then with two, and so on, at most `limit` queries.

    Left as they are: triples with a literal, and those that say what a thing is.
    """
    places = range(min(_MOST, sum(map(_may_flip, walk(query.where, into=_inside)))))
    chosen = (some for number in places for some in combinations(places, number + 1))
    for some in islice(chosen, limit):
        yield replace(query, where=_with_flips(query.where, some))


def _with_flips(where: Group, chosen: Sequence[int]) -> Group:
    numbers = count()

    def change(node: object) -> object:
        if isinstance(node, Pattern) and _may_flip(node) and next(numbers) in chosen:
            return replace(node, subject=node.object, object=node.subject)
        return node

    changed: Group = transform(where, change, enter=_holds_triples)
    return changed


def _may_flip(node: object) -> bool:
    if not isinstance(node, Pattern):
        return False
    kind = isinstance(node.predicate, NamedNode) and node.predicate.value == RDF_TYPE
    return not kind and not isinstance(node.object, Literal)


def _holds_triples(node: object) -> bool:
    """Whether a part is of the patterns, and not of a condition or an expression."""
    return not isinstance(node, Filter | Bind | Call)


def _inside(node: object) -> tuple[object, ...]:
    return children(node) if _holds_triples(node) else ()
