"""Knowledge of a graph: its classes and predicates, their ends, and how sure that is.

A resource is of the sorts that its classes are; one without a class is of the sort `UNTYPED`; a
literal is of the sort of its datatype. A query's variable may be of any sort that all its patterns
allow.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

from askgraph.rdf import PrefixMap

Sorts: TypeAlias = frozenset[str]
UNTYPED = ""
_DESCRIPTION = "/.well-known/void"


class Entities(Protocol):
    """The resources of a graph, as far as they can be looked up without asking an endpoint."""

    def sorts(self, iri: str) -> Sorts | None:
        """Return the sorts of a resource; None if the graph does not hold it."""
        ...

    def alike(self, iri: str) -> tuple[str, ...]:
        """Return the IRIs whose names come nearest to an IRI, best first; few."""
        ...


@dataclass(frozen=True)
class ClassUse:
    """A class with its instances, its names as (text, language), and the classes above it."""

    iri: str
    instances: int = 0
    names: tuple[tuple[str, str], ...] = ()
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredicateUse:
    """What a predicate leads from and to.

    `links` has, for a sort of subjects, the sorts of their objects; a sort that it lacks is not
    known. The numbers `..._told`, 0 to 1, say how much of what there is the sorts tell: 1 is all,
    and below `Knowledge.least` nothing is concluded from them.
    """

    iri: str
    triples: int = 0
    names: tuple[tuple[str, str], ...] = ()
    subjects: Sorts = frozenset()
    objects: Sorts = frozenset()
    datatypes: Sorts = frozenset()
    languages: Sorts = frozenset()
    links: Mapping[str, Sorts] = field(default_factory=dict)
    subjects_told: float = 0.0
    objects_told: float = 0.0
    links_told: float = 0.0

    @cached_property
    def ends(self) -> Sorts:
        """All sorts of its objects, literals too."""
        return self.objects | self.datatypes


@dataclass(frozen=True)
class Knowledge:
    """What is known of one graph.

    `complete`, 0 to 1, is how surely it lists all names. From sorts of which less than `least` is
    told nothing is concluded. `together` has, for a class, all sorts that its instances are of; a
    class that it lacks may share instances with any other. `hierarchy` has, for each class, those
    right above it, also of classes without instances; None if only those with instances tell
    theirs. `graphs` has what is known of each named graph, None if it is known to be there and
    no more; empty if no named graphs are known. `name` is the named graph that this tells of.
    """

    classes: Mapping[str, ClassUse]
    predicates: Mapping[str, PredicateUse]
    prefixes: PrefixMap = field(default_factory=PrefixMap)
    complete: float = 1.0
    least: float = 0.75
    entities: Entities | None = None
    together: Mapping[str, Sorts] = field(default_factory=dict)
    hierarchy: Mapping[str, Iterable[str]] | None = None
    graphs: Mapping[str, "Knowledge | None"] = field(default_factory=dict)
    name: str = ""

    def of_graph(self, iri: str) -> "Knowledge | None":
        """Return what is known of a named graph, or of all together; None if it is not known.

        A graph that is not among those listed holds what nothing tells of. The one at VoID's own
        address holds the description, which was counted before it was done.
        """
        if (self.graphs and iri not in self.graphs) or iri.endswith(_DESCRIPTION):
            return None
        return self.graphs.get(iri) or self

    def below(self, iri: str) -> Sorts | None:
        """Return the classes with instances that may be a class or below it, at any depth.

        None if nothing is known of that. What is above a class without instances is known of the
        whole hierarchy only: all classes below such a one may be below any other.
        """
        if iri not in self._below:
            children, loose = self._children
            told = self.hierarchy is not None or bool(children)
            found = _closure([iri, *loose], children) if told else ()
            self._below[iri] = frozenset(one for one in found if one in self.classes) or None
        return self._below[iri]

    @cached_property
    def _below(self) -> dict[str, Sorts | None]:
        """What was found below the classes that were asked for."""
        return {}

    @cached_property
    def _children(self) -> tuple[Mapping[str, Sequence[str]], tuple[str, ...]]:
        """For each class those right below it, and the classes whose parents are not known."""
        parents = self.hierarchy
        if parents is None:
            parents = {one.iri: one.parents for one in self.classes.values()}
        children: dict[str, list[str]] = defaultdict(list)
        for one, above in parents.items():
            for parent in above:
                children[parent].append(one)
        known = self.hierarchy is not None
        return children, () if known else tuple(one for one in children if one not in parents)

    @cached_property
    def of_class(self) -> Mapping[str, tuple[str, ...]]:
        """The predicates that instances of a class have, the most frequent first."""
        found: dict[str, list[PredicateUse]] = defaultdict(list)
        for use in self.predicates.values():
            for sort in use.subjects:
                found[sort].append(use)
        return {
            sort: tuple(use.iri for use in sorted(uses, key=lambda u: (-u.triples, u.iri)))
            for sort, uses in found.items()
        }

    def label(self, iri: str) -> str:
        """Return a name of a class or predicate, English before others; empty if it has none."""
        known = self.classes.get(iri) or self.predicates.get(iri)
        names = known.names if known else ()
        english = [text for text, language in names if language.startswith("en")]
        return (english or [text for text, _ in names] or [""])[0]


@dataclass(frozen=True)
class Services:
    """The knowledge of the graph that a query is put to, and of those that its SERVICE calls."""

    own: Knowledge
    others: Mapping[str, Knowledge] = field(default_factory=dict)


def _closure(start: Iterable[str], children: Mapping[str, Iterable[str]]) -> set[str]:
    waiting = list(start)
    found = set(waiting)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found
