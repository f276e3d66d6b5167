"""Build searchable resources from the nodes of a graph: names, local names or neighbours.

A local graph is processed in blocks of consecutive ids, so that time grows with its triples and
memory does not grow with its names. Precomputed arrays take a few bytes per node.

Resources of a remote graph come from its profile and names, or from query results.
"""

import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.graph.literals import ValueKind, split_literal
from askgraph.graph.names import build_acronym, iterate_short_texts
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.index import Resource
from askgraph.index.name_search import NameSettings
from askgraph.index.names import IndexedName, ItemKind
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, get_local_name, split_local_name

_BLOCK_SIZE = 1 << 15
_MAX_NAME_CHARACTERS = 200
_MAX_INFO_CHARACTERS = 200
_MAX_TYPES = 2
_MAX_PARENTS = 3
_MAX_SIMILAR_COUNT = 5
_GENERIC_CLASSES = (v.OWL_THING, v.OWL_NAMED_INDIVIDUAL, v.RDFS_RESOURCE)
_IGNORED_PREDICATES = (v.RDF_TYPE, v.OWL_SAME_AS, *v.DESCRIPTION_PREDICATES)
_MAX_NEIGHBOURS_PER_PREDICATE, _MAX_NEIGHBOURS = 2, 8  # neighbours by each predicate, and in all
_MAX_VALUE_CHARACTERS = 80
_MAX_DESCRIPTION_CHARACTERS = 240
_DIGITS_PATTERN = re.compile(r"\d+")

NodeMask = NDArray[np.bool_]


def iterate_entities(
    graph: GraphArrays, profile: Profile, *, languages: Sequence[str] = ("en",)
) -> Iterator[Resource]:
    """Yield each IRI that is a subject or an object, except predicates.

    The label is the best name in the languages; other names are synonyms. Without a name, the
    label is the words of the local name. If that is a code, or one of many numbered similarly, one
    synonym joins its class with names and short values of its neighbours: "X Y" finds a node that
    links part X and plant Y. Infos are its most specific classes, or "class" and the superclasses,
    and a description. The score is the number of triples.
    """
    builder = _EntityBuilder(graph, profile, languages)
    for first in range(graph.terms.first_iri, graph.terms.first_blank, _BLOCK_SIZE):
        yield from builder.build_block(first, min(first + _BLOCK_SIZE, graph.terms.first_blank))


def iterate_properties(
    graph: GraphArrays, profile: Profile, *, languages: Sequence[str] = ("en",)
) -> Iterator[Resource]:
    """Yield the predicates of a profile with descriptions, domains and ranges as infos."""
    numbers = _get_numbers(graph, v.DESCRIPTION_PREDICATES)
    for resource in iterate_profile_properties(profile, languages=languages):
        term_id = graph.terms.find_iri(resource.iri)
        texts = (
            []
            if term_id is None
            else _collect_texts(graph, term_id, term_id + 1, numbers).get(term_id, [])
        )
        description = choose_label(
            [split_literal(graph.terms.get_text(t))[::2] for t in texts], languages
        )
        infos = (*resource.infos, _clip(description)) if description else resource.infos
        yield Resource(resource.iri, resource.label, resource.synonyms, resource.score, infos)


def iterate_literals(
    graph: GraphArrays, profile: Profile, *, languages: Sequence[str] = ("en",)
) -> Iterator[Resource]:
    """Yield the short text values by N-Triples text, except descriptions and names of IRIs.

    Infos hold the label of a predicate; the score is the number of triples.
    """
    labels_by_iri = {p.iri: choose_label(p.names, languages) for p in profile.predicates}
    iris = map(graph.get_predicate_iri, range(len(graph.predicates)))
    labels = [labels_by_iri.get(iri) or split_local_name(iri) for iri in iris]
    for term_id, value in iterate_short_texts(graph):
        start, end = graph.in_offsets[term_id : term_id + 2].tolist()
        predicate_label = labels[graph.in_predicates[start]]
        yield Resource(
            graph.terms.get_text(term_id), value, (), float(end - start), (predicate_label,)
        )


class _EntityBuilder:
    """Builds the resources of a graph's nodes; masks are by term id."""

    def __init__(self, graph: GraphArrays, profile: Profile, languages: Sequence[str]) -> None:
        self.graph, self.languages = graph, tuple(languages)
        self.name_predicates, self.alternative_predicates = _select_name_predicates(graph, profile)
        self.descriptions = _get_numbers(graph, v.DESCRIPTION_PREDICATES)
        ids = {c.iri: graph.terms.find_iri(c.iri) for c in profile.classes}
        class_ids = [(term_id, c) for c in profile.classes if (term_id := ids[c.iri]) is not None]
        self.sizes = {term_id: c.instances for term_id, c in class_ids}
        self.labels = {
            term_id: choose_label(c.names, languages) or split_local_name(c.iri)
            for term_id, c in class_ids
        }
        self.is_excluded = np.zeros(len(graph.terms), dtype=np.bool_)
        self.is_excluded[graph.predicates] = True
        self.is_class = self._mark_classes()
        nary = {term_id for term_id, c in class_ids if c.nary}
        self.is_code = _mark_codes(
            graph, (*self.name_predicates, *self.alternative_predicates), nary
        )
        self.neighbours = NeighbourDescriber.from_graph(graph, self.name_predicates, languages)

    def _mark_classes(self) -> NodeMask:
        """Mark nodes with instances, declared classes, and nodes in the class hierarchy."""
        graph = self.graph
        marks = np.zeros(len(graph.terms), dtype=np.bool_)
        marks[list(self.sizes)] = True
        for class_type in v.CLASS_TYPES:
            term_id = graph.terms.find_iri(class_type)
            if term_id is not None:
                marks[graph.follow(term_id, v.RDF_TYPE, inverse=True)] = True
        below = graph.get_predicate_number(v.RDFS_SUB_CLASS_OF)
        if below is not None:
            marks[graph.get_ends(below)] = True
            marks[graph.get_ends(below, inverse=True)] = True
        return marks

    def build_block(self, first: int, last: int) -> Iterator[Resource]:
        """Yield the resources of the ids from `first` to before `last`."""
        graph = self.graph
        degrees = np.diff(graph.out_offsets[first : last + 1])
        degrees = degrees + np.diff(graph.in_offsets[first : last + 1])
        names = _collect_texts(graph, first, last, self.name_predicates)
        alternatives = _collect_texts(graph, first, last, self.alternative_predicates)
        infos: dict[int, tuple[str, ...]] = {}
        terms = self.graph.terms
        kinds = _collect_targets(self.graph, first, last, v.RDF_TYPE)
        parents = _collect_targets(self.graph, first, last, v.RDFS_SUB_CLASS_OF)
        for term_id in (np.flatnonzero(self.is_class[first:last]) + first).tolist():
            above = [
                self.labels.get(parent) or split_local_name(terms.get_value(parent))
                for parent in parents.get(term_id, ())[:_MAX_PARENTS]
            ]
            infos[term_id] = ("class", f"subclass of {', '.join(above)}") if above else ("class",)
        for term_id, types in kinds.items():
            if term_id not in infos:
                classes = [
                    cls
                    for cls in types
                    if cls in self.labels and terms.get_value(cls) not in _GENERIC_CLASSES
                ]
                classes.sort(key=lambda cls: self.sizes[cls])
                infos[term_id] = tuple(self.labels[cls] for cls in classes[:_MAX_TYPES])
        for term_id, texts in _collect_texts(self.graph, first, last, self.descriptions).items():
            description = choose_label(
                [split_literal(terms.get_text(text))[::2] for text in texts], self.languages
            )
            if description:
                infos[term_id] = (*infos.get(term_id, ()), _clip(description))
        contexts = self.neighbours.describe_block(first, last, self.is_code[first:last])
        for term_id in (
            np.flatnonzero((degrees > 0) & ~self.is_excluded[first:last]) + first
        ).tolist():
            iri = graph.terms.get_value(term_id)
            label, synonyms = self._choose_names(
                iri, names.get(term_id, ()), alternatives.get(term_id, ())
            )
            node_infos = infos.get(term_id, ())
            if term_id in contexts:
                synonyms = (*synonyms, ": ".join((*node_infos[:1], contexts[term_id])))
            yield Resource(iri, label, synonyms, float(degrees[term_id - first]), node_infos)

    def _choose_names(
        self, iri: str, names: Sequence[int], alternatives: Sequence[int]
    ) -> tuple[str, tuple[str, ...]]:
        """Return the label and the synonyms of a node, from the ids of its name literals."""
        main_names, alternative_names = (
            [
                (text, tag)
                for text, _, tag in (
                    split_literal(self.graph.terms.get_text(literal)) for literal in literals
                )
                if 0 < len(text) <= _MAX_NAME_CHARACTERS
            ]
            for literals in (names, alternatives)
        )
        label = choose_label(main_names, self.languages) or choose_label(
            alternative_names, self.languages
        )
        if label is None:
            return split_local_name(iri), ()
        local = get_local_name(iri)
        texts = dict.fromkeys([text for text, _ in main_names + alternative_names])
        if local and local.casefold() not in {text.casefold() for text in texts}:
            texts[local] = None
        if initials := build_acronym(label):
            texts[initials] = None
        return label, tuple(text for text in texts if text != label)


def _select_name_predicates(
    graph: GraphArrays, profile: Profile
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of name and alternative name predicates, standard ones first."""
    class_name_predicates = {c.name_predicate for c in profile.classes}
    standard = {iri: position for position, iri in enumerate(v.LABEL_PREDICATES)}
    naming_predicates = [p for p in profile.predicates if p.naming]
    naming_predicates.sort(
        key=lambda p: (standard.get(p.iri, 99), p.iri not in class_name_predicates, -p.triples)
    )
    names = [p.iri for p in naming_predicates if p.naming == "name"][:_MAX_NAME_PREDICATES]
    alternatives = [p.iri for p in naming_predicates if p.naming != "name"][:_MAX_NAME_PREDICATES]
    return _get_numbers(graph, names), _get_numbers(graph, alternatives)


_MAX_NAME_PREDICATES = 200  # predicates of each kind; each is looked up for every thing


def _get_numbers(graph: GraphArrays, iris: Sequence[str]) -> tuple[int, ...]:
    numbers = (graph.get_predicate_number(iri) for iri in iris)
    return tuple(number for number in numbers if number is not None)


def _mark_codes(graph: GraphArrays, naming: Sequence[int], nary: set[int]) -> NodeMask:
    """Mark the nodes without a name whose local name is a code."""
    terms = graph.terms
    nameless = (np.diff(graph.out_offsets) + np.diff(graph.in_offsets)) > 0
    for number in naming:
        nameless[graph.get_ends(number)] = False
    nameless[: terms.first_iri] = nameless[terms.first_blank :] = False
    nameless[graph.predicates] = False
    ids = np.flatnonzero(nameless)
    shapes = [_DIGITS_PATTERN.sub("#", get_local_name(iri)) for iri in terms.iterate_values(ids)]
    counts = Counter(shapes)
    is_code = [
        not shape or ("#" in shape and counts[shape] > _MAX_SIMILAR_COUNT) for shape in shapes
    ]
    codes = np.zeros(len(terms), dtype=np.bool_)
    codes[ids[np.array(is_code, dtype=np.bool_)]] = True
    kind = graph.get_predicate_number(v.RDF_TYPE)
    if kind is not None and nary:
        members = graph.step(np.array(sorted(nary), dtype=np.int32), kind, inverse=True)
        codes[members] |= nameless[members]
    return codes


def _collect_texts(
    graph: GraphArrays, first: int, last: int, predicates: Sequence[int]
) -> dict[int, list[int]]:
    literals: dict[int, list[int]] = defaultdict(list)
    for number in predicates:
        subjects, objects = graph.get_edges_in_range(first, last, number)
        is_literal = objects < graph.terms.first_iri
        for subject, literal in zip(
            subjects[is_literal].tolist(), objects[is_literal].tolist(), strict=True
        ):
            literals[subject].append(literal)
    return literals


def _collect_targets(graph: GraphArrays, first: int, last: int, iri: str) -> dict[int, list[int]]:
    targets: dict[int, list[int]] = defaultdict(list)
    number = graph.get_predicate_number(iri)
    if number is not None:
        subjects, objects = graph.get_edges_in_range(first, last, number)
        is_iri = (objects >= graph.terms.first_iri) & (objects < graph.terms.first_blank)
        edges = zip(subjects[is_iri].tolist(), objects[is_iri].tolist(), strict=True)
        for subject, target in edges:
            targets[subject].append(target)
    return targets


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_INFO_CHARACTERS else f"{text[: _MAX_INFO_CHARACTERS - 1]}…"


@dataclass(frozen=True, eq=False)
class NeighbourDescriber:
    """Describes nameless nodes by their neighbours."""

    graph: GraphArrays
    labels: Ids  # id of the literal that names each term; -1 for none
    is_followed: NodeMask  # by predicate number

    @classmethod
    def from_graph(
        cls, graph: GraphArrays, names: Sequence[int], languages: Sequence[str]
    ) -> "NeighbourDescriber":
        """Read the names of all nodes; `names` are predicate numbers, the best first."""
        labels = np.full(len(graph.terms), -1, dtype=np.int32)
        for number in reversed(names):
            subjects, objects = graph.get_edges_in_range(0, len(graph.terms), number)
            ranks = _rank_languages(graph, objects, languages)
            for rank in range(len(languages) + 1, -1, -1):
                labels[subjects[ranks == rank]] = objects[ranks == rank]
        is_followed = np.ones(len(graph.predicates), dtype=np.bool_)
        for iri in _IGNORED_PREDICATES:
            ignored_number = graph.get_predicate_number(iri)
            if ignored_number is not None:
                is_followed[ignored_number] = False
        return cls(graph, labels, is_followed)

    def describe_block(self, first: int, last: int, is_nameless: NodeMask) -> dict[int, str]:
        """Return descriptions of the marked ids from `first` to before `last`, where there are any.

        At most two neighbours per predicate and eight in all: resources first, then texts, then
        numbers and dates.
        """
        if not is_nameless.any():
            return {}
        sources, targets, orders = self._collect_edges(first, last, is_nameless)
        order = np.lexsort((np.arange(len(sources)), orders, sources))
        targets_by_source: dict[int, list[int]] = defaultdict(list)
        for source, target in zip(sources[order].tolist(), targets[order].tolist(), strict=True):
            targets_by_source[source].append(target)
        descriptions = (
            (source, self._join_labels(dict.fromkeys(targets)))
            for source, targets in targets_by_source.items()
        )
        return {source: text for source, text in descriptions if text}

    def _collect_edges(
        self, first: int, last: int, is_nameless: NodeMask
    ) -> tuple[Ids, Ids, NDArray[np.int8]]:
        """Return sources, targets and the sort order of each target, by predicate."""
        empty = np.zeros(0, dtype=np.int32)
        sources, targets, orders = [empty], [empty], [np.zeros(0, dtype=np.int8)]
        for inverse in (False, True):
            graph = self.graph
            offsets = graph.in_offsets if inverse else graph.out_offsets
            predicates = graph.in_predicates if inverse else graph.out_predicates
            tally = np.bincount(
                predicates[offsets[first] : offsets[last]], minlength=len(graph.predicates)
            )
            for number in np.flatnonzero((tally > 0) & self.is_followed).tolist():
                edge_sources, edge_targets = self.graph.get_edges_in_range(
                    first, last, number, inverse=inverse
                )
                is_selected = is_nameless[edge_sources - first]
                edge_sources, edge_targets = edge_sources[is_selected], edge_targets[is_selected]
                starts = np.flatnonzero(np.diff(edge_sources, prepend=-1))
                lengths = np.diff(starts, append=len(edge_sources))
                is_within_limit = (
                    np.arange(len(edge_sources)) - np.repeat(starts, lengths)
                    < _MAX_NEIGHBOURS_PER_PREDICATE
                )
                edge_sources = edge_sources[is_within_limit]
                edge_targets = edge_targets[is_within_limit]
                sources.append(edge_sources)
                targets.append(edge_targets)
                target_orders = np.full(len(edge_targets), int(inverse), dtype=np.int8)
                is_literal = edge_targets < self.graph.terms.first_iri
                sorts = self.graph.sorts[edge_targets[is_literal]]
                target_orders[is_literal] = np.where(sorts == ValueKind.TEXT, 2, 3)
                orders.append(target_orders)
        return np.concatenate(sources), np.concatenate(targets), np.concatenate(orders)

    def _join_labels(self, targets: dict[int, None]) -> str:
        parts: dict[str, None] = {}
        for target in targets:
            terms = self.graph.terms
            if terms.is_literal(target):
                text = terms.get_value(target)
            else:
                label_id = int(self.labels[target])
                if label_id >= 0:
                    text = terms.get_value(label_id)
                else:
                    text = get_local_name(terms.get_value(target)) if terms.is_iri(target) else ""
            if text and len(text) <= _MAX_VALUE_CHARACTERS:
                parts[text] = None
            if len(parts) == _MAX_NEIGHBOURS:
                break
        return ", ".join(parts)[:_MAX_DESCRIPTION_CHARACTERS]


def _rank_languages(graph: GraphArrays, targets: Ids, languages: Sequence[str]) -> NDArray[np.int8]:
    """Return the rank of each literal's language (0 is best), and -1 for nodes."""
    # Reads only the last bytes of each term, since there may be millions.
    ranks = np.full(len(targets), len(languages) + 1, dtype=np.int8)
    ends = graph.terms.offsets[targets + 1]
    endings = [*(f'"@{language}' for language in languages), '"']
    for rank, ending in reversed(list(enumerate(endings))):
        same = np.ones(len(targets), dtype=np.bool_)
        for back, byte in enumerate(reversed(ending.encode()), start=1):
            same &= graph.terms.blob[ends - back] == byte
        ranks[same] = rank
    ranks[targets >= graph.terms.first_iri] = -1
    return ranks


_MAX_INFO_CLASSES = 3
_GROUPED_BY_IRI = re.compile(r"GROUP\s+BY\s+\?iri\s*$", re.IGNORECASE)


def iterate_profile_properties(
    profile: Profile, *, languages: Iterable[str] = ("en",)
) -> Iterator[Resource]:
    """Yield a profile's predicates, scored by triples, with domain and range as infos."""
    for predicate in profile.predicates:
        infos = (
            *_format_class_info("domain", predicate.subject_classes),
            *_format_class_info("range", predicate.object_classes or predicate.datatypes),
        )
        yield _build_resource(predicate, predicate.triples, infos, tuple(languages))


def iterate_profile_classes(
    profile: Profile, *, languages: Iterable[str] = ("en",)
) -> Iterator[Resource]:
    """Yield a profile's classes, scored by instances, with superclasses as infos."""
    for cls in profile.classes:
        parents = _format_class_info("subclass of", [(parent, 0) for parent in cls.parents])
        yield _build_resource(cls, cls.instances, ("class", *parents), tuple(languages))


def iterate_named_resources(
    names: Iterable[IndexedName], kinds: Iterable[ItemKind]
) -> Iterator[Resource]:
    """Yield the resources with names of some kinds; literal values by N-Triples text.

    The label is the first preferred name, else the first name. The score is the number of names,
    because their use is unknown.
    """
    kind_set = frozenset(kinds)
    names_by_target: dict[str, list[IndexedName]] = defaultdict(list)
    for name in names:
        if name.kind in kind_set:
            names_by_target[name.target].append(name)
    for target, all_names in names_by_target.items():
        sorted_names = sorted(all_names, key=lambda name: not name.preferred)
        label, *synonyms = dict.fromkeys(name.text for name in sorted_names)
        yield Resource(target, label, tuple(synonyms), float(len(all_names)))


def get_naming(profile: Profile) -> NameSettings:
    """Return the name predicates and the languages of a graph."""
    best = {cls.name_predicate for cls in profile.classes}
    name_predicates = sorted(
        (p for p in profile.predicates if p.naming),
        key=lambda p: (p.naming != "name", p.iri not in best, -p.triples),
    )
    return NameSettings(
        tuple(p.iri for p in name_predicates), tuple(tag for tag, _ in profile.languages)
    )


async def query_resources(endpoint: Endpoint, query: str) -> AsyncIterator[Resource]:
    """Yield the resources that an index query selects, page by page if rows are capped.

    Raises:
        SetupError: Rows are missing, and the query does not end with `GROUP BY ?iri`, which
            paging requires.
    """
    from askgraph.index.sources import read_result  # most graphs are indexed without a query

    result = await endpoint.select(query)
    if not result.truncated:
        for resource in read_result(result):
            yield resource
        return
    if not _GROUPED_BY_IRI.search(query):
        raise SetupError(
            f"{endpoint.address} gave only {len(result.rows):,} rows; end the query with "
            "GROUP BY ?iri, so that it can be run page by page"
        )
    page_rows, last_iri = len(result.rows), ""
    while True:
        having = f"HAVING (STR(?iri) > {Literal(last_iri)}) ORDER BY STR(?iri) LIMIT {page_rows}"
        page = list(read_result(await endpoint.select(f"{query.rstrip()} {having}")))
        for resource in page:
            yield resource
        if not page or page[-1].iri <= last_iri:
            return
        last_iri = page[-1].iri


def _build_resource(
    item: ClassProfile | PredicateProfile,
    score: int,
    infos: tuple[str, ...],
    languages: tuple[str, ...],
) -> Resource:
    label = choose_label(item.names, languages)
    local_words = get_local_name(item.iri)
    names = (*(text for text, _ in item.names), *((local_words,) if local_words else ()))
    synonyms = tuple(text for text in dict.fromkeys(names) if text != label)
    if label is None:
        label, synonyms = split_local_name(item.iri), ()
    return Resource(item.iri, label, synonyms, float(score), infos)


def _format_class_info(relation: str, class_counts: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    names = [split_local_name(iri) for iri, _ in class_counts][:_MAX_INFO_CLASSES]
    return (f"{relation} {', '.join(names)}",) if names else ()
