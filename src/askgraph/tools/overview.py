"""`overview`: what a graph knows that may matter to a question, before anything is asked of it."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.candidates.propose import read_and_linked
from askgraph.index.names import Kind
from askgraph.linking.link import Link, Linked
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.metadata.names import SCHEMA_SPACES
from askgraph.rdf import vocabulary as v
from askgraph.tools import Context
from askgraph.tools._shown import Writer
from askgraph.trace import Observation
from askgraph.traversal.arrays import GraphArrays

__all__ = ["overview"]

_CLASSES = 30
_PREDICATES = 45
_NAMED = 3  # readings shown of the same words
_MENTIONS = 8
_ENDS = 3  # classes shown at each end of a predicate
_USUAL = (v.RDF_TYPE, *v.LABEL_PREDICATES)


async def overview(
    context: Context, question: Annotated[str, "what the overview is for"]
) -> Observation:
    """Get what a question names in the graph, and the classes and properties near that.

    Of a large schema the part that the question calls for, of a small one all.
    """
    reading = question, context.question.language, context.graph.names
    linked = await asyncio.to_thread(read_and_linked, *reading)
    slice_ = _Slice(context, linked)
    named = slice_.named()
    predicates = slice_.predicates()
    classes = slice_.classes(predicates)
    shown = [link.target for link in named if link.kind is not Kind.VALUE]
    iris = [*shown, *(c.iri for c in classes), *(p.iri for p in predicates)]
    writer = await Writer.knowing(context, iris)
    parts = [
        _graph_line(context),
        *slice_.named_lines(named, writer),
        *slice_.class_lines(classes, writer),
        *slice_.predicate_lines(predicates, writer),
    ]
    return Observation("\n".join(parts), tuple(writer.seen))


def _graph_line(context: Context) -> str:
    profile = context.graph.profile
    languages = ", ".join(name for name, _ in profile.languages[:5])
    naming = [context.graph.prefixes.shorten(p.iri) for p in profile.predicates if p.naming][:4]
    named = f"; names by {', '.join(naming)}" if naming else ""
    tongues = f" in {languages}" if languages else ""
    cuts = f"; not everything is known: {'; '.join(profile.cuts[:2])}" if profile.cuts else ""
    return f"graph {context.graph.name}: {profile.triples:,} triples{named}{tongues}{cuts}"


@dataclass
class _Slice:
    """The part of a profile that is near to what the words of a question were linked to."""

    context: Context
    linked: Linked

    def named(self) -> list[Link]:
        """The best few links of each stretch of words, entities and values."""
        kept: dict[tuple[int, ...], list[Link]] = {}
        for link in self.linked.of(Kind.ENTITY, Kind.VALUE):
            kept.setdefault(link.positions, []).append(link)
        whole = [sorted(links, key=_by_score)[:_NAMED] for links in kept.values()]
        listed = sorted((link for links in whole for link in links), key=_by_score)
        return list({link.target: link for link in reversed(listed)}.values())[::-1][:_MENTIONS]

    def predicates(self) -> list[PredicateProfile]:
        """The predicates that words name, those at what they name, then the most frequent."""
        profile = self.context.graph.profile
        known = [p for p in profile.predicates if _telling(p.iri)]
        named = {link.target: link.score for link in reversed(self.linked.of(Kind.PREDICATE))}
        near = self._classes_near()
        around = self._at_entities()

        def nearness(p: PredicateProfile) -> float:
            ends = {iri for iri, _ in (*p.subject_classes, *p.object_classes)}
            at = 0.8 * (p.iri in around) + 0.5 * bool(ends & near)
            return named.get(p.iri, 0.0) * 1.5 + at

        order = sorted(known, key=lambda p: (-nearness(p), -p.triples))
        return order[:_PREDICATES]

    def classes(self, predicates: Iterable[PredicateProfile]) -> list[ClassProfile]:
        """The classes that words name, those of the predicates, then the largest."""
        profile = self.context.graph.profile
        near = self._classes_near()
        ends = {iri for p in predicates for iri, _ in (*p.subject_classes, *p.object_classes)}
        known = [c for c in profile.classes if not c.iri.startswith(SCHEMA_SPACES)]
        order = sorted(known, key=lambda c: (c.iri not in near, c.iri not in ends, -c.instances))
        return order[:_CLASSES]

    def _classes_near(self) -> set[str]:
        entities = [link.target for link in self.named() if link.kind is Kind.ENTITY]
        types = {iri for entity in entities for iri in self._types(entity)}
        return types | {link.target for link in self.linked.of(Kind.CLASS)[:5]}

    def _types(self, iri: str) -> list[str]:
        arrays = self.context.graph.arrays
        kind = arrays.number(v.RDF_TYPE) if arrays else None
        at = arrays.terms.iri(iri) if arrays else None
        if arrays is None or kind is None or at is None:
            return []
        ids = arrays.step(np.array([at], dtype=np.int32), kind).tolist()
        types = [arrays.terms.value(one) for one in ids if arrays.terms.is_iri(one)]
        return [one for one in types if not one.startswith(SCHEMA_SPACES)]

    def _at_entities(self) -> set[str]:
        """The predicates at what words name, in both directions, where the triples lie here."""
        arrays = self.context.graph.arrays
        if arrays is None:
            return set()
        texts = [
            f"<{link.target}>" if link.kind is Kind.ENTITY else link.target for link in self.named()
        ]
        ids = [at for at in map(arrays.terms.find, texts) if at is not None]
        nodes = np.array(sorted(ids), dtype=np.int32)
        both = (arrays.predicates_of(nodes, inverse=inverse)[0] for inverse in (False, True))
        return {arrays.iri_of(number) for numbers in both for number in numbers.tolist()}

    def named_lines(self, named: Sequence[Link], writer: Writer) -> Iterator[str]:
        """What words of the question may mean, one reading a line."""
        if not named:
            return
        yield "named in the question, perhaps:"
        for link in named:
            words = " ".join(self.linked.reading.tokens[at].text for at in link.positions)
            if link.kind is Kind.VALUE:
                yield f"- {words}: the value {_value(link.target)}"
                continue
            types = ", ".join(writer.short(iri) for iri in self._types(link.target)[:2])
            yield f"- {words}: {writer.iri(link.target)}{f' a {types}' if types else ''}"

    def class_lines(self, classes: Sequence[ClassProfile], writer: Writer) -> Iterator[str]:
        """The classes with their instances."""
        if not classes:
            return
        everything = len(self.context.graph.profile.classes)
        listed = [
            f"{writer.iri(c.iri)} {c.instances:,}{' (nameless)' if _nameless(c) else ''}"
            for c in classes
        ]
        rest = " …" if everything > len(classes) else ""
        yield f"classes: {', '.join(listed)}{rest}"

    def predicate_lines(
        self, predicates: Sequence[PredicateProfile], writer: Writer
    ) -> Iterator[str]:
        """The predicates by what they lead from; of two that are inverse only one."""
        by_source: dict[str, list[str]] = {}
        told: set[str] = set()
        for p in predicates:
            if p.iri in told:
                continue
            told |= {p.iri, *p.inverse_of}
            source = self._ends(p.subject_classes, p.subjects, writer)
            told_of = f"{writer.iri(p.iri)} {self._target(p, writer)}"
            by_source.setdefault(source, []).append(told_of)
        if by_source:
            yield "properties by class of subject, → class or type of object:"
        for source, listed in by_source.items():
            yield f"{source}: {'; '.join(listed)}"

    def _target(self, p: PredicateProfile, writer: Writer) -> str:
        notes = [
            *(["transitive"] if p.transitive else []),
            *(f"inverse {writer.short(iri)}" for iri in p.inverse_of[:1]),
        ]
        note = f" ({', '.join(notes)})" if notes else ""
        if p.object_classes:
            return f"→ {self._ends(p.object_classes, p.objects, writer)}{note}"
        kinds = "|".join(self.context.graph.prefixes.shorten(d) for d, _ in p.datatypes[:2])
        example = _example(self.context.graph.arrays, p)
        return f"→ {kinds or 'things'}{f' e.g. {writer.text(example)}' if example else ''}{note}"

    def _ends(self, counted: Sequence[tuple[str, int]], total: int, writer: Writer) -> str:
        """The class that all are of, the narrowest of several; else the most frequent ones."""
        classes = [(iri, n) for iri, n in counted if not iri.startswith(SCHEMA_SPACES)]
        whole = [iri for iri, n in classes if n >= 0.99 * total]
        if whole:
            return writer.short(min(whole, key=lambda iri: self._instances.get(iri, 0)))
        shown = "|".join(writer.short(iri) for iri, _ in classes[:_ENDS])
        return f"{shown or 'things'}{'|…' if len(classes) > _ENDS else ''}"

    @cached_property
    def _instances(self) -> dict[str, int]:
        return {c.iri: c.instances for c in self.context.graph.profile.classes}


_EXAMPLES: WeakKeyDictionary[GraphArrays, dict[str, str]] = WeakKeyDictionary()


def _example(arrays: GraphArrays | None, p: PredicateProfile) -> str:
    """One of its values, where they are literals and the triples lie here; kept for next time."""
    if arrays is None or not p.literal:
        return ""
    known = _EXAMPLES.setdefault(arrays, {})
    if p.iri not in known:
        number = arrays.number(p.iri)
        ends = () if number is None else arrays.ends(number, inverse=True)
        known[p.iri] = arrays.terms.value(int(ends[len(ends) // 2])) if len(ends) else ""
    return known[p.iri]


def _nameless(cls: ClassProfile) -> bool:
    return cls.nary or (cls.name_predicate is None and cls.instances > 1)


def _telling(iri: str) -> bool:
    return iri not in _USUAL and not iri.startswith(SCHEMA_SPACES)


def _value(literal: str) -> str:
    return literal if len(literal) <= 80 else f"{literal[:80]}…"


def _by_score(link: Link) -> tuple[float, int]:
    return -link.score, -len(link.positions)
