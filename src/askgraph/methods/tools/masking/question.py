"""Words of a question that name things and values of a graph, and what each of them is.

IRIs, dates, times, numbers and codes that are written out are found without an index.
"""

import calendar
import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.graph import KnowledgeGraph
from askgraph.graph.literals import resource_term
from askgraph.index.names import Kind, Name, NameIndex, phrases
from askgraph.search.link import LinkedQuestion
from askgraph.search.tokenize import Quantity, TokenizedQuestion
from askgraph.sparql import vocabulary as v

NAMED = re.compile(
    r"<[^<>\s\"{}|^`\\]+>|(?<!\w)(?:https?://|urn:)[^\s<>\"{}|^`\\]*[\w/#]"
    r"|(?<![\w:])[\w.-]*:[^\W_](?:(?:[\w:%.-]|\\[^\w\s])*(?:\w|\\[^\w\s]))?"
)
"""What may be an IRI: within angle brackets, in full or with a prefix."""

_CODE = re.compile(
    r"(?<!\w)(?:[+\-−](?=\d))?[^\W_]*\d[^\W_]*(?:[-–./:,_][^\W_]*\d[^\W_]*)*", re.UNICODE
)
_SIGNED = re.compile(r"(?<![\w.,])[+\-−]\d+(?:\.\d+)?(?![\w.,:/-]*\d)")
_MOMENT = re.compile(
    r"(?<!\w)(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?(?!\w)"
)
_DAY_FIRST = re.compile(r"(?<!\w)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\w)")
_WITHIN = re.compile(r"\d+(?:st|nd|rd|th|er|e|ème|s)", re.IGNORECASE)
_CODE_SCORE = 0.95  # less than a whole name or a quantity of the same words
_TENS = frozenset(range(20, 100, 10))
_UNITS = frozenset(range(1, 10))
_WHOLE = 0.9  # of a name, from which words are taken for it
_FORM = 0.8  # from which a word is a form of a word of the schema
_DAY_ONE = date(1970, 1, 1)


@dataclass(frozen=True)
class Stretch:
    """The tokens from `first` to `last` of a question, and what they name; `kind` says it of a
    literal in words. `span` is where it begins and ends in the text, if not with its tokens.
    """

    first: int
    last: int
    term: NamedNode | Literal
    kind: str = ""
    score: float = 1.0
    span: tuple[int, int] | None = None


def iri_in(written: str, expand: Callable[[str], str | None]) -> str | None:
    """Return the IRI that a match of `NAMED` means; None if its prefix is not known."""
    if written[0] == "<":
        inside = written[1:-1]
        return inside if ":" in inside else None
    return written if written.startswith(("http", "urn:")) else expand(written)


def written_out(reading: TokenizedQuestion, expand: Callable[[str], str | None]) -> list[Stretch]:
    """Return what can be nothing but an IRI, a moment, a day or a signed number, in order."""
    found: list[Stretch] = []
    taken: set[int] = set()
    for span, term, kind in _terms(reading.text, expand):
        at = _tokens_in(reading, *span)
        if at and not taken & set(at):
            taken |= set(at)
            found.append(Stretch(at[0], at[-1], term, kind, span=span))
    return sorted(found, key=lambda one: one.first)


def codes(reading: TokenizedQuestion) -> Iterator[Stretch]:
    """Yield the runs of letters and digits with a digit in them ("B747", "12/2004").

    Ordinals ("3rd") are none.
    """
    for found in _CODE.finditer(reading.text):
        at = _tokens_in(reading, *found.span())
        if at and not _WITHIN.fullmatch(found[0]):
            yield Stretch(at[0], at[-1], Literal(found[0]), "a text", _CODE_SCORE)


def compounds(reading: TokenizedQuestion) -> tuple[Quantity, ...]:
    """Return the quantities of a question; tens and units in words are one ("thirty-four")."""
    kept: list[Quantity] = []
    for units in reading.quantities:
        tens = kept[-1] if kept else None
        if (
            tens is not None
            and (tens.spelled and units.spelled and tens.last + 1 == units.first)
            and (tens.value in _TENS and units.value in _UNITS)
        ):
            text, value = f"{tens.text} {units.text}", tens.value + units.value
            kept[-1] = Quantity(tens.first, units.last, text, value, spelled=True)
        else:
            kept.append(units)
    return tuple(kept)


def _terms(
    text: str, expand: Callable[[str], str | None]
) -> Iterator[tuple[tuple[int, int], NamedNode | Literal, str]]:
    for found in NAMED.finditer(text):
        if iri := iri_in(found[0], expand):
            yield found.span(), NamedNode(iri), ""
    for found in _MOMENT.finditer(text):
        zone = found["zone"] or ""
        time = found["time"] if found["time"].count(":") == 2 else f"{found['time']}:00"
        moment = f"{found['date']}T{time}{zone}"
        yield found.span(), Literal(moment, datatype=NamedNode(v.XSD_DATE_TIME)), "a date and time"
    for found in _DAY_FIRST.finditer(text):
        day, month, year = map(int, found.groups())
        try:
            term = Literal(date(year, month, day).isoformat(), datatype=NamedNode(v.XSD_DATE))
        except ValueError:
            continue  # no day, but a code of its form
        yield found.span(), term, "a date"
    for found in _SIGNED.finditer(text):
        number = found[0].replace("−", "-")
        kind = v.XSD_DECIMAL if "." in number else v.XSD_INTEGER
        yield found.span(), Literal(number, datatype=NamedNode(kind)), "a number"


def _tokens_in(reading: TokenizedQuestion, start: int, end: int) -> list[int]:
    """The tokens that a stretch of the text touches."""
    return [
        at for at, token in enumerate(reading.tokens) if token.start < end and token.end > start
    ]


def stretches(
    linked: Sequence[tuple[KnowledgeGraph, LinkedQuestion]],
    *,
    expand: Callable[[str], str | None],
    shows: Callable[[str], bool],
    spoken: Container[str],
    used: Sequence[str] = (),
) -> tuple[Stretch, ...]:
    """Return the words that name things and values of any of the graphs, none twice, in order.

    Loose links count, but not if words of the schema alone say it as well, and at their ends
    not for words that a class or predicate explains. Of several things that the same words name it
    is the first of those `used`, else the best. What is left of IRIs, codes and numbers, and words
    of names, is a stretch too, unless `spoken` by the schema (stems). `expand` gives the IRI of a
    prefixed name; what `shows` is of the schema.
    """

    def hidden(found: Sequence[Stretch]) -> list[Stretch]:
        return [
            one for one in found if not (isinstance(one.term, NamedNode) and shows(one.term.value))
        ]

    reading = linked[0][1].reading
    whole = written_out(reading, expand)
    taken = {at for one in whole for at in range(one.first, one.last + 1)}
    found: list[Stretch] = []
    plain = {at for at in range(len(reading.tokens)) if reading.is_stop(at)}
    for graph, links in linked:
        schema = links.of(Kind.CLASS, Kind.PREDICATE)
        plain |= {at for link in schema if link.score >= _WHOLE for at in link.positions}
        for link in links.of(Kind.ENTITY, Kind.VALUE):
            # Unless a class or predicate says as well what the words name.
            if not any(
                set(link.positions) <= set(other.positions)
                and other.score >= min(_WHOLE, link.score)
                and (link.score < _WHOLE or other.score >= _WHOLE)
                for other in schema
            ):
                first, last = link.positions[0], link.positions[-1]
                named = Name(link.name, link.target, link.kind)
                found.append(_named(first, last, named, link.score))
        found += _exact(links.reading, graph.names)
    found = hidden(found)
    found += [
        Stretch(one.first, one.last, *_valued(one, reading))
        for one in compounds(reading)
        if not (one.spelled and one.value == 1)
    ]
    found += codes(reading)
    places = {iri: place for place, iri in reversed(list(enumerate(used)))}
    told = sorted(found, key=lambda one: (places.get(one.term.value, len(places)), -one.score))
    apart = [*hidden(whole), *_apart(told, plain, taken)]
    apart += _left(
        linked, {at for at, token in enumerate(reading.tokens) if token.stem in spoken}, taken
    )
    return tuple(sorted(apart, key=lambda one: one.first))


def _exact(reading: TokenizedQuestion, index: NameIndex) -> Iterator[Stretch]:
    """Words that are exactly a name or a value, whatever the links made of them."""
    said = list(phrases([token.folded for token in reading.tokens], index))
    schema = {
        (one.first, one.end)
        for one in said
        if any(name.kind in (Kind.CLASS, Kind.PREDICATE) for name in one.names)
    }
    for one in said:
        things = [name for name in one.names if name.kind in (Kind.ENTITY, Kind.VALUE)]
        words = range(one.first, one.end)
        if not things or (one.first, one.end) in schema or all(map(reading.is_stop, words)):
            continue
        for name in sorted(things, key=lambda name: name.kind):
            yield _named(one.first, one.end - 1, name, 1.0)


def _named(first: int, last: int, name: Name, score: float) -> Stretch:
    term = resource_term(name.target)
    if isinstance(term, Literal):
        return Stretch(first, last, term, "a text", score)
    assert isinstance(term, NamedNode)
    return Stretch(first, last, term, "", score)


def _valued(quantity: Quantity, reading: TokenizedQuestion) -> tuple[Literal, str]:
    """The literal that a number or a time stands for, and what it is in words."""
    start, end = reading.tokens[quantity.first], reading.tokens[quantity.last]
    written = reading.text[start.start : end.end]
    if quantity.value is not None:
        kind = "a year, or a number" if quantity.days else "a number"
        whole = float(quantity.value).is_integer()
        text = str(int(quantity.value)) if whole else repr(quantity.value)
        datatype = v.XSD_INTEGER if whole else v.XSD_DECIMAL
        return Literal(text, datatype=NamedNode(datatype)), kind
    if quantity.days is None or min(quantity.days) < -719_162:
        return Literal(written), "a text"
    first, last = (_DAY_ONE + timedelta(days=day) for day in quantity.days)
    if first == last:
        return Literal(first.isoformat(), datatype=NamedNode(v.XSD_DATE)), "a date"
    if (first.year, first.month) == (last.year, last.month):
        month = f"{first.year:04}-{first.month:02}"
        length = calendar.monthrange(first.year, first.month)[1]
        return Literal(month, datatype=NamedNode(v.XSD_G_YEAR_MONTH)), f"a month of {length} days"
    year = Literal(str(first.year), datatype=NamedNode(v.XSD_INTEGER))
    return year, f"the first of {last.year - first.year + 1} years"


def _apart(found: Sequence[Stretch], plain: Collection[int], taken: set[int]) -> Iterator[Stretch]:
    """Each token in one stretch: whole names first, the longest first; of others what is left.

    Of a loose one the `plain` words at its ends stay. The same words stand for the first term.
    What is yielded is added to `taken`.
    """
    every: dict[tuple[int, int], Stretch] = {}
    for one in found:
        for piece in _within(one, range(one.first, one.last + 1), plain):
            first = every.setdefault((piece.first, piece.last), piece)
            best = max(first.score, piece.score)
            every[piece.first, piece.last] = replace(first, score=best)
    for one in sorted(every.values(), key=lambda s: (s.score < _WHOLE, s.first - s.last, -s.score)):
        free = [at for at in range(one.first, one.last + 1) if at not in taken]
        for piece in _within(one, free, plain):
            taken.update(range(piece.first, piece.last + 1))
            yield piece


def _left(
    linked: Sequence[tuple[KnowledgeGraph, LinkedQuestion]],
    spoken: Collection[int],
    taken: Collection[int],
) -> Iterator[Stretch]:
    """Words that are not `taken` and stand in names of things or values, each run as one text.

    Not those by which the language asks, compares and measures, nor forms of words of the schema.
    """
    reading = linked[0][1].reading
    lists = reading.words
    phrases_of = [*lists.asks.values(), *lists.operators.values()]
    known = {word for listed in phrases_of for phrase in listed for word in phrase}
    known |= {word for measure in lists.measures for word in measure.phrase}
    known |= lists.ordinals.keys() | lists.clauses["restrict"]
    forms = {
        at
        for _, links in linked
        for link in links.of(Kind.CLASS, Kind.PREDICATE)
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality > _FORM
    }

    def is_in_a_name(word: str, index: NameIndex) -> bool:
        number = index.word_id(word)
        kinds = index.kinds[index.bearing(number)] if number is not None else np.zeros(0)
        return bool(((kinds == Kind.ENTITY) | (kinds == Kind.VALUE)).any())

    free = [
        at
        for at, token in enumerate(reading.tokens)
        if not (at in taken or at in spoken or at in forms or reading.is_stop(at))
        and not (token.folded in known or token.stem in lists.naming)
        and any(is_in_a_name(token.stem, graph.names) for graph, _ in linked)
    ]
    for first, last in _runs(free):
        text = reading.text[reading.tokens[first].start : reading.tokens[last].end]
        yield Stretch(first, last, Literal(text), "a text")


def _within(one: Stretch, free: Sequence[int], plain: Collection[int]) -> Iterator[Stretch]:
    """The parts of a stretch that are free."""
    for first, last in _runs(free):
        telling = [at for at in range(first, last + 1) if at not in plain or one.score >= _WHOLE]
        if telling:
            yield replace(one, first=telling[0], last=telling[-1])


def _runs(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = None
    for at, position in enumerate(positions):
        start = position if start is None else start
        if at + 1 == len(positions) or positions[at + 1] != position + 1:
            yield start, position
            start = None
