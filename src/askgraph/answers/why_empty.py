"""The reason why a query gives nothing: the part to blame, and small changes with their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize import TripleReader, in_words
from askgraph.answers.verbalize.conditions import split_condition, unwrap
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError
from askgraph.sparql import (
    Bind,
    Call,
    Element,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Query,
    Union,
    Values,
    transform,
    variables_of,
)
from askgraph.sparql.serializer import text_of, tree_of
from askgraph.sparql.vocabulary import (
    ALTERNATIVE_LABEL_PREDICATES,
    DATE_DATATYPES,
    LABEL_PREDICATES,
    NUMERIC_DATATYPES,
    RDF_TYPE,
    XSD_STRING,
)

_TELLS_NOTHING = frozenset([RDF_TYPE, *LABEL_PREDICATES, *ALTERNATIVE_LABEL_PREDICATES])
_VALUE = Variable("ask_value")


@dataclass(frozen=True)
class Change:
    """What to say, and the elements to put in place of the one that nothing matches."""

    words: str
    elements: tuple[Element, ...]


@dataclass(frozen=True)
class Lookup:
    """A question to the graph: what stands where nothing matched, or the nearest value.

    `elements` are put in place, `variable` is asked for; `extreme` takes MAX or MIN of it, else the
    three most frequent values are taken, without `but`.
    """

    words: str
    elements: tuple[Element, ...]
    variable: Variable
    extreme: str = ""
    but: frozenset[str] = frozenset()


def changes_of(element: Element) -> Iterator[Change]:
    """Yield small changes to an element, the likeliest first; the last resort is to drop it."""
    match element:
        case Pattern():
            subject, predicate, value = element.subject, element.predicate, element.object
            if isinstance(value, Literal):
                tagged = value.language or value.datatype.value != XSD_STRING
                kinds = "any language or datatype" if tagged else "a language tag or a datatype"
                found = Pattern(subject, predicate, _VALUE)
                yield from _alike(f"with {kinds}", Call("STR", (_VALUE,)), value.value, (found,))
                return
            if not isinstance(subject, Literal):
                yield Change("in the other direction", (Pattern(value, predicate, subject),))
            is_type = isinstance(predicate, NamedNode) and predicate.value == RDF_TYPE
            if isinstance(predicate, NamedNode) and not is_type:
                steps = Path("+", (predicate,))
                yield Change("over several steps", (Pattern(subject, steps, value),))
        case Filter():
            yield from _filter_changes(element)
            yield Change("without this condition", ())
        case Nested(word="MINUS"):
            yield Change("without taking anything away", ())
        case _:
            yield Change("without this part", ())


def lookup_of(element: Element) -> Lookup | None:
    """Return what to look up in the graph for an element that nothing matches."""
    match element:
        case Pattern(predicate=NamedNode() as predicate, object=NamedNode() as value) if (
            predicate.value == RDF_TYPE
        ):
            pattern = Pattern(element.subject, predicate, _VALUE)
            return Lookup("of the class {0}", (pattern,), _VALUE, but=frozenset([value.value]))
        case Pattern(predicate=NamedNode() as predicate):
            pattern = Pattern(element.subject, _VALUE, element.object)
            return Lookup(
                "with {0} instead of this predicate",
                (pattern,),
                _VALUE,
                but=_TELLS_NOTHING | {predicate.value},
            )
        case Filter(condition=Call(name=name, arguments=(left, right))):
            return _nearest(name, unwrap(left), unwrap(right))
        case _:
            return None


def _nearest(name: str, left: object, right: object) -> Lookup | None:
    """The largest or smallest value there is, if a comparison asks for more or less."""
    if isinstance(left, Literal) and isinstance(right, Variable):
        left, right = right, left
        name = name.translate(str.maketrans("<>", "><"))
    if not isinstance(left, Variable) or not _is_ordered(right):
        return None
    if name in (">", ">="):
        return Lookup("the highest value is {0}", (), left, extreme="MAX")
    if name in ("<", "<="):
        return Lookup("the lowest value is {0}", (), left, extreme="MIN")
    return None


def _is_ordered(term: object) -> bool:
    return isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES


def _alike(
    words: str, plain: Call, text: str, before: tuple[Element, ...] = ()
) -> Iterator[Change]:
    """A value compared by its characters alone, then in any case, then as a part."""
    lower, lowered = Call("LCASE", (plain,)), Literal(text.lower())
    same = (
        (words, Call("=", (plain, Literal(text)))),
        ("with capitals and small letters alike", Call("=", (lower, lowered))),
        ("with this text as a part", Call("CONTAINS", (lower, lowered))),
    )
    for said, condition in same:
        yield Change(said, (*before, Filter(condition)))


def _filter_changes(condition: Filter) -> Iterator[Change]:
    """Equal texts by their characters alone; parts of texts whatever the case."""
    match condition.condition:
        case Call(name="=" | "IN", arguments=(left, Literal() as right)) if not _is_ordered(right):
            plain = Call("STR", (unwrap(left),))
            yield from _alike("with any language or datatype", plain, right.value)
        case Call(name="CONTAINS" | "STRSTARTS" | "STRENDS" | "REGEX", arguments=(left, right, *_)):
            about = Call("LCASE", (Call("STR", (unwrap(left),)),))
            if isinstance(right, Literal):
                inside = Call("CONTAINS", (about, Literal(right.value.lower())))
                yield Change("with this text anywhere, in any case", (Filter(inside),))
        case Call(name="=", arguments=(left, Literal() as right)):
            plain = Call("STR", (unwrap(left),))
            beginning = Filter(Call("STRSTARTS", (plain, Literal(right.value))))
            yield Change("with values that start so", (beginning,))


_SUGGESTIONS = 3
_CULPRITS = 2
_RESERVE = 5  # requests kept back for what changes give


@dataclass(frozen=True)
class Suggestion:
    """A changed query, the change in words, and the number of its results."""

    change: str
    query: str
    results: int


@dataclass(frozen=True)
class Emptiness:
    """The part of a query that leaves nothing, why, and what small changes give."""

    pattern: str
    reason: str
    suggestions: tuple[Suggestion, ...] = ()


async def why_empty(
    query: Query | str,
    endpoint: Endpoint,
    *,
    budget: int = 12,
    labels: Mapping[str, str] | None = None,
) -> str | None:
    """Return in English words why a query has no result, and what small changes would give.

    At most `budget` requests are made. None if the query has results, or is no query that can
    be taken apart. Raises `ServiceError` as the endpoint does.
    """
    found = await emptiness(query, endpoint, budget=budget, labels=labels)
    if found is None:
        return None
    texts = [
        f"{one.change}: {one.results} result{'s' * (one.results != 1)}" for one in found.suggestions
    ]
    return found.reason + (f" Possible: {'; '.join(texts)}." if texts else "")


async def emptiness(
    query: Query | str,
    endpoint: Endpoint,
    *,
    budget: int = 12,
    labels: Mapping[str, str] | None = None,
) -> Emptiness | None:
    """Return the same as `why_empty` in a form to build on; its suggestions are whole queries."""
    try:
        tree = _opened(tree_of(query))
        reader = TripleReader(labels or {}, tree.where)
        return await _Search(tree, endpoint, budget, reader, labels or {}).run()
    except QueryError:
        return None


def _opened(query: Query) -> Query:
    """The query with the groups that are mere braces taken in."""
    elements: list[Element] = []
    for element in query.where.elements:
        match element:
            case Nested(word="", group=group):
                elements += group.elements
            case Filter(condition=Call(name="&&")):
                parts = split_condition(element.condition, "&&")
                elements += [Filter(part) for part in parts if isinstance(part, Call)]
            case _:
                elements.append(element)
    return replace(query, where=Group(tuple(elements)))


@dataclass
class _Search:
    """One search for the part that leaves nothing, within a budget of requests."""

    tree: Query
    endpoint: Endpoint
    budget: int
    reader: TripleReader
    labels: Mapping[str, str]

    @property
    def elements(self) -> tuple[Element, ...]:
        return self.tree.where.elements

    async def run(self) -> Emptiness | None:
        if not self.elements or not await self.is_empty(self.elements):
            return self.after_the_patterns()
        alone = await self.single_culprits()
        culprits = alone or await self.first_empty()
        if not culprits:
            return None
        culprit, suggestions = culprits[0], tuple[Suggestion, ...]()
        for number in culprits:
            if found := await self.suggestions(number):
                culprit, suggestions = number, found
                break
        reason = self.reason(culprit, alone=bool(alone))
        return Emptiness(text_of(self.elements[culprit]), reason, suggestions)

    def after_the_patterns(self) -> Emptiness | None:
        """What leaves nothing although the patterns match: HAVING, OFFSET or LIMIT 0."""
        if self.tree.having:
            conditions = " ".join(text_of(condition) for condition in self.tree.having)
            reason = "The patterns match, but no group fulfils the HAVING condition."
            return Emptiness(conditions, reason)
        if self.tree.limit == 0:
            return Emptiness("LIMIT 0", "The query asks for no rows at all (LIMIT 0).")
        if self.tree.offset:
            reason = f"The patterns match, but there are no more than {self.tree.offset} rows."
            return Emptiness(f"OFFSET {self.tree.offset}", reason)
        return None

    async def is_empty(self, elements: tuple[Element, ...]) -> bool | None:
        """Whether nothing matches some elements; None if the budget is spent."""
        if self.budget <= 0:
            return None
        self.budget -= 1
        return not await self.endpoint.ask(text_of(Query("ASK", Group(elements))))

    async def single_culprits(self) -> list[int]:
        """Elements without which there is something: conditions first, classes last; two or so."""
        if len(self.elements) == 1:
            return [0]
        found: list[int] = []
        order = sorted(range(len(self.elements)), key=lambda n: _suspicion(self.elements[n]))
        for number in order:
            if self.budget <= _RESERVE or len(found) == _CULPRITS:
                break
            match self.elements[number]:
                case Bind() | Nested(word="OPTIONAL"):
                    continue
            if await self.is_empty(self.changed(number, ()).where.elements) is False:
                found.append(number)
        return found

    async def first_empty(self) -> list[int]:
        """The element at which the query, grown from its start, comes to match nothing."""
        low, high = 0, len(self.elements)
        while high - low > 1:
            middle = (low + high) // 2
            empty = await self.is_empty(self.elements[:middle])
            if empty is None:
                return []
            low, high = (low, middle) if empty else (middle, high)
        return [high - 1]

    def reason(self, culprit: int, *, alone: bool) -> str:
        said = self.said(self.elements[culprit])
        if len(self.elements) == 1:
            return f"Nothing in the graph matches “{said}”."
        if alone:
            return f"Without “{said}” there are results; with it nothing is left."
        return f"From “{said}” on nothing is left."

    def said(self, element: Element) -> str:
        """An element in words."""
        match element:
            case Pattern():
                return self.reader.read(element)
            case Filter():
                subject = next(variables_of(element), Variable("value"))
                plain = Query("SELECT", Group((element,)), columns=((subject, None),))
                words = in_words(plain, self.labels).rstrip(".")
                return _condition_words(words, self.reader.name(subject)) or text_of(element)
            case Nested(group=group):
                patterns = [part for part in group.elements if isinstance(part, Pattern)]
                said = " and ".join(self.reader.read(pattern) for pattern in patterns)
                return f"{element.word.lower()} {said}"
            case _:
                return text_of(element)

    async def suggestions(self, culprit: int) -> tuple[Suggestion, ...]:
        """What small changes to the culprit give; those that give nothing are left out."""
        element = self.elements[culprit]
        found: list[Suggestion] = []
        lookup = lookup_of(element)
        kept = 1 if lookup is not None else 0
        for change in changes_of(element):
            if self.budget <= kept or len(found) >= _SUGGESTIONS:
                break
            found += await self.counted(culprit, change)
        if lookup is not None and self.budget > 0:
            found += await self.looked_up(culprit, lookup)
        return tuple(found)

    async def counted(self, culprit: int, change: Change) -> list[Suggestion]:
        """A change with the number of its results, in a list; an empty list if it gives none."""
        changed = self.changed(culprit, change.elements)
        giving = Pattern | Query | Union | Values
        if not any(isinstance(element, giving) for element in changed.where.elements):
            return []
        self.budget -= 1
        result = await self.endpoint.select(text_of(_count(changed)))
        number = _integer(result.rows[0][0]) if result.rows else 0
        return [Suggestion(change.words, text_of(changed), number)] if number else []

    def changed(self, culprit: int, elements: tuple[Element, ...]) -> Query:
        there = self.elements[:culprit] + elements + self.elements[culprit + 1 :]
        return replace(self.tree, where=Group(there))

    async def looked_up(self, culprit: int, lookup: Lookup) -> list[Suggestion]:
        """Suggestions from what the graph has in the culprit's place."""
        changed = self.changed(culprit, lookup.elements).where
        self.budget -= 1
        sought = lookup.variable
        if lookup.extreme:
            extreme = Call(lookup.extreme, (sought,))
            query = Query("SELECT", changed, ((Variable("ask_extreme"), extreme), _COUNTED))
        else:
            query = Query(
                "SELECT",
                changed,
                ((sought, None), _COUNTED),
                group_by=((sought, None),),
                order=((_COUNTED[0], True),),
                limit=_SUGGESTIONS + 4,
            )
        result = await self.endpoint.select(text_of(query))
        found = []
        for row in result.rows:
            value, number = row[0], _integer(row[1])
            if (
                not number
                or not isinstance(value, NamedNode | Literal)
                or value.value in lookup.but
            ):
                continue
            words = lookup.words.format(self.reader.read_term(value))
            elements = _with_value(lookup, value)
            if lookup.extreme:
                return await self.counted(culprit, Change(words, elements))
            found.append(Suggestion(words, text_of(self.changed(culprit, elements)), number))
        return found[:_SUGGESTIONS]


def _with_value(lookup: Lookup, value: NamedNode | Literal) -> tuple[Element, ...]:
    """The elements of a lookup with the value found in the place of its variable."""
    if not lookup.elements:
        return (Filter(Call("=", (lookup.variable, value))),)
    if not isinstance(value, NamedNode):
        return lookup.elements
    filled: tuple[Element, ...] = transform(
        lookup.elements, lambda node: value if node == lookup.variable else node
    )
    return filled


_COUNTED = (Variable("ask_n"), Call("COUNT"))


def _count(query: Query) -> Query:
    """A query for the number of a query's rows."""
    if query.form != "SELECT" or query.is_aggregate:
        return Query("SELECT", query.where, (_COUNTED,))
    plain = replace(query, order=(), limit=None, offset=None)
    return Query("SELECT", Group((plain,)), (_COUNTED,))


def _integer(term: object) -> int:
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def _suspicion(element: Element) -> int:
    """The order in which elements are dropped: what restricts most and joins least comes first."""
    match element:
        case Filter():
            return 0
        case Nested():
            return 1
        case Values():
            return 2
        case Pattern(predicate=NamedNode(value=iri)) if iri == RDF_TYPE:
            return 7
        case Pattern():
            return 3 + len(set(variables_of(element)))
        case _:
            return 8


def _condition_words(words: str, noun: str) -> str:
    """What a filter says, from the sentence on what fulfils it: `diameter is more than 5`."""
    for head, verb in (("Things that are ", "is "), ("Things that ", "must ")):
        if words.startswith(head):
            return f"{noun} {verb}{words[len(head) :]}"
    return ""
