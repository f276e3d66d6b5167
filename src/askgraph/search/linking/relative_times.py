"""Times that words tell from today: last year, two months ago, tomorrow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from askgraph.search.linking.word_lists import Phrase, WordList

_EPOCH = date(1970, 1, 1)
_SECONDS = {"years": 31_557_600.0, "months": 2_629_800.0, "weeks": 604_800.0, "days": 86_400.0}
_NAMED = {
    "last_year": ("years", -1),
    "this_year": ("years", 0),
    "next_year": ("years", 1),
    "last_month": ("months", -1),
    "this_month": ("months", 0),
    "next_month": ("months", 1),
    "yesterday": ("days", -1),
    "tomorrow": ("days", 1),
}


@dataclass(frozen=True)
class Relative:
    """A year, month or day, so many of them from that of today; a week is seven days.

    With `through` all that lies between the day so far away and today.
    """

    unit: str
    away: int
    through: bool = False


def time_word(word: str, lists: WordList) -> tuple[str, float] | None:
    """Return the unit of time that a folded word is, and its seconds (a mean year, month)."""
    for name, seconds in _SECONDS.items():
        if (word,) in lists.times[name]:
            return name, seconds
    return None


def relative_at(at: int, words: Sequence[str], lists: WordList) -> tuple[int, Relative] | None:
    """Return the last token of what starts at a token, and what it tells; None if nothing does.

    "The last year" is the last of several years.
    """
    return (
        _named(at, words, lists)
        or _before_many(at, words, lists)
        or _last_many(at, words, lists)
        or _many_ago(at, words, lists)
    )


def _named(at: int, words: Sequence[str], lists: WordList) -> tuple[int, Relative] | None:
    """ "Last year"."""
    if at and (words[at - 1],) in lists.times["the"]:
        return None
    for name, (unit, away) in _NAMED.items():
        for phrase in lists.times[name]:
            if _is_at(at, words, phrase):
                return at + len(phrase) - 1, Relative(unit, away)
    return None


def _before_many(at: int, words: Sequence[str], lists: WordList) -> tuple[int, Relative] | None:
    """ "Vor 20 Jahren"."""
    for phrase in lists.times["ago_before"]:
        found = _many(at + len(phrase), words, lists) if _is_at(at, words, phrase) else None
        if found is not None:
            return found
    return None


def _many_ago(at: int, words: Sequence[str], lists: WordList) -> tuple[int, Relative] | None:
    """ "20 years ago"."""
    found = _many(at, words, lists)
    for phrase in lists.times["ago_after"] if found is not None else ():
        if found is not None and _is_at(found[0] + 1, words, phrase):
            return found[0] + len(phrase), found[1]
    return None


def _is_at(at: int, words: Sequence[str], phrase: Phrase) -> bool:
    return tuple(words[at : at + len(phrase)]) == phrase


def _last_many(at: int, words: Sequence[str], lists: WordList) -> tuple[int, Relative] | None:
    """ "Last 20 years", "20 dernières années"."""
    last = [word in {phrase[0] for phrase in lists.times["last_many"]} for word in words[at:]][:2]
    if last[:1] == [True]:
        found = _many(at + 1, words, lists)
    elif last[1:] == [True]:
        found = _many(at, [*words[: at + 1], *words[at + 2 :]], lists)
        found = None if found is None else (found[0] + 1, found[1])
    else:
        return None
    return None if found is None else (found[0], replace(found[1], through=True))


def _many(at: int, words: Sequence[str], lists: WordList) -> tuple[int, Relative] | None:
    """ "20 years", as so many in the past."""
    if at + 1 >= len(words):
        return None
    word, unit = words[at], time_word(words[at + 1], lists)
    many = int(word) if word.isdecimal() and len(word) <= 4 else lists.units.get(word)
    if many is None and (word,) in lists.times["one"]:
        many = 1
    if unit is None or many is None:
        return None
    return at + 1, Relative(unit[0], -int(many))


def days_from(relative: Relative, today: float) -> tuple[float, float] | None:
    """Return the first and the last day of it, in days from 1970-01-01; None before the year 1."""
    day = _EPOCH + timedelta(days=int(today))
    if relative.unit in ("weeks", "days"):
        at = today + relative.away * (7 if relative.unit == "weeks" else 1)
        return at, today if relative.through else at
    whole = relative.unit == "years" and not relative.through
    months = 12 * day.year + (0 if whole else day.month - 1)
    first = months + relative.away * (12 if relative.unit == "years" else 1)
    after = first + (12 if whole else 1)
    if not 12 <= first < after < 12 * 10_000:
        return None
    if relative.through:
        return min(_number(first) + day.day - 1, _number(after) - 1), today
    return _number(first), _number(after) - 1


def _number(months: int) -> float:
    """The first day of a month that is counted from the year 0."""
    return float((date(months // 12, months % 12 + 1, 1) - _EPOCH).days)
