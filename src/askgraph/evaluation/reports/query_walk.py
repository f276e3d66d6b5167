"""A walk through a query: collect its patterns, terms and operators with their variables."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import LABEL_PREDICATES, RDF_TYPE

Triple = tuple[ast.Term, str, ast.Term]  # subject, predicate as text, object

ROUND_COUNT = 6  # radius of the compared neighbourhood of a variable


def format_term_key(term: ast.Term) -> str:
    """Return an IRI, or the text of a literal regardless of its datatype and language."""
    return f'"{term.value}"' if isinstance(term, Literal) else str(term)


def compute_digests(
    patterns: Sequence[Triple],
    *,
    marked_variables: Set[Variable] = frozenset(),
    is_directed: bool = True,
) -> Mapping[ast.Term, str]:
    """Return a name for each subject and object: a digest for a variable, else its key.

    A variable has the same name in two queries if it occurs in the same patterns, next to variables
    that do, and so on: colour refinement (Weisfeiler and Leman, 1968), a fixed number of rounds.

    Args:
        marked_variables: Variables to distinguish from all others.
        is_directed: Whether subject and object of a pattern differ.
    """
    names: Mapping[ast.Term, str] = {
        term: ("?column" if term in marked_variables else "?")
        if isinstance(term, Variable)
        else format_term_key(term)
        for subject, _, value in patterns
        for term in (subject, value)
    }
    for _ in range(ROUND_COUNT):
        names = {
            term: _refine_name(term, names, patterns, is_directed)
            if isinstance(term, Variable)
            else name
            for term, name in names.items()
        }
    return names


def _refine_name(
    variable: Variable, names: Mapping[ast.Term, str], patterns: Sequence[Triple], is_directed: bool
) -> str:
    neighbours = [
        ("out" if is_directed else "", predicate, names[value])
        for subject, predicate, value in patterns
        if subject == variable
    ] + [
        ("in" if is_directed else "", predicate, names[subject])
        for subject, predicate, value in patterns
        if value == variable
    ]
    text = repr((names[variable], sorted(neighbours)))
    return "?" + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


EQUIVALENT_OPERATORS = {"MINUS": "NOT EXISTS", "COUNT DISTINCT": "COUNT"}


@dataclass
class QueryCollector:
    """The patterns, terms and operators of a query tree so far.

    `fixed` maps variables to their only possible value. `uses` are operators with their variables.
    """

    patterns: list[Triple] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    uses: list[tuple[str, tuple[Variable, ...]]] = field(default_factory=list)
    fixed_values: dict[Variable, ast.Term] = field(default_factory=dict)
    step_count: int = 0

    def substitute_fixed(self, columns: Set[Variable]) -> list[Triple]:
        """Return the distinct patterns, with fixed variables that are no columns replaced."""
        substitutions: dict[ast.Term, ast.Term] = {
            variable: term
            for variable, term in self.fixed_values.items()
            if variable not in columns
        }
        patterns = (
            (substitutions.get(subject, subject), predicate, substitutions.get(object_, object_))
            for subject, predicate, object_ in self.patterns
        )
        return list(dict.fromkeys(patterns))

    @property
    def _part_count(self) -> int:
        term_count = len(self.resources) + len(self.classes) + len(self.constants)
        return term_count + len(self.patterns) + len(self.operators)

    def collect(self, part: object) -> None:
        """Add the content of a part of a query tree."""
        match part:
            case ast.Pattern():
                self._collect_pattern(part.subject, part.predicate, part.object)
            case ast.Nested():
                if part.word == "SERVICE" and not any(ast.find_variables(part.group)):
                    return
                previous_count = self._part_count
                self.collect(part.group)
                if self._part_count > previous_count and part.word in ("OPTIONAL", "MINUS"):
                    self.operators.append(EQUIVALENT_OPERATORS.get(part.word, part.word))
            case ast.Call():
                self._collect_call(part)
            case ast.Filter():
                for condition in _iterate_conjuncts(part.condition):
                    self._collect_condition(condition)
            case ast.Bind() | ast.Values():
                self._collect_values(part)
            case NamedNode() | Literal():
                (self.constants if isinstance(part, Literal) else self.resources).append(
                    format_term_key(part)
                )
            case ast.Query():
                order = part.order if part.limit is not None or part.offset else ()
                self._collect_children(
                    (part.columns, part.where, part.group_by, part.having, order)
                )
                self.operators += ["GROUP BY"] * bool(part.group_by)
                self.operators += [
                    "ORDER BY DESC" if is_descending else "ORDER BY" for _, is_descending in order
                ]
                self.operators += [f"LIMIT {part.limit}"] * (part.limit is not None)
                self.operators += [f"OFFSET {part.offset}"] * bool(part.offset)
                self.uses += [
                    ("GROUP BY", (variable,)) for variable in ast.find_variables(part.group_by)
                ]
                self.uses += [
                    (
                        "ORDER BY DESC" if is_descending else "ORDER BY",
                        tuple(ast.find_variables(key)),
                    )
                    for key, is_descending in part.order
                ]
            case _:
                self._collect_children(part)

    def _collect_children(self, part: object) -> None:
        for child in part if isinstance(part, tuple) else ast.get_children(part):
            self.collect(child)
        if isinstance(part, ast.Union):
            self.operators.append("UNION")

    def _collect_values(self, part: ast.Bind | ast.Values) -> None:
        """Collect BIND and VALUES; a variable with a single value counts as the value."""
        match part:
            case ast.Bind(value=NamedNode() | Literal() as value, variable=variable):
                self._fix_value(variable, value)
            case ast.Values(variables=variables, rows=(row,)):
                for variable, term in zip(variables, row, strict=True):
                    if term is not None:
                        self._fix_value(variable, term)
            case ast.Values():
                self.resources += [
                    format_term_key(term) for row in part.rows for term in row if term
                ]
            case _:
                self._collect_children(part)

    def _collect_condition(self, condition: ast.Expression) -> None:
        match condition:
            case ast.Call(
                name="=" | "IN", arguments=(Variable() as first, NamedNode() | Literal() as second)
            ):
                self._fix_value(first, second)
            case ast.Call(
                name="=", arguments=(NamedNode() | Literal() as first, Variable() as second)
            ):
                self._fix_value(second, first)
            case _:
                self.collect(condition)

    def _fix_value(self, variable: Variable, value: ast.Term) -> None:
        self.resources.append(format_term_key(value))
        self.fixed_values[variable] = value

    def _collect_call(self, call: ast.Call) -> None:
        # A call tests a language tag: LANG(?x) = "en", LANGMATCHES(…).
        tags = (argument for argument in call.arguments if isinstance(argument, ast.Call))
        if call.name == "LANGMATCHES" or any(tag.name == "LANG" for tag in tags):
            return
        if call.name != "&&":
            self.operators.append(EQUIVALENT_OPERATORS.get(call.name, call.name))
        if call.name not in ("&&", "EXISTS", "NOT EXISTS"):
            variables = (argument for argument in call.arguments if isinstance(argument, Variable))
            self.uses.append((call.name, tuple(variables)))
        arguments = call.arguments[:2] if call.name == "REGEX" else call.arguments  # not its flags
        self._collect_children(arguments)

    def _collect_pattern(
        self, subject: ast.Term, predicate: ast.Predicate, value: ast.Term
    ) -> None:
        match predicate:
            case ast.Path(operator="^", parts=(path_part,)):
                self._collect_pattern(value, path_part, subject)
            case ast.Path(operator="/", parts=parts):
                current = subject
                for part in parts[:-1]:
                    self.step_count += 1
                    next_node = Variable(f"__step{self.step_count}")
                    self._collect_pattern(current, part, next_node)
                    current = next_node
                self._collect_pattern(current, parts[-1], value)
            case ast.Path(operator=operator):
                self.operators.append(f"path {operator}")
                self.predicates += [format_term_key(iri) for iri in _iterate_iris(predicate)]
                self._add_join(subject, to_text(predicate), value)
            case Variable():
                self._add_join(subject, "?", value)
            case _ if predicate.value == RDF_TYPE and isinstance(value, NamedNode):
                self.classes.append(format_term_key(value))
                self._collect_ends(subject)
            case _ if predicate.value in LABEL_PREDICATES and isinstance(value, Variable):
                self._collect_ends(subject)
            case _:
                self.predicates.append(format_term_key(predicate))
                self._add_join(subject, format_term_key(predicate), value)

    def _add_join(self, subject: ast.Term, predicate: str, value: ast.Term) -> None:
        self._collect_ends(subject, value)
        self.patterns.append((subject, predicate, value))

    def _collect_ends(self, *terms: ast.Term) -> None:
        self.resources += [
            format_term_key(term) for term in terms if isinstance(term, NamedNode | Literal)
        ]


def _iterate_conjuncts(condition: ast.Expression) -> Iterator[ast.Expression]:
    if isinstance(condition, ast.Call) and condition.name == "&&":
        for argument in condition.arguments:
            yield from _iterate_conjuncts(argument)
    else:
        yield condition


def _iterate_iris(predicate: ast.Predicate) -> Iterator[NamedNode]:
    if isinstance(predicate, NamedNode):
        yield predicate
    elif isinstance(predicate, ast.Path):
        for part in predicate.parts:
            yield from _iterate_iris(part)
