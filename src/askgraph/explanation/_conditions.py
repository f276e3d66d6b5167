"""Filters as conditions on one variable, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.explanation._names import Phrases
from askgraph.rdf.vocabulary import DATE_DATATYPES, NUMERIC_DATATYPES
from askgraph.sparql.tree import Call, Expression

_LISTED = 5  # values that are named one by one
_COMPARISONS = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_TRANSPARENT = frozenset(["STR", "LCASE", "UCASE", "IRI", "URI"])
_TESTS = {
    "BOUND": "bound",
    "ISIRI": "resource",
    "ISURI": "resource",
    "ISLITERAL": "literal",
    "ISNUMERIC": "number value",
}
_TEXT = {"CONTAINS": "contains", "STRSTARTS": "starts", "STRENDS": "ends"}


@dataclass(frozen=True)
class Condition:
    """What a variable must be: a phrase's key, and the words to fill in."""

    variable: Variable
    key: str
    value: str


def unwrapped(expression: Expression) -> Expression:
    """Return what an expression is about: without STR, LCASE, casts to a datatype."""
    while isinstance(expression, Call) and len(expression.arguments) == 1:
        is_cast = expression.name.startswith("<") and "XMLSchema#" in expression.name
        if expression.name not in _TRANSPARENT and not is_cast:
            break
        expression = expression.arguments[0]
    return expression


def condition_on(
    expression: Expression, words: Callable[[Expression], str], phrases: Phrases
) -> Condition | None:
    """Return a filter as a condition on its one variable; None if it is no such thing.

    `words` puts the other side of a comparison into words.
    """
    match expression:
        case Call(name=name, arguments=(left, right)) if name in _COMPARISONS:
            return _comparison(name, left, right, words)
        case Call(name="IN" | "NOT IN" as name, arguments=(left, *items)):
            return _membership(name, left, items, any_of(items, words, phrases))
        case Call(name="||") if len(items := _alternatives(expression)) > _LISTED:
            return _membership("IN", _first_side(expression), items, any_of(items, words, phrases))
        case Call(name="||" | "&&" as name, arguments=(left, right)):
            parts = [condition_on(part, words, phrases) for part in (left, right)]
            return _joined(parts, phrases, "or" if name == "||" else "and")
        case Call(name="!", arguments=(inner,)):
            return _negated(condition_on(inner, words, phrases), phrases)
        case Call(name=name, arguments=(subject, *rest)):
            return _test(name, unwrapped(subject), rest, words)
        case _:
            return None


def any_of(
    items: Sequence[Expression], words: Callable[[Expression], str], phrases: Phrases
) -> str:
    """Return values as `a, b or c`; many of them by their number, with the least and the most."""
    if len(items) <= _LISTED:
        return phrases.listed([words(item) for item in items], "or")
    ordered = _in_order([unwrapped(item) for item in items])
    if ordered:
        return phrases.say("one of", len(items), words(ordered[0]), words(ordered[-1]))
    shown = phrases.listed([words(item) for item in items[:2]])
    return phrases.say("one of many", len(items), shown)


def conditions_text(conditions: Iterable[Condition], phrases: Phrases) -> str:
    """Return the conditions on one variable as one phrase; two bounds as a range."""
    found = list(conditions)
    for low, high in ((">=", "<="), ("date >=", "date <=")):
        least = next((c for c in found if c.key == low), None)
        most = next((c for c in found if c.key == high), None)
        if least and most:
            found = [c for c in found if c is not least and c is not most]
            found.append(Condition(least.variable, "between", f"{least.value}\0{most.value}"))
    found = _years(found)
    return phrases.listed([_said(condition, phrases) for condition in found])


def _in_order(terms: Sequence[Expression]) -> list[Literal]:
    """Dates or numbers from the least to the most; none if there is anything else."""
    literals = [term for term in terms if isinstance(term, Literal)]
    kinds = {literal.datatype.value for literal in literals}
    if len(literals) == len(terms) and kinds <= DATE_DATATYPES:
        return sorted(literals, key=lambda literal: literal.value)
    if len(literals) == len(terms) and kinds <= NUMERIC_DATATYPES:
        return sorted(literals, key=lambda literal: float(literal.value))
    return []


def _years(conditions: list[Condition]) -> list[Condition]:
    """Bounds at the turns of years as those years: `is in 1969`."""
    first = next((c for c in conditions if c.key == "date >=" and c.value[4:] == "-01-01"), None)
    end = next((c for c in conditions if c.key == "date <" and c.value[4:] == "-01-01"), None)
    if first is None or end is None or not (first.value[:4] + end.value[:4]).isdigit():
        return conditions
    rest = [c for c in conditions if c is not first and c is not end]
    start, last = int(first.value[:4]), int(end.value[:4]) - 1
    if start == last:
        return [*rest, Condition(first.variable, "year =", str(start))]
    return [*rest, Condition(first.variable, "between", f"{start}\0{last}")]


def _said(condition: Condition, phrases: Phrases) -> str:
    if condition.key == "said":
        return condition.value
    return phrases.say(condition.key, *condition.value.split("\0"))


def _comparison(
    name: str, left: Expression, right: Expression, words: Callable[[Expression], str]
) -> Condition | None:
    if isinstance(unwrapped(left), Literal | NamedNode):
        left, right, name = right, left, _COMPARISONS[name]
    subject = unwrapped(left)
    other = unwrapped(right)
    match subject:
        case Variable():
            dated = isinstance(other, Literal) and other.datatype.value in DATE_DATATYPES
            key = f"date {name}" if dated and name not in ("=", "!=") else name
            return Condition(subject, key, words(other))
        case Call(name="YEAR", arguments=(inner,)) if isinstance(unwrapped(inner), Variable):
            key = f"year {name}" if name in ("=", "!=") else f"date {name}"
            return Condition(_variable(inner), key, words(other))
        case Call(name="LANG", arguments=(Variable() as inner,)) if name == "=":
            return Condition(inner, "language", _bare(other, words))
        case Call(name="DATATYPE", arguments=(Variable() as inner,)) if name == "=":
            return Condition(inner, "datatype", words(other))
        case _:
            return None


def _variable(expression: Expression) -> Variable:
    found = unwrapped(expression)
    assert isinstance(found, Variable)
    return found


def _bare(expression: Expression, words: Callable[[Expression], str]) -> str:
    return expression.value if isinstance(expression, Literal) else words(expression)


def _membership(
    name: str, left: Expression, items: Sequence[Expression], values: str
) -> Condition | None:
    subject = unwrapped(left)
    if not isinstance(subject, Variable):
        return None
    few, many = ("in", "=") if name == "IN" else ("not in", "!=")
    return Condition(subject, few if len(items) <= _LISTED else many, values)


def _equals(expression: Expression) -> Iterator[Expression]:
    """The parts of alternatives: `a || b || c`."""
    match expression:
        case Call(name="||", arguments=(left, right)):
            yield from _equals(left)
            yield from _equals(right)
        case _:
            yield expression


def _alternatives(expression: Expression) -> list[Expression]:
    """The values of `?x = 1 || ?x = 2 || …`; none if it is anything else."""
    values: list[Expression] = []
    for part in _equals(expression):
        match part:
            case Call(name="=", arguments=(left, Literal() | NamedNode() as value)):
                if left != _first_side(expression):
                    return []
                values.append(value)
            case _:
                return []
    return values


def _first_side(expression: Expression) -> Expression:
    first = next(_equals(expression))
    return first.arguments[0] if isinstance(first, Call) and first.arguments else first


def _joined(parts: list[Condition | None], phrases: Phrases, word: str) -> Condition | None:
    first, second = parts
    if first is None or second is None or first.variable != second.variable:
        return None
    if word == "or" and first.key == second.key:
        value = phrases.say("or", first.value, second.value)
        return Condition(first.variable, first.key, value)
    if word == "and":
        return Condition(first.variable, "said", conditions_text([first, second], phrases))
    text = phrases.say(word, _said(first, phrases), _said(second, phrases))
    return Condition(first.variable, "said", text)


def _negated(condition: Condition | None, phrases: Phrases) -> Condition | None:
    if condition is None:
        return None
    opposite = {
        "=": "!=",
        "!=": "=",
        "contains": "contains not",
        "bound": "unbound",
        "in": "not in",
    }
    if condition.key in opposite:
        return Condition(condition.variable, opposite[condition.key], condition.value)
    return Condition(condition.variable, "said", phrases.say("not", _said(condition, phrases)))


def _test(
    name: str,
    subject: Expression,
    rest: list[Expression],
    words: Callable[[Expression], str],
) -> Condition | None:
    """A function that is true or false of its first argument."""
    match subject:
        case Variable() if name in _TESTS:
            return Condition(subject, _TESTS[name], "")
        case Variable() if name in _TEXT and rest:
            return Condition(subject, _TEXT[name], words(unwrapped(rest[0])))
        case Variable() if name == "REGEX" and rest:
            return _pattern(subject, unwrapped(rest[0]), words)
        case Call(name="LANG", arguments=(Variable() as inner,)) if name == "LANGMATCHES" and rest:
            return Condition(inner, "language", _bare(unwrapped(rest[0]), words))
        case _:
            return None


def _pattern(
    subject: Variable, pattern: Expression, words: Callable[[Expression], str]
) -> Condition:
    """A regular expression; a mere text in it as such."""
    if not isinstance(pattern, Literal):
        return Condition(subject, "matches", words(pattern))
    plain = re.fullmatch(r"(\^?)((?:[\w\s,;:'/-]|\\.)*)(\$?)", pattern.value)
    if not plain or (plain[1] and plain[3]):
        return Condition(subject, "matches", words(pattern))
    key = "starts" if plain[1] else "ends" if plain[3] else "contains"
    return Condition(subject, key, words(Literal(re.sub(r"\\(.)", r"\1", plain[2]))))
