"""Knowledge of a graph, counted if its triples lie here, else by its profile; nearest names."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from askgraph.answers.validation import UNTYPED, ClassUse, Knowledge, PredicateUse, Sorts
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import ClassProfile, Partition, PredicateProfile, Profile
from askgraph.index.names import Kind, NameIndex, stem, tokens
from askgraph.sparql.prefixes import PrefixMap, namespace_of, words_of_local_name
from askgraph.sparql.vocabulary import RDF_TYPE, RDFS_RESOURCE, RDFS_SUB_CLASS_OF

_KNOWN: dict[NameIndex, Knowledge] = {}
_MOST = 8  # graphs whose knowledge is kept


def graph_knowledge(graph: KnowledgeGraph) -> Knowledge:
    """Return what is known of a graph: exactly where its triples lie here, else by its profile.

    The first call for a graph of a million triples takes seconds; that of the last eight graphs is
    kept, by their names, which stay the same if only the endpoint is wrapped in another one.
    """
    known = _KNOWN.pop(graph.names, None) or _known(graph)
    _KNOWN[graph.names] = known
    while len(_KNOWN) > _MOST:
        del _KNOWN[next(iter(_KNOWN))]
    return known


def _known(graph: KnowledgeGraph) -> Knowledge:
    arrays, told = graph.arrays, profile_knowledge(graph.profile)
    if arrays is not None and arrays.complete:
        exact = replace(told, complete=1.0, entities=_Resources(arrays, graph))
        told = array_knowledge(exact, arrays)
    return replace(told, prefixes=graph.prefixes)


def array_knowledge(known: Knowledge, arrays: GraphArrays) -> Knowledge:
    """Return the knowledge with the links that the triples of all predicates have."""
    kinds = _Kinds.of(arrays)
    entities = known.entities or _Resources(arrays, None)
    uses = {iri: _exact(use, arrays, kinds) for iri, use in known.predicates.items()}
    return replace(
        known,
        predicates=uses,
        entities=entities,
        together=_together(kinds),
        hierarchy=_hierarchy(arrays),
    )


@dataclass(frozen=True, eq=False)
class _Resources:
    """The resources of arrays; the names that come nearest are those of the graph."""

    arrays: GraphArrays
    graph: KnowledgeGraph | None

    def sorts(self, iri: str) -> Sorts | None:
        at, kind = self.arrays.terms.find_iri(iri), self.arrays.get_predicate_number(RDF_TYPE)
        if at is None:
            return None
        if kind is None:
            return frozenset([UNTYPED])
        classes = self.arrays.step(np.array([at], dtype=np.int32), kind).tolist()
        terms = self.arrays.terms
        return frozenset(terms.get_value(one) for one in classes if terms.is_iri(one)) or frozenset(
            [UNTYPED]
        )

    def alike(self, iri: str) -> tuple[str, ...]:
        return () if self.graph is None else nearest_names(self.graph, iri, sort="entities")


@dataclass(frozen=True, eq=False)
class _Kinds:
    """For each term the number of the set of sorts that it has; literals have none, -1."""

    numbers: NDArray[np.int32]
    sorts: tuple[Sorts, ...]

    @classmethod
    def of(cls, arrays: GraphArrays) -> "_Kinds":
        numbers = np.zeros(len(arrays.terms), dtype=np.int32)
        numbers[: arrays.terms.first_iri] = -1
        known: dict[Sorts, int] = {frozenset([UNTYPED]): 0}
        kind = arrays.get_predicate_number(RDF_TYPE)
        if kind is not None:
            names: dict[int, str] = {}
            classes: dict[int, list[str]] = defaultdict(list)
            pairs = arrays.get_edges(arrays.get_ends(kind), kind)
            for node, one in zip(*(part.tolist() for part in pairs), strict=True):
                if arrays.terms.is_iri(one):
                    if one not in names:
                        names[one] = arrays.terms.get_value(one)
                    classes[node].append(names[one])
            for node, listed in classes.items():
                numbers[node] = known.setdefault(frozenset(listed), len(known))
        return cls(numbers, tuple(known))


def _together(kinds: _Kinds) -> dict[str, Sorts]:
    found: dict[str, set[str]] = defaultdict(set)
    for sorts in kinds.sorts:
        for one in sorts:
            found[one] |= sorts
    return _frozen(found)


def _hierarchy(arrays: GraphArrays) -> dict[str, list[str]]:
    number = arrays.get_predicate_number(RDFS_SUB_CLASS_OF)
    if number is None:
        return {}
    terms, found = arrays.terms, defaultdict[str, list[str]](list)
    pairs = arrays.get_edges(arrays.get_ends(number), number)
    for below, above in zip(*(part.tolist() for part in pairs), strict=True):
        if terms.is_iri(below) and terms.is_iri(above):
            found[terms.get_value(below)].append(terms.get_value(above))
    return dict(found)


def _exact(use: PredicateUse, arrays: GraphArrays, kinds: _Kinds) -> PredicateUse:
    number = arrays.get_predicate_number(use.iri)
    if number is None:
        return use
    pairs = arrays.get_edges(arrays.get_ends(number), number)
    both = np.stack([kinds.numbers[part] for part in pairs], axis=1)
    links: dict[str, set[str]] = defaultdict(set)
    for source, target in np.unique(both, axis=0).tolist():
        reached = use.datatypes if target < 0 else kinds.sorts[target]
        for sort in kinds.sorts[source]:
            links[sort] |= reached
    objects = {int(one) for one in np.unique(both[:, 1])} - {-1}
    return replace(
        use,
        subjects=frozenset(links),
        objects=frozenset().union(*(kinds.sorts[one] for one in objects)),
        links=_frozen(links),
        subjects_told=1.0,
        objects_told=1.0,
        links_told=1.0,
    )


def _frozen(links: Mapping[str, set[str]]) -> dict[str, Sorts]:
    return {sort: frozenset(reached) for sort, reached in links.items()}


_CUT = 0.6  # how sure it is that a name does not exist which a bounded look did not find
_LISTED = 0.9  # the same of classes that are listed without a number of triples each
_WHOLE = 0.995  # of the triples: the rest are roundings and changes between two counts


def profile_knowledge(
    profile: Profile, *, graphs: Mapping[str, Profile] | None = None, name: str = ""
) -> Knowledge:
    """Return what a profile tells; if a bound left something out, less is sure.

    `graphs` are profiles of single named graphs; `name` is the one that this profile is of.
    """
    listed = [p.share for p in profile.completeness if p.name in ("classes", "predicates")]
    shares = [share if share is not None else _CUT for share in listed]
    complete = min(shares) if shares else (_CUT if profile.cuts else 1.0)
    partitions: dict[str, list[Partition]] = defaultdict(list)
    for part in profile.partitions:
        partitions[part.predicate].append(part)
    uses = [
        use_of(one, partitions.get(one.iri, ()), complete=complete) for one in profile.predicates
    ]
    return Knowledge(
        classes={
            one.iri: ClassUse(one.iri, one.instances, one.names, one.parents)
            for one in profile.classes
        },
        predicates={use.iri: use for use in uses},
        prefixes=PrefixMap(dict(profile.prefixes)),
        complete=complete,
        graphs=_named_graphs(profile, graphs or {}),
        name=name,
    )


def _named_graphs(profile: Profile, graphs: Mapping[str, Profile]) -> dict[str, Knowledge | None]:
    listed: dict[str, Knowledge | None] = {iri: None for iri, _ in profile.graphs}
    return listed | {iri: profile_knowledge(one, name=iri) for iri, one in graphs.items()}


def use_of(
    one: PredicateProfile, parts: Sequence[Partition], *, complete: float = 1.0, split: bool = False
) -> PredicateUse:
    """Return what a predicate leads from and to, by its partitions, else by its two ends apart.

    A graph that is `split` into named ones is mostly counted one by one: a thing may have further
    classes in another than that which the numbers tell.
    """
    return _of_partitions(one, parts, split=split) if parts else _of_counts(one, complete)


def _of_partitions(
    one: PredicateProfile, parts: Sequence[Partition], *, split: bool
) -> PredicateUse:
    """A predicate of which it is known what it leads to from each class."""
    links = {part.cls: ends for part in parts if (ends := _ends(part, split=split))}
    typed = sum(part.triples for part in parts)
    told = sum(part.triples or 1 for part in parts if part.cls in links)
    total = max(one.triples, 1)
    share = 1.0 if typed >= _WHOLE * total else typed / total
    subjects = frozenset(part.cls for part in parts)
    counted = all(_is_counted(part, split=split) for part in parts)
    known = min(1.0, told / max(typed, 1)) * share * (1.0 if counted else _LISTED)
    datatypes = {name for part in parts for name, _ in part.datatypes}
    datatypes |= {name for name, _ in one.datatypes}
    return PredicateUse(
        iri=one.iri,
        triples=one.triples,
        names=one.names,
        subjects=subjects | {UNTYPED},
        objects=frozenset().union(*links.values()) - datatypes,
        datatypes=frozenset(datatypes),
        languages=frozenset(name for name, _ in one.languages),
        links=links,
        subjects_told=share,
        objects_told=known,
        links_told=1.0 if counted else _LISTED,
    )


def _ends(part: Partition, *, split: bool) -> Sorts:
    """The sorts of what a class leads to; empty if none is told."""
    named = {UNTYPED if name == RDFS_RESOURCE else name for name, _ in part.targets}
    named |= {name for name, _ in part.datatypes}
    open_end = bool(part.targets) and not _is_counted(part, split=split)
    return frozenset(named | ({UNTYPED} if open_end else set()))


def _is_counted(part: Partition, *, split: bool) -> bool:
    """Whether the sorts of all objects are told, by their numbers.

    A thing of two classes counts twice, so that the biggest class alone is sure.
    """
    most = max((count for _, count in part.targets), default=0)
    told = most + sum(count for _, count in part.datatypes)
    only_literals = bool(part.datatypes) and not part.targets
    return only_literals or (not split and told >= part.triples > 0)


def _of_counts(one: PredicateProfile, complete: float) -> PredicateUse:
    """A predicate of which only the classes at its two ends are known."""
    told = complete if one.subject_classes or one.iri != RDF_TYPE else 0.0
    has_ends = bool(one.object_classes or one.datatypes)
    return PredicateUse(
        iri=one.iri,
        triples=one.triples,
        names=one.names,
        subjects=_sorts(one.subject_classes, one.subjects, one.triples),
        objects=_sorts(one.object_classes, one.objects, one.triples)
        if one.object_classes
        else frozenset(),
        datatypes=frozenset(name for name, _ in one.datatypes),
        languages=frozenset(name for name, _ in one.languages),
        subjects_told=told if one.subject_classes else 0.0,
        objects_told=complete if has_ends else 0.0,
    )


def _sorts(counted: Sequence[tuple[str, int]], nodes: int, triples: int) -> Sorts:
    """The classes; with `UNTYPED` unless one of them has all the resources.

    The numbers are of nodes or of triples; more than there are nodes, they are of triples.
    """
    pairs = {UNTYPED if name == RDFS_RESOURCE else name: count for name, count in counted}
    most = max(pairs.values(), default=0)
    all_typed = nodes > 0 and (most == nodes or (most > nodes and most >= triples))
    return frozenset(pairs) | (frozenset() if all_typed else {UNTYPED})


Sort = Literal["entities", "properties", ""]
"""Where to look: among things and classes, among properties, or among all."""

_NEAREST = 3
_LOOKED_AT = 20
_ALIKE = 62.0
_NEIGHBOUR = 6.0
_TYPOS = 2
_LONGEST = 200  # characters of a name that are compared


def nearest_names(graph: KnowledgeGraph, name: str, *, sort: Sort = "") -> tuple[str, ...]:
    """Return the at most three IRIs of the graph whose names come nearest to an IRI or a text."""
    is_iri = ":" in name and not any(letter.isspace() for letter in name)
    text = words_of_local_name(name) if is_iri else name
    words = " ".join(tokens(text[:_LONGEST]))
    if not any(len(word) > 2 and word[0].isalpha() for word in words.split()):
        return ()  # codes and empty texts are like nothing else
    space = namespace_of(name) if is_iri else ""
    scores: dict[str, float] = {}
    for iri, other in _named(graph, words, sort):
        score = likeness(words, " ".join(tokens(other[:_LONGEST])))
        score += _NEIGHBOUR if space and iri.startswith(space) else 0.0
        if iri != name and score > max(_ALIKE, scores.get(iri, 0.0)):
            scores[iri] = score
    return tuple(sorted(scores, key=lambda iri: (-scores[iri], len(iri), iri))[:_NEAREST])


def likeness(words: str, other: str) -> float:
    """Return how alike two texts are by characters, 0 to 100; the order of words counts a fifth."""
    return max(fuzz.ratio(words, other), 0.8 * fuzz.token_set_ratio(words, other))


def _named(graph: KnowledgeGraph, words: str, sort: Sort) -> Iterator[tuple[str, str]]:
    """IRIs with their names: all of the profile, and what the indices find."""
    schema: list[ClassProfile | PredicateProfile] = [
        *(graph.profile.predicates if sort != "entities" else ()),
        *(graph.profile.classes if sort != "properties" else ()),
    ]
    for item in schema:
        yield item.iri, words_of_local_name(item.iri)
        yield from ((item.iri, text) for text, _ in item.names)
    found = False
    for key in (sort,) if sort else ("entities", "properties"):
        if key in graph.indices:
            found = True
            for hit in graph.indices[key].search(words, limit=_LOOKED_AT):
                yield hit.item.iri, words_of_local_name(hit.item.iri)
                yield from ((hit.item.iri, text) for text in hit.item.names)
    if not found and sort != "properties":
        yield from _in_names(graph.names, words)


def _in_names(names: NameIndex, words: str) -> Iterator[tuple[str, str]]:
    hits: list[tuple[int, int, float]] = []
    vocabulary = list(names.vocabulary)
    for at, word in enumerate(words.split()):
        exact = names.word_id(stem(word))
        if exact is not None:
            hits.append((at, exact, 1.0))
        elif len(word) > 3:
            alike = extract(
                stem(word), vocabulary, scorer=OSA.distance, score_cutoff=_TYPOS, limit=_NEAREST
            )
            hits += [(at, place, 0.8) for _, _, place in alike]
    for match in names.search(hits, limit=_LOOKED_AT):
        if match.name.kind is not Kind.VALUE:
            yield match.name.target, match.name.text
