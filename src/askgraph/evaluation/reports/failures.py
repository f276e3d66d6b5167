"""Failure class of a question: the first that applies, in the order of `Failure`.

Outcomes without a result come first. Then both queries are compared as written, by their parts
(`QueryParts`): linked terms, joins, operators. A query that uses an equivalent predicate, say, may
get a class that a person would not choose; only a score below 1 is a failure at all.

Also statistics over records that are not mean scores: failures, rejections and costs.
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
from askgraph.evaluation.reports.confidence import Calibration, compute_calibration
from askgraph.evaluation.reports.query_walk import QueryCollector, Triple, compute_digests
from askgraph.evaluation.runs import REJECTED_STATUSES, Record
from askgraph.sparql import Term, find_variables
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.trace import Usage

Join = tuple[str, str, str]  # subject, predicate, object, a variable by its place in the query
Use = tuple[str, tuple[str, ...]]  # an operator and its variables


@dataclass(frozen=True)
class QueryParts:
    """The parts of a query, comparable regardless of its variable names.

    Display-only parts are ignored: patterns that fetch a label, conditions on a language tag,
    SERVICE groups without variables, DISTINCT of the outer result, and the order of patterns. ORDER
    BY is an operator only with LIMIT or OFFSET, else just a use. Equivalent forms share a part:
    `FILTER(?x = :Mars)` and `:Mars` in the place of `?x`, MINUS and NOT EXISTS, `&&` and two
    filters, a pattern and its repeat.

    Attributes:
        things: Entities and values in patterns.
        classes: Objects of `rdf:type`; such a pattern is often implied by another one and is not
            among the joins.
        aside: Predicates that only fetch a value that is no column and occurs in no other pattern.
        operands: Predicates that only fetch a value for an operator.
        joins: Patterns with a digest for each variable, equal for variables in the same patterns
            and, both or neither, in a column.
        joins_bare: The joins without regard to columns.
    """

    form: str
    columns: int  # number of columns
    resources: frozenset[str]
    predicates: frozenset[str]  # predicates in patterns
    classes: frozenset[str]
    constants: frozenset[str]  # literals in expressions, such as bounds
    operators: frozenset[str]  # operators and functions
    unused_predicates: frozenset[str]
    operand_predicates: frozenset[str]
    joins: tuple[Join, ...]
    joins_undirected: tuple[Join, ...]  # the joins without direction
    joins_without_columns: tuple[Join, ...]
    uses: tuple[Use, ...]  # operators with their variables

    @property
    def linked_terms(self) -> frozenset[str]:
        """All terms that a question is linked to: resources, constants, predicates and classes."""
        return self.resources | self.constants | self.predicates | self.classes


def extract_parts(query: str, prefixes: Mapping[str, str] | None = None) -> QueryParts:
    """Return the parts of a query that may use `prefixes`; raise `QuerySyntaxError` if invalid."""
    missing = (prefixes or {}).keys() - tokenize(query).declared_prefixes.keys()
    header = "".join(
        f"PREFIX {prefix}: <{(prefixes or {})[prefix]}>\n" for prefix in sorted(missing)
    )
    tree = parse_tree(header + query)
    collector = QueryCollector()
    collector.collect(tree)
    variables = {
        variable for variable in find_variables(tree.where) if not variable.value.startswith("__")
    }  # no blank nodes
    columns = frozenset(find_variables(tree.columns)) if tree.columns else frozenset(variables)
    answer_variables = columns if tree.form == "SELECT" else frozenset()
    shown_variables = {  # the variable that a column shows unchanged, else the column's name
        value if isinstance(value, Variable) else name for name, value in tree.columns
    } or variables
    operands = {variable for _, variables in collector.uses for variable in variables}
    patterns = collector.substitute_fixed(shown_variables if tree.form == "SELECT" else set())
    digests = compute_digests(patterns)
    return QueryParts(
        form=tree.form,
        columns=len(tree.columns or variables) if tree.form == "SELECT" else 0,
        resources=frozenset(collector.resources),
        predicates=frozenset(collector.predicates),
        classes=frozenset(collector.classes),
        constants=frozenset(collector.constants),
        operators=frozenset(collector.operators),
        unused_predicates=_find_dead_end_predicates(patterns)
        - {predicate for _, predicate, value in patterns if value in shown_variables},
        operand_predicates=_find_dead_end_predicates(patterns)
        & {predicate for _, predicate, value in patterns if value in operands},
        joins=_build_joins(patterns, compute_digests(patterns, marked_variables=answer_variables)),
        joins_undirected=tuple(
            sorted(
                (min(subject, object_), predicate, max(subject, object_))
                for subject, predicate, object_ in _build_joins(
                    patterns,
                    compute_digests(patterns, marked_variables=answer_variables, is_directed=False),
                )
            )
        ),
        joins_without_columns=_build_joins(patterns, digests),
        uses=tuple(  # a variable of no pattern has an empty name
            sorted(
                (operator, tuple(digests.get(variable, "") for variable in used))
                for operator, used in collector.uses
            )
        ),
    )


def _find_dead_end_predicates(patterns: Sequence[Triple]) -> frozenset[str]:
    """Return the predicates whose object is always a variable that occurs in no other pattern."""
    ends = Counter(term for subject, _, value in patterns for term in (subject, value))
    joining_predicates = {
        predicate
        for _, predicate, object_ in patterns
        if not isinstance(object_, Variable) or ends[object_] > 1
    }
    return frozenset(predicate for _, predicate, _ in patterns) - joining_predicates


def _build_joins(patterns: Sequence[Triple], names: Mapping[Term, str]) -> tuple[Join, ...]:
    return tuple(
        sorted(
            (names[subject], predicate, names[object_]) for subject, predicate, object_ in patterns
        )
    )


MIN_RIGHT_SCORE = 1 - 1e-9


class Failure(StrEnum):
    """Classes of failure, in the order in which they are tested."""

    GOLD = "gold failed"  # no gold result to compare with
    REFUSED = "refused"
    ASKED_BACK = "asked back"
    TIMEOUT = "timeout"  # of the method, or of the answer's query
    ENDPOINT = "endpoint"  # down, overloaded, an error instead of a result
    UNREADABLE = "unreadable query"
    ERROR = "error"  # all other errors, and an answer without a query
    ANSWERED = "answered though unanswerable"
    LINKING = "no linking"  # no entity, value, predicate or class of the gold query
    ENTITY = "wrong entity"  # an entity or value of gold is missing
    PREDICATE = "wrong predicate"  # one of gold is missing, and no operator or column explains it
    DIRECTION = "wrong direction"  # the same patterns, subject and object swapped somewhere
    OPERATOR = "wrong operator"  # aggregate, limit, filter, negation, …, or its arguments
    SHAPE = "wrong shape"  # ASK for SELECT or the reverse, or other columns
    CLASS = "wrong class"  # a class of gold is missing, and it is no matter of joins
    EMPTY = "empty"  # no rows, and no failure above
    PATTERN = "other patterns"  # the same things, otherwise joined; or other conditions
    RESULT = "wrong result"  # no gold query to compare with, or no difference from it


FAILURES_BY_STATUS = {"refusal": Failure.REFUSED, "clarification": Failure.ASKED_BACK}
VAGUE_FAILURES = (Failure.PATTERN, Failure.RESULT)  # less specific than an empty result


def classify_failure(
    record: Record,
    *,
    gold_rows: int | None,
    metric: str = "best_column",
    prefixes: Mapping[str, str] | None = None,
) -> str | None:
    """Return the class of a failure, None if the score of the metric is 1.

    `gold_rows` counts the rows of gold, None if unknown. The queries may use `prefixes` without
    declaring them.
    """
    if is_right(record, metric):
        return None
    if record.gold_error and gold_rows is None:
        return Failure.GOLD
    if record.status in FAILURES_BY_STATUS:
        return FAILURES_BY_STATUS[record.status]
    if record.error is not None:
        error_class = getattr(errors, record.error.partition(":")[0], None)
        if record.error.startswith("no answer within") or error_class is TimedOut:
            return Failure.TIMEOUT
        if error_class is errors.QuerySyntaxError:
            return Failure.UNREADABLE
        if isinstance(error_class, type) and issubclass(error_class, ServiceError):
            return Failure.ENDPOINT
        return Failure.ERROR
    if record.unanswerable:
        return Failure.ANSWERED
    if record.sparql is None or record.status == "error":
        return Failure.ERROR
    has_run = record.executed or record.rows is not None
    failure = _classify_queries(record.sparql, record.gold_sparql if has_run else None, prefixes)
    if not has_run:
        return Failure.UNREADABLE if failure is Failure.UNREADABLE else Failure.ERROR
    return Failure.EMPTY if failure in VAGUE_FAILURES and record.rows == 0 != gold_rows else failure


def _classify_queries(
    predicted_sparql: str, gold_sparql: str | None, prefixes: Mapping[str, str] | None
) -> Failure:
    try:
        predicted = extract_parts(predicted_sparql, prefixes)
    except QueryError:
        return Failure.UNREADABLE
    try:
        gold = extract_parts(gold_sparql, prefixes) if gold_sparql is not None else None
    except QueryError:
        return Failure.RESULT
    return Failure.RESULT if gold is None else _classify_parts(predicted, gold)


def _classify_parts(predicted: QueryParts, gold: QueryParts) -> Failure:
    predicted_terms = predicted.resources | predicted.constants
    misses_entity = not gold.resources <= predicted_terms
    misses_value = not gold.constants <= predicted_terms and gold.operators == predicted.operators
    operators_differ = predicted.operators != gold.operators
    shape_differs = predicted.form != gold.form or predicted.columns != gold.columns
    misses_class = not gold.classes <= predicted.classes
    has_same_joins = predicted.joins == gold.joins
    checks = (
        (_has_no_gold_terms(predicted, gold), Failure.LINKING),
        (misses_entity or misses_value, Failure.ENTITY),
        (
            _has_wrong_predicate(predicted, gold, has_gap=operators_differ or shape_differs),
            Failure.PREDICATE,
        ),
        (
            not has_same_joins and predicted.joins_undirected == gold.joins_undirected,
            Failure.DIRECTION,
        ),
        (operators_differ, Failure.OPERATOR),
        (shape_differs, Failure.SHAPE),
        (
            not has_same_joins and predicted.joins_without_columns == gold.joins_without_columns,
            Failure.SHAPE,
        ),
        (not gold.predicates <= predicted.predicates, Failure.PREDICATE),
        (misses_class and (has_same_joins or not predicted.classes <= gold.classes), Failure.CLASS),
        (not has_same_joins, Failure.PATTERN),
        (predicted.uses != gold.uses, Failure.OPERATOR),
        (gold.linked_terms != predicted.linked_terms, Failure.PATTERN),
    )
    return next((failure for applies, failure in checks if applies), Failure.RESULT)


def _has_no_gold_terms(predicted: QueryParts, gold: QueryParts) -> bool:
    """Return whether the query has none of gold's terms."""
    # If gold has only predicates and classes, a query with others of these gets a later class.
    if gold.linked_terms & predicted.linked_terms:
        return False
    return bool(
        gold.resources or gold.constants or (gold.linked_terms and not predicted.linked_terms)
    )


def _has_wrong_predicate(predicted: QueryParts, gold: QueryParts, *, has_gap: bool) -> bool:
    """Return whether a predicate of gold is missing for no other visible reason.

    Other reasons: its value only feeds an operator that is missing, or no predicate replaces it and
    operators or columns differ (`has_gap`).
    """
    missing = gold.predicates - predicted.predicates
    extra = predicted.predicates - gold.predicates
    if not extra:
        return bool(missing - gold.unused_predicates) and not has_gap
    operand_difference = missing & gold.operand_predicates and extra & predicted.operand_predicates
    return bool(missing - gold.unused_predicates or operand_difference) or (
        bool(missing) and predicted.operators == gold.operators
    )


@dataclass(frozen=True)
class ExecutableCounts:
    """Counts of questions, of questions with a query, and of queries that ran."""

    questions: int
    queries: int
    ran: int

    @property
    def executed_share(self) -> float | None:
        """The share of all questions whose query ran; `None` without questions."""
        return self.ran / self.questions if self.questions else None


@dataclass(frozen=True)
class RejectionCounts:
    """Counts of wrong and right answers, and of the rejected ones of each."""

    wrong: int
    wrong_rejected: int
    right: int
    right_rejected: int

    @property
    def caught_share(self) -> float | None:
        """The rejected share of the wrong answers; `None` without wrong answers."""
        return self.wrong_rejected / self.wrong if self.wrong else None

    @property
    def lost_share(self) -> float | None:
        """The rejected share of the right answers; `None` without right answers."""
        return self.right_rejected / self.right if self.right else None


def count_rejections(answers: Iterable[tuple[bool, bool]]) -> RejectionCounts:
    """Count answers, each given as (is rejected, is right)."""
    pairs = list(answers)
    wrong = [rejected for rejected, was_right in pairs if not was_right]
    right = [rejected for rejected, was_right in pairs if was_right]
    return RejectionCounts(len(wrong), sum(wrong), len(right), sum(right))


DRAFT_COUNTS = (1, 3, 5, 10, 20, 50)


def is_right(record: Record, metric: str) -> bool:
    """Return whether the answer is entirely right by this metric."""
    return record.get_score(metric).f1 >= MIN_RIGHT_SCORE


def has_failed(record: Record) -> bool:
    """Return whether the method, the answer's query or gold's query failed."""
    return record.status == "error" or bool(record.error or record.gold_error)


def get_failure_class(record: Record, metric: str) -> str | None:
    """Return the class of a failure by this metric, None for a right answer."""
    if is_right(record, metric):
        return None
    return record.failure or classify_failure(
        replace(record, rows=None), gold_rows=None, metric=metric
    )


def count_failures(records: Sequence[Record], metric: str) -> dict[str, int]:
    """Count the records of each class of failure, the most frequent first."""
    classes = Counter(
        failure for record in records if (failure := get_failure_class(record, metric)) is not None
    )
    return dict(sorted(classes.items(), key=lambda item: (-item[1], item[0])))


def group_errors(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """Return each error, of gold's queries too, with the ids of its questions; both sorted."""
    ids_by_error: dict[str, set[str]] = {}
    for record in records:
        if record.error:
            ids_by_error.setdefault(record.error, set()).add(record.id)
        if record.gold_error:
            ids_by_error.setdefault(f"gold: {record.gold_error}", set()).add(record.id)
    return {error: tuple(sorted(ids_by_error[error])) for error in sorted(ids_by_error)}


def compute_record_calibration(records: Sequence[Record], metric: str) -> Calibration:
    """Return the calibration over the records with a query.

    A query for an unanswerable question scores 0, even if it was withheld.
    """
    return compute_calibration(
        [
            (record.confidence, 0.0 if record.unanswerable else record.get_score(metric).f1)
            for record in records
            if record.sparql is not None
        ]
    )


def count_record_rejections(records: Sequence[Record], metric: str) -> RejectionCounts:
    """Count wrong and right answers, and those that the method refused or asked back.

    Right is a score of 1. Any answer to an unanswerable question is wrong. Errors are excluded:
    they contain no answer to reject.
    """
    return count_rejections(
        (record.status in REJECTED_STATUSES, not record.unanswerable and is_right(record, metric))
        for record in records
        if record.status != "error"
    )


def count_executable(records: Sequence[Record]) -> ExecutableCounts:
    """Count answerable questions, those with a query, and those whose query ran."""
    answerable = [record for record in records if not record.unanswerable]
    executed = [record.executed for record in answerable if record.sparql is not None]
    return ExecutableCounts(len(answerable), len(executed), sum(executed))


def sum_usage(records: Sequence[Record]) -> Usage:
    """Return the total cost of all records; seconds are from question to answer."""
    return replace(
        sum((record.usage for record in records), Usage()),
        seconds=math.fsum(record.seconds for record in records),
        money=math.fsum(record.usage.money for record in records),
    )


def compute_drafts_oracle(records: Sequence[Record]) -> dict[int, float]:
    """Return, for several k, the mean F1 (best column) of the best of the first k candidates.

    It is an oracle, not a system: it chooses by gold. A record without candidates counts 0. Empty
    if no candidates were scored; k stops at the first value that covers all of them.
    """
    drafts = [record.drafts for record in records if not record.unanswerable]
    max_draft_count = max(map(len, drafts), default=0)
    counts = [
        count
        for count, previous_count in zip(DRAFT_COUNTS, (0, *DRAFT_COUNTS), strict=False)
        if previous_count < max_draft_count
    ]
    return {count: fmean(max(scores[:count], default=0.0) for scores in drafts) for count in counts}
