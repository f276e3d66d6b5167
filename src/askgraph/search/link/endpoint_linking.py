"""Names of things that a graph's endpoint finds for a question, linked beside those known here.

A graph with more names than could be read is asked, once a question, for the stretches of words
that may be names. What it returns is an index of names for this question alone.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from askgraph import plugins
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.name_search import PLAIN, Asked, NameSearch, Thing
from askgraph.index.names import Kind, Name, NameIndex, tokens
from askgraph.search.link import LinkedQuestion, joined, link_question
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import value_of

_TEXTS: Final = 12  # stretches of words that are asked for at most
_LONGEST: Final = 6  # words of a stretch at most, those without a meaning of their own included
_BETWEEN: Final = 3  # words without a meaning of their own that may stand between two of a name
_LIMIT: Final = 20  # things that are asked for of one text
_ALIKE: Final = 6
"""Things of one name of which the question may mean any; of more only the likeliest."""
_ASKED, _MENTIONED, _FITS = 200, 20, 1_000
"""Such things that are looked at; by so many names; one that fits counts for so many sitelinks."""
_LEADING, _SAMPLED = 5, 500
"""So many predicates show how often things are led to, by so many triples each."""
_ASIDE = frozenset((v.RDF_TYPE, v.RDFS_SUB_CLASS_OF, v.OWL_SAME_AS))
"""Predicates that do not make what they lead to more likely to be meant."""
_KEPT: Final = 5000  # texts of one graph whose things are remembered
_WHOLE: Final = 0.9  # from this similarity on all of a name is there
_OTHERWISE: Final = "The endpoint's search for names gave things that are called otherwise."
_NAMELESS: Final = (
    "No predicate of the graph carries names: its things have nothing but their IRIs."
)
_NAME, _WORD = 2, 1
"""How likely a word is a name's: quoted or in capitals; any other word of content."""

_Found = Mapping[str, Sequence[Thing]]
_KNOWN: WeakKeyDictionary[NameSearch, OrderedDict[tuple[str, str], Sequence[Thing]]]
_KNOWN = WeakKeyDictionary()


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of the question's words, from the token `first` to before `end`."""

    first: int
    end: int

    def of(self, reading: TokenizedQuestion) -> str:
        """Return its words as they are written."""
        return reading.text[reading.tokens[self.first].start : reading.tokens[self.end - 1].end]


async def link_with_endpoint(linked: LinkedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Return the links with those to things that a graph's endpoint finds for the words.

    If its search fails, or gives what is called otherwise, exact labels are asked for instead. What
    could not be had, and in which languages there are names at all, is said in the notes.
    """
    search, reading = graph.name_search, linked.reading
    texts = {span: span.of(reading) for span in spans(linked)}
    if search is None or not texts:
        return linked
    asked = tuple(texts.values())
    found, notes = await _found(search, graph.endpoint, asked, reading.language)
    if any(found.values()) and not any(map(_holds, found, found.values())):
        notes = (_OTHERWISE,)
    if notes:
        plain = plugins.load("name_search", PLAIN)(replace(search.naming, place=""))
        found, more = await _found(plain, graph.endpoint, asked, reading.language)
        notes = (*notes, *more)
    things = _of_longest({span: found.get(text, ()) for span, text in texts.items()}, reading)
    things = await _likeliest(things, linked, graph)
    schema = {one.iri for one in graph.profile.classes}
    schema |= {one.iri for one in graph.profile.predicates}
    names = [
        Name(text, thing.iri, Kind.ENTITY)
        for thing in things
        if thing.iri not in schema
        for text, _ in thing.names
    ]
    if names:
        more_links = await asyncio.to_thread(link_question, reading, NameIndex.of(names))
        linked = joined(linked, more_links.links)
    notes = (*notes, *_of_languages(things, reading.language))
    if not things and not search.naming.predicates:
        notes = (*notes, _NAMELESS)
    return replace(linked, notes=(*linked.notes, *notes))


async def _likeliest(
    things: list[Thing], linked: LinkedQuestion, graph: KnowledgeGraph
) -> list[Thing]:
    """The things found, of many with one name those that fit the question best.

    These have the predicates and classes that it mentions; then those that have most sitelinks, or
    to which most leads in a sample if nothing has sitelinks.
    """
    alike: dict[tuple[str, ...], dict[str, None]] = {}
    for thing in things:
        for name, _ in thing.names:
            alike.setdefault(tuple(tokens(name)), {})[thing.iri] = None
    crowds = [[*iris][:_ASKED] for iris in alike.values() if len(iris) > _ALIKE]
    if not crowds:
        return things
    fitting = Counter[str]()
    with suppress(QueryError, ServiceError):
        query = _fitting(sorted({iri for some in crowds for iri in some}), linked, graph)
        for one, fits, links in (await graph.endpoint.select(query)).rows:
            fitting[value_of(one) or ""] += _FITS if fits else int(value_of(links) or 0)
    left = {iri for some in crowds for iri in sorted(some, key=lambda one: -fitting[one])[_ALIKE:]}
    return [thing for thing in things if thing.iri not in left]


def _fitting(things: Sequence[str], linked: LinkedQuestion, graph: KnowledgeGraph) -> str:
    """Return the query for what things have of the predicates, classes and links that count."""
    typing = dict(graph.profile.types).get(v.RDF_TYPE, v.RDF_TYPE)
    values = f"VALUES ?s {{ {' '.join(f'<{iri}>' for iri in things)} }}"
    meant = {
        kind: " ".join(dict.fromkeys(f"<{one.target}>" for one in linked.of(kind)[:_MENTIONED]))
        for kind in (Kind.PREDICATE, Kind.CLASS)
    }
    sitelinks = any(one.iri == v.WIKIBASE_SITELINKS for one in graph.profile.predicates)
    parts = (
        f"{values} VALUES ?fits {{ {meant[Kind.PREDICATE]} }} ?s ?fits ?o",
        f"{values} VALUES ?fits {{ {meant[Kind.CLASS]} }} ?s <{typing}> ?fits",
        *(
            [f"{values} ?s <{v.WIKIBASE_SITELINKS}> ?links"]
            if sitelinks
            else _led_to(values, graph)
        ),
    )
    union = " UNION ".join(f"{{ {part} }}" for part in parts)
    return f"SELECT DISTINCT ?s ?fits ?links {{ {union} }}"


def _led_to(values: str, graph: KnowledgeGraph) -> Iterator[str]:
    """Yield queries for how often things are led to by the commonest predicates, in a sample."""
    leading = [one for one in graph.profile.predicates if one.object_classes]
    common = sorted(leading, key=lambda one: -one.triples)
    for one in [one for one in common if one.iri not in _ASIDE][:_LEADING]:
        sample = f"SELECT ?s ?o {{ {values} ?o <{one.iri}> ?s }} LIMIT {_SAMPLED}"
        yield f"SELECT ?s (COUNT(?o) AS ?links) {{ {{ {sample} }} }} GROUP BY ?s"


def _holds(text: str, things: Sequence[Thing]) -> bool:
    """Whether some thing has a name with a word of the text."""
    said = {*tokens(text)}
    return any(said & {*tokens(name)} for thing in things for name, _ in thing.names)


def _of_languages(things: Sequence[Thing], asked: str) -> tuple[str, ...]:
    """Say in which languages the names that were found are, if none is that of the question."""
    tags = {tag.partition("-")[0] for thing in things for _, tag in thing.names}
    if not tags or tags & {"", "mul", asked}:
        return ()
    return (f"The names that the endpoint found are in {', '.join(sorted(tags))} only.",)


def spans(linked: LinkedQuestion) -> tuple[Span, ...]:
    """Return the stretches of words that may be a thing's name, the likeliest first, at most 12.

    What is quoted, or in capitals within the question, comes first, the longer before the shorter.
    Words of operators, numbers, and names of classes and predicates are no names by themselves.
    """
    reading, taken = linked.reading, _taken(linked)
    shouted = reading.text.isupper()
    likely: list[int] = []
    for at, token in enumerate(reading.tokens):
        capital = token.capital and not shouted
        if token.text[0].isdigit() and at:
            likely.append(likely[-1])  # the number of a name: "Apollo 11"
        elif token.quote is not None or (capital and at and at not in taken):
            likely.append(_NAME)
        elif at in taken or reading.is_stop(at):
            likely.append(_WORD if capital and at else 0)
        else:
            likely.append(_WORD)
    found: dict[Span, tuple[float, int]] = {}
    for run in _runs(reading, likely):
        for first in range(run.first, run.end):
            for end in range(first + 1, min(run.end, first + _LONGEST) + 1):
                own = [one for one in likely[first:end] if one]
                free = any(likely[at] and at not in taken for at in range(first, end))
                if free and likely[first] and likely[end - 1]:
                    found[Span(first, end)] = (sum(own) / len(own), len(own))
    return tuple(sorted(found, key=lambda one: (*(-own for own in found[one]), one)))[:_TEXTS]


def _taken(linked: LinkedQuestion) -> frozenset[int]:
    """The words that mean an operator, a number's unit, a class or a predicate."""
    reading = linked.reading
    taken = {
        at for one in detect_operators(reading, linked.scales).operators for at in one.positions
    }
    taken |= {at for one in reading.quantities for at in one.measured}
    for one in linked.of(Kind.CLASS, Kind.PREDICATE):
        if one.similarity > _WHOLE and one.quality > _WHOLE:
            taken |= {*one.positions}
    return frozenset(at for at in taken if reading.tokens[at].quote is None)


def _runs(reading: TokenizedQuestion, likely: Sequence[int]) -> Iterator[Span]:
    """The longest stretches of words that may be names; within capitals others may stand."""
    first = last = -1
    for at, own in enumerate(likely):
        if not own:
            continue
        if first < 0 or _parted(reading, likely, last, at):
            if first >= 0:
                yield Span(first, last + 1)
            first = at
        last = at
    if first >= 0:
        yield Span(first, last + 1)


def _parted(reading: TokenizedQuestion, likely: Sequence[int], last: int, at: int) -> bool:
    one, other = reading.tokens[last], reading.tokens[at]
    gap = reading.text[one.end : other.start]
    if one.quote != other.quote or any(mark in gap for mark in ",;?!()"):
        return True
    between = at - last - 1
    return between > 0 and (between > _BETWEEN or min(likely[last], likely[at]) < _NAME)


async def _found(
    search: NameSearch, endpoint: Asked, texts: Sequence[str], language: str
) -> tuple[_Found, tuple[str, ...]]:
    """The things of each text, remembered or asked for together, and why there are none if so."""
    known = _KNOWN.setdefault(search, OrderedDict())
    missing = [text for text in dict.fromkeys(texts) if (text, language) not in known]
    notes: tuple[str, ...] = ()
    try:
        if missing:
            new = await search.search(endpoint, missing, languages=(language,), limit=_LIMIT)
            known.update({(text, language): one for text, one in zip(missing, new, strict=True)})
    except (QueryError, ServiceError) as error:
        notes = (f"The endpoint's search for names failed: {error}",)
    found = {text: known[text, language] for text in texts if (text, language) in known}
    while len(known) > _KEPT:
        known.popitem(last=False)
    return found, notes


def _of_longest(found: Mapping[Span, Sequence[Thing]], reading: TokenizedQuestion) -> list[Thing]:
    """The things found, without those of a part of words that are wholly some thing's name."""
    whole = [
        span
        for span, things in found.items()
        if any(_is_called(thing, span.of(reading)) for thing in things)
    ]
    return [
        thing
        for span, things in found.items()
        if not any(w.first <= span.first and span.end <= w.end and w != span for w in whole)
        for thing in things
    ]


def _is_called(thing: Thing, text: str) -> bool:
    said = tokens(text)
    return any(tokens(name) == said for name, _ in thing.names)
