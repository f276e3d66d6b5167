"""Check a query by itself: syntax, prefixes, variables, grouping, joins and impossible filters."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, NamedNode, Store, Variable

from askgraph import sparql as ast
from askgraph.answers.validation import (
    MAX_CHECKED_CHARACTERS,
    UNCHECKED_PROBABILITY,
    CheckInput,
    FaultKind,
    Finding,
    Knowledge,
    PredicateUse,
    Replacement,
    Sorts,
    SourceRange,
    find_variable,
    get_range,
)
from askgraph.answers.validation._blocks import Block, StepConstraint, VariableSorts, build_block
from askgraph.answers.validation._blocks import walk_blocks as walk_blocks
from askgraph.answers.verbalize.scope import split_condition
from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql import vocabulary as v
from askgraph.sparql.judge import check_query
from askgraph.sparql.lexer import declare_prefixes, tokenize
from askgraph.sparql.prefixes import build_language_chain
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import RDF_LANG_STRING, RDF_TYPE, XSD_STRING

__all__ = ["filters", "structure", "syntax"]

# How probably a finding is a fault.
_PRODUCT_PROBABILITY = 0.6  # some questions need a product
_COMPARISON_PROBABILITY = 0.4  # a product that compares with a named thing is often intended
_CONSTANT_MARK = "="  # marks a block with a named constant
_SUBQUERY_PROBABILITY = 0.4  # an unbound column of a sub-query does no harm


def structure(subject: CheckInput, /) -> Iterator[Finding]:
    """Yield ungrouped columns, unbound variables, and products of two blocks."""
    if subject.tree is None:
        return
    for query in (node for node in ast.walk(subject.tree) if isinstance(node, ast.Query)):
        text = subject.text
        certainty = 1.0 if query is subject.tree else _SUBQUERY_PROBABILITY
        bound = _list_bound_names(query.where)
        bound |= {name.value for _, name in query.group_by if name is not None}
        computed = {name.value for name, value in query.columns if value is not None}
        for name, value in query.columns:
            used = [name] if value is None else list(ast.find_variables(value))
            for variable in dict.fromkeys(used):
                is_bound = variable.value in bound or (
                    value is not None and variable.value in computed
                )
                if not is_bound:
                    yield Finding(
                        FaultKind.UNBOUND,
                        f"{variable} is never bound in the query",
                        find_variable(text, variable.value),
                        str(variable),
                        certainty=certainty,
                    )
        yield from _check_grouping(query, subject.text)
        if query.form != "SELECT":
            continue
        outside = [
            {name.value for name in ast.find_variables(value)}
            for value in [*(v for _, v in query.columns if v is not None), *query.having]
        ]
        outside += [{name.value for value, _ in query.order for name in ast.find_variables(value)}]
        selected_names = {name.value for name, value in query.columns if value is None}.union(
            *outside
        )
        yield from _check_group_joins(
            query.where, outside, selected_names if query.columns else None
        )


def _list_bound_names(part: object) -> set[str]:
    return {name.value for name in ast.find_variables_in_scope(part)}


def _check_grouping(query: ast.Query, text: str) -> Iterator[Finding]:
    if not query.is_aggregate or query.form != "SELECT":
        return
    keys = {str(name) for _, name in query.group_by if name is not None}
    keys |= {to_text(value) for value, _ in query.group_by}
    computed = {str(name) for name, value in query.columns if value is not None}
    for name, value in query.columns:
        free = [name] if value is None else list(_iterate_free_variables(value, keys))
        for variable in dict.fromkeys(free):
            if str(variable) not in keys and (value is None or str(variable) not in computed):
                yield Finding(
                    FaultKind.UNGROUPED,
                    f"{variable} is neither grouped by nor within an aggregate:"
                    f" add it to GROUP BY, or use SAMPLE({variable})",
                    find_variable(text, variable.value),
                    str(variable),
                )


def _iterate_free_variables(value: ast.Expression, keys: set[str]) -> Iterator[Variable]:
    """Yield the variables of an expression outside of aggregates and group keys."""
    if to_text(value) in keys:
        return
    match value:
        case Variable():
            yield value
        case ast.Call(name=name, arguments=arguments) if name.split()[0] not in ast.AGGREGATE_NAMES:
            for inner in arguments:
                yield from _iterate_free_variables(inner, keys)
        case _:
            return


def _check_group_joins(
    group: ast.Group, outside: Sequence[set[str]], selected_names: set[str] | None
) -> Iterator[Finding]:
    """Yield products in a group; `selected_names` is None if the query selects all variables."""
    parts = [
        {*bound, *_iterate_constants(element_or_group)}
        if (bound := _list_bound_names(element_or_group))
        else set()
        for element_or_group in group.elements
        if _can_multiply(element_or_group)
    ]
    links = [
        {name.value for name in ast.find_variables(element_or_group)}
        for element_or_group in group.elements
        if isinstance(element_or_group, ast.Filter | ast.Bind)
        or not _can_multiply(element_or_group)
    ]
    blocks = _join_parts([part for part in parts if part], [*links, *outside])
    if len(blocks) > 1:
        names = [", ".join(sorted(_format_names(block))[:3]) for block in blocks]
        yield Finding(
            FaultKind.UNJOINED,
            " and ".join(names[:3])
            + " are not joined: every solution of one is combined with all of the other",
            term=names[1],
            certainty=_COMPARISON_PROBABILITY
            if _is_intended(blocks, selected_names)
            else _PRODUCT_PROBABILITY,
        )
    around = [_list_bound_names(group), *outside]
    for element in group.elements:
        inner = [element.group] if isinstance(element, ast.Nested) else []
        inner += list(element.groups) if isinstance(element, ast.Union) else []
        for element_or_group in inner:
            yield from _check_group_joins(element_or_group, around, selected_names)


def _is_intended(blocks: Sequence[set[str]], selected_names: set[str] | None) -> bool:
    """Return whether named resources are compared, with columns of each."""
    free = sum(not _has_constant(block) for block in blocks)
    return free < len(blocks) and all(
        selected_names is None or block & selected_names for block in blocks
    )


def _has_constant(block: set[str]) -> bool:
    """Return whether a block is about a named resource or text, or has a single variable."""
    variables = [name for name in block if not name.startswith(("<", _CONSTANT_MARK))]
    return _CONSTANT_MARK in block or (len(variables) == 1 and len(block) > 1)


def _iterate_constants(element: ast.Element) -> Iterator[str]:
    """Yield the named resources of an element: patterns about one resource belong together."""
    match element:
        case ast.Pattern() if element.predicate != NamedNode(RDF_TYPE):
            ends = (element.subject, element.object)
            yield from (str(term) for term in ends if isinstance(term, NamedNode))
            if isinstance(element.subject, NamedNode) or (
                isinstance(element.object, Literal)
                and element.object.datatype.value in (XSD_STRING, RDF_LANG_STRING)
            ):
                yield _CONSTANT_MARK
        case ast.Values():
            yield _CONSTANT_MARK


def _can_multiply(element: ast.Element) -> bool:
    """Return whether an element may give several rows by itself."""
    match element:
        case ast.Filter() | ast.Bind() | ast.Nested(word="MINUS" | "OPTIONAL"):
            return False
        case ast.Query() as query:
            single = query.is_aggregate and not query.group_by
            return not single and query.limit != 1
        case ast.Values(rows=rows):
            return len(rows) > 1
        case _:
            return True


def _join_parts(parts: Sequence[set[str]], links: Sequence[set[str]]) -> list[set[str]]:
    """Join parts that share a variable; a link joins the parts that it touches."""
    blocks: list[set[str]] = []
    for names in parts:
        touching = [block for block in blocks if block & names - {_CONSTANT_MARK}]
        blocks = [block for block in blocks if not block & names - {_CONSTANT_MARK}]
        blocks.append(set().union(names, *touching))
    for names in links:
        touching = [block for block in blocks if block & names]
        if len(touching) > 1:
            blocks = [block for block in blocks if not block & names]
            blocks.append(set().union(*touching))
    return blocks


def _format_names(block: set[str]) -> set[str]:
    """Return the variables of a block as written; those of blank nodes only if alone."""
    names = {f"?{name}" for name in block if not name.startswith(("<", _CONSTANT_MARK))}
    return {name for name in names if not name.startswith("?__")} or names


def syntax(subject: CheckInput, /) -> Iterator[Finding]:
    """Yield undeclared prefixes, and the place where a query cannot be parsed."""
    if len(subject.text) > MAX_CHECKED_CHARACTERS:
        message = (
            f"the query has {len(subject.text):,} characters; at most "
            f"{MAX_CHECKED_CHARACTERS:,} are checked"
        )
        yield Finding(FaultKind.SYNTAX, message, certainty=UNCHECKED_PROBABILITY)
        return
    namespaces = subject.services.queried_graph.prefixes.namespaces
    text = subject.text
    for prefix, token in tokenize(text).undeclared_prefixes.items():
        namespace = namespaces.get(prefix, "")
        proposals = (Replacement(f"PREFIX {prefix}: <{namespace}>"),) if namespace else ()
        yield Finding(
            FaultKind.PREFIX,
            f"the prefix {prefix + ':'!r} is not declared",
            get_range(text, (token.start, token.end)),
            prefix,
            proposals,
        )
    yield from _check_syntax(subject, namespaces)


def _check_syntax(subject: CheckInput, namespaces: Mapping[str, str]) -> Iterator[Finding]:
    if subject.tree is not None:
        return
    text = subject.text
    namespaces = {
        **dict.fromkeys(tokenize(text).undeclared_prefixes, _UNKNOWN_NAMESPACE),
        **namespaces,
    }
    if not _can_parse(declare_prefixes(text, namespaces)):
        try:
            check_query(text, prefixes=namespaces)
        except QueryError as error:
            yield Finding(FaultKind.SYNTAX, str(error), _locate_error(error, text))
            return
    message = "the query uses syntax beyond SPARQL 1.1 and was not checked further"
    yield Finding(FaultKind.SYNTAX, message, certainty=UNCHECKED_PROBABILITY)


def _locate_error(error: QueryError, text: str) -> SourceRange | None:
    if not isinstance(error, QuerySyntaxError) or not error.line or not error.column:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1
    return get_range(text, (start, min(start + 1, len(text))))


_MAX_PARSED_CHARACTERS = 5_000  # longer queries are not passed to pyoxigraph
_MAX_JOINS = 40  # the fast one orders joins, in time that grows with their third power
_MAX_UNIONS = 8
_JOIN_MARKS = frozenset(".;,/[({")
_UNKNOWN_NAMESPACE = "urn:unknown:"


def _can_parse(text: str) -> bool:
    """Return whether pyoxigraph parses a short text; the query runs on an empty store."""
    # Parsing implies planning and evaluation: nothing may be called, and what multiplies
    # without triples (VALUES, UNION) stays small.
    if len(text) > _MAX_PARSED_CHARACTERS or "service" in text.lower():
        return False
    tokens = tokenize(text).tokens
    words = Counter(token.text.upper() for token in tokens if token.kind in ("word", "mark"))
    joins = sum(words[mark] for mark in _JOIN_MARKS)
    if joins > _MAX_JOINS or words["VALUES"] > 1 or words["UNION"] > _MAX_UNIONS:
        return False
    try:
        Store().query(text)
    except (SyntaxError, ValueError, OSError, RuntimeError):
        return False
    return True


_MAX_TYPE_CERTAINTY = 0.9  # some stores compare more types than SPARQL


def filters(subject: CheckInput, /) -> Iterator[Finding]:
    """Yield filters that compare incompatible types, languages or bounds."""
    if subject.tree is None:
        return
    for block, env, _ in walk_blocks(build_block(subject.tree, subject.services)):
        for condition, reason in find_contradictions(block.filters):
            yield _build_filter_finding(condition, reason, (), subject, certainty=1.0)
        if block.knowledge is None:
            continue
        values = _ConditionChecker(block, env, block.knowledge)
        for condition in block.filters:
            for reason, forms in values.explain_failures(condition.condition):
                certainty = _MAX_TYPE_CERTAINTY * block.knowledge.completeness
                yield _build_filter_finding(condition, reason, forms, subject, certainty=certainty)


def _build_filter_finding(
    condition: ast.Filter,
    reason: str,
    forms: Sequence[Literal],
    subject: CheckInput,
    *,
    certainty: float,
) -> Finding:
    return Finding(
        FaultKind.FILTER,
        reason,
        None if condition.span is None else get_range(subject.text, condition.span),
        to_text(condition.condition),
        tuple(Replacement(to_text(form)) for form in forms),
        certainty,
    )


Reason = tuple[str, tuple[Literal, ...]]


@dataclass(frozen=True)
class _ConditionChecker:
    block: Block
    variable_sorts: VariableSorts
    knowledge: Knowledge

    def explain_failures(self, condition: ast.Expression) -> Iterator[Reason]:
        for part in split_condition(condition, "&&"):
            match part:
                case ast.Call(name="||"):
                    all_reasons = [
                        list(self.explain_failures(alternative))
                        for alternative in split_condition(part, "||")
                    ]
                    if all(all_reasons):
                        yield all_reasons[0][0]
                case ast.Call(name="IN", arguments=(Variable() as variable, *members)) if members:
                    member_reasons = [
                        list(self.check_type(variable, "=", member))
                        if isinstance(member, Literal)
                        else []
                        for member in members
                    ]
                    if all(member_reasons):
                        yield member_reasons[0][0]
                case _ if comparison := _parse_comparison(part):
                    yield from self.check_comparison(*comparison)

    def check_comparison(self, left: ast.Expression, name: str, right: Literal) -> Iterator[Reason]:
        match left:
            case Variable():
                yield from self.check_type(left, name, right)
            case ast.Call(name="LANG", arguments=(Variable() as variable,)) if name == "=":
                tags = self.get_languages(variable)
                if tags and right.value.lower() not in {tag.lower() for tag in tags}:
                    tag_list = ", ".join(sorted(tags)[:5])
                    message = f"no value of {variable} is in the language {right.value!r}"
                    yield (
                        f"{message}; there are values in {tag_list}",
                        tuple(map(Literal, sorted(tags)[:3])),
                    )

    def check_type(self, variable: Variable, name: str, literal: Literal) -> Iterator[Reason]:
        sorts = self.get_datatypes(variable)
        if sorts is None:
            return
        datatype = literal.datatype.value
        if not any(_is_comparable(sort, datatype) for sort in sorts):
            forms = convert_literal(literal, sorts, frozenset())
            yield f"no value of {variable} can be compared with {to_text(literal)}", forms
        elif name == "=" and datatype == v.XSD_STRING and sorts == {v.RDF_LANG_STRING}:
            forms = convert_literal(literal, sorts, self.get_languages(variable))
            yield (
                f"the values of {variable} have a language tag, {to_text(literal)} has none",
                forms,
            )

    def get_datatypes(self, variable: Variable) -> Sorts | None:
        """Return the datatypes of a variable; None if it may be something else."""
        sorts = self.variable_sorts.get(variable.value)
        if sorts is None or not sorts or sorts & self.knowledge.classes.keys() or "" in sorts:
            return None
        literal = {datatype for use in self.iterate_uses(variable) for datatype in use.datatypes}
        return sorts if sorts <= literal else None

    def get_languages(self, variable: Variable) -> frozenset[str]:
        """Return the language tags that values of a variable may have; empty if unknown."""
        uses = list(self.iterate_uses(variable))
        if not uses or any(not use.languages for use in uses):
            return frozenset()
        tags = frozenset[str]().union(*(use.languages for use in uses))
        return tags | {""} if any(use.datatypes - {v.RDF_LANG_STRING} for use in uses) else tags

    def iterate_uses(self, variable: Variable) -> Iterator[PredicateUse]:
        for constraint in self.block.atoms:
            if isinstance(constraint, StepConstraint) and constraint.object == variable:
                for step in constraint.steps:
                    if not step.inverse and step.predicate in self.knowledge.predicates:
                        yield self.knowledge.predicates[step.predicate]


MIRRORED_OPERATORS = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
# These functions return a new value at each call.
_NONDETERMINISTIC_CALL = re.compile(r"\b(?:RAND|UUID|STRUUID|BNODE)\(")


@dataclass(frozen=True)
class _NumericBound:
    """A condition `value operator number`."""

    value: str
    operator: str
    number: Decimal
    number_text: str

    @property
    def text(self) -> str:
        return f"{self.operator} {self.number_text}"


def find_contradictions(filters: Iterable[ast.Filter]) -> Iterator[tuple[ast.Filter, str]]:
    """Yield the filters that leave no number to a value that others bound, and the reason.

    All filters are of one group and hold together. Only the first contradiction of a value is
    reported.
    """
    tightest: dict[tuple[str, bool], _NumericBound] = {}
    reported: set[str] = set()
    for condition in filters:
        for bound in _iterate_bounds(condition.condition):
            # `<` bounds from above, `>` from below, and `=` does both.
            for is_upper in (True, False) if bound.operator == "=" else (bound.operator[0] == "<",):
                opposite = tightest.get((bound.value, not is_upper))
                if (
                    opposite
                    and bound.value not in reported
                    and _is_contradiction(bound, opposite, is_upper=is_upper)
                ):
                    reported.add(bound.value)
                    yield (
                        condition,
                        f"{bound.value} cannot be both {opposite.text} and {bound.text}",
                    )
                previous = tightest.get((bound.value, is_upper))
                if previous is None or _is_tighter(bound, previous, is_upper=is_upper):
                    tightest[bound.value, is_upper] = bound


def _parse_comparison(condition: ast.Expression) -> tuple[ast.Expression, str, Literal] | None:
    """Return the two sides and the operator of a comparison with a literal; None for others."""
    match condition:
        case ast.Call(name=name, arguments=(left, Literal() as right)) if (
            name in MIRRORED_OPERATORS
        ):
            return left, name, right
        case ast.Call(name=name, arguments=(Literal() as left, right)) if (
            name in MIRRORED_OPERATORS
        ):
            return right, MIRRORED_OPERATORS[name], left
    return None


def _iterate_bounds(condition: ast.Expression) -> Iterator[_NumericBound]:
    for left, name, right in filter(None, map(_parse_comparison, split_condition(condition, "&&"))):
        if right.datatype.value not in v.NUMERIC_DATATYPES:
            number = None
        else:
            try:
                number = Decimal(right.value)
            except InvalidOperation:
                number = None
            else:
                number = None if number.is_nan() else number
        if number is not None and isinstance(left, Variable | ast.Call):
            text = to_text(left)
            if not _NONDETERMINISTIC_CALL.search(text):
                yield _NumericBound(text, name, number, to_text(right))


def _is_contradiction(bound: _NumericBound, opposite: _NumericBound, *, is_upper: bool) -> bool:
    low, high = (opposite, bound) if is_upper else (bound, opposite)
    strict = high.operator == "<" or low.operator == ">"
    return low.number > high.number or (strict and low.number == high.number)


def _is_tighter(bound: _NumericBound, previous: _NumericBound, *, is_upper: bool) -> bool:
    if bound.number == previous.number:
        return bound.operator in ("<", ">")
    return (bound.number < previous.number) == is_upper


_TEXT_DATATYPES = frozenset({v.RDF_LANG_STRING, v.XSD_STRING})
_TIME_DATATYPES = v.DATE_DATATYPES | {v.XSD_TIME, v.XSD_DURATION, v.XSD_G_MONTH, v.XSD_G_DAY}


def convert_literal(
    literal: Literal, datatypes: frozenset[str], languages: frozenset[str]
) -> tuple[Literal, ...]:
    """Return literals of the same text with one of the datatypes, most likely first.

    A number must be one; of the languages, the literal's own and English come first.
    """
    literals: list[Literal] = []
    for datatype in sorted(datatypes, key=lambda item: (item not in _TEXT_DATATYPES, item)):
        if datatype == v.RDF_LANG_STRING:
            tag = literal.language or ""
            order = [*build_language_chain([tag, "en"]), *sorted(languages)]
            tags = [item for item in dict.fromkeys(order) if item in languages]
            literals += [Literal(literal.value, language=item) for item in tags[:3]]
        elif datatype == v.XSD_STRING:
            literals.append(Literal(literal.value))
        else:
            literals += _iterate_typed_literals(literal.value, datatype)
    kind = _classify_datatype(literal.datatype.value)
    ordered = sorted(literals, key=lambda item: _classify_datatype(item.datatype.value) != kind)
    return tuple(item for item in ordered if item != literal)


def _is_comparable(first: str, second: str) -> bool:
    """Return whether values of two datatypes can be compared; True if one is unknown."""
    kinds = _classify_datatype(first), _classify_datatype(second)
    return kinds[0] == kinds[1] or "" in kinds


def _iterate_typed_literals(text: str, datatype: str) -> Iterator[Literal]:
    literal = Literal(text, datatype=NamedNode(datatype))
    if datatype in v.NUMERIC_DATATYPES:
        try:
            number = float(text)
        except ValueError:
            return
        if datatype in v.INTEGER_DATATYPES and not number.is_integer():
            return
        needs_integer = datatype in v.INTEGER_DATATYPES and not text.lstrip("+-").isdigit()
        yield Literal(str(int(number)), datatype=NamedNode(datatype)) if needs_integer else literal
    elif datatype == v.XSD_BOOLEAN:
        if text in ("true", "false", "0", "1"):
            yield literal
    else:
        yield literal


def _classify_datatype(datatype: str) -> str:
    if datatype in v.NUMERIC_DATATYPES:
        return "number"
    if datatype in _TEXT_DATATYPES:
        return "text"
    if datatype in _TIME_DATATYPES:
        return datatype if datatype not in v.DATE_DATATYPES else "date"
    return "boolean" if datatype == v.XSD_BOOLEAN else ""
