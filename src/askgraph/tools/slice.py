"""The part of a graph's schema that is near to what the words of a question were linked to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.metadata.names import SCHEMA_SPACES
from askgraph.rdf import vocabulary as v
from askgraph.search.linking.link import Link, Linked
from askgraph.tools._facts import Variants, own_types
from askgraph.tools.mentions import named_links

_CLASSES = 30
_NEAR = 45  # predicates told with their ends
_LEAST = 20  # of them, where words lead to fewer
_FAR = 40  # further predicates, by name
_SMALL = 8  # instances of a class up to which all are told
_MEMBERS = 30  # of all small classes together
_USUAL = (v.RDF_TYPE, *v.LABEL_PREDICATES)


@dataclass(frozen=True)
class Ends:
    """Classes at one end of a predicate: `shared` by all that stand there, or of some of them."""

    classes: tuple[str, ...]
    shared: bool


@dataclass(frozen=True, eq=False)
class Slice:
    """Chooses classes and predicates of a graph for a linked question."""

    graph: KnowledgeGraph
    linked: Linked

    @cached_property
    def near(self) -> Sequence[PredicateProfile]:
        """The predicates that words name, and those at what they name; at least the frequent.

        Of several that are one property the most direct: the others are its `variants`.
        """
        close = sum(nearness > 0 for nearness in self._nearness.values())
        return self._ordered[: max(_LEAST, min(close, _NEAR))]

    @property
    def far(self) -> Sequence[PredicateProfile]:
        """The next predicates."""
        return self._ordered[len(self.near) :][:_FAR]

    @cached_property
    def variants(self) -> dict[str, tuple[str, ...]]:
        """By the predicates that are told, the others that are the same property."""
        telling = (p.iri for p in self.graph.profile.predicates if _telling(p.iri))
        return {first: tuple(rest) for first, *rest in self._same.grouped(telling)}

    @cached_property
    def classes(self) -> Sequence[ClassProfile]:
        """The classes that words name, those of the near predicates, then the largest."""
        ends = {iri for p in self.near for iri in _ends(p)}
        known = [c for c in self.graph.profile.classes if not c.iri.startswith(SCHEMA_SPACES)]

        def order(c: ClassProfile) -> tuple[bool, bool, int]:
            return c.iri not in self._classes, c.iri not in ends, -c.instances

        return sorted(known, key=order)[:_CLASSES]

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """All instances of classes that have few, by class: those that near predicates lead to."""
        arrays = self.graph.arrays
        kind = arrays.number(v.RDF_TYPE) if arrays else None
        if arrays is None or kind is None:
            return {}
        leading = {iri for p in self.near for iri in self.ends(p.object_classes, p.objects).classes}
        found: dict[str, tuple[str, ...]] = {}
        room = _MEMBERS
        for c in self.classes:
            at = arrays.terms.iri(c.iri)
            if c.iri not in leading or not 1 < c.instances <= min(_SMALL, room) or at is None:
                continue
            ids = arrays.step(np.array([at], dtype=np.int32), kind, inverse=True).tolist()
            found[c.iri] = tuple(arrays.terms.value(one) for one in ids if arrays.terms.is_iri(one))
            room -= len(ids)
        return found

    def ends(self, counted: Sequence[tuple[str, int]], total: int) -> "Ends":
        """The narrowest classes that all ends of a predicate are of; if none is, all classes."""
        classes = [(iri, n) for iri, n in counted if not iri.startswith(SCHEMA_SPACES)]
        whole = [iri for iri, n in classes if n >= 0.99 * total]
        if not whole:
            return Ends(tuple(iri for iri, _ in classes), shared=False)
        above = {iri for one in whole for iri in self._above(one)}
        narrow = [iri for iri in whole if iri not in above] or whole
        return Ends(tuple(sorted(narrow, key=lambda iri: self._instances.get(iri, 0))), shared=True)

    def parent(self, cls: str) -> str | None:
        """A class right above a class, if the graph tells one of its own."""
        parents = self._parents.get(cls, ())
        return next((iri for iri in parents if not iri.startswith(SCHEMA_SPACES)), None)

    def _above(self, cls: str) -> set[str]:
        """All classes above a class."""
        found: set[str] = set()
        rest = list(self._parents.get(cls, ()))
        while rest:
            parent = rest.pop()
            if parent not in found:
                found.add(parent)
                rest += self._parents.get(parent, ())
        return found - {cls}

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        return {c.iri: c.parents for c in self.graph.profile.classes}

    @cached_property
    def _instances(self) -> dict[str, int]:
        return {c.iri: c.instances for c in self.graph.profile.classes}

    @cached_property
    def _same(self) -> Variants:
        return Variants(self.graph.profile)

    @cached_property
    def _ordered(self) -> list[PredicateProfile]:
        told = [self._same.known[iri] for iri in self.variants]
        return sorted(told, key=lambda p: (-self._nearness[p.iri], -p.triples))

    @cached_property
    def _nearness(self) -> dict[str, float]:
        """How near each predicate or the nearest of its variants is.

        All predicates of a node that only links others are as near as one of them.
        """
        own = {p.iri: self._with_node(p) for p in self.graph.profile.predicates}
        return {
            first: max(own[iri] for iri in (first, *rest)) for first, rest in self.variants.items()
        }

    def _with_node(self, p: PredicateProfile) -> float:
        linking = [iri for iri, _ in p.subject_classes if iri in self._linking]
        return max([self._alone(p), *(0.6 * self._linking[iri] for iri in linking)])

    @cached_property
    def _linking(self) -> dict[str, float]:
        """The classes of nodes that only link others, and how near their nearest predicate is."""
        nary = {c.iri for c in self.graph.profile.classes if c.nary}
        found: dict[str, float] = {}
        for p in self.graph.profile.predicates:
            for iri, _ in p.subject_classes:
                if iri in nary:
                    found[iri] = max(found.get(iri, 0.0), self._alone(p))
        return found

    def _alone(self, p: PredicateProfile) -> float:
        at = 0.8 * (p.iri in self._around) + 0.5 * bool(set(_ends(p)) & self._classes)
        return self._words.get(p.iri, 0.0) * 1.5 + at

    @cached_property
    def _words(self) -> dict[str, float]:
        """How well words name each predicate."""
        return {link.target: link.score for link in reversed(self.linked.of(Kind.PREDICATE))}

    @cached_property
    def _named(self) -> list[Link]:
        return named_links(self.linked)

    @cached_property
    def _classes(self) -> set[str]:
        """The classes that words name, and those of the things that they name."""
        entities = [link.target for link in self._named if link.kind is Kind.ENTITY]
        types = {iri for entity in entities for iri in self._types(entity)}
        return types | {link.target for link in self.linked.of(Kind.CLASS)[:5]}

    def _types(self, iri: str) -> list[str]:
        arrays = self.graph.arrays
        types = own_types(arrays, f"<{iri}>") if arrays is not None else ()
        return [one for one in types if not one.startswith(SCHEMA_SPACES)]

    @cached_property
    def _around(self) -> set[str]:
        """The predicates at what words name, in both directions, if the triples lie here."""
        arrays = self.graph.arrays
        if arrays is None:
            return set()
        texts = [
            f"<{link.target}>" if link.kind is Kind.ENTITY else link.target for link in self._named
        ]
        ids = [at for at in map(arrays.terms.find, texts) if at is not None]
        nodes = np.array(sorted(ids), dtype=np.int32)
        both = (arrays.predicates_of(nodes, inverse=inverse)[0] for inverse in (False, True))
        return {arrays.iri_of(number) for numbers in both for number in numbers.tolist()}


def _ends(p: PredicateProfile) -> Iterator[str]:
    yield from (iri for iri, _ in (*p.subject_classes, *p.object_classes))


def _telling(iri: str) -> bool:
    return iri not in _USUAL and not iri.startswith(SCHEMA_SPACES)
