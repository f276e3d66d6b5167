"""Failure of a question: one class, the first that holds, in the order of `Failure`.

First come the outcomes without a result to judge. Then both queries are compared as they are
written, by their parts (`Parts`): what was linked, how it was joined, what was done with
it. So a query that says the same in other words, by another but equivalent predicate say, may get a
class that a person would not give; it has one only if its score is below 1.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pyoxigraph import Variable

from askgraph import errors
from askgraph.errors import QueryError, ServiceError, TimedOut
from askgraph.evaluation import Score
from askgraph.evaluation.reports.query_walk import Found, Triple, digests
from askgraph.sparql.lexer import lexed
from askgraph.sparql.read import read
from askgraph.sparql.tree import Term, variables_of

Join = tuple[str, str, str]  # subject, predicate, object, a variable by its place in the query
Use = tuple[str, tuple[str, ...]]  # an operator and the variables that it is given


@dataclass(frozen=True)
class Parts:
    """The parts of a query, so that two can be compared whatever their variables are called.

    Left out is what only serves to show a result: patterns that fetch a label, conditions on a
    language tag, SERVICE groups without variables, DISTINCT of the whole result, and the order of
    patterns. An order of rows is no operator if none is cut off, only a use. Some ways to say the
    same are one part: `FILTER(?x = :Mars)` and `:Mars` in the place of `?x`, MINUS and NOT EXISTS,
    `&&` and two filters, a pattern and its repeat.

    `things` are entities and values in patterns, `constants` the literals in expressions, such as
    bounds. `classes` are those that something is said to be an instance of; as such a pattern is
    often implied by another one, it is not among the joins. `aside` are the predicates that only
    fetch a value which is no column and stands in no other pattern; `operands` those that only
    fetch one for an operator. `joins` are the patterns with a digest for each variable, which is
    equal if a variable stands in the same patterns and is or is not a column;
    `joins_undirected` are those without the direction, `joins_bare` those without the columns.
    `uses` say what each operator is given.
    """

    form: str
    columns: int
    things: frozenset[str]
    predicates: frozenset[str]
    classes: frozenset[str]
    constants: frozenset[str]
    operators: frozenset[str]
    aside: frozenset[str]
    operands: frozenset[str]
    joins: tuple[Join, ...]
    joins_undirected: tuple[Join, ...]
    joins_bare: tuple[Join, ...]
    uses: tuple[Use, ...]

    @property
    def words(self) -> frozenset[str]:
        """All that a question is linked to: things, constants, predicates and classes."""
        return self.things | self.constants | self.predicates | self.classes


def parts_of(query: str, prefixes: Mapping[str, str] | None = None) -> Parts:
    """Return the parts of a query, which may use `prefixes` without declaring them.

    Raises `QuerySyntaxError` if it cannot be read.
    """
    missing = (prefixes or {}).keys() - lexed(query).declared.keys()
    header = "".join(f"PREFIX {name}: <{(prefixes or {})[name]}>\n" for name in sorted(missing))
    tree = read(header + query)
    found = Found()
    found.take(tree)
    named = {v for v in variables_of(tree.where) if not v.value.startswith("__")}  # no blank nodes
    columns = frozenset(variables_of(tree.columns)) if tree.columns else frozenset(named)
    answering = columns if tree.form == "SELECT" else frozenset()
    shown = {_shown(*column) for column in tree.columns} or named
    patterns = found.with_fixed(shown if tree.form == "SELECT" else set())
    return Parts(
        form=tree.form,
        columns=len(tree.columns or named) if tree.form == "SELECT" else 0,
        things=frozenset(found.things),
        predicates=frozenset(found.predicates),
        classes=frozenset(found.classes),
        constants=frozenset(found.constants),
        operators=frozenset(found.operators),
        aside=_only_fetching(patterns) - {p for _, p, value in patterns if value in shown},
        operands=_only_fetching(patterns) & {p for _, p, value in patterns if value in found.given},
        joins=_joins(patterns, digests(patterns, marked=answering)),
        joins_undirected=_undirected(
            _joins(patterns, digests(patterns, marked=answering, directed=False))
        ),
        joins_bare=_joins(patterns, digests(patterns)),
        uses=_uses(found.uses, digests(patterns)),
    )


def _shown(variable: Variable, expression: object) -> Variable:
    """Return the variable whose values a column shows as they are, else its own name."""
    return expression if isinstance(expression, Variable) else variable


def _only_fetching(patterns: Sequence[Triple]) -> frozenset[str]:
    """Return the predicates whose object is always a variable that stands in no other pattern."""
    ends = Counter(term for subject, _, value in patterns for term in (subject, value))
    joining = {p for _, p, o in patterns if not isinstance(o, Variable) or ends[o] > 1}
    return frozenset(p for _, p, _ in patterns) - joining


def _joins(patterns: Sequence[Triple], names: Mapping[Term, str]) -> tuple[Join, ...]:
    return tuple(sorted((names[s], predicate, names[o]) for s, predicate, o in patterns))


def _undirected(joins: Sequence[Join]) -> tuple[Join, ...]:
    return tuple(sorted((min(s, o), predicate, max(s, o)) for s, predicate, o in joins))


def _uses(
    uses: Sequence[tuple[str, tuple[Variable, ...]]], names: Mapping[Term, str]
) -> tuple[Use, ...]:
    """What operators are given; a variable of no pattern, such as a count's, has no name."""
    return tuple(
        sorted((operator, tuple(names.get(v, "") for v in given)) for operator, given in uses)
    )


RIGHT = 1 - 1e-9


class Failure(StrEnum):
    """The classes, in the order in which they are tried."""

    GOLD = "gold failed"  # no gold result to compare with
    REFUSED = "refused"
    ASKED_BACK = "asked back"
    TIMEOUT = "timeout"  # of the method, or of the answer's query
    ENDPOINT = "endpoint"  # down, overloaded, an error instead of a result
    UNREADABLE = "unreadable query"
    ERROR = "error"  # all other errors, and an answer without a query
    ANSWERED = "answered though unanswerable"
    LINKING = "no linking"  # nothing of gold's entities, values, predicates, classes
    ENTITY = "wrong entity"  # an entity or value of gold is missing
    PREDICATE = "wrong predicate"  # one of gold is missing, and no operator or column explains it
    DIRECTION = "wrong direction"  # the same patterns, subject and object swapped somewhere
    OPERATOR = "wrong operator"  # aggregate, limit, filter, negation, …, or what one is given
    SHAPE = "wrong shape"  # ASK for SELECT or the reverse, or other columns
    CLASS = "wrong class"  # a class of gold is missing, and it is no matter of joins
    EMPTY = "empty"  # no rows, and none of the above
    PATTERN = "other patterns"  # the same things, otherwise joined; or other conditions
    RESULT = "wrong result"  # nothing to compare: no gold query, or the queries are alike


OUTCOMES = {"refusal": Failure.REFUSED, "clarification": Failure.ASKED_BACK}
UNTOLD = (Failure.PATTERN, Failure.RESULT)  # these say less than that there are no rows


def failure_of(
    predicted_sparql: str | None,
    gold_sparql: str | None,
    *,
    status: str,
    error: str | None,
    scores: Mapping[str, Score],
    rows: int | None,
    gold_rows: int | None,
    executed: bool,
    metric: str = "best_column",
    unanswerable: bool = False,
    gold_error: str | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> str | None:
    """Return the class of what went wrong, None if the score of the metric is 1.

    `rows` and `gold_rows` count the rows of both results, None if unknown; `error` is as a
    record has it: the name of the error, a colon, its text. `prefixes` are those that the queries
    use without declaring them.
    """
    score = scores.get(metric)
    if score is not None and score.f1 >= RIGHT:
        return None
    if gold_error and gold_rows is None:
        return Failure.GOLD
    if status in OUTCOMES:
        return OUTCOMES[status]
    if error is not None:
        return _of_error(error)
    if unanswerable:
        return Failure.ANSWERED
    if predicted_sparql is None or status == "error":
        return Failure.ERROR
    ran = executed or rows is not None
    found = _of_queries(predicted_sparql, gold_sparql if ran else None, prefixes)
    if not ran:
        return Failure.UNREADABLE if found is Failure.UNREADABLE else Failure.ERROR
    return Failure.EMPTY if found in UNTOLD and rows == 0 != gold_rows else found


def _of_error(error: str) -> Failure:
    """Return the class of an error by its name; a timeout of the method is told in words."""
    kind = getattr(errors, error.partition(":")[0], None)
    if error.startswith("no answer within") or kind is TimedOut:
        return Failure.TIMEOUT
    if kind is errors.QuerySyntaxError:
        return Failure.UNREADABLE
    if isinstance(kind, type) and issubclass(kind, ServiceError):
        return Failure.ENDPOINT
    return Failure.ERROR


def _of_queries(
    predicted_sparql: str, gold_sparql: str | None, prefixes: Mapping[str, str] | None
) -> Failure:
    try:
        predicted = parts_of(predicted_sparql, prefixes)
    except QueryError:
        return Failure.UNREADABLE
    try:
        gold = parts_of(gold_sparql, prefixes) if gold_sparql is not None else None
    except QueryError:
        return Failure.RESULT
    return Failure.RESULT if gold is None else _of_parts(predicted, gold)


def _of_parts(predicted: Parts, gold: Parts) -> Failure:
    known = predicted.things | predicted.constants
    entity = not gold.things <= known
    value = not gold.constants <= known and gold.operators == predicted.operators
    operator = predicted.operators != gold.operators
    shape = predicted.form != gold.form or predicted.columns != gold.columns
    kind = not gold.classes <= predicted.classes
    same = predicted.joins == gold.joins
    checks = (
        (_links_nothing(predicted, gold), Failure.LINKING),
        (entity or value, Failure.ENTITY),
        (_takes_another_predicate(predicted, gold, gap=operator or shape), Failure.PREDICATE),
        (not same and predicted.joins_undirected == gold.joins_undirected, Failure.DIRECTION),
        (operator, Failure.OPERATOR),
        (shape, Failure.SHAPE),
        (not same and predicted.joins_bare == gold.joins_bare, Failure.SHAPE),
        (not gold.predicates <= predicted.predicates, Failure.PREDICATE),
        (kind and (same or not predicted.classes <= gold.classes), Failure.CLASS),
        (not same, Failure.PATTERN),
        (predicted.uses != gold.uses, Failure.OPERATOR),
        (gold.words != predicted.words, Failure.PATTERN),
    )
    return next((failure for holds, failure in checks if holds), Failure.RESULT)


def _links_nothing(predicted: Parts, gold: Parts) -> bool:
    """Return whether the query has none of gold's words.

    If gold names nothing but predicates and classes, another one of these says more.
    """
    if gold.words & predicted.words:
        return False
    return bool(gold.things or gold.constants or (gold.words and not predicted.words))


def _takes_another_predicate(predicted: Parts, gold: Parts, *, gap: bool) -> bool:
    """Return whether a predicate of gold is missing for no other reason that shows.

    The other reasons: what it fetches is only operated on, and the operator is what is missing; or
    nothing stands in its place, and there is a `gap` if operators or columns differ.
    """
    missing = gold.predicates - predicted.predicates
    instead = predicted.predicates - gold.predicates
    if not instead:
        return bool(missing - gold.aside) and not gap
    operated = missing & gold.operands and instead & predicted.operands
    return bool(missing - gold.aside or operated) or (
        bool(missing) and predicted.operators == gold.operators
    )
