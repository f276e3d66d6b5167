"""Explain an empty result: the part of the query to blame, and small changes with their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Variable
from rapidfuzz.distance import OSA

from askgraph import sparql as ast
from askgraph.answers.verbalize import TripleReader, verbalize_query
from askgraph.answers.verbalize.phrases import Phrases, load_phrases
from askgraph.answers.verbalize.scope import split_condition, unwrap
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError
from askgraph.sparql.prefixes import get_namespace
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.sparql.vocabulary import (
    ALTERNATIVE_LABEL_PREDICATES,
    DATE_DATATYPES,
    LABEL_PREDICATES,
    NUMERIC_DATATYPES,
    RDF_TYPE,
    XSD_STRING,
)

_UNINFORMATIVE_PREDICATES = frozenset([RDF_TYPE, *LABEL_PREDICATES, *ALTERNATIVE_LABEL_PREDICATES])
_VALUE = Variable("ask_value")


@dataclass(frozen=True)
class ElementChange:
    """A change, and the elements that replace the unmatched one.

    `phrase` is the key of its words in a language.
    """

    phrase: str
    elements: tuple[ast.Element, ...]


@dataclass(frozen=True)
class ValueLookup:
    """A query for values that occur in the unmatched place, or for the nearest value.

    `elements` replace the unmatched one; `variable` is selected. `extreme` takes MAX or MIN
    of it; else three values are taken, without `excluded`: those spelled like `spelling` first,
    then the most frequent. `phrase` is the key of the words for a value.
    """

    phrase: str
    elements: tuple[ast.Element, ...]
    variable: Variable
    extreme: str = ""
    excluded: frozenset[str] = frozenset()
    spelling: str = ""  # the unmatched IRI

    def rank(self, value: NamedNode | Literal) -> float:
        """Return how much the spelling of a value is like the unmatched one, 0 if hardly."""
        names = (iri[len(get_namespace(iri)) :].lower() for iri in (self.spelling, value.value))
        return OSA.normalized_similarity(*names, score_cutoff=_MIN_SPELLING_SIMILARITY)


def list_changes(element: ast.Element) -> Iterator[ElementChange]:
    """Yield small changes to an element, most likely first; dropping it is the last resort."""
    match element:
        case ast.Pattern():
            subject, predicate, value = element.subject, element.predicate, element.object
            if isinstance(value, Literal):
                tagged = value.language or value.datatype.value != XSD_STRING
                kinds = "empty any kind" if tagged else "empty a kind"
                before, text = ast.Pattern(subject, predicate, _VALUE), ast.Call("STR", (_VALUE,))
                yield from _list_text_changes(kinds, text, value.value, (before,))
                return
            if not isinstance(subject, Literal):
                yield ElementChange("empty direction", (ast.Pattern(value, predicate, subject),))
            is_type = isinstance(predicate, NamedNode) and predicate.value == RDF_TYPE
            if isinstance(predicate, NamedNode) and not is_type:
                steps = ast.Path("+", (predicate,))
                yield ElementChange("empty steps", (ast.Pattern(subject, steps, value),))
        case ast.Filter():
            yield from _list_filter_changes(element)
            yield ElementChange("empty no condition", ())
        case ast.Nested(word="MINUS"):
            yield ElementChange("empty no exclusion", ())
        case _:
            yield ElementChange("empty no part", ())


def build_lookup(element: ast.Element) -> ValueLookup | None:
    """Return the lookup of values for an element that has no match; None if it has none."""
    match element:
        case ast.Pattern(predicate=NamedNode() as predicate, object=NamedNode() as value) if (
            predicate.value == RDF_TYPE
        ):
            pattern = ast.Pattern(element.subject, predicate, _VALUE)
            key, iri, excluded = "empty class", value.value, frozenset[str]()
        case ast.Pattern(predicate=NamedNode() as predicate):
            pattern = ast.Pattern(element.subject, _VALUE, element.object)
            key, iri, excluded = "empty predicate", predicate.value, _UNINFORMATIVE_PREDICATES
        case ast.Filter(condition=ast.Call(name=name, arguments=(left, right))):
            return _build_extreme_lookup(name, unwrap(left), unwrap(right))
        case _:
            return None
    return ValueLookup(key, (pattern,), _VALUE, excluded=excluded | {iri}, spelling=iri)


def _build_extreme_lookup(name: str, left: object, right: object) -> ValueLookup | None:
    if isinstance(left, Literal) and isinstance(right, Variable):
        left, right = right, left
        name = name.translate(str.maketrans("<>", "><"))
    if not isinstance(left, Variable) or not _is_ordered(right):
        return None
    key, extreme = {">": ("empty highest", "MAX"), "<": ("empty lowest", "MIN")}.get(
        name[:1], ("", "")
    )
    return ValueLookup(key, (), left, extreme=extreme) if key else None


def _is_ordered(term: object) -> bool:
    return isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES | DATE_DATATYPES


def _list_text_changes(
    phrase: str, text_value: ast.Call, text: str, preceding: tuple[ast.Element, ...] = ()
) -> Iterator[ElementChange]:
    """Yield comparisons of a text: by characters alone, ignoring case, and as a substring."""
    lower, lowered = ast.Call("LCASE", (text_value,)), Literal(text.lower())
    conditions = (
        (phrase, ast.Call("=", (text_value, Literal(text)))),
        ("empty case", ast.Call("=", (lower, lowered))),
        ("empty containing", ast.Call("CONTAINS", (lower, lowered))),
    )
    for key, condition in conditions:
        yield ElementChange(key, (*preceding, ast.Filter(condition)))


def _list_filter_changes(condition: ast.Filter) -> Iterator[ElementChange]:
    match condition.condition:
        case ast.Call(name="=" | "IN", arguments=(left, Literal() as right)) if not _is_ordered(
            right
        ):
            text_value = ast.Call("STR", (unwrap(left),))
            yield from _list_text_changes("empty any kind", text_value, right.value)
        case ast.Call(
            name="CONTAINS" | "STRSTARTS" | "STRENDS" | "REGEX", arguments=(left, right, *_)
        ):
            lower_text = ast.Call("LCASE", (ast.Call("STR", (unwrap(left),)),))
            if isinstance(right, Literal):
                inside = ast.Call("CONTAINS", (lower_text, Literal(right.value.lower())))
                yield ElementChange("empty containing case", (ast.Filter(inside),))
        case ast.Call(name="=", arguments=(left, Literal() as right)):
            text_value = ast.Call("STR", (unwrap(left),))
            beginning = ast.Filter(ast.Call("STRSTARTS", (text_value, Literal(right.value))))
            yield ElementChange("empty beginning", (beginning,))


_MAX_SUGGESTIONS = 3
_MAX_CULPRITS = 2
_MAX_LOOKUP_ROWS = 50  # values that are looked up for an unmatched one
_MIN_SPELLING_SIMILARITY = 0.72  # share of letters; with fewer, spelling does not count
_RESERVED_REQUEST_COUNT = 5  # requests reserved for testing changes


@dataclass(frozen=True)
class Suggestion:
    """A changed query, the change in words, and its number of results."""

    change: str
    query: str
    results: int


@dataclass(frozen=True)
class EmptyResultReason:
    """The part of a query that removes all results, the reason, and what small changes give."""

    pattern: str
    reason: str
    suggestions: tuple[Suggestion, ...] = ()


async def explain_empty_result(
    query: ast.Query | str,
    endpoint: Endpoint,
    *,
    budget: int = 12,
    labels: Mapping[str, str] | None = None,
    language: str = "en",
) -> str | None:
    """Explain why a query has no result, and what small changes would give.

    Return None if the query has results or cannot be analysed.

    Args:
        budget: maximum number of requests.

    Raises:
        ServiceError: the endpoint failed.
    """
    emptiness = await analyse_empty_result(
        query, endpoint, budget=budget, labels=labels, language=language
    )
    if emptiness is None:
        return None
    if not emptiness.suggestions:
        return emptiness.reason
    phrases = load_phrases(language)
    texts = [
        phrases.say(f"empty result{'s' * (item.results != 1)}", item.change, item.results)
        for item in emptiness.suggestions
    ]
    return f"{emptiness.reason} {phrases.say('empty alternatives', '; '.join(texts))}"


async def analyse_empty_result(
    query: ast.Query | str,
    endpoint: Endpoint,
    *,
    budget: int = 12,
    labels: Mapping[str, str] | None = None,
    language: str = "en",
) -> EmptyResultReason | None:
    """Return the same as `explain_empty_result` in structured form, with complete queries."""
    try:
        tree = _flatten_groups(to_tree(query))
        phrases = load_phrases(language)
        reader = TripleReader(labels or {}, tree.where, phrases)
        return await _CulpritSearch(tree, endpoint, budget, reader, labels or {}, phrases).run()
    except QueryError:
        return None


def _flatten_groups(query: ast.Query) -> ast.Query:
    elements: list[ast.Element] = []
    for element in query.where.elements:
        match element:
            case ast.Nested(word="", group=group):
                elements += group.elements
            case ast.Filter(condition=ast.Call(name="&&")):
                parts = split_condition(element.condition, "&&")
                elements += [ast.Filter(part) for part in parts if isinstance(part, ast.Call)]
            case _:
                elements.append(element)
    return replace(query, where=ast.Group(tuple(elements)))


@dataclass
class _CulpritSearch:
    """A search for the part that removes all results, within a budget of requests."""

    tree: ast.Query
    endpoint: Endpoint
    budget: int
    reader: TripleReader
    labels: Mapping[str, str]
    phrases: Phrases

    @property
    def elements(self) -> tuple[ast.Element, ...]:
        return self.tree.where.elements

    async def run(self) -> EmptyResultReason | None:
        if not self.elements or not await self.is_empty(self.elements):
            return self.check_modifiers()
        single = await self.find_single_culprits()
        culprits = single or await self.find_first_empty()
        if not culprits:
            return None
        culprit, suggestions = culprits[0], tuple[Suggestion, ...]()
        for number in culprits:
            if found_suggestions := await self.suggest_changes(number):
                culprit, suggestions = number, found_suggestions
                break
        reason = self.build_reason(culprit, is_single=bool(single))
        return EmptyResultReason(to_text(self.elements[culprit]), reason, suggestions)

    def check_modifiers(self) -> EmptyResultReason | None:
        """Return the reason after the patterns have matched: HAVING, OFFSET or LIMIT 0."""
        if self.tree.having:
            conditions = " ".join(to_text(condition) for condition in self.tree.having)
            return EmptyResultReason(conditions, self.phrases.say("empty having"))
        if self.tree.limit == 0:
            return EmptyResultReason("LIMIT 0", self.phrases.say("empty limit"))
        if self.tree.offset:
            reason = self.phrases.say("empty offset", self.tree.offset)
            return EmptyResultReason(f"OFFSET {self.tree.offset}", reason)
        return None

    async def is_empty(self, elements: tuple[ast.Element, ...]) -> bool | None:
        """Return whether the elements have no match; None if the budget is spent."""
        if self.budget <= 0:
            return None
        self.budget -= 1
        return not await self.endpoint.ask(to_text(ast.Query("ASK", ast.Group(elements))))

    async def find_single_culprits(self) -> list[int]:
        """Find elements whose removal gives results, conditions first and classes last."""
        if len(self.elements) == 1:
            return [0]
        culprits: list[int] = []
        order = sorted(enumerate(self.elements), key=lambda pair: _rank_suspicion(pair[1]))
        for number, element in order:
            if self.budget <= _RESERVED_REQUEST_COUNT or len(culprits) == _MAX_CULPRITS:
                break
            match element:
                case ast.Bind() | ast.Nested(word="OPTIONAL"):
                    continue
            if await self.is_empty(self.replace_element(number, ()).where.elements) is False:
                culprits.append(number)
        return culprits

    async def find_first_empty(self) -> list[int]:
        """Find the element with which the growing query stops matching, by bisection."""
        low, high = 0, len(self.elements)
        while high - low > 1:
            middle = (low + high) // 2
            empty = await self.is_empty(self.elements[:middle])
            if empty is None:
                return []
            low, high = (low, middle) if empty else (middle, high)
        return [high - 1]

    def build_reason(self, culprit: int, *, is_single: bool) -> str:
        element_text = self.verbalize_element(self.elements[culprit])
        kind = "whole" if len(self.elements) == 1 else "without" if is_single else "adding"
        return self.phrases.say(f"empty {kind}", element_text)

    def verbalize_element(self, element: ast.Element) -> str:
        match element:
            case ast.Pattern():
                return self.reader.read(element)
            case ast.Filter():
                subject = next(ast.find_variables(element), Variable("value"))
                if not self.phrases.is_english:
                    return self.describe_condition(subject, element)
                plain = ast.Query("SELECT", ast.Group((element,)), columns=((subject, None),))
                words = verbalize_query(plain, self.labels).rstrip(".")
                return _rephrase_condition(words, self.reader.name(subject)) or to_text(element)
            case ast.Nested(group=group):
                patterns = [part for part in group.elements if isinstance(part, ast.Pattern)]
                statements = self.phrases.join_list([self.reader.read(part) for part in patterns])
                return f"{element.word.lower()} {statements}"
            case _:
                return to_text(element)

    def describe_condition(self, subject: Variable, condition: ast.Filter) -> str:
        patterns = [part for part in self.elements if isinstance(part, ast.Pattern)]
        own = [pattern for pattern in patterns if pattern.object == subject][:1]
        owner = own[0].subject if own and isinstance(own[0].subject, Variable) else subject
        plain = ast.Query("SELECT", ast.Group((*own, condition)), columns=((owner, None),))
        return verbalize_query(plain, self.labels, language=self.phrases.language).rstrip(".")

    async def suggest_changes(self, culprit: int) -> tuple[Suggestion, ...]:
        element = self.elements[culprit]
        suggestions: list[Suggestion] = []
        lookup = build_lookup(element)
        reserved = 1 if lookup is not None else 0
        for change in list_changes(element):
            if self.budget <= reserved or len(suggestions) >= _MAX_SUGGESTIONS:
                break
            suggestions += await self.count_change(culprit, change)
        if lookup is not None and self.budget > 0:
            suggestions += await self.suggest_from_lookup(culprit, lookup)
        return tuple(suggestions)

    async def count_change(
        self, culprit: int, change: ElementChange, *parts: str
    ) -> list[Suggestion]:
        """Return a change with its number of results; an empty list if it gives none."""
        changed = self.replace_element(culprit, change.elements)
        giving = ast.Pattern | ast.Query | ast.Union | ast.Values
        if not any(isinstance(element, giving) for element in changed.where.elements):
            return []
        self.budget -= 1
        result = await self.endpoint.select(to_text(_build_count_query(changed)))
        number = _parse_integer(result.rows[0][0]) if result.rows else 0
        words = self.phrases.say(change.phrase, *parts)
        return [Suggestion(words, to_text(changed), number)] if number else []

    def replace_element(self, culprit: int, elements: tuple[ast.Element, ...]) -> ast.Query:
        new_elements = self.elements[:culprit] + elements + self.elements[culprit + 1 :]
        return replace(self.tree, where=ast.Group(new_elements))

    async def suggest_from_lookup(self, culprit: int, lookup: ValueLookup) -> list[Suggestion]:
        changed = self.replace_element(culprit, lookup.elements).where
        self.budget -= 1
        variable = lookup.variable
        if lookup.extreme:
            column = (Variable("ask_extreme"), ast.Call(lookup.extreme, (variable,)))
            query = ast.Query("SELECT", changed, (column, _COUNT_COLUMN))
        else:
            columns, order = ((variable, None), _COUNT_COLUMN), ((_COUNT_COLUMN[0], True),)
            query = ast.Query(
                "SELECT", changed, columns, group_by=columns[:1], order=order,
                limit=_MAX_LOOKUP_ROWS,
            )  # fmt: skip
        result = await self.endpoint.select(to_text(query))
        suggestions = []
        for row in result.rows:
            value, number = row[0], _parse_integer(row[1])
            if not isinstance(value, NamedNode | Literal) or value.value in lookup.excluded:
                continue
            if not number:
                continue
            name = self.reader.read_term(value)
            elements = _insert_value(lookup, value)
            if lookup.extreme:
                change = ElementChange(lookup.phrase, elements)
                return await self.count_change(culprit, change, name)
            words = self.phrases.say(lookup.phrase, name)
            suggestion = Suggestion(words, to_text(self.replace_element(culprit, elements)), number)
            suggestions.append((lookup.rank(value), suggestion))
        suggestions.sort(key=lambda ranked: -ranked[0])
        return [suggestion for _, suggestion in suggestions[:_MAX_SUGGESTIONS]]


def _insert_value(lookup: ValueLookup, value: NamedNode | Literal) -> tuple[ast.Element, ...]:
    if not lookup.elements:
        return (ast.Filter(ast.Call("=", (lookup.variable, value))),)
    if not isinstance(value, NamedNode):
        return lookup.elements
    filled: tuple[ast.Element, ...] = ast.transform(
        lookup.elements, lambda node: value if node == lookup.variable else node
    )
    return filled


_COUNT_COLUMN = (Variable("ask_n"), ast.Call("COUNT"))


def _build_count_query(query: ast.Query) -> ast.Query:
    if query.form != "SELECT" or query.is_aggregate:
        return ast.Query("SELECT", query.where, (_COUNT_COLUMN,))
    plain = replace(query, order=(), limit=None, offset=None)
    return ast.Query("SELECT", ast.Group((plain,)), (_COUNT_COLUMN,))


def _parse_integer(term: object) -> int:
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def _rank_suspicion(element: ast.Element) -> int:
    """Return the removal order of an element: restrictive and loosely joined elements first."""
    match element:
        case ast.Filter():
            return 0
        case ast.Nested():
            return 1
        case ast.Values():
            return 2
        case ast.Pattern(predicate=NamedNode(value=iri)) if iri == RDF_TYPE:
            return 7
        case ast.Pattern():
            return 3 + len(set(ast.find_variables(element)))
        case _:
            return 8


def _rephrase_condition(words: str, noun: str) -> str:
    for head, verb in (("Things that are ", "is "), ("Things that ", "must ")):
        if words.startswith(head):
            return f"{noun} {verb}{words[len(head) :]}"
    return ""
