"""Columns of any query that answer the question; the others are context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QueryError
from askgraph.graph.measures import is_unit_like
from askgraph.graph.profile import Profile
from askgraph.search.rank.expected import Expected
from askgraph.sparql import (
    AGGREGATES,
    Bind,
    Call,
    Expression,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    variables_of,
    walk,
)
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import LABEL_PREDICATES, NUMERIC_DATATYPES, RDF_TYPE
from askgraph.sparql.write import tree_of

_KEEPING = frozenset(["MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "STR", "COALESCE", "LCASE", "UCASE"])


@dataclass(frozen=True)
class Step:
    """One predicate from a thing to a value or another thing, whichever way it was written."""

    source: Term
    predicate: str
    target: Term


@dataclass(frozen=True)
class Made:
    """What a column is made of: variables of patterns, and whether something is computed of them.

    `aggregate` is the aggregate that gives it, empty for none.
    """

    variables: frozenset[str]
    aggregate: str = ""
    computed: bool = False


@dataclass(frozen=True)
class QueryColumns:
    """A query read for its columns; `steps` are those of all its groups but what it rules out."""

    query: Query
    steps: tuple[Step, ...]
    bound: tuple[tuple[str, Expression], ...]

    def made(self, column: str) -> Made:
        """What a column is made of, through BIND and sub-selects."""
        return self._made(Variable(column), {})

    @cached_property
    def _expressions(self) -> dict[str, Expression]:
        return dict(self.bound)

    def _made(self, value: Expression, known: dict[str, Made]) -> Made:
        """What an expression is made of; of each variable that is asked only once."""
        if isinstance(value, Variable):
            name = value.value
            if name not in known:
                known[name] = Made(frozenset([name]))  # ends a name that leads to itself
                if (inner := self._expressions.get(name)) is not None:
                    known[name] = self._made(inner, known)
            return known[name]
        if not isinstance(value, Call):
            return Made(frozenset(), computed=True)
        called = value.name.split()[0]
        parts = [
            self._made(part, known) for part in value.arguments if isinstance(part, Variable | Call)
        ]
        variables = frozenset(name for part in parts for name in part.variables)
        within = next((part.aggregate for part in parts if part.aggregate), "")
        computed = called not in _KEEPING or any(part.computed for part in parts)
        return Made(variables, called if called in AGGREGATES else within, computed)

    def into(self, variable: str) -> Iterator[Step]:
        """The steps that end in a variable."""
        return (step for step in self.steps if step.target == Variable(variable))

    def classes(self, variable: str) -> frozenset[str]:
        """The classes that a variable is said to be of."""
        return frozenset(
            step.target.value
            for step in self.steps
            if step.predicate == RDF_TYPE
            and step.source == Variable(variable)
            and isinstance(step.target, NamedNode)
        )

    @cached_property
    def chooses_extreme(self) -> bool:
        """Whether anything in it can keep the first or the greatest: LIMIT, MIN, MAX, negation."""
        return any(_chooses(part) for part in walk(self.query))

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether one column can hold several sorts of things."""
        return any(
            isinstance(part, Union)
            or (
                isinstance(part, Pattern)
                and (isinstance(part.predicate, Variable) or _has_alternatives(part.predicate))
            )
            or (isinstance(part, Call) and part.name in ("GROUP_CONCAT", "CONCAT", "COALESCE"))
            for part in walk(self.query)
        )

    @cached_property
    def kept_for(self) -> frozenset[str]:
        """The variables by which it sorts, or which its conditions name."""
        conditions = [p.condition for p in walk(self.query) if isinstance(p, Filter)]
        used = (*(value for value, _ in self.query.order), *self.query.having, *conditions)
        return frozenset(name.value for value in used for name in variables_of(value))


@lru_cache(maxsize=256)
def columns_of(query: str) -> QueryColumns:
    """Read a query for its columns; raises `QuerySyntaxError` if it cannot be read."""
    tree = tree_of(query)
    parts = list(walk(tree))
    bound = [(part.variable.value, part.value) for part in parts if isinstance(part, Bind)]
    for part in parts:
        if isinstance(part, Query):
            bound += [(name.value, value) for name, value in part.columns if value is not None]
            bound += [(name.value, value) for value, name in part.group_by if name is not None]
    steps = [
        step
        for number, part in enumerate(_said(tree.where))
        for step in _steps(part.subject, part.predicate, part.object, f"__{number}")
    ]
    return QueryColumns(tree, tuple(steps), tuple(bound))


def _said(group: Group) -> Iterator[Pattern]:
    """The patterns that hold of a solution."""
    for element in group.elements:
        match element:
            case Pattern():
                yield element
            case Nested(word="MINUS"):
                continue
            case Nested():
                yield from _said(element.group)
            case Union():
                for inner in element.groups:
                    yield from _said(inner)
            case Query():
                yield from _said(element.where)
            case _:
                continue


def _steps(source: Term, predicate: Predicate, target: Term, name: str) -> Iterator[Step]:
    match predicate:
        case NamedNode():
            yield Step(source, predicate.value, target)
        case Path(operator="^"):
            yield from _steps(target, predicate.parts[0], source, name)
        case Path(operator="/"):
            ends = [Variable(f"{name}_{at}") for at in range(len(predicate.parts) - 1)]
            places = [source, *ends, target]
            for at, part in enumerate(predicate.parts):
                yield from _steps(places[at], part, places[at + 1], f"{name}_{at}")
        case Path(operator="!"):
            return
        case Path():
            for at, part in enumerate(predicate.parts):
                yield from _steps(source, part, target, f"{name}_{at}")
        case _:
            return


def _has_alternatives(predicate: Predicate) -> bool:
    return isinstance(predicate, Path) and (
        predicate.operator == "|" or any(map(_has_alternatives, predicate.parts))
    )


def _chooses(part: object) -> bool:
    match part:
        case Query():
            return part.limit is not None
        case Nested():
            return part.word == "MINUS"
        case Call():
            return part.name.split()[0] in ("MIN", "MAX") or part.name in ("NOT EXISTS", "EXISTS")
        case _:
            return False


_LABEL_SUFFIX = "Label"
"""Ends ?cityLabel of the label service, which no pattern binds."""


def answer_columns_of(
    expected: Expected, query: str, result: SelectResult, profile: Profile
) -> tuple[str, ...]:
    """Return the columns that answer, in the order of the result; all if nothing can be told.

    Labels of things that are shown are context unless names are asked for; the things are, if a
    property, a date or a count of theirs is asked for, unless it is "for each". Nodes that only
    hold others together (n-ary) and what is only sorted or filtered by are context, too. A node
    without a name that tells the unit of a number answers with it.
    """
    if len(result.variables) < 2:
        return result.variables
    try:
        columns = columns_of(query)
    except QueryError:
        return result.variables
    return _Chooser(expected, columns, result.variables, profile).chosen()


class _Chooser:
    def __init__(
        self, expected: Expected, columns: QueryColumns, shown: Sequence[str], profile: Profile
    ) -> None:
        self.expected, self.columns, self.profile = expected, columns, profile
        self.shown = tuple(shown)
        self.made = {name: columns.made(name) for name in shown}
        self.naming = {p.iri for p in profile.predicates if p.naming} | set(LABEL_PREDICATES)
        self.nary = {cls.iri for cls in profile.classes if cls.nary}
        self.ranges = {
            p.iri: frozenset(cls for cls, _ in p.object_classes) for p in profile.predicates
        }
        nameless = {cls.iri for cls in profile.classes if cls.name_predicate is None}
        self.measured = nameless & {
            cls for p in profile.predicates if is_unit_like(p) for cls, _ in p.subject_classes
        }
        self.numeric = {
            p.iri for p in profile.predicates if {n for n, _ in p.datatypes[:1]} & NUMERIC_DATATYPES
        }
        self.domains = {
            p.iri: frozenset(cls for cls, _ in p.subject_classes) for p in profile.predicates
        }

    def chosen(self) -> tuple[str, ...]:
        labels = {name: owner for name in self.shown if (owner := self.owner(name)) is not None}
        if self.expected.names:
            context = set(labels.values())
        else:
            context = {name for name in labels if not self.has_asked_property(name)}
        left = self.without(self.shown, context)
        left = self.without(left, (name for name in left if self.is_node(name)))
        return self.with_measurements(self.narrowed(left))

    def with_measurements(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names, and the nodes that tell in what unit a number among them is given."""
        steps = [step for name in names for step in self.steps(name)]
        sources = {str(one.source)[1:] for one in steps if one.predicate in self.numeric}
        return tuple(
            name
            for name in self.shown
            if name in names or (name in sources and self.classes(name) & self.measured)
        )

    def without(self, names: Sequence[str], context: Iterable[str]) -> tuple[str, ...]:
        """The names without some; all of them if none would be left."""
        dropped = set(context)
        return tuple(name for name in names if name not in dropped) or tuple(names)

    def owner(self, name: str) -> str | None:
        """The column whose label a column is."""
        if name.endswith(_LABEL_SUFFIX) and not list(self.columns.into(name)):
            thing = name.removesuffix(_LABEL_SUFFIX)
            return thing if thing in self.shown else None
        made = self.made[name]
        if made.computed:
            return None
        for variable in made.variables:
            for step in self.columns.into(variable):
                source = step.source
                if step.predicate in self.naming and isinstance(source, Variable):
                    owner = next((n for n in self.shown if self.is_thing(n, source)), None)
                    if owner is not None and owner != name:
                        return owner
        return None

    def is_thing(self, name: str, thing: Variable) -> bool:
        """Whether a column holds a thing itself, which no count or other sum of things does."""
        made = self.made[name]
        return made.variables == {thing.value} and not (made.computed or made.aggregate)

    def is_node(self, name: str) -> bool:
        """Whether a column holds nodes that only hold others together, and are not asked for."""
        classes = self.classes(name)
        return bool(classes) and classes <= self.nary and not classes & set(self.expected.listed)

    def classes(self, name: str) -> frozenset[str]:
        """The classes that the things in a column are of, as far as the query or graph tells."""
        made = self.made[name]
        if made.computed or len(made.variables) != 1:
            return frozenset()
        [variable] = made.variables
        if said := self.columns.classes(variable):
            return said
        found: list[frozenset[str]] = []
        for step in self.columns.steps:
            if step.predicate == RDF_TYPE:
                continue
            if step.target == Variable(variable):
                found.append(self.ranges.get(step.predicate, frozenset()))
            if step.source == Variable(variable):
                found.append(self.domains.get(step.predicate, frozenset()))
        known = [classes for classes in found if classes]
        return frozenset.intersection(*known) if known else frozenset()

    def narrowed(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Of several columns, those that the question names."""
        expected = self.expected
        if len(names) < 2 or (expected.columns or 0) >= len(names) or expected.again:
            return names
        asked = [name for name in names if self.is_asked(name)]
        numbers = [name for name in names if self.made[name].aggregate]
        if numbers and (expected.grouped or expected.counted):
            alone = expected.nouns == 1 and not expected.grouped
            return tuple(numbers) if alone else names  # "for each X the number": both
        if expected.kind == "when" and (values := [n for n in names if self.is_literal(n)]):
            return names if expected.grouped else tuple(values)
        if asked and len(asked) >= expected.nouns:
            return tuple(asked)
        if expected.nouns > 1 and len(listed := self.not_owning(names, asked)) == expected.nouns:
            return listed
        left = self.without(names, (name for name in names if self.only_keeps(name)))
        return self.not_owning(left, asked)

    def not_owning(self, names: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
        """The names without things that are not asked for, and whose properties are shown."""
        return self.without(
            names, (name for name in names if name not in asked and self.owns(name, names))
        )

    def has_asked_property(self, name: str) -> bool:
        """Whether a column holds values of a property that the question names."""
        return any(step.predicate in self.expected.listed for step in self.steps(name))

    def steps(self, name: str) -> list[Step]:
        """The steps that end in what a column is made of."""
        return [step for one in self.made[name].variables for step in self.columns.into(one)]

    def is_asked(self, name: str) -> bool:
        """Whether a column holds what the head noun, or one listed with it, may mean."""
        if self.made[name].aggregate == "COUNT" and not self.expected.counted:
            return False
        if self.has_asked_property(name):
            return True
        if self.expected.names and any(step.predicate in self.naming for step in self.steps(name)):
            return True
        return bool(self.classes(name) & set(self.expected.listed))

    def owns(self, name: str, names: Sequence[str]) -> bool:
        """Whether values in other columns are properties of the things in this one."""
        made = self.made[name]
        others = [other for other in names if other != name and self.is_literal(other)]
        sources = {str(step.source)[1:] for other in others for step in self.steps(other)}
        return not made.computed and bool(made.variables & sources)

    def is_literal(self, name: str) -> bool:
        """Whether a column holds values of properties that lead to no things."""
        steps = self.steps(name)
        return bool(steps) and not any(self.ranges.get(step.predicate) for step in steps)

    def only_keeps(self, name: str) -> bool:
        """Whether a column is only what the rows are sorted, or chosen, by."""
        made = self.made[name]
        kept = name in self.columns.kept_for or bool(made.variables & self.columns.kept_for)
        return kept and (bool(made.aggregate) or self.is_literal(name))
