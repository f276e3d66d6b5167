"""Build the knowledge of a graph from local triples or its profile, and find similar names."""

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
from askgraph.index.names import ItemKind, NameIndex, split_tokens, stem_word
from askgraph.sparql.prefixes import PrefixMap, get_namespace, split_local_name
from askgraph.sparql.vocabulary import RDF_TYPE, RDFS_RESOURCE, RDFS_SUB_CLASS_OF

_KNOWLEDGE_CACHE: dict[NameIndex, Knowledge] = {}
_MAX_CACHED_GRAPHS = 8  # graphs whose knowledge is cached


def load_graph_knowledge(graph: KnowledgeGraph) -> Knowledge:
    """Return the knowledge of a graph: exact for local triples, else from its profile.

    The first call for a graph of a million triples takes seconds. The last eight graphs are
    cached by their names, which stay the same if only the endpoint is wrapped.
    """
    knowledge = _KNOWLEDGE_CACHE.pop(graph.names, None) or _build_knowledge(graph)
    _KNOWLEDGE_CACHE[graph.names] = knowledge
    while len(_KNOWLEDGE_CACHE) > _MAX_CACHED_GRAPHS:
        del _KNOWLEDGE_CACHE[next(iter(_KNOWLEDGE_CACHE))]
    return knowledge


def _build_knowledge(graph: KnowledgeGraph) -> Knowledge:
    arrays, knowledge = graph.arrays, build_profile_knowledge(graph.profile)
    if arrays is not None and arrays.complete:
        exact = replace(knowledge, completeness=1.0, entities=_ArrayEntities(arrays, graph))
        knowledge = add_array_knowledge(exact, arrays)
    return replace(knowledge, prefixes=graph.prefixes)


def add_array_knowledge(knowledge: Knowledge, arrays: GraphArrays) -> Knowledge:
    """Return the knowledge with the exact links of all predicates, from the triples."""
    node_sorts = _NodeSorts.from_arrays(arrays)
    entities = knowledge.entities or _ArrayEntities(arrays, None)
    uses = {
        iri: _compute_exact_use(use, arrays, node_sorts)
        for iri, use in knowledge.predicates.items()
    }
    shared: dict[str, set[str]] = defaultdict(set)
    for sorts in node_sorts.sorts:
        for sort in sorts:
            shared[sort] |= sorts
    return replace(
        knowledge,
        predicates=uses,
        entities=entities,
        shared_sorts=_freeze_links(shared),
        hierarchy=_read_hierarchy(arrays),
    )


@dataclass(frozen=True, eq=False)
class _ArrayEntities:
    """The resources of arrays; similar names come from the graph."""

    arrays: GraphArrays
    graph: KnowledgeGraph | None

    def get_sorts(self, iri: str) -> Sorts | None:
        node = self.arrays.terms.find_iri(iri)
        type_number = self.arrays.get_predicate_number(RDF_TYPE)
        if node is None:
            return None
        if type_number is None:
            return frozenset([UNTYPED])
        classes = self.arrays.step(np.array([node], dtype=np.int32), type_number).tolist()
        terms = self.arrays.terms
        return frozenset(
            terms.get_value(class_node) for class_node in classes if terms.is_iri(class_node)
        ) or frozenset([UNTYPED])

    def find_similar(self, iri: str) -> tuple[str, ...]:
        return () if self.graph is None else find_similar_names(self.graph, iri, scope="entities")


@dataclass(frozen=True, eq=False)
class _NodeSorts:
    """For each term the index of its set of sorts; -1 for literals."""

    numbers: NDArray[np.int32]
    sorts: tuple[Sorts, ...]

    @classmethod
    def from_arrays(cls, arrays: GraphArrays) -> "_NodeSorts":
        numbers = np.zeros(len(arrays.terms), dtype=np.int32)
        numbers[: arrays.terms.first_iri] = -1
        index_by_sorts: dict[Sorts, int] = {frozenset([UNTYPED]): 0}
        type_number = arrays.get_predicate_number(RDF_TYPE)
        if type_number is not None:
            names: dict[int, str] = {}
            classes: dict[int, list[str]] = defaultdict(list)
            pairs = arrays.get_edges(arrays.get_ends(type_number), type_number)
            for node, class_node in zip(*(part.tolist() for part in pairs), strict=True):
                if arrays.terms.is_iri(class_node):
                    if class_node not in names:
                        names[class_node] = arrays.terms.get_value(class_node)
                    classes[node].append(names[class_node])
            for node, class_names in classes.items():
                numbers[node] = index_by_sorts.setdefault(
                    frozenset(class_names), len(index_by_sorts)
                )
        return cls(numbers, tuple(index_by_sorts))


def _read_hierarchy(arrays: GraphArrays) -> dict[str, list[str]]:
    number = arrays.get_predicate_number(RDFS_SUB_CLASS_OF)
    if number is None:
        return {}
    terms, superclasses = arrays.terms, defaultdict[str, list[str]](list)
    pairs = arrays.get_edges(arrays.get_ends(number), number)
    for below, above in zip(*(part.tolist() for part in pairs), strict=True):
        if terms.is_iri(below) and terms.is_iri(above):
            superclasses[terms.get_value(below)].append(terms.get_value(above))
    return dict(superclasses)


def _compute_exact_use(
    use: PredicateUse, arrays: GraphArrays, node_sorts: _NodeSorts
) -> PredicateUse:
    number = arrays.get_predicate_number(use.iri)
    if number is None:
        return use
    pairs = arrays.get_edges(arrays.get_ends(number), number)
    index_pairs = np.stack([node_sorts.numbers[part] for part in pairs], axis=1)
    links: dict[str, set[str]] = defaultdict(set)
    for source, target in np.unique(index_pairs, axis=0).tolist():
        reached = use.datatypes if target < 0 else node_sorts.sorts[target]
        for sort in node_sorts.sorts[source]:
            links[sort] |= reached
    objects = {int(index) for index in np.unique(index_pairs[:, 1])} - {-1}
    return replace(
        use,
        subjects=frozenset(links),
        objects=frozenset().union(*(node_sorts.sorts[index] for index in objects)),
        links=_freeze_links(links),
        subjects_share=1.0,
        objects_share=1.0,
        links_share=1.0,
    )


def _freeze_links(links: Mapping[str, set[str]]) -> dict[str, Sorts]:
    return {sort: frozenset(reached) for sort, reached in links.items()}


_TRUNCATED_SHARE = 0.6  # certainty that a name is missing if a bounded search did not find it
_UNCOUNTED_SHARE = 0.9  # the same of classes that are listed without a number of triples each
_MIN_COMPLETE_SHARE = 0.995  # of the triples: the rest are roundings and changes between two counts


def build_profile_knowledge(
    profile: Profile, *, graphs: Mapping[str, Profile] | None = None, name: str = ""
) -> Knowledge:
    """Build the knowledge from a profile; truncated profiles are less certain.

    `graphs` are profiles of single named graphs; `name` is the named graph of this profile.
    """
    known_shares = [p.share for p in profile.completeness if p.name in ("classes", "predicates")]
    shares = [share if share is not None else _TRUNCATED_SHARE for share in known_shares]
    completeness = min(shares) if shares else (_TRUNCATED_SHARE if profile.cuts else 1.0)
    partitions: dict[str, list[Partition]] = defaultdict(list)
    for part in profile.partitions:
        partitions[part.predicate].append(part)
    uses = [
        build_predicate_use(
            profile_part, partitions.get(profile_part.iri, ()), completeness=completeness
        )
        for profile_part in profile.predicates
    ]
    return Knowledge(
        classes={
            profile_part.iri: ClassUse(
                profile_part.iri, profile_part.instances, profile_part.names, profile_part.parents
            )
            for profile_part in profile.classes
        },
        predicates={use.iri: use for use in uses},
        prefixes=PrefixMap(dict(profile.prefixes)),
        completeness=completeness,
        graphs=_build_named_graphs(profile, graphs or {}),
        name=name,
    )


def _build_named_graphs(
    profile: Profile, graphs: Mapping[str, Profile]
) -> dict[str, Knowledge | None]:
    graph_names: dict[str, Knowledge | None] = {iri: None for iri, _ in profile.graphs}
    return graph_names | {
        iri: build_profile_knowledge(graph_profile, name=iri)
        for iri, graph_profile in graphs.items()
    }


def build_predicate_use(
    predicate: PredicateProfile,
    parts: Sequence[Partition],
    *,
    completeness: float = 1.0,
    is_split: bool = False,
) -> PredicateUse:
    """Build the use of a predicate from its partitions, else from its two ends separately.

    If a graph is split into named graphs, these are mostly counted one by one: a resource may
    have further classes in another named graph.
    """
    return (
        _build_from_partitions(predicate, parts, is_split=is_split)
        if parts
        else _build_from_counts(predicate, completeness)
    )


def _build_from_partitions(
    predicate: PredicateProfile, parts: Sequence[Partition], *, is_split: bool
) -> PredicateUse:
    links = {
        part.cls: ends for part in parts if (ends := _list_object_sorts(part, is_split=is_split))
    }
    typed_triples = sum(part.triples for part in parts)
    covered_triples = sum(part.triples or 1 for part in parts if part.cls in links)
    total = max(predicate.triples, 1)
    share = 1.0 if typed_triples >= _MIN_COMPLETE_SHARE * total else typed_triples / total
    subjects = frozenset(part.cls for part in parts)
    is_counted = all(_is_counted(part, is_split=is_split) for part in parts)
    objects_share = (
        min(1.0, covered_triples / max(typed_triples, 1))
        * share
        * (1.0 if is_counted else _UNCOUNTED_SHARE)
    )
    datatypes = {name for part in parts for name, _ in part.datatypes}
    datatypes |= {name for name, _ in predicate.datatypes}
    return PredicateUse(
        iri=predicate.iri,
        triples=predicate.triples,
        names=predicate.names,
        subjects=subjects | {UNTYPED},
        objects=frozenset().union(*links.values()) - datatypes,
        datatypes=frozenset(datatypes),
        languages=frozenset(name for name, _ in predicate.languages),
        links=links,
        subjects_share=share,
        objects_share=objects_share,
        links_share=1.0 if is_counted else _UNCOUNTED_SHARE,
    )


def _list_object_sorts(part: Partition, *, is_split: bool) -> Sorts:
    sorts = {UNTYPED if name == RDFS_RESOURCE else name for name, _ in part.targets}
    sorts |= {name for name, _ in part.datatypes}
    open_end = bool(part.targets) and not _is_counted(part, is_split=is_split)
    return frozenset(sorts | ({UNTYPED} if open_end else set()))


def _is_counted(part: Partition, *, is_split: bool) -> bool:
    """Return whether the sorts of all objects are covered, judged by their counts."""
    # A resource of two classes counts twice, so only the largest class is certain.
    largest_count = max((count for _, count in part.targets), default=0)
    counted_triples = largest_count + sum(count for _, count in part.datatypes)
    only_literals = bool(part.datatypes) and not part.targets
    return only_literals or (not is_split and counted_triples >= part.triples > 0)


def _build_from_counts(predicate: PredicateProfile, completeness: float) -> PredicateUse:
    share = completeness if predicate.subject_classes or predicate.iri != RDF_TYPE else 0.0
    has_ends = bool(predicate.object_classes or predicate.datatypes)
    return PredicateUse(
        iri=predicate.iri,
        triples=predicate.triples,
        names=predicate.names,
        subjects=_list_end_sorts(predicate.subject_classes, predicate.subjects, predicate.triples),
        objects=_list_end_sorts(predicate.object_classes, predicate.objects, predicate.triples)
        if predicate.object_classes
        else frozenset(),
        datatypes=frozenset(name for name, _ in predicate.datatypes),
        languages=frozenset(name for name, _ in predicate.languages),
        subjects_share=share if predicate.subject_classes else 0.0,
        objects_share=completeness if has_ends else 0.0,
    )


def _list_end_sorts(counted: Sequence[tuple[str, int]], nodes: int, triples: int) -> Sorts:
    """Return the classes, with `UNTYPED` unless one of them covers all resources."""
    # The counts are of nodes or of triples; if they exceed the nodes, they are of triples.
    pairs = {UNTYPED if name == RDFS_RESOURCE else name: count for name, count in counted}
    largest_count = max(pairs.values(), default=0)
    all_typed = nodes > 0 and (
        largest_count == nodes or (largest_count > nodes and largest_count >= triples)
    )
    return frozenset(pairs) | (frozenset() if all_typed else {UNTYPED})


NameScope = Literal["entities", "properties", ""]
"""Where to search: among resources and classes, among properties, or among all."""

_MAX_SIMILAR_NAMES = 3
_MAX_HITS = 20
_MIN_SIMILARITY_SCORE = 62.0
_SAME_NAMESPACE_SCORE = 6.0
_MAX_TYPO_COUNT = 2
_MAX_NAME_CHARACTERS = 200  # characters of a name that are compared


def find_similar_names(
    graph: KnowledgeGraph, name: str, *, scope: NameScope = ""
) -> tuple[str, ...]:
    """Return up to three IRIs of the graph whose names are most similar to an IRI or a text."""
    is_iri = ":" in name and not any(letter.isspace() for letter in name)
    text = split_local_name(name) if is_iri else name
    words = " ".join(split_tokens(text[:_MAX_NAME_CHARACTERS]))
    if not any(len(word) > 2 and word[0].isalpha() for word in words.split()):
        return ()  # codes and empty texts have no similar names
    space = get_namespace(name) if is_iri else ""
    scores: dict[str, float] = {}
    for iri, candidate_name in _iterate_candidates(graph, words, scope):
        score = compute_similarity(
            words, " ".join(split_tokens(candidate_name[:_MAX_NAME_CHARACTERS]))
        )
        score += _SAME_NAMESPACE_SCORE if space and iri.startswith(space) else 0.0
        if iri != name and score > max(_MIN_SIMILARITY_SCORE, scores.get(iri, 0.0)):
            scores[iri] = score
    return tuple(sorted(scores, key=lambda iri: (-scores[iri], len(iri), iri))[:_MAX_SIMILAR_NAMES])


def compute_similarity(words: str, other_words: str) -> float:
    """Return the similarity of two texts, 0 to 100; word order counts a fifth."""
    return max(fuzz.ratio(words, other_words), 0.8 * fuzz.token_set_ratio(words, other_words))


def _iterate_candidates(
    graph: KnowledgeGraph, words: str, scope: NameScope
) -> Iterator[tuple[str, str]]:
    schema: list[ClassProfile | PredicateProfile] = [
        *(graph.profile.predicates if scope != "entities" else ()),
        *(graph.profile.classes if scope != "properties" else ()),
    ]
    for item in schema:
        yield item.iri, split_local_name(item.iri)
        yield from ((item.iri, text) for text, _ in item.names)
    has_index = False
    for key in (scope,) if scope else ("entities", "properties"):
        if key in graph.indices:
            has_index = True
            for hit in graph.indices[key].search(words, limit=_MAX_HITS):
                yield hit.item.iri, split_local_name(hit.item.iri)
                yield from ((hit.item.iri, text) for text in hit.item.names)
    if not has_index and scope != "properties":
        names = graph.names
        hits: list[tuple[int, int, float]] = []
        vocabulary = list(names.vocabulary)
        for position, word in enumerate(words.split()):
            exact = names.find_word(stem_word(word))
            if exact is not None:
                hits.append((position, exact, 1.0))
            elif len(word) > 3:
                similar_words = extract(
                    stem_word(word),
                    vocabulary,
                    scorer=OSA.distance,
                    score_cutoff=_MAX_TYPO_COUNT,
                    limit=_MAX_SIMILAR_NAMES,
                )
                hits += [(position, word_number, 0.8) for _, _, word_number in similar_words]
        for match in names.search(hits, limit=_MAX_HITS):
            if match.name.kind is not ItemKind.VALUE:
                yield match.name.target, match.name.text
