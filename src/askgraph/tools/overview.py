"""`overview`: what a graph knows that may matter to a question, before anything is asked of it."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from askgraph.candidates.propose import read_and_linked
from askgraph.index.names import Kind
from askgraph.linking.link import Link, Linked
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.metadata.names import SCHEMA_SPACES
from askgraph.rdf import vocabulary as v
from askgraph.tools import Context
from askgraph.tools._hits import entity_lines
from askgraph.tools._mentions import mentioned, named_links
from askgraph.tools._usual_values import usual_values
from askgraph.tools.shown import Writer
from askgraph.trace import Observation

__all__ = ["overview"]

_CLASSES = 30
_PREDICATES = 45
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
    named = await entity_lines(context, await mentioned(context, linked))
    slice_ = _Slice(context, linked)
    predicates = slice_.predicates()
    classes = slice_.classes(predicates)
    iris = [*(c.iri for c in classes), *(p.iri for p in predicates)]
    writer = await Writer.knowing(context, iris)
    parts = [
        _graph_line(context),
        *(["perhaps named in the question:"] if named.lines else []),
        *named.lines,
        *slice_.class_lines(classes, writer),
        *slice_.predicate_lines(predicates, writer),
    ]
    return Observation("\n".join(parts), tuple(dict.fromkeys([*named.seen, *writer.seen])))


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

    @cached_property
    def _named(self) -> list[Link]:
        return named_links(self.linked)

    def _classes_near(self) -> set[str]:
        entities = [link.target for link in self._named if link.kind is Kind.ENTITY]
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
            f"<{link.target}>" if link.kind is Kind.ENTITY else link.target for link in self._named
        ]
        ids = [at for at in map(arrays.terms.find, texts) if at is not None]
        nodes = np.array(sorted(ids), dtype=np.int32)
        both = (arrays.predicates_of(nodes, inverse=inverse)[0] for inverse in (False, True))
        return {arrays.iri_of(number) for numbers in both for number in numbers.tolist()}

    def class_lines(self, classes: Sequence[ClassProfile], writer: Writer) -> Iterator[str]:
        """The classes with their instances."""
        if not classes:
            return
        everything = len(self.context.graph.profile.classes)
        listed = [
            f"{writer.iri(c.iri)} {c.instances:,}{' (without label)' if _nameless(c) else ''}"
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
            *(["in steps: use +"] if p.transitive else []),
            *(f"inverse {writer.short(iri)}" for iri in p.inverse_of[:1]),
        ]
        note = f" ({', '.join(notes)})" if notes else ""
        if p.object_classes:
            return f"→ {self._ends(p.object_classes, p.objects, writer)}{note}"
        kinds = "|".join(self.context.graph.prefixes.shorten(d) for d, _ in p.datatypes[:2])
        values = usual_values(self.context.graph.arrays, p)
        joint = ": " if len(values) == p.objects else " e.g. "
        told = f"{joint}{', '.join(map(writer.stored, values))}" if values else ""
        return f"→ {kinds or 'things'}{told}{note}"

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


def _nameless(cls: ClassProfile) -> bool:
    return cls.nary or (cls.name_predicate is None and cls.instances > 1)


def _telling(iri: str) -> bool:
    return iri not in _USUAL and not iri.startswith(SCHEMA_SPACES)
