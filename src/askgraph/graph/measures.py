"""Measures: the units of numbers, and the predicates that give the start and end of one thing."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.index.names import folded, stem, tokens
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import local_name
from askgraph.sparql.vocabulary import DATE_DATATYPES, WIKIBASE_RANK

_OFTEN = 20  # times that each value is used, at least, in the mean
_TEXTS = (v.XSD_STRING, v.RDF_LANG_STRING)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,30})[)\]]\s*$")


@dataclass(frozen=True)
class Unit:
    """A unit: its size in the base of its dimension is `value * factor + offset`.

    `name` is the word that a variable is called by, `scale` how many of what it names it is, `sign`
    what stands behind a number, empty if only words do.
    """

    dimension: str
    factor: float
    offset: float = 0.0
    name: str = ""
    scale: float = 1.0
    sign: str = ""

    def converted(self, value: float, other: "Unit") -> float:
        """Return a value of this unit in another one of its dimension, to twelve digits."""
        base = value * self.factor + self.offset
        return float(f"{(base - other.offset) / other.factor:.12g}")

    def times(self, scale: float) -> "Unit":
        """Return so many of the unit as a unit: millions of kilometres."""
        return replace(self, factor=self.factor * scale, scale=scale)


_HOUR = 3600.0
"""Seconds of the longest unit that is none of the calendar."""


def is_unit_like(profile: PredicateProfile) -> bool:
    """Return whether a predicate has few texts that come again and again, and that name nothing."""
    texts = sum(count for datatype, count in profile.datatypes if datatype in _TEXTS)
    few = profile.objects * _OFTEN <= profile.triples
    return few and texts * 2 > profile.triples and not profile.naming


def unit_at(words: Sequence[str], at: int) -> tuple[Unit, int] | None:
    """Return the unit whose name starts at a folded word, and how many words it has.

    >>> unit_at(("5", "square", "miles"), 1)[1]
    2
    """
    for length in range(min(4, len(words) - at), 0, -1):
        unit = _table().get(tuple(words[at : at + length]))
        if unit is not None:
            return unit, length
    return None


def unit_of_text(text: str) -> Unit | None:
    """Return the unit that a text is the name or the symbol of, as a whole."""
    return _table().get(tuple(folded(word) for word in tokens(text)))


def unit_by_iri(iri: str) -> Unit | None:
    """Return the unit that an IRI of the QUDT vocabulary names."""
    if not iri.startswith(v.QUDT_UNIT_SPACE):
        return None
    return _qudt().get(iri[len(v.QUDT_UNIT_SPACE) :])


def unit_said(names: Iterable[str], descriptions: Iterable[str] = ()) -> Unit | None:
    """Return the unit that a predicate's names or descriptions say its numbers are in.

    In a name it stands in brackets, after "in", or last of several words ("massKg", "height_cm"); a
    symbol of one letter only in brackets or after "in". In a description it stands after "in".
    """
    for name in names:
        unit = _named(name)
        if unit is not None:
            return unit
    for text in descriptions:
        unit = _after_in(tokens(text))
        if unit is not None:
            return unit
    return None


def _named(name: str) -> Unit | None:
    bracketed = _BRACKETS.search(name)
    if bracketed is not None:
        return unit_of_text(bracketed.group(1))
    words = tokens(local_name(name).replace("_", " ")) if "/" in name else tokens(name)
    unit = _after_in(words, last=True)
    if unit is not None:
        return unit
    for start in range(1, len(words)):
        if len(" ".join(words[start:])) > 1:
            unit = _table().get(words[start:])
            if unit is not None and not _may_be_a_date(unit, words[-1]):
                return unit
    return None


def _may_be_a_date(unit: Unit, word: str) -> bool:
    """Whether a last word is rather what is told than a unit: "birth year", "visiting days"."""
    return unit.dimension == "time" and (unit.factor > _HOUR or word == unit.name)


def _after_in(words: Sequence[str], *, last: bool = False) -> Unit | None:
    """Return the first unit after "in"; with `last` only one that ends the text."""
    around, scales = _raw()["words"], _raw()["scales"]
    for at, word in enumerate(words):
        if word not in around["in"]:
            continue
        start, scale = at + 1, 1.0
        while start < len(words) and (words[start] in scales or words[start] in around["of"]):
            scale *= scales.get(words[start], 1.0)
            start += 1
        found = unit_at(words, start)
        if found is not None and not (last and start + found[1] < len(words)):
            return found[0].times(scale) if scale != 1.0 else found[0]
    return None


@lru_cache(maxsize=1)
def _raw() -> dict[str, Any]:
    text = files("askgraph.graph").joinpath("units.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, ...], Unit]:
    """Units by the folded words of their symbols and names; a symbol wins."""
    found: dict[tuple[str, ...], Unit] = {}
    for key in ("symbols", "names"):
        for entry in _raw()["units"]:
            for text in entry[key]:
                found.setdefault(tokens(text), _unit(entry))
    return found


@lru_cache(maxsize=1)
def _qudt() -> dict[str, Unit]:
    return {name: _unit(entry) for entry in _raw()["units"] for name in entry["qudt"]}


def _unit(entry: dict[str, Any]) -> Unit:
    sign = entry.get("sign", next(iter(entry["symbols"]), ""))
    offset = entry.get("offset", 0.0)
    return Unit(entry["dimension"], entry["factor"], offset, entry["names"][0], sign=sign)


_LIFE = 1  # which of the sets is of lives
_IN_ORDER = 0.95
"""The share of things whose end is not before their start, at least."""


@dataclass(frozen=True)
class Span:
    """Two predicates that give the start and the end (IRIs) of `things` things, maybe of a life."""

    start: str
    end: str
    things: int
    life: bool = False


_Pair = tuple[Span, PredicateProfile]


@dataclass(frozen=True)
class Times:
    """Spans, those of most things first; dates (IRIs) that are no part of one; the rank, if any.

    The rank is the predicate by which statements are preferred or deprecated.
    """

    spans: tuple[Span, ...] = ()
    dates: tuple[str, ...] = ()
    rank: str | None = None

    def ending(self, start: str) -> tuple[str, ...]:
        """Return the predicates that end what a predicate starts."""
        return tuple(span.end for span in self.spans if span.start == start)


def times_of(profile: Profile, arrays: GraphArrays | None = None) -> Times:
    """Return the spans of a graph, by the names of its date predicates and by its data.

    A start and an end belong together if their names do, and if they stand at the same
    things, the end after the start in 95 of 100; an end whose start has no such name is paired
    with the one other date of the same things. Without `arrays`, if the data is not at hand,
    names and classes decide alone.
    """
    dated = [p for p in profile.predicates if _is_dated(p)]
    found: list[Span] = []
    for end in dated:
        pairs = [(span, start) for start in dated if (span := _span(start, end, arrays))]
        named = [pair for pair in pairs if _fit(pair[1], end)] or _only(pairs, end)
        if named:
            best = max(named, key=lambda pair: (_fit(pair[1], end), pair[0].things))
            start = best[1]
            starts, ends = _read()[0][_LIFE]
            found.append(replace(best[0], life=bool(_words(start) & starts and _words(end) & ends)))
    found.sort(key=lambda span: (-span.things, span.start, span.end))
    used = {iri for span in found for iri in (span.start, span.end)}
    ranked = any(p.iri == WIKIBASE_RANK for p in profile.predicates)
    return Times(
        tuple(found),
        tuple(p.iri for p in dated if p.iri not in used),
        WIKIBASE_RANK if ranked else None,
    )


def _is_dated(p: PredicateProfile) -> bool:
    dates = sum(count for datatype, count in p.datatypes if datatype in DATE_DATATYPES)
    return 2 * dates > p.triples


def _only(pairs: Sequence[_Pair], end: PredicateProfile) -> Sequence[_Pair]:
    """Return the one other date of the same things, if only the end says by its name what it is."""
    says = any(_words(end) & ends for _, ends in _read()[0])
    return pairs if says and len(pairs) == 1 and pairs[0][0].things > 1 else ()


def _span(
    start: PredicateProfile, end: PredicateProfile, arrays: GraphArrays | None
) -> Span | None:
    """Return the two as a span, as far as the data allows it."""
    if start.iri == end.iri or start.datatypes[0][0] != end.datatypes[0][0]:
        return None
    if arrays is None:
        own, other = ({iri for iri, _ in p.subject_classes} for p in (start, end))
        together = bool(own & other) or not (own or other)
        return Span(start.iri, end.iri, min(start.subjects, end.subjects)) if together else None
    first, last = arrays.number(start.iri), arrays.number(end.iri)
    if first is None or last is None:
        return None
    things = np.intersect1d(arrays.ends(first), arrays.ends(last), assume_unique=True)
    if not len(things):
        return None
    low, high = (_values(arrays, things, number) for number in (first, last))
    known = ~(np.isnan(low) | np.isnan(high))
    in_order = int((low[known] <= high[known]).sum())
    if not known.any() or in_order < _IN_ORDER * int(known.sum()):
        return None
    return Span(start.iri, end.iri, len(things))


def _values(arrays: GraphArrays, things: Ids, number: int) -> NDArray[np.float64]:
    """One value of each thing, in days; nan if it is no literal."""
    bearers, objects = arrays.pairs(things, number)
    _, firsts = np.unique(bearers, return_index=True)
    chosen = objects[firsts]
    found = np.full(len(chosen), np.nan)
    literal = chosen < arrays.terms.first_iri
    found[literal] = arrays.values[chosen[literal]]
    return found


def _fit(start: PredicateProfile, end: PredicateProfile) -> float:
    """Return the fit of the names of two predicates; 0 if they do not go together."""
    best = 0.0
    sets, plain = _read()
    for starts, ends in sets:
        for one in _names(start):
            for other in _names(end):
                if one & starts and other & ends and not one & ends - starts:
                    left, right = one - starts - plain, other - ends - plain
                    best = max(best, 1.0 if left == right else 0.6)
    return best


def _words(p: PredicateProfile) -> frozenset[str]:
    return frozenset(word for name in _names(p) for word in name)


def _names(p: PredicateProfile) -> Iterator[frozenset[str]]:
    for text in (*(text for text, _ in p.names), local_name(p.iri).replace("_", " ")):
        yield _stems(text)


@lru_cache(maxsize=1)
def _read() -> tuple[tuple[tuple[frozenset[str], frozenset[str]], ...], frozenset[str]]:
    """Return the stems that starts and ends have, by set, and those that only name a date."""
    text = files("askgraph.graph").joinpath("times.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(text)
    sets = tuple((_stems(one["start"]), _stems(one["end"])) for one in raw["sets"])
    return sets, _stems(raw["words"]["date"])


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in tokens(text))
