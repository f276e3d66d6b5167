"""Advice on a graph's representation, from its profile and arrays; no name is given.

The kinds are those of Henselmann et al. (2025): shortcut properties for chains and through n-ary
relations (4.3), inverse properties (4.2), comments (4.4). What each may bring differs: a search
over the graph's edges gains by a shorter way, a language model by what it can see of a term.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Literal

from pyoxigraph import NamedNode

from askgraph.graph.arrays import GraphArrays, names_of, texts_of
from askgraph.graph.definitions import DefinedProperty, Definitions, NodeName
from askgraph.graph.names import (
    called,
    chain_label,
    closure_label,
    inverse_label,
    role_label,
    virtual_iri,
)
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.sparql import Path, Predicate
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import best_label, namespace_of
from askgraph.sparql.vocabulary import SCHEMA_SPACES

AdviceKind = Literal["chain", "closure", "nary", "declared", "inverse", "name", "comment", "label"]

ADVICE_KINDS: Mapping[AdviceKind, str] = {
    "chain": "search and models",
    "closure": "models",
    "nary": "models",
    "declared": "models",
    "inverse": "models",
    "name": "models",
    "comment": "models",
    "label": "search and models",
}
"""What each kind of advice helps, as far as was measured: `docs/representations.md`."""

_SPARE = 2000
_LEADING_ON = 0.5
_MOST_ROLES = 4


@dataclass(frozen=True)
class Advice:
    """One thing to add: what, why (with numbers), and as a definition if it can be made.

    `about` are the IRIs that it is about; `default` marks what is added if nothing is chosen.
    """

    kind: AdviceKind
    about: tuple[str, ...]
    why: str
    definition: DefinedProperty | NodeName | None = None
    default: bool = False


def advice_for(profile: Profile, arrays: GraphArrays | None = None) -> tuple[Advice, ...]:
    """Return the advice, by kind; without arrays only what follows from the profile alone."""
    advisor = _Advisor(profile, arrays)
    return (
        *advisor.chains(),
        *advisor.closures(),
        *advisor.relations(),
        *advisor.inverses(),
        *advisor.names(),
        *advisor.undescribed(),
    )


def defined_by(advice: Sequence[Advice], prefixes: Mapping[str, str]) -> Definitions:
    """Return the definitions that advice comes with; ways to the same property are alternatives."""
    properties: dict[str, DefinedProperty] = {}
    names = []
    for one in advice:
        match one.definition:
            case DefinedProperty() as found:
                known = properties.get(found.iri)
                if known is not None:
                    found = replace(found, path=Path("|", (known.path, found.path)))
                properties[found.iri] = replace(found, why=one.why)
            case NodeName() as name:
                names.append(replace(name, why=one.why))
    iris = [*properties, *(name.cls for name in names)]
    spaces = {namespace_of(iri) for iri in iris}
    return Definitions(
        tuple(properties.values()),
        names=tuple(names),
        prefixes={**prefixes, **({"virtual": virtual_iri("")} if spaces else {})},
    )


@dataclass(frozen=True)
class _Advisor:
    profile: Profile
    arrays: GraphArrays | None

    def chains(self) -> Iterator[Advice]:
        """A predicate whose objects lie in a hierarchy: what lies above them, in one step.

        Only a functional one gives each thing its one place; by the others the shortcut would say
        less than the path does.
        """
        for above in self._transitive:
            for first in self._links:
                if first.transitive or above.iri in first.inverse_of:
                    continue
                share, depth = self._leads_on(first, above)
                if share < _LEADING_ON or depth < 2:
                    continue
                path = Path("/", (NamedNode(first.iri), Path("+", (NamedNode(above.iri),))))
                number = f"{first.triples:,} triples, {share:.0%} of the objects, {depth} deep"
                yield Advice(
                    "chain",
                    (first.iri, above.iri),
                    f"{called(first)!r} leads into the hierarchy of {called(above)!r} ({number})"
                    + ("" if first.functional else "; things have several, so the path tells more"),
                    self._property(chain_label(first, above), path, unnamed=True),
                    default=first.functional,
                )

    def _leads_on(self, first: PredicateProfile, above: PredicateProfile) -> tuple[float, int]:
        """Return the share of a predicate's objects in a hierarchy, and the depth (at most 3)."""
        graph = self.arrays
        if graph is None:
            shared = dict(first.object_classes).keys() & dict(above.subject_classes).keys()
            return (1.0, 2) if shared else (0.0, 0)
        one, other = graph.number(first.iri), graph.number(above.iri)
        if one is None or other is None:
            return 0.0, 0
        objects = graph.ends(one, inverse=True)
        nodes = sample = objects[:: max(1, len(objects) // _SPARE)]
        depth = 0
        while depth < 3 and len(nodes := graph.step(nodes, other)):
            depth += 1
        return len(graph.bearers(sample, other)) / len(sample), depth

    def closures(self) -> Iterator[Advice]:
        """A hierarchy: all that lies above, in one step."""
        for above in self._transitive:
            path = Path("+", (NamedNode(above.iri),))
            yield Advice(
                "closure",
                (above.iri,),
                f"{called(above)!r} is a hierarchy of {above.triples:,} triples; who does not see "
                "that asks for one step only",
                self._property(closure_label(above), path),
            )

    def relations(self) -> Iterator[Advice]:
        """From one end of an n-ary relation to another."""
        for cls in self._nary:
            roles = self._roles(cls)
            if not 2 <= len(roles) <= _MOST_ROLES:
                continue
            for one, other in permutations(roles, 2):
                path = Path("/", (Path("^", (NamedNode(one.iri),)), NamedNode(other.iri)))
                yield Advice(
                    "nary",
                    (cls.iri, one.iri, other.iri),
                    f"{cls.instances:,} nameless {called(cls)!r} link {called(one)!r} and "
                    f"{called(other)!r}",
                    self._property(role_label(other), path),
                )

    def inverses(self) -> Iterator[Advice]:
        """A link that can only be seen from one end; its inverse may have a name already."""
        used = {p.iri for p in self.profile.predicates}
        for one in self._links:
            if used & set(one.inverse_of) or one.datatypes:
                continue
            path = Path("^", (NamedNode(one.iri),))
            if one.inverse_of:
                yield Advice(
                    "declared",
                    (one.iri, one.inverse_of[0]),
                    f"the ontology has an inverse of {called(one)!r} that no triple uses",
                    DefinedProperty(one.inverse_of[0], path, self._label_of(one.inverse_of[0])),
                )
                continue
            yield Advice(
                "inverse",
                (one.iri,),
                f"{one.triples:,} triples of {called(one)!r} do not show at their objects",
                self._property(inverse_label(one), path),
            )

    def names(self) -> Iterator[Advice]:
        """Yield instances of n-ary classes, called by what they link."""
        for cls in self._nary:
            roles = self._roles(cls)[:_MOST_ROLES]
            if roles:
                yield Advice(
                    "name",
                    (cls.iri,),
                    f"{cls.instances:,} {called(cls)!r} have no name",
                    NodeName(cls.iri, tuple(role.iri for role in roles)),
                )

    def undescribed(self) -> Iterator[Advice]:
        """Terms that have no label, or no comment."""
        terms: list[ClassProfile | PredicateProfile] = [*self.profile.classes, *self._own]
        terms = [one for one in terms if not one.iri.startswith(SCHEMA_SPACES)]
        bare = tuple(one.iri for one in terms if not one.names)
        if bare:
            yield Advice("label", bare, f"{len(bare)} of {len(terms)} terms have no label")
        graph = self.arrays
        mute = tuple(
            one.iri for one in terms if graph and not texts_of(graph, one.iri, [v.RDFS_COMMENT])
        )
        if mute:
            yield Advice("comment", mute, f"{len(mute)} of {len(terms)} terms have no comment")

    @cached_property
    def _own(self) -> tuple[PredicateProfile, ...]:
        return tuple(p for p in self.profile.predicates if not p.iri.startswith(SCHEMA_SPACES))

    @cached_property
    def _links(self) -> tuple[PredicateProfile, ...]:
        """The graph's own predicates between things."""
        hidden = {*v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES, *v.DESCRIPTION_PREDICATES}
        return tuple(p for p in self._own if p.object_classes and p.iri not in hidden)

    @cached_property
    def _transitive(self) -> tuple[PredicateProfile, ...]:
        """Hierarchies, upwards; of two that say the same the one with fewer ends above."""
        found = [p for p in self._links if p.transitive]
        return tuple(
            p
            for p in found
            if not any(q.iri in p.inverse_of and q.objects < p.objects for q in found)
        )

    @cached_property
    def _nary(self) -> tuple[ClassProfile, ...]:
        return tuple(
            c for c in self.profile.classes if c.nary and not c.iri.startswith(SCHEMA_SPACES)
        )

    def _roles(self, cls: ClassProfile) -> list[PredicateProfile]:
        """Return the functional links that most instances of a class have."""
        known = {p.iri: p for p in self._links}
        found = []
        for part in self.profile.partitions:
            predicate = known.get(part.predicate)
            if part.cls != cls.iri or predicate is None or not part.targets:
                continue
            if part.triples >= 0.5 * cls.instances and predicate.functional:
                found.append(predicate)
        return found

    def _property(self, label: str, path: Predicate, *, unnamed: bool = False) -> DefinedProperty:
        return DefinedProperty(virtual_iri(label), path, label, unnamed=unnamed)

    def _label_of(self, iri: str) -> str:
        """Return the label that the graph has for a term, or none."""
        names = () if self.arrays is None else names_of(self.arrays, iri)
        return best_label(names, ["en"]) or ""
