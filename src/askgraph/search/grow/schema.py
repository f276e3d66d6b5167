"""A profile's facts by predicate number and class, as growing candidates asks for them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from askgraph.index.tokens import stem, tokens
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.metadata.names import SCHEMA_SPACES, local_name, standard_naming
from askgraph.metadata.times import Times, times_of
from askgraph.metadata.units import Unit, is_unit_like, unit_said
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name
from askgraph.search.grow.unit_nodes import descriptions_of, stated_units
from askgraph.search.linking.word_lists import shared_words
from askgraph.traversal.arrays import GraphArrays, Ids
from askgraph.traversal.literals import Sort

Path = tuple[tuple[int, bool], ...]

_MOST_KEPT = 50_000
"""Of so many sets of nodes it is kept if they have names."""

_EMPTY = np.zeros(0, dtype=np.int32)


@dataclass
class Schema:
    """What the candidates of one graph need to know of its classes and predicates.

    If `only` is given, no step is taken along another predicate.
    """

    graph: GraphArrays
    profile: Profile
    only: frozenset[str] | None = None
    _instances: dict[str, Ids] = field(default_factory=dict)
    _sorts: dict[int, Sort] = field(default_factory=dict)
    _classes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _around: dict[str, tuple[tuple[Path, Ids], ...]] = field(default_factory=dict)
    _words: dict[int, frozenset[str]] = field(default_factory=dict)
    _given: dict[int, Unit | None] = field(default_factory=dict)
    _stems: dict[str, frozenset[str]] = field(default_factory=dict)
    _own: dict[str, frozenset[str]] = field(default_factory=dict)
    _below: dict[str, bool] = field(default_factory=dict)
    _hints: dict[str, str] = field(default_factory=dict)
    _subjects: dict[int, bool] = field(default_factory=dict)
    _nary: dict[tuple[str, ...], bool] = field(default_factory=dict)
    _nameless: dict[bytes, bool] = field(default_factory=dict)

    @cached_property
    def predicates(self) -> dict[int, PredicateProfile]:
        """Profiles by predicate number."""
        numbered = ((self.graph.number(p.iri), p) for p in self.profile.predicates)
        return {number: p for number, p in numbered if number is not None}

    @cached_property
    def classes(self) -> dict[str, ClassProfile]:
        """Profiles by class IRI, without those of the schema languages themselves."""
        return {c.iri: c for c in self.profile.classes if not c.iri.startswith(SCHEMA_SPACES)}

    @cached_property
    def hidden(self) -> frozenset[int]:
        """Predicates that describe the schema or repeat names: no step is taken along them."""
        return frozenset(
            number
            for number, p in self.predicates.items()
            if p.iri.startswith(SCHEMA_SPACES)
            or standard_naming(p.iri)
            or p.iri in v.DESCRIPTION_PREDICATES
            or (self.only is not None and p.iri not in self.only)
        )

    @cached_property
    def open(self) -> frozenset[int]:
        """Predicates along which steps are taken."""
        return frozenset(range(len(self.graph.predicates))) - self.hidden

    @cached_property
    def leading(self) -> frozenset[int]:
        """Those of them whose objects are resources."""
        return frozenset(number for number in self.open if self.leads_on(number))

    def restricted(self, only: frozenset[str]) -> "Schema":
        """Return the same schema with steps along some predicates alone."""
        return replace(self, only=only, _around={})

    @cached_property
    def transitive(self) -> frozenset[int]:
        """Predicates that may be walked more than once."""
        return frozenset(number for number, p in self.predicates.items() if p.transitive)

    @cached_property
    def labelled(self) -> bool:
        """Whether the graph names its things by a standard label predicate."""
        return any(standard_naming(p.iri) == "name" for p in self.profile.predicates)

    @cached_property
    def kind(self) -> int | None:
        """The number of rdf:type."""
        return self.graph.number(v.RDF_TYPE)

    def instances(self, cls: str) -> Ids:
        """All instances of a class or of a class below it."""
        if cls not in self._instances:
            self._instances[cls] = self._found(cls)
        return self._instances[cls]

    def _found(self, cls: str) -> Ids:
        below, listed = {cls}, [cls]
        for one in listed:
            for other in self.profile.classes:
                if one in other.parents and other.iri not in below:
                    below.add(other.iri)
                    listed.append(other.iri)
        ids = [self.graph.terms.iri(iri) for iri in sorted(below)]
        known = np.array(sorted(at for at in ids if at is not None), dtype=np.int32)
        if self.kind is None or not len(known):
            return _EMPTY
        return self.graph.step(known, self.kind, inverse=True)

    def below(self, cls: str) -> bool:
        """Whether some instances of a class are only typed with a class below it."""
        if cls not in self._below:
            self._below[cls] = self._is_below(cls)
        return self._below[cls]

    def _is_below(self, cls: str) -> bool:
        at = self.graph.terms.iri(cls)
        if at is None or self.kind is None:
            return True
        own = self.graph.step(np.array([at], dtype=np.int32), self.kind, inverse=True)
        return len(own) < len(self.instances(cls))

    @cached_property
    def predicates_by_iri(self) -> dict[str, PredicateProfile]:
        """Profiles by predicate IRI."""
        return {p.iri: p for p in self.profile.predicates}

    def number(self, iri: str) -> int | None:
        """The number of a predicate."""
        return self._numbers.get(iri)

    def stated(self, ids: Ids, predicate: int) -> int | None:
        """The predicate that gives the value of nameless nodes to which a predicate leads.

        It is called as the predicate itself, or its number has a unit beside it.
        """
        same = self.same_named(ids, predicate)
        if same is not None or not self.is_nameless(ids):
            return same
        present = set(self.graph.predicates_of(ids[:50])[0].tolist())
        return next((v for v, unit, _ in self.quantities if {v, unit} <= present), None)

    def same_named(self, ids: Ids, predicate: int) -> int | None:
        """The predicate of nameless nodes that is called as the one that leads to them.

        So statements with qualifiers say their value: head of government → a statement → head of
        government → a person.
        """
        if not self.is_nameless(ids):
            return None
        own = self.words(predicate)
        for number in self.graph.predicates_of(ids[:50])[0].tolist():
            if number != predicate and number in self.predicates and self.words(number) == own:
                return int(number)
        return None

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {p.iri: number for number, p in self.predicates.items()}

    def classes_of(self, node: int) -> tuple[str, ...]:
        """The classes of a node, the smallest first."""
        if node not in self._classes:
            self._classes[node] = self._listed(node)
        return self._classes[node]

    def _listed(self, node: int) -> tuple[str, ...]:
        if self.kind is None or node < self.graph.terms.first_iri:
            return ()
        found = self.graph.step(np.array([node], dtype=np.int32), self.kind)
        names = [self.graph.terms.value(int(at)) for at in found]
        known = [self.classes[name] for name in names if name in self.classes]
        return tuple(c.iri for c in sorted(known, key=lambda c: (c.instances, c.iri)))

    def all_are(self, ids: Ids, cls: str) -> bool:
        """Whether nodes (a sample of them) are instances of a class."""
        sample, members = ids[:: len(ids) // 10 + 1], self.instances(cls)
        if not len(members):
            return False
        places = np.minimum(members.searchsorted(sample), len(members) - 1)
        return bool((members[places] == sample).all())

    def is_nary(self, ids: Ids) -> bool:
        """Whether nodes stand for a relation between others: nameless, with several links."""
        if not len(ids):
            return False
        classes = self.classes_of(int(ids[0]))
        if classes not in self._nary:
            self._nary[classes] = any(self.classes[c].nary for c in classes)
        return self._nary[classes]

    def is_nameless(self, ids: Ids) -> bool:
        """Whether nodes have no name of any sort."""
        if not len(ids) or int(ids[0]) < self.graph.terms.first_iri:
            return False
        sample = ids[:20]
        key = sample.tobytes()
        if key not in self._nameless:
            if len(self._nameless) >= _MOST_KEPT:
                self._nameless.clear()
            self._nameless[key] = self.naming.isdisjoint(self.graph.present(sample))
        return self._nameless[key]

    def is_measured(self, ids: Ids) -> bool:
        """Whether nodes say in what a number at them is given: in a unit, a currency."""
        if not len(ids):
            return False
        return not self.units.isdisjoint(self.graph.predicates_of(ids[:20])[0].tolist())

    @cached_property
    def units(self) -> frozenset[int]:
        """The predicates of few texts that come again and again, as units and currencies do."""
        return frozenset(
            number for number, profile in self.predicates.items() if is_unit_like(profile)
        )

    @cached_property
    def times(self) -> Times:
        """What the graph knows of time."""
        return times_of(self.profile, self.graph if self.graph.complete else None)

    @cached_property
    def spans(self) -> tuple[tuple[int, int, bool], ...]:
        """The numbers of predicates that start and end the same things, and if it is a life."""
        numbered = (
            (self.number(span.start), self.number(span.end), span.life) for span in self.times.spans
        )
        return tuple(
            (start, end, life)
            for start, end, life in numbered
            if start is not None and end is not None
        )

    @cached_property
    def rank(self) -> int | None:
        """The number of the predicate that ranks statements."""
        return None if self.times.rank is None else self.number(self.times.rank)

    def unit(self, predicate: int) -> Unit | None:
        """The unit that a predicate's names or descriptions say its numbers are in."""
        if predicate not in self._given:
            self._given[predicate] = unit_said(
                self._texts(predicate), descriptions_of(self.graph, predicate)
            )
        return self._given[predicate]

    @cached_property
    def quantities(self) -> tuple[tuple[int, int, dict[int, Unit]], ...]:
        """Predicates of one node that give a number and its unit, with the units by term."""
        numbers = frozenset(p for p in self.predicates if self.sort(p) is Sort.NUMBER)
        said = [p for p in self.predicates if p not in self.hidden | self.naming]
        return tuple(stated_units(self.graph, said, self.naming, numbers))

    @cached_property
    def naming(self) -> frozenset[int]:
        """The predicates that carry names, of any sort."""
        return frozenset(number for number, p in self.predicates.items() if p.naming)

    def is_obvious(self, predicate: int, ids: Ids, said: frozenset[str]) -> bool:
        """Whether a predicate is called after the class of its objects: country, of a Country.

        Only classes among `said` count.
        """
        classes = self.classes_of(int(ids[0])) if len(ids) else ()
        return any(cls in said and self.words(predicate) & self._own_words(cls) for cls in classes)

    def _own_words(self, cls: str) -> frozenset[str]:
        if cls not in self._own:
            texts = [text for text, _ in self.classes[cls].names] + [local_name(cls)]
            self._own[cls] = frozenset(stem(word) for text in texts for word in tokens(text))
        return self._own[cls]

    def around(self, ids: Ids) -> tuple[tuple[Path, Ids], ...]:
        """What lies one or two steps from things like these, and the (predicate, inverse) steps.

        Looked up once for each class, from a sample of its instances.
        """
        classes = self.classes_of(int(ids[0])) if len(ids) else ()
        if not classes:
            return tuple(self._reached(ids)) if len(ids) <= 20 else ()
        if classes[0] not in self._around:
            self._around[classes[0]] = tuple(self._reached(self.instances(classes[0])))
        return self._around[classes[0]]

    def _reached(self, ids: Ids) -> Iterator[tuple[Path, Ids]]:
        first = list(self._neighbours(ids[:: len(ids) // 200 + 1]))
        yield from (((step,), found) for step, found in first)
        for step, found in first[:12]:
            for onward, further in self._neighbours(found[:: len(found) // 200 + 1]):
                if onward[0] != step[0]:
                    yield (step, onward), further

    def _neighbours(self, ids: Ids) -> Iterator[tuple[tuple[int, bool], Ids]]:
        for inverse in (False, True):
            for predicate in self.graph.predicates_of(ids, inverse=inverse)[0]:
                number = int(predicate)
                if number in self.hidden or not self.leads_on(number):
                    continue
                found = self.graph.step(ids, number, inverse=inverse)
                found = found[found >= self.graph.terms.first_iri]
                if len(found):
                    yield (number, inverse), found

    def leads_on(self, predicate: int) -> bool:
        """Whether a predicate's objects are resources."""
        p = self.predicates.get(predicate)
        return p is not None and bool(p.object_classes)

    def is_functional(self, predicate: int, *, inverse: bool = False) -> bool:
        """Whether each subject has one object (or each object one subject)."""
        p = self.predicates.get(predicate)
        if p is None:
            return False
        return p.triples <= (p.objects if inverse else p.subjects) * 1.02

    def sort(self, predicate: int) -> Sort:
        """The sort of most of a predicate's values; NONE if they are resources."""
        if predicate not in self._sorts:
            self._sorts[predicate] = self._most(predicate)
        return self._sorts[predicate]

    def _most(self, predicate: int) -> Sort:
        objects = self.graph.ends(predicate, inverse=True)
        literals = objects[objects < self.graph.terms.first_iri]
        if 2 * len(literals) < len(objects):
            return Sort.NONE
        return Sort(int(np.bincount(self.graph.sorts[literals]).argmax()))

    def datatype(self, predicate: int) -> str:
        """The datatype of most of a predicate's values."""
        listed = self.predicates[predicate].datatypes
        return listed[0][0] if listed else v.XSD_STRING

    def words(self, predicate: int) -> frozenset[str]:
        """The stems of a predicate's names."""
        if predicate not in self._words:
            texts = self._texts(predicate)
            self._words[predicate] = frozenset(stem(w) for text in texts for w in tokens(text))
        return self._words[predicate]

    def names_subject(self, predicate: int) -> bool:
        """Whether a predicate's name says what its subject is: it ends in "of"."""
        if predicate not in self._subjects:
            last = shared_words().names["subject"]
            self._subjects[predicate] = any(
                not last.isdisjoint(text.split()[-1:]) for text in self._texts(predicate)
            )
        return self._subjects[predicate]

    def hint_of(self, iri: str) -> str:
        """Return words to name a variable from: a label, or the local name."""
        if iri not in self._hints:
            profiles = (self.predicates_by_iri.get(iri), self.classes.get(iri))
            names = next((one.names for one in profiles if one is not None and one.names), ())
            english = [text for text, language in names if language in ("en", "")]
            texts = english or [text for text, _ in names] or [words_of_local_name(iri)]
            self._hints[iri] = texts[0]
        return self._hints[iri]

    def is_noun(self, name: str) -> bool:
        """Whether a predicate's name is a noun, as far as words tell: a class has it, or "… of"."""
        words = [stem(word) for word in tokens(name)]
        last = shared_words().names["subject"]
        return bool(set(words) & self.class_words) or not last.isdisjoint(words[-1:])

    @cached_property
    def class_words(self) -> frozenset[str]:
        """The stems of all names of classes."""
        names = [text for c in self.classes.values() for text, _ in c.names]
        names += [local_name(c.iri) for c in self.classes.values()]
        return frozenset(stem(word) for text in names for word in tokens(text))

    def class_stems(self, cls: str) -> frozenset[str]:
        """The stems of the names of a class and of those above it."""
        if cls not in self._stems:
            self._stems[cls] = self._stems_of(cls)
        return self._stems[cls]

    def _stems_of(self, cls: str) -> frozenset[str]:
        found: set[str] = set()
        listed, seen = [cls], set()
        while listed:
            one = listed.pop()
            profile = self.classes.get(one)
            if profile is None or one in seen:
                continue
            seen.add(one)
            texts = [text for text, _ in profile.names] + [local_name(one)]
            found.update(stem(word) for text in texts for word in tokens(text))
            listed += profile.parents
        return frozenset(found)

    def _texts(self, predicate: int) -> list[str]:
        p = self.predicates[predicate]
        return [text for text, _ in p.names] + [local_name(p.iri)]

    def any_name(self, ids: Ids) -> int | None:
        """The predicate that names nodes, standard or not."""
        own = self.name_predicate(ids)
        if own is not None or not len(ids):
            return own
        for number in self.graph.predicates_of(ids[:50])[0]:
            p = self.predicates.get(int(number))
            if p is not None and p.naming == "name":
                return int(number)
        return None

    def name_predicate(self, ids: Ids) -> int | None:
        """The predicate that names nodes in the graph's own way, if no standard one does."""
        if not len(ids):
            return None
        for cls in self.classes_of(int(ids[0])):
            iri = self.classes[cls].name_predicate
            if iri is not None and not standard_naming(iri):
                return self.graph.number(iri)
        return None
