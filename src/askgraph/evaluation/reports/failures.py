"""Failure of a question: one class, the first that holds, in the order of `Failure`.

First come the outcomes without a result to judge. Then both queries are compared as they are
written, by their parts (`Parts`): what was linked, how it was joined, what was done with
it. So a query that says the same in other words, by another but equivalent predicate say, may get a
class that a person would not give; it has one only if its score is below 1.

Then the figures over records that are no mean scores: what failed, was held back, and cost.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean

from pyoxigraph import Variable

from askgraph import errors
from askgraph.errors import QueryError, ServiceError, TimedOut
from askgraph.evaluation.reports.confidence import Calibration, calibration
from askgraph.evaluation.reports.query_walk import Found, Triple, digests
from askgraph.evaluation.runs import REJECTED, Record
from askgraph.sparql import Term, variables_of
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import read
from askgraph.trace import Usage

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
    record: Record,
    *,
    gold_rows: int | None,
    metric: str = "best_column",
    prefixes: Mapping[str, str] | None = None,
) -> str | None:
    """Return the class of what went wrong, None if the score of the metric is 1.

    `gold_rows` counts the rows of gold, None if unknown. `prefixes` are those that the queries use
    without declaring them.
    """
    if is_right(record, metric):
        return None
    if record.gold_error and gold_rows is None:
        return Failure.GOLD
    if record.status in OUTCOMES:
        return OUTCOMES[record.status]
    if record.error is not None:
        kind = getattr(errors, record.error.partition(":")[0], None)
        if record.error.startswith("no answer within") or kind is TimedOut:
            return Failure.TIMEOUT
        if kind is errors.QuerySyntaxError:
            return Failure.UNREADABLE
        if isinstance(kind, type) and issubclass(kind, ServiceError):
            return Failure.ENDPOINT
        return Failure.ERROR
    if record.unanswerable:
        return Failure.ANSWERED
    if record.sparql is None or record.status == "error":
        return Failure.ERROR
    ran = record.executed or record.rows is not None
    found = _of_queries(record.sparql, record.gold_sparql if ran else None, prefixes)
    if not ran:
        return Failure.UNREADABLE if found is Failure.UNREADABLE else Failure.ERROR
    return Failure.EMPTY if found in UNTOLD and record.rows == 0 != gold_rows else found


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


@dataclass(frozen=True)
class Executable:
    """Counts of questions, of those with a query, and of those whose query ran."""

    questions: int
    queries: int
    ran: int

    @property
    def share(self) -> float | None:
        """The share of all questions whose query ran; `None` without questions."""
        return self.ran / self.questions if self.questions else None


@dataclass(frozen=True)
class Rejection:
    """Counts of wrong and right answers, and of those among them that were rejected."""

    wrong: int
    wrong_rejected: int
    right: int
    right_rejected: int

    @property
    def caught(self) -> float | None:
        """The share of the wrong answers that was rejected; `None` if none was wrong."""
        return self.wrong_rejected / self.wrong if self.wrong else None

    @property
    def lost(self) -> float | None:
        """The share of the right answers that was rejected; `None` if none was right."""
        return self.right_rejected / self.right if self.right else None


def rejection(answers: Iterable[tuple[bool, bool]]) -> Rejection:
    """Count answers, each given as (was it rejected, would it have been right)."""
    pairs = list(answers)
    wrong = [rejected for rejected, was_right in pairs if not was_right]
    right = [rejected for rejected, was_right in pairs if was_right]
    return Rejection(len(wrong), sum(wrong), len(right), sum(right))


DRAFTS = (1, 3, 5, 10, 20, 50)


def is_right(record: Record, metric: str) -> bool:
    """Return whether nothing of the answer is wrong or missing, by this metric."""
    return record.score(metric).f1 >= RIGHT


def has_failed(record: Record) -> bool:
    """Return whether the method, the answer's query or gold's query failed."""
    return record.status == "error" or bool(record.error or record.gold_error)


def failure_class(record: Record, metric: str) -> str | None:
    """Return the class of what went wrong by this metric, None if nothing did."""
    if is_right(record, metric):
        return None
    return record.failure or failure_of(replace(record, rows=None), gold_rows=None, metric=metric)


def failure_counts(records: Sequence[Record], metric: str) -> dict[str, int]:
    """Count the records of each class of failure, the most frequent first."""
    classes = Counter(kind for r in records if (kind := failure_class(r, metric)) is not None)
    return dict(sorted(classes.items(), key=lambda item: (-item[1], item[0])))


def errors_of(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """Return each error with the ids that it came up on, of gold's queries too; both sorted."""
    found: dict[str, set[str]] = {}
    for record in records:
        if record.error:
            found.setdefault(record.error, set()).add(record.id)
        if record.gold_error:
            found.setdefault(f"gold: {record.gold_error}", set()).add(record.id)
    return {error: tuple(sorted(found[error])) for error in sorted(found)}


def calibration_of(records: Sequence[Record], metric: str) -> Calibration:
    """Return how far confidence and score are apart, over the records with a query.

    A query for a question that has no answer scores 0, whether it was held back or not.
    """
    return calibration(
        [
            (record.confidence, 0.0 if record.unanswerable else record.score(metric).f1)
            for record in records
            if record.sparql is not None
        ]
    )


def rejection_of(records: Sequence[Record], metric: str) -> Rejection:
    """Return what refusing and asking back caught of the wrong answers, and lost of the right ones.

    Right is a score of 1. Any answer to a question that has none is wrong. Errors are left out:
    there was nothing to reject.
    """
    return rejection(
        (record.status in REJECTED, not record.unanswerable and is_right(record, metric))
        for record in records
        if record.status != "error"
    )


def executable_of(records: Sequence[Record]) -> Executable:
    """Return how many questions that have an answer got a query, and how many one that ran."""
    asked = [record for record in records if not record.unanswerable]
    ran = [record.executed for record in asked if record.sparql is not None]
    return Executable(len(asked), len(ran), sum(ran))


def usage_of(records: Sequence[Record]) -> Usage:
    """Return what all records cost together; the seconds are those from question to answer."""
    total = sum((record.usage for record in records), Usage())
    return replace(
        total,
        seconds=math.fsum(record.seconds for record in records),
        money=math.fsum(record.usage.money for record in records),
    )


def drafts_oracle(records: Sequence[Record]) -> dict[int, float]:
    """Return, for several k, the mean F1 (best column) of the best of the first k candidates.

    It is an oracle, not a system: it looks at gold to choose. A record without candidates counts 0.
    Empty if no candidates were scored; no k is larger than needed to reach all of them.
    """
    drafts = [record.drafts for record in records if not record.unanswerable]
    longest = max(map(len, drafts), default=0)
    counts = [k for k, before in zip(DRAFTS, (0, *DRAFTS), strict=False) if before < longest]
    return {k: fmean(max(found[:k], default=0.0) for found in drafts) for k in counts}
