"""Numbers, years and dates in a question, as typed values with the tokens they take up."""

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from math import isfinite

from askgraph.index.tokens import folded
from askgraph.metadata.units import Unit, unit_at
from askgraph.search.linking.relative_times import Relative, relative_at, time_word
from askgraph.search.linking.word_lists import Phrase, WordList, shared_words
from askgraph.traversal.literals import day_number

_MINUS = re.compile(r"(?:^|(?<!\d)\s|[(=<>])[-\N{MINUS SIGN}]$")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


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
    iso = {starts.index(m.start()): m for m in _ISO.finditer(text) if m.start() in starts}
    found: list[Quantity] = []
    at = 0
    while at < len(words):
        quantity = _iso(iso.get(at), at, words) or _at(at, words, lists)
        if quantity is None:
            at += 1
        else:
            found.append(_signed(quantity, words, text[: starts[at]], lists.minus))
            at = quantity.last + 1
    return tuple(_with_unit_of_next(found, words, lists))


def _with_unit_of_next(
    found: Sequence[Quantity], words: Sequence[str], lists: WordList
) -> Iterator[Quantity]:
    """ "1 and 2 miles": the unit of the second number is that of the first."""
    for one, following in zip_longest(found, found[1:]):
        joined = following is not None and following.first - one.last == 2
        plain = one.unit is None and one.value is not None
        if joined and plain and following.unit is not None and words[one.last + 1] in lists.stop:
            yield replace(one, unit=following.unit, days=None)
        else:
            yield one


def _signed(
    quantity: Quantity, words: Sequence[str], before: str, minus: Iterable[Phrase]
) -> Quantity:
    """The quantity below zero if a minus stands before it: "-10", "minus 10"; not "20-10"."""
    if quantity.value is None:
        return quantity
    below = replace(quantity, value=-quantity.value, text=f"-{quantity.text}", days=None)
    if not quantity.spelled and _MINUS.search(before):
        return below
    led = any(
        tuple(words[max(0, quantity.first - len(phrase)) : quantity.first]) == phrase
        for phrase in minus
    )
    return replace(below, first=quantity.first - 1) if led else quantity


def _iso(match: re.Match[str] | None, at: int, words: Sequence[str]) -> Quantity | None:
    if match is None or at + 2 >= len(words):
        return None
    year, month, day = (int(part) for part in match.groups())
    return _day(at, at + 2, match.group(), year, month, day)


def _at(at: int, words: Sequence[str], lists: WordList) -> Quantity | None:
    for quantity in (*_dates(at, words, lists), _epoch(at, words, lists)):
        if quantity is not None:
            return quantity
    relative = relative_at(at, words, lists)
    if relative is not None:
        text = " ".join(words[at : relative[0] + 1])
        return Quantity(at, relative[0], text, None, relative=relative[1])
    number = _number(at, words, lists) or _one(at, words, lists)
    unit = _unit(number.last + 1, words, lists) if number is not None else None
    if number is None or unit is None:
        return number
    return replace(number, unit=unit[0], unit_words=unit[1])


def _one(at: int, words: Sequence[str], lists: WordList) -> Quantity | None:
    """ "Longer than a mile": an article before a unit, after words that compare."""
    listed = (*lists.operators["more_than"], *lists.operators["less_than"])
    compares = {phrase[-1] for phrase in listed if len(phrase) > 1}
    if not at or words[at - 1] not in compares or (words[at],) not in lists.times["one"]:
        return None
    if unit_at(words, at + 1) is None:
        return None
    return Quantity(at, at, words[at], 1.0, spelled=True)


def _unit(at: int, words: Sequence[str], lists: WordList) -> tuple[Unit, int] | None:
    """The unit that stands at a token; of time in any form of its word."""
    found = unit_at(words, at)
    time = time_word(words[at], lists) if found is None and at < len(words) else None
    return found if time is None else (Unit("time", time[1], name=time[0]), 1)


def _epoch(at: int, words: Sequence[str], lists: WordList) -> Quantity | None:
    """ "20th century", "siglo XX", "1970er Jahre", "the nineties": the years that words span."""
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word in lists.decades and word not in lists.units:
        return _decade(at, at, word, lists.decades[word])
    digits = _decade_in_digits().fullmatch(word)
    if digits and (digits.group(1) or digits.group(3) in shared_words().endings["short_decades"]):
        return _decade(at, at, word, int(digits.group(2)), int(digits.group(1) or 19))
    if (word,) in lists.times["decade_before"] and (
        number := _decade_of(following, lists)
    ) is not None:
        return _decade(at, at + 1, f"{word} {following}", number % 100, number // 100 or 19)
    if (following,) in lists.times["century"] and (number := _ordinal(word, lists)):
        return _century(at, number, words)
    if (word,) in lists.times["century"] and (number := _ordinal(following, lists)):
        return _century(at, number, words)
    return None


def _decade_of(word: str, lists: WordList) -> int | None:
    """90 or 1990, in digits or (without the century) in words."""
    digits = re.fullmatch(r"(?:[12][0-9])?[0-9]0", word)
    return int(word) if digits else lists.decades.get(word)


def _decade(first: int, last: int, text: str, of_century: int, hundreds: int = 19) -> Quantity:
    start = 100 * hundreds + of_century
    return _years(first, last, text, start, start + 9)


def _century(at: int, number: int, words: Sequence[str]) -> Quantity:
    """The 20th century is 1901 to 2000."""
    text = " ".join(words[at : at + 2])
    return _years(at, at + 1, text, 100 * number - 99, 100 * number)


def _years(first: int, last: int, text: str, start: int, end: int) -> Quantity:
    return Quantity(first, last, text, None, (day_number(start), day_number(end, 12, 31)))


def _ordinal(word: str, lists: WordList) -> int | None:
    """1 to 21, in digits, as an ordinal, in words or in Roman numerals."""
    roman = shared_words().roman
    if digits := _ordinal_in_digits().fullmatch(word):
        number = int(digits.group(1))
    else:
        number = lists.ordinals.get(word, roman.index(word) + 1 if word in roman else 0)
    return number if 1 <= number <= 21 else None


@cache
def _ordinal_in_digits() -> re.Pattern[str]:
    endings = "|".join(folded(ending) for ending in shared_words().endings["ordinals"])
    return re.compile(rf"(\d{{1,2}})(?:{endings})?")


@cache
def _decade_in_digits() -> re.Pattern[str]:
    return re.compile(rf"([12]\d)?(\d0)({'|'.join(shared_words().endings['decades'])})")


def _dates(at: int, words: Sequence[str], lists: WordList) -> Iterator[Quantity | None]:
    """Day month year, month day year, month year; "de" and "of" may stand between."""
    places = [p for p in range(at, min(at + 6, len(words))) if words[p] not in lists.in_dates]
    if not places or places[0] != at:
        return
    parts = [words[p] for p in places]
    if len(parts) >= 3 and parts[1] in lists.months:
        day, year = _day_of_month(parts[0]), _year(parts[2])
        if day and year:
            yield _day(at, places[2], " ".join(parts[:3]), year, lists.months[parts[1]], day)
    if parts[0] in lists.months:
        month = lists.months[parts[0]]
        if len(parts) >= 3 and (day := _day_of_month(parts[1])) and (year := _year(parts[2])):
            yield _day(at, places[2], " ".join(parts[:3]), year, month, day)
        if len(parts) >= 2 and (year := _year(parts[1])):
            last = calendar.monthrange(year, month)[1]
            days = day_number(year, month), day_number(year, month, last)
            yield Quantity(at, places[1], " ".join(parts[:2]), None, days)


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


def _number(at: int, words: Sequence[str], lists: WordList) -> Quantity | None:
    word = words[at]
    digits = _digits(word, points=lists.decimal_comma)
    spelled = digits is None
    value: float | None = lists.units.get(word) if digits is None else digits
    if value is None:
        return None
    last = at
    while last + 1 < len(words) and words[last + 1] in lists.scales:
        value *= lists.scales[words[last + 1]]
        last += 1
    as_year = _year(word) if last == at else None
    days = (day_number(as_year), day_number(as_year, 12, 31)) if as_year else None
    return Quantity(at, last, " ".join(words[at : last + 1]), value, days, spelled)


def _digits(word: str, *, points: bool) -> float | None:
    """The number of some digits; `points` group the thousands if the language writes them so."""
    if re.fullmatch(r"\d+(?:\.\d+)?e[+-]?\d+", word):
        value = float(word)
        return value if isfinite(value) else None
    if not re.fullmatch(r"\d+(?:[.,]\d+)*", word):
        return None
    if points and re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+(,\d+)?", word):
        return float(word.replace(".", "").replace(",", "."))
    if points and re.fullmatch(r"\d+,\d+", word):
        return float(word.replace(",", "."))
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        return float(word.replace(",", ""))
    if re.fullmatch(r"\d{1,3}(\.\d{3}){2,}(,\d+)?", word):
        return float(word.replace(".", "").replace(",", "."))
    return (
        float(word.replace(",", "."))
        if word.count(",") + word.count(".") == 1
        else float(word.replace(",", "").replace(".", ""))
    )
