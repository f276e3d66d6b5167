"""Predicates that are one property, told under the one that leads straight to the values.

What belongs together is for `askgraph.metadata.names` to say; here it is put in order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from askgraph.metadata import PredicateProfile, Profile
from askgraph.metadata.names import code_of, same_property, variants_in

__all__ = ["Variants"]


@dataclass(frozen=True)
class Variants:
    """The properties of a graph that it writes as several predicates, by its profile."""

    profile: Profile

    @cached_property
    def known(self) -> Mapping[str, PredicateProfile]:
        """What the profile tells of each predicate."""
        return {p.iri: p for p in self.profile.predicates}

    def grouped(self, iris: Iterable[str]) -> list[tuple[str, ...]]:
        """Return predicates in groups, each of one property, in the order of their firsts.

        Within a group the most direct one comes first.
        """
        return [self._in_order(group) for group in same_property(iris)]

    def of(self, iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return all variants of some predicates, by what they share, the most direct one first."""
        codes = {key for iri in iris if (key := code_of(iri)) is not None}
        endings = tuple(code for _, code in codes)
        alike = variants_in(iri for iri in self.known if iri.endswith(endings))
        return {key: self._in_order(group) for key, group in alike.items() if key in codes}

    def _in_order(self, iris: Sequence[str]) -> tuple[str, ...]:
        return tuple(iris) if len(iris) == 1 else tuple(sorted(iris, key=self._rank))

    def _rank(self, iri: str) -> tuple[int, float, bool, int, int, str]:
        """The order of variants.

        Where statements are nodes, those have no label, and a predicate leads to each of them
        once; its direct variant leads to the values, which many share.
        """
        p = self.known.get(iri)
        if p is None:
            return 0, 1.0, True, 0, len(iri), iri
        plain = self._plain(p.subject_classes) + (p.literal or self._plain(p.object_classes))
        own = p.objects / max(1, p.triples)
        return -plain, own, not p.literal, -p.triples, len(iri), iri

    def _plain(self, ends: Sequence[tuple[str, int]]) -> bool:
        return any(iri not in self._nameless for iri, _ in ends)

    @cached_property
    def _nameless(self) -> frozenset[str]:
        """The classes whose instances have no label, as nodes for statements have none."""
        classes = self.profile.classes
        return frozenset(c.iri for c in classes if c.nary or c.name_predicate is None)
