"""Units of numbers, and pairs of predicates for the start and end of something."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.graph.literals import ValueKind
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.index.names import fold_word, split_tokens, stem_word
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import get_local_name
from askgraph.sparql.vocabulary import DATE_DATATYPES, WIKIBASE_RANK

_MIN_USES_PER_VALUE = 20  # times that each value is used, at least, in the mean
_TEXT_DATATYPES = (v.XSD_STRING, v.RDF_LANG_STRING)
_BRACKETED_SUFFIX = re.compile(r"[(\[]([^()\[\]]{1,30})[)\]]\s*$")


@dataclass(frozen=True)
class Unit:
    """A unit of measurement; a value in the dimension's base is `value * factor + offset`."""

    dimension: str  # name of the dimension, such as "time"
    factor: float  # base units in one unit
    offset: float = 0.0  # added after multiplication
    name: str = ""  # word for variable names
    scale: float = 1.0  # multiple of the unit that `name` stands for
    sign: str = ""  # symbol shown after a number, empty if the unit has only a name

    def convert(self, value: float, target: "Unit") -> float:
        """Convert a value to another unit of the same dimension, rounded to twelve digits."""
        base = value * self.factor + self.offset
        return float(f"{(base - target.offset) / target.factor:.12g}")

    def scale_by(self, scale: float) -> "Unit":
        """Return a multiple of the unit as a unit, such as millions of kilometres."""
        return replace(self, factor=self.factor * scale, scale=scale)


_SECONDS_PER_HOUR = 3600.0
"""Seconds of the longest unit that is not a calendar unit."""


def is_unit_like(profile: PredicateProfile) -> bool:
    """Return whether a predicate has few, often repeated texts that are not names."""
    texts = sum(count for datatype, count in profile.datatypes if datatype in _TEXT_DATATYPES)
    has_few_values = profile.objects * _MIN_USES_PER_VALUE <= profile.triples
    return has_few_values and texts * 2 > profile.triples and not profile.naming


def match_unit(words: Sequence[str], start: int) -> tuple[Unit, int] | None:
    """Return the unit whose name starts at a folded word, and its number of words.

    >>> match_unit(("5", "square", "miles"), 1)[1]
    2
    """
    for length in range(min(4, len(words) - start), 0, -1):
        unit = _build_unit_table().get(tuple(words[start : start + length]))
        if unit is not None:
            return unit, length
    return None


def parse_unit(text: str) -> Unit | None:
    """Return the unit whose name or symbol is the complete text, or None."""
    return _build_unit_table().get(tuple(fold_word(word) for word in split_tokens(text)))


def get_unit_by_iri(iri: str) -> Unit | None:
    """Return the unit with this QUDT IRI, or None."""
    if not iri.startswith(v.QUDT_UNIT_NAMESPACE):
        return None
    return _build_qudt_table().get(iri[len(v.QUDT_UNIT_NAMESPACE) :])


def detect_unit(names: Iterable[str], descriptions: Iterable[str] = ()) -> Unit | None:
    """Detect the unit of a predicate's numbers from its names or descriptions.

    In a name, the unit stands in brackets, after "in", or last of several words ("massKg",
    "height_cm"); a symbol of one letter only in brackets or after "in". In a description it stands
    after "in".
    """
    described = (_find_unit_after_in(split_tokens(text)) for text in descriptions)
    return next(filter(None, chain(map(_detect_unit_in_name, names), described)), None)


def _detect_unit_in_name(name: str) -> Unit | None:
    bracket_match = _BRACKETED_SUFFIX.search(name)
    if bracket_match is not None:
        return parse_unit(bracket_match.group(1))
    words = (
        split_tokens(get_local_name(name).replace("_", " ")) if "/" in name else split_tokens(name)
    )
    unit = _find_unit_after_in(words, last=True)
    if unit is not None:
        return unit
    for start in range(1, len(words)):
        if len(" ".join(words[start:])) > 1:
            unit = _build_unit_table().get(words[start:])
            if unit is not None and not (
                unit.dimension == "time"
                and (unit.factor > _SECONDS_PER_HOUR or words[-1] == unit.name)
            ):
                return unit
    return None


def _find_unit_after_in(words: Sequence[str], *, last: bool = False) -> Unit | None:
    unit_words, scales = _load_units_file()["words"], _load_units_file()["scales"]
    for position, word in enumerate(words):
        if word not in unit_words["in"]:
            continue
        start, scale = position + 1, 1.0
        while start < len(words) and (words[start] in scales or words[start] in unit_words["of"]):
            scale *= scales.get(words[start], 1.0)
            start += 1
        match = match_unit(words, start)
        if match is not None and not (last and start + match[1] < len(words)):
            return match[0].scale_by(scale) if scale != 1.0 else match[0]
    return None


@lru_cache(maxsize=1)
def _load_units_file() -> dict[str, Any]:
    return tomllib.loads(files("askgraph.graph").joinpath("units.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _build_unit_table() -> dict[tuple[str, ...], Unit]:
    """Build the table of units by the folded words of symbols and names; symbols win."""
    units: dict[tuple[str, ...], Unit] = {}
    for key in ("symbols", "names"):
        for entry in _load_units_file()["units"]:
            for text in entry[key]:
                units.setdefault(split_tokens(text), _to_unit(entry))
    return units


@lru_cache(maxsize=1)
def _build_qudt_table() -> dict[str, Unit]:
    return {
        name: _to_unit(entry) for entry in _load_units_file()["units"] for name in entry["qudt"]
    }


def _to_unit(entry: dict[str, Any]) -> Unit:
    sign = entry.get("sign", next(iter(entry["symbols"]), ""))
    offset = entry.get("offset", 0.0)
    return Unit(entry["dimension"], entry["factor"], offset, entry["names"][0], sign=sign)


_LIFE_SET_NUMBER = 1  # index of the set with birth and death predicates
_MIN_ORDERED_SHARE = 0.95
"""Minimum share of subjects whose end is not before their start."""


@dataclass(frozen=True)
class DateSpan:
    """Two predicates (IRIs) for the start and the end of the same subjects."""

    start: str  # predicate of the start
    end: str  # predicate of the end
    subjects: int  # number of subjects with both
    life: bool = False  # whether start and end are birth and death


_Pair = tuple[DateSpan, PredicateProfile]


@dataclass(frozen=True)
class TemporalPredicates:
    """Predicates of a graph that carry dates."""

    spans: tuple[DateSpan, ...] = ()  # pairs of start and end, most subjects first
    dates: tuple[str, ...] = ()  # date predicates (IRIs) outside of all spans
    rank: str | None = None  # marks statements as preferred or deprecated


def find_temporal_predicates(
    profile: Profile, arrays: GraphArrays | None = None
) -> TemporalPredicates:
    """Find the spans of a graph from the names of its date predicates and its data.

    A start and an end form a span if their names match and if they occur at the same subjects, the
    end after the start for 95 %. An end whose start has no such name is paired with the only other
    date of the same subjects. Without `arrays`, names and classes decide alone.
    """
    date_predicates = [p for p in profile.predicates if _is_dated(p, arrays)]
    spans: list[DateSpan] = []
    for end in date_predicates:
        pairs = [
            (span, start) for start in date_predicates if (span := _build_span(start, end, arrays))
        ]
        matching_pairs = [
            pair for pair in pairs if _score_name_match(pair[1], end)
        ] or _keep_single_pair(pairs, end)
        if matching_pairs:
            best = max(
                matching_pairs, key=lambda pair: (_score_name_match(pair[1], end), pair[0].subjects)
            )
            start = best[1]
            starts, ends = _load_time_words()[0][_LIFE_SET_NUMBER]
            spans.append(
                replace(
                    best[0],
                    life=bool(_collect_stems(start) & starts and _collect_stems(end) & ends),
                )
            )
    spans.sort(key=lambda span: (-span.subjects, span.start, span.end))
    span_predicates = {iri for span in spans for iri in (span.start, span.end)}
    return TemporalPredicates(
        tuple(spans),
        tuple(p.iri for p in date_predicates if p.iri not in span_predicates),
        WIKIBASE_RANK if any(p.iri == WIKIBASE_RANK for p in profile.predicates) else None,
    )


def _is_dated(p: PredicateProfile, arrays: GraphArrays | None) -> bool:
    dates = sum(count for datatype, count in p.datatypes if datatype in DATE_DATATYPES)
    if 2 * dates > p.triples or not p.literal or arrays is None:
        return 2 * dates > p.triples
    number = arrays.get_predicate_number(p.iri)
    if number is None:
        return False
    objects = arrays.get_ends(number, inverse=True)
    sample = objects[:: len(objects) // _MAX_DATE_SAMPLE_SIZE + 1]
    literals = sample[sample < arrays.terms.first_iri]
    return 2 * int((arrays.sorts[literals] == ValueKind.TEXT_DATE).sum()) > len(sample)


_MAX_DATE_SAMPLE_SIZE = 200  # values of a predicate that tell whether its texts are dates


def _keep_single_pair(pairs: Sequence[_Pair], end: PredicateProfile) -> Sequence[_Pair]:
    """Return the only date of the same subjects if just the end is recognizable by its name."""
    has_end_name = any(_collect_stems(end) & ends for _, ends in _load_time_words()[0])
    return pairs if has_end_name and len(pairs) == 1 and pairs[0][0].subjects > 1 else ()


def _build_span(
    start: PredicateProfile, end: PredicateProfile, arrays: GraphArrays | None
) -> DateSpan | None:
    """Return the two predicates as a span if the data permits it, else None."""
    if start.iri == end.iri or start.datatypes[0][0] != end.datatypes[0][0]:
        return None
    if arrays is None:
        start_classes, end_classes = ({iri for iri, _ in p.subject_classes} for p in (start, end))
        return (
            DateSpan(start.iri, end.iri, min(start.subjects, end.subjects))
            if bool(start_classes & end_classes) or not (start_classes or end_classes)
            else None
        )
    first, last = arrays.get_predicate_number(start.iri), arrays.get_predicate_number(end.iri)
    if first is None or last is None:
        return None
    subjects = np.intersect1d(arrays.get_ends(first), arrays.get_ends(last), assume_unique=True)
    if not len(subjects):
        return None
    low, high = (_read_days(arrays, subjects, number) for number in (first, last))
    has_both = ~(np.isnan(low) | np.isnan(high))
    in_order = int((low[has_both] <= high[has_both]).sum())
    if not has_both.any() or in_order < _MIN_ORDERED_SHARE * int(has_both.sum()):
        return None
    return DateSpan(start.iri, end.iri, len(subjects))


def _read_days(arrays: GraphArrays, subjects: Ids, number: int) -> NDArray[np.float64]:
    """Return one value per subject, in days; nan if it is not a literal."""
    bearers, objects = arrays.get_edges(subjects, number)
    _, firsts = np.unique(bearers, return_index=True)
    first_objects = objects[firsts]
    days = np.full(len(first_objects), np.nan)
    literal = first_objects < arrays.terms.first_iri
    days[literal] = arrays.values[first_objects[literal]]
    return days


def _score_name_match(start: PredicateProfile, end: PredicateProfile) -> float:
    """Return how well the names of two predicates match; 0 if they do not belong together."""
    best = 0.0
    sets, plain = _load_time_words()
    for starts, ends in sets:
        for start_words in _iterate_names(start):
            for end_words in _iterate_names(end):
                if start_words & starts and end_words & ends and not start_words & ends - starts:
                    start_rest, end_rest = start_words - starts - plain, end_words - ends - plain
                    best = max(best, 1.0 if start_rest == end_rest else 0.6)
    return best


def _collect_stems(p: PredicateProfile) -> frozenset[str]:
    return frozenset(word for name in _iterate_names(p) for word in name)


def _iterate_names(p: PredicateProfile) -> Iterator[frozenset[str]]:
    for text in (*(text for text, _ in p.names), get_local_name(p.iri).replace("_", " ")):
        yield _stem_words(text)


@lru_cache(maxsize=1)
def _load_time_words() -> tuple[tuple[tuple[frozenset[str], frozenset[str]], ...], frozenset[str]]:
    """Return the stems of starts and ends, by set, and the stems that only mean a date."""
    raw = tomllib.loads(files("askgraph.graph").joinpath("times.toml").read_text(encoding="utf-8"))
    sets = tuple(
        (_stem_words(word_set["start"]), _stem_words(word_set["end"])) for word_set in raw["sets"]
    )
    return sets, _stem_words(raw["words"]["date"])


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(stem_word(word) for word in split_tokens(text))
