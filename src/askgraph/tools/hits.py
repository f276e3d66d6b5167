"""Search hits for a model: one line each, with the IRI, its classes, and what tells it apart."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.explanation.labels import descriptions_of
from askgraph.metadata.names import SCHEMA_SPACES, code_of
from askgraph.metadata.shapes import ends_of, narrowest
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Term
from askgraph.tools import Context
from askgraph.tools._facts import Meeting, facts_of
from askgraph.tools._hit_page import USUAL, Found, Page, key_of
from askgraph.tools._variants import Variants
from askgraph.tools.shown import Writer, labels_in
from askgraph.traversal.literals import split_literal

__all__ = ["Found", "HitLines", "entity_lines", "property_lines", "term_of"]

_HINTS = 4


@dataclass(frozen=True)
class HitLines:
    """Lines for a model, and the IRIs in them."""

    lines: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()


def term_of(text: str) -> Term:
    """Return the term of a resource's `iri`: an IRI, or a literal as N-Triples text."""
    if not text.startswith('"'):
        return NamedNode(text)
    value, datatype, language = split_literal(text)
    if language:
        return Literal(value, language=language)
    return Literal(value, datatype=NamedNode(datatype))


async def entity_lines(
    context: Context, found: Sequence[Found], *, near: Sequence[str] = ()
) -> HitLines:
    """Show things, classes and literal values, each with its classes or with what has it.

    Of the predicates at a thing those that are `near` to a question come first, in that order.
    """
    facts, holders = await asyncio.gather(
        facts_of(context, [one.term for one in found]), _holders(context, found)
    )
    same = Variants(context.graph.profile)
    hints = {
        str(one.term): _hints(facts.meetings.get(str(one.term), ()), same, near) for one in found
    }
    classes = {
        str(one.term): narrowest(facts.types.get(str(one.term), ()), context.graph.profile)
        for one in found
    }
    met = [meeting.predicate for listed in hints.values() for meeting in listed]
    types = [iri for listed in classes.values() for iri in listed]
    writer = await _writer(context, found, [*types, *met, *holders.values()])
    every = {node: frozenset(listed) for node, listed in facts.types.items()}
    page = Page(context, writer, classes, _told_once(found, classes, hints), holders, every)
    lines = [page.line(one) for one in found]
    if facts.trouble:
        lines.append(f"({facts.trouble})")
    return HitLines(tuple(lines), tuple(writer.seen))


async def property_lines(context: Context, found: Sequence[Found]) -> HitLines:
    """Show properties, each with what it leads from and to, its use and its description.

    What is one property in several namespaces takes one line: see `askgraph.metadata.names`.
    """
    merged = _merged(context, found)
    iris = [one.term.value for one, _ in merged if isinstance(one.term, NamedNode)]
    profiles = {p.iri: p for p in context.graph.profile.predicates}
    ends = [
        iri
        for p in (profiles[one] for one in iris if one in profiles)
        for way in (True, False)
        for iri in ends_of(p, context.graph.profile, inverse=way)
    ]
    described, writer = await asyncio.gather(
        descriptions_of(
            iris, context.graph, [context.language, "en"], timeout=context.limits.timeout
        ),
        _writer(context, [one for one, _ in merged], ends),
    )
    page = Page(context, writer)
    lines = [
        page.property_line(one, variants, profiles, described.get(key_of(one.term), ""))
        for one, variants in merged
    ]
    return HitLines(tuple(lines), tuple(writer.seen))


async def _holders(context: Context, found: Sequence[Found]) -> dict[str, str]:
    """One subject of each literal, by N-Triples text."""
    literals = [str(one.term) for one in found if isinstance(one.term, Literal)]
    if not literals:
        return {}
    arrays = context.graph.arrays
    if arrays is None:
        return await _asked_holders(context, literals)
    holders = {}
    for text in literals:
        at = arrays.terms.find(text)
        here = np.array([] if at is None else [at], dtype=np.int32)
        for number in arrays.predicates_of(here, inverse=True)[0].tolist()[:1]:
            subject = int(arrays.step(here, number, inverse=True)[0])
            if arrays.terms.is_iri(subject):
                holders[text] = arrays.terms.value(subject)
    return holders


async def _asked_holders(context: Context, literals: Sequence[str]) -> dict[str, str]:
    parts = [
        f"{{ SELECT ({at} AS ?n) ?s {{ ?s ?p {text} }} LIMIT 1 }}"
        for at, text in enumerate(literals)
    ]
    query = f"SELECT ?n ?s WHERE {{ {' UNION '.join(parts)} }} LIMIT {len(parts)}"
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return {
        literals[int(at.value)]: subject.value
        for at, subject in result.rows
        if isinstance(at, Literal) and isinstance(subject, NamedNode)
    }


def _hints(meetings: Sequence[Meeting], same: Variants, near: Sequence[str] = ()) -> list[Meeting]:
    """The predicates that tell most of what may be asked of a node: near ones, then frequent."""
    places = {iri: at for at, iri in enumerate(near)}
    direct = {first for first, *_ in same.grouped(one.predicate for one in meetings)}

    def order(one: Meeting) -> tuple[int, int, int]:
        profile = same.known.get(one.predicate)
        place = places.get(one.predicate, len(places))
        return place, -one.count, -profile.triples if profile else 0

    telling = [
        one
        for one in meetings
        if one.predicate in direct
        and one.predicate not in USUAL
        and one.predicate not in v.DESCRIPTION_PREDICATES
        and not (one.inverse and one.predicate.startswith(SCHEMA_SPACES))
    ]
    return sorted(telling, key=order)[:_HINTS]


def _told_once(
    found: Sequence[Found],
    classes: Mapping[str, tuple[str, ...]],
    hints: Mapping[str, Sequence[Meeting]],
) -> dict[str, Sequence[Meeting]]:
    """The hints of each hit, without those that a hit of the same class before it has."""
    told: set[tuple[tuple[str, ...], str, bool]] = set()
    kept: dict[str, Sequence[Meeting]] = {}
    for node in (str(one.term) for one in found):
        kind = classes.get(node, ())
        marks = [(kind, one.predicate, one.inverse) for one in hints[node]]
        new = [mark not in told or not kind or node[0] == '"' for mark in marks]
        kept[node] = [one for one, is_new in zip(hints[node], new, strict=True) if is_new]
        told |= set(marks)
    return kept


async def _writer(context: Context, found: Sequence[Found], more: Iterable[str]) -> Writer:
    """A writer that knows all labels; of a remote graph an index knows those of its hits."""
    own = [key_of(one.term) for one in found if isinstance(one.term, NamedNode)]
    known = {
        one.resource.iri: one.resource.label
        for one in found
        if one.resource is not None and context.graph.arrays is None and not one.nameless
    }
    wanted = [iri for iri in dict.fromkeys([*own, *more]) if iri not in known]
    labels = await labels_in(context, wanted)
    return Writer(context, {**known, **labels})


def _merged(context: Context, found: Sequence[Found]) -> list[tuple[Found, tuple[str, ...]]]:
    """Hits that are one property as one, under its most used predicate, the others behind it."""
    used = Variants(context.graph.profile).of(key_of(one.term) for one in found)
    together: dict[object, list[Found]] = defaultdict(list)
    for one in found:
        together[code_of(key_of(one.term)) or key_of(one.term)].append(one)
    merged = []
    for key, several in together.items():
        best = next((one for one in several if one.resource is not None), several[0])
        looked_for = [key_of(one.term) for one in several]
        known = used.get(key, ()) if isinstance(key, tuple) else ()
        noted = [key_of(one.term) for one in several if one.note]
        order = tuple(dict.fromkeys([*noted, *known, *([] if known else looked_for)]))
        notes = dict.fromkeys(one.note for one in several if one.note)
        first = replace(best, term=NamedNode(order[0]), note=", ".join(notes))
        merged.append((first, order[1:]))
    return merged
