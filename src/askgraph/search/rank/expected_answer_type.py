"""Derive the answer that a question expects from its words: its kind, columns and rows.

The columns of a query are compared with it, with or without a graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from pyoxigraph import NamedNode, Variable

from askgraph import sparql
from askgraph.errors import QueryError
from askgraph.graph.measures import is_unit_like
from askgraph.graph.profile import Profile
from askgraph.index.names import ItemKind
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import (
    COMPARISON_SIGNS,
    Operator,
    QuestionOperators,
    QuestionZones,
    detect_operators,
    is_continuation,
)
from askgraph.search.tokenize.word_lists import get_word_list
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import to_tree
from askgraph.sparql.vocabulary import LABEL_PREDICATES, NUMERIC_DATATYPES, RDF_TYPE

AGGREGATE_OPERATORS = ("average", "sum", "minimum", "maximum")
_MIN_LINK_SCORE = 0.7  # minimum score of a link for the meaning of a noun
_MAX_SCORE_GAP = 0.15  # score difference up to which a link may be meant as well


class ContentRun(NamedTuple):
    """Adjacent content words, the operators before them, and the position where they start."""

    positions: list[int]
    operators: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class RequestedNoun:
    """A noun that the question asks for."""

    positions: tuple[int, ...]  # its tokens
    operators: tuple[str, ...]  # names of the operators before it
    classes: tuple[str, ...] = ()  # IRIs of the classes that it may mean
    predicates: tuple[str, ...] = ()  # IRIs of the predicates that it may mean
    is_name: bool = False  # whether it asks for names
    is_property_headed: bool = False  # whether its last word names a property: "party locations"

    @property
    def first_position(self) -> int:
        """Position of its first token."""
        return self.positions[0]

    @cached_property
    def iris(self) -> tuple[str, ...]:
        """IRIs of all its meanings."""
        return self.classes + self.predicates

    @property
    def is_property(self) -> bool:
        """Whether it fills its own column: a property, a name, a count or an aggregate."""
        has_aggregate = not {"count", *AGGREGATE_OPERATORS}.isdisjoint(self.operators)
        return has_aggregate or self.is_name or self.is_property_headed

    @property
    def column_count(self) -> int:
        """Number of columns that it fills: one for each aggregate."""
        return max(1, sum(name in AGGREGATE_OPERATORS for name in self.operators))


def find_requested_nouns(
    linked: LinkedQuestion, operators: QuestionOperators
) -> tuple[RequestedNoun, ...]:
    """Return the head noun and the nouns that are listed with it, in order."""
    # A phrase in front ("for model X, how many …") is left out.
    zones = QuestionZones.from_question(linked.reading, operators)
    runs = list(_iterate_runs(linked, operators))
    first, *further_sentences = _split_sentences(runs, linked.reading)
    nouns = _find_listed_nouns(first, linked, operators, zones)
    for sentence in further_sentences:
        sentence_nouns = _find_listed_nouns(sentence, linked, operators, zones)
        property_flags = [noun.is_property for noun in sentence_nouns]
        if sentence_nouns and (
            all(property_flags) or (any(property_flags) and len(sentence_nouns) > 1)
        ):
            return sentence_nouns
    return nouns


def find_owner_noun(
    linked: LinkedQuestion, operators: QuestionOperators, nouns: Sequence[RequestedNoun]
) -> RequestedNoun | None:
    """Return the noun that owns the last of some nouns: "customers" in "names of customers".

    >>> from askgraph.search.tokenize import tokenize
    >>> linked = LinkedQuestion(tokenize("Show the names and ages of all customers."), ())
    >>> operators = detect_operators(linked.reading)
    >>> find_owner_noun(linked, operators, find_requested_nouns(linked, operators)).positions
    (7,)
    """
    if not nouns:
        return None
    question, last = linked.reading, nouns[-1].positions[-1]
    following = next(
        (run for run in _iterate_runs(linked, operators) if run.positions[0] > last), None
    )
    if following is None or not _has_owner_preposition(
        range(last + 1, following.positions[0]), question
    ):
        return None
    return _build_noun(following.positions, following.operators, linked)


_ORDINAL_NUMBER = re.compile(r"(?<!\d)\d{1,2}\.(?=\s)")  # "im 20. Jahrhundert"


def _split_sentences(
    runs: Sequence[ContentRun], question: TokenizedQuestion
) -> list[list[ContentRun]]:
    """Split runs at the ends of sentences; there is at least one part."""
    sentences: list[list[ContentRun]] = [[]]
    for run in runs:
        first = sentences[-1][0].start if sentences[-1] else run.start
        text_between = question.text[
            question.tokens[first].start : question.tokens[run.start].start
        ]
        if any(mark in _ORDINAL_NUMBER.sub("", text_between) for mark in ".?!;"):
            sentences.append([])
        sentences[-1].append(run)
    return sentences


def _find_listed_nouns(
    runs: Sequence[ContentRun],
    linked: LinkedQuestion,
    operators: QuestionOperators,
    zones: QuestionZones,
) -> tuple[RequestedNoun, ...]:
    """Return the head noun of a sentence and the nouns that are listed with it."""
    question = linked.reading
    possessive = question.word_list.clauses["possessive"]
    nouns: list[RequestedNoun] = []
    front_count = _count_front_runs(runs, question)
    end = (
        runs[front_count - 1].positions[-1]
        if front_count
        else _find_sentence_start(runs, question) - 1
    )
    has_owner = is_finished = False
    for run in runs[front_count:]:
        start = run.start
        gap_positions = range(end + 1, start)
        end = run.positions[-1]
        if nouns and any(is_continuation(position, question) for position in gap_positions):
            has_owner = is_finished = False
        elif is_finished:
            continue
        elif nouns and not (
            zones.is_head(start) and _is_list_gap(gap_positions, start, zones, operators)
        ):
            is_finished = has_owner or not (
                zones.is_head(start) and _has_owner_preposition(gap_positions, question)
            )
            has_owner = True
            continue
        if nouns or front_count or not _is_front_phrase(gap_positions, question):
            noun = _build_noun(run.positions, run.operators, linked)
            is_possessed = any(
                question.folded_words[position] in possessive for position in gap_positions
            )
            is_finished = has_owner and not (noun.is_property or is_possessed)
            nouns += [] if is_finished else [noun]
        has_owner = False
    return tuple(nouns)


def _count_front_runs(runs: Sequence[ContentRun], question: TokenizedQuestion) -> int:
    """Return the number of runs in a leading phrase: "for each X that has Y, find the …"."""
    start = _find_sentence_start(runs, question)
    if not runs or not _is_front_phrase(range(start, runs[0].start), question):
        return 0
    for count, (run, next_run) in enumerate(pairwise(runs), 1):
        gap_positions = range(run.positions[-1] + 1, next_run.positions[0])
        gap = question.text[
            question.tokens[gap_positions.start - 1].end : question.tokens[next_run.start].end
        ]
        request_flags = (
            (question.folded_words[position],) in question.word_list.follow_up_phrases["whole"]
            for position in gap_positions
        )
        if "," in gap and any(request_flags):
            return count
    return 0


def _has_owner_preposition(gap_positions: range, question: TokenizedQuestion) -> bool:
    """Return whether "of the" or the like connects a noun to its owner."""
    words = [question.folded_words[position] for position in gap_positions]
    gap = question.get_gap(gap_positions.start - 1, gap_positions.stop)
    starts_with_of = bool(words) and words[0] in question.word_list.clauses["owner"]
    return starts_with_of and not any(mark in gap for mark in ",;:.?!")


def _find_sentence_start(runs: Sequence[ContentRun], question: TokenizedQuestion) -> int:
    position = runs[0].start if runs else 0
    while position > 0 and not question.has_sentence_break(position - 1, position):
        position -= 1
    return position


def find_question_word(question: TokenizedQuestion, *, within: range | None = None) -> int | None:
    """Return the position of a question word, among the first three tokens or in another range."""
    positions = range(min(3, len(question.tokens))) if within is None else within
    question_words = _get_question_words(question.language)
    function_positions = (at for at in positions if question.is_stop(at))
    return next(
        (at for at in function_positions if question.folded_words[at] in question_words), None
    )


@cache
def _get_question_words(language: str) -> frozenset[str]:
    """Return the words that ask alone ("who") or before a noun ("which year", "how old")."""
    words = get_word_list(language)
    phrases = [phrase for group in words.question_words.values() for phrase in group]
    question_words = {phrase[0] for phrase in phrases if len(phrase) == 1}
    for phrase in phrases:
        nouns = [index for index, word in enumerate(phrase) if word not in words.stop_words]
        question_words |= {phrase[index - 1] for index in nouns[:1] if index}
    return frozenset(question_words)


def _is_front_phrase(before: range, question: TokenizedQuestion) -> bool:
    """Return whether a preposition, and no question word, stands before the first noun."""
    prepositions = question.word_list.clauses["restrict"]
    has_preposition = any(question.tokens[position].folded in prepositions for position in before)
    return has_preposition and find_question_word(question, within=before) is None


def _is_list_gap(
    gap_positions: range, start: int, zones: QuestionZones, question_operators: QuestionOperators
) -> bool:
    """Return whether only a comma, a conjunction or a possessive separates two nouns."""
    question = question_operators.reading
    conjunction_positions = {
        position
        for operator in question_operators.get_operators("and")
        for position in operator.positions
    }  # "as well as"
    if not all(
        question.is_stop(position) or position in conjunction_positions
        for position in gap_positions
    ):
        return False
    gap = question.get_gap(gap_positions.start - 1, start)
    if any(mark in gap for mark in ".?!;:"):
        return False
    operators = [item.name for item in question_operators.operators if item.first in gap_positions]
    return "," in gap or "and" in operators or (not operators and zones.is_listed(start))


def _iterate_runs(
    linked: LinkedQuestion, question_operators: QuestionOperators
) -> Iterator[ContentRun]:
    """Yield the runs of content words that are no possessor."""
    # A run ends at a function word, a comma or an operator; "Intel's" in "Intel's sites" is
    # skipped. Superlatives and times in a name are no operators: the "first year" of a graph.
    question = linked.reading
    name_links = (
        entry
        for entry in linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
        if entry.similarity >= _MIN_NAME_SIMILARITY
    )
    name_positions = {
        position for entry in name_links if len(entry.positions) > 1 for position in entry.positions
    }
    run: list[int] = []
    operators: list[str] = []
    start: int | None = None
    operator_by_position = {
        position: entry
        for entry in question_operators.operators
        if entry.name not in _NAME_OPERATORS or not name_positions.issuperset(entry.positions)
        for position in entry.positions
    }
    for position in range(len(question.tokens)):
        operator = operator_by_position.get(position)
        is_content = operator is None and not question.is_stop(position)
        is_content = is_content and (
            position in name_positions or not _is_number(position, question)
        )
        if run and not (is_content and _is_adjacent(position, question)):
            if run[-1] not in question.genitives:
                yield ContentRun(run, tuple(operators), start if start is not None else run[0])
            run, operators, start = [], [], None
        if operator is not None and operator.first == position:
            operators.append(operator.name)
            if start is None and operator.name in (*AGGREGATE_OPERATORS, "count"):
                start = position
        if is_content:
            run.append(position)
    if run:
        yield ContentRun(run, tuple(operators), start if start is not None else run[0])


def _is_adjacent(position: int, question: TokenizedQuestion) -> bool:
    gap = question.get_gap(position - 1, position)
    return not any(mark in gap for mark in ",;:.?!") and position - 1 not in question.genitives


def _is_number(position: int, question: TokenizedQuestion) -> bool:
    is_percent_word = question.folded_words[position] in question.word_list.clauses["percent"]
    return any(
        position in quantity.positions or (is_percent_word and position == quantity.last + 1)
        for quantity in question.quantities
    )


def _build_noun(
    positions: Sequence[int], operators: tuple[str, ...], linked: LinkedQuestion
) -> RequestedNoun:
    question = linked.reading
    best_links = list(
        _iterate_best_links(positions, linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE))
    )
    is_name = any(
        question.tokens[position].stem in question.word_list.naming for position in positions
    )
    classes = [link for link in best_links if link.kind is ItemKind.CLASS]
    predicates = [link for link in best_links if link.kind is ItemKind.PREDICATE]
    return RequestedNoun(
        tuple(positions),
        operators,
        tuple(dict.fromkeys(link.target for link in classes)),
        tuple(dict.fromkeys(link.target for link in predicates)),
        is_name,
        _get_last_position(predicates) > _get_last_position(classes),
    )


def _get_last_position(links: Sequence[Link]) -> int:
    return max((link.positions[-1] for link in links), default=-1)


def _iterate_best_links(positions: Sequence[int], links: Sequence[Link]) -> Iterator[Link]:
    """Yield the sure links in a run; of those that share words, the ones with the most words."""
    free = set(positions)
    sure_links = [
        (link, set(link.positions) & free) for link in links if link.score >= _MIN_LINK_SCORE
    ]
    while fitting := [(link, words) for link, words in sure_links if words and words <= free]:
        max_words = max(len(words) for _, words in fitting)
        best_score = max(link.score for link, words in fitting if len(words) == max_words)
        widest_links = [
            (link, words)
            for link, words in fitting
            if len(words) == max_words and link.score > best_score - _MAX_SCORE_GAP
        ]
        used = widest_links[0][1]
        yield from (link for link, words in widest_links if words & used)
        free -= used


AnswerKind = Literal["yes_no", "count", "number", "when", "who", "where", "things"]


@dataclass(frozen=True)
class ExpectedAnswer:
    """The expected shape of an answer, as far as the question determines it.

    Attributes:
        kind: What the question word asks for; `things` if nothing is more specific.
        columns: Minimum number of columns that answer; None if unknown.
        classes: IRIs of the classes that the head noun may mean.
        predicates: IRIs of the predicates that the head noun may mean.
        noun_iris: IRIs that any of the requested nouns may mean.
        noun_count: Number of columns that the requested nouns fill.
        is_counted: Whether a count is requested, alone or beside other columns.
        is_calculated: Whether a total, an average or the like is requested.
        is_grouped: Whether the question has "for each".
        limit: Number of rows that a superlative or "first ten" keeps.
        has_second_question: Whether a second question follows ("and how many").
        is_name_request: Whether names are requested by that word.
        is_singular: Whether the head noun is singular, after a question word and a form of "be".
        has_question_word: Whether a question word opens the question.
    """

    kind: AnswerKind = "things"
    columns: int | None = None
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    noun_iris: tuple[str, ...] = ()
    noun_count: int = 0
    is_counted: bool = False
    is_calculated: bool = False
    is_grouped: bool = False
    is_ordered: bool = False
    limit: int | None = None
    has_second_question: bool = False
    is_name_request: bool = False
    is_singular: bool = False
    has_question_word: bool = False


def derive_expected_answer(linked: LinkedQuestion) -> ExpectedAnswer:
    """Derive the expected answer of a linked question; unclear properties keep their defaults.

    >>> from askgraph.search.tokenize import tokenize
    >>> derive_expected_answer(LinkedQuestion(tokenize("How many moons has Mars?"), ())).kind
    'count'
    """
    question = linked.reading
    operators = detect_operators(question)
    nouns = find_requested_nouns(linked, operators)
    is_ordered = bool(operators.get_operators(*_ORDER_OPERATORS))
    extremes = [] if is_ordered else _find_extremes(operators, linked)
    head_noun = nouns[0] if nouns else RequestedNoun((), ())
    noun_count = sum(noun.column_count for noun in nouns)
    are_columns = len(nouns) == 1 or (nouns and all(noun.is_property for noun in nouns))
    return ExpectedAnswer(
        kind=_derive_kind(question, operators, nouns),
        columns=noun_count if are_columns else None,
        classes=head_noun.classes,
        predicates=head_noun.predicates,
        noun_iris=tuple(dict.fromkeys(iri for noun in nouns for iri in noun.iris)),
        noun_count=noun_count,
        is_counted=any("count" in noun.operators for noun in nouns),
        is_calculated=bool(operators.get_operators(*_CALCULATION_OPERATORS)),
        is_grouped=bool(operators.get_operators("each")) and operators.average_of_counts is None,
        is_ordered=is_ordered,
        limit=_find_limit(operators, extremes, head_noun),
        has_second_question=_has_second_question(question, operators),
        is_name_request=any(noun.is_name for noun in nouns),
        is_singular=_is_singular(question, head_noun)
        and not operators.get_operators(*COMPARISON_SIGNS, "comparative"),
        has_question_word=find_question_word(question) is not None,
    )


_NAME_OPERATORS = ("superlative", "sum", "top")
_ORDER_OPERATORS = ("order", "ascending", "descending", "most_first", "least_first")
_CALCULATION_OPERATORS = ("average", "sum", "minimum", "maximum", "difference", "ratio")
_MAX_REQUEST_WORDS = 3  # words after a verb that may mark it as a request
_EXTREME_OPERATORS = ("superlative", "most", "fewest", "maximum", "minimum")
_MIN_NAME_SIMILARITY = 0.9  # minimum similarity of words to a name
_KIND_BY_QUESTION_WORD: dict[str, AnswerKind] = {
    "person": "who",
    "place": "where",
    "date": "when",
    "year": "when",
    "number": "number",
}


def _derive_kind(
    question: TokenizedQuestion, operators: QuestionOperators, nouns: tuple[RequestedNoun, ...]
) -> AnswerKind:
    if operators.is_yes_no_question:
        is_request = (
            operators.asks is not None
            or _is_request(question, operators)
            or _has_second_question(question, operators)
        )
        return "things" if is_request else "yes_no"
    if nouns and "count" in nouns[0].operators:
        return "count" if nouns[0].classes or not nouns[0].predicates else "number"
    first_noun_position = nouns[0].first_position if nouns else len(question.tokens)
    question_word = operators.question_word[0] if operators.question_word is not None else ""
    has_count = any(
        operator.first <= first_noun_position for operator in operators.get_operators("count")
    )
    if question_word == "number" and has_count:
        return "number" if nouns and nouns[0].predicates and not nouns[0].classes else "count"
    return _KIND_BY_QUESTION_WORD.get(question_word, "things")


def _is_request(question: TokenizedQuestion, operators: QuestionOperators) -> bool:
    """Return whether a verb opens a request rather than a question: "can anyone tell me …"."""
    words = question.word_list.yes_or_no
    verb_end = operators.get_operators("exists")[0].last + 1
    next_words = [
        token.folded for token in question.tokens[verb_end : verb_end + _MAX_REQUEST_WORDS]
    ]
    return bool(next_words) and (
        next_words[0] in words["asked"] or not words["asking"].isdisjoint(next_words)
    )


def _has_second_question(question: TokenizedQuestion, operators: QuestionOperators) -> bool:
    """Return whether a question word follows a conjunction ("… and how many") or a question."""
    tokens = question.tokens
    ranges = [
        range(conjunction.last + 1, min(conjunction.last + 3, len(tokens)))
        for conjunction in operators.get_operators("and")
    ]
    ranges += [
        range(position, min(position + 2, len(tokens)))
        for position in range(1, len(tokens))
        if "?" in question.get_gap(position - 1, position)
    ]
    return any(find_question_word(question, within=positions) is not None for positions in ranges)


def _is_singular(question: TokenizedQuestion, noun: RequestedNoun) -> bool:
    """Return whether the question is like "what is the mass", with a singular noun."""
    position = find_question_word(question)
    if position is None or not noun.positions or position + 1 >= noun.first_position:
        return False
    verb = question.tokens[position + 1].folded
    is_plural = any(
        question.tokens[noun_position].stem != question.tokens[noun_position].folded
        for noun_position in noun.positions
    )
    return (verb,) in question.word_list.operators["exists"] and not is_plural


def _find_limit(
    operators: QuestionOperators, extremes: list[Operator], head_noun: RequestedNoun
) -> int | None:
    for operator in operators.get_operators("top"):
        quantity = operators.get_quantity_after(operator, 1)
        if quantity is not None and quantity.value is not None and quantity.value >= 1:
            return int(quantity.value)
    if not extremes:
        return None
    for quantity in operators.reading.quantities:
        if quantity.value is None or not float(quantity.value).is_integer() or quantity.value < 1:
            continue
        is_adjacent = any(
            quantity.first - extreme.last == 1 or extreme.first - quantity.last == 1
            for extreme in extremes
        )
        if is_adjacent or quantity.last + 1 in head_noun.positions:
            return int(quantity.value)
    previous_words = [
        operators.reading.tokens[extreme.first - 1].folded for extreme in extremes if extreme.first
    ]
    has_ordinal = any(word in operators.reading.word_list.ordinals for word in previous_words)
    return None if has_ordinal else 1


def _find_extremes(operators: QuestionOperators, linked: LinkedQuestion) -> list[Operator]:
    """Return the superlatives that choose rows."""
    # Superlatives in a name, ordinals as in "first time", and places or times ("in the last
    # century") are left out. The result is empty if they have both directions: "from the smallest
    # to the largest" keeps everything.
    words, tokens = operators.reading.word_list, operators.reading.tokens
    extremes = [
        extreme
        for extreme in operators.get_operators(*_EXTREME_OPERATORS)
        if tokens[extreme.first].folded not in words.ordinals
        and not any(
            token.stem in words.naming for token in tokens[extreme.last + 1 : extreme.last + 2]
        )
        and not is_in_name(extreme, linked)
        and not _is_circumstance(extreme, linked.reading)
    ]
    return extremes if len({_is_upward(extreme) for extreme in extremes}) == 1 else []


def _is_circumstance(operator: Operator, question: TokenizedQuestion) -> bool:
    """Return whether a preposition of place or time stands before, with or without an article."""
    before, first = question.folded_words[: operator.first], operator.first
    prepositions = question.word_list.clauses["circumstance"]
    return not prepositions.isdisjoint(before[-1:]) or (
        not prepositions.isdisjoint(before[-2:-1]) and question.is_stop(first - 1)
    )


def _is_upward(operator: Operator) -> bool:
    if operator.measure is not None:
        return operator.measure.is_upward
    return operator.name in ("most", "maximum")


def is_in_name(operator: Operator, linked: LinkedQuestion) -> bool:
    """Return whether the words of an operator are part of a longer name: "first name"."""
    operator_positions = set(operator.positions)
    return any(
        link.similarity >= _MIN_NAME_SIMILARITY
        and operator_positions & set(link.positions)
        and not operator_positions >= set(link.positions)
        for link in linked.links
    )


_VALUE_PRESERVING_FUNCTIONS = frozenset(
    ["MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "STR", "COALESCE", "LCASE", "UCASE"]
)


@dataclass(frozen=True)
class PredicateStep:
    """A predicate from a subject to an object, with inverse paths resolved."""

    source: sparql.Term
    predicate: str
    target: sparql.Term


@dataclass(frozen=True)
class ColumnSource:
    """The source of a column.

    Attributes:
        variables: Variables of the patterns that it is made of.
        aggregate: Aggregate that computes it; empty for none.
        computed: Whether it is computed from the variables.
    """

    variables: frozenset[str]
    aggregate: str = ""
    is_computed: bool = False


@dataclass(frozen=True)
class QueryColumns:
    """A parsed query with the sources of its columns.

    Attributes:
        query: Parsed query.
        steps: Steps of all groups except the negated ones.
        expressions: Pairs of variable name and expression, from BIND and sub-selects.
    """

    query: sparql.Query
    steps: tuple[PredicateStep, ...]
    expressions: tuple[tuple[str, sparql.Expression], ...]

    def get_source(self, column: str) -> ColumnSource:
        """Return the source of a column, through BIND and sub-selects."""
        return self._get_source(Variable(column), {})

    @cached_property
    def _expression_by_name(self) -> dict[str, sparql.Expression]:
        return dict(self.expressions)

    def _get_source(
        self, value: sparql.Expression, source_by_name: dict[str, ColumnSource]
    ) -> ColumnSource:
        """Return the source of an expression; each variable is resolved only once."""
        if isinstance(value, Variable):
            name = value.value
            if name not in source_by_name:
                # Ends a name that leads to itself.
                source_by_name[name] = ColumnSource(frozenset([name]))
                if (expression := self._expression_by_name.get(name)) is not None:
                    source_by_name[name] = self._get_source(expression, source_by_name)
            return source_by_name[name]
        if not isinstance(value, sparql.Call):
            return ColumnSource(frozenset(), is_computed=True)
        function = value.name.split()[0]
        parts = [
            self._get_source(part, source_by_name)
            for part in value.arguments
            if isinstance(part, Variable | sparql.Call)
        ]
        variables = frozenset(name for part in parts for name in part.variables)
        inner_aggregate = next((part.aggregate for part in parts if part.aggregate), "")
        is_computed = function not in _VALUE_PRESERVING_FUNCTIONS or any(
            part.is_computed for part in parts
        )
        return ColumnSource(
            variables,
            function if function in sparql.AGGREGATE_NAMES else inner_aggregate,
            is_computed,
        )

    def iterate_steps_to(self, variable: str) -> Iterator[PredicateStep]:
        """Yield the steps that end in a variable."""
        return (step for step in self.steps if step.target == Variable(variable))

    def get_classes(self, variable: str) -> frozenset[str]:
        """Return the classes that the query states for a variable."""
        return frozenset(
            step.target.value
            for step in self.steps
            if step.predicate == RDF_TYPE
            and step.source == Variable(variable)
            and isinstance(step.target, NamedNode)
        )

    @cached_property
    def can_choose_extreme(self) -> bool:
        """Whether the query can keep the first or greatest values: LIMIT, MIN, MAX or negation."""
        return any(_is_choosing(part) for part in sparql.walk(self.query))

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether one column can hold several sorts of things."""
        return any(
            isinstance(part, sparql.Union)
            or (
                isinstance(part, sparql.Pattern)
                and (isinstance(part.predicate, Variable) or _has_alternatives(part.predicate))
            )
            or (
                isinstance(part, sparql.Call)
                and part.name in ("GROUP_CONCAT", "CONCAT", "COALESCE")
            )
            for part in sparql.walk(self.query)
        )

    @cached_property
    def condition_variables(self) -> frozenset[str]:
        """Variables of the sort keys and the conditions."""
        conditions = [
            part.condition for part in sparql.walk(self.query) if isinstance(part, sparql.Filter)
        ]
        expressions = (*(value for value, _ in self.query.order), *self.query.having, *conditions)
        return frozenset(
            variable.value for value in expressions for variable in sparql.find_variables(value)
        )


@lru_cache(maxsize=256)
def read_query_columns(query: str) -> QueryColumns:
    """Parse a query for its columns; raise `QuerySyntaxError` if it cannot be parsed."""
    tree = to_tree(query)
    parts = list(sparql.walk(tree))
    expressions = [
        (part.variable.value, part.value) for part in parts if isinstance(part, sparql.Bind)
    ]
    for part in parts:
        if isinstance(part, sparql.Query):
            keys = ((name, value) for value, name in part.group_by)
            expressions += [
                (name.value, value)
                for name, value in (*part.columns, *keys)
                if name is not None and value is not None
            ]
    steps = [
        step
        for number, part in enumerate(_iterate_patterns(tree.where))
        for step in _iterate_steps(part.subject, part.predicate, part.object, f"__{number}")
    ]
    return QueryColumns(tree, tuple(steps), tuple(expressions))


def _iterate_patterns(group: sparql.Group) -> Iterator[sparql.Pattern]:
    """Yield the patterns that hold for each solution."""
    for element in group.elements:
        match element:
            case sparql.Pattern():
                yield element
            case sparql.Nested(word="MINUS"):
                continue
            case sparql.Nested():
                yield from _iterate_patterns(element.group)
            case sparql.Union():
                for inner in element.groups:
                    yield from _iterate_patterns(inner)
            case sparql.Query():
                yield from _iterate_patterns(element.where)
            case _:
                continue


def _iterate_steps(
    source: sparql.Term, predicate: sparql.Predicate, target: sparql.Term, name: str
) -> Iterator[PredicateStep]:
    match predicate:
        case NamedNode():
            yield PredicateStep(source, predicate.value, target)
        case sparql.Path(operator="^"):
            yield from _iterate_steps(target, predicate.parts[0], source, name)
        case sparql.Path(operator="/"):
            inner_variables = [
                Variable(f"{name}_{index}") for index in range(len(predicate.parts) - 1)
            ]
            terms = [source, *inner_variables, target]
            for index, part in enumerate(predicate.parts):
                yield from _iterate_steps(terms[index], part, terms[index + 1], f"{name}_{index}")
        case sparql.Path(operator="!"):
            return
        case sparql.Path():
            for index, part in enumerate(predicate.parts):
                yield from _iterate_steps(source, part, target, f"{name}_{index}")
        case _:
            return


def _has_alternatives(predicate: sparql.Predicate) -> bool:
    return isinstance(predicate, sparql.Path) and (
        predicate.operator == "|" or any(map(_has_alternatives, predicate.parts))
    )


def _is_choosing(part: object) -> bool:
    match part:
        case sparql.Query():
            return part.limit is not None
        case sparql.Nested():
            return part.word == "MINUS"
        case sparql.Call():
            return part.name.split()[0] in ("MIN", "MAX") or part.name in ("NOT EXISTS", "EXISTS")
        case _:
            return False


_LABEL_SUFFIX = "Label"  # ends ?cityLabel of the label service, which no pattern binds


def choose_answer_columns(
    expected: ExpectedAnswer, query: str, result: SelectResult, profile: Profile
) -> tuple[str, ...]:
    """Return the columns that answer, in the order of the result; all if it is unclear."""
    # Labels of shown things are context unless names are requested. The things themselves are
    # context if a property, a date or a count of theirs is requested, except with "for each". Nodes
    # that only connect others (n-ary relations) and columns that are only used to sort or filter
    # are context, too. A nameless node with the unit of a number is part of the answer.
    if len(result.variables) < 2:
        return result.variables
    try:
        columns = read_query_columns(query)
    except QueryError:
        return result.variables
    return _AnswerColumnChooser(expected, columns, result.variables, profile).choose()


class _AnswerColumnChooser:
    """Chooses the columns of a result that answer the question."""

    def __init__(
        self,
        expected: ExpectedAnswer,
        columns: QueryColumns,
        names: Sequence[str],
        profile: Profile,
    ) -> None:
        self.expected, self.columns, self.profile = expected, columns, profile
        self.names = tuple(names)
        self.sources = {name: columns.get_source(name) for name in names}
        self.name_predicates = {p.iri for p in profile.predicates if p.naming}.union(
            LABEL_PREDICATES
        )
        self.nary_classes = {cls.iri for cls in profile.classes if cls.nary}
        self.ranges = {
            p.iri: frozenset(cls for cls, _ in p.object_classes) for p in profile.predicates
        }
        nameless = {cls.iri for cls in profile.classes if cls.name_predicate is None}
        self.quantity_classes = nameless & {
            cls for p in profile.predicates if is_unit_like(p) for cls, _ in p.subject_classes
        }
        self.numeric_predicates = {
            p.iri
            for p in profile.predicates
            if any(datatype in NUMERIC_DATATYPES for datatype, _ in p.datatypes[:1])
        }
        self.domains = {
            p.iri: frozenset(cls for cls, _ in p.subject_classes) for p in profile.predicates
        }

    def choose(self) -> tuple[str, ...]:
        """Return the columns that answer."""
        labels = {
            name: owner for name in self.names if (owner := self.find_label_owner(name)) is not None
        }
        if self.expected.is_name_request:
            context = set(labels.values())
        else:
            context = {name for name in labels if not self.has_requested_property(name)}
        remaining = self.remove(self.names, context)
        connecting = (  # nodes of n-ary relations that are not requested
            name
            for name in remaining
            if (classes := self.get_classes(name)) and classes <= self.nary_classes
            if classes.isdisjoint(self.expected.noun_iris)
        )
        names = self.narrow(self.remove(remaining, connecting))
        # The nodes that hold the unit of a number also answer.
        steps = [step for name in names for step in self.get_steps(name)]
        sources = {
            str(step.source)[1:] for step in steps if step.predicate in self.numeric_predicates
        }
        return tuple(
            name
            for name in self.names
            if name in names or (name in sources and self.get_classes(name) & self.quantity_classes)
        )

    def remove(self, names: Sequence[str], context: Iterable[str]) -> tuple[str, ...]:
        """Return the names without the context; all names if nothing would remain."""
        dropped = set(context)
        return tuple(name for name in names if name not in dropped) or tuple(names)

    def find_label_owner(self, name: str) -> str | None:
        """Return the column whose label a column is, or None."""
        if name.endswith(_LABEL_SUFFIX) and not list(self.columns.iterate_steps_to(name)):
            owner_name = name.removesuffix(_LABEL_SUFFIX)
            return owner_name if owner_name in self.names else None
        source = self.sources[name]
        if source.is_computed:
            return None
        for variable in source.variables:
            for step in self.columns.iterate_steps_to(variable):
                subject = step.source
                if step.predicate in self.name_predicates and isinstance(subject, Variable):
                    owners = (owner for owner in self.names if self.is_thing(owner, subject))
                    owner = next(owners, None)
                    if owner is not None and owner != name:
                        return owner
        return None

    def is_thing(self, name: str, variable: Variable) -> bool:
        """Return whether a column holds a thing itself, not a count or another aggregate."""
        source = self.sources[name]
        return source.variables == {variable.value} and not (source.is_computed or source.aggregate)

    def get_classes(self, name: str) -> frozenset[str]:
        """Return the classes of the things in a column, as far as query or graph determine them."""
        source = self.sources[name]
        if source.is_computed or len(source.variables) != 1:
            return frozenset()
        [variable] = source.variables
        if stated_classes := self.columns.get_classes(variable):
            return stated_classes
        end_classes: list[frozenset[str]] = []
        for step in self.columns.steps:
            if step.predicate == RDF_TYPE:
                continue
            if step.target == Variable(variable):
                end_classes.append(self.ranges.get(step.predicate, frozenset()))
            if step.source == Variable(variable):
                end_classes.append(self.domains.get(step.predicate, frozenset()))
        known_classes = [classes for classes in end_classes if classes]
        return frozenset.intersection(*known_classes) if known_classes else frozenset()

    def narrow(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Keep the columns that the question names, if there are several."""
        expected = self.expected
        if len(names) < 2 or (expected.columns or 0) >= len(names) or expected.has_second_question:
            return names
        requested = [name for name in names if self.is_requested(name)]
        aggregates = [name for name in names if self.sources[name].aggregate]
        if aggregates and (expected.is_grouped or expected.is_counted):
            is_only_number = expected.noun_count == 1 and not expected.is_grouped
            return tuple(aggregates) if is_only_number else names  # "for each X the number": both
        if expected.kind == "when" and (
            values := [name for name in names if self.is_literal(name)]
        ):
            return names if expected.is_grouped else tuple(values)
        if requested and len(requested) >= expected.noun_count:
            return tuple(requested)
        if (
            expected.noun_count > 1
            and len(listed_names := self.remove_owners(names, requested)) == expected.noun_count
        ):
            return listed_names
        remaining = self.remove(names, (name for name in names if self.is_only_condition(name)))
        return self.remove_owners(remaining, requested)

    def remove_owners(self, names: Sequence[str], requested: Sequence[str]) -> tuple[str, ...]:
        """Return the names without things that are not requested and whose properties are shown."""
        return self.remove(
            names, (name for name in names if name not in requested and self.is_owner(name, names))
        )

    def has_requested_property(self, name: str) -> bool:
        """Return whether a column holds values of a property that the question names."""
        return any(step.predicate in self.expected.noun_iris for step in self.get_steps(name))

    def get_steps(self, name: str) -> list[PredicateStep]:
        """Return the steps that end in the variables of a column."""
        return [
            step
            for variable in self.sources[name].variables
            for step in self.columns.iterate_steps_to(variable)
        ]

    def is_requested(self, name: str) -> bool:
        """Return whether a column holds a meaning of the head noun, or of one listed with it."""
        if self.sources[name].aggregate == "COUNT" and not self.expected.is_counted:
            return False
        if self.has_requested_property(name):
            return True
        if self.expected.is_name_request and any(
            step.predicate in self.name_predicates for step in self.get_steps(name)
        ):
            return True
        return bool(self.get_classes(name) & set(self.expected.noun_iris))

    def is_owner(self, name: str, names: Sequence[str]) -> bool:
        """Return whether values in other columns are properties of the things in a column."""
        source = self.sources[name]
        literal_names = [other for other in names if other != name and self.is_literal(other)]
        steps = [step for literal_name in literal_names for step in self.get_steps(literal_name)]
        sources = {str(step.source)[1:] for step in steps}
        return not source.is_computed and bool(source.variables & sources)

    def is_literal(self, name: str) -> bool:
        """Return whether a column holds values of properties that have no things as objects."""
        steps = self.get_steps(name)
        return bool(steps) and not any(self.ranges.get(step.predicate) for step in steps)

    def is_only_condition(self, name: str) -> bool:
        """Return whether a column is only used to sort or choose rows."""
        source = self.sources[name]
        is_condition = name in self.columns.condition_variables or bool(
            source.variables & self.columns.condition_variables
        )
        return is_condition and (bool(source.aggregate) or self.is_literal(name))
