"""The check of conditions that no solution can meet, whatever the graph holds."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.validation import (
    Finding,
    Kind,
    Knowledge,
    PredicateUse,
    Proposal,
    Sorts,
    Subject,
    place_of,
)
from askgraph.answers.validation._blocks import Block, block_of, walk
from askgraph.answers.validation._inference import Atom, Env
from askgraph.answers.verbalize.conditions import split_condition
from askgraph.sparql import Call, Expression, Filter
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import language_chain
from askgraph.sparql.serializer import text_of

__all__ = ["filters"]

_CHECKED = 0.9  # some stores compare what SPARQL does not


def filters(subject: Subject, /) -> Iterator[Finding]:
    """Give the filters that compare what cannot be equal: other types, languages, or bounds."""
    if subject.tree is None:
        return
    for block, env, _ in walk(block_of(subject.tree, subject.services)):
        for one, reason in contradictions(block.filters):
            yield _finding(one, reason, (), subject, sure=1.0)
        if block.known is None:
            continue
        values = _Values(block, env, block.known)
        for one in block.filters:
            for reason, forms in values.reasons(one.condition):
                sure = _CHECKED * block.known.complete
                yield _finding(one, reason, forms, subject, sure=sure)


def _finding(
    one: Filter, reason: str, forms: Sequence[Literal], subject: Subject, *, sure: float
) -> Finding:
    return Finding(
        Kind.FILTER,
        reason,
        None if one.span is None else place_of(subject.text, one.span),
        text_of(one.condition),
        tuple(Proposal(text_of(form)) for form in forms),
        sure,
    )


Reason = tuple[str, tuple[Literal, ...]]


@dataclass(frozen=True)
class _Values:
    """What is known of the values of a block's variables."""

    block: Block
    env: Env
    known: Knowledge

    def reasons(self, condition: Expression) -> Iterator[Reason]:
        """Why a condition never holds; nothing if it may."""
        for one in split_condition(condition, "&&"):
            match one:
                case Call(name="||"):
                    all_reasons = [list(self.reasons(part)) for part in split_condition(one, "||")]
                    if all(all_reasons):
                        yield all_reasons[0][0]
                case Call(name="IN", arguments=(Variable() as left, *members)) if members:
                    found = [
                        list(self.typed(left, "=", member)) if isinstance(member, Literal) else []
                        for member in members
                    ]
                    if all(found):
                        yield found[0][0]
                case _ if comparison := _comparison(one):
                    yield from self.compared(*comparison)

    def compared(self, left: Expression, name: str, right: Literal) -> Iterator[Reason]:
        match left:
            case Variable():
                yield from self.typed(left, name, right)
            case Call(name="LANG", arguments=(Variable() as variable,)) if name == "=":
                tags = self.languages(variable)
                wanted = right.value.lower()
                if tags and wanted not in {tag.lower() for tag in tags}:
                    shown = ", ".join(sorted(tags)[:5])
                    said = f"no value of {variable} is in the language {right.value!r}"
                    yield f"{said}: there are {shown}", tuple(map(Literal, sorted(tags)[:3]))

    def typed(self, variable: Variable, name: str, literal: Literal) -> Iterator[Reason]:
        sorts = self.datatypes(variable)
        if sorts is None:
            return
        own = literal.datatype.value
        if not any(_comparable(one, own) for one in sorts):
            forms = fitting(literal, sorts, frozenset())
            yield f"no value of {variable} can be compared with {text_of(literal)}", forms
        elif name == "=" and own == v.XSD_STRING and sorts == {v.RDF_LANG_STRING}:
            forms = fitting(literal, sorts, self.languages(variable))
            yield (
                f"the values of {variable} have a language tag, {text_of(literal)} has none",
                forms,
            )

    def datatypes(self, variable: Variable) -> Sorts | None:
        """The datatypes of a variable; None if it may be something else."""
        sorts = self.env.get(variable.value)
        if sorts is None or not sorts or sorts & self.known.classes.keys() or "" in sorts:
            return None
        literal = {one for use in self.uses(variable) for one in use.datatypes}
        return sorts if sorts <= literal else None

    def languages(self, variable: Variable) -> frozenset[str]:
        """The language tags that values of a variable may have; empty if that is not known."""
        uses = list(self.uses(variable))
        if not uses or any(not use.languages for use in uses):
            return frozenset()
        tags = frozenset[str]().union(*(use.languages for use in uses))
        return tags | {""} if any(use.datatypes - {v.RDF_LANG_STRING} for use in uses) else tags

    def uses(self, variable: Variable) -> Iterator[PredicateUse]:
        for atom in self.block.atoms:
            if isinstance(atom, Atom) and atom.object == variable:
                for step in atom.steps:
                    if not step.inverse and step.predicate in self.known.predicates:
                        yield self.known.predicates[step.predicate]


TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_ANEW = re.compile(r"\b(?:RAND|UUID|STRUUID|BNODE)\(")  # give another value at each call


@dataclass(frozen=True)
class _Bound:
    """A condition `value operator number`."""

    value: str
    operator: str
    number: Decimal
    shown: str

    @property
    def text(self) -> str:
        return f"{self.operator} {self.shown}"


def contradictions(filters: Iterable[Filter]) -> Iterator[tuple[Filter, str]]:
    """Yield the filters that leave no number to a value which others bound, and why.

    All filters are of one group and hold together. Of a value only the first contradiction
    is reported.
    """
    tightest: dict[tuple[str, bool], _Bound] = {}
    told: set[str] = set()
    for one in filters:
        for bound in _bounds(one.condition):
            # `<` bounds from above, `>` from below, and `=` does both.
            for below in (True, False) if bound.operator == "=" else (bound.operator[0] == "<",):
                other = tightest.get((bound.value, not below))
                if other and bound.value not in told and _exclude(bound, other, below=below):
                    told.add(bound.value)
                    yield one, f"{bound.value} cannot be {other.text} and {bound.text}"
                known = tightest.get((bound.value, below))
                if known is None or _is_tighter(bound, known, below=below):
                    tightest[bound.value, below] = bound


def _comparison(condition: Expression) -> tuple[Expression, str, Literal] | None:
    """What a condition compares with a value, and how; None if it is no comparison."""
    match condition:
        case Call(name=name, arguments=(left, Literal() as right)) if name in TURNED:
            return left, name, right
        case Call(name=name, arguments=(Literal() as left, right)) if name in TURNED:
            return right, TURNED[name], left
    return None


def _bounds(condition: Expression) -> Iterator[_Bound]:
    for left, name, right in filter(None, map(_comparison, split_condition(condition, "&&"))):
        number = _number(right)
        if number is not None and isinstance(left, Variable | Call):
            text = text_of(left)
            if not _ANEW.search(text):
                yield _Bound(text, name, number, text_of(right))


def _number(literal: Literal) -> Decimal | None:
    if literal.datatype.value not in v.NUMERIC_DATATYPES:
        return None
    try:
        number = Decimal(literal.value)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _exclude(bound: _Bound, other: _Bound, *, below: bool) -> bool:
    low, high = (other, bound) if below else (bound, other)
    strict = high.operator == "<" or low.operator == ">"
    return low.number > high.number or (strict and low.number == high.number)


def _is_tighter(bound: _Bound, known: _Bound, *, below: bool) -> bool:
    if bound.number == known.number:
        return bound.operator in ("<", ">")
    return (bound.number < known.number) == below


_TEXTS = frozenset({v.RDF_LANG_STRING, v.XSD_STRING})
_TIMES = v.DATE_DATATYPES | {v.XSD_TIME, v.XSD_DURATION, v.XSD_G_MONTH, v.XSD_G_DAY}


def fitting(
    literal: Literal, datatypes: frozenset[str], languages: frozenset[str]
) -> tuple[Literal, ...]:
    """Return the literals of the same text that have one of the datatypes, the likeliest first.

    Numbers stay if the text is one; of the languages, English and no other comes first.
    """
    found: list[Literal] = []
    for datatype in sorted(datatypes, key=lambda one: (one not in _TEXTS, one)):
        if datatype == v.RDF_LANG_STRING:
            tag = literal.language or ""
            order = [*language_chain([tag, "en"]), *sorted(languages)]
            tags = [one for one in dict.fromkeys(order) if one in languages]
            found += [Literal(literal.value, language=one) for one in tags[:3]]
        elif datatype == v.XSD_STRING:
            found.append(Literal(literal.value))
        else:
            found += _typed(literal.value, datatype)
    kind = _kind(literal.datatype.value)
    ordered = sorted(found, key=lambda one: _kind(one.datatype.value) != kind)
    return tuple(one for one in ordered if one != literal)


def _comparable(first: str, second: str) -> bool:
    """Whether values of two datatypes can be compared; unknown datatypes with all."""
    kinds = _kind(first), _kind(second)
    return kinds[0] == kinds[1] or "" in kinds


def _typed(text: str, datatype: str) -> Iterator[Literal]:
    literal = Literal(text, datatype=NamedNode(datatype))
    if datatype in v.NUMERIC_DATATYPES:
        try:
            number = float(text)
        except ValueError:
            return
        if datatype in v.INTEGER_DATATYPES and not number.is_integer():
            return
        whole = datatype in v.INTEGER_DATATYPES and not text.lstrip("+-").isdigit()
        yield Literal(str(int(number)), datatype=NamedNode(datatype)) if whole else literal
    elif datatype == v.XSD_BOOLEAN:
        if text in ("true", "false", "0", "1"):
            yield literal
    else:
        yield literal


def _kind(datatype: str) -> str:
    if datatype in v.NUMERIC_DATATYPES:
        return "number"
    if datatype in _TEXTS:
        return "text"
    if datatype in _TIMES:
        return datatype if datatype not in v.DATE_DATATYPES else "date"
    return "boolean" if datatype == v.XSD_BOOLEAN else ""
