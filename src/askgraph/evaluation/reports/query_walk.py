"""A walk through a query: its patterns, words and operators, and the variables these are given."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.sparql import (
    Bind,
    Call,
    Expression,
    Filter,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    Values,
    children,
    variables_of,
)
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import LABEL_PREDICATES, RDF_TYPE

Triple = tuple[Term, str, Term]  # subject, predicate as text, object

ROUNDS = 6  # as far as a variable's neighbourhood is looked at


def term_key(term: Term) -> str:
    """Return an IRI, or the text of a literal whatever its datatype and language."""
    return f'"{term.value}"' if isinstance(term, Literal) else str(term)


def digests(
    patterns: Sequence[Triple], *, marked: Set[Variable] = frozenset(), directed: bool = True
) -> Mapping[Term, str]:
    """Return a name for each subject and object: a digest for a variable, else its key.

    A variable has the same name in two queries if it stands in the same patterns, next to variables
    that do, and so on: colour refinement (Weisfeiler and Leman, 1968), a fixed number of rounds.
    `marked` variables are told from others. Without direction, which end of a pattern is which
    makes no difference.
    """
    names: Mapping[Term, str] = {
        term: ("?column" if term in marked else "?")
        if isinstance(term, Variable)
        else term_key(term)
        for subject, _, value in patterns
        for term in (subject, value)
    }
    for _ in range(ROUNDS):
        names = {
            term: _renamed(term, names, patterns, directed) if isinstance(term, Variable) else name
            for term, name in names.items()
        }
    return names


def _renamed(
    variable: Variable, names: Mapping[Term, str], patterns: Sequence[Triple], directed: bool
) -> str:
    seen = [
        ("out" if directed else "", predicate, names[value])
        for subject, predicate, value in patterns
        if subject == variable
    ] + [
        ("in" if directed else "", predicate, names[subject])
        for subject, predicate, value in patterns
        if value == variable
    ]
    text = repr((names[variable], sorted(seen)))
    return "?" + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


SAME = {"MINUS": "NOT EXISTS", "COUNT DISTINCT": "COUNT"}


@dataclass
class Found:
    """What was met so far in a tree; `fixed` are variables with the one value they can have.

    `uses` are operators with the variables that each is given.
    """

    patterns: list[Triple] = field(default_factory=list)
    things: list[str] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    uses: list[tuple[str, tuple[Variable, ...]]] = field(default_factory=list)
    fixed: dict[Variable, Term] = field(default_factory=dict)
    fresh: int = 0

    @property
    def given(self) -> frozenset[Variable]:
        """The variables that operators are given."""
        return frozenset(variable for _, variables in self.uses for variable in variables)

    def with_fixed(self, shown: Set[Variable]) -> list[Triple]:
        """Return the different patterns, with the values of variables that are no columns."""
        fixed: dict[Term, Term] = {v: t for v, t in self.fixed.items() if v not in shown}
        patterns = ((fixed.get(s, s), p, fixed.get(o, o)) for s, p, o in self.patterns)
        return list(dict.fromkeys(patterns))

    @property
    def _size(self) -> int:
        words = len(self.things) + len(self.classes) + len(self.constants)
        return words + len(self.patterns) + len(self.operators)

    def take(self, part: object) -> None:
        """Add what a part of a tree holds."""
        match part:
            case Pattern():
                self._pattern(part.subject, part.predicate, part.object)
            case Nested():
                if part.word == "SERVICE" and not any(variables_of(part.group)):
                    return
                before = self._size
                self.take(part.group)
                if self._size > before and part.word in ("OPTIONAL", "MINUS"):
                    self.operators.append(SAME.get(part.word, part.word))
            case Call():
                self._call(part)
            case Filter():
                for one in _conjuncts(part.condition):
                    self._condition(one)
            case Bind() | Values():
                self._given_values(part)
            case NamedNode() | Literal():
                (self.constants if isinstance(part, Literal) else self.things).append(
                    term_key(part)
                )
            case Query():
                cut = part.limit is not None or bool(part.offset)
                order = part.order if cut else ()
                self._inner((part.columns, part.where, part.group_by, part.having, order))
                self.operators += ["GROUP BY"] * bool(part.group_by)
                self.operators += ["ORDER BY DESC" if down else "ORDER BY" for _, down in order]
                self.operators += [f"LIMIT {part.limit}"] * (part.limit is not None)
                self.operators += [f"OFFSET {part.offset}"] * bool(part.offset)
                self.uses += [("GROUP BY", (variable,)) for variable in variables_of(part.group_by)]
                self.uses += [
                    ("ORDER BY DESC" if down else "ORDER BY", tuple(variables_of(key)))
                    for key, down in part.order
                ]
            case _:
                self._inner(part)

    def _inner(self, part: object) -> None:
        for piece in part if isinstance(part, tuple) else children(part):
            self.take(piece)
        if isinstance(part, Union):
            self.operators.append("UNION")

    def _given_values(self, part: Bind | Values) -> None:
        """Values that the query gives: a variable with a single one is as good as the value."""
        match part:
            case Bind(value=NamedNode() | Literal() as value, variable=variable):
                self._fix(variable, value)
            case Values(variables=variables, rows=(row,)):
                for variable, term in zip(variables, row, strict=True):
                    if term is not None:
                        self._fix(variable, term)
            case Values():
                self.things += [term_key(term) for row in part.rows for term in row if term]
            case _:
                self._inner(part)

    def _condition(self, condition: Expression) -> None:
        match condition:
            case Call(
                name="=" | "IN", arguments=(Variable() as one, NamedNode() | Literal() as other)
            ):
                self._fix(one, other)
            case Call(name="=", arguments=(NamedNode() | Literal() as one, Variable() as other)):
                self._fix(other, one)
            case _:
                self.take(condition)

    def _fix(self, variable: Variable, value: Term) -> None:
        self.things.append(term_key(value))
        self.fixed[variable] = value

    def _call(self, call: Call) -> None:
        if _is_of_language(call):
            return
        if call.name != "&&":
            self.operators.append(SAME.get(call.name, call.name))
        if call.name not in ("&&", "EXISTS", "NOT EXISTS"):
            plain = (argument for argument in call.arguments if isinstance(argument, Variable))
            self.uses.append((call.name, tuple(plain)))
        arguments = call.arguments[:2] if call.name == "REGEX" else call.arguments  # not its flags
        self._inner(arguments)

    def _pattern(self, subject: Term, predicate: Predicate, value: Term) -> None:
        match predicate:
            case Path(operator="^", parts=(inner,)):
                self._pattern(value, inner, subject)
            case Path(operator="/", parts=parts):
                here = subject
                for part in parts[:-1]:
                    self.fresh += 1
                    there = Variable(f"__step{self.fresh}")
                    self._pattern(here, part, there)
                    here = there
                self._pattern(here, parts[-1], value)
            case Path(operator=operator):
                self.operators.append(f"path {operator}")
                self.predicates += [term_key(iri) for iri in _iris(predicate)]
                self._join(subject, text_of(predicate), value)
            case Variable():
                self._join(subject, "?", value)
            case _ if predicate.value == RDF_TYPE and isinstance(value, NamedNode):
                self.classes.append(term_key(value))
                self._ends(subject)
            case _ if predicate.value in LABEL_PREDICATES and isinstance(value, Variable):
                self._ends(subject)
            case _:
                self.predicates.append(term_key(predicate))
                self._join(subject, term_key(predicate), value)

    def _join(self, subject: Term, predicate: str, value: Term) -> None:
        self._ends(subject, value)
        self.patterns.append((subject, predicate, value))

    def _ends(self, *terms: Term) -> None:
        self.things += [term_key(term) for term in terms if isinstance(term, NamedNode | Literal)]


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.name == "&&":
        for argument in condition.arguments:
            yield from _conjuncts(argument)
    else:
        yield condition


def _is_of_language(call: Call) -> bool:
    """Return whether a call asks for a language tag: LANG(?x) = "en", LANGMATCHES(…)."""
    tags = (argument for argument in call.arguments if isinstance(argument, Call))
    return call.name == "LANGMATCHES" or any(tag.name == "LANG" for tag in tags)


def _iris(predicate: Predicate) -> Iterator[NamedNode]:
    if isinstance(predicate, NamedNode):
        yield predicate
    elif isinstance(predicate, Path):
        for part in predicate.parts:
            yield from _iris(part)
