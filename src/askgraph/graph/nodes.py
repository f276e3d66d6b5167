"""Nodes of a local graph as resources: by their names, local names, or neighbours.

The graph is walked in parts of consecutive ids, so that time grows with its triples and memory does
not grow with its names. What is read off the whole graph first are arrays of a few bytes a node.

The resources of a graph behind an endpoint come from its profile and names, or from its answers.
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
from askgraph.graph.literals import Sort, split_literal
from askgraph.graph.names import acronym, short_texts
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.index import Resource
from askgraph.index.name_search import Naming
from askgraph.index.names import Kind, Name
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import best_label, local_name, words_of_local_name

_PART = 1 << 15
_LONGEST_NAME = 200
_LONGEST_INFO = 200
_MOST_TYPES = 2
_MOST_PARENTS = 3
_ALIKE = 5
_SAYS_NOTHING = (v.OWL_THING, v.OWL_NAMED_INDIVIDUAL, v.RDFS_RESOURCE)
_PASSED_OVER = (v.RDF_TYPE, v.OWL_SAME_AS, *v.DESCRIPTION_PREDICATES)
_EACH, _MOST = 2, 8  # neighbours by each predicate, and in all
_LONGEST_VALUE = 80
_LONGEST_AROUND = 240
_DIGITS = re.compile(r"\d+")

Marks = NDArray[np.bool_]


def entity_resources(
    graph: GraphArrays, profile: Profile, *, languages: Sequence[str] = ("en",)
) -> Iterator[Resource]:
    """Yield each IRI that is a subject or an object, but for predicates in use.

    The label is the best name in the languages, all other names are synonyms. Without a name the
    words of the local name are the label; if that is a code, or one of many numbered alike, its
    class and the names and short values of what is linked with it are one synonym: a node that
    joins part X and plant Y is found by "X Y". Infos are its most specific classes, or "class" and
    the classes above, and a description. The score is the number of triples.
    """
    walk = _Walk(graph, profile, languages)
    for first in range(graph.terms.first_iri, graph.terms.first_blank, _PART):
        yield from walk.part(first, min(first + _PART, graph.terms.first_blank))


def property_resources(
    graph: GraphArrays, profile: Profile, *, languages: Sequence[str] = ("en",)
) -> Iterator[Resource]:
    """Yield the predicates of a profile with their descriptions, domains and ranges as infos."""
    numbers = _numbers(graph, v.DESCRIPTION_PREDICATES)
    for resource in profile_properties(profile, languages=languages):
        at = graph.terms.iri(resource.iri)
        texts = [] if at is None else _texts(graph, at, at + 1, numbers).get(at, [])
        described = best_label([split_literal(graph.terms.text(t))[::2] for t in texts], languages)
        infos = (*resource.infos, _clipped(described)) if described else resource.infos
        yield Resource(resource.iri, resource.label, resource.synonyms, resource.score, infos)


def literal_resources(
    graph: GraphArrays, profile: Profile, *, languages: Sequence[str] = ("en",)
) -> Iterator[Resource]:
    """Yield the short text values by their N-Triples text, but for names and descriptions.

    Infos name the predicate that gives it; the score is the number of triples.
    """
    named = {p.iri: best_label(p.names, languages) for p in profile.predicates}
    iris = map(graph.iri_of, range(len(graph.predicates)))
    labels = [named.get(iri) or words_of_local_name(iri) for iri in iris]
    for at, value in short_texts(graph):
        start, end = graph.in_offsets[at : at + 2].tolist()
        using = labels[graph.in_predicates[start]]
        yield Resource(graph.terms.text(at), value, (), float(end - start), (using,))


class _Walk:
    """What all parts need of the graph as a whole; marks are by term id."""

    def __init__(self, graph: GraphArrays, profile: Profile, languages: Sequence[str]) -> None:
        self.graph, self.languages = graph, tuple(languages)
        self.names, self.others = _naming(graph, profile)
        self.descriptions = _numbers(graph, v.DESCRIPTION_PREDICATES)
        ids = {c.iri: graph.terms.iri(c.iri) for c in profile.classes}
        known = [(at, c) for c in profile.classes if (at := ids[c.iri]) is not None]
        self.sizes = {at: c.instances for at, c in known}
        self.labels = {
            at: best_label(c.names, languages) or words_of_local_name(c.iri) for at, c in known
        }
        self.left_out = np.zeros(len(graph.terms), dtype=np.bool_)
        self.left_out[graph.predicates] = True
        self.classes = self._mark_classes()
        nary = {at for at, c in known if c.nary}
        self.codes = _codes(graph, (*self.names, *self.others), nary)
        self.neighbours = Neighbours.over(graph, self.names, languages)

    def _mark_classes(self) -> Marks:
        """Mark what has instances, is declared a class, or is above or below one."""
        graph = self.graph
        marks = np.zeros(len(graph.terms), dtype=np.bool_)
        marks[list(self.sizes)] = True
        for declared in v.CLASS_TYPES:
            at = graph.terms.iri(declared)
            if at is not None:
                marks[graph.follow(at, v.RDF_TYPE, inverse=True)] = True
        below = graph.number(v.RDFS_SUB_CLASS_OF)
        if below is not None:
            marks[graph.ends(below)] = True
            marks[graph.ends(below, inverse=True)] = True
        return marks

    def part(self, first: int, last: int) -> Iterator[Resource]:
        """Yield the resources of the ids from `first` to before `last`."""
        graph = self.graph
        degrees = np.diff(graph.out_offsets[first : last + 1])
        degrees = degrees + np.diff(graph.in_offsets[first : last + 1])
        names = _texts(graph, first, last, self.names)
        others = _texts(graph, first, last, self.others)
        infos = self._infos(first, last)
        around = self.neighbours.of_part(first, last, self.codes[first:last])
        for at in (np.flatnonzero((degrees > 0) & ~self.left_out[first:last]) + first).tolist():
            iri = graph.terms.value(at)
            label, synonyms = self._called(iri, names.get(at, ()), others.get(at, ()))
            known = infos.get(at, ())
            if at in around:
                synonyms = (*synonyms, ": ".join((*known[:1], around[at])))
            yield Resource(iri, label, synonyms, float(degrees[at - first]), known)

    def _called(
        self, iri: str, names: Sequence[int], others: Sequence[int]
    ) -> tuple[str, tuple[str, ...]]:
        """Return the label and the synonyms of a node, from the literals that name it."""
        best, more = (
            [
                (text, tag)
                for text, _, tag in (split_literal(self.graph.terms.text(at)) for at in literals)
                if 0 < len(text) <= _LONGEST_NAME
            ]
            for literals in (names, others)
        )
        label = best_label(best, self.languages) or best_label(more, self.languages)
        if label is None:
            return words_of_local_name(iri), ()
        local = local_name(iri)
        texts = dict.fromkeys([text for text, _ in best + more])
        if local and local.casefold() not in {text.casefold() for text in texts}:
            texts[local] = None
        if initials := acronym(label):
            texts[initials] = None
        return label, tuple(text for text in texts if text != label)

    def _infos(self, first: int, last: int) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        terms = self.graph.terms
        kinds = _linked(self.graph, first, last, v.RDF_TYPE)
        parents = _linked(self.graph, first, last, v.RDFS_SUB_CLASS_OF)
        for at in (np.flatnonzero(self.classes[first:last]) + first).tolist():
            above = [
                self.labels.get(parent) or words_of_local_name(terms.value(parent))
                for parent in parents.get(at, ())[:_MOST_PARENTS]
            ]
            found[at] = ("class", f"subclass of {', '.join(above)}") if above else ("class",)
        for at, listed in kinds.items():
            if at not in found:
                own = [
                    cls
                    for cls in listed
                    if cls in self.labels and terms.value(cls) not in _SAYS_NOTHING
                ]
                own.sort(key=lambda cls: self.sizes[cls])
                found[at] = tuple(self.labels[cls] for cls in own[:_MOST_TYPES])
        for at, texts in _texts(self.graph, first, last, self.descriptions).items():
            described = best_label(
                [split_literal(terms.text(text))[::2] for text in texts], self.languages
            )
            if described:
                found[at] = (*found.get(at, ()), _clipped(described))
        return found


def _naming(graph: GraphArrays, profile: Profile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Predicates of names and of alternative names: standard ones first, then those of classes."""
    chosen = {c.name_predicate for c in profile.classes}
    standard = {iri: at for at, iri in enumerate(v.LABEL_PREDICATES)}
    found = [p for p in profile.predicates if p.naming]
    found.sort(key=lambda p: (standard.get(p.iri, 99), p.iri not in chosen, -p.triples))
    names = [p.iri for p in found if p.naming == "name"][:_MOST_NAMING]
    others = [p.iri for p in found if p.naming != "name"][:_MOST_NAMING]
    return _numbers(graph, names), _numbers(graph, others)


_MOST_NAMING = 200  # predicates of each kind: for every thing each of them is looked up


def _numbers(graph: GraphArrays, iris: Sequence[str]) -> tuple[int, ...]:
    numbers = (graph.number(iri) for iri in iris)
    return tuple(number for number in numbers if number is not None)


def _codes(graph: GraphArrays, naming: Sequence[int], nary: set[int]) -> Marks:
    """Mark the nodes without a name whose local name tells nothing either."""
    terms = graph.terms
    nameless = (np.diff(graph.out_offsets) + np.diff(graph.in_offsets)) > 0
    for number in naming:
        nameless[graph.ends(number)] = False
    nameless[: terms.first_iri] = nameless[terms.first_blank :] = False
    nameless[graph.predicates] = False
    ids = np.flatnonzero(nameless)
    shapes = [_DIGITS.sub("#", local_name(iri)) for iri in terms.values(ids)]
    counts = Counter(shapes)
    told = [not shape or ("#" in shape and counts[shape] > _ALIKE) for shape in shapes]
    codes = np.zeros(len(terms), dtype=np.bool_)
    codes[ids[np.array(told, dtype=np.bool_)]] = True
    kind = graph.number(v.RDF_TYPE)
    if kind is not None and nary:
        members = graph.step(np.array(sorted(nary), dtype=np.int32), kind, inverse=True)
        codes[members] |= nameless[members]
    return codes


def _texts(
    graph: GraphArrays, first: int, last: int, predicates: Sequence[int]
) -> dict[int, list[int]]:
    """Return the literals of some predicates by subject, in the order of the predicates."""
    found: dict[int, list[int]] = defaultdict(list)
    for number in predicates:
        subjects, objects = graph.between(first, last, number)
        kept = objects < graph.terms.first_iri
        for subject, literal in zip(subjects[kept].tolist(), objects[kept].tolist(), strict=True):
            found[subject].append(literal)
    return found


def _linked(graph: GraphArrays, first: int, last: int, iri: str) -> dict[int, list[int]]:
    """Return the IRIs that a predicate gives, by subject."""
    found: dict[int, list[int]] = defaultdict(list)
    number = graph.number(iri)
    if number is not None:
        subjects, objects = _iris(graph, graph.between(first, last, number))
        for subject, target in zip(subjects.tolist(), objects.tolist(), strict=True):
            found[subject].append(target)
    return found


def _iris(graph: GraphArrays, pairs: tuple[Ids, Ids]) -> tuple[Ids, Ids]:
    subjects, objects = pairs
    kept = (objects >= graph.terms.first_iri) & (objects < graph.terms.first_blank)
    return subjects[kept], objects[kept]


def _clipped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_INFO else f"{text[: _LONGEST_INFO - 1]}…"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Tells nodes apart that have no name; `label` is the literal that names a term, -1 of none."""

    graph: GraphArrays
    label: Ids
    followed: Marks  # by predicate number

    @classmethod
    def over(
        cls, graph: GraphArrays, names: Sequence[int], languages: Sequence[str]
    ) -> "Neighbours":
        """Read off a graph how things are called; `names` are predicates, the best first."""
        label = np.full(len(graph.terms), -1, dtype=np.int32)
        for number in reversed(names):
            subjects, objects = graph.between(0, len(graph.terms), number)
            ranks = _ranks(graph, objects, languages)
            for rank in range(len(languages) + 1, -1, -1):
                label[subjects[ranks == rank]] = objects[ranks == rank]
        followed = np.ones(len(graph.predicates), dtype=np.bool_)
        for iri in _PASSED_OVER:
            passed_over = graph.number(iri)
            if passed_over is not None:
                followed[passed_over] = False
        return cls(graph, label, followed)

    def of_part(self, first: int, last: int, wanted: Marks) -> dict[int, str]:
        """Return what hangs on the wanted ids from `first` to before `last`, if anything does.

        At most two neighbours by each predicate and eight in all: things before texts, these
        before numbers and dates.
        """
        if not wanted.any():
            return {}
        sources, targets, orders = self._edges(first, last, wanted)
        order = np.lexsort((np.arange(len(sources)), orders, sources))
        listed: dict[int, list[int]] = defaultdict(list)
        for source, target in zip(sources[order].tolist(), targets[order].tolist(), strict=True):
            listed[source].append(target)
        told = ((at, self._told(dict.fromkeys(targets))) for at, targets in listed.items())
        return {at: text for at, text in told if text}

    def _edges(self, first: int, last: int, wanted: Marks) -> tuple[Ids, Ids, NDArray[np.int8]]:
        """Sources, targets and what sort of neighbour the target is, by predicate."""
        empty = np.zeros(0, dtype=np.int32)
        sources, targets, orders = [empty], [empty], [np.zeros(0, dtype=np.int8)]
        for inverse in (False, True):
            graph = self.graph
            offsets = graph.in_offsets if inverse else graph.out_offsets
            listed = graph.in_predicates if inverse else graph.out_predicates
            tally = np.bincount(
                listed[offsets[first] : offsets[last]], minlength=len(graph.predicates)
            )
            for number in np.flatnonzero((tally > 0) & self.followed).tolist():
                near, far = self.graph.between(first, last, number, inverse=inverse)
                kept = wanted[near - first]
                near, far = near[kept], far[kept]
                starts = np.flatnonzero(np.diff(near, prepend=-1))
                lengths = np.diff(starts, append=len(near))
                few = np.arange(len(near)) - np.repeat(starts, lengths) < _EACH
                near, far = near[few], far[few]
                sources.append(near)
                targets.append(far)
                found = np.full(len(far), int(inverse), dtype=np.int8)
                literal = far < self.graph.terms.first_iri
                sorts = self.graph.sorts[far[literal]]
                found[literal] = np.where(sorts == Sort.TEXT, 2, 3)
                orders.append(found)
        return np.concatenate(sources), np.concatenate(targets), np.concatenate(orders)

    def _told(self, targets: dict[int, None]) -> str:
        parts: dict[str, None] = {}
        for target in targets:
            terms = self.graph.terms
            if terms.is_literal(target):
                text = terms.value(target)
            else:
                named = int(self.label[target])
                if named >= 0:
                    text = terms.value(named)
                else:
                    text = local_name(terms.value(target)) if terms.is_iri(target) else ""
            if text and len(text) <= _LONGEST_VALUE:
                parts[text] = None
            if len(parts) == _MOST:
                break
        return ", ".join(parts)[:_LONGEST_AROUND]


def _ranks(graph: GraphArrays, targets: Ids, languages: Sequence[str]) -> NDArray[np.int8]:
    """0 for a literal in the first language, more for the later ones and for none; -1 for a node.

    Read off the last bytes, since there may be millions of them.
    """
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


_SHOWN = 3
_PAGED = re.compile(r"GROUP\s+BY\s+\?iri\s*$", re.IGNORECASE)


def profile_properties(
    profile: Profile, *, languages: Iterable[str] = ("en",)
) -> Iterator[Resource]:
    """Yield a profile's predicates, scored by their triples, with domain and range as infos."""
    for predicate in profile.predicates:
        infos = (
            *_class_info("domain", predicate.subject_classes),
            *_class_info("range", predicate.object_classes or predicate.datatypes),
        )
        yield _resource(predicate, predicate.triples, infos, tuple(languages))


def profile_classes(profile: Profile, *, languages: Iterable[str] = ("en",)) -> Iterator[Resource]:
    """Yield a profile's classes, scored by their instances, with the classes above as infos."""
    for cls in profile.classes:
        parents = _class_info("subclass of", [(parent, 0) for parent in cls.parents])
        yield _resource(cls, cls.instances, ("class", *parents), tuple(languages))


def named_resources(names: Iterable[Name], kinds: Iterable[Kind]) -> Iterator[Resource]:
    """Yield the bearers of names of some kinds: entities, and literal values by N-Triples text.

    The label is the first preferred name, else the first. Of the names' use nothing is known: the
    score is how many there are.
    """
    wanted = frozenset(kinds)
    listed: dict[str, list[Name]] = defaultdict(list)
    for name in names:
        if name.kind in wanted:
            listed[name.target].append(name)
    for target, all_names in listed.items():
        ordered = sorted(all_names, key=lambda name: not name.preferred)
        label, *synonyms = dict.fromkeys(name.text for name in ordered)
        yield Resource(target, label, tuple(synonyms), float(len(all_names)))


def naming_of(profile: Profile) -> Naming:
    """Return by which predicates a graph names its things, and in which languages."""
    own = sorted(
        (p for p in profile.predicates if p.naming), key=lambda p: (p.naming != "name", -p.triples)
    )
    return Naming(tuple(p.iri for p in own), tuple(tag for tag, _ in profile.languages))


async def asked_resources(endpoint: Endpoint, query: str) -> AsyncIterator[Resource]:
    """Yield the resources that an index query selects, page by page if rows are capped.

    Raises `SetupError` if rows are missing and the query does not end with `GROUP BY ?iri`, by
    which it could be paged.
    """
    from askgraph.index.sources import resources_of  # most graphs are indexed without a query

    result = await endpoint.select(query)
    if not result.truncated:
        for resource in resources_of(result):
            yield resource
        return
    if not _PAGED.search(query):
        raise SetupError(
            f"{endpoint.address} gave only {len(result.rows):,} rows; end the query with "
            "GROUP BY ?iri, so that it can be asked page by page"
        )
    size, last = len(result.rows), ""
    while True:
        having = f"HAVING (STR(?iri) > {Literal(last)}) ORDER BY STR(?iri) LIMIT {size}"
        page = list(resources_of(await endpoint.select(f"{query.rstrip()} {having}")))
        for resource in page:
            yield resource
        if not page or page[-1].iri <= last:
            return
        last = page[-1].iri


def _resource(
    item: ClassProfile | PredicateProfile,
    score: int,
    infos: tuple[str, ...],
    languages: tuple[str, ...],
) -> Resource:
    label = best_label(item.names, languages)
    local = local_name(item.iri)
    others = (*(text for text, _ in item.names), *((local,) if local else ()))
    synonyms = tuple(text for text in dict.fromkeys(others) if text != label)
    if label is None:
        label, synonyms = words_of_local_name(item.iri), ()
    return Resource(item.iri, label, synonyms, float(score), infos)


def _class_info(word: str, counted: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    names = [words_of_local_name(iri) for iri, _ in counted][:_SHOWN]
    return (f"{word} {', '.join(names)}",) if names else ()
