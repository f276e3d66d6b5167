"""`list`: the triples at given places, the telling ones first, every predicate at least by name.

Of a local graph they come from its arrays. A remote one is asked for the predicates with counts,
over a bounded number of triples, and then for a few triples of each predicate that is shown.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.answers.validation.graph_knowledge import Sort
from askgraph.errors import QueryError
from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.methods.tools import Context
from askgraph.methods.tools._facts import Variants, numbered
from askgraph.methods.tools.rendering import Shown, Writer
from askgraph.methods.tools.term_text import expanded_name, unescaped_text
from askgraph.methods.tools.terms import named_node
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import lexed
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import Observation

__all__ = ["list_triples"]

_LANGUAGES = 6
_NAME = re.compile(r"[A-Za-z][\w.-]*:[^\s/]\S*")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(r"-?\d{4,}-\d\d-\d\d")


async def list_triples(
    context: Context,
    subject: Annotated[str | None, "IRI"] = None,
    predicate: Annotated[str | None, "IRI"] = None,
    object: Annotated[str | None, "IRI, or a literal's text"] = None,
) -> Observation:
    """List triples by subject, predicate or object; give at least one.

    At most `limits.triples` are shown, a few of each predicate: frequent ones first, what the run
    has shown before last, and all other predicates by name, unlike `LST` of the GRASP paper
    (section 3.2). Predicates that are one property take one line. Raises `QueryError` for a blank
    node and for an IRI that the graph does not hold.
    """
    if not any(text and text.strip() for text in (subject, predicate, object)):
        raise QueryError("give a subject, a predicate or an object: prefix:name or <http://…>")
    fixed = Fixed(
        await _node(context, subject, "entities"),
        await _node(context, predicate, "properties"),
        await _objects(context, (object or "").strip()),
    )
    arrays = context.graph.arrays
    if arrays is not None and arrays.complete:
        groups = await asyncio.to_thread(lambda: list(own_groups(arrays, fixed)))
    else:
        groups = await asked_groups(context, fixed)
    if not groups:
        said = await where(context, fixed)
        return Observation(f"no triple {said.text}", said.seen, rows=0)
    most = context.limits.triples
    lines = lines_of(context, groups)
    shown = lines[:most]
    if arrays is None or not arrays.complete:
        each = 2 * -(-most // len(shown))
        fetched = await asked_examples(context, fixed, [line.lead for line in shown], each=each)
        shown = [replace(line, lead=lead) for line, lead in zip(shown, fetched, strict=True)]
    said = await told(context, fixed, chosen(context, shown, most), lines)
    return Observation(said.text, said.seen, rows=sum(group.count for group in groups))


async def _node(context: Context, text: str | None, sort: Sort) -> NamedNode | None:
    if text is None or not text.strip():
        return None
    return NamedNode(await named_node(context, text, sort=sort))


async def _objects(context: Context, text: str) -> tuple[NamedNode | Literal, ...]:
    """The IRI that a text means, or the literals of the graph that it may stand for."""
    if not text:
        return ()
    first = next(iter(lexed(text).all), None)
    if first is not None and first.kind == "string":
        return _literals(context, unescaped_text(first.text.strip("\"'")))
    known = expanded_name(text.split()[0], context.graph.prefixes)
    if known or _NAME.fullmatch(text) or text.startswith("<") or "://" in text.split()[0]:
        return (NamedNode(await named_node(context, text)),)
    if text.startswith("_:"):
        await named_node(context, text)
    return _literals(context, text)


def _literals(context: Context, text: str) -> tuple[Literal, ...]:
    arrays = context.graph.arrays
    if arrays is not None and arrays.complete:
        there = arrays.terms.starting(str(Literal(text)))
        found = [arrays.terms.term(at) for at in there[: context.limits.candidates]]
        return tuple(one for one in found if isinstance(one, Literal)) or (Literal(text),)
    spoken = [language for language, _ in context.graph.profile.languages if language]
    tags = dict.fromkeys([context.language, "en", *spoken[:_LANGUAGES]])
    datatypes: list[str] = []
    if _NUMBER.fullmatch(text):
        datatypes += [v.XSD_DECIMAL if "." in text else v.XSD_INTEGER, v.XSD_DOUBLE, v.XSD_FLOAT]
        datatypes += [v.XSD_G_YEAR] if text.isdigit() and len(text) == 4 else []
    elif _DATE.fullmatch(text):
        datatypes.append(v.XSD_DATE)
    return (
        Literal(text),
        *(Literal(text, language=tag) for tag in tags),
        *(Literal(text, datatype=NamedNode(iri)) for iri in datatypes),
    )


_COUNTED = 10_000
_PREDICATES = 300
_SAMPLE = 200
_OF_EACH = 20

Pair = tuple[Term, Term]
"""A subject and an object."""

_ROOM = 2_000  # characters for the names of predicates


@dataclass(frozen=True)
class Fixed:
    """What is given of a triple; `objects` are the terms that one text may stand for."""

    subject: NamedNode | None = None
    predicate: NamedNode | None = None
    objects: tuple[NamedNode | Literal, ...] = ()


@dataclass(frozen=True)
class Group:
    """The triples of one predicate: how many, at the least if `cut`, and some of them."""

    predicate: str
    count: int
    pairs: tuple[Pair, ...] = ()
    cut: bool = False


def own_groups(arrays: GraphArrays, fixed: Fixed) -> Iterator[Group]:
    """Yield the groups of a local graph, each with its most connected of up to 200 triples."""
    subjects = _ids(arrays, [fixed.subject] if fixed.subject else [])
    objects = _ids(arrays, fixed.objects)
    if (fixed.subject and not len(subjects)) or (fixed.objects and not len(objects)):
        return
    for number in _numbers(arrays, fixed, subjects, objects):
        ends = _pairs(arrays, number, subjects if fixed.subject else None, fixed, objects)
        count = len(ends[0])
        if count:
            iri = arrays.iri_of(number)
            # Of classes the rarest tells most: the superclasses of all are the most connected.
            yield Group(iri, count, _best(arrays, *ends, rare=iri == RDF_TYPE))


async def asked_groups(context: Context, fixed: Fixed) -> list[Group]:
    """Return the groups of a remote graph, without triples; counts are of the first 10,000.

    Raises `ServiceError` as the endpoint does.
    """
    only = fixed.predicate and not fixed.subject and not fixed.objects
    for known in context.graph.profile.predicates if only else ():
        if fixed.predicate and known.iri == fixed.predicate.value:
            return [Group(known.iri, known.triples)]
    column = f"({fixed.predicate} AS ?p)" if fixed.predicate else "?p"
    query = (
        f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {{ SELECT {column} WHERE "
        f"{{ {_pattern(fixed, str(fixed.predicate or '?p'))} }} LIMIT {_COUNTED} }} }} "
        f"GROUP BY ?p ORDER BY DESC(?n) LIMIT {_PREDICATES}"
    )
    result = await context.graph.endpoint.select(
        query, timeout=context.limits.timeout, limit=_PREDICATES
    )
    counts = [
        (found.value, numbered(n)) for found, n in result.rows if isinstance(found, NamedNode)
    ]
    cut = sum(number for _, number in counts) >= _COUNTED
    return [Group(iri, number, cut=cut) for iri, number in counts if number]


async def asked_examples(
    context: Context, fixed: Fixed, groups: Sequence[Group], *, each: int
) -> list[Group]:
    """Return groups of a remote graph with at most `each` triples, from one request.

    Raises `ServiceError` as the endpoint does.
    """
    columns = f"{_column('s', fixed.subject)} {_column('o', _only(fixed.objects))}"
    parts = [
        f"{{ SELECT ({at} AS ?n) {columns} WHERE {{ {_pattern(fixed, f'<{group.predicate}>')} }} "
        f"LIMIT {min(each, group.count)} }}"
        for at, group in enumerate(groups)
    ]
    if not parts:
        return []
    most = each * len(parts)
    result = await context.graph.endpoint.select(
        f"SELECT ?n ?s ?o WHERE {{ {' UNION '.join(parts)} }} LIMIT {most}",
        timeout=context.limits.timeout,
        limit=most,
    )
    pairs: dict[int, list[Pair]] = {}
    for number, subject, end in result.rows:
        if subject is not None and end is not None:
            pairs.setdefault(numbered(number), []).append((subject, end))
    return [
        Group(group.predicate, group.count, tuple(pairs.get(at, ())), group.cut)
        for at, group in enumerate(groups)
    ]


def _ids(arrays: GraphArrays, terms: Iterable[NamedNode | Literal]) -> Ids:
    found = [arrays.terms.find(str(term)) for term in terms]
    return np.array(sorted({at for at in found if at is not None}), dtype=np.int32)


def _numbers(arrays: GraphArrays, fixed: Fixed, subjects: Ids, objects: Ids) -> list[int]:
    """The numbers of the predicates that may have triples."""
    if fixed.predicate is not None:
        number = arrays.number(fixed.predicate.value)
        return [] if number is None else [number]
    if fixed.subject is not None:
        return [int(number) for number in arrays.predicates_of(subjects)[0]]
    return [int(number) for number in arrays.predicates_of(objects, inverse=True)[0]]


def _pairs(
    arrays: GraphArrays, number: int, subjects: Ids | None, fixed: Fixed, objects: Ids
) -> tuple[Ids, Ids]:
    if subjects is not None:
        sources, targets = arrays.pairs(subjects, number)
        if fixed.objects:
            kept = np.isin(targets, objects)
            return sources[kept], targets[kept]
        return sources, targets
    if fixed.objects:
        targets, sources = arrays.pairs(objects, number, inverse=True)
        return sources, targets
    start, end = arrays.predicate_offsets[number : number + 2]
    return arrays.subjects[start:end], arrays.objects[start:end]


def _best(arrays: GraphArrays, sources: Ids, targets: Ids, *, rare: bool) -> tuple[Pair, ...]:
    """The pairs of the most connected nodes, or the least, of at most 200 pairs spread over all.

    Each further pair with the same node comes later.
    """
    places = np.unique(np.linspace(0, len(sources) - 1, min(_SAMPLE, len(sources))).astype(int))
    kept = [(int(sources[at]), int(targets[at])) for at in places]
    sign = 1 if rare else -1
    kept.sort(key=lambda pair: sign * max(_degree(arrays, pair[0]), _degree(arrays, pair[1])))
    counts: Counter[int] = Counter()
    turns = []
    for pair in kept:
        turns.append(max(counts[pair[0]], counts[pair[1]]))
        counts.update(pair)
    order = sorted(range(len(kept)), key=lambda at: turns[at])
    return tuple(
        (arrays.terms.term(kept[at][0]), arrays.terms.term(kept[at][1])) for at in order[:_OF_EACH]
    )


def _degree(arrays: GraphArrays, node: int) -> int:
    return 0 if arrays.terms.is_literal(node) else arrays.degree(node)


def _only(objects: tuple[NamedNode | Literal, ...]) -> NamedNode | Literal | None:
    return objects[0] if len(objects) == 1 else None


def _column(name: str, term: NamedNode | Literal | None) -> str:
    return f"({term} AS ?{name})" if term is not None else f"?{name}"


def _pattern(fixed: Fixed, predicate: str) -> str:
    """The triple pattern with what is given in its place."""
    several = f"VALUES ?o {{ {' '.join(map(str, fixed.objects))} }} "
    end = _only(fixed.objects)
    given = several if len(fixed.objects) > 1 else ""
    return f"{given}{fixed.subject or '?s'} {predicate} {'?o' if end is None else end}"


@dataclass(frozen=True)
class Line:
    """A predicate with the variants of it: see `askgraph.graph.names`."""

    lead: Group
    variants: tuple[Group, ...] = ()
    chosen: tuple[Pair, ...] = ()


def lines_of(context: Context, groups: Sequence[Group]) -> list[Line]:
    """Return the groups with their variants: frequent ones first, those that were shown last."""
    variants = Variants(context.graph.profile)
    by_iri = {group.predicate: group for group in groups}
    lines = []
    for iris in variants.grouped(by_iri):
        first, *others = (by_iri[iri] for iri in iris)
        lines.append(Line(first, tuple(others)))

    def place(line: Line) -> tuple[bool, int, str]:
        profile = variants.known.get(line.lead.predicate)
        frequency = profile.triples if profile else line.lead.count
        return line.lead.predicate in context.seen, -frequency, line.lead.predicate

    return sorted(lines, key=place)


def chosen(context: Context, lines: Sequence[Line], most: int) -> list[Line]:
    """Return lines with the pairs to show: one each, then one more in turn; what is new first."""
    pairs = [sorted(line.lead.pairs, key=lambda pair: _order(context, pair)) for line in lines]
    taken = [0] * len(lines)
    left = most
    while left > 0 and any(count < len(some) for count, some in zip(taken, pairs, strict=True)):
        for at, some in enumerate(pairs):
            if left > 0 and taken[at] < len(some):
                taken[at] += 1
                left -= 1
    return [
        replace(line, chosen=tuple(some[:count]))
        for line, some, count in zip(lines, pairs, taken, strict=True)
    ]


async def told(
    context: Context, fixed: Fixed, shown: Sequence[Line], lines: Sequence[Line]
) -> Shown:
    """Return the lines to show as text, and the predicates of all others by name."""
    rest = lines[len(shown) :]
    iris = [line.lead.predicate for line in (*shown, *rest)]
    ends = [term for line in shown for pair in line.chosen for term in pair]
    iris += [term.value for term in ends if isinstance(term, NamedNode)]
    writer = await Writer.knowing(context, iris)
    groups = [group for line in lines for group in (line.lead, *line.variants)]
    count = sum(group.count for group in groups)
    least = "at least " if any(group.cut for group in groups) else ""
    given = await where(context, fixed)
    parts = [f"{least}{count:,} triple{'' if count == 1 else 's'} {given.text}:"]
    parts += [_written(writer, fixed, line) for line in shown]
    if rest:
        parts.append(f"also: {_names(writer, rest)}")
    return Shown("\n".join(parts), tuple(dict.fromkeys([*given.seen, *writer.seen])))


def _names(writer: Writer, lines: Sequence[Line]) -> str:
    """The predicates by name, as many as there is room for."""
    names: list[str] = []
    room = _ROOM
    for line in lines:
        if room < 0:
            return f"{', '.join(names)}, and {len(lines) - len(names)} more"
        names.append(writer.iri(line.lead.predicate))
        room -= len(names[-1]) + 2
    return ", ".join(names)


async def where(context: Context, fixed: Fixed) -> Shown:
    """Return what was given, in words."""
    given = [
        ("subject", fixed.subject),
        ("predicate", fixed.predicate),
        *(("object", one) for one in fixed.objects[:1]),
    ]
    iris = [term.value for _, term in given if isinstance(term, NamedNode)]
    writer = await Writer.knowing(context, iris)
    parts = [
        f"{place} {writer.text(term.value) if isinstance(term, Literal) else writer.term(term)}"
        for place, term in given
        if term is not None
    ]
    return Shown("with " + " and ".join(parts), tuple(writer.seen))


def _order(context: Context, pair: Pair) -> tuple[int, bool]:
    """What was shown comes last, and texts in other languages than the asker's."""
    shown = sum(isinstance(term, NamedNode) and term.value in context.seen for term in pair)
    language = pair[1].language if isinstance(pair[1], Literal) else None
    return shown, bool(language) and language not in (context.language, "en")


def _written(writer: Writer, fixed: Fixed, line: Line) -> str:
    """A predicate with its examples: the ends that are not given, and how many there are."""
    name = writer.iri(line.lead.predicate)
    notes = [f"{'≥' if line.lead.cut else ''}{line.lead.count:,}"]
    if line.variants:
        notes.append("also " + ", ".join(writer.short(one.predicate) for one in line.variants))
    shows_all = len(line.chosen) == line.lead.count and not line.variants
    note = "" if shows_all else f" ({'; '.join(notes)})"
    if fixed.subject and fixed.objects:
        return name + note
    if fixed.subject:
        return f"{name} → {', '.join([writer.term(end) for _, end in line.chosen])}{note}"
    if len(fixed.objects) == 1:
        return f"{name} ← {', '.join([writer.term(start) for start, _ in line.chosen])}{note}"
    pairs = [f"{writer.term(start)} → {writer.term(end)}" for start, end in line.chosen]
    return f"{name}{note}: {'; '.join(pairs)}"
