"""A group sorted by kind, and its filters as conditions on one variable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.answers.verbalize.phrases import Phrases
from askgraph.graph import KnowledgeGraph
from askgraph.graph.literals import DAY_PATTERN
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import SelectResult

LABEL_SERVICE = "http://wikiba.se/ontology#label"
_MAX_LISTED = 5  # values that are named one by one
_COMPARISONS = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE = {"=": "!=", "!=": "=", "contains": "contains not", "bound": "unbound", "in": "not in"}
_TRANSPARENT = frozenset(["STR", "LCASE", "UCASE", "IRI", "URI"])
_TESTS = {
    "BOUND": "bound",
    "ISIRI": "resource",
    "ISURI": "resource",
    "ISLITERAL": "literal",
    "ISNUMERIC": "number value",
}
_TEXT = {"CONTAINS": "contains", "STRSTARTS": "starts", "STRENDS": "ends"}


@dataclass
class Scope:
    """One group, its plain groups and plain sub-selects taken in.

    Sequences and inverse steps of paths are plain patterns here, with variables between them whose
    names start with `__`. `aliases` leads from a name to the variable it is another name of.
    """

    patterns: list[ast.Pattern] = field(default_factory=list)
    filters: list[ast.Expression] = field(default_factory=list)
    optional: list[Scope] = field(default_factory=list)
    without: list[Scope] = field(default_factory=list)
    present: list[Scope] = field(default_factory=list)
    unions: list[list[Scope]] = field(default_factory=list)
    union_groups: list[tuple[ast.Group, ...]] = field(default_factory=list)
    binds: dict[str, ast.Expression] = field(default_factory=dict)
    values: list[ast.Values] = field(default_factory=list)
    selects: list[ast.Query] = field(default_factory=list)
    aliases: dict[str, Variable] = field(default_factory=dict)

    def resolve(self, variable: Variable) -> Variable:
        """The variable that a name stands for."""
        visited_names = set()
        while variable.value in self.aliases and variable.value not in visited_names:
            visited_names.add(variable.value)
            variable = self.aliases[variable.value]
        return variable

    def list_names(self) -> set[str]:
        """The names of all variables that its patterns, sub-selects and aliases bind."""
        bound = {variable.value for variable in ast.find_variables(tuple(self.patterns))}
        for select in self.selects:
            bound |= {variable.value for variable in ast.find_variables(select)}
        for scopes in (self.optional, self.present, *self.unions):
            for inner in scopes:
                bound |= inner.list_names()
        bound |= {variable.value for values in self.values for variable in values.variables}
        return bound | self.aliases.keys() | self.binds.keys()


def make_scope(group: ast.Group) -> Scope:
    """Return a group sorted by kind."""
    scope = Scope()
    _gather(group.elements, scope)
    _rename(scope)
    scope.patterns = list(dict.fromkeys(scope.patterns))
    # `FILTER(?outer = ?inner)` as what `?inner` must be, which this group binds.
    bound = {variable.value for variable in ast.find_variables(tuple(scope.patterns))}
    for number, condition in enumerate(scope.filters):
        match condition:
            case ast.Call(name="=" | "IN", arguments=(Variable() as left, Variable() as right)):
                if left.value not in bound and right.value in bound:
                    scope.filters[number] = ast.Call("=", (right, left))
                else:
                    scope.filters[number] = ast.Call("=", (left, right))
    # `OPTIONAL { … ?x } FILTER(!BOUND(?x))` means absence.
    for condition in list(scope.filters):
        match condition:
            case ast.Call(
                name="!", arguments=(ast.Call(name="BOUND", arguments=(Variable() as missing,)),)
            ):
                for inner in list(scope.optional):
                    if missing.value in inner.list_names():
                        scope.optional.remove(inner)
                        scope.without.append(inner)
                        scope.filters.remove(condition)
                        break
    return scope


def _gather(elements: tuple[ast.Element, ...], scope: Scope) -> None:
    for element in elements:
        match element:
            case ast.Pattern():
                scope.patterns += _split_steps(element, len(scope.patterns))
            case ast.Filter(ast.Call("ISNUMERIC", (ast.Call(),))):
                pass  # only numbers are compared as numbers
            case ast.Filter():
                _gather_condition(element.condition, scope)
            case ast.Bind():
                _gather_bind(element.value, element.variable, scope)
            case ast.Values():
                scope.values.append(element)
            case ast.Union():
                scope.unions.append([make_scope(group) for group in element.groups])
                scope.union_groups.append(element.groups)
            case ast.Query():
                _gather_select(element, scope)
            case ast.Nested(word="OPTIONAL"):
                scope.optional.append(make_scope(element.group))
            case ast.Nested(word="MINUS"):
                scope.without.append(make_scope(element.group))
            case ast.Nested() if element.name != NamedNode(LABEL_SERVICE):
                _gather(element.group.elements, scope)


def _gather_condition(condition: ast.Expression, scope: Scope) -> None:
    match condition:
        case ast.Call(name="&&"):
            for part in condition.arguments:
                _gather_condition(part, scope)
        case ast.Call("NOT EXISTS", (ast.Group() as group,)) | ast.Call(
            "!", (ast.Call("EXISTS", (ast.Group() as group,)),)
        ):
            scope.without.append(make_scope(group))
        case ast.Call(name="EXISTS", arguments=(ast.Group() as group,)):
            scope.present.append(make_scope(group))
        case _:
            scope.filters.append(condition)


def _gather_bind(value: ast.Expression, variable: Variable, scope: Scope) -> None:
    if isinstance(value, Variable):
        scope.aliases[variable.value] = value
    else:
        scope.binds[variable.value] = value


def _gather_select(select: ast.Query, scope: Scope) -> None:
    """Take in a sub-select that only names and nests; keep one that counts, sorts or cuts."""
    if select.is_aggregate or select.limit is not None or select.having:
        scope.selects.append(select)
        return
    _gather(select.where.elements, scope)
    for variable, value in select.columns:
        if value is not None:
            _gather_bind(value, variable, scope)


_KINDS = (NamedNode(v.RDF_TYPE), NamedNode(v.RDFS_SUB_CLASS_OF))
"""The steps from a thing to its class, and on to those above it."""


def _split_steps(pattern: ast.Pattern, number: int) -> Iterator[ast.Pattern]:
    """Split a pattern with a path into patterns of single steps where possible."""
    match pattern.predicate:
        case ast.Path(operator="^", parts=(inner,)):
            yield from _split_steps(ast.Pattern(pattern.object, inner, pattern.subject), number)
        case ast.Path(operator="/", parts=(first, ast.Path("*" | "+", (up,)))) if (
            first,
            up,
        ) == _KINDS:
            yield ast.Pattern(pattern.subject, NamedNode(v.RDF_TYPE), pattern.object)
        case ast.Path("/", (inner, ast.Path("*"), NamedNode(value=v.RDF_FIRST))):
            yield from _split_steps(ast.Pattern(pattern.subject, inner, pattern.object), number)
        case ast.Path(operator="/", parts=parts):
            ends: list[ast.Term] = [Variable(f"__{number}_{at}") for at in range(1, len(parts))]
            for part, start, end in zip(
                parts, [pattern.subject, *ends], [*ends, pattern.object], strict=True
            ):
                yield from _split_steps(ast.Pattern(start, part, end), number * 10)
        case _:
            yield pattern


def _rename(scope: Scope) -> None:
    def rename(part: Any) -> Any:
        return ast.transform(
            part,
            lambda node: scope.resolve(node) if isinstance(node, Variable) else node,
            enter=lambda node: not isinstance(node, ast.Group),
        )

    if scope.aliases:
        scope.patterns = list(map(rename, scope.patterns))
        scope.filters = list(map(rename, scope.filters))


@dataclass(frozen=True)
class Condition:
    """A condition on a variable: the key of a phrase, and the words to fill in."""

    variable: Variable
    key: str
    value: str
    bound: str | None = None


def unwrap(expression: ast.Expression) -> ast.Expression:
    """Return an expression without STR, LCASE and casts to a datatype or date around it."""
    match expression:
        case ast.Call("REPLACE", (day, Literal(value=pattern), _)) if pattern == DAY_PATTERN:
            expression = day
    while isinstance(expression, ast.Call) and len(expression.arguments) == 1:
        is_cast = expression.name.startswith("<") and "XMLSchema#" in expression.name
        if expression.name not in _TRANSPARENT and not is_cast:
            break
        expression = expression.arguments[0]
    return expression


def unwrap_year(expression: ast.Expression) -> ast.Expression:
    """Return an expression without YEAR and casts around it."""
    match unwrap(expression):
        case ast.Call("SUBSTR", (ast.Call("STR", (date,)), *_)) | ast.Call("YEAR", (date,)):
            return date
        case inner:
            return inner


@dataclass(frozen=True)
class Conditions:
    """Parses filters into conditions on one variable."""

    words: Callable[[ast.Expression], str]  # write the other side of a comparison
    phrases: Phrases

    def parse(self, expression: ast.Expression) -> Condition | None:
        """Return a filter as a condition on its one variable; None for any other filter."""
        match expression:
            case ast.Call(name=name, arguments=(left, right)) if name in _COMPARISONS:
                return self.parse_comparison(name, left, right)
            case ast.Call(name="IN" | "NOT IN" as name, arguments=(left, *items)):
                return self.parse_membership(name, left, items)
            case ast.Call(name="||") if len(sides := _list_equals(expression)) > _MAX_LISTED:
                return self.parse_membership("IN", sides[0][0], [value for _, value in sides])
            case ast.Call(name="||" | "&&" as name, arguments=(left, right)):
                parts = [self.parse(part) for part in (left, right)]
                return self.join(parts, "or" if name == "||" else "and")
            case ast.Call(name="!", arguments=(inner,)):
                return self.negate(self.parse(inner))
            case ast.Call(name=name, arguments=(subject, *rest)):
                return self.parse_test(name, unwrap(subject), rest)
            case _:
                return None

    def join_options(self, items: Sequence[ast.Expression]) -> str:
        """Return values as `a, b or c`; many by their number, with the least and the most."""
        if len(items) <= _MAX_LISTED:
            return self.phrases.join_list([self.words(item) for item in items], "or")
        literals = [item for item in map(unwrap, items) if isinstance(item, Literal)]
        kinds = {literal.datatype.value for literal in literals}
        is_dated = kinds <= v.DATE_DATATYPES | {v.XSD_TIME}
        if len(literals) == len(items) and (is_dated or kinds <= v.NUMERIC_DATATYPES):
            literals.sort(key=lambda item: item.value if is_dated else float(item.value))
            ends = (self.words(literals[at]) for at in (0, -1))
            return self.phrases.say("one of", len(items), *ends)
        shown = self.phrases.join_list([self.words(item) for item in items[:2]])
        return self.phrases.say("one of many", len(items), shown)

    def describe(self, conditions: Iterable[Condition]) -> str:
        """Return the conditions on one variable as one phrase; two bounds as a range."""
        listed = list(conditions)
        for low, high in ((">=", "<="), ("date >=", "date <="), ("date >=", "date <")):
            ends = [next((c for c in listed if c.key == key), None) for key in (low, high)]
            if (both := _join_bounds(*ends)) is not None:
                listed = [*(c for c in listed if not any(c is end for end in ends)), both]
        return self.phrases.join_list([self.describe_one(condition) for condition in listed])

    def describe_one(self, condition: Condition) -> str:
        """Return one condition as a phrase."""
        if condition.key == "said":
            return condition.value
        return self.phrases.say(condition.key, *condition.value.split("\0"))

    def parse_comparison(
        self, name: str, left: ast.Expression, right: ast.Expression
    ) -> Condition | None:
        """Return a comparison with a value as a condition; None for any other."""
        if isinstance(unwrap(left), Literal | NamedNode):
            left, right, name = right, left, _COMPARISONS[name]
        subject = unwrap(left)
        other = unwrap(right)
        if name not in ("=", "!=") and isinstance(left, ast.Call) and left.name == "STR":
            other = _parse_text_date(other)
        match subject:
            case Variable():
                datatype = other.datatype.value if isinstance(other, Literal) else ""
                is_dated = datatype in v.DATE_DATATYPES | {v.XSD_TIME}
                is_dated = is_dated or _is_cast_year(left)
                key = f"date {name}" if is_dated and name not in ("=", "!=") else name
                bound = other.value if isinstance(other, Literal) else None
                return Condition(subject, key, self.words(other), bound)
            case ast.Call(name="YEAR", arguments=(inner,)) if isinstance(unwrap(inner), Variable):
                key = f"year {name}" if name in ("=", "!=") else f"date {name}"
                variable = unwrap(inner)
                assert isinstance(variable, Variable)
                return Condition(variable, key, self.words(other))
            case ast.Call(name="LANG", arguments=(Variable() as inner,)) if name == "=":
                name = self.phrases.name_language(self.write_bare(other))
                return Condition(inner, "language", name)
            case ast.Call(name="DATATYPE", arguments=(Variable() as inner,)) if name == "=":
                return Condition(inner, "datatype", self.words(other))
            case _:
                return None

    def write_bare(self, expression: ast.Expression) -> str:
        """Return a text without quotation marks, any other expression in words."""
        return expression.value if isinstance(expression, Literal) else self.words(expression)

    def parse_membership(
        self, name: str, left: ast.Expression, items: Sequence[ast.Expression]
    ) -> Condition | None:
        """Return IN or NOT IN as a condition; None if it is not about one variable."""
        subject = unwrap(left)
        if not isinstance(subject, Variable):
            return None
        few, many = ("in", "=") if name == "IN" else ("not in", "!=")
        key = few if len(items) <= _MAX_LISTED else many
        return Condition(subject, key, self.join_options(items))

    def join(self, parts: list[Condition | None], word: str) -> Condition | None:
        """Return two conditions on one variable as one; None if they are on several."""
        first, second = parts
        if first is None or second is None or first.variable != second.variable:
            return None
        if word == "or" and first.key == second.key:
            value = self.phrases.say("or", first.value, second.value)
            return Condition(first.variable, first.key, value)
        if word == "and":
            return Condition(first.variable, "said", self.describe([first, second]))
        texts = [self.describe_one(first), self.describe_one(second)]
        if self.phrases.is_english and texts[0].startswith("is "):
            texts[1] = texts[1].removeprefix("is ")
        return Condition(first.variable, "said", self.phrases.say(word, *texts))

    def negate(self, condition: Condition | None) -> Condition | None:
        """Return the opposite of a condition."""
        if condition is None:
            return None
        if condition.key in _OPPOSITE:
            return Condition(condition.variable, _OPPOSITE[condition.key], condition.value)
        text = self.phrases.say("not", self.describe_one(condition))
        return Condition(condition.variable, "said", text)

    def parse_test(
        self, name: str, subject: ast.Expression, rest: list[ast.Expression]
    ) -> Condition | None:
        """A function that is true or false of its first argument."""
        match subject:
            case Variable() if name in _TESTS:
                return Condition(subject, _TESTS[name], "")
            case Variable() if name in _TEXT and rest:
                return Condition(subject, _TEXT[name], self.words(unwrap(rest[0])))
            case Variable() if name == "REGEX" and rest:
                return self.parse_pattern(subject, unwrap(rest[0]))
            case ast.Call(name="LANG", arguments=(Variable() as inner,)) if (
                name == "LANGMATCHES" and rest
            ):
                tag = self.write_bare(unwrap(rest[0]))
                return Condition(inner, "language", self.phrases.name_language(tag))
            case _:
                return None

    def parse_pattern(self, subject: Variable, pattern: ast.Expression) -> Condition:
        """A regular expression; a mere text in it as such."""
        if not isinstance(pattern, Literal):
            return Condition(subject, "matches", self.words(pattern))
        plain = re.fullmatch(r"(\^?)((?:[\w\s,;:'/-]|\\.)*)(\$?)", pattern.value)
        if not plain or (plain[1] and plain[3]):
            return Condition(subject, "matches", self.words(pattern))
        key = "starts" if plain[1] else "ends" if plain[3] else "contains"
        return Condition(subject, key, self.words(Literal(re.sub(r"\\(.)", r"\1", plain[2]))))


def _parse_text_date(value: ast.Expression) -> ast.Expression:
    """Return a text that is a year, a month or a day as such: `STR(?born) >= "1879"`."""
    if not isinstance(value, Literal) or not re.fullmatch(r"\d{4}(-\d\d){0,2}", value.value):
        return value
    datatype = (v.XSD_G_YEAR, v.XSD_G_YEAR_MONTH, v.XSD_DATE)[value.value.count("-")]
    return Literal(value.value, datatype=NamedNode(datatype))


def _is_cast_year(expression: ast.Expression) -> bool:
    """Return whether years are compared as integers: `xsd:integer(STR(?year))`."""
    match expression:
        case ast.Call(name, (ast.Call("STR"),)):
            return name == f"<{v.XSD_INTEGER}>"
    return False


def _join_bounds(least: Condition | None, most: Condition | None) -> Condition | None:
    """Return two bounds as one; those at the turns of years or months as these: `is in 1969`."""
    if least is None or most is None:
        return None
    low, high = least.value, most.value
    if most.key == "date <":
        year, _, month = (least.bound or "").partition("-")
        if len(month) == 2 and most.bound == (
            f"{int(year) + 1}" if month == "12" else f"{year}-{int(month) + 1:02}"
        ):
            return Condition(least.variable, "year =", low)
        is_year = all(re.match(r"\d{4}(-01-01|$)", end.bound or "") for end in (least, most))
        if least.bound is None or most.bound is None or not is_year:
            return None
        low, high = least.bound[:4], str(int(most.bound[:4]) - 1)
        if low == high:
            return Condition(least.variable, "year =", low)
    number, _, unit = low.rpartition(" ")
    if number and unit and high.endswith(f" {unit}") and number[-1:].isdigit():
        low = number
    return Condition(least.variable, "between", f"{low}\0{high}")


def split_condition(condition: ast.Expression, operator: str) -> Iterator[ast.Expression]:
    """Yield the conditions that `&&` or `||` puts together, in order, however many there are."""
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Call) and part.name == operator:
            waiting += reversed(part.arguments)
        else:
            yield part


def _list_equals(expression: ast.Expression) -> list[tuple[ast.Expression, ast.Expression]]:
    """The sides of `?x = 1 || ?x = 2 || …`; none if it is anything else."""
    sides = list[tuple[ast.Expression, ast.Expression]]()
    for part in split_condition(expression, "||"):
        match part:
            case ast.Call("=", (left, Literal() | NamedNode() as value)):
                sides.append((left, value))
            case _:
                return []
    return sides if len({left for left, _ in sides}) == 1 else []


def fold_names(query: ast.Query, graph: KnowledgeGraph) -> tuple[ast.Query, dict[str, str]]:
    """Return a query with IRIs in place of things that it only finds by their names, and the names.

    "The birth date of Ann" means the same as "… of a person whose name is Ann".
    """
    naming = {p.iri: p.triples <= p.objects for p in graph.profile.predicates if p.naming == "name"}
    columns = {*ast.walk((query.columns, query.group_by, query.having, query.order))}
    names, iris = dict[str, str](), dict[Variable, NamedNode]()
    for pattern in [part for part in query.where.elements if isinstance(part, ast.Pattern)]:
        thing, rdf_type = pattern.subject, NamedNode(v.RDF_TYPE)
        remaining = tuple(
            part
            for part in query.where.elements
            if part is not pattern
            and not (
                isinstance(part, ast.Pattern)
                and (part.subject, part.predicate) == (thing, rdf_type)
            )
        )
        is_end = all(not isinstance(p, ast.Pattern) or p.subject != thing for p in remaining)
        is_unique = naming.get(str(pattern.predicate)[1:-1])  # None if it gives no names
        is_name = (is_unique or (is_unique is not None and is_end)) and isinstance(
            pattern.object, Literal
        )
        is_hidden = query.columns and thing not in columns and thing in ast.walk(remaining)
        if is_name and is_hidden and isinstance(thing, Variable):
            iris[thing] = NamedNode(f"urn:name:{len(names)}")
            names[iris[thing].value] = pattern.object.value
            query = replace(query, where=ast.Group(remaining))
    return ast.transform(query, lambda node: iris.get(node, node)), names


def drop_shown_names(
    query: ast.Query, graph: KnowledgeGraph, result: SelectResult | None = None
) -> ast.Query:
    """Return a query without the names of things that it shows; blank nodes keep them.

    A thing is already called by its name, as by any label. Names that are optional, or have a
    condition, were not asked for.
    """
    blank = {
        name
        for name in (result.variables if result else ())
        if result and isinstance(next(iter(result.get_column(name)), None), BlankNode)
    }
    naming = {p.iri for p in graph.profile.predicates if p.naming == "name"}
    shown = {name for name, value in query.columns if value is None}
    for element in query.where.elements:
        pattern = element if isinstance(element, ast.Pattern) else _get_optional_pattern(element)
        if pattern is None or str(pattern.predicate)[1:-1] not in naming:
            continue
        thing, name = pattern.subject, pattern.object
        if isinstance(thing, Variable) and thing.value in blank:
            continue
        other_elements = [part for part in query.where.elements if part is not element]
        is_compared = name in ast.walk((*other_elements, query.having, query.order[:1]))
        is_unasked = (pattern is element) == is_compared
        if isinstance(name, Variable) and {thing, name} <= shown and is_unasked:
            query = replace(
                query,
                where=query.where if is_compared else ast.Group(tuple(other_elements)),
                columns=tuple(column for column in query.columns if column[0] != name),
                group_by=tuple(key for key in query.group_by if key[0] != name),
                order=tuple(key for key in query.order if is_compared or key[0] != name),
            )
    return query


def _get_optional_pattern(element: ast.Element) -> ast.Pattern | None:
    match element:
        case ast.Nested("OPTIONAL", ast.Group((ast.Pattern() as pattern,))):
            return pattern
        case _:
            return None
