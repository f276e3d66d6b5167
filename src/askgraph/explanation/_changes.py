"""Small changes to a part of a query that nothing matches: what else may have been meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.explanation._conditions import unwrapped
from askgraph.rdf.vocabulary import (
    ALTERNATIVE_LABEL_PREDICATES,
    DATE_DATATYPES,
    LABEL_PREDICATES,
    NUMERIC_DATATYPES,
    RDF_TYPE,
    XSD_STRING,
)
from askgraph.sparql.tree import Call, Element, Filter, Nested, Path, Pattern

_TELLS_NOTHING = frozenset([RDF_TYPE, *LABEL_PREDICATES, *ALTERNATIVE_LABEL_PREDICATES])
_VALUE = Variable("ask_value")


@dataclass(frozen=True)
class Change:
    """What to say, and the elements to put in place of the one that nothing matches."""

    words: str
    elements: tuple[Element, ...]


@dataclass(frozen=True)
class Lookup:
    """A question to the graph: what stands where nothing matched, or the nearest value.

    `elements` are put in place, `variable` is asked for; `extreme` takes MAX or MIN of it, else the
    three most frequent values are taken, without `but`.
    """

    words: str
    elements: tuple[Element, ...]
    variable: Variable
    extreme: str = ""
    but: frozenset[str] = frozenset()


def changes_of(element: Element) -> Iterator[Change]:
    """Yield small changes to an element, the likeliest first; the last resort is to drop it."""
    match element:
        case Pattern():
            yield from _pattern_changes(element)
        case Filter():
            yield from _filter_changes(element)
            yield Change("without this condition", ())
        case Nested(word="MINUS"):
            yield Change("without taking anything away", ())
        case _:
            yield Change("without this part", ())


def lookup_of(element: Element) -> Lookup | None:
    """Return what to look up in the graph for an element that nothing matches."""
    match element:
        case Pattern(predicate=NamedNode() as predicate, object=NamedNode() as value) if (
            predicate.value == RDF_TYPE
        ):
            pattern = Pattern(element.subject, predicate, _VALUE)
            return Lookup("of the class {0}", (pattern,), _VALUE, but=frozenset([value.value]))
        case Pattern(predicate=NamedNode() as predicate):
            pattern = Pattern(element.subject, _VALUE, element.object)
            return Lookup(
                "with {0} instead of this predicate",
                (pattern,),
                _VALUE,
                but=_TELLS_NOTHING | {predicate.value},
            )
        case Filter(condition=Call(name=name, arguments=(left, right))):
            return _nearest(name, unwrapped(left), unwrapped(right))
        case _:
            return None


def _nearest(name: str, left: object, right: object) -> Lookup | None:
    """The largest or smallest value there is, if a comparison asks for more or less."""
    if isinstance(left, Literal) and isinstance(right, Variable):
        left, right = right, left
        name = name.translate(str.maketrans("<>", "><"))
    if not isinstance(left, Variable) or not _is_ordered(right):
        return None
    if name in (">", ">="):
        return Lookup("the highest value is {0}", (), left, extreme="MAX")
    if name in ("<", "<="):
        return Lookup("the lowest value is {0}", (), left, extreme="MIN")
    return None


def _is_ordered(term: object) -> bool:
    return isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES


def _pattern_changes(pattern: Pattern) -> Iterator[Change]:
    subject, predicate, value = pattern.subject, pattern.predicate, pattern.object
    if isinstance(value, Literal):
        found = Pattern(subject, predicate, _VALUE)
        text = Literal(value.value)
        if value.language or value.datatype.value != XSD_STRING:
            words = "with any language or datatype"
        else:
            words = "with a language tag or a datatype"
        yield Change(words, (found, _compare("STR", "=", text)))
        lowered = Literal(value.value.lower())
        yield Change(
            "with capitals and small letters alike", (found, _compare("LCASE", "=", lowered))
        )
        yield Change("with this text as a part", (found, _compare("LCASE", "CONTAINS", lowered)))
        return
    if not isinstance(subject, Literal):
        yield Change("in the other direction", (Pattern(value, predicate, subject),))
    is_type = isinstance(predicate, NamedNode) and predicate.value == RDF_TYPE
    if isinstance(predicate, NamedNode) and not is_type:
        steps = Path("+", (predicate,))
        yield Change("over several steps", (Pattern(subject, steps, value),))


def _compare(function: str, operator: str, text: Literal) -> Filter:
    inside: Call = Call("STR", (_VALUE,))
    left = inside if function == "STR" else Call(function, (inside,))
    return Filter(Call(operator, (left, text)))


def _filter_changes(condition: Filter) -> Iterator[Change]:
    """Equal texts by their characters alone; parts of texts whatever the case."""
    match condition.condition:
        case Call(name="=" | "IN", arguments=(left, Literal() as right)) if not _is_ordered(right):
            about = unwrapped(left)
            text, lowered = Literal(right.value), Literal(right.value.lower())
            plain = Call("STR", (about,))
            yield Change("with any language or datatype", (Filter(Call("=", (plain, text))),))
            lower = Call("LCASE", (plain,))
            words = "with capitals and small letters alike"
            yield Change(words, (Filter(Call("=", (lower, lowered))),))
            part = Filter(Call("CONTAINS", (lower, lowered)))
            yield Change("with this text as a part", (part,))
        case Call(name="CONTAINS" | "STRSTARTS" | "STRENDS" | "REGEX", arguments=(left, right, *_)):
            about = Call("LCASE", (Call("STR", (unwrapped(left),)),))
            if isinstance(right, Literal):
                inside = Call("CONTAINS", (about, Literal(right.value.lower())))
                yield Change("with this text anywhere, in any case", (Filter(inside),))
        case Call(name="=", arguments=(left, Literal() as right)):
            plain = Call("STR", (unwrapped(left),))
            beginning = Filter(Call("STRSTARTS", (plain, Literal(right.value))))
            yield Change("with values that start so", (beginning,))
