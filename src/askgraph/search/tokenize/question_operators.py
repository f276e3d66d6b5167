"""Detect the operators of a question by closed word lists: count, most, more than, not, each …

Zones separate the parts that ask from the parts that restrict. Some operators match the text of a
name: "contains" alone may be any relation, but before a quotation or "the letter" it matches text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from askgraph.graph.measures import Unit, match_unit
from askgraph.search.tokenize import Quantity, TokenizedQuestion, to_bit_mask
from askgraph.search.tokenize.word_lists import (
    LANGUAGES_WITH_CAPITAL_NOUNS,
    Measure,
    get_shared_words,
)

COMPARISON_SIGNS = {
    "more_than": ">",
    "less_than": "<",
    "at_least": ">=",
    "at_most": "<=",
    "exactly": "=",
    "before": "<",
    "after": ">",
}


@dataclass(frozen=True)
class Operator:
    """An operator at tokens `first` to `last`.

    Attributes:
        measure: its adjective of measure, if it is one.
        percent: the percentage of a percentile, an "average" operator; 50 for a median.
    """

    name: str
    first: int
    last: int
    measure: Measure | None = None
    percent: float | None = None

    @property
    def positions(self) -> range:
        """Its tokens."""
        return range(self.first, self.last + 1)

    @property
    def mask(self) -> int:
        """Its tokens as a bit mask."""
        return to_bit_mask(self.positions)


@dataclass(frozen=True)
class QuestionOperators:
    """The operators of a question.

    Attributes:
        reading: the tokenized question.
        operators: the operators, in the order of the question.
        asks: the kind of answer: person, date, year, place or number.
        today: the current day, in days from 1970-01-01.
    """

    reading: TokenizedQuestion
    operators: tuple[Operator, ...]
    asks: str | None  # person, date, year, place, number
    today: float = 0.0  # days from 1970-01-01

    @cached_property
    def question_word(self) -> tuple[str, int] | None:
        """The kind asked for by the question word before the first noun, and its position."""
        reading = self.reading
        content = (at for at in range(len(reading.tokens)) if not reading.is_stop(at))
        starts = next((at for at in content if not self.mask >> at & 1), len(reading.tokens))
        best: tuple[int, int, str] | None = None
        positions = range(min(starts + 1, _MAX_TOKENS_BEFORE_NOUN, len(reading.tokens)))
        first_words = reading.folded_words[: len(positions)]
        for name, phrases in reading.word_list.question_words.items():
            for phrase in phrases:
                for at in positions if phrase[0] in first_words else ():
                    if reading.has_phrase_at(phrase, at) and (
                        best is None or (at, -len(phrase)) < best[:2]
                    ):
                        best = at, -len(phrase), name
        return (best[2], best[0]) if best is not None else None

    @cached_property
    def further_question_words(self) -> tuple[tuple[str, int], ...]:
        """Question words that follow the first one: "when and where"; each as (kind, position)."""
        question_words = [self.question_word] if self.question_word is not None else []
        reading = self.reading
        while question_words:
            name, at = question_words[-1]
            end = at + max(
                len(phrase)
                for phrase in reading.word_list.question_words[name]
                if reading.has_phrase_at(phrase, at)
            )
            if not reading.word_list.conjunctions.issuperset(
                reading.folded_words[end : end + 1] or " "
            ):
                break
            candidates = [
                (kind, end + 1)
                for kind, phrases in reading.word_list.question_words.items()
                if kind != name
                and any(reading.has_phrase_at(phrase, end + 1) for phrase in phrases)
            ]
            if not candidates:
                break
            question_words.append(candidates[0])
        final = self._final_question_word
        return (
            (*question_words[1:], final)
            if final and question_words and final not in question_words
            else tuple(question_words[1:])
        )

    @property
    def _final_question_word(self) -> tuple[str, int] | None:
        """The question word at the end of the question: "… and by whom?"."""
        reading, count = self.reading, len(self.reading.tokens)
        ends = [
            (count - len(phrase), name)
            for name, phrases in reading.word_list.question_words.items()
            for phrase in phrases
            if reading.folded_words[-len(phrase) :] == phrase
        ]
        at, name = min(ends, default=(0, ""))
        is_joined = at > 0 and reading.folded_words[at - 1] in reading.word_list.conjunctions
        return (name, at) if is_joined else None

    @cached_property
    def mask(self) -> int:
        """The tokens of all operators, as a bit mask."""
        return to_bit_mask(at for operator in self.operators for at in operator.positions)

    @property
    def quantity_mask(self) -> int:
        """The tokens of all quantities and their units, as a bit mask."""
        quantities = self.reading.quantities
        return to_bit_mask(at for quantity in quantities for at in quantity.positions_with_unit)

    def is_strong_operator(self, at: int) -> bool:
        """Return whether a token belongs to an operator that must not be read as a loose name."""
        return any(item.mask >> at & 1 for item in self.get_operators(*_STRONG_OPERATORS))

    def is_argument(self, quantity: Quantity) -> bool:
        """Return whether an operator takes a quantity as its argument: "between" takes two."""

        def is_near(other: Quantity, operator: Operator) -> bool:
            return 0 < other.first - operator.last <= _MAX_BETWEEN_TOKENS

        return any(
            is_near(quantity, operator)
            and sum(is_near(other, operator) for other in self.reading.quantities) > 1
            if operator.name == "between"
            else quantity
            in (self.get_quantity_after(operator), self.get_quantity_before(operator, 1))
            for operator in self.get_operators(*_QUANTITY_OPERATORS)
        )

    @property
    def is_yes_no_question(self) -> bool:
        """Whether it is a yes-no question."""
        return any(operator.name == "exists" for operator in self.operators)

    def get_operators(self, *names: str) -> tuple[Operator, ...]:
        """Return the operators with these names, in the order of the question."""
        if names not in self._operators_by_names:
            self._operators_by_names[names] = tuple(
                operator for operator in self.operators if operator.name in names
            )
        return self._operators_by_names[names]

    @cached_property
    def _operators_by_names(self) -> dict[tuple[str, ...], tuple[Operator, ...]]:
        """Cached results of `get_operators`."""
        return {}

    @cached_property
    def average_of_counts(self) -> Operator | None:
        """The average operator, if it averages counts: "moons per planet on average"."""
        groupings, counts = self.get_operators("each"), self.get_operators("count")
        for average in self.get_operators("average") if groupings else ():
            if any(self._is_followed_by(average, count) for count in counts):
                return average  # "the average number of moons per planet"
            if (
                counts
                and counts[0].first < groupings[0].first < average.first
                and not self.get_operators("and")
            ):
                return average  # "how many moons does each planet have on average"
        return None

    def _is_followed_by(self, operator: Operator, following: Operator) -> bool:
        between = range(operator.last + 1, following.first)
        joining = self.reading.word_list.conjunctions
        words = self.reading.folded_words[operator.last + 1 : following.first]
        stops = all(self.reading.is_stop(at) for at in between)
        return operator.last < following.first and stops and joining.isdisjoint(words)

    def get_unit(self, operator: Operator) -> Unit | None:
        """Return the unit named by the last words of an operator."""
        words = self.reading.folded_words[operator.first : operator.last + 1]
        for at in range(1, len(words)):
            match = match_unit(words, at)
            if match is not None and at + match[1] == len(words):
                return match[0]
        return None

    def get_quantity_after(self, operator: Operator, within: int = 3) -> Quantity | None:
        """Return the first quantity that starts within a number of tokens after an operator."""
        after = (q for q in self.reading.quantities if 0 < q.first - operator.last <= within)
        return next(after, None)

    def get_quantity_before(self, operator: Operator, gap: int = 0) -> Quantity | None:
        """Return the quantity just before an operator ("10 or more", "5 km or less").

        Up to `gap` words may come between: one in "10 years old or older".
        """
        before = (q for q in self.reading.quantities if q.last < operator.first)
        return next((q for q in before if operator.first <= q.positions_with_unit.stop + gap), None)


def detect_operators(
    reading: TokenizedQuestion, scales: Sequence[tuple[int, Measure]] = ()
) -> QuestionOperators:
    """Detect the operators of a question, longest phrases first, outside quotations.

    Args:
        reading: the tokenized question.
        scales: adjectives missing from the word lists, with their positions.
    """
    measures = dict(scales)
    operators: list[Operator] = []
    at = 0
    while at < len(reading.tokens):
        operator = _detect_operator_at(reading, at, measures.get(at))
        operator = operator or _detect_by_place(reading, at, operators)
        ends = {item.last + 1 for item in operators if item.name == "each"}
        is_kind = reading.folded_words[at] in reading.word_list.clauses["kinds"]
        if operator is None or (is_kind and operator.first in ends):  # "of each sort": no order
            at += 1
        else:
            operators.append(_interpret_distinct(operator, operators, reading))
            at = operator.last + 1
    operators = _interpret_sorting(reading, [*_interpret_windows(reading, operators)])
    operators = [*_interpret_count_orders(reading, operators)]
    operators += list(_find_listed_counts(reading, operators))
    if _has_verb_first(reading) and not any(item.name == "exists" for item in operators):
        operators.append(Operator("exists", 0, -1))
    if _is_choice(reading, operators) or _ends_with_which(reading):
        operators = [operator for operator in operators if operator.name != "exists"]
    return QuestionOperators(
        reading,
        tuple(sorted(operators, key=lambda operator: operator.first)),
        _detect_answer_kind(reading),
    )


def _is_choice(reading: TokenizedQuestion, operators: Sequence[Operator]) -> bool:
    """Return whether a question compares alternatives: "does X or Y have more moons?"."""
    names, clauses = {operator.name for operator in operators}, reading.word_list.clauses
    words = {*reading.folded_words}
    return (
        "or" in names
        and words.isdisjoint(clauses["than"])
        and not (
            names.isdisjoint(("comparative", "superlative", "most", "fewest"))
            and words.isdisjoint(clauses["more"] | clauses["fewer"])
        )
    )


def _ends_with_which(reading: TokenizedQuestion) -> bool:
    """Return whether a second question asks for the things: "is there a planet …? Which one?"."""
    starts = [at for at in range(1, len(reading.tokens)) if "?" in reading.get_gap(at - 1, at)]
    return any(
        reading.has_phrase_at(phrase, starts[-1])
        and all(map(reading.is_stop, range(starts[-1] + len(phrase), len(reading.tokens))))
        for phrase in (reading.word_list.request_phrases["which"] if starts else ())
    )


def _interpret_count_orders(
    reading: TokenizedQuestion, operators: Sequence[Operator]
) -> Iterator[Operator]:
    """Read "by number of" as an order: "top 3 planets by number of moons"."""
    is_top = any(operator.name == "top" for operator in operators)
    by = None
    for operator in reversed(operators):
        before = operator.first - 1 - (operator.first - 1 in reading.filler_tokens)
        if (
            operator.name == "count"
            and before > 0
            and reading.folded_words[before] in reading.word_list.clauses["by"]
            and not any(other.name in ("each", *_AGGREGATES) for other in operators[:-1])
        ):
            has_of = reading.folded_words[operator.last] in reading.word_list.clauses["owner"]
            yield Operator("most" if is_top else "most_first", before, operator.last - has_of)
            by = before
        elif operator.first != by:  # "nach" is not "after" here
            yield operator


def _has_verb_first(reading: TokenizedQuestion) -> bool:
    """Return whether the order of words asks for yes or no: "¿Ganó X …?", "X a-t-il gagné …?"."""
    if not reading.tokens or any(
        word == phrase[0] and reading.has_phrase_at(phrase, at)
        for phrase in reading.word_list.request_phrases["which"]
        for at, word in enumerate(reading.folded_words)
    ):
        return False
    first = reading.tokens[0]
    has_past_form = first.text[-1].casefold() != first.folded[-1]  # "ganó": an accent at the end
    verbs = reading.word_list.operators["exists"]
    is_of_all = first.folded in reading.word_list.agreement["every"] and any(
        (word,) in verbs for word in reading.folded_words
    )  # "¿todos los X tienen Y?"
    return ((has_past_form or is_of_all) and reading.text.lstrip().startswith("¿")) or any(
        (word,) in reading.word_list.request_phrases["inverted"]
        and reading.get_gap(at - 1, at) == "-"
        for at, word in enumerate(reading.folded_words)
        if at
    )


def _detect_by_place(
    reading: TokenizedQuestion, at: int, earlier: Sequence[Operator]
) -> Operator | None:
    """Detect words that are operators in one place: "número de hijos por país", "más hijos"."""
    clauses, word, after = reading.word_list.clauses, reading.folded_words[at], at + 1
    if after == len(reading.tokens) and word in clauses["missing"]:
        return Operator("not", at, at)
    if after == len(reading.tokens) or reading.is_stop(after) or at in reading.filler_tokens:
        return None
    before, noun = reading.tokens[max(0, at - 1)], reading.tokens[after]
    has_capital_nouns = reading.language in LANGUAGES_WITH_CAPITAL_NOUNS
    if word in clauses["rate"] and noun.is_capitalized == has_capital_nouns:
        is_aggregate = any(operator.name in _AGGREGATES for operator in earlier)
        return Operator("each", at, at) if is_aggregate else None
    is_several = before.stem == before.folded and noun.stem != noun.folded
    if is_several and clauses["than"].isdisjoint(reading.folded_words[after:]):
        degrees, own = reading.word_list.degrees, reading.tokens[at].text.lower()
        names = [n for d, n in (("most", "most"), ("least", "fewest")) if own in degrees[d]]
        return Operator(names[0], at, at) if names else None
    return None


def _interpret_windows(
    reading: TokenizedQuestion, operators: Sequence[Operator]
) -> Iterator[Operator]:
    """Read a median as an average with a percentage; drop totals and changes without a period."""
    has_period = any(operator.name in _PERIOD_OPERATORS for operator in operators)
    for operator in operators:
        if operator.name in ("running", "change"):
            if has_period:
                yield operator
        elif operator.name == "median":
            yield replace(operator, name="average", percent=_MEDIAN_PERCENT)
        elif operator.name == "percentile":
            near = range(operator.first - 1, min(operator.last + 3, len(reading.tokens)))
            for at in near:  # "90th percentile", "percentil 90"
                number = (
                    _NUMBER_WITH_ENDING.fullmatch(reading.folded_words[at]) if at >= 0 else None
                )
                if number is not None and 0 < float(number[1]) < _ALL_PERCENT:
                    first, last = min(at, operator.first), max(at, operator.last)
                    yield Operator("average", first, last, percent=float(number[1]))
                    break
        else:
            yield operator


_MEDIAN_PERCENT, _ALL_PERCENT = 50.0, 100.0
_NUMBER_WITH_ENDING = re.compile(r"(\d{1,2}(?:\.\d+)?)[a-z.]{0,4}")
_PERIOD_OPERATORS = ("monthly", "yearly", "decadal", "centennial")


def _interpret_sorting(reading: TokenizedQuestion, operators: Sequence[Operator]) -> list[Operator]:
    """Read extremes that name the ends of an order as that order: "oldest first"."""
    # The words around them become marks: "first", "starting with", "from" and "to the newest".
    extremes = [operator for operator in operators if operator.name in _SORTABLE_OPERATORS]
    for extreme in extremes:
        marks = (
            _find_sort_start(reading, operators, extreme)
            or _find_sort_end(reading, extreme)
            or _find_opposite_extreme(reading, extremes, extreme)
        )
        if marks:
            name = "most_first" if _is_upward(extreme) else "least_first"
            taken = {at for operator in (extreme, *marks) for at in operator.positions}
            free = (operator for operator in operators if taken.isdisjoint(operator.positions))
            return [*free, replace(extreme, name=name), *marks]
    return list(operators)


def _is_upward(extreme: Operator) -> bool:
    return extreme.measure.is_upward if extreme.measure else extreme.name in ("maximum", "most")


def _find_sort_start(
    reading: TokenizedQuestion, operators: Sequence[Operator], extreme: Operator
) -> list[Operator]:
    """Find "starting with" before an extreme in the same clause."""
    for operator in operators:
        if operator.name == "starting" and 0 < extreme.first - operator.last <= _MAX_SORT_WORDS:
            between = range(operator.first, extreme.first + 1)
            is_quoted = any(reading.tokens[at].quote is not None for at in between)
            if not is_quoted and _is_one_clause(reading, between):
                return [Operator("sort_mark", operator.first, operator.last)]
    return []


def _find_sort_end(reading: TokenizedQuestion, extreme: Operator) -> list[Operator]:
    """Find "first" at the end of the clause of an extreme: "lowest sales first"; or "down"."""
    words, count = reading.folded_words, len(reading.tokens)
    start = _find_sort_from(reading, extreme)
    for at in range(extreme.last + 1, min(extreme.last + _MAX_SORT_NOUN_WORDS + 2, count)):
        if any(mark in reading.get_gap(at - 1, at) for mark in _CLAUSE_MARKS):
            return []
        is_last = at + 1 == count or any(
            mark in reading.get_gap(at, at + 1) for mark in _CLAUSE_MARKS
        )
        if is_last and words[at] in reading.word_list.clauses["sort_first"]:
            return [Operator("sort_mark", at, at)]
        if is_last and start is not None and words[at] in reading.word_list.clauses["sort_on"]:
            return [Operator("sort_mark", start, start), Operator("sort_mark", at, at)]
    return []


def _find_opposite_extreme(
    reading: TokenizedQuestion, extremes: Sequence[Operator], extreme: Operator
) -> list[Operator]:
    """Find the other end of an order: "from the youngest to the oldest"."""
    start = _find_sort_from(reading, extreme)
    within = _MAX_SORT_NOUN_WORDS if start is None else _MAX_SORT_WORDS
    for other in extremes:
        between = range(extreme.last, other.first + 1)
        if not 0 < other.first - extreme.last <= within or not _is_one_clause(reading, between):
            continue
        at, words_before_end = other.first - 1, reading.word_list.clauses["sort_to"]
        while at > extreme.last and reading.folded_words[at] not in words_before_end:
            at -= 1
        repeated = {*reading.folded_words[max(0, extreme.first - _MAX_SORT_WORDS) : extreme.first]}
        is_end = at > extreme.last and all(  # "from the one worth most to the one worth least"
            reading.is_stop(word) or reading.folded_words[word] in repeated
            for word in range(at + 1, other.first)
        )
        if is_end and _is_upward(other) != _is_upward(extreme):
            marks = [] if start is None else [Operator("sort_mark", start, start)]
            return [*marks, Operator("sort_mark", at, at), replace(other, name="sort_mark")]
    return []


def _find_sort_from(reading: TokenizedQuestion, extreme: Operator) -> int | None:
    """Return the token of "from" before an extreme: "from the one that is oldest"."""
    at = extreme.first - 1
    while at >= 0 and extreme.first - at <= _MAX_SORT_WORDS:
        if reading.folded_words[at] in reading.word_list.clauses["sort_from"]:
            return at
        if reading.get_gap(at, at + 1) != " ":
            return None
        at -= 1
    return None


def _is_one_clause(reading: TokenizedQuestion, positions: range) -> bool:
    return not any(
        mark in reading.get_gap(at, at + 1) for at in positions[:-1] for mark in _CLAUSE_MARKS
    )


def _find_listed_counts(
    reading: TokenizedQuestion, earlier: Sequence[Operator]
) -> Iterator[Operator]:
    """Find count words listed before an aggregate: "number and average"."""
    last = max((operator.first for operator in earlier if operator.name in _AGGREGATES), default=0)
    operator_positions = (
        {at for operator in earlier for at in operator.positions} if last else set()
    )
    for at in range(last):
        is_start = at == 0 or reading.is_stop(at - 1)
        if is_start and at not in operator_positions and is_listed_count(reading, at):
            yield Operator("count", at, at)


def is_listed_count(reading: TokenizedQuestion, at: int) -> bool:
    """Return whether a token is a word for a number, directly before a comma or conjunction."""
    if reading.folded_words[at] not in reading.word_list.clauses["number"] or at + 1 == len(
        reading.tokens
    ):
        return False
    gap = reading.get_gap(at, at + 1)
    return "," in gap or reading.folded_words[at + 1] in reading.word_list.conjunctions


def _detect_operator_at(
    reading: TokenizedQuestion, at: int, scale: Measure | None
) -> Operator | None:
    token, lists = reading.tokens[at], reading.word_list
    phrases = lists.operators_by_first_word.get(token.folded, ())
    is_denial = any(name == "not" and reading.has_phrase_at(x, at) for x, name in phrases)
    if (
        token.quote is not None
        or any(item.relative and at in item.positions for item in reading.quantities)
        or at in reading.filler_tokens
        or (_is_name_part(reading, at) and not is_denial)
    ):
        return None
    matches = [*_match_adjectives(reading, at), *_match_or_comparatives(reading, at)]
    if scale is not None:
        last = at + len(scale.phrase) - 1
        matches.append((len(scale.phrase), 1, Operator(scale.degree, at, last, scale)))
    for phrase, name in phrases:
        last = at + len(phrase) - 1
        if not reading.has_phrase_at(phrase, at) or not _can_occur(name, at, reading):
            continue
        may_continue = name == "not" or (name in COMPARISON_SIGNS and len(phrase) > 1)
        if may_continue and _is_comparison_start(reading, last):
            continue  # "have no more than", "8 or more than 10"
        rank = 2 if name in _PREFERRED_OPERATORS else int(name == "past")
        matches.append((len(phrase), rank, Operator(name, at, last)))
        if name in _EXTREMES:
            matches += [  # after its article: "la plus grande"
                (length + start - at, rank, replace(operator, first=at))
                for start in range(at + 1, last + 1)
                for length, rank, operator in _match_adjectives(reading, start)
                if operator.name == "superlative" and operator.last == last
            ]
    # A word asks for names that contain a text: "contains 'x'".
    texts, word = reading.word_list.text_words, reading.tokens[at].folded
    having = word in texts["has"]
    if (having or word in texts["contains"]) and is_about_text(reading, at, having=having):
        matches.append((1, _TEXT_PRIORITY, Operator("containing", at, at)))
    return max(matches, key=lambda item: item[:2])[2] if matches else None


def _is_name_part(reading: TokenizedQuestion, at: int) -> bool:
    """Return whether a word selects a part of a name: "first" of "first and last names"."""
    naming = reading.word_list.naming
    for after in range(at + 1, min(at + _MAX_WORDS_BEFORE_NAME, len(reading.tokens))):
        if reading.tokens[after].stem in naming:
            noun, parts = reading.tokens[after].stem, get_shared_words().name_parts.values()
            words = [reading.folded_words[x] for x in range(at, after) if not reading.is_stop(x)]
            return all(any(word + noun in part for part in parts) for word in words)
    return False


_MAX_POLITE_WORDS = 3  # words after "can" that may name the addressee
_MAX_WORDS_BEFORE_NAME = 6  # maximum distance of "names" in "first, middle and last names"
_TEXT_PRIORITY = 4  # before all other operators: the following words identify it

_SORTABLE_OPERATORS = ("superlative", "maximum", "minimum", "most", "fewest")
_MAX_SORT_WORDS = 8  # so many words lie at most between the ends of an order
_MAX_SORT_NOUN_WORDS = 3  # so many words name what is sorted by: "lowest average score first"
_CLAUSE_MARKS = ",;:.?!("
_AGGREGATES = frozenset("count average sum minimum maximum".split())


def _interpret_distinct(
    operator: Operator, earlier: Sequence[Operator], reading: TokenizedQuestion
) -> Operator:
    """Read "different" as "each" in "the number of X in different Y"."""
    if operator.name != "distinct" or not any(item.name in _AGGREGATES for item in earlier):
        return operator
    words = reading.word_list.clauses
    at = operator.first - 1
    while at > earlier[-1].last and reading.is_stop(at):
        if reading.tokens[at].folded in words["among"]:
            is_difference = reading.tokens[operator.first].folded in words["differing"]
            return replace(operator, name="each") if is_difference else operator
        at -= 1
    return operator


def _match_adjectives(reading: TokenizedQuestion, at: int) -> Iterator[tuple[int, int, Operator]]:
    """Yield the adjectives of measure at a token, each with its length and rank."""
    lists, word = reading.word_list, reading.tokens[at].folded
    for measure in lists.measures_by_first_word.get(word, ()):
        name = measure.degree if measure.degree != "plain" else "measure"
        if (
            reading.has_phrase_at(measure.phrase, at)
            and (
                name != "measure"  # "how old"
                or reading.folded_words[max(0, at - 1) : at + 1] in lists.question_words["number"]
            )
        ):
            length = len(measure.phrase)
            if name == "comparative":
                phrases = lists.operators_by_first_word.get(word, ())
                longer = (p for p, n in phrases if n in _THAN_OPERATORS)
                length = max([length, *(len(p) for p in longer if reading.has_phrase_at(p, at))])
            yield length, 3, Operator(name, at, at + length - 1, measure)


def _match_or_comparatives(
    reading: TokenizedQuestion, at: int
) -> Iterator[tuple[int, int, Operator]]:
    """Yield comparatives joined to a number by "or": "25 or older", "30 metres or higher"."""
    ends = {item.positions_with_unit.stop for item in reading.quantities}
    if (reading.folded_words[at],) in reading.word_list.operators["or"] and {at, at - 1} & ends:
        for length, rank, item in _match_adjectives(reading, min(at + 1, len(reading.tokens) - 1)):
            has_than = reading.word_list.clauses["than"].intersection(
                reading.folded_words[at : item.last + 2]
            )
            if item.name == "comparative" and not has_than:
                yield length + 1, rank, replace(item, first=at)


def _is_comparison_start(reading: TokenizedQuestion, at: int) -> bool:
    """Return whether a comparison of several words starts at a token: "no more than"."""
    word = reading.folded_words[at] if at < len(reading.tokens) else ""
    return any(
        name in COMPARISON_SIGNS and len(phrase) > 1 and reading.has_phrase_at(phrase, at)
        for phrase, name in reading.word_list.operators_by_first_word.get(word, ())
    )


_EXTREMES = ("maximum", "minimum")
_THAN_OPERATORS = ("more_than", "less_than", "before", "after")
_PREFERRED_OPERATORS = ("most", "fewest")
_MAX_QUESTION_WORD_TOKENS = 6  # position limit of a question word
_MAX_EXACTLY_TOKENS = 2  # maximum tokens between "exactly" and its number
_MAX_TOKENS_BEFORE_NOUN = 4  # position limit of a question word that asks for the answer
_MAX_BETWEEN_TOKENS = 8  # tokens after "between" that contain both numbers
_STRONG_OPERATORS = frozenset(
    "count average sum minimum maximum most fewest superlative comparative measure "
    "containing starting ending most_first least_first".split()
)
"""Operators that are more than function words."""
_QUANTITY_OPERATORS = (*COMPARISON_SIGNS, "between", "top", "comparative")


def _can_occur(name: str, at: int, reading: TokenizedQuestion) -> bool:
    """Return whether an operator is valid at its position."""
    # A verb must open the question; some operators need a number after them.
    if name == "exists":
        which = reading.word_list.request_phrases["which"]  # "à quelle température" has no verb
        is_which = any(reading.has_phrase_at(phrase, 1) for phrase in which)
        return at == 0 and not (is_which or _is_polite_request(reading))
    if name in ("before", "after", "past"):
        may_be_place = reading.folded_words[at] in reading.word_list.clauses["sort_from"]
        near = range(at + 1, at + _MAX_BETWEEN_TOKENS)
        is_time = any(quantity.first in near for quantity in reading.quantities)
        return at > 0 and (is_time or not may_be_place)  # "depuis Paris" is about no time
    if name in ("at_least", "at_most"):  # but "du plus ancien au plus récent"
        return bool(reading.quantities)
    if name in ("between", "top"):
        following = {quantity.first for quantity in reading.quantities}
        has_other_bound = name != "between" or any(  # but "from the 1960s"
            at + step in following for step in range(3, _MAX_BETWEEN_TOKENS + 1)
        )
        if name == "between" and any(  # "from both 1989 and 1990"
            reading.has_phrase_at(both, at + 1) for both in reading.word_list.operators["both"]
        ):
            return False
        return has_other_bound and any(at + step in following for step in (1, 2, 3))
    if name == "share":  # but "the top 10 percent of"
        return not any(at - 1 in item.positions for item in reading.quantities)
    if name == "or":  # "his or her", "in or after"
        neighbours = [item for item in (at - 1, at + 1) if 0 <= item < len(reading.tokens)]
        numbers = {number for item in reading.quantities for number in item.positions}
        return any(item in numbers or not reading.is_stop(item) for item in neighbours)
    if name == "exactly":
        return any(
            at < quantity.first <= at + _MAX_EXACTLY_TOKENS for quantity in reading.quantities
        )
    return name not in ("average_of_all",)


def _is_polite_request(reading: TokenizedQuestion) -> bool:
    """Return whether a question opens as a polite request: "can you show me …"."""
    words, first_words = reading.word_list.yes_or_no, reading.folded_words[: 1 + _MAX_POLITE_WORDS]
    has_addressee = bool(first_words[1:]) and (
        first_words[1] in words["asked"] or words["asking"] & set(first_words[1:])
    )
    return first_words[0] in words["able"] and bool(has_addressee)


def _detect_answer_kind(reading: TokenizedQuestion) -> str | None:
    """Return the kind that the first question word asks for; the longest phrase wins."""
    question_words = reading.word_list.question_words_by_first_word
    for at, word in enumerate(reading.folded_words[: _MAX_QUESTION_WORD_TOKENS + 1]):
        matches = [
            match for match in question_words.get(word, ()) if reading.has_phrase_at(match[0], at)
        ]
        if matches:
            return matches[0][1]
    return None


@dataclass(frozen=True)
class QuestionZones:
    """The tokens in parts of a question that ask, rather than restrict."""

    reading: TokenizedQuestion
    asking_flags: tuple[bool, ...]
    repeated_question_tokens: frozenset[int] = frozenset()

    @classmethod
    def from_question(cls, reading: TokenizedQuestion, frame: QuestionOperators) -> Self:
        """Split a question at its sentences and at words that open a restriction.

        "For each X that has Y, find the Z" asks in the part after the comma.
        """
        names = ("and", "difference", "ratio")  # "as well as", "the difference between"
        conjunctions = {at for operator in frame.get_operators(*names) for at in operator.positions}
        starts_with_restriction = (
            bool(reading.tokens)
            and reading.folded_words[0] in reading.word_list.clauses["restrict"]
        )
        repeated = frozenset(_find_repeated_question(reading))
        conjunctions |= repeated
        flags, is_asking, has_content = [], True, False
        for at, token in enumerate(reading.tokens):
            gap = reading.get_gap(at - 1, at) if at else ""
            is_question_word = (token.folded,) in reading.word_list.follow_up_phrases["whole"]
            if any(mark in gap for mark in ".?!;") or (
                starts_with_restriction and is_question_word and "," in gap
            ):
                is_asking, has_content = True, False
            elif (
                has_content
                and token.quote is None
                and at not in conjunctions
                and _is_restriction_start(at, reading)
            ):
                is_asking = False
            elif has_content and is_continuation(at, reading):
                is_asking = True
            flags.append(is_asking)
            has_content = has_content or not reading.is_stop(at)
        return cls(reading, tuple(flags), repeated)

    def is_head(self, at: int) -> bool:
        """Return whether a token is in a part that asks."""
        return self.asking_flags[at]

    def is_listed(self, at: int) -> bool:
        """Return whether a token opens, or follows a comma or conjunction, ignoring articles."""
        tokens, lists = self.reading.tokens, self.reading.word_list
        conjunctions = {phrase[0] for phrase in lists.operators["and"]}
        position = at - 1
        while position in self.repeated_question_tokens:
            position -= 1
        while (
            position >= 0
            and self.reading.is_stop(position)
            and tokens[position].folded not in conjunctions
        ):
            if "," in self.reading.get_gap(position, position + 1):
                return True
            if tokens[position].folded in lists.clauses["possessive"]:
                return True
            if tokens[position].folded in lists.clauses["restrict"]:
                return False
            position -= 1
        if position < 0:
            return True
        return (
            "," in self.reading.get_gap(position, position + 1)
            or tokens[position].folded in conjunctions
        )


def _find_repeated_question(reading: TokenizedQuestion) -> range:
    """Return the tokens that repeat the opening question: "in which city and in which country"."""
    words, question_phrases = reading.folded_words, reading.word_list.follow_up_phrases["whole"]
    opening = next((at + 1 for at, word in enumerate(words[:2]) if (word,) in question_phrases), 0)
    window = range(opening, min(opening + _MAX_NOUN_WORDS + 1, len(words)))
    start = next((at for at in window if words[at] in reading.word_list.conjunctions), 0) + 1
    noun = range(opening, start - 1)
    repeated = words[start : start + opening]
    is_repeated = (
        opening and noun and len(repeated) == opening and (repeated[-1],) in question_phrases
    )
    if not is_repeated or any(map(reading.is_stop, noun)) or repeated[:-1] != words[: opening - 1]:
        return range(0)
    return range(start, start + opening)


def is_continuation(at: int, reading: TokenizedQuestion) -> bool:
    """Return whether further columns are asked for: "ships before 1900 with their crews"."""
    following = reading.tokens[at + 1].folded if at + 1 < len(reading.tokens) else ""
    word, words = reading.tokens[at].folded, reading.word_list
    return word in words.text_words["has"] and following in words.clauses["possessive"]


def _is_restriction_start(at: int, reading: TokenizedQuestion) -> bool:
    clauses, word = reading.word_list.clauses, reading.tokens[at].folded
    following = reading.tokens[at + 1].folded if at + 1 < len(reading.tokens) else ""
    restricts = word in clauses["restrict"] and word not in clauses["weak"]
    return restricts and following not in clauses["possessive"]


_MAX_NOUN_WORDS = 3  # maximum words of a noun requested beside another
_MAX_TOKENS_BEFORE_TEXT = 4  # maximum tokens between "contains" and its text: "the french word"


def find_matched_text(reading: TokenizedQuestion, operator: range) -> range | None:
    """Return the tokens of the text that an operator matches, if there is one.

    This is a following quotation, the text after "the letter" or "the word", a name or number, or
    a preceding quotation if the verb comes last.
    """
    following = _find_text_after(reading, operator[-1])
    if following:
        return following
    at = operator[0] - 1
    if at < 0 or reading.tokens[at].quote is None:
        return None
    while at > 0 and reading.tokens[at - 1].quote == reading.tokens[operator[0] - 1].quote:
        at -= 1
    return range(at, operator[0])


def _find_text_after(reading: TokenizedQuestion, last: int) -> range | None:
    tokens, kinds = reading.tokens, reading.word_list.text_words["kinds"]
    has_kind_word = tokens[last].folded in kinds
    for at in range(last + 1, min(last + 2 + _MAX_TOKENS_BEFORE_TEXT, len(tokens))):
        token = tokens[at]
        if token.quote is not None:
            number, stop = reading.tokens[at].quote, at
            while stop < len(reading.tokens) and reading.tokens[stop].quote == number:
                stop += 1
            return range(at, stop)
        if token.folded in kinds:
            has_kind_word = True
        elif has_kind_word and (len(token.folded) == 1 or not reading.is_stop(at)):
            return _find_name_end(reading, at)
        elif not has_kind_word and not reading.is_stop(at):
            is_name = token.is_capitalized or len(token.folded) == 1 or token.folded.isdigit()
            return _find_name_end(reading, at) if is_name else None
    return None


def is_about_text(reading: TokenizedQuestion, at: int, *, having: bool) -> bool:
    """Return whether a word like "contains" at a token matches text.

    A word like "has" needs "the letter", "the word" or "in its name"; one like "contains" may also
    follow a word for "name".

    Args:
        reading: the tokenized question.
        at: the token of the word.
        having: whether the word is like "has".
    """
    text = find_matched_text(reading, range(at, at + 1))
    if text is None:
        return False
    kinds = reading.word_list.text_words["kinds"]
    if any(reading.tokens[position].folded in kinds for position in range(at + 1, text.start)):
        return True
    is_quoted = reading.tokens[text.start].quote is not None
    if not having and at and reading.tokens[at - 1].stem in reading.word_list.naming:
        return True
    return is_quoted and (not having or find_text_holder(reading, text) is not None)


def find_text_holder(reading: TokenizedQuestion, text: range) -> int | None:
    """Return the token before the noun that contains a text: the last token of "in their"."""
    for phrase in reading.word_list.text_holders:
        if reading.has_phrase_at(phrase, text.stop):
            return text.stop + len(phrase) - 1
    return None


def _find_name_end(reading: TokenizedQuestion, at: int) -> range:
    """Return a word and the capitalized words directly after it."""
    tokens, stop = reading.tokens, at + 1
    while (
        tokens[at].is_capitalized
        and len(tokens[at].folded) > 1
        and stop < len(tokens)
        and tokens[stop].is_capitalized
        and reading.get_gap(stop - 1, stop) == " "
    ):
        stop += 1
    return range(at, stop)
