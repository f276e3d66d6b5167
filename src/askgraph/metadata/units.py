"""Units: the closed table of their sizes, and predicates that tell in what a number is given."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from askgraph.index.tokens import folded, tokens
from askgraph.metadata import PredicateProfile
from askgraph.metadata.names import local_name
from askgraph.rdf import vocabulary as v

_OFTEN = 20  # times that each value is used, at least, in the mean
_TEXTS = (v.XSD_STRING, v.RDF_LANG_STRING)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,30})[)\]]\s*$")


@dataclass(frozen=True)
class Unit:
    """A unit: its size in the base of its dimension is `value * factor + offset`.

    `name` is the word that a variable is called by, `scale` how many of what it names it is.
    """

    dimension: str
    factor: float
    offset: float = 0.0
    name: str = ""
    scale: float = 1.0

    def converted(self, value: float, other: "Unit") -> float:
        """Return a value of this unit in another one of its dimension, to twelve digits."""
        base = value * self.factor + self.offset
        return float(f"{(base - other.offset) / other.factor:.12g}")

    def times(self, scale: float) -> "Unit":
        """Return so many of the unit as a unit: millions of kilometres."""
        return Unit(self.dimension, self.factor * scale, self.offset, self.name, scale)


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
            if unit is not None and unit.dimension != "time":
                return unit
    return None


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
    text = files("askgraph.metadata").joinpath("units.toml").read_text(encoding="utf-8")
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
    return Unit(entry["dimension"], entry["factor"], entry.get("offset", 0.0), entry["names"][0])
