"""A candidate query as data: patterns, filters and modifiers over numbered variables."""

from dataclasses import dataclass, field

End = int | str
"""An end of a pattern: a variable's number, or a constant as N-Triples text."""


@dataclass(frozen=True)
class Pattern:
    """A triple pattern; `plus` walks the predicate once or more, `type` patterns have it empty."""

    subject: End
    predicate: str
    object: End
    plus: bool = False


@dataclass(frozen=True)
class Aggregate:
    """An aggregate over a variable: COUNT, SUM, AVG, MIN or MAX."""

    function: str
    variable: int
    distinct: bool = False


@dataclass(frozen=True)
class Average:
    """The average of a predicate over all subjects that fit some patterns: a sub-query."""

    variable: int
    patterns: tuple[Pattern, ...]
    function: str = "AVG"


@dataclass(frozen=True)
class Computed:
    """A variable for what is computed of others (numbers) or of constants (SPARQL text).

    `operation` is `years`, `months`, `days` or `calendar years` from the first operand to the
    second, `else` the second if the first is not bound, `scaled` the first times the second,
    plus the third if there is one.
    """

    variable: int
    operation: str
    operands: tuple[int | str, ...]


@dataclass(frozen=True)
class Given:
    """Rows of constants (SPARQL text) that variables may have together."""

    variables: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Filter:
    """A condition on a variable.

    `operator` is one of = != < > <= >= IN CONTAINS STRSTARTS STRENDS YEAR; `values` are constants
    as SPARQL text, or the number of another variable, or a sub-query. `as_integer` compares the
    text as a whole number: not every engine orders years before 1; `as_number` compares text as the
    number that it reads as.
    """

    variable: int
    operator: str
    values: tuple[str | int | Average, ...]
    as_integer: bool = False
    as_number: bool = False


@dataclass(frozen=True)
class Column:
    """A column of the result: a variable or an aggregate; context columns do not answer."""

    value: int | Aggregate
    answer: bool = True


@dataclass(frozen=True)
class Key:
    """What the result is ordered by; `as_number` orders text by the number that it reads as."""

    value: int | Aggregate
    descending: bool = False
    as_number: bool = False


@dataclass(frozen=True)
class Having:
    """A condition on an aggregate."""

    aggregate: Aggregate
    operator: str
    value: str


@dataclass(frozen=True)
class Form:
    """A whole query. `hints` are words to name the variables from; `optional` may be missing."""

    patterns: tuple[Pattern, ...]
    columns: tuple[Column, ...] = ()
    filters: tuple[Filter, ...] = ()
    without: tuple[tuple[tuple[Pattern, ...], tuple[Filter, ...]], ...] = ()
    either: tuple[tuple[tuple[Pattern, ...], tuple[Filter, ...]], ...] = ()
    optional: tuple[Pattern, ...] = ()
    given: tuple[Given, ...] = ()
    computed: tuple[Computed, ...] = ()
    group: tuple[int, ...] = ()
    having: tuple[Having, ...] = ()
    order: tuple[Key, ...] = ()
    limit: int | None = None
    offset: int = 0
    ask: bool = False
    hints: dict[int, str] = field(default_factory=dict, compare=False)
