"""What a query is made of, so that two can be compared whatever their variables are called.

Left out is what only serves to show a result: patterns that fetch a label, conditions on a language
tag, SERVICE groups without variables, DISTINCT of the whole result, and the order of patterns. An
order of rows is no operator where none is cut off, only a use. Some ways to say the same are one
part: `FILTER(?x = :Mars)` and `:Mars` in the place of `?x`, MINUS and NOT EXISTS, `&&` and two
filters, a pattern and its repeat.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Variable

from askgraph.evaluation.reports.query_walk import Found
from askgraph.evaluation.reports.variable_digests import Triple, digests
from askgraph.sparql.lexer import declared_prefixes
from askgraph.sparql.read import read
from askgraph.sparql.tree import Term, variables_of

__all__ = ["Parts", "parts_of"]

Join = tuple[str, str, str]  # subject, predicate, object, a variable by its place in the query
Use = tuple[str, tuple[str, ...]]  # an operator and the variables that it is given


@dataclass(frozen=True)
class Parts:
    """The parts of a query.

    `things` are entities and values in patterns, `constants` the literals in expressions, such as
    bounds. `classes` are those that something is said to be an instance of; as such a pattern is
    often implied by another one, it is not among the joins. `aside` are the predicates that only
    fetch a value which is no column and stands in no other pattern; `operands` those that only
    fetch one for an operator. `joins` are the patterns with a digest for each variable, which is
    equal where a variable stands in the same patterns and is or is not a column;
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

    Raises `QuerySyntaxError` where it cannot be read.
    """
    missing = (prefixes or {}).keys() - declared_prefixes(query).keys()
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
    """The variable whose values a column shows as they are, else its own name."""
    return expression if isinstance(expression, Variable) else variable


def _only_fetching(patterns: Sequence[Triple]) -> frozenset[str]:
    """The predicates whose object is always a variable that stands in no other pattern."""
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
