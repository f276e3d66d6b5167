"""One fault planted in a sound query: a name, a direction or a datatype that it did not have."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from pyoxigraph import Literal, NamedNode

from askgraph.answers.validation import Knowledge
from askgraph.sparql import Group, Nested, Pattern, Query, Span, Union
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.parser import read
from askgraph.sparql.write import text_of

__all__ = ["FAULTS", "Planted", "planted"]

FAULTS = ("predicate", "direction", "class", "datatype", "typo")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Planted:
    """A query with a fault, and what was right; `fits` where the schema allows what it says now."""

    query: str
    right: str
    fits: bool = False


def planted(query: str, kind: str, known: Knowledge, chance: Random) -> Planted | None:
    """Return the query with a fault of a kind; None where it has no place for one."""
    patterns = [one for one in _patterns(read(query)) if one.spans]
    match kind:
        case "predicate":
            return _predicate(query, patterns, known, chance)
        case "direction":
            return _direction(query, patterns, known, chance)
        case "class":
            return _class(query, patterns, known, chance)
        case "datatype":
            return _datatype(query, patterns, chance)
        case _:
            return _typo(query, patterns, known, chance)


def _patterns(part: object) -> Iterator[Pattern]:
    """The patterns that are put to the graph itself, those of denials and filters left out."""
    match part:
        case Pattern():
            yield part
        case Query(where=where):
            yield from _patterns(where)
        case Group(elements=parts) | Union(groups=parts):
            for one in parts:
                yield from _patterns(one)
        case Nested(word="" | "GRAPH" | "OPTIONAL", group=group):
            yield from _patterns(group)


def _plain(patterns: list[Pattern], known: Knowledge) -> list[Pattern]:
    return [
        one
        for one in patterns
        if isinstance(one.predicate, NamedNode)
        and one.predicate.value != voc.RDF_TYPE
        and one.predicate.value in known.predicates
    ]


def _classes(patterns: list[Pattern]) -> list[Pattern]:
    kind = NamedNode(voc.RDF_TYPE)
    return [one for one in patterns if one.predicate == kind and isinstance(one.object, NamedNode)]


def _put(query: str, span: Span, text: str) -> str:
    return query[: span[0]] + text + query[span[1] :]


def _predicate(
    query: str, patterns: list[Pattern], known: Knowledge, chance: Random
) -> Planted | None:
    places = _plain(patterns, known)
    if not places:
        return None
    one = chance.choice(places)
    assert isinstance(one.predicate, NamedNode)
    right = one.predicate.value
    other = chance.choice([iri for iri in known.predicates if iri not in (right, voc.RDF_TYPE)])
    use, was = known.predicates[other], known.predicates[right]
    fits = bool(use.subjects & was.subjects - {""}) or use.subjects_told < 1
    return Planted(_put(query, one.spans[1], f"<{other}>"), right, fits)


def _direction(
    query: str, patterns: list[Pattern], known: Knowledge, chance: Random
) -> Planted | None:
    places = [one for one in _plain(patterns, known) if not isinstance(one.object, Literal)]
    if not places:
        return None
    one = chance.choice(places)
    assert isinstance(one.predicate, NamedNode)
    right = one.predicate.value
    use = known.predicates[right]
    fits = bool(use.subjects & use.objects) or use.subjects_told < 1 or use.objects_told < 0.75
    written = query[one.spans[1][0] : one.spans[1][1]]
    return Planted(_put(query, one.spans[1], f"^{written}"), right, fits or bool(use.datatypes))


def _class(query: str, patterns: list[Pattern], known: Knowledge, chance: Random) -> Planted | None:
    places = [one for one in _classes(patterns) if len(known.classes) > 1]
    if not places:
        return None
    one = chance.choice(places)
    assert isinstance(one.object, NamedNode)
    others = sorted(iri for iri in known.classes if iri != one.object.value)
    other = chance.choice(others)
    asked = [p for p in _plain(patterns, known) if p.subject == one.subject]
    uses = [
        known.predicates[p.predicate.value] for p in asked if isinstance(p.predicate, NamedNode)
    ]
    fits = all(other in use.subjects or use.subjects_told < 1 for use in uses)
    return Planted(_put(query, one.spans[2], f"<{other}>"), one.object.value, fits)


def _datatype(query: str, patterns: list[Pattern], chance: Random) -> Planted | None:
    places = [one for one in patterns if isinstance(one.object, Literal)]
    if not places:
        return None
    one = chance.choice(places)
    literal = one.object
    assert isinstance(literal, Literal)
    if literal.datatype.value == voc.RDF_LANG_STRING:
        wrong = Literal(literal.value)
    elif literal.datatype.value == voc.XSD_STRING:
        wrong = Literal(literal.value, language="xx")
    else:
        wrong = Literal(literal.value)
    return Planted(_put(query, one.spans[2], str(wrong)), text_of(literal))


def _typo(query: str, patterns: list[Pattern], known: Knowledge, chance: Random) -> Planted | None:
    spans = [(one.predicate, one.spans[1]) for one in _plain(patterns, known)]
    spans += [(one.object, one.spans[2]) for one in _classes(patterns)]
    if not spans:
        return None
    term, span = chance.choice(spans)
    assert isinstance(term, NamedNode)
    start = max(term.value.rfind(mark) for mark in "#/:") + 1
    local = term.value[start:]
    if len(local) < 4:
        return None
    at = chance.randrange(len(local) - 1)
    letter = chance.choice(_LETTERS)
    wrong = chance.choice(
        [
            local[:at] + local[at + 1 :],
            local[:at] + letter + local[at:],
            local[:at] + local[at + 1] + local[at] + local[at + 2 :],
            local[:at] + letter + local[at + 1 :],
        ]
    )
    iri = term.value[:start] + wrong
    if iri in known.predicates or iri in known.classes:
        return None
    return Planted(_put(query, span, f"<{iri}>"), term.value)
