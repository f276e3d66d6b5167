"""A graph's schema by predicate number and class: facts, kinds and codes needed by the search.

Words in the names of classes and predicates indicate persons, bodies, places or times, as do
superclasses and predicates that only one kind has. A question word stands for the head of a
predicate's name: "where … launched" names a launch site, "where" a location. The other words of the
question then cover the rest of that name.

Codes are texts for true and false, and for words of a closed table. A symmetric relation that is
stated in one direction holds in both. Prepositions distinguish origins from destinations.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from itertools import takewhile
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from askgraph.deadline import limit_to_deadline
from askgraph.graph import measures
from askgraph.graph.arrays import GraphArrays, Ids, get_objects
from askgraph.graph.literals import DAY_PATTERN, ValueKind, split_literal, to_day_number
from askgraph.graph.profile import (
    ClassProfile,
    PredicateProfile,
    Profile,
    collect_superclasses,
    get_standard_role,
)
from askgraph.index.names import ItemKind, fold_word, split_tokens, stem_name, stem_word
from askgraph.search.expand import Node, Penalty
from askgraph.search.link import Link, LinkedQuestion, score_common_beginning
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.search.tokenize.word_lists import (
    NO_KINDS,
    Kinds,
    find_kind_signs,
    get_name_kinds,
    get_shared_words,
    get_word_kinds,
    load_kind_words,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import get_local_name, get_namespace, split_local_name
from askgraph.sparql.vocabulary import GEO, SCHEMA_NAMESPACES

StepPath = tuple[tuple[int, bool], ...]

_MAX_CACHED_SETS_COUNT = 50_000  # node sets to cache whether they have names
_MOST_THINGS_SHARE = 0.5  # most of the things with edges
_MIN_UNSPECIFIC_SUBJECT_COUNT = 20  # in a smaller graph one object may be the only one by chance
_MANY_OBJECTS_COUNT = 8  # mean number of objects of a predicate that links anything to anything
_OWN_OBJECTS_SHARE = 0.9  # objects, of all triples, that belong to one thing alone
_SAMPLE_SIZE, _WIDE_SAMPLE_SIZE, _WIDEST_SAMPLE_SIZE = 20, 50, 200
"""Sample sizes: for names, for the predicates of a kind, for the surroundings."""
_MAX_FIRST_STEPS = 12  # first steps to continue from when exploring the neighbourhood
_MAX_MEAN_OBJECTS_COUNT: Final = (
    1.02  # objects a subject has in the mean if it has one, but for mistakes
)
_MAX_UNITS_COUNT = 200
_SPREAD_SAMPLE_SIZE = 400  # nodes to sample for the available predicates
_COPY_SAMPLE_SIZE = 16  # nodes to sample to detect a redundant predicate
_MIN_CODES_SHARE = 0.95  # values that are codes, of those of a predicate for codes
_MONTH_COUNT = 12
_MAX_DAYS = 20_000  # texts of a property to search for days
_DAY_TEXT = re.compile(DAY_PATTERN)
_PREFIX_LENGTH = 4  # letters of a word searched for in all names, before the matching ones are read
_NUMBERED_NAME = re.compile(r"(.*[^\W\d]{2}[\W_]?)\d{1,2}")
_DESCRIPTION_PREDICATES = frozenset(v.DESCRIPTION_PREDICATES)
_NO_IDS = np.zeros(0, dtype=np.int32)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def remember(
    find: Callable[Concatenate["Schema", _P], _R],
) -> Callable[Concatenate["Schema", _P], _R]:
    """Cache the results of a function of a schema by its other arguments."""

    @wraps(find)
    def look_up(schema: "Schema", /, *key: _P.args, **keywords: _P.kwargs) -> _R:
        results, arguments = schema.cache[find.__name__], (*key, *keywords.values())
        if arguments not in results:
            results[arguments] = find(schema, *key, **keywords)
        value: _R = results[arguments]
        return value

    return look_up


@dataclass
class Schema:
    """Facts about the classes and predicates of one graph.

    Attributes:
        allowed_predicates: the IRIs of the predicates to follow; None for all.
        cache: results by the name of the function that computed them.
    """

    graph: GraphArrays
    profile: Profile
    allowed_predicates: frozenset[str] | None = None
    cache: dict[str, dict[Any, Any]] = field(default_factory=lambda: defaultdict(dict))

    def restrict(self, allowed: frozenset[str]) -> "Schema":
        """Return the same schema limited to steps along these predicates."""
        cache = defaultdict(
            dict, {k: results for k, results in self.cache.items() if k != "_around"}
        )
        return replace(self, allowed_predicates=allowed, cache=cache)

    # Predicates

    @cached_property
    def predicates(self) -> dict[int, PredicateProfile]:
        """Profiles by predicate number."""
        iris = self.graph.terms.iterate_values(self.graph.predicates)
        numbers = {iri: number for number, iri in enumerate(iris)}
        return {numbers[p.iri]: p for p in self.profile.predicates if p.iri in numbers}

    @cached_property
    def predicates_by_iri(self) -> dict[str, PredicateProfile]:
        """Profiles by predicate IRI."""
        return {p.iri: p for p in self.profile.predicates}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {p.iri: number for number, p in self.predicates.items()}

    def get_predicate_number(self, iri: str) -> int | None:
        """Return the number of a predicate."""
        return self._numbers.get(iri)

    @remember
    def find_node(self, iri: str) -> int | None:
        """Return the id of a resource by its IRI."""
        return self.graph.terms.find_iri(iri)

    def find_link_node(self, link: Link) -> int | None:
        """Return the id of the thing or literal of a link."""
        return self.graph.terms.find(
            f"<{link.target}>" if link.kind is ItemKind.ENTITY else link.target
        )

    @cached_property
    def type_predicate(self) -> int | None:
        """The number of rdf:type."""
        return self.graph.get_predicate_number(v.RDF_TYPE)

    @cached_property
    def hidden_predicates(self) -> frozenset[int]:
        """Predicates that describe, or repeat names or classes; the search does not follow them."""
        # Those that people name in questions by their vocabulary are not among them.
        return frozenset(
            number
            for number, p in self.predicates.items()
            if (_is_standard(p) and not p.other_names)
            or (self.allowed_predicates is not None and p.iri not in self.allowed_predicates)
            or self._is_type_copy(number)
        )

    @cached_property
    def named_only_predicates(self) -> frozenset[int]:
        """Predicates that the search follows only if words name them."""
        return frozenset(
            number
            for number, p in self.predicates.items()
            if p.bookkeeping or (_is_standard(p) and p.other_names)
        )

    def _is_type_copy(self, predicate: int) -> bool:
        """Return whether a predicate leads from things to their classes, judged by a sample."""
        if (
            self.type_predicate is None
            or not self._class_object_flags[predicate]
            or not self.has_resource_objects(predicate)
        ):
            return False
        step, ends = self.graph.step, self.graph.get_ends(predicate)
        sample = ends[:: max(1, len(ends) // _COPY_SAMPLE_SIZE), None]
        differences = (
            np.setdiff1d(step(node, predicate), step(node, self.type_predicate)) for node in sample
        )
        return not any(map(len, differences))

    @cached_property
    def _class_object_flags(self) -> NDArray[np.bool_]:
        """Whether the first object of each predicate is a class, of shape (predicates,)."""
        assert self.type_predicate is not None
        starts, ends = self.graph.predicate_offsets[:-1], self.graph.predicate_offsets[1:]
        flags: NDArray[np.bool_] = starts == ends  # without triples it equals any predicate
        first_objects = self.graph.objects[starts[~flags]]
        flags[~flags] = np.isin(
            first_objects, self.graph.get_ends(self.type_predicate, inverse=True)
        )
        return flags

    @cached_property
    def open_predicates(self) -> frozenset[int]:
        """Predicates that the search may follow."""
        return frozenset(range(len(self.graph.predicates))) - self.hidden_predicates

    @cached_property
    def resource_predicates(self) -> frozenset[int]:
        """Open predicates whose objects are resources."""
        return frozenset(
            number for number in self.open_predicates if self.has_resource_objects(number)
        )

    @cached_property
    def mixed_predicates(self) -> frozenset[int]:
        """Open predicates whose objects are resources and literals."""
        return frozenset(
            number for number in self.resource_predicates if self.predicates[number].datatypes
        )

    @cached_property
    def unspecific_predicates(self) -> frozenset[int]:
        """Predicates of little meaning unless words name them."""
        # Most things have them with one and the same object (the scheme of a thesaurus), or they
        # lead from most things to a great many (the links of a page).
        if not self.graph.complete:
            return frozenset()
        things = np.count_nonzero(np.diff(self.graph.out_offsets))
        return frozenset(
            number
            for number in self.resource_predicates
            if (p := self.predicates[number]).subjects >= _MOST_THINGS_SHARE * things
            and p.subjects >= _MIN_UNSPECIFIC_SUBJECT_COUNT
            and (p.objects == 1 or p.triples >= _MANY_OBJECTS_COUNT * p.subjects)
        )

    @cached_property
    def outward_predicates(self) -> frozenset[int]:
        """Predicates from each thing to its own pages or copies elsewhere."""
        # The graph says nothing else of the objects.
        if not self.graph.complete:
            return frozenset()
        return frozenset(
            number
            for number in self.resource_predicates
            if (p := self.predicates[number]).objects >= _OWN_OBJECTS_SHARE * p.triples
            and p.objects >= _MIN_UNSPECIFIC_SUBJECT_COUNT
            and len(objects := sample_evenly(self.graph.get_ends(number, inverse=True)))
            and not self.graph.get_predicates(objects[objects >= self.graph.terms.first_iri])
        )

    @cached_property
    def numbered_alike(self) -> dict[int, frozenset[int]]:
        """The open predicates that only a number at the end distinguishes: type 1 and type 2."""
        groups: dict[tuple[str, ...], set[int]] = {}
        for number in self.open_predicates & self.predicates.keys():
            matches = [*map(_NUMBERED_NAME.fullmatch, self._list_names(self.predicates[number]))]
            if all(matches):
                groups.setdefault(tuple(m[1] for m in matches if m), set()).add(number)
        alike = [frozenset(group) for group in groups.values() if len(group) > 1]
        return {number: group for group in alike for number in group}

    @cached_property
    def transitive_predicates(self) -> frozenset[int]:
        """Predicates that may be followed more than once."""
        return frozenset(number for number, p in self.predicates.items() if p.transitive)

    @cached_property
    def hierarchies(self) -> tuple[int, ...]:
        """Predicates that lead from a kind of something to it, as `skos:broader` does."""
        broader = get_shared_words().names["broader"]
        standard = self.graph.get_predicate_number(v.RDFS_SUB_CLASS_OF)
        numbers = [n for n, p in self.predicates.items() if p.object_classes and n != standard]
        numbers = [n for n in numbers if not broader.isdisjoint(self.get_folded_names(n))]
        return (*numbers, *([] if standard is None else [standard]))

    @cached_property
    def naming_predicates(self) -> frozenset[int]:
        """Predicates whose values are names of any sort."""
        return frozenset(number for number, p in self.predicates.items() if p.naming)

    @cached_property
    def blank_naming_predicates(self) -> frozenset[int]:
        """Hidden predicates that name blank nodes, which have no IRI for the search to start at."""
        first_blank = self.graph.terms.first_blank
        subjects = ((n, self.graph.get_ends(n)) for n in self.hidden_predicates)
        return self.naming_predicates & {n for n, s in subjects if s.size and s[-1] >= first_blank}

    def has_resource_objects(self, predicate: int) -> bool:
        """Return whether a predicate's objects are resources."""
        p = self.predicates.get(predicate)
        return p is not None and bool(p.object_classes)

    def is_functional(self, predicate: int, *, inverse: bool = False) -> bool:
        """Return whether each subject has one object (or each object one subject)."""
        p = self.predicates.get(predicate)
        return (
            p is not None
            and p.triples <= (p.objects if inverse else p.subjects) * _MAX_MEAN_OBJECTS_COUNT
        )

    @remember
    def is_one_to_one(self, step: tuple[int, bool]) -> bool:
        """Return whether each node that a step leads to has only one such edge."""
        predicate, inverse = step
        if inverse and predicate in self.statement_predicates:
            return True
        p = self.predicates.get(predicate)
        if p is None or p.triples != (p.objects if inverse else p.subjects):
            return False
        if self.graph.complete:
            return True
        starts, _ = self.graph.get_edges(self.graph.get_ends(predicate), predicate)
        return len(starts) == len(self.graph.get_ends(predicate, inverse=inverse))

    @cached_property
    def statement_predicates(self) -> frozenset[int]:
        """The predicates that lead to ranked statements, and others of their namespace."""
        if self.rank_predicate is None:
            return frozenset()
        entering = self.graph.get_predicates(self.graph.get_ends(self.rank_predicate), inverse=True)
        namespaces = {get_namespace(self.graph.get_predicate_iri(number)) for number in entering}
        return frozenset(
            n for n, p in self.predicates.items() if get_namespace(p.iri) in namespaces
        )

    def is_statement(self, ids: Ids) -> bool:
        """Return whether nodes are statements, which are never an answer themselves."""
        return bool(self.statement_predicates) and not self.statement_predicates.isdisjoint(
            self.graph.get_predicates(ids[:1], inverse=True)
        )

    @remember
    def _get_names(self, predicate: int) -> frozenset[tuple[str, str]]:
        p = self.predicates.get(predicate)
        return frozenset(p.names) if p is not None else frozenset()

    def is_one_relation(self, first: int, second: int, ids: Ids) -> bool:
        """Return whether two predicates of nameless nodes form one relation, by their names."""
        names = self._get_names(first) if first != second else None
        return bool(names) and names == self._get_names(second) and self.is_nameless(ids)

    @remember
    def get_sort(self, predicate: int) -> ValueKind:
        """Return the most common sort of a predicate's values; NONE for resources."""
        objects = self.graph.get_ends(predicate, inverse=True)
        literals = objects[objects < self.graph.terms.first_iri]
        if 2 * len(literals) < len(objects):
            return ValueKind.NONE
        sort = ValueKind(int(np.bincount(self.graph.sorts[literals]).argmax()))
        is_day = sort is ValueKind.TEXT and self.get_day_order(predicate)
        return ValueKind.DAY_TEXT if is_day else sort

    @remember
    def get_day_order(self, predicate: int) -> str:
        """Return how a text such as 31/12/1999 becomes 1999-12-31: "$3-$2-$1", or "$3-$1-$2".

        Empty if the values are no such texts, or if no day is above 12, which leaves it open.
        """
        objects = self.graph.get_ends(predicate, inverse=True)
        literals = objects[objects < self.graph.terms.first_iri].tolist()
        texts = (split_literal(text)[0] for text in map(self.graph.terms.get_text, literals))
        matches = [*takewhile(bool, map(_DAY_TEXT.fullmatch, texts))]
        days = [(int(x[1]), int(x[2])) for x in matches if x]
        if len(days) < len(literals):  # another text ("unknown") would sort after every day
            return ""
        highest = [max(numbers, default=0) for numbers in zip(*days, strict=True)]
        is_day = [number > _MONTH_COUNT for number in highest]
        return {"10": "$3-$2-$1", "01": "$3-$1-$2"}.get("".join(f"{x:d}" for x in is_day), "")

    @remember
    def get_days(self, predicate: int) -> dict[int, float]:
        """Return the days since 1970-01-01 of a predicate's texts such as 31/12/1999."""
        days: dict[int, float] = {}
        if self.get_sort(predicate) is ValueKind.DAY_TEXT:
            order = [int(number) for number in self.get_day_order(predicate)[1::3]]
            objects = self.graph.get_ends(predicate, inverse=True)
            for literal in objects[objects < self.graph.terms.first_iri][:_MAX_DAYS].tolist():
                match = _DAY_TEXT.fullmatch(split_literal(self.graph.terms.get_text(literal))[0])
                year, month, day = map(int, match.group(*order)) if match else (0, 0, 0)
                if year > 0 and 0 < month <= _MONTH_COUNT:
                    days[literal] = to_day_number(year, month) + day - 1
        return days

    def find_day_texts(self, low: float, high: float) -> list[int]:
        """Return the texts such as 31/12/1999 of days from `low` to `high`, since 1970-01-01."""
        days = (item for predicate in self.predicates for item in self.get_days(predicate).items())
        return [literal for literal, day in days if low <= day <= high]

    def get_sorts(self, predicate: int, ids: Ids | None = None) -> frozenset[ValueKind]:
        """Return the sorts of a predicate's literals, at some nodes if `ids` are given."""
        if ids is None:
            return self._get_all_sorts(predicate)
        return self._list_sorts(self.graph.get_edges(ids, predicate)[1])

    @remember
    def _get_all_sorts(self, predicate: int) -> frozenset[ValueKind]:
        return self._list_sorts(self.graph.get_ends(predicate, inverse=True))

    def _list_sorts(self, objects: Ids) -> frozenset[ValueKind]:
        literals = objects[objects < self.graph.terms.first_iri]
        return frozenset(ValueKind(int(sort)) for sort in np.unique(self.graph.sorts[literals]))

    def has_mixed_numbers(self, predicate: int) -> bool:
        """Return whether a predicate's values are numbers, and also years or texts of numbers."""
        sorts = self.get_sorts(predicate)
        return ValueKind.NUMBER in sorts and len(sorts & MIXED_NUMBER_SORTS) > 1

    def get_datatype(self, predicate: int) -> str:
        """Return the most common datatype of a predicate's values."""
        datatypes = self.predicates[predicate].datatypes
        return datatypes[0][0] if datatypes else v.XSD_STRING

    def has_mixed_dates(self, predicate: int) -> bool:
        """Return whether dates have several datatypes, a language, or a datatype of other texts."""
        datatypes = [name for name, _ in self.predicates[predicate].datatypes]
        if self.get_sort(predicate) is ValueKind.TEXT_DATE and datatypes[0] != v.XSD_STRING:
            return True
        return len(datatypes) > 1 and sum(name in v.DATE_DATATYPES for name in datatypes) > 1

    # Classes and nodes

    @cached_property
    def classes(self) -> dict[str, ClassProfile]:
        """Profiles by class IRI, without classes of schema languages that no question names."""
        # Superclasses without direct instances are included.
        profiles = (*self.profile.classes, *collect_superclasses(self.graph, self.profile))
        return {
            c.iri: c for c in profiles if c.other_names or not c.iri.startswith(SCHEMA_NAMESPACES)
        }

    @cached_property
    def _subclasses(self) -> dict[str, list[str]]:
        """The direct subclasses of each class that has any."""
        subclasses: dict[str, list[str]] = {}
        for profile in self.classes.values():
            for parent in dict.fromkeys(profile.parents):
                subclasses.setdefault(parent, []).append(profile.iri)
        return subclasses

    @remember
    def get_instances(self, cls: str) -> Ids:
        """Return all instances of a class and its subclasses."""
        seen_classes, queue = {cls}, [cls]
        for current in queue:
            further = [
                child for child in self._subclasses.get(current, ()) if child not in seen_classes
            ]
            seen_classes.update(further)
            queue += further
        ids = [self.graph.terms.find_iri(iri) for iri in sorted(seen_classes)]
        nodes = np.array(sorted(at for at in ids if at is not None), dtype=np.int32)
        if self.type_predicate is None or not len(nodes):
            return _NO_IDS
        return self.graph.step(nodes, self.type_predicate, inverse=True)

    @remember
    def has_subclass_instances(self, cls: str) -> bool:
        """Return whether some instances of a class only have the type of a subclass."""
        if self.profile.types and not self.graph.complete:
            return cls in self._subclasses
        at = self.graph.terms.find_iri(cls)
        if at is None or self.type_predicate is None:
            return True
        direct = self.graph.step(np.array([at], dtype=np.int32), self.type_predicate, inverse=True)
        return len(direct) < len(self.get_instances(cls))

    def sample_classes(self, ids: Ids) -> list[set[str]]:
        """Return the classes of each of some 50 to 100 things, fewer if there are no more."""
        return [{*self.get_classes(node)} for node in ids[:: max(1, len(ids) // 50)].tolist()]

    @remember
    def get_classes(self, node: int) -> tuple[str, ...]:
        """Return the classes of a node, smallest first."""
        if self.type_predicate is None or node < self.graph.terms.first_iri:
            return ()
        class_nodes = self.graph.step(np.array([node], dtype=np.int32), self.type_predicate)
        names = [self.graph.terms.get_value(int(at)) for at in class_nodes]
        profiles = [self.classes[name] for name in names if name in self.classes]
        return tuple(c.iri for c in sorted(profiles, key=lambda c: (c.instances, c.iri)))

    def measure_prominence(self, node: int) -> float:
        """Return the prominence of a node: its Wikibase sitelinks, else its number of edges."""
        links = self.graph.get_predicate_number(v.WIKIBASE_SITELINKS)
        if links is not None and node >= self.graph.terms.first_iri:
            values = self.graph.step(np.array([node], dtype=np.int32), links)
            if len(values):
                return float(self.graph.values[values[0]])
        return self.graph.get_degree(node)

    def has_only_instances(self, ids: Ids, cls: str) -> bool:
        """Return whether nodes (a sample of them) are all instances of a class."""
        sample, members = ids[:: len(ids) // 10 + 1], self.get_instances(cls)
        if not len(members):
            return False
        insertions = np.minimum(members.searchsorted(sample), len(members) - 1)
        return bool((members[insertions] == sample).all())

    def is_nary(self, ids: Ids) -> bool:
        """Return whether nodes represent an n-ary relation: nameless, with several links."""
        classes = self.get_classes(int(ids[0])) if len(ids) else ()
        return any(self.classes[cls].nary for cls in classes)

    def is_nameless(self, ids: Ids) -> bool:
        """Return whether nodes have no name of any sort."""
        if not len(ids) or int(ids[0]) < self.graph.terms.first_iri:
            return False
        sample, cached = ids[:_SAMPLE_SIZE], self.cache["is_nameless"]
        key = sample.tobytes()
        if key not in cached:
            if len(cached) >= _MAX_CACHED_SETS_COUNT:
                cached.clear()
            cached[key] = self.naming_predicates.isdisjoint(self.graph.get_predicates(sample))
        return bool(cached[key])

    def find_surroundings(self, ids: Ids) -> tuple[tuple[StepPath, frozenset[int]], ...]:
        """Return the predicates of nodes one or two steps away, each with the steps."""
        # Computed once per class, from a sample of its instances.
        classes = self.get_classes(int(ids[0])) if len(ids) else ()
        if classes:
            return self._around(classes[0])
        return tuple(self._iterate_surroundings(ids)) if len(ids) <= _SAMPLE_SIZE else ()

    @remember
    def _around(self, cls: str) -> tuple[tuple[StepPath, frozenset[int]], ...]:
        return tuple(self._iterate_surroundings(self.get_instances(cls)))

    def _iterate_surroundings(self, ids: Ids) -> Iterator[tuple[StepPath, frozenset[int]]]:
        first_steps = list(self._iterate_neighbours(ids))
        yield from (
            ((step,), self.graph.get_predicates(sample_evenly(nodes)))
            for step, nodes in first_steps
        )
        for step, nodes in first_steps[:_MAX_FIRST_STEPS]:
            for second_step, further_nodes in self._iterate_neighbours(nodes):
                if second_step[0] != step[0]:
                    yield (
                        (step, second_step),
                        self.graph.get_predicates(sample_evenly(further_nodes)),
                    )

    def _iterate_neighbours(self, ids: Ids) -> Iterator[tuple[tuple[int, bool], Ids]]:
        ids = ids[:: len(ids) // _WIDEST_SAMPLE_SIZE + 1]
        for inverse in (False, True):
            for number in self.graph.count_predicates(ids, inverse=inverse)[0].tolist():
                if number not in self.hidden_predicates and self.has_resource_objects(number):
                    nodes = self.graph.step(ids, number, inverse=inverse)
                    nodes = nodes[nodes >= self.graph.terms.first_iri]
                    if len(nodes):
                        yield (number, inverse), nodes

    # Names

    def _list_names(self, profile: PredicateProfile | ClassProfile) -> list[str]:
        return [text for text, _ in profile.names] + [get_local_name(profile.iri)]

    @remember
    def get_folded_names(self, predicate: int) -> tuple[str, ...]:
        """Return a predicate's names, folded."""
        return tuple(
            " ".join(split_tokens(text)) for text in self._list_names(self.predicates[predicate])
        )

    @remember
    def get_name_stems(self, predicate: int) -> frozenset[str]:
        """Return the stems in a predicate's names."""
        return _stem_words(self._list_names(self.predicates[predicate]))

    @remember
    def is_subject_name(self, predicate: int) -> bool:
        """Return whether a predicate's name describes its subject: it ends in "of"."""
        endings = get_shared_words().names["subject"]
        texts = self._list_names(self.predicates[predicate])
        return any(not endings.isdisjoint(text.split()[-1:]) for text in texts)

    @cached_property
    def redirects(self) -> frozenset[int]:
        """The predicates that lead from a thing with only names to the thing it was merged into."""
        redirect_stems = get_shared_words().names["redirects"]
        prefixes = re.compile("|".join({word[:_PREFIX_LENGTH] for word in redirect_stems}))

        def is_redirect(number: int, p: PredicateProfile) -> bool:
            texts = " ".join((p.iri, *(text for text, _ in p.names))).casefold()
            return bool(prefixes.search(texts)) and not redirect_stems.isdisjoint(
                self.get_name_stems(number)
            )

        return frozenset(
            number
            for number, p in self.predicates.items()
            if p.object_classes and (p.iri == v.OWL_SAME_AS or is_redirect(number, p))
        )

    @cached_property
    def _name_only_predicates(self) -> frozenset[int]:
        """Predicates that only give a thing's names, description and redirect."""
        descriptions = (n for n, p in self.predicates.items() if p.iri in _DESCRIPTION_PREDICATES)
        return self.naming_predicates | self.redirects | frozenset(descriptions)

    def find_merge_target(self, node: int) -> int | None:
        """Return the thing that a node with only names was merged into; None for other nodes."""
        chain = [node]
        while (
            outgoing := self.graph.get_predicates(ids := np.array(chain[-1:], dtype=np.int32))
            - {self.type_predicate}
        ) and outgoing <= self._name_only_predicates:
            ends = {
                at
                for predicate in outgoing & self.redirects
                for at in self.graph.step(ids, predicate).tolist()
            }
            if len(ends) != 1 or not self.graph.terms.is_iri(end := ends.pop()) or end in chain:
                return None
            chain.append(end)
        return chain[-1] if outgoing and len(chain) > 1 else None

    @remember
    def get_name_hint(self, iri: str) -> str:
        """Return words to name a variable after: a label, or the local name."""
        profiles = (self.predicates_by_iri.get(iri), self.classes.get(iri))
        names = next(
            (profile.names for profile in profiles if profile is not None and profile.names), ()
        )
        english = [text for text, language in names if language in ("en", "")]
        return (english or [text for text, _ in names] or [split_local_name(iri)])[0]

    def is_noun(self, name: str) -> bool:
        """Return whether a predicate's name is a noun: it has a class's word, or ends in "of"."""
        words = [stem_word(word) for word in split_tokens(name)]
        endings = get_shared_words().names["subject"]
        return not self._class_words.isdisjoint(words) or not endings.isdisjoint(words[-1:])

    @cached_property
    def _class_words(self) -> frozenset[str]:
        return frozenset().union(*map(self._get_class_stems, self.classes))

    @remember
    def _get_class_stems(self, cls: str) -> frozenset[str]:
        return _stem_words(self._list_names(self.classes[cls]))

    def find_classes_by_head(self, stems: tuple[str, ...]) -> tuple[str, ...]:
        """Return the classes with instances whose names end in some words, by their stems."""
        names = self._class_names_by_head.get(stems[-1], ())
        return tuple(dict.fromkeys((iri for words, iri in names if words[-len(stems) :] == stems)))

    @cached_property
    def _class_names_by_head(self) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        names: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for iri, profile in self.classes.items() if self.type_predicate is not None else ():
            for text, _ in profile.names or ((split_local_name(iri), ""),):
                words = stem_name(text)
                if words and profile.instances:
                    names.setdefault(words[-1], []).append((words, iri))
        return names

    @remember
    def get_lineage(self, cls: str) -> tuple[str, ...]:
        """Return a class and its superclasses that are in the graph."""
        queue = [cls]
        for current in queue:
            if current in self.classes:
                queue += [parent for parent in self.classes[current].parents if parent not in queue]
        return tuple(current for current in queue if current in self.classes)

    @remember
    def get_lineage_stems(self, cls: str) -> frozenset[str]:
        """Return the stems in the names of a class and its superclasses."""
        return frozenset[str]().union(*map(self._get_class_stems, self.get_lineage(cls)))

    def is_named_after_class(self, predicate: int, ids: Ids, named_classes: frozenset[str]) -> bool:
        """Return whether a predicate is named after its objects' class: country, of a Country."""
        # Only classes in `named_classes` count.
        return any(
            cls in named_classes and self.get_name_stems(predicate) & self._get_class_stems(cls)
            for cls in (self.get_classes(int(ids[0])) if len(ids) else ())
        )

    def find_name_predicate(self, ids: Ids) -> int | None:
        """Return the predicate for the names of nodes, standard or not."""
        custom = self.find_custom_name_predicate(ids)
        if custom is not None or not len(ids):
            return custom
        for number in self._sample_predicates(ids):
            p = self.predicates.get(number)
            if p is not None and p.naming == "name":
                return number
        return None

    def find_custom_name_predicate(self, ids: Ids) -> int | None:
        """Return the graph's own predicate for the names of nodes, if it uses no standard one."""
        for cls in self.get_classes(int(ids[0])) if len(ids) else ():
            iri = self.classes[cls].name_predicate
            if iri is not None and not get_standard_role(iri):
                return self.graph.get_predicate_number(iri)
        return None

    # Statements, times and units

    def find_value_predicate(self, ids: Ids, predicate: int) -> int | None:
        """Return the predicate for the values of nameless nodes that another predicate leads to."""
        # Its vocabulary says that it stands for them, it has the same name, as in statements with
        # qualifiers (head of government → a statement → head of government → a person), or its
        # number has a unit beside it.
        if not self.is_nameless(ids):
            return None
        name_stems, present = self.get_name_stems(predicate), self._sample_predicates(ids)
        stated = self.find_stated_value(ids)
        if stated is not None:
            return stated
        for number in present:
            is_same_name = number in self.predicates and self.get_name_stems(number) == name_stems
            if is_same_name and (number != predicate or self.is_own_key(ids, number)):
                return number
        return next(
            (v for v, unit, _ in self.quantity_predicates if {v, unit} <= set(present)), None
        )

    @cached_property
    def value_predicates(self) -> frozenset[int]:
        """Predicates whose value stands for a nameless subject, by their vocabulary."""
        return frozenset(number for number, p in self.predicates.items() if p.value)

    def find_stated_value(self, ids: Ids) -> int | None:
        """Return the predicate whose value stands for nameless nodes, by its vocabulary."""
        if not self.value_predicates or not self.is_nameless(ids):
            return None
        present = self._sample_predicates(ids)
        return next((number for number in present if number in self.value_predicates), None)

    def is_own_key(self, ids: Ids, predicate: int) -> bool:
        """Return whether a predicate of resources also gives the nodes' own key, as a literal."""
        # This occurs if a table's column and the columns that refer to it have the same name.
        if predicate not in self.mixed_predicates:
            return False
        keys = self.graph.step(ids[:_SAMPLE_SIZE], predicate)
        return len(keys) > 0 and int(keys[-1]) < self.graph.terms.first_iri

    def _sample_predicates(self, ids: Ids) -> list[int]:
        """Return the predicates of a sample of nodes, in their order."""
        return [int(number) for number in self.graph.count_predicates(ids[:_WIDE_SAMPLE_SIZE])[0]]

    @cached_property
    def times(self) -> measures.TemporalPredicates:
        """The graph's predicates of time."""
        return measures.find_temporal_predicates(
            self.profile, self.graph if self.graph.complete else None
        )

    @cached_property
    def spans(self) -> tuple[tuple[int, int, bool], ...]:
        """The predicate numbers of starts and ends of the same things, and whether it is a life."""
        numbered = (
            (self.get_predicate_number(span.start), self.get_predicate_number(span.end), span.life)
            for span in self.times.spans
        )
        return tuple(
            (start, end, life)
            for start, end, life in numbered
            if start is not None and end is not None
        )

    @cached_property
    def rank_predicate(self) -> int | None:
        """The number of the predicate that ranks statements."""
        return None if self.times.rank is None else self.get_predicate_number(self.times.rank)

    @remember
    def get_unit(self, predicate: int) -> measures.Unit | None:
        """Return the unit of a predicate's numbers, by its names or descriptions."""
        texts = self._list_names(self.predicates[predicate])
        numbers = (self.graph.get_predicate_number(iri) for iri in v.DESCRIPTION_PREDICATES)
        known_numbers = (number for number in numbers if number is not None)
        return measures.detect_unit(
            texts, self._iterate_literals(self.graph.predicates[predicate], known_numbers)
        )

    def _iterate_literals(self, node: int, predicates: Iterable[int]) -> Iterator[str]:
        nodes = np.array([node], dtype=np.int32)
        for number in predicates:
            for literal in self.graph.step(nodes, number).tolist():
                if literal < self.graph.terms.first_iri:
                    yield split_literal(self.graph.terms.get_text(literal))[0]

    def has_unit(self, ids: Ids) -> bool:
        """Return whether nodes state the unit or currency of their number."""
        present = self.graph.count_predicates(ids[:_SAMPLE_SIZE])[0].tolist() if len(ids) else ()
        return any(map(measures.is_unit_like, filter(None, map(self.predicates.get, present))))

    @cached_property
    def quantity_predicates(self) -> tuple[tuple[int, int, dict[int, measures.Unit]], ...]:
        """Predicates of one node for a number and its unit, with the units by term."""
        result, excluded = [], self.hidden_predicates | self.naming_predicates
        for predicate in self.predicates:
            units = {} if predicate in excluded else self._find_units(predicate)
            if units:
                numbers = [
                    p
                    for p in self.graph.count_predicates(self.graph.get_ends(predicate))[0].tolist()
                    if p in self.predicates and self.get_sort(p) is ValueKind.NUMBER
                ]
                result += [(value, predicate, units) for value in numbers]
        return tuple(result)

    def _find_units(self, predicate: int) -> dict[int, measures.Unit]:
        """Return the units among a predicate's objects, by term; none if most are not units."""
        objects = self.graph.get_ends(predicate, inverse=True)
        if not 0 < len(objects) <= _MAX_UNITS_COUNT:
            return {}
        candidates = ((at, self._parse_unit(at)) for at in objects.tolist())
        units = {at: unit for at, unit in candidates if unit is not None}
        return units if 2 * len(units) > len(objects) else {}

    def _parse_unit(self, term: int) -> measures.Unit | None:
        """Return the unit of a term, by its IRI, its text, or its label."""
        terms = self.graph.terms
        if term < terms.first_iri:
            return measures.parse_unit(split_literal(terms.get_text(term))[0])
        label_units = map(measures.parse_unit, self._iterate_literals(term, self.naming_predicates))
        return measures.get_unit_by_iri(terms.get_value(term)) or next(
            (label_unit for label_unit in label_units if label_unit is not None), None
        )


def _is_standard(profile: PredicateProfile) -> bool:
    """Return whether a predicate belongs to a schema language, or names or describes things."""
    # `rdf:value` says what a node stands for: it belongs to the data.
    return (
        (profile.iri.startswith(SCHEMA_NAMESPACES) and profile.iri != v.RDF_VALUE)
        or bool(get_standard_role(profile.iri))
        or profile.iri in (*v.DESCRIPTION_PREDICATES, *v.WIKIBASE_INTERNAL_PREDICATES)
    )


def _stem_words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(stem_word(word) for text in texts for word in split_tokens(text))


def sample_evenly(ids: Ids) -> Ids:
    """Return an evenly spread sample of nodes; small sets unchanged."""
    return ids if len(ids) <= _SPREAD_SAMPLE_SIZE else ids[:: len(ids) // _SPREAD_SAMPLE_SIZE]


_CLASS_SAMPLE_SIZE = 20  # nodes to sample for the classes of all
_MAX_OBJECT_CLASSES = 4  # number of classes at the end of a predicate, most frequent first

_MIN_YEARS_VALUE, _MAX_YEARS_VALUE = 1000, 2100  # whole numbers in this range may be years

KINDS: Mapping[str, tuple[str, ...]] = {
    "person": ("persons", "bodies"),
    "place": ("places",),
    "date": ("times",),
    "year": ("times",),
}
"""The kinds of things for each question word."""
_NAME_SHARE = 0.9  # the share of a name that a question word and the other words hold together
_QUESTION_WORD_SHARE = 0.6  # the same if only the question word names it
# Quality of a question word: nearly nothing, but the step is not a guess.
_QUESTION_WORD_SCORE = 0.1
_SYNONYM_SCORE = 0.75
"""Quality of a synonym, and of a word with the same beginning: "lanzado", "lanzamiento"."""
_MIN_BEGINNING_LENGTH = 5  # common first letters of words with one root: the kind decides the rest
_MIN_WORD_SCORE = 0.7  # minimum similarity of words with the same meaning
_TIME_SHARE = 0.3
"""Predicates are read until this share of the time is gone; a later question starts again."""
MIXED_NUMBER_SORTS = frozenset((ValueKind.NUMBER, ValueKind.YEAR, ValueKind.TEXT_NUMBER))
"""Sorts that compare with each other once they are cast to a number."""
_DATE_SORTS = (ValueKind.DATE, ValueKind.YEAR, ValueKind.TEXT_DATE)


@remember
def get_class_kinds(schema: Schema, cls: str) -> Kinds:
    """Return the kinds of a class's instances; empty if unknown."""
    kinds: Kinds = NO_KINDS
    lineage = [cls]
    for current in lineage:
        profile = schema.classes.get(current)
        if profile is not None:
            kinds |= get_name_kinds(profile.names or ((split_local_name(current), ""),))
            lineage += [parent for parent in profile.parents if parent not in lineage]
    signs = _get_class_signs(schema)
    kinds_by_sign = NO_KINDS.union(*(signs.get(current, NO_KINDS) for current in lineage))
    return kinds or (kinds_by_sign if len(kinds_by_sign) == 1 else NO_KINDS)


def _get_class_signs(schema: Schema) -> dict[str, Kinds]:
    """Return the kinds that the predicates of each class indicate."""
    cached = schema.cache["signs_of_classes"]
    if not cached:
        kinds_by_class: dict[str, Kinds] = {"": NO_KINDS}
        for number, profile in (
            timed := limit_to_deadline(schema.predicates.items(), share=_TIME_SHARE)
        ):
            kinds = find_kind_signs(schema.get_name_stems(number))
            if any(name.startswith(GEO) for name, _ in profile.datatypes):
                kinds |= {"places"}
            for cls, _ in profile.subject_classes if kinds else ():
                kinds_by_class[cls] = kinds_by_class.get(cls, NO_KINDS) | kinds
        if timed.is_cut:
            return kinds_by_class
        cached |= kinds_by_class
    return cached


@remember
def get_predicate_kinds(schema: Schema, number: int) -> Kinds:
    """Return the kinds that a predicate's own names indicate: place for "birth place"."""
    profile = schema.predicates[number]
    return get_name_kinds((*profile.names, (split_local_name(profile.iri), "")))


@remember
def get_object_kinds(schema: Schema, number: int) -> Kinds:
    """Return the kinds of a predicate's objects, by its names and by their classes."""
    classes = schema.predicates[number].object_classes[:_MAX_OBJECT_CLASSES]
    name_kinds = get_predicate_kinds(schema, number)
    return name_kinds.union(*(get_class_kinds(schema, cls) for cls, _ in classes))


@remember
def is_containment(schema: Schema, predicate: int) -> bool:
    """Return whether a predicate is transitive by meaning, as for places."""
    # A chain of things alone ("manager", "prerequisite") is not.
    types = get_objects(schema.graph, schema.graph.get_predicate_iri(predicate), v.RDF_TYPE)
    is_named = "places" in get_object_kinds(schema, predicate) or schema.is_subject_name(predicate)
    return is_named or v.OWL_TRANSITIVE_PROPERTY in types


def get_node_kinds(schema: Schema, ids: Ids) -> Kinds:
    """Return the kinds of some nodes, by the classes of a sample."""
    first = schema.graph.terms.first_iri
    sample = ids[:: len(ids) // _CLASS_SAMPLE_SIZE + 1].tolist()
    classes = {cls for at in sample if at >= first for cls in schema.get_classes(at)}
    return NO_KINDS.union(*(get_class_kinds(schema, cls) for cls in classes))


@remember
def has_kind(schema: Schema, kind: str) -> bool:
    """Return whether the instances of any class of the graph are of a kind."""
    return any(kind in get_class_kinds(schema, cls) for cls in schema.classes)


@remember
def has_years(schema: Schema, number: int) -> bool:
    """Return whether a predicate's numbers have no unit, and may be years by size or name."""
    if schema.get_unit(number) is not None:
        return False
    if not schema.get_name_stems(number).isdisjoint(get_shared_words().names["times"]):
        return True
    objects = schema.graph.get_ends(number, inverse=True)
    values = schema.graph.values[objects[objects < schema.graph.terms.first_iri]]
    is_integer = values == np.floor(values)
    return bool(len(values)) and bool(
        (is_integer & (values > _MIN_YEARS_VALUE) & (values < _MAX_YEARS_VALUE)).all()
    )


@dataclass(frozen=True)
class _AnswerPredicate:
    """A predicate for the answer's kind, and the words of its name besides that kind."""

    iri: str
    name: str
    remaining_stems: frozenset[str]


def link_question_word(
    linked: LinkedQuestion, frame: QuestionOperators, schema: Schema
) -> LinkedQuestion:
    """Add links of predicates named by the question word and other words together."""
    question_word = frame.question_word
    if question_word is None or question_word[0] not in KINDS:
        return linked
    scores = {
        (link.target, link.positions): link.score for link in linked.get_links(ItemKind.PREDICATE)
    }
    best: dict[tuple[str, tuple[int, ...]], Link] = {}
    for link in find_question_word_links(linked, schema, *question_word):
        key = link.target, link.positions
        is_better = key not in best or link.quality > best[key].quality
        if is_better and link.score > scores.get(key, 0.0):
            best[key] = link
    if not best:
        return linked
    remaining = [link for link in linked.links if (link.target, link.positions) not in best]
    links = sorted([*remaining, *best.values()], key=lambda link: -link.score)
    return replace(linked, links=tuple(links))


def find_question_word_links(
    linked: LinkedQuestion, schema: Schema, question_word: str, at: int
) -> Iterator[Link]:
    """Yield links of predicates that answer the question word at a token, by the other words."""
    for predicate in find_answer_predicates(schema, question_word):
        yield from _build_links(predicate, linked, at)


def _build_links(
    predicate: _AnswerPredicate, linked: LinkedQuestion, question_word_at: int
) -> Iterator[Link]:
    """Yield the link of a predicate to the words of its name besides the answer's kind."""
    if not predicate.remaining_stems:
        yield Link(
            ItemKind.PREDICATE,
            predicate.iri,
            predicate.name,
            _QUESTION_WORD_SHARE,
            (question_word_at,),
            (_QUESTION_WORD_SCORE,),
        )
        return
    reading, scores = linked.reading, {}
    for word in sorted(predicate.remaining_stems):
        matches = (
            (_score_words(token.stem, word, reading.word_list.synonyms), -at)
            for at, token in enumerate(reading.tokens)
            if linked.weights[at] and token.quote is None
        )
        score, negated_at = max(matches, default=(0.0, 0))
        if score < _MIN_WORD_SCORE:
            return
        scores[-negated_at] = score
    positions = tuple(sorted(scores))
    if positions[-1] - positions[0] < 2 * len(positions):
        qualities = tuple(scores[at] for at in positions)
        yield Link(
            ItemKind.PREDICATE, predicate.iri, predicate.name, _NAME_SHARE, positions, qualities
        )


def _score_words(first: str, second: str, synonyms: Mapping[str, frozenset[str]]) -> float:
    if first == second:
        return 1.0
    has_same_beginning = (
        first[:_MIN_BEGINNING_LENGTH] == second[:_MIN_BEGINNING_LENGTH]
        and min(len(first), len(second)) >= _MIN_BEGINNING_LENGTH
    )
    is_related = has_same_beginning or second in synonyms.get(first, ())
    return max(score_common_beginning(first, second), _SYNONYM_SCORE * is_related)


def find_answer_predicates(schema: Schema, question_word: str) -> list[_AnswerPredicate]:
    """Return the predicates that answer a question word, with the rest of their names."""
    cached = schema.cache["predicates_asked"]
    if question_word in cached:
        cached_predicates: list[_AnswerPredicate] = cached[question_word]
        return cached_predicates
    timed = limit_to_deadline(
        schema.open_predicates - schema.named_only_predicates, share=_TIME_SHARE
    )
    predicates = [
        predicate for number in timed for predicate in _match_names(schema, number, question_word)
    ]
    if not timed.is_cut:
        cached[question_word] = predicates
    return predicates


def _match_names(schema: Schema, number: int, question_word: str) -> Iterator[_AnswerPredicate]:
    profile = schema.predicates.get(number)
    if (
        profile is None
        or number in schema.naming_predicates
        or not _is_answer_predicate(schema, number, question_word)
    ):
        return
    words, kinds = load_kind_words(), set(KINDS[question_word])
    yielded = set()
    for text in (*(name for name, _ in profile.names), split_local_name(profile.iri)):
        stems = frozenset(map(stem_word, split_tokens(text))) - words.separators - words.identifiers
        remaining = frozenset(word for word in stems if not kinds & get_word_kinds(word))
        is_generic = any(stems <= words.generic.get(kind, stems - stems) for kind in kinds)
        if remaining not in yielded and (remaining or (stems and is_generic)):
            yielded.add(remaining)
            yield _AnswerPredicate(profile.iri, text, remaining)


def _is_answer_predicate(schema: Schema, number: int, question_word: str) -> bool:
    kinds, sort = set(KINDS[question_word]), schema.get_sort(number)
    if question_word in ("date", "year"):
        return sort in _DATE_SORTS or (sort is ValueKind.NUMBER and has_years(schema, number))
    if sort is ValueKind.NONE:
        return bool(kinds & get_object_kinds(schema, number))
    return sort is ValueKind.TEXT and bool(kinds & get_predicate_kinds(schema, number))


TruthTerms = tuple[str, str]  # terms for yes and for no; empty if the data have none

_MAX_TRUTH_CODES_COUNT: Final = (
    6  # codes of one predicate at most: how each of two is written differs little
)
# Words from a preposition to the name that it is about: "from the airport of".
_MAX_PREPOSITION_WORDS = 4


@remember
def get_truth_terms(schema: Schema, predicate: int) -> TruthTerms | None:
    """Return the values of a predicate for true and false, None if it has other values, too."""
    sort = schema.get_sort(predicate)
    values = _list_values(schema, predicate)
    if sort is ValueKind.BOOLEAN:  # what is only ever true is false where it is not stated
        return "true", "" if {text for text, _ in values} <= {"true", "1"} else "false"
    words = get_shared_words().truth_words
    if sort is ValueKind.NUMBER:
        name = split_tokens(split_local_name(schema.graph.get_predicate_iri(predicate)))
        if words["flags"].isdisjoint(name[-1:]) and not is_asking_flag(schema, predicate):
            return None
    yes = [term for text, term in values if text in words["yes"]]
    no = [term for text, term in values if text in words["no"]]
    if len(yes) != 1 or len(no) > 1 or len(values) > len(yes) + len(no):
        return None
    return yes[0], no[0] if no else ""


def is_asking_flag(schema: Schema, predicate: int) -> bool:
    """Return whether a predicate's name begins as a question: "is approved", "has moons"."""
    name = split_tokens(split_local_name(schema.graph.get_predicate_iri(predicate)))
    return not get_shared_words().truth_words["asking"].isdisjoint(name[:1])


_MAX_CODE_LENGTH = 4  # signs of a code at most that a description explains
_MAX_EXPLAINED_CODES_COUNT = 40  # maximum number of codes of one predicate with an explanation
_EXPLANATION = re.compile(r"(?<![\w-])\w{1,4}['\"]?(\)|\s*[=:–-]\s*[^\W\d])")
"""A pattern that every explanation of a code matches; other descriptions are skipped."""
_MAX_INITIALS_LENGTH = 5  # maximum number of initials


@remember
def has_codes(schema: Schema, predicate: int, table: str) -> bool:
    """Return whether the values of a predicate are codes of one table, but for a few mistakes."""
    values, graph = _list_values(schema, predicate), schema.graph
    table_texts = get_shared_words().data_texts_by_table[table]
    codes = [graph.terms.find(term) for text, term in values if text in table_texts]
    ids = np.array(sorted(code for code in codes if code is not None), dtype=np.int32)
    if len(ids) == len(values):
        return bool(values)
    bearers = graph.get_edges(ids, predicate, inverse=True)[0]
    return len(bearers) >= _MIN_CODES_SHARE * graph.count_triples(predicate)


def find_values_by_initials(schema: Schema, predicate: int, word: str) -> list[str]:
    """Return the values of a predicate, as terms, with these initials: "LA", "Los Angeles"."""
    if not 1 < len(word) <= _MAX_INITIALS_LENGTH or not word.isupper():
        return []
    word_lists = ((text.split(), term) for text, term in _list_values(schema, predicate))
    return [term for words, term in word_lists if "".join(w[0] for w in words) == fold_word(word)]


@remember
def get_explained_codes(schema: Schema) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the codes explained in descriptions of predicates, by the stems of their words."""
    # Examples are "G: goalie, D: defender" and "goalie (G), defender (D)". Each code is a term,
    # with its predicate.
    codes = defaultdict[str, list[tuple[str, str]]](list)
    for number, text in _collect_descriptions(schema).items():
        has_explanation = _EXPLANATION.search(text) is not None
        for value, term in (
            _list_values(schema, number, _MAX_EXPLAINED_CODES_COUNT) if has_explanation else ()
        ):
            for word in _find_explaining_stems(value, text):
                codes[word].append((term, schema.graph.get_predicate_iri(number)))
    return codes


def _collect_descriptions(schema: Schema) -> dict[int, str]:
    """Return the folded descriptions of predicates, by their numbers."""
    graph, texts_by_number = schema.graph, defaultdict[int, list[str]](list)
    for iri in v.DESCRIPTION_PREDICATES:
        number = graph.get_predicate_number(iri)
        if number is not None:
            for node, at in zip(*graph.get_edges(np.sort(graph.predicates), number), strict=True):
                text = split_literal(graph.terms.get_text(int(at)))[0]
                texts_by_number[graph.numbers[int(node)]].append(fold_word(text))
    return {
        number: "; ".join(texts_by_number[number])
        for number in schema.predicates
        if number in texts_by_number
    }


def _find_explaining_stems(code: str, text: str) -> set[str]:
    """Return the stems of the words that explain a short code in a description."""
    if not 0 < len(code) <= _MAX_CODE_LENGTH:
        return set()
    pattern = re.escape(code)
    after = re.search(rf"(?<![\w-]){pattern}['\"]?\s*[=:–-]\s*([^\W\d]{{3,}})(?! [^\W\d])", text)
    before = re.search(rf"([^\W\d]{{3,}})\s*\(['\"]?{pattern}['\"]?\)", text)
    words = [match[1] for match in (after, before) if match is not None]
    return {stem_word(form) for word in words for form in (word, f"{word}s")}


def _list_values(
    schema: Schema, predicate: int, limit: int = _MAX_TRUTH_CODES_COUNT
) -> list[tuple[str, str]]:
    """Return the literals of a predicate, as folded texts and terms; none if over the limit."""
    objects = schema.graph.get_ends(predicate, inverse=True)
    if not 0 < len(objects) <= limit or int(objects[-1]) >= schema.graph.terms.first_iri:
        return []
    terms = [schema.graph.terms.get_text(int(at)) for at in objects]
    return [(fold_word(split_literal(term)[0].strip()), term) for term in terms]


@remember
def is_mirrored(schema: Schema, predicate: int) -> bool:
    """Return whether a relation is symmetric, and some of its links are only stated one way."""
    # It is if its schema declares it, or if its name indicates it ("sibling", "borders") and it
    # links things of one class.
    profile = schema.predicates.get(predicate)
    if (
        profile is None
        or predicate == schema.type_predicate
        or not schema.has_resource_objects(predicate)
    ):
        return False
    subject_classes = {cls for cls, _ in profile.subject_classes}
    if subject_classes and subject_classes.isdisjoint(cls for cls, _ in profile.object_classes):
        return False
    if not _has_links_backwards(schema, predicate, predicate):
        return False
    if v.OWL_SYMMETRIC_PROPERTY in get_objects(schema.graph, profile.iri, v.RDF_TYPE):
        return True
    is_named = not schema.get_name_stems(predicate).isdisjoint(
        get_shared_words().names["symmetric"]
    )
    return is_named and not schema.is_subject_name(predicate)


def _has_links_backwards(schema: Schema, reverse: int, predicate: int) -> bool:
    """Return whether links of a predicate, read backwards, are no links of another one."""
    graph, size = schema.graph, len(schema.graph.terms)
    subjects, objects = graph.get_edges(graph.get_ends(predicate), predicate)
    other_subjects, other_objects = graph.get_edges(graph.get_ends(reverse), reverse)
    links = subjects.astype(np.int64) * size + objects
    return not np.isin(other_objects.astype(np.int64) * size + other_subjects, links).all()


@lru_cache(maxsize=8)
def build_schema(graph: GraphArrays, profile: Profile) -> Schema:
    """Return the schema of a graph, cached for the next question."""
    return Schema(graph, profile)


@remember
def find_reverse(schema: Schema, predicate: int) -> int | None:
    """Return the predicate whose links, read backwards, are further ones of a predicate."""
    # It is the predicate itself if that is mirrored, or an inverse with links stated only there.
    if is_mirrored(schema, predicate):
        return predicate
    profile = schema.predicates.get(predicate)
    for iri in profile.inverse_of if profile is not None else ():
        number = schema.get_predicate_number(iri)
        is_open = number is not None and number not in schema.hidden_predicates
        if number is not None and is_open and _has_links_backwards(schema, number, predicate):
            return number
    return None


def filter_by_edge(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return the nodes with an edge of a predicate, or of its reverse."""
    sources = schema.graph.select_sources(nodes, predicate, inverse=inverse)
    reverse = find_reverse(schema, predicate)
    if reverse is None:
        return sources
    return np.union1d(sources, schema.graph.select_sources(nodes, reverse, inverse=not inverse))


def compute_direction_penalty(
    linked: LinkedQuestion, schema: Schema, node: Node, predicate: int
) -> float:
    """Return the penalty for a predicate against the direction of the preposition."""
    if predicate not in schema.predicates:
        return 0.0
    stems = schema.get_name_stems(predicate)
    directions = {
        name: not stems.isdisjoint(direction.predicate_stems)
        for name, direction in get_shared_words().directions.items()
    }
    if not any(directions.values()) or all(directions.values()):
        return 0.0
    while node.link is None and len(node.edges) == 1:
        node = node.edges[0][1]
    link = node.link
    stated = _find_stated_direction(linked, link) if link is not None else ""
    return Penalty.WRONG_DIRECTION if stated and not directions[stated] else 0.0


def _find_stated_direction(linked: LinkedQuestion, link: Link) -> str:
    """Return the direction of the words before a name, "" if there are none."""
    tokens, first = linked.reading.tokens, link.positions[0]
    for at in range(first - 1, max(-1, first - 1 - _MAX_PREPOSITION_WORDS), -1):
        for name, direction in get_shared_words().directions.items():
            if tokens[at].folded in direction.prepositions:
                return name
        if tokens[at].quote is not None or tokens[at].is_capitalized:
            return ""
    return ""
