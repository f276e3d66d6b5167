"""Inputs of the pointer writer: a question and its listed terms as numbers that fit any graph.

A unit is a word of the question or a listed term. No word is known by itself: units are bags of
hashed words and letter trigrams, kinds and operators, with a few facts and the relations among
them: which term a word means, which predicate leaves or enters which class or thing.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from askgraph.graph.arrays import GraphArrays
from askgraph.graph.names import local_name
from askgraph.graph.profile import Profile
from askgraph.index import stem, tokens
from askgraph.index.names import Kind
from askgraph.methods.writing import Listed
from askgraph.methods.writing.pointer.pieces import Roles
from askgraph.methods.writing.pointer.skeleton import number_of
from askgraph.search.link import LinkedQuestion
from askgraph.search.operators.query_builder import day_literal
from askgraph.search.tokenize import Quantity, TokenizedQuestion
from askgraph.search.tokenize.question_operators import Zones, detect_operators
from askgraph.sparql.prefixes import best_label, words_of_local_name
from askgraph.sparql.vocabulary import XSD_DATE, XSD_DATE_TIME, XSD_G_YEAR

BUCKETS = 8192
WORDS = 40
"""How many words of a question are read."""

FACTS = 12
RELATIONS = (
    "none", "same", "means", "meant by", "before", "after", "competes",
    "leaves class", "has predicate", "enters class", "is entered by",
    "leaves thing", "thing has", "enters thing", "thing is entered by",
    "next", "previous", "beside",
)  # fmt: skip
"""Relations between two units, by their numbers."""

_R = {name: number for number, name in enumerate(RELATIONS)}
_GRAMS = 24
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Units:
    """A question's words, then its listed terms.

    `grams` (units, 24) are buckets, 0 if there is none; `facts` (units, `FACTS`); `places`
    (units, `WORDS`) says which words a unit is or means, in rows that sum to 1 or 0; `relations`
    (units, units) are numbers of `RELATIONS`; `roles` say what each term can stand as.
    """

    words: int
    grams: Ints
    facts: Floats
    places: Floats
    relations: Ints
    roles: tuple[Roles, ...]

    @property
    def terms(self) -> int:
        """How many terms are listed."""
        return len(self.grams) - self.words


def roles_of(listed: Listed) -> Roles:
    """Return what a term can stand as in a query."""
    match listed.kind:
        case Kind.PREDICATE:
            return frozenset(["predicate"])
        case Kind.CLASS:
            return frozenset(["class", "term"])
        case Kind.ENTITY:
            return frozenset(["term"])
        case _:
            plain = not listed.target.startswith('"') and number_of(listed.target) is not None
            return frozenset(["term", "number"] if plain else ["term"])


def units_of(
    reading: TokenizedQuestion,
    weights: Sequence[float],
    listed: Sequence[Listed],
    profile: Profile,
    arrays: GraphArrays | None = None,
) -> Units:
    """Return what is seen of a question; `weights` are how much its words tell."""
    words = min(len(reading.tokens), WORDS)
    size = words + len(listed)
    grams = np.zeros((size, _GRAMS), dtype=np.int32)
    facts = np.zeros((size, FACTS), dtype=np.float32)
    places = np.zeros((size, WORDS), dtype=np.float32)
    tags = _tags(reading)
    for at in range(words):
        _fill(grams[at], [*tags.get(at, ()), *_word_grams(reading.tokens[at].folded)])
        places[at, at] = 1.0
    facts[:words] = _word_facts(reading, weights, words)
    about = _about(profile)
    total = sum(weights) or 1.0
    for at, one in enumerate(listed, words):
        _fill(grams[at], [*_term_tags(one, about), *_label_grams(one.label)])
        said = [p for p in one.positions if p < words]
        places[at, said] = 1.0 / max(1, len(said))
        facts[at] = _term_facts(one, about, sum(weights[p] for p in said) / total)
    relations = _relations(words, listed, about, arrays)
    return Units(words, grams, facts, places, relations, tuple(map(roles_of, listed)))


def _fill(row: Ints, features: Sequence[str]) -> None:
    kept = [_bucket(feature) for feature in features[:_GRAMS]]
    row[: len(kept)] = kept


@lru_cache(maxsize=65_536)
def _bucket(feature: str) -> int:
    return zlib.crc32(feature.encode()) % (BUCKETS - 1) + 1


@lru_cache(maxsize=16_384)
def _word_grams(word: str) -> tuple[str, ...]:
    """A word, its stem, and the trigrams of its stem."""
    short = stem(word)
    edged = f"<{short}>"
    trigrams = dict.fromkeys(edged[at : at + 3] for at in range(len(edged) - 2))
    return (f"w:{word}", f"s:{short}", *(f"g:{gram}" for gram in trigrams))


@lru_cache(maxsize=16_384)
def _label_grams(label: str) -> tuple[str, ...]:
    """All words and stems of a label first, then their trigrams."""
    parts = [_word_grams(word) for word in tokens(label)[:8]]
    heads = [gram for part in parts for gram in part[:2]]
    return tuple(dict.fromkeys(heads + [gram for part in parts for gram in part[2:]]))


def _tags(reading: TokenizedQuestion) -> dict[int, list[str]]:
    """What the word lists say of each word: operators, numbers, quotations."""
    frame = detect_operators(reading)
    found: dict[int, list[str]] = {}
    for one in frame.operators:
        up = "" if one.measure is None else "+" if one.measure.up else "-"
        for at in one.positions:
            found.setdefault(at, []).append(f"o:{one.name}{up}")
    for quantity in reading.quantities:
        for at in quantity.positions:
            found.setdefault(at, []).append("q:day" if quantity.days else "q:number")
    if frame.asks:
        found.setdefault(0, []).append(f"a:{frame.asks}")
    for at, token in enumerate(reading.tokens):
        if token.quote is not None:
            found.setdefault(at, []).append("q:quoted")
    return found


def _word_facts(reading: TokenizedQuestion, weights: Sequence[float], words: int) -> Floats:
    facts = np.zeros((words, FACTS), dtype=np.float32)
    zones = Zones.of(reading, detect_operators(reading))
    top = max(weights, default=0.0) or 1.0
    for at, token in enumerate(reading.tokens[:words]):
        gap = reading.text[reading.tokens[at - 1].end : token.start] if at else ""
        facts[at, :7] = (
            1.0,
            reading.is_stop(at),
            token.capital and at > 0,
            weights[at] / top,
            zones.is_head(at),
            "," in gap,
            at in reading.genitives,
        )
    return facts


@dataclass(frozen=True, eq=False)
class _About:
    """What a profile says of its predicates and classes, by IRI."""

    tags: dict[str, tuple[str, ...]]
    subjects: dict[str, frozenset[str]]
    objects: dict[str, frozenset[str]]
    sizes: dict[str, float]
    functional: dict[str, tuple[bool, bool]]


@lru_cache(maxsize=32)
def _about(profile: Profile) -> _About:
    tags, subjects, objects, sizes = {}, {}, {}, {}
    functional: dict[str, tuple[bool, bool]] = {}
    for p in profile.predicates:
        kinds = [name.rpartition("#")[2] for name, _ in p.datatypes[:1]]
        kinds += ["resource"] if p.object_classes else []
        flags = [("transitive", p.transitive), (f"names {p.naming}", bool(p.naming))]
        tags[p.iri] = tuple(f"t:{name}" for name in kinds + [n for n, yes in flags if yes])
        subjects[p.iri] = frozenset(name for name, _ in p.subject_classes)
        objects[p.iri] = frozenset(name for name, _ in p.object_classes)
        sizes[p.iri] = float(p.triples)
        single = p.triples <= p.objects * 1.02
        functional[p.iri] = (p.functional, single)
    for c in profile.classes:
        tags[c.iri] = ("t:nary",) if c.nary else ()
        sizes[c.iri] = float(c.instances)
    return _About(tags, subjects, objects, sizes, functional)


def _term_tags(one: Listed, about: _About) -> list[str]:
    found = [f"k:{one.kind.name}", *about.tags.get(one.target, ())]
    if one.kind is Kind.VALUE:
        found.append("v:text" if number_of(one.target) is None else "v:number")
        found += ["v:date"] if "XMLSchema#" in one.target else []
    return found


def _term_facts(one: Listed, about: _About, share: float) -> Floats:
    functional = about.functional.get(one.target, (False, False))
    size = np.log10(1.0 + about.sizes.get(one.target, 0.0)) / 6
    return np.array(
        [
            0.0, 0.0, 0.0, share, not one.positions, len(one.positions) / 4, 0.0,
            1.0, one.score, functional[0], functional[1], size,
        ],
        dtype=np.float32,
    )  # fmt: skip


def _relations(
    words: int, listed: Sequence[Listed], about: _About, arrays: GraphArrays | None
) -> Ints:
    size = words + len(listed)
    found = np.zeros((size, size), dtype=np.int32)
    order = np.arange(words)
    found[order[1:], order[1:] - 1] = _R["after"]
    found[order[:-1], order[:-1] + 1] = _R["before"]
    for one, other, name, back in _pairs(words, listed, about, arrays):
        found[one, other], found[other, one] = _R[name], _R[back]
    np.fill_diagonal(found, _R["same"])
    return found


def _pairs(
    words: int, listed: Sequence[Listed], about: _About, arrays: GraphArrays | None
) -> Iterator[tuple[int, int, str, str]]:
    """Two units and what each is to the other; later pairs win over earlier ones."""
    for at, one in enumerate(listed, words):
        said = set(one.positions)
        yield from ((place, at, "means", "meant by") for place in said if place < words)
        for there, other in enumerate(listed[: at - words], words):
            if said & set(other.positions):
                yield at, there, "competes", "competes"
    steps = [(at, p) for at, p in enumerate(listed, words) if p.kind is Kind.PREDICATE]
    for at, step in steps:
        for there, other in enumerate(listed, words):
            name = _schematic(step, other, about, first=at < there)
            if name is not None:
                yield at, there, name, _BACK[name]
    if arrays is not None:
        yield from _edges(words, listed, steps, arrays)


_BACK = {
    "next": "previous",
    "beside": "beside",
    "leaves class": "has predicate",
    "enters class": "is entered by",
}


def _schematic(step: Listed, other: Listed, about: _About, *, first: bool) -> str | None:
    """What a predicate is to another one or to a class, by the classes at its ends."""
    leaves = about.subjects.get(step.target, frozenset())
    enters = about.objects.get(step.target, frozenset())
    if other.kind is Kind.CLASS:
        known = other.target in leaves or other.target in enters
        return ("leaves class" if other.target in leaves else "enters class") if known else None
    if other.kind is not Kind.PREDICATE or other is step:
        return None
    theirs = about.subjects.get(other.target, frozenset())
    if theirs & enters:
        return "next"
    return "beside" if first and theirs & leaves else None


def _edges(
    words: int, listed: Sequence[Listed], steps: Sequence[tuple[int, Listed]], arrays: GraphArrays
) -> Iterator[tuple[int, int, str, str]]:
    """Which listed predicates touch which listed things, values and classes in the graph."""
    numbers = {arrays.number(step.target): at for at, step in steps}
    for there, other in enumerate(listed, words):
        if other.kind is Kind.PREDICATE:
            continue
        literal = other.target.startswith('"')
        node = arrays.terms.find(other.target) if literal else arrays.terms.iri(other.target)
        if node is None:
            continue
        ids = np.array([node], dtype=np.int32)
        for number in arrays.predicates_of(ids, inverse=True)[0]:
            if (at := numbers.get(int(number))) is not None and other.kind is not Kind.CLASS:
                yield at, there, "enters thing", "thing is entered by"
        for number in arrays.predicates_of(ids)[0] if not literal else ():
            if (at := numbers.get(int(number))) is not None and other.kind is not Kind.CLASS:
                yield at, there, "leaves thing", "thing has"


MOST = 48
"""How many terms are listed at most."""

_LAST = 10_000
_DATED = (XSD_DATE, XSD_DATE_TIME, XSD_G_YEAR)


def written(listed: Listed) -> str:
    """Return a listed term as `terms_of` gives it: IRIs in angle brackets."""
    literal = listed.target.startswith('"') or number_of(listed.target) is not None
    return listed.target if literal else f"<{listed.target}>"


def listed_terms(
    linked: LinkedQuestion, profile: Profile, *, named: Iterable[str] = (), limit: int = MOST
) -> tuple[Listed, ...]:
    """Return what a question's words were linked to, its numbers, and `named`, in their order.

    `named` are terms that a query names in any case, as `terms_of` gives them; they are kept before
    what was only linked. What no word means stands last.
    """
    found: dict[str, Listed] = {}
    for link in linked.links:
        one = Listed(link.kind, link.target, link.name, positions=link.positions, score=link.score)
        found.setdefault(written(one), one)
    wanted = dict.fromkeys(named)
    for one in said_numbers(linked.reading.quantities, profile, wanted):
        found[written(one)] = one
    for term in wanted:
        if term not in found:
            found[term] = _unlinked(term, linked, profile)
    best = sorted(found.items(), key=lambda item: (item[0] not in wanted, -item[1].score))
    return tuple(sorted((one for _, one in best[:limit]), key=_place))


def said_numbers(
    quantities: Sequence[Quantity], profile: Profile, named: Iterable[str] = ()
) -> Iterator[Listed]:
    """The constants that a question's numbers and dates may be, and those of `named` that are."""
    types = {name for p in profile.predicates for name, _ in p.datatypes[:1] if name in _DATED}
    for quantity in quantities:
        places = tuple(quantity.positions)
        texts: dict[str, None] = {}
        if quantity.value is not None:
            texts[plain_number(quantity.value)] = None
        for datatype in sorted(types) if quantity.days else ():
            for day, end in zip(quantity.days or (), (False, True), strict=True):
                texts[day_literal(day, datatype, end=end)] = None
        for term in named:
            if _is_same(term, quantity):
                texts[term] = None
        for text in texts:
            yield Listed(Kind.VALUE, text, quantity.text, positions=places, score=1.0)


def plain_number(value: float) -> str:
    """Return the digits of a number as SPARQL writes integers and decimals: no exponent."""
    return f"{Decimal(int(value) if float(value).is_integer() else repr(value)):f}"


def _is_same(term: str, quantity: Quantity) -> bool:
    number = number_of(term)
    return number is not None and number == quantity.value


def _unlinked(term: str, linked: LinkedQuestion, profile: Profile) -> Listed:
    """A term that no word was linked to: a step, a class, a constant."""
    if not term.startswith("<"):
        text = term.split('"')[1] if term.startswith('"') else term
        return Listed(Kind.VALUE, term, text, positions=_said(text, linked))
    iri = term[1:-1]
    kind, label = _known(profile).get(iri, (Kind.ENTITY, ""))
    return Listed(kind, iri, label or words_of_local_name(local_name(iri)))


def _said(text: str, linked: LinkedQuestion) -> tuple[int, ...]:
    return tuple(at for at, t in enumerate(linked.reading.tokens) if t.folded == text.lower())


@lru_cache(maxsize=32)
def _known(profile: Profile) -> dict[str, tuple[Kind, str]]:
    """The kind and label of each class and predicate."""
    found = {c.iri: (Kind.CLASS, best_label(c.names, ["en"]) or "") for c in profile.classes}
    for p in profile.predicates:
        found[p.iri] = (Kind.PREDICATE, best_label(p.names, ["en"]) or "")
    return found


def _place(listed: Listed) -> tuple[object, ...]:
    first = listed.positions[0] if listed.positions else _LAST
    return first, -len(listed.positions), -listed.score, listed.kind, listed.target
