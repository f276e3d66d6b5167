"""Tokenize a question: words with positions, language, numbers, years, dates and times.

Relative times are resolved against today. A question's form is its sequence of operators and
function words.
"""

import calendar
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property, lru_cache
from itertools import islice, zip_longest
from math import isfinite

from rapidfuzz.distance import Indel

from askgraph.graph.literals import to_day_number
from askgraph.graph.measures import Unit, match_unit
from askgraph.index.names import fold_word, stem_word
from askgraph.search.tokenize.word_lists import (
    LANGUAGES_WITH_CAPITAL_NOUNS,
    Phrase,
    WordList,
    detect_language,
    get_shared_words,
    get_word_list,
)

_EPOCH_DAY_NUMBER = date(1970, 1, 1).toordinal()
_SECONDS_PER_UNIT = {
    "years": 31_557_600.0,
    "months": 2_629_800.0,
    "weeks": 604_800.0,
    "days": 86_400.0,
}
"""Seconds of each unit of time; years and months have their mean length."""
_MINUS = re.compile(r"(?:^|(?<!\d)\s|[(=<>])[-\N{MINUS SIGN}]$")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_CLOCK = re.compile(r"(?<![\w:.,-])([01]?\d|2[0-4])[:h]([0-5]\d)(?::[0-5]\d)?(?![\w:-])")
_DOTTED_CLOCK = re.compile(r"(\d\d?)\.(\d\d)")


@dataclass(frozen=True)
class RelativeTime:
    """A year, month or day, relative to today; a week is seven days."""

    unit: str  # years, months, weeks or days
    offset: int  # the number of units from today; negative in the past
    until_today: bool = False  # whether the whole span between that day and today is included


_NAMED_TIMES = {
    "last_year": RelativeTime("years", -1),
    "this_year": RelativeTime("years", 0),
    "next_year": RelativeTime("years", 1),
    "last_month": RelativeTime("months", -1),
    "this_month": RelativeTime("months", 0),
    "next_month": RelativeTime("months", 1),
    "yesterday": RelativeTime("days", -1),
    "tomorrow": RelativeTime("days", 1),
}


@dataclass(frozen=True)
class Quantity:
    """A value in words or digits.

    Attributes:
        first: its first token.
        last: its last token, without the unit.
        text: the words of the value.
        value: the number as written; None for dates.
        days: the first and last day (days from 1970-01-01) if it can be a year, month, day, decade
            or century. A relative time has none until today is known.
        is_spelled: whether it is a number word ("two").
        unit: the unit named by the words right after it.
        unit_word_count: the number of words of the unit.
        relative: the time relative to today, if it is one.
    """

    first: int
    last: int
    text: str
    value: float | None
    days: tuple[float, float] | None = None
    is_spelled: bool = False
    unit: Unit | None = None
    unit_word_count: int = 0
    relative: RelativeTime | None = None

    @property
    def positions(self) -> range:
        """The tokens of the value, without its unit."""
        return range(self.first, self.last + 1)

    @property
    def positions_with_unit(self) -> range:
        """The tokens of the value and its unit."""
        return range(self.first, self.last + 1 + self.unit_word_count)


def find_quantities(
    words: Sequence[str], lists: WordList, text: str, starts: Sequence[int]
) -> tuple[Quantity, ...]:
    """Find all quantities, longest first from the left; they do not overlap."""
    return tuple(_QuantityParser(words, lists).parse(text, starts))


def compute_days(relative: RelativeTime, today: float) -> tuple[float, float] | None:
    """Return the first and last day from 1970-01-01 of a relative time; None before the year 1."""
    day = date.fromordinal(int(today) + _EPOCH_DAY_NUMBER)
    if relative.unit in ("weeks", "days"):
        start_day = today + relative.offset * (7 if relative.unit == "weeks" else 1)
        return start_day, today if relative.until_today else start_day
    is_calendar_year = relative.unit == "years" and not relative.until_today
    month_index = 12 * day.year + (0 if is_calendar_year else day.month - 1)
    first_month = month_index + relative.offset * (12 if relative.unit == "years" else 1)
    end_month = first_month + (12 if is_calendar_year else 1)
    if not 12 <= first_month < end_month < 12 * 10_000:
        return None
    start, end = (to_day_number(month // 12, month % 12 + 1) for month in (first_month, end_month))
    return (min(start + day.day, end) - 1, today) if relative.until_today else (start, end - 1)


class _QuantityParser:
    """Find the quantities in the folded words of a question."""

    def __init__(self, words: Sequence[str], lists: WordList) -> None:
        self.words, self.lists, self.times = words, lists, lists.time_phrases

    def parse(self, text: str, starts: Sequence[int]) -> Iterator[Quantity]:
        iso = {starts.index(m.start()): m for m in _ISO.finditer(text) if m.start() in starts}
        clocks = {starts.index(m.start()): m for m in _CLOCK.finditer(text) if m.start() in starts}
        quantities: list[Quantity] = []
        at = 0
        while at < len(self.words):
            quantity = None
            if at in iso and at + 2 < len(self.words):
                year, month, day = map(int, iso[at].groups())
                quantity = _build_date(at, at + 2, iso[at].group(), year, month, day)
            if at in clocks:
                last = bisect_left(starts, clocks[at].end()) - 1
                quantity = self.parse_clock(at, last, clocks[at])
            quantity = quantity or self.parse_quantity(at)
            if quantity is None:
                at += 1
            else:
                quantities.append(
                    self.apply_sign(quantity, text[max(0, starts[at] - 3) : starts[at]])
                )
                at = quantity.last + 1
        for current, next_quantity in zip_longest(quantities, quantities[1:]):
            yield self.share_unit(current, next_quantity)

    def parse_quantity(self, at: int) -> Quantity | None:
        word = self.words[at]
        if not word[:1].isdigit() and word not in self.lists.quantity_starts:
            return None
        for candidate in (
            *self.parse_dates(at),
            self.parse_period(at),
            self.parse_relative_time(at),
            self.parse_year_before_christ(at),
        ):
            if candidate is not None:
                return candidate
        quantity = self.parse_number(at) or self.parse_article(at)
        if quantity is None:
            return None
        if any(self.match_phrase(quantity.last + 1, self.times[name]) for name in _CLOCK_PHRASES):
            clock = _DOTTED_CLOCK.fullmatch(quantity.text)
            return self.parse_clock(at, quantity.last, clock, quantity.value or 0.0)
        unit = match_unit(self.words, quantity.last + 1)
        if unit is None and (time := self.find_time_unit(quantity.last + 1)):
            unit = Unit("time", _SECONDS_PER_UNIT[time], name=time), 1
        return (
            quantity if unit is None else replace(quantity, unit=unit[0], unit_word_count=unit[1])
        )

    def share_unit(self, quantity: Quantity, next_quantity: Quantity | None) -> Quantity:
        """Give a number the unit of the next one: "1 and 2 miles"."""
        if (
            next_quantity is None
            or next_quantity.unit is None
            or quantity.unit
            or quantity.value is None
        ):
            return quantity
        is_joined = (
            next_quantity.first - quantity.last == 2
            and self.words[quantity.last + 1] in self.lists.stop_words
        )
        return replace(quantity, unit=next_quantity.unit, days=None) if is_joined else quantity

    def apply_sign(self, quantity: Quantity, before: str) -> Quantity:
        """Negate a quantity after a minus: "-10", "minus 10"; not "20-10"."""
        if quantity.value is None:
            return quantity
        negative = replace(quantity, value=-quantity.value, text=f"-{quantity.text}", days=None)
        if not quantity.is_spelled and _MINUS.search(before):
            return negative
        starts = ((quantity.first - len(phrase), phrase) for phrase in self.lists.minus_phrases)
        has_minus_word = any(
            start >= 0 and self.match_phrase(start, [phrase]) for start, phrase in starts
        )
        return replace(negative, first=quantity.first - 1) if has_minus_word else quantity

    def match_phrase(self, at: int, phrases: Sequence[Sequence[str]]) -> int:
        """Return the length in words of the first phrase found at a token; 0 if there is no match.

        The phrases are time or minus phrases of the word list.
        """
        if at >= len(self.words) or self.words[at] not in self.lists.time_phrase_starts:
            return 0
        return next((len(p) for p in phrases if tuple(self.words[at : at + len(p)]) == p), 0)

    # Numbers

    def parse_number(self, at: int) -> Quantity | None:
        word = self.words[at]
        value = _parse_digits(word, points=self.lists.decimal_comma)
        spelled = value is None
        value = self.lists.number_words.get(word) if value is None else value
        if value is None:
            return None
        last = at
        while last + 1 < len(self.words) and self.words[last + 1] in self.lists.number_scales:
            last += 1
            value *= self.lists.number_scales[self.words[last]]
        year = _parse_year(word) if last == at else None
        days = (to_day_number(year), to_day_number(year, 12, 31)) if year else None
        return Quantity(at, last, " ".join(self.words[at : last + 1]), value, days, spelled)

    def parse_article(self, at: int) -> Quantity | None:
        """Read an article after a comparison as 1: "longer than a mile", "más de un hijo"."""
        if not at or self.words[at - 1] not in self.lists.comparison_endings:
            return None
        is_number = self.match_phrase(at, self.times["as_one"]) and not (
            self.lists.number_words.keys() | self.lists.number_scales.keys()
        ).intersection(self.words[at + 1 : at + 2])
        has_unit = match_unit(self.words, at + 1) or self.find_time_unit(at + 1)
        is_article = self.match_phrase(at, self.times["one"]) and has_unit
        counts = (*self.lists.operators["more_than"], *self.lists.operators["less_than"])
        if not is_article and not (
            is_number and any(tuple(self.words[at - len(p) : at]) == p for p in counts)
        ):
            return None
        return Quantity(at, at, self.words[at], 1.0, is_spelled=True)

    def parse_clock(
        self, at: int, last: int, match: re.Match[str] | None, hours: float = 0.0
    ) -> Quantity:
        """Build a time of day in hours: "18:30", "8.30 am", "8 o'clock"."""
        hours = int(match[1]) + int(match[2]) / 60 if match else hours
        counts = [self.match_phrase(last + 1, self.times[name]) for name in _CLOCK_PHRASES]
        if counts[0] or counts[1]:
            hours = hours % 12 + (12 if counts[1] else 0)
        unit, _ = match_unit(("h",), 0) or (None, 0)
        text = " ".join(self.words[at : last + 1])
        words = next(filter(None, counts), 0)
        return Quantity(at, last, text, hours, unit=unit, unit_word_count=words)

    def parse_ordinal(self, word: str) -> int | None:
        """Return 1 to 21 for an ordinal in digits, words or Roman numerals."""
        roman = get_shared_words().roman_numerals
        if digits := _get_ordinal_pattern().fullmatch(word):
            number = int(digits.group(1))
        else:
            number = self.lists.ordinals.get(word, roman.index(word) + 1 if word in roman else 0)
        return number if 1 <= number <= 21 else None

    # Dates

    def parse_dates(self, at: int) -> Iterator[Quantity | None]:
        """Yield dates: day month year, month day year, month year; with or without "de" or "of"."""
        window = range(at, min(at + 6, len(self.words)))
        positions = [
            position for position in window if self.words[position] not in self.lists.date_fillers
        ]
        if not positions or positions[0] != at:
            return
        months, words = self.lists.months, [self.words[position] for position in positions]
        if len(words) >= 3 and words[1] in months:
            day, year = _parse_day_of_month(words[0]), _parse_year(words[2])
            if day and year:
                yield _build_date(
                    at, positions[2], " ".join(words[:3]), year, months[words[1]], day
                )
        if words[0] in months:
            month = months[words[0]]
            if (
                len(words) >= 3
                and (day := _parse_day_of_month(words[1]))
                and (year := _parse_year(words[2]))
            ):
                yield _build_date(at, positions[2], " ".join(words[:3]), year, month, day)
            if len(words) >= 2 and (year := _parse_year(words[1])):
                last = calendar.monthrange(year, month)[1]
                days = to_day_number(year, month), to_day_number(year, month, last)
                yield Quantity(at, positions[1], " ".join(words[:2]), None, days)

    def parse_period(self, at: int) -> Quantity | None:
        """Parse a decade or century: "20th century", "siglo XX", "1970er Jahre", "the nineties"."""
        word, *next_words = self.words[at : at + 2]
        if word in self.lists.decades and word not in self.lists.number_words:
            return self.build_period(at, at, 1900 + self.lists.decades[word])
        digits = _get_decade_pattern().fullmatch(word)
        short = get_shared_words().endings["short_decades"]
        is_short = digits and (
            digits.group(3) in short or (at > 0 and self.match_phrase(at - 1, self.times["the"]))
        )  # "the 60s", but "60s" may be seconds
        if digits and (digits.group(1) or is_short):
            return self.build_period(
                at, at, int(digits.group(1) or 19) * 100 + int(digits.group(2))
            )
        if not next_words:
            return None
        if self.match_phrase(at, self.times["decade_before"]):
            decade = self.parse_decade(next_words[0])
            if decade is not None:
                return self.build_period(at, at + 1, decade)
        for first, second in ((word, *next_words), (*next_words, word)):
            if (second,) in self.times["century"] and (number := self.parse_ordinal(first)):
                return self.build_period(at, at + 1, 100 * number - 99, 100)
        return None

    def parse_decade(self, word: str) -> int | None:
        """Return the first year of a decade: 90 or 1990 in digits, or a word."""
        in_digits = re.fullmatch(r"(?:[12][0-9])?[0-9]0", word)
        decade = int(word) if in_digits else self.lists.decades.get(word)
        return decade if decade is None or decade >= 100 else 1900 + decade

    def build_period(self, first: int, last: int, start: int, year_count: int = 10) -> Quantity:
        days = to_day_number(start), to_day_number(start + year_count - 1, 12, 31)
        return Quantity(first, last, " ".join(self.words[first : last + 1]), None, days)

    def parse_year_before_christ(self, at: int) -> Quantity | None:
        """Parse "480 BC", also the first year of "480 to 323 BC"."""
        if not re.fullmatch(r"\d{1,4}", self.words[at]):
            return None
        year, phrases = -int(self.words[at]), self.times["before_christ"]
        days = to_day_number(year), to_day_number(year, 12, 31)
        if length := self.match_phrase(at + 1, phrases):
            return Quantity(at, at + length, " ".join(self.words[at : at + length + 1]), None, days)
        is_range = (
            self.words[at + 1 : at + 2]
            and self.words[at + 1] in self.lists.clauses["through"]
            and re.fullmatch(r"\d{1,4}", "".join(self.words[at + 2 : at + 3]))
            and self.match_phrase(at + 3, phrases)
        )
        return Quantity(at, at, self.words[at], None, days) if is_range else None

    # Times relative to today

    def parse_relative_time(self, at: int) -> Quantity | None:
        """Parse "last year", "two months ago", "tomorrow"."""
        # "The last year" is the last of several years instead.
        match = self.parse_named_time(at) or self.parse_ago(at) or self.parse_last_units(at)
        if match is None:
            return None
        last, relative = match
        return Quantity(at, last, " ".join(self.words[at : last + 1]), None, relative=relative)

    def parse_named_time(self, at: int) -> tuple[int, RelativeTime] | None:
        """Parse a fixed expression: "last year"."""
        if at and self.match_phrase(at - 1, self.times["the"]):
            return None
        for name, relative in _NAMED_TIMES.items():
            if length := self.match_phrase(at, self.times[name]):
                return at + length - 1, relative
        return None

    def parse_ago(self, at: int) -> tuple[int, RelativeTime] | None:
        """Parse "20 years ago", "vor 20 Jahren"."""
        before, after = self.match_phrase(at, self.times["ago_before"]), 0
        relative = self.parse_count_of_units(at + before, at + before + 1)
        if not before:
            after = self.match_phrase(at + 2, self.times["ago_after"])
        return (at + before + 1 + after, relative) if relative and (before or after) else None

    def parse_last_units(self, at: int) -> tuple[int, RelativeTime] | None:
        """Parse "last 20 years", "20 dernières années"."""
        last = next((i for i in (0, 1) if self.match_phrase(at + i, self.times["last_many"])), None)
        relative = None if last is None else self.parse_count_of_units(at + 1 - last, at + 2)
        return (at + 2, replace(relative, until_today=True)) if relative else None

    def parse_count_of_units(self, at: int, unit_at: int) -> RelativeTime | None:
        """Parse a number at one token and a time unit at another as that long ago."""
        unit = self.find_time_unit(unit_at)
        if unit is None:
            return None
        word = self.words[at]
        count = (
            int(word) if word.isdecimal() and len(word) <= 4 else self.lists.number_words.get(word)
        )
        if count is None and self.match_phrase(at, self.times["one"]):
            count = 1
        return None if count is None else RelativeTime(unit, -int(count))

    def find_time_unit(self, at: int) -> str | None:
        """Return the time unit whose word, in any form, is at a token."""
        return next(
            (name for name in _SECONDS_PER_UNIT if self.match_phrase(at, self.times[name])), None
        )


_CLOCK_PHRASES = ("morning", "afternoon", "clock")


@cache
def _get_ordinal_pattern() -> re.Pattern[str]:
    endings = "|".join(fold_word(ending) for ending in get_shared_words().endings["ordinals"])
    return re.compile(rf"(\d{{1,2}})(?:{endings})?")


@cache
def _get_decade_pattern() -> re.Pattern[str]:
    return re.compile(rf"([12]\d)?(\d0)({'|'.join(get_shared_words().endings['decades'])})")


def _build_date(
    first: int, last: int, text: str, year: int, month: int, day: int
) -> Quantity | None:
    if not (1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    day_index = to_day_number(year, month, day)
    return Quantity(first, last, text, None, (day_index, day_index))


def _parse_day_of_month(word: str) -> int | None:
    digits = _get_ordinal_pattern().fullmatch(word)
    return int(digits.group(1)) if digits and 1 <= int(digits.group(1)) <= 31 else None


def _parse_year(word: str) -> int | None:
    return int(word) if re.fullmatch(r"[12]\d{3}", word) else None


def _parse_digits(word: str, *, points: bool) -> float | None:
    """Parse a number in digits; with `points`, the language groups thousands with points."""
    if re.fullmatch(r"\d+(?:\.\d+)?e[+-]?\d+", word):
        value = float(word)
        return value if isfinite(value) else None
    if not re.fullmatch(r"\d+(?:[.,]\d+)*", word):
        return None
    has_several_groups = re.fullmatch(r"\d{1,3}(\.\d{3}){2,}(,\d+)?", word)
    if has_several_groups or (points and re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+(,\d+)?", word)):
        return float(word.replace(".", "").replace(",", "."))
    decimal = points and re.fullmatch(r"\d+,\d+", word)
    if not decimal and re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        return float(word.replace(",", ""))
    if word.count(",") + word.count(".") == 1:
        return float(word.replace(",", "."))
    return float(word.replace(",", "").replace(".", ""))


_POWER = r"(?<![\w.,])\d+(?:\.\d+)?[eE][+-]?\d+(?![\w-])"
_DOTTED = r"(?<!\w)(?:[A-Z]\.){2,}(?:[A-Z](?!\w))?"
_PLUS = "+"
_WORD = re.compile(rf"{_POWER}|{_DOTTED}|[^\W_]+(?:[.,]\d+)*|(?<=\d)\+(?=\s)", re.UNICODE)
_PARTS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+", re.UNICODE)
_QUOTED = re.compile(  # no quotation crosses the next mark of its kind, which bounds the search
    r"\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|(?<!\w)['‘]([^'‘’]+)['’](?!\w)"
)
_MAX_TOKENS = 120
_SENTENCE_ENDS = ".?!;"


@dataclass(frozen=True)
class QuestionToken:
    """A word or number of the question; `quote` is the index of the quotation that contains it."""

    text: str
    folded: str
    stem: str
    start: int
    end: int
    quote: int | None = None

    @cached_property
    def is_corrected(self) -> bool:
        """Whether the text was misspelt and the other forms are not."""
        return self.folded != fold_word(_remove_dots(self.text))

    @property
    def is_capitalized(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.text[:1].isupper()


@dataclass(frozen=True)
class TokenizedQuestion:
    """A tokenized question.

    Attributes:
        tokens: its tokens, at most 120.
        quantities: its numbers, dates and times.
        genitives: tokens with a genitive ending ("Mary's").
        is_truncated: whether tokens beyond the limit were dropped.
        abbreviations: tokens that only look like function words: US, WHO, "the lamps that are on".
    """

    text: str
    tokens: tuple[QuestionToken, ...]
    word_list: WordList
    quantities: tuple[Quantity, ...]
    genitives: frozenset[int] = frozenset()
    is_truncated: bool = False
    abbreviations: frozenset[int] = frozenset()

    @property
    def language(self) -> str:
        """The language of its word list."""
        return self.word_list.language

    @cached_property
    def folded_words(self) -> Phrase:
        """The folded words."""
        return tuple(token.folded for token in self.tokens)

    @cached_property
    def back_references(self) -> frozenset[int]:
        """Tokens of nouns that only refer back to an earlier mention: "this city"."""
        stems = [token.stem for token in self.tokens]
        demonstratives = self.word_list.agreement["this"]
        positions = (
            at + 1 for at, word in enumerate(self.folded_words[:-1]) if word in demonstratives
        )
        return frozenset(at for at in positions if stems[at] in stems[: at - 1])

    @cached_property
    def display_tokens(self) -> range:
        """The last tokens if they only describe how to display the answer: "on a map"."""
        count = len(self.tokens)
        for phrase in self.word_list.follow_up_phrases["on_map"]:
            if len(phrase) < count and self.folded_words[-len(phrase) :] == phrase:
                return range(count - len(phrase), count)
        return range(0)

    @cached_property
    def filler_tokens(self) -> frozenset[int]:
        """Tokens of phrases without content: "so far"."""
        return frozenset(
            position
            for phrase in self.word_list.filler_phrases
            for at in range(len(self.tokens))
            if self.has_phrase_at(phrase, at)
            for position in range(at, at + len(phrase))
        )

    @property
    def is_map_request(self) -> bool:
        """Whether the question asks for a map or a location."""
        return bool(self.display_tokens) or any(
            self.has_phrase_at(phrase, 0) for phrase in self.word_list.question_words["place"]
        )

    def has_phrase_at(self, phrase: Phrase, at: int) -> bool:
        """Return whether the words of a phrase start at a token."""
        if self.folded_words[at : at + len(phrase)] != phrase:
            return False
        return self.abbreviations.isdisjoint(range(at, at + len(phrase)))

    def is_percent(self, quantity: Quantity) -> bool:
        """Return whether a percent word or sign follows a number."""
        following = self.text[self.tokens[quantity.last].end :].lstrip()
        return following.startswith("%") or not self.word_list.clauses["percent"].isdisjoint(
            self.folded_words[quantity.last + 1 :][:1]
        )

    def get_gap(self, first: int, last: int) -> str:
        """Return the text between the end of a token and the start of another."""
        return self.text[self.tokens[first].end : self.tokens[last].start]

    def has_sentence_break(self, first: int, last: int) -> bool:
        """Return whether a sentence ends between two tokens."""
        return any(mark in self.get_gap(first, last) for mark in _SENTENCE_ENDS)

    def is_stop(self, at: int) -> bool:
        """Return whether a token has no content: unquoted function words, "this X", "so far"."""
        token = self.tokens[at]
        if token.quote is not None or at in self.abbreviations:
            return False
        if at in self.back_references or at in self.filler_tokens or at in self.display_tokens:
            return True
        full = self.word_list.accented_words
        return token.folded in self.word_list.stop_words and not (
            full and token.text.lower() in full
        )

    def is_generic_noun(self, at: int) -> bool:
        """Return whether a token is a noun for anything: "item"; no name, no verb after "who"."""
        token, before = self.tokens[at], self.folded_words[max(0, at - 1) : at]
        lists = self.word_list, get_word_list("en")  # "Tools" is German, too
        if token.quote is not None or not any(token.stem in words.generic_nouns for words in lists):
            return False
        is_name = at > 0 and token.is_capitalized
        persons = {phrase[-1] for phrase in self.word_list.question_words["person"]}
        has_capital_nouns = self.language in LANGUAGES_WITH_CAPITAL_NOUNS
        return (has_capital_nouns or not is_name) and persons.isdisjoint(before)

    def resolve_dates(self, today: float) -> "TokenizedQuestion":
        """Return the question with its relative times resolved.

        Args:
            today: the current day, in days from 1970-01-01.
        """
        if all(quantity.relative is None for quantity in self.quantities):
            return self
        quantities = tuple(
            replace(quantity, days=compute_days(quantity.relative, today))
            if quantity.relative
            else quantity
            for quantity in self.quantities
        )
        return replace(self, quantities=quantities)


def to_bit_mask(positions: Iterable[int]) -> int:
    """Return a bit mask of token positions; each position occurs at most once."""
    return sum(1 << at for at in positions)


@lru_cache(maxsize=1024)  # several steps read the same question
def tokenize(text: str, language: str | None = None) -> TokenizedQuestion:
    """Tokenize a question; without `language`, detect it by function words."""
    quotes = [match.span() for match in _QUOTED.finditer(text)]
    genitive = _get_genitive_pattern()
    pieces = (
        (match.start(), part)
        for match in _WORD.finditer(genitive.sub("  ", text))
        for part in _split_word(match.group())
    )
    matches = list(islice(pieces, _MAX_TOKENS + 1))
    tokens = tuple(
        QuestionToken(
            part.group(),
            fold_word(_remove_dots(part.group())),
            stem_word(fold_word(_remove_dots(part.group()))),
            part.start() + start,
            part.end() + start,
            next((n for n, (a, b) in enumerate(quotes) if a <= part.start() + start < b), None),
        )
        for start, part in matches[:_MAX_TOKENS]
    )
    code = (language or "").split("-")[0].lower()
    words = get_word_list(code or detect_language([token.text for token in tokens]))
    tokens = tuple(part for token in tokens for part in _split_superlative(token, words))
    tokens = tuple(part for token in tokens for part in _spell_plus(token, words))
    folded_words = [token.folded for token in tokens]
    genitives = {match.start() for match in genitive.finditer(text)}
    return TokenizedQuestion(
        text,
        tokens,
        words,
        find_quantities(folded_words, words, text, [token.start for token in tokens]),
        frozenset(at for at, token in enumerate(tokens) if token.end in genitives),
        is_truncated=len(matches) > _MAX_TOKENS,
    )


def _split_superlative(token: QuestionToken, words: WordList) -> Iterator[QuestionToken]:
    """Split a superlative with a joined ordinal, such as "zweitgrößte", into both parts."""
    word = token.folded
    for ordinal in words.ordinal_prefixes:
        if word.startswith(ordinal) and word[len(ordinal) :] in words.measures_by_first_word:
            boundary = token.start + len(ordinal)
            parts = (ordinal, token.start, boundary), (word[len(ordinal) :], boundary, token.end)
            for part, start, end in parts:
                text = token.text[start - token.start : end - token.start]
                yield replace(
                    token, text=text, folded=part, stem=stem_word(part), start=start, end=end
                )
            return
    yield token


def _spell_plus(token: QuestionToken, words: WordList) -> Iterator[QuestionToken]:
    """Replace the sign after a number by words: "5+ moons" becomes "5 or more moons"."""
    if token.text != _PLUS:
        yield token
        return
    either = {phrase[0] for phrase in words.operators["or"]}
    for word in next((phrase for phrase in words.operators["at_least"] if phrase[0] in either), ()):
        yield replace(token, folded=word, stem=stem_word(word))


def _remove_dots(word: str) -> str:
    """Remove the dots of an abbreviation: "U.S." becomes "US"."""
    return word.replace(".", "") if word[0].isalpha() and "." in word else word


def _split_word(word: str) -> list[re.Match[str]]:
    """Split letters from digits, but keep ordinals ("3rd") and decades ("1990s") together."""
    match = _get_inflected_number_pattern().fullmatch(word) or re.fullmatch(rf"{_DOTTED}|\+", word)
    return [match] if match else list(_PARTS.finditer(word))


@cache
def _get_inflected_number_pattern() -> re.Pattern[str]:
    endings = get_shared_words().endings
    suffixes = "|".join((*endings["ordinals"], *endings["decades"]))
    return re.compile(rf"\d+(?:{suffixes}|(?:\.\d+)?[eE][+-]?\d+)")


@cache
def _get_genitive_pattern() -> re.Pattern[str]:
    return re.compile(rf"['’]{get_shared_words().endings['possessor'][0]}\b")


_CONTENT, _NUMERAL, _QUOTATION = "_", "<number>", "<quoted>"


@lru_cache(maxsize=65_536)
def build_question_form(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return the form of a question: its structure without the names in it.

    The words of an operator become its name in capitals, comparatives and superlatives their degree
    and direction, numbers and quotations one placeholder each, and a run of other content words
    `_`. Function words remain.

    >>> build_question_form("How many moons are larger than Europa?")
    ('COUNT', '_', 'are', 'MORE_THAN', '_')
    """
    reading = tokenize(text, language)
    pieces: list[str] = []
    at = 0
    while at < len(reading.tokens):
        piece, length = _get_form_piece(reading, at)
        if piece not in (_CONTENT, _QUOTATION) or pieces[-1:] != [piece]:
            pieces.append(piece)
        at += length
    return tuple(pieces)


def compare_forms(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Return the similarity of two forms, between 0 and 1."""
    # Half of it is the share of pieces that both have in the same order, half the share of
    # operators and value placeholders that both have in any order.
    first_counts, second_counts = _count_operators(first), _count_operators(second)
    total, common = (first_counts | second_counts).total(), (first_counts & second_counts).total()
    return (Indel.normalized_similarity(first, second) + (common / total if total else 1.0)) / 2


def _get_form_piece(reading: TokenizedQuestion, at: int) -> tuple[str, int]:
    """Return the piece of the form at a token, and the number of tokens that it covers."""
    token = reading.tokens[at]
    if token.quote is not None:
        return _QUOTATION, 1
    operators = (
        (name, len(phrase))
        for phrase, name in reading.word_list.operators_by_first_word.get(token.folded, ())
        # "is" and "did" ask for yes or no at the start only.
        if (name != "exists" or not at) and reading.has_phrase_at(phrase, at)
    )
    operator, length = next(operators, ("", 0))
    degrees = (
        measure
        for measure in reading.word_list.measures_by_first_word.get(token.folded, ())
        if measure.degree != "plain" and reading.has_phrase_at(measure.phrase, at)
    )
    degree = next(degrees, None)
    if degree is not None and len(degree.phrase) >= length:
        return degree.degree.upper() + ("+" if degree.is_upward else "-"), len(degree.phrase)
    if operator:
        return operator.upper(), length
    if token.text[0].isdigit():
        return _NUMERAL, 1
    return (token.folded if reading.is_stop(at) else _CONTENT), 1


def _count_operators(form: tuple[str, ...]) -> Counter[str]:
    return Counter(piece for piece in form if piece.isupper() or piece in (_NUMERAL, _QUOTATION))
