"""The checks of a query by itself: its syntax, its parts, and conditions that nothing can meet."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyoxigraph import Literal, NamedNode, Store, Variable

from askgraph.answers.validation import (
    MAX_JUDGED,
    UNJUDGED,
    Finding,
    Kind,
    Knowledge,
    Place,
    PredicateUse,
    Proposal,
    Sorts,
    Subject,
    place_of,
    place_of_variable,
)
from askgraph.answers.validation._blocks import Atom, Block, Env, block_of
from askgraph.answers.validation._blocks import walk as walk_blocks
from askgraph.answers.verbalize._nouns import parts_of
from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql import (
    AGGREGATES,
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Term,
    Union,
    Values,
    variables_in_scope,
    variables_of,
    walk,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.judge import checked
from askgraph.sparql.lexer import lexed, with_declared
from askgraph.sparql.prefixes import language_chain
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import RDF_LANG_STRING, RDF_TYPE, XSD_STRING

__all__ = ["filters", "structure", "syntax"]

_PRODUCT = 0.6  # a product may be meant
_COMPARED = 0.4  # more often it is where both are asked for, and one is of a thing that is named
_NAMED = "="  # stands in a block that is about something named
_WITHIN = 0.4  # a column of a query within another that nothing fills does no harm


def structure(subject: Subject, /) -> Iterator[Finding]:
    """Give columns that no group has, variables that nothing binds, and products of two blocks."""
    if subject.tree is None:
        return
    for query in (one for one in walk(subject.tree) if isinstance(one, Query)):
        yield from _unbound(query, subject.text, sure=1.0 if query is subject.tree else _WITHIN)
        yield from _ungrouped(query, subject.text)
        yield from _unjoined(query)


def _unbound(query: Query, text: str, *, sure: float) -> Iterator[Finding]:
    """Columns that nothing in the WHERE part gives."""
    bound = _bound(query.where)
    bound |= {name.value for _, name in query.group_by if name is not None}
    computed = {name.value for name, value in query.columns if value is not None}
    for name, value in query.columns:
        used = [name] if value is None else list(variables_of(value))
        for variable in dict.fromkeys(used):
            known = variable.value in bound or (value is not None and variable.value in computed)
            if not known:
                yield Finding(
                    Kind.UNBOUND,
                    f"nothing in the query gives {variable} a value",
                    place_of_variable(text, variable.value),
                    str(variable),
                    certainty=sure,
                )


def _bound(part: object) -> set[str]:
    """The names of the variables that a part may give a value."""
    return {name.value for name in variables_in_scope(part)}


def _ungrouped(query: Query, text: str) -> Iterator[Finding]:
    if not query.is_aggregate or query.form != "SELECT":
        return
    keys = {str(name) for _, name in query.group_by if name is not None}
    keys |= {text_of(value) for value, _ in query.group_by}
    computed = {str(name) for name, value in query.columns if value is not None}
    for name, value in query.columns:
        free = [name] if value is None else list(_free(value, keys))
        for variable in dict.fromkeys(free):
            if str(variable) not in keys and (value is None or str(variable) not in computed):
                yield Finding(
                    Kind.UNGROUPED,
                    f"{variable} is neither grouped by nor within an aggregate:"
                    f" add it to GROUP BY, or use SAMPLE({variable})",
                    place_of_variable(text, variable.value),
                    str(variable),
                )


def _free(value: Expression, keys: set[str]) -> Iterator[Variable]:
    """The variables of an expression that stand outside aggregates and keys."""
    if text_of(value) in keys:
        return
    match value:
        case Variable():
            yield value
        case Call(name=name, arguments=arguments) if name.split()[0] not in AGGREGATES:
            for inner in arguments:
                yield from _free(inner, keys)
        case _:
            return


def _unjoined(query: Query) -> Iterator[Finding]:
    """Parts that share no variable, each of several rows."""
    if query.form != "SELECT":
        return
    outside = [
        {name.value for name in variables_of(value)}
        for value in [*(v for _, v in query.columns if v is not None), *query.having]
    ]
    outside += [{name.value for value, _ in query.order for name in variables_of(value)}]
    asked = {name.value for name, value in query.columns if value is None}.union(*outside)
    yield from _products(query.where, outside, asked if query.columns else None)


def _products(
    group: Group, outside: Sequence[set[str]], asked: set[str] | None
) -> Iterator[Finding]:
    """Products in a group; `asked` is what of it the query gives, None if that is all."""
    parts = [
        {*bound, *_named(one)} if (bound := _bound(one)) else set()
        for one in group.elements
        if _multiplies(one)
    ]
    links = [
        {name.value for name in variables_of(one)}
        for one in group.elements
        if isinstance(one, Filter | Bind) or not _multiplies(one)
    ]
    blocks = _blocks([part for part in parts if part], [*links, *outside])
    if len(blocks) > 1:
        names = [", ".join(sorted(_shown(block))[:3]) for block in blocks]
        yield Finding(
            Kind.UNJOINED,
            "nothing joins " + " and ".join(names[:3]) + ": each solution of one meets all of the"
            " other",
            term=names[1],
            certainty=_COMPARED if _is_meant(blocks, asked) else _PRODUCT,
        )
    around = [_bound(group), *outside]
    for element in group.elements:
        inner = [element.group] if isinstance(element, Nested) else []
        inner += list(element.groups) if isinstance(element, Union) else []
        for one in inner:
            yield from _products(one, around, asked)


def _is_meant(blocks: Sequence[set[str]], asked: set[str] | None) -> bool:
    """Whether things that are named are put beside others, and something of each is asked for."""
    free = sum(not _is_named(block) for block in blocks)
    return free < len(blocks) and all(asked is None or block & asked for block in blocks)


def _is_named(block: set[str]) -> bool:
    """Whether a block is about things that are named: by subject, by text, or as all there is."""
    variables = [name for name in block if not name.startswith(("<", _NAMED))]
    return _NAMED in block or (len(variables) == 1 and len(block) > 1)


def _named(element: Element) -> Iterator[str]:
    """The things that a pattern names: what is said of one thing belongs together."""
    match element:
        case Pattern() if element.predicate != NamedNode(RDF_TYPE):
            ends = (element.subject, element.object)
            yield from (str(term) for term in ends if isinstance(term, NamedNode))
            if isinstance(element.subject, NamedNode) or _is_text(element.object):
                yield _NAMED
        case Values():
            yield _NAMED


def _is_text(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype.value in (XSD_STRING, RDF_LANG_STRING)


def _multiplies(element: Element) -> bool:
    """Whether an element may give several rows of its own."""
    match element:
        case Filter() | Bind() | Nested(word="MINUS" | "OPTIONAL"):
            return False
        case Query() as query:
            single = query.is_aggregate and not query.group_by
            return not single and query.limit != 1
        case Values(rows=rows):
            return len(rows) > 1
        case _:
            return True


def _blocks(parts: Sequence[set[str]], links: Sequence[set[str]]) -> list[set[str]]:
    """Put together what shares a variable; a link joins the parts that it touches."""
    blocks: list[set[str]] = []
    for names in parts:
        touching = [block for block in blocks if block & names - {_NAMED}]
        blocks = [block for block in blocks if not block & names - {_NAMED}]
        blocks.append(set().union(names, *touching))
    for names in links:
        touching = [block for block in blocks if block & names]
        if len(touching) > 1:
            blocks = [block for block in blocks if not block & names]
            blocks.append(set().union(*touching))
    return blocks


def _shown(block: set[str]) -> set[str]:
    """Its variables as they are written, those of blank nodes only if there are no others."""
    names = {f"?{name}" for name in block if not name.startswith(("<", _NAMED))}
    return {name for name in names if not name.startswith("?__")} or names


def syntax(subject: Subject, /) -> Iterator[Finding]:
    """Give the prefixes that are not declared, and where a query that cannot be read goes wrong."""
    if len(subject.text) > MAX_JUDGED:
        message = f"it has {len(subject.text):,} characters; at most {MAX_JUDGED:,} are looked at"
        yield Finding(Kind.SYNTAX, message, certainty=UNJUDGED)
        return
    known = subject.services.own.prefixes.namespaces
    yield from _undeclared(subject.text, known)
    yield from _faults(subject, known)


def _undeclared(text: str, known: Mapping[str, str]) -> Iterator[Finding]:
    for prefix, token in lexed(text).undeclared.items():
        namespace = known.get(prefix, "")
        proposals = (Proposal(f"PREFIX {prefix}: <{namespace}>"),) if namespace else ()
        yield Finding(
            Kind.PREFIX,
            f"the prefix {prefix + ':'!r} is not declared",
            place_of(text, (token.start, token.end)),
            prefix,
            proposals,
        )


def _faults(subject: Subject, known: Mapping[str, str]) -> Iterator[Finding]:
    if subject.tree is not None:
        return
    text = subject.text
    known = {**dict.fromkeys(lexed(text).undeclared, _UNKNOWN), **known}
    if not _is_read(with_declared(text, known)):
        try:
            checked(text, prefixes=known)
        except QueryError as problem:
            yield Finding(Kind.SYNTAX, str(problem), _place(problem, text))
            return
    message = "it has what SPARQL 1.1 does not know, and was not looked at any further"
    yield Finding(Kind.SYNTAX, message, certainty=UNJUDGED)


def _place(problem: QueryError, text: str) -> Place | None:
    if not isinstance(problem, QuerySyntaxError) or not problem.line or not problem.column:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: problem.line - 1]) + problem.column - 1
    return place_of(text, (start, min(start + 1, len(text))))


_PARSED = 5_000  # characters that pyoxigraph is given
_MOST_JOINS = 40  # the fast one orders joins, in time that grows with their third power
_MOST_UNIONS = 8
_JOINING = frozenset(".;,/[({")
_UNKNOWN = "urn:unknown:"


def _is_read(text: str) -> bool:
    """Whether pyoxigraph reads a text that is short; it is put to an empty store.

    It plans and evaluates what it reads: nothing may be called, and what multiplies without any
    triples (VALUES, UNION) stays small.
    """
    if len(text) > _PARSED or "service" in text.lower():
        return False
    given = lexed(text).given
    words = Counter(token.text.upper() for token in given if token.kind in ("word", "mark"))
    joins = sum(words[mark] for mark in _JOINING)
    if joins > _MOST_JOINS or words["VALUES"] > 1 or words["UNION"] > _MOST_UNIONS:
        return False
    try:
        Store().query(text)
    except (SyntaxError, ValueError, OSError, RuntimeError):
        return False
    return True


_CHECKED = 0.9  # some stores compare what SPARQL does not


def filters(subject: Subject, /) -> Iterator[Finding]:
    """Give the filters that compare what cannot be equal: other types, languages, or bounds."""
    if subject.tree is None:
        return
    for block, env, _ in walk_blocks(block_of(subject.tree, subject.services)):
        for one, reason in contradictions(block.filters):
            yield _finding(one, reason, (), subject, sure=1.0)
        if block.known is None:
            continue
        values = _Values(block, env, block.known)
        for one in block.filters:
            for reason, forms in values.reasons(one.condition):
                sure = _CHECKED * block.known.complete
                yield _finding(one, reason, forms, subject, sure=sure)


def _finding(
    one: Filter, reason: str, forms: Sequence[Literal], subject: Subject, *, sure: float
) -> Finding:
    return Finding(
        Kind.FILTER,
        reason,
        None if one.span is None else place_of(subject.text, one.span),
        text_of(one.condition),
        tuple(Proposal(text_of(form)) for form in forms),
        sure,
    )


Reason = tuple[str, tuple[Literal, ...]]


@dataclass(frozen=True)
class _Values:
    """What is known of the values of a block's variables."""

    block: Block
    env: Env
    known: Knowledge

    def reasons(self, condition: Expression) -> Iterator[Reason]:
        """Why a condition never holds; nothing if it may."""
        for one in parts_of(condition, "&&"):
            match one:
                case Call(name="||"):
                    all_reasons = [list(self.reasons(part)) for part in parts_of(one, "||")]
                    if all(all_reasons):
                        yield all_reasons[0][0]
                case Call(name="IN", arguments=(Variable() as left, *members)) if members:
                    found = [
                        list(self.typed(left, "=", member)) if isinstance(member, Literal) else []
                        for member in members
                    ]
                    if all(found):
                        yield found[0][0]
                case _ if comparison := _comparison(one):
                    yield from self.compared(*comparison)

    def compared(self, left: Expression, name: str, right: Literal) -> Iterator[Reason]:
        match left:
            case Variable():
                yield from self.typed(left, name, right)
            case Call(name="LANG", arguments=(Variable() as variable,)) if name == "=":
                tags = self.languages(variable)
                wanted = right.value.lower()
                if tags and wanted not in {tag.lower() for tag in tags}:
                    shown = ", ".join(sorted(tags)[:5])
                    said = f"no value of {variable} is in the language {right.value!r}"
                    yield f"{said}: there are {shown}", tuple(map(Literal, sorted(tags)[:3]))

    def typed(self, variable: Variable, name: str, literal: Literal) -> Iterator[Reason]:
        sorts = self.datatypes(variable)
        if sorts is None:
            return
        own = literal.datatype.value
        if not any(_comparable(one, own) for one in sorts):
            forms = fitting(literal, sorts, frozenset())
            yield f"no value of {variable} can be compared with {text_of(literal)}", forms
        elif name == "=" and own == v.XSD_STRING and sorts == {v.RDF_LANG_STRING}:
            forms = fitting(literal, sorts, self.languages(variable))
            yield (
                f"the values of {variable} have a language tag, {text_of(literal)} has none",
                forms,
            )

    def datatypes(self, variable: Variable) -> Sorts | None:
        """The datatypes of a variable; None if it may be something else."""
        sorts = self.env.get(variable.value)
        if sorts is None or not sorts or sorts & self.known.classes.keys() or "" in sorts:
            return None
        literal = {one for use in self.uses(variable) for one in use.datatypes}
        return sorts if sorts <= literal else None

    def languages(self, variable: Variable) -> frozenset[str]:
        """The language tags that values of a variable may have; empty if that is not known."""
        uses = list(self.uses(variable))
        if not uses or any(not use.languages for use in uses):
            return frozenset()
        tags = frozenset[str]().union(*(use.languages for use in uses))
        return tags | {""} if any(use.datatypes - {v.RDF_LANG_STRING} for use in uses) else tags

    def uses(self, variable: Variable) -> Iterator[PredicateUse]:
        for atom in self.block.atoms:
            if isinstance(atom, Atom) and atom.object == variable:
                for step in atom.steps:
                    if not step.inverse and step.predicate in self.known.predicates:
                        yield self.known.predicates[step.predicate]


TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_ANEW = re.compile(r"\b(?:RAND|UUID|STRUUID|BNODE)\(")  # give another value at each call


@dataclass(frozen=True)
class _Bound:
    """A condition `value operator number`."""

    value: str
    operator: str
    number: Decimal
    shown: str

    @property
    def text(self) -> str:
        return f"{self.operator} {self.shown}"


def contradictions(filters: Iterable[Filter]) -> Iterator[tuple[Filter, str]]:
    """Yield the filters that leave no number to a value which others bound, and why.

    All filters are of one group and hold together. Of a value only the first contradiction
    is reported.
    """
    tightest: dict[tuple[str, bool], _Bound] = {}
    told: set[str] = set()
    for one in filters:
        for bound in _bounds(one.condition):
            # `<` bounds from above, `>` from below, and `=` does both.
            for below in (True, False) if bound.operator == "=" else (bound.operator[0] == "<",):
                other = tightest.get((bound.value, not below))
                if other and bound.value not in told and _exclude(bound, other, below=below):
                    told.add(bound.value)
                    yield one, f"{bound.value} cannot be {other.text} and {bound.text}"
                known = tightest.get((bound.value, below))
                if known is None or _is_tighter(bound, known, below=below):
                    tightest[bound.value, below] = bound


def _comparison(condition: Expression) -> tuple[Expression, str, Literal] | None:
    """What a condition compares with a value, and how; None if it is no comparison."""
    match condition:
        case Call(name=name, arguments=(left, Literal() as right)) if name in TURNED:
            return left, name, right
        case Call(name=name, arguments=(Literal() as left, right)) if name in TURNED:
            return right, TURNED[name], left
    return None


def _bounds(condition: Expression) -> Iterator[_Bound]:
    for left, name, right in filter(None, map(_comparison, parts_of(condition, "&&"))):
        number = _number(right)
        if number is not None and isinstance(left, Variable | Call):
            text = text_of(left)
            if not _ANEW.search(text):
                yield _Bound(text, name, number, text_of(right))


def _number(literal: Literal) -> Decimal | None:
    if literal.datatype.value not in v.NUMERIC_DATATYPES:
        return None
    try:
        number = Decimal(literal.value)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _exclude(bound: _Bound, other: _Bound, *, below: bool) -> bool:
    low, high = (other, bound) if below else (bound, other)
    strict = high.operator == "<" or low.operator == ">"
    return low.number > high.number or (strict and low.number == high.number)


def _is_tighter(bound: _Bound, known: _Bound, *, below: bool) -> bool:
    if bound.number == known.number:
        return bound.operator in ("<", ">")
    return (bound.number < known.number) == below


_TEXTS = frozenset({v.RDF_LANG_STRING, v.XSD_STRING})
_TIMES = v.DATE_DATATYPES | {v.XSD_TIME, v.XSD_DURATION, v.XSD_G_MONTH, v.XSD_G_DAY}


def fitting(
    literal: Literal, datatypes: frozenset[str], languages: frozenset[str]
) -> tuple[Literal, ...]:
    """Return the literals of the same text that have one of the datatypes, the likeliest first.

    Numbers stay if the text is one; of the languages, English and no other comes first.
    """
    found: list[Literal] = []
    for datatype in sorted(datatypes, key=lambda one: (one not in _TEXTS, one)):
        if datatype == v.RDF_LANG_STRING:
            tag = literal.language or ""
            order = [*language_chain([tag, "en"]), *sorted(languages)]
            tags = [one for one in dict.fromkeys(order) if one in languages]
            found += [Literal(literal.value, language=one) for one in tags[:3]]
        elif datatype == v.XSD_STRING:
            found.append(Literal(literal.value))
        else:
            found += _typed(literal.value, datatype)
    kind = _kind(literal.datatype.value)
    ordered = sorted(found, key=lambda one: _kind(one.datatype.value) != kind)
    return tuple(one for one in ordered if one != literal)


def _comparable(first: str, second: str) -> bool:
    """Whether values of two datatypes can be compared; unknown datatypes with all."""
    kinds = _kind(first), _kind(second)
    return kinds[0] == kinds[1] or "" in kinds


def _typed(text: str, datatype: str) -> Iterator[Literal]:
    literal = Literal(text, datatype=NamedNode(datatype))
    if datatype in v.NUMERIC_DATATYPES:
        try:
            number = float(text)
        except ValueError:
            return
        if datatype in v.INTEGER_DATATYPES and not number.is_integer():
            return
        whole = datatype in v.INTEGER_DATATYPES and not text.lstrip("+-").isdigit()
        yield Literal(str(int(number)), datatype=NamedNode(datatype)) if whole else literal
    elif datatype == v.XSD_BOOLEAN:
        if text in ("true", "false", "0", "1"):
            yield literal
    else:
        yield literal


def _kind(datatype: str) -> str:
    if datatype in v.NUMERIC_DATATYPES:
        return "number"
    if datatype in _TEXTS:
        return "text"
    if datatype in _TIMES:
        return datatype if datatype not in v.DATE_DATATYPES else "date"
    return "boolean" if datatype == v.XSD_BOOLEAN else ""
