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
from askgraph.methods.tools.hits import Variants, numbered
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
    arrays, most = context.graph.arrays, context.limits.triples
    here = arrays if arrays is not None and arrays.complete else None
    if here is not None:
        groups = await asyncio.to_thread(lambda: list(own_groups(here, fixed)))
    else:
        groups = await asked_groups(context, fixed)
    head = await where(context, fixed)
    if not groups:
        return Observation(f"no triple {head.text}", head.seen, rows=0)
    count = sum(group.count for group in groups)
    least = "at least " if any(group.cut for group in groups) else ""
    grouped = with_variants(context, groups)
    shown, rest = grouped[:most], grouped[most:]
    if here is None:
        shown = await asked_examples(context, fixed, shown, each=2 * -(-most // len(shown)))
    shown = chosen(context, shown, most)
    ends = [term for group in shown for pair in group.pairs for term in pair]
    iris = [group.predicate for group in grouped]
    iris += [term.value for term in ends if isinstance(term, NamedNode)]
    writer = await Writer.knowing(context, iris)
    lines = [f"{least}{count:,} triple{'' if count == 1 else 's'} {head.text}:"]
    lines += [_written(writer, fixed, group) for group in shown]
    if rest:
        lines.append(f"also: {_names(writer, rest)}")
    seen = tuple(dict.fromkeys([*head.seen, *writer.seen]))
    return Observation("\n".join(lines), seen, rows=count)


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
    """The triples of one predicate: how many, at the least if `cut`, and some of them.

    `variants` are predicates that are the same property: see `askgraph.graph.names`.
    """

    predicate: str
    count: int
    pairs: tuple[Pair, ...] = ()
    cut: bool = False
    variants: tuple[str, ...] = ()


def own_groups(arrays: GraphArrays, fixed: Fixed) -> Iterator[Group]:
    """Yield the groups of a local graph, each with its most connected of up to 200 triples."""

    def ids(terms: Iterable[NamedNode | Literal]) -> Ids:
        found = [arrays.terms.find(str(term)) for term in terms]
        return np.array(sorted({at for at in found if at is not None}), dtype=np.int32)

    subjects, objects = ids([fixed.subject] if fixed.subject else []), ids(fixed.objects)
    if (fixed.subject and not len(subjects)) or (fixed.objects and not len(objects)):
        return
    if fixed.predicate is not None:
        number = arrays.number(fixed.predicate.value)
        numbers = [] if number is None else [number]
    elif fixed.subject is not None:
        numbers = arrays.predicates_of(subjects)[0].tolist()
    else:
        numbers = arrays.predicates_of(objects, inverse=True)[0].tolist()
    for number in numbers:
        if fixed.subject is not None:
            sources, targets = arrays.pairs(subjects, number)
            if fixed.objects:
                kept = np.isin(targets, objects)
                sources, targets = sources[kept], targets[kept]
        elif fixed.objects:
            targets, sources = arrays.pairs(objects, number, inverse=True)
        else:
            start, end = arrays.predicate_offsets[number : number + 2]
            sources, targets = arrays.subjects[start:end], arrays.objects[start:end]
        if len(sources):
            iri = arrays.iri_of(number)
            # Of classes the rarest tells most: the superclasses of all are the most connected.
            yield Group(iri, len(sources), _best(arrays, sources, targets, rare=iri == RDF_TYPE))


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
    return [replace(group, pairs=tuple(pairs.get(at, ()))) for at, group in enumerate(groups)]


def _best(arrays: GraphArrays, sources: Ids, targets: Ids, *, rare: bool) -> tuple[Pair, ...]:
    """The pairs of the most connected nodes, or the least, of at most 200 pairs spread over all.

    Each further pair with the same node comes later.
    """
    places = np.unique(np.linspace(0, len(sources) - 1, min(_SAMPLE, len(sources))).astype(int))
    kept = [(int(sources[at]), int(targets[at])) for at in places]

    def degree(node: int) -> int:
        return 0 if arrays.terms.is_literal(node) else arrays.degree(node)

    kept.sort(key=lambda pair: (1 if rare else -1) * max(map(degree, pair)))
    counts: Counter[int] = Counter()
    turns = []
    for pair in kept:
        turns.append(max(counts[pair[0]], counts[pair[1]]))
        counts.update(pair)
    order = sorted(range(len(kept)), key=lambda at: turns[at])[:_OF_EACH]
    term = arrays.terms.term
    return tuple((term(kept[at][0]), term(kept[at][1])) for at in order)


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


def with_variants(context: Context, groups: Sequence[Group]) -> list[Group]:
    """Return one group for each property: frequent ones first, those that were shown last."""
    variants = Variants(context.graph.profile)
    by_iri = {group.predicate: group for group in groups}
    merged = [
        replace(by_iri[first], variants=tuple(others))
        for first, *others in variants.grouped(by_iri)
    ]

    def place(group: Group) -> tuple[bool, int, str]:
        profile = variants.known.get(group.predicate)
        frequency = profile.triples if profile else group.count
        return group.predicate in context.seen, -frequency, group.predicate

    return sorted(merged, key=place)


def chosen(context: Context, groups: Sequence[Group], most: int) -> list[Group]:
    """Return groups with the pairs to show: one each, then one more in turn.

    What is new comes first, and texts in the asker's language before others.
    """

    def order(pair: Pair) -> tuple[int, bool]:
        shown = sum(isinstance(term, NamedNode) and term.value in context.seen for term in pair)
        language = pair[1].language if isinstance(pair[1], Literal) else None
        return shown, bool(language) and language not in (context.language, "en")

    sizes = [len(group.pairs) for group in groups]
    turns = [(turn, at) for at, size in enumerate(sizes) for turn in range(size)]
    taken = Counter(at for _, at in sorted(turns)[:most])
    return [
        replace(group, pairs=tuple(sorted(group.pairs, key=order)[: taken[at]]))
        for at, group in enumerate(groups)
    ]


def _names(writer: Writer, groups: Sequence[Group]) -> str:
    """The predicates by name, as many as there is room for."""
    names: list[str] = []
    room = _ROOM
    for group in groups:
        if room < 0:
            return f"{', '.join(names)}, and {len(groups) - len(names)} more"
        names.append(writer.iri(group.predicate))
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


def _written(writer: Writer, fixed: Fixed, group: Group) -> str:
    """A predicate with its examples: the ends that are not given, and how many there are."""
    name = writer.iri(group.predicate)
    notes = [f"{'≥' if group.cut else ''}{group.count:,}"]
    if group.variants:
        notes.append("also " + ", ".join(map(writer.short, group.variants)))
    shows_all = len(group.pairs) == group.count and not group.variants
    note = "" if shows_all else f" ({'; '.join(notes)})"
    if fixed.subject and fixed.objects:
        return name + note
    if fixed.subject:
        return f"{name} → {', '.join([writer.term(end) for _, end in group.pairs])}{note}"
    if len(fixed.objects) == 1:
        return f"{name} ← {', '.join([writer.term(start) for start, _ in group.pairs])}{note}"
    pairs = [f"{writer.term(start)} → {writer.term(end)}" for start, end in group.pairs]
    return f"{name}{note}: {'; '.join(pairs)}"
