"""Suggest additions to a graph's representation, from its profile and arrays.

The kinds follow Henselmann et al. (2025): shortcut properties for chains and through n-ary
relations (4.3), inverse properties (4.2), comments (4.4). Search over the graph's edges gains by
shorter paths, a language model by the labels and comments of a term.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Literal

from pyoxigraph import NamedNode

from askgraph.graph.arrays import GraphArrays, get_names, get_texts
from askgraph.graph.definitions import DefinedProperty, Definitions, NodeName
from askgraph.graph.names import (
    build_chain_label,
    build_closure_label,
    build_inverse_label,
    build_role_label,
    build_virtual_iri,
    get_label,
)
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.sparql import Path, Predicate
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, get_namespace
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

AdviceKind = Literal["chain", "closure", "nary", "declared", "inverse", "name", "comment", "label"]

ADVICE_KINDS: Mapping[AdviceKind, str] = {
    "chain": "search and models", "closure": "models", "nary": "models", "declared": "models",
    "inverse": "models", "name": "models", "comment": "models", "label": "search and models",
}  # fmt: skip
"""Who gains by each kind of advice, as measured: `docs/representations.md`."""

_SAMPLE_SIZE = 2000
_MIN_CHAIN_SHARE = 0.5
_MAX_ROLES = 4


@dataclass(frozen=True)
class Advice:
    """One suggested addition."""

    kind: AdviceKind
    about: tuple[str, ...]  # IRIs of the terms concerned
    why: str  # reason, with numbers
    definition: DefinedProperty | NodeName | None = None  # if it can be generated
    default: bool = False  # whether it is added without an explicit choice


def collect_advice(profile: Profile, arrays: GraphArrays | None = None) -> tuple[Advice, ...]:
    """Return all advice, by kind; without arrays, only advice that the profile alone supports."""
    advisor = _Advisor(profile, arrays)
    return (
        *advisor.suggest_chains(),
        *advisor.suggest_closures(),
        *advisor.suggest_relations(),
        *advisor.suggest_inverses(),
        *advisor.suggest_names(),
        *advisor.report_missing_texts(),
    )


def build_definitions(advice: Sequence[Advice], prefixes: Mapping[str, str]) -> Definitions:
    """Build the definitions of some advice; several paths to one property become alternatives."""
    properties: dict[str, DefinedProperty] = {}
    names = []
    for item in advice:
        match item.definition:
            case DefinedProperty() as definition:
                previous = properties.get(definition.iri)
                if previous is not None:
                    definition = replace(
                        definition, path=Path("|", (previous.path, definition.path))
                    )
                properties[definition.iri] = replace(definition, why=item.why)
            case NodeName() as name:
                names.append(replace(name, why=item.why))
    spaces = {get_namespace(iri) for iri in [*properties, *(name.cls for name in names)]}
    return Definitions(
        tuple(properties.values()),
        names=tuple(names),
        prefixes={**prefixes, **({"virtual": build_virtual_iri("")} if spaces else {})},
    )


@dataclass(frozen=True)
class _Advisor:
    profile: Profile
    arrays: GraphArrays | None

    def suggest_chains(self) -> Iterator[Advice]:
        """Suggest shortcuts from a predicate into a hierarchy of its objects, in one step.

        Only functional predicates are default: with others the shortcut means less than the path.
        """
        for above in self._hierarchies:
            for first in self._link_predicates:
                if first.transitive or above.iri in first.inverse_of:
                    continue
                share, depth = self._measure_chain(first, above)
                if share < _MIN_CHAIN_SHARE or depth < 2:
                    continue
                path = Path("/", (NamedNode(first.iri), Path("+", (NamedNode(above.iri),))))
                number = f"{first.triples:,} triples, {share:.0%} of the objects, {depth} deep"
                yield Advice(
                    "chain",
                    (first.iri, above.iri),
                    f"{get_label(first)!r} leads into the hierarchy of {get_label(above)!r} "
                    f"({number})"
                    + ("" if first.functional else "; things have several, so the path tells more"),
                    self._define_property(build_chain_label(first, above), path, unnamed=True),
                    default=first.functional,
                )

    def _measure_chain(self, first: PredicateProfile, above: PredicateProfile) -> tuple[float, int]:
        """Return the share of a predicate's objects in a hierarchy, and its depth (at most 3)."""
        graph = self.arrays
        if graph is None:
            shared_classes = dict(first.object_classes).keys() & dict(above.subject_classes).keys()
            return (1.0, 2) if shared_classes else (0.0, 0)
        first_number = graph.get_predicate_number(first.iri)
        above_number = graph.get_predicate_number(above.iri)
        if first_number is None or above_number is None:
            return 0.0, 0
        objects = graph.get_ends(first_number, inverse=True)
        nodes = sample = objects[:: max(1, len(objects) // _SAMPLE_SIZE)]
        depth = 0
        while depth < 3 and len(nodes := graph.step(nodes, above_number)):
            depth += 1
        return len(graph.select_sources(sample, above_number)) / len(sample), depth

    def suggest_closures(self) -> Iterator[Advice]:
        """Suggest a predicate for any number of steps of a hierarchy."""
        for above in self._hierarchies:
            path = Path("+", (NamedNode(above.iri),))
            yield Advice(
                "closure",
                (above.iri,),
                f"{get_label(above)!r} is a hierarchy of {above.triples:,} triples; who does "
                "not see "
                "that asks for one step only",
                self._define_property(build_closure_label(above), path),
            )

    def suggest_relations(self) -> Iterator[Advice]:
        """Suggest predicates between the ends of an n-ary relation."""
        for cls in self._nary_classes:
            roles = self._find_roles(cls)
            if not 2 <= len(roles) <= _MAX_ROLES:
                continue
            for source_role, target_role in permutations(roles, 2):
                path = Path(
                    "/", (Path("^", (NamedNode(source_role.iri),)), NamedNode(target_role.iri))
                )
                yield Advice(
                    "nary",
                    (cls.iri, source_role.iri, target_role.iri),
                    f"{cls.instances:,} nameless {get_label(cls)!r} link "
                    f"{get_label(source_role)!r} and "
                    f"{get_label(target_role)!r}",
                    self._define_property(build_role_label(target_role), path),
                )

    def suggest_inverses(self) -> Iterator[Advice]:
        """Suggest inverses of links, using an inverse's declared name where there is one."""
        used_iris = {p.iri for p in self.profile.predicates}
        for link in self._link_predicates:
            if used_iris & set(link.inverse_of) or link.datatypes:
                continue
            path = Path("^", (NamedNode(link.iri),))
            if link.inverse_of:
                yield Advice(
                    "declared",
                    (link.iri, link.inverse_of[0]),
                    f"the ontology has an inverse of {get_label(link)!r} that no triple uses",
                    DefinedProperty(link.inverse_of[0], path, self._get_label(link.inverse_of[0])),
                )
                continue
            yield Advice(
                "inverse",
                (link.iri,),
                f"{link.triples:,} triples of {get_label(link)!r} do not show at their objects",
                self._define_property(build_inverse_label(link), path),
            )

    def suggest_names(self) -> Iterator[Advice]:
        """Suggest names for instances of n-ary classes, made of the resources they link."""
        for cls in self._nary_classes:
            roles = self._find_roles(cls)[:_MAX_ROLES]
            if roles:
                yield Advice(
                    "name",
                    (cls.iri,),
                    f"{cls.instances:,} {get_label(cls)!r} have no name",
                    NodeName(cls.iri, tuple(role.iri for role in roles)),
                )

    def report_missing_texts(self) -> Iterator[Advice]:
        """Report terms without a label or comment."""
        terms: list[ClassProfile | PredicateProfile] = [
            *self.profile.classes,
            *self._own_predicates,
        ]
        terms = [term for term in terms if not term.iri.startswith(SCHEMA_NAMESPACES)]
        unlabelled = tuple(term.iri for term in terms if not term.names)
        if unlabelled:
            yield Advice(
                "label", unlabelled, f"{len(unlabelled)} of {len(terms)} terms have no label"
            )
        graph = self.arrays
        uncommented = tuple(
            term.iri for term in terms if graph and not get_texts(graph, term.iri, [v.RDFS_COMMENT])
        )
        if uncommented:
            yield Advice(
                "comment", uncommented, f"{len(uncommented)} of {len(terms)} terms have no comment"
            )

    @cached_property
    def _own_predicates(self) -> tuple[PredicateProfile, ...]:
        return tuple(p for p in self.profile.predicates if not p.iri.startswith(SCHEMA_NAMESPACES))

    @cached_property
    def _link_predicates(self) -> tuple[PredicateProfile, ...]:
        """The graph's own predicates between resources."""
        hidden = {*v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES, *v.DESCRIPTION_PREDICATES}
        return tuple(p for p in self._own_predicates if p.object_classes and p.iri not in hidden)

    @cached_property
    def _hierarchies(self) -> tuple[PredicateProfile, ...]:
        """Upward hierarchies; of two inverse ones, the one with fewer objects."""
        hierarchies = [p for p in self._link_predicates if p.transitive]
        return tuple(
            p
            for p in hierarchies
            if not any(q.iri in p.inverse_of and q.objects < p.objects for q in hierarchies)
        )

    @cached_property
    def _nary_classes(self) -> tuple[ClassProfile, ...]:
        return tuple(
            c for c in self.profile.classes if c.nary and not c.iri.startswith(SCHEMA_NAMESPACES)
        )

    def _find_roles(self, cls: ClassProfile) -> list[PredicateProfile]:
        links_by_iri = {p.iri: p for p in self._link_predicates}
        roles = []
        for part in self.profile.partitions:
            predicate = links_by_iri.get(part.predicate)
            if part.cls != cls.iri or predicate is None or not part.targets:
                continue
            if part.triples >= 0.5 * cls.instances and predicate.functional:
                roles.append(predicate)
        return roles

    def _define_property(
        self, label: str, path: Predicate, *, unnamed: bool = False
    ) -> DefinedProperty:
        return DefinedProperty(build_virtual_iri(label), path, label, unnamed=unnamed)

    def _get_label(self, iri: str) -> str:
        names = () if self.arrays is None else get_names(self.arrays, iri)
        return choose_label(names, ["en"]) or ""
