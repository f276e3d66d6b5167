"""Tokenize a question: words with their places, its language, its numbers, years, dates and times.

Times are told from today. A question's form is what is left of it: operators and function words
in their order.
"""

import calendar
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property, lru_cache
from itertools import islice, zip_longest
from math import isfinite

from rapidfuzz.distance import OSA, Indel
from rapidfuzz.process import extractOne

from askgraph.graph.literals import day_number
from askgraph.graph.measures import Unit, unit_at
from askgraph.index.names import folded, stem
from askgraph.search.tokenize.word_lists import (
    Measure,
    Phrase,
    WordList,
    detected_language,
    shared_words,
    word_list,
)

_FIRST_DAY = date(1970, 1, 1).toordinal()
_SECONDS = {"years": 31_557_600.0, "months": 2_629_800.0, "weeks": 604_800.0, "days": 86_400.0}
"""Units of time with their seconds; of a year and a month the mean."""
_MINUS = re.compile(r"(?:^|(?<!\d)\s|[(=<>])[-\N{MINUS SIGN}]$")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


@dataclass(frozen=True)
class Relative:
    """A year, month or day, so many of them from that of today; a week is seven days.

    With `through` all that lies between the day so far away and today.
    """

    unit: str
    away: int
    through: bool = False


_NAMED = {
    "last_year": Relative("years", -1),
    "this_year": Relative("years", 0),
    "next_year": Relative("years", 1),
    "last_month": Relative("months", -1),
    "this_month": Relative("months", 0),
    "next_month": Relative("months", 1),
    "yesterday": Relative("days", -1),
    "tomorrow": Relative("days", 1),
}


@dataclass(frozen=True)
class Quantity:
    """A value in words or digits at tokens first … last.

    `value` is the number as it stands; `days` is the first and the last day (days from 1970-01-01)
    if it can be a year, month, day, decade or century. `spelled` marks number words ("two").
    `unit` is what the words right after it say that it is in; they are `unit_words` many.
    What is `relative` to today has no days before the day is known.
    """

    first: int
    last: int
    text: str
    value: float | None
    days: tuple[float, float] | None = None
    spelled: bool = False
    unit: Unit | None = None
    unit_words: int = 0
    relative: Relative | None = None

    @property
    def positions(self) -> range:
        """The tokens that it takes up, without those of its unit."""
        return range(self.first, self.last + 1)

    @property
    def measured(self) -> range:
        """The tokens that it takes up with its unit."""
        return range(self.first, self.last + 1 + self.unit_words)


def quantities(
    words: Sequence[str], lists: WordList, text: str, starts: Sequence[int]
) -> tuple[Quantity, ...]:
    """Find all quantities, longest first from the left; they do not overlap."""
    return tuple(_Finder(words, lists).found(text, starts))


def days_from(relative: Relative, today: float) -> tuple[float, float] | None:
    """Return the first and the last day of it, in days from 1970-01-01; None before the year 1."""
    day = date.fromordinal(int(today) + _FIRST_DAY)
    if relative.unit in ("weeks", "days"):
        at = today + relative.away * (7 if relative.unit == "weeks" else 1)
        return at, today if relative.through else at
    whole = relative.unit == "years" and not relative.through
    months = 12 * day.year + (0 if whole else day.month - 1)
    first = months + relative.away * (12 if relative.unit == "years" else 1)
    after = first + (12 if whole else 1)
    if not 12 <= first < after < 12 * 10_000:
        return None
    start, end = (day_number(month // 12, month % 12 + 1) for month in (first, after))
    return (min(start + day.day, end) - 1, today) if relative.through else (start, end - 1)


class _Finder:
    """Finds the quantities in the folded words of a question."""

    def __init__(self, words: Sequence[str], lists: WordList) -> None:
        self.words, self.lists, self.times = words, lists, lists.times

    def found(self, text: str, starts: Sequence[int]) -> Iterator[Quantity]:
        iso = {starts.index(m.start()): m for m in _ISO.finditer(text) if m.start() in starts}
        listed: list[Quantity] = []
        at = 0
        while at < len(self.words):
            quantity = self.iso(iso[at], at) if at in iso else None
            quantity = quantity or self.quantity(at)
            if quantity is None:
                at += 1
            else:
                listed.append(self.signed(quantity, text[max(0, starts[at] - 3) : starts[at]]))
                at = quantity.last + 1
        for one, following in zip_longest(listed, listed[1:]):
            yield self.with_unit_of_next(one, following)

    def quantity(self, at: int) -> Quantity | None:
        for timed in (*self.dates(at), self.epoch(at), self.told_from_today(at)):
            if timed is not None:
                return timed
        number = self.number(at) or self.article(at)
        if number is None:
            return None
        unit = unit_at(self.words, number.last + 1)
        if unit is None and (time := self.time_unit(number.last + 1)):
            unit = Unit("time", _SECONDS[time], name=time), 1
        return number if unit is None else replace(number, unit=unit[0], unit_words=unit[1])

    def with_unit_of_next(self, one: Quantity, following: Quantity | None) -> Quantity:
        """ "1 and 2 miles": the unit of the second number is that of the first."""
        if following is None or following.unit is None or one.unit or one.value is None:
            return one
        joined = following.first - one.last == 2 and self.words[one.last + 1] in self.lists.stop
        return replace(one, unit=following.unit, days=None) if joined else one

    def signed(self, quantity: Quantity, before: str) -> Quantity:
        """The quantity below zero if a minus stands before it: "-10", "minus 10"; not "20-10"."""
        if quantity.value is None:
            return quantity
        below = replace(quantity, value=-quantity.value, text=f"-{quantity.text}", days=None)
        if not quantity.spelled and _MINUS.search(before):
            return below
        starts = ((quantity.first - len(phrase), phrase) for phrase in self.lists.minus)
        led = any(start >= 0 and self.is_at(start, [phrase]) for start, phrase in starts)
        return replace(below, first=quantity.first - 1) if led else quantity

    def is_at(self, at: int, phrases: Sequence[Sequence[str]]) -> int:
        """The number of words of a phrase that stands at a token; 0 if none of them does.

        The phrases are those of times or of minus.
        """
        if at >= len(self.words) or self.words[at] not in self.lists.timing:
            return 0
        return next((len(p) for p in phrases if tuple(self.words[at : at + len(p)]) == p), 0)

    # Numbers

    def number(self, at: int) -> Quantity | None:
        word = self.words[at]
        value = _digits(word, points=self.lists.decimal_comma)
        spelled = value is None
        value = self.lists.units.get(word) if value is None else value
        if value is None:
            return None
        last = at
        while last + 1 < len(self.words) and self.words[last + 1] in self.lists.scales:
            last += 1
            value *= self.lists.scales[self.words[last]]
        year = _year(word) if last == at else None
        days = (day_number(year), day_number(year, 12, 31)) if year else None
        return Quantity(at, last, " ".join(self.words[at : last + 1]), value, days, spelled)

    def article(self, at: int) -> Quantity | None:
        """ "Longer than a mile": an article before a unit, after words that compare."""
        if not at or self.words[at - 1] not in self.lists.before_article:
            return None
        if not self.is_at(at, self.times["one"]):
            return None
        if unit_at(self.words, at + 1) is None:
            return None
        return Quantity(at, at, self.words[at], 1.0, spelled=True)

    def ordinal(self, word: str) -> int | None:
        """1 to 21, in digits, as an ordinal, in words or in Roman numerals."""
        roman = shared_words().roman
        if digits := _ordinal_in_digits().fullmatch(word):
            number = int(digits.group(1))
        else:
            number = self.lists.ordinals.get(word, roman.index(word) + 1 if word in roman else 0)
        return number if 1 <= number <= 21 else None

    # Dates

    def iso(self, match: re.Match[str], at: int) -> Quantity | None:
        if at + 2 >= len(self.words):
            return None
        year, month, day = (int(part) for part in match.groups())
        return _day(at, at + 2, match.group(), year, month, day)

    def dates(self, at: int) -> Iterator[Quantity | None]:
        """Day month year, month day year, month year; "de" and "of" may stand between."""
        near = range(at, min(at + 6, len(self.words)))
        places = [place for place in near if self.words[place] not in self.lists.in_dates]
        if not places or places[0] != at:
            return
        months, parts = self.lists.months, [self.words[place] for place in places]
        if len(parts) >= 3 and parts[1] in months:
            day, year = _day_of_month(parts[0]), _year(parts[2])
            if day and year:
                yield _day(at, places[2], " ".join(parts[:3]), year, months[parts[1]], day)
        if parts[0] in months:
            month = months[parts[0]]
            if len(parts) >= 3 and (day := _day_of_month(parts[1])) and (year := _year(parts[2])):
                yield _day(at, places[2], " ".join(parts[:3]), year, month, day)
            if len(parts) >= 2 and (year := _year(parts[1])):
                last = calendar.monthrange(year, month)[1]
                days = day_number(year, month), day_number(year, month, last)
                yield Quantity(at, places[1], " ".join(parts[:2]), None, days)

    def epoch(self, at: int) -> Quantity | None:
        """ "20th century", "siglo XX", "1970er Jahre", "the nineties": years that words span."""
        word, *more = self.words[at : at + 2]
        if word in self.lists.decades and word not in self.lists.units:
            return self.years(at, at, 1900 + self.lists.decades[word])
        digits = _decade_in_digits().fullmatch(word)
        short = shared_words().endings["short_decades"]
        if digits and (digits.group(1) or digits.group(3) in short):
            return self.years(at, at, int(digits.group(1) or 19) * 100 + int(digits.group(2)))
        if not more:
            return None
        if self.is_at(at, self.times["decade_before"]):
            decade = self.decade(more[0])
            if decade is not None:
                return self.years(at, at + 1, decade)
        for first, second in ((word, *more), (*more, word)):
            if (second,) in self.times["century"] and (number := self.ordinal(first)):
                return self.years(at, at + 1, 100 * number - 99, 100)
        return None

    def decade(self, word: str) -> int | None:
        """The first year of 90 or 1990, in digits or (without the century) in words."""
        in_digits = re.fullmatch(r"(?:[12][0-9])?[0-9]0", word)
        decade = int(word) if in_digits else self.lists.decades.get(word)
        return decade if decade is None or decade >= 100 else 1900 + decade

    def years(self, first: int, last: int, start: int, many: int = 10) -> Quantity:
        days = day_number(start), day_number(start + many - 1, 12, 31)
        return Quantity(first, last, " ".join(self.words[first : last + 1]), None, days)

    # Times told from today

    def told_from_today(self, at: int) -> Quantity | None:
        """Last year, two months ago, tomorrow; "the last year" is the last of several years."""
        found = self.named(at) or self.ago(at) or self.last_many(at)
        if found is None:
            return None
        last, relative = found
        text = " ".join(self.words[at : last + 1])
        return Quantity(at, last, text, None, relative=relative)

    def named(self, at: int) -> tuple[int, Relative] | None:
        """ "Last year"."""
        if at and self.is_at(at - 1, self.times["the"]):
            return None
        for name, relative in _NAMED.items():
            if length := self.is_at(at, self.times[name]):
                return at + length - 1, relative
        return None

    def ago(self, at: int) -> tuple[int, Relative] | None:
        """ "20 years ago", "vor 20 Jahren"."""
        before, after = self.is_at(at, self.times["ago_before"]), 0
        relative = self.many(at + before, at + before + 1)
        if not before:
            after = self.is_at(at + 2, self.times["ago_after"])
        return (at + before + 1 + after, relative) if relative and (before or after) else None

    def last_many(self, at: int) -> tuple[int, Relative] | None:
        """ "Last 20 years", "20 dernières années"."""
        last = next((i for i in (0, 1) if self.is_at(at + i, self.times["last_many"])), None)
        relative = None if last is None else self.many(at + 1 - last, at + 2)
        return (at + 2, replace(relative, through=True)) if relative else None

    def many(self, at: int, unit_at: int) -> Relative | None:
        """A number at one token and a unit of time at another, as so many in the past."""
        unit = self.time_unit(unit_at)
        if unit is None:
            return None
        word = self.words[at]
        many = int(word) if word.isdecimal() and len(word) <= 4 else self.lists.units.get(word)
        if many is None and self.is_at(at, self.times["one"]):
            many = 1
        return None if many is None else Relative(unit, -int(many))

    def time_unit(self, at: int) -> str | None:
        """The unit of time whose word, in any form, stands at a token."""
        return next((name for name in _SECONDS if self.is_at(at, self.times[name])), None)


@cache
def _ordinal_in_digits() -> re.Pattern[str]:
    endings = "|".join(folded(ending) for ending in shared_words().endings["ordinals"])
    return re.compile(rf"(\d{{1,2}})(?:{endings})?")


@cache
def _decade_in_digits() -> re.Pattern[str]:
    return re.compile(rf"([12]\d)?(\d0)({'|'.join(shared_words().endings['decades'])})")


def _day(first: int, last: int, text: str, year: int, month: int, day: int) -> Quantity | None:
    if not (1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    at = day_number(year, month, day)
    return Quantity(first, last, text, None, (at, at))


def _day_of_month(word: str) -> int | None:
    digits = _ordinal_in_digits().fullmatch(word)
    return int(digits.group(1)) if digits and 1 <= int(digits.group(1)) <= 31 else None


def _year(word: str) -> int | None:
    return int(word) if re.fullmatch(r"[12]\d{3}", word) else None


def _digits(word: str, *, points: bool) -> float | None:
    """The number of some digits; `points` group the thousands if the language writes them so."""
    if re.fullmatch(r"\d+(?:\.\d+)?e[+-]?\d+", word):
        value = float(word)
        return value if isfinite(value) else None
    if not re.fullmatch(r"\d+(?:[.,]\d+)*", word):
        return None
    several = re.fullmatch(r"\d{1,3}(\.\d{3}){2,}(,\d+)?", word)
    if several or (points and re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+(,\d+)?", word)):
        return float(word.replace(".", "").replace(",", "."))
    decimal = points and re.fullmatch(r"\d+,\d+", word)
    if not decimal and re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        return float(word.replace(",", ""))
    if word.count(",") + word.count(".") == 1:
        return float(word.replace(",", "."))
    return float(word.replace(",", "").replace(".", ""))


_POWER = r"(?<![\w.,])\d+(?:\.\d+)?[eE][+-]?\d+(?![\w-])"
_DOTTED = r"(?<!\w)(?:[A-Z]\.){2,}(?:[A-Z](?!\w))?"
_WORD = re.compile(rf"{_POWER}|{_DOTTED}|[^\W_]+(?:[.,]\d+)*", re.UNICODE)
_PARTS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+", re.UNICODE)
_QUOTED = re.compile(  # none goes beyond the next mark of its kind, so that it ends soon
    r"\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|(?<!\w)['‘]([^'‘’]+)['’](?!\w)"
)
_MOST_TOKENS = 120
_SENTENCE_ENDS = ".?!;"


@dataclass(frozen=True)
class Token:
    """A word or number of the question; `quote` numbers the quotation that it stands in."""

    text: str
    folded: str
    stem: str
    start: int
    end: int
    quote: int | None = None

    @property
    def capital(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.text[:1].isupper()


@dataclass(frozen=True)
class TokenizedQuestion:
    """A question as read: at most 120 tokens; `cut` says that there were more.

    `abbreviations` are tokens in capitals that name something: US and WHO, not the pronouns.
    """

    text: str
    tokens: tuple[Token, ...]
    words: WordList
    quantities: tuple[Quantity, ...]
    genitives: frozenset[int] = frozenset()
    cut: bool = False
    abbreviations: frozenset[int] = frozenset()

    @property
    def language(self) -> str:
        """The language of the word lists used."""
        return self.words.language

    @cached_property
    def folded(self) -> Phrase:
        """Its words, folded."""
        return tuple(token.folded for token in self.tokens)

    @cached_property
    def again(self) -> frozenset[int]:
        """The nouns that only point back to where they were named: "this city"."""
        stems, these = [token.stem for token in self.tokens], self.words.agreement["this"]
        after = (at + 1 for at, word in enumerate(self.folded[:-1]) if word in these)
        return frozenset(at for at in after if stems[at] in stems[: at - 1])

    @cached_property
    def aside(self) -> range:
        """The last words, if they only say how to show the answer: "on a map"."""
        count = len(self.tokens)
        for phrase in self.words.following["on_map"]:
            if len(phrase) < count and self.folded[-len(phrase) :] == phrase:
                return range(count - len(phrase), count)
        return range(0)

    @cached_property
    def idle(self) -> frozenset[int]:
        """The words of phrases that say nothing: "so far"."""
        return frozenset(
            position
            for phrase in self.words.idle
            for at in range(len(self.tokens))
            if self.says(phrase, at)
            for position in range(at, at + len(phrase))
        )

    @property
    def wants_map(self) -> bool:
        """Whether it asks for a map, or where something is."""
        return bool(self.aside) or any(self.says(one, 0) for one in self.words.asks["place"])

    def says(self, phrase: Phrase, at: int) -> bool:
        """Whether the words of a phrase stand at a token."""
        if self.folded[at : at + len(phrase)] != phrase:
            return False
        return self.abbreviations.isdisjoint(range(at, at + len(phrase)))

    def is_percent(self, quantity: Quantity) -> bool:
        """Whether a number is one of percent, by the word or the sign after it."""
        rest = self.text[self.tokens[quantity.last].end :].lstrip()
        percent = self.words.clauses["percent"]
        return rest.startswith("%") or not percent.isdisjoint(self.folded[quantity.last + 1 :][:1])

    def gap(self, first: int, last: int) -> str:
        """The text from the end of a token to the start of another."""
        return self.text[self.tokens[first].end : self.tokens[last].start]

    def parted(self, first: int, last: int) -> bool:
        """Whether a sentence ends between two tokens."""
        return any(mark in self.gap(first, last) for mark in _SENTENCE_ENDS)

    def is_stop(self, at: int) -> bool:
        """Whether a token says nothing: function words but quoted ones, "this X", "so far"."""
        token = self.tokens[at]
        if token.quote is not None or at in self.abbreviations:
            return False
        if at in self.again or at in self.idle or at in self.aside:
            return True
        full = self.words.full
        return token.folded in self.words.stop and not (full and token.text.lower() in full)

    def on(self, today: float) -> "TokenizedQuestion":
        """Return it as read on a day (days from 1970-01-01): last year has days then."""
        if all(quantity.relative is None for quantity in self.quantities):
            return self
        known = tuple(
            replace(one, days=days_from(one.relative, today)) if one.relative else one
            for one in self.quantities
        )
        return replace(self, quantities=known)


def bits(positions: Iterable[int]) -> int:
    """Return positions of tokens, each at most once, as bits."""
    return sum(1 << at for at in positions)


def tokenize(text: str, language: str | None = None) -> TokenizedQuestion:
    """Read a question; the language is detected by its function words if none is given."""
    quotes = [match.span() for match in _QUOTED.finditer(text)]
    genitive = _genitive()
    plain = genitive.sub("  ", text)
    parts = (
        (match.start(), part) for match in _WORD.finditer(plain) for part in _parts(match.group())
    )
    found = list(islice(parts, _MOST_TOKENS + 1))
    tokens = tuple(
        Token(
            part.group(),
            folded(_undotted(part.group())),
            stem(folded(_undotted(part.group()))),
            part.start() + start,
            part.end() + start,
            _quote_of(part.start() + start, quotes),
        )
        for start, part in found[:_MOST_TOKENS]
    )
    code = (language or "").split("-")[0].lower()
    words = word_list(code or detected_language([token.folded for token in tokens]))
    tokens = tuple(part for token in tokens for part in _ranked(token, words))
    words_said = [token.folded for token in tokens]
    tokens = tuple(_meant(token, words) for token in tokens)
    genitives = {match.start() for match in genitive.finditer(text)}
    return TokenizedQuestion(
        text,
        tokens,
        words,
        quantities(words_said, words, text, [token.start for token in tokens]),
        frozenset(at for at, token in enumerate(tokens) if token.end in genitives),
        cut=len(found) > _MOST_TOKENS,
    )


_MISSPELT = 6  # a word of so many letters, or one more, may be an operator's with a letter wrong


def _meant(token: Token, words: WordList) -> Token:
    """A word of the question, or the operator's word that it is but for one letter: "minumum"."""
    said = token.folded
    if len(said) < _MISSPELT or token.capital or token.quote is not None or not said.isalpha():
        return token
    if said in words.spelt:
        return token
    among = [one for one in words.long_operators if one[0] == said[0]]
    found = extractOne(said, among, scorer=OSA.distance, score_cutoff=1)
    if found is None or stem(said) == stem(found[0]):
        return token
    return replace(token, folded=found[0], stem=stem(found[0]))


def _ranked(token: Token, words: WordList) -> Iterator[Token]:
    """A word; of a superlative with its place, as in "zweitgrößte", both parts."""
    said = token.folded
    for place in words.joined_ordinals:
        if said.startswith(place) and said[len(place) :] in words.adjectives:
            cut = token.start + len(place)
            parts = (place, token.start, cut), (said[len(place) :], cut, token.end)
            for part, start, end in parts:
                text = token.text[start - token.start : end - token.start]
                yield replace(token, text=text, folded=part, stem=stem(part), start=start, end=end)
            return
    yield token


def _undotted(word: str) -> str:
    """A word without the points of an abbreviation: "U.S." is "US"."""
    return word.replace(".", "") if word[0].isalpha() and "." in word else word


def _parts(word: str) -> list[re.Match[str]]:
    """Split letters from digits, but keep ordinals ("3rd") and decades ("1990s") whole."""
    whole = _bent_number().fullmatch(word) or re.fullmatch(_DOTTED, word)
    return [whole] if whole else list(_PARTS.finditer(word))


@cache
def _bent_number() -> re.Pattern[str]:
    endings = shared_words().endings
    bent = "|".join((*endings["ordinals"], *endings["decades"]))
    return re.compile(rf"\d+(?:{bent}|(?:\.\d+)?[eE][+-]?\d+)")


@cache
def _genitive() -> re.Pattern[str]:
    return re.compile(rf"['’]{shared_words().endings['possessor'][0]}\b")


def _quote_of(start: int, quotes: list[tuple[int, int]]) -> int | None:
    for number, (first, last) in enumerate(quotes):
        if first <= start < last:
            return number
    return None


_THING, _NUMERAL, _QUOTATION = "_", "<number>", "<quoted>"


@lru_cache(maxsize=65_536)
def question_form(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return what is left of a question when the things that it names are taken away.

    Words of an operator become its name in capitals, comparatives and superlatives their degree
    and direction, numbers and quotations one placeholder each, and a run of other content words
    `_`. Function words stay.

    >>> question_form("How many moons are larger than Europa?")
    ('COUNT', '_', 'are', 'MORE_THAN', '_')
    """
    reading = tokenize(text, language)
    found: list[str] = []
    at = 0
    while at < len(reading.tokens):
        piece, length = _piece(reading, at)
        if piece not in (_THING, _QUOTATION) or found[-1:] != [piece]:
            found.append(piece)
        at += length
    return tuple(found)


def form_likeness(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return how alike two forms are, between 0 and 1.

    Half of it is the share of the pieces that stand in both in the same order, half the share of
    operators and placeholders for values that both have, however placed.
    """
    mine, theirs = _told_operators(one), _told_operators(other)
    all_, both = (mine | theirs).total(), (mine & theirs).total()
    shared = both / all_ if all_ else 1.0
    return (Indel.normalized_similarity(one, other) + shared) / 2


def _piece(reading: TokenizedQuestion, at: int) -> tuple[str, int]:
    """What stands for the words from a place on, and how many these are."""
    token = reading.tokens[at]
    if token.quote is not None:
        return _QUOTATION, 1
    operator, length = _operator(reading, at)
    degree = _degree(reading, at)
    if degree is not None and len(degree.phrase) >= length:
        return degree.degree.upper() + ("+" if degree.up else "-"), len(degree.phrase)
    if operator:
        return operator.upper(), length
    if token.text[0].isdigit():
        return _NUMERAL, 1
    return (token.folded if reading.is_stop(at) else _THING), 1


def _operator(reading: TokenizedQuestion, at: int) -> tuple[str, int]:
    for phrase, name in reading.words.phrases.get(reading.tokens[at].folded, ()):
        opens = name != "exists" or not at  # "is" and "did" ask for yes or no at the start only
        if opens and reading.says(phrase, at):
            return name, len(phrase)
    return "", 0


def _degree(reading: TokenizedQuestion, at: int) -> Measure | None:
    for measure in reading.words.adjectives.get(reading.tokens[at].folded, ()):
        if measure.degree != "plain" and reading.says(measure.phrase, at):
            return measure
    return None


def _told_operators(form: tuple[str, ...]) -> Counter[str]:
    return Counter(piece for piece in form if piece.isupper() or piece in (_NUMERAL, _QUOTATION))
