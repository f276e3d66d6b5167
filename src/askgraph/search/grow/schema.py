"""A profile's facts by predicate number and class, as growing candidates asks for them."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.graph.literals import Sort, split_literal
from askgraph.graph.measures import (
    Times,
    Unit,
    is_unit_like,
    times_of,
    unit_by_iri,
    unit_of_text,
    unit_said,
)
from askgraph.graph.names import classes_above, local_name, objects_of, standard_naming
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.index import stem, tokens
from askgraph.search.linking.word_lists import shared_words
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import namespace_of, words_of_local_name
from askgraph.sparql.vocabulary import SCHEMA_SPACES

Path = tuple[tuple[int, bool], ...]

_MOST_KEPT = 50_000
"""Of so many sets of nodes it is kept if they have names."""
_SAMPLE, _WIDE_SAMPLE, _WIDEST_SAMPLE = 20, 50, 200
"""Nodes looked at for whether all have names, for the predicates of a kind, for what is around."""
_FIRST_STEPS = 12
"""First steps that are gone on from when looking for what is around."""
_SINGLE: Final = 1.02
"""Objects a subject has in the mean if it has one, but for mistakes."""
_MOST_UNITS = 200
_SPREAD = 400
"""So many nodes, spread over all, say which predicates there are."""
_FEW = 16
"""So many nodes say whether a predicate repeats another one."""
_BEGUN = 4
"""So many letters of a word are looked for in all names, before those that have them are read."""
_DESCRIBING = frozenset(v.DESCRIPTION_PREDICATES)
_EMPTY = np.zeros(0, dtype=np.int32)

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def _kept(method: Callable[["Schema", _Key], _Value]) -> Callable[["Schema", _Key], _Value]:
    """Keep what a method finds for each argument."""
    name = method.__name__

    @wraps(method)
    def looked_up(schema: "Schema", key: _Key) -> _Value:
        found = schema.found[name]
        if key not in found:
            found[key] = method(schema, key)
        value: _Value = found[key]
        return value

    return looked_up


@dataclass
class Schema:
    """What the candidates of one graph need to know of its classes and predicates.

    If `only` is given, no step is taken along another predicate. What was `found` is kept, by the
    name of the method that did.
    """

    graph: GraphArrays
    profile: Profile
    only: frozenset[str] | None = None
    found: dict[str, dict[Any, Any]] = field(default_factory=lambda: defaultdict(dict))

    def restricted(self, only: frozenset[str]) -> "Schema":
        """Return the same schema with steps along some predicates alone."""
        found = defaultdict(dict, {k: kept for k, kept in self.found.items() if k != "_around"})
        return replace(self, only=only, found=found)

    # Predicates

    @cached_property
    def predicates(self) -> dict[int, PredicateProfile]:
        """Profiles by predicate number."""
        iris = self.graph.terms.values(self.graph.predicates)
        numbers = {iri: number for number, iri in enumerate(iris)}
        return {numbers[p.iri]: p for p in self.profile.predicates if p.iri in numbers}

    @cached_property
    def predicates_by_iri(self) -> dict[str, PredicateProfile]:
        """Profiles by predicate IRI."""
        return {p.iri: p for p in self.profile.predicates}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {p.iri: number for number, p in self.predicates.items()}

    def number(self, iri: str) -> int | None:
        """The number of a predicate."""
        return self._numbers.get(iri)

    @_kept
    def node(self, iri: str) -> int | None:
        """The id of what a question names by an IRI."""
        return self.graph.terms.iri(iri)

    @cached_property
    def kind(self) -> int | None:
        """The number of rdf:type."""
        return self.graph.number(v.RDF_TYPE)

    @cached_property
    def hidden(self) -> frozenset[int]:
        """Predicates that describe, or repeat names or classes: no step is taken along them."""
        return frozenset(
            number
            for number, p in self.predicates.items()
            if p.iri.startswith(SCHEMA_SPACES)
            or standard_naming(p.iri)
            or p.iri in (*v.DESCRIPTION_PREDICATES, *v.WIKIBASE_ASIDE)
            or (self.only is not None and p.iri not in self.only)
            or self._repeats_classes(number)
        )

    def _repeats_classes(self, predicate: int) -> bool:
        """Whether a predicate leads from things to their classes, as far as a few of them tell."""
        if self.kind is None or not self._leads_to_class[predicate] or not self.leads_on(predicate):
            return False
        step, ends = self.graph.step, self.graph.ends(predicate)
        some = ends[:: max(1, len(ends) // _FEW), None]
        left = (np.setdiff1d(step(one, predicate), step(one, self.kind)) for one in some)
        return not any(map(len, left))

    @cached_property
    def _leads_to_class(self) -> NDArray[np.bool_]:
        """Whether the first object of each predicate is what something is of."""
        assert self.kind is not None
        starts, ends = self.graph.predicate_offsets[:-1], self.graph.predicate_offsets[1:]
        leads: NDArray[np.bool_] = starts == ends  # a predicate of no triple is like any other
        first = self.graph.objects[starts[~leads]]
        leads[~leads] = np.isin(first, self.graph.ends(self.kind, inverse=True))
        return leads

    @cached_property
    def open(self) -> frozenset[int]:
        """Predicates along which steps are taken."""
        return frozenset(range(len(self.graph.predicates))) - self.hidden

    @cached_property
    def leading(self) -> frozenset[int]:
        """Those of them whose objects are resources."""
        return frozenset(number for number in self.open if self.leads_on(number))

    @cached_property
    def mixed(self) -> frozenset[int]:
        """Those of them whose objects are literals in part."""
        return frozenset(number for number in self.leading if self.predicates[number].datatypes)

    @cached_property
    def transitive(self) -> frozenset[int]:
        """Predicates that may be walked more than once."""
        return frozenset(number for number, p in self.predicates.items() if p.transitive)

    def is_declared_transitive(self, predicate: int) -> bool:
        """Whether the graph says itself that a predicate is transitive."""
        iri = self.graph.iri_of(predicate)
        return v.OWL_TRANSITIVE_PROPERTY in objects_of(self.graph, iri, v.RDF_TYPE)

    @cached_property
    def naming(self) -> frozenset[int]:
        """The predicates that carry names, of any sort."""
        return frozenset(number for number, p in self.predicates.items() if p.naming)

    def leads_on(self, predicate: int) -> bool:
        """Whether a predicate's objects are resources."""
        p = self.predicates.get(predicate)
        return p is not None and bool(p.object_classes)

    def is_functional(self, predicate: int, *, inverse: bool = False) -> bool:
        """Whether each subject has one object (or each object one subject)."""
        p = self.predicates.get(predicate)
        return p is not None and p.triples <= (p.objects if inverse else p.subjects) * _SINGLE

    @_kept
    def identifies(self, step: tuple[int, bool]) -> bool:
        """Whether the nodes that a predicate leads to (or from, if inverse) have one such edge."""
        predicate, inverse = step
        if inverse and predicate in self.claims:
            return True
        p = self.predicates.get(predicate)
        if p is None or p.triples != (p.objects if inverse else p.subjects):
            return False
        if self.graph.complete:
            return True
        starts, _ = self.graph.pairs(self.graph.ends(predicate), predicate)
        return len(starts) == len(self.graph.ends(predicate, inverse=inverse))

    @cached_property
    def claims(self) -> frozenset[int]:
        """The predicates that lead to statements with a rank, and those of their namespace."""
        if self.rank is None:
            return frozenset()
        entering = self.graph.present(self.graph.ends(self.rank), inverse=True)
        spaces = {namespace_of(self.graph.iri_of(number)) for number in entering}
        return frozenset(n for n, p in self.predicates.items() if namespace_of(p.iri) in spaces)

    def leads_nowhere(self, predicate: int, ids: Ids) -> bool:
        """Whether a predicate leads to statements of which nothing is known."""
        return predicate in self.claims and not self.graph.present(ids)

    def is_statement(self, ids: Ids) -> bool:
        """Whether nodes are statements, which say something and are not asked for themselves."""
        return bool(self.claims) and not self.claims.isdisjoint(
            self.graph.present(ids[:1], inverse=True)
        )

    @_kept
    def _property(self, predicate: int) -> frozenset[tuple[str, str]]:
        p = self.predicates.get(predicate)
        return frozenset(p.names) if p is not None else frozenset()

    def is_one_relation(self, one: int, other: int, ids: Ids) -> bool:
        """Whether two predicates at nameless nodes are the parts of a relation of one name."""
        names = self._property(one) if one != other else None
        return bool(names) and names == self._property(other) and self.is_nameless(ids)

    @_kept
    def sort(self, predicate: int) -> Sort:
        """The sort of most of a predicate's values; NONE if they are resources."""
        objects = self.graph.ends(predicate, inverse=True)
        literals = objects[objects < self.graph.terms.first_iri]
        if 2 * len(literals) < len(objects):
            return Sort.NONE
        return Sort(int(np.bincount(self.graph.sorts[literals]).argmax()))

    def datatype(self, predicate: int) -> str:
        """The datatype of most of a predicate's values."""
        listed = self.predicates[predicate].datatypes
        return listed[0][0] if listed else v.XSD_STRING

    def is_mixed(self, predicate: int) -> bool:
        """Whether a predicate's values are days of several datatypes."""
        listed = [name for name, _ in self.predicates[predicate].datatypes]
        return len(listed) > 1 and sum(name in v.DATE_DATATYPES for name in listed) > 1

    # Classes and nodes

    @cached_property
    def classes(self) -> dict[str, ClassProfile]:
        """Profiles by class IRI, without those of the schema languages themselves.

        Classes that have all their instances by those below them are among them.
        """
        listed = (*self.profile.classes, *classes_above(self.graph, self.profile))
        return {c.iri: c for c in listed if not c.iri.startswith(SCHEMA_SPACES)}

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        """The classes right below each class that has such."""
        found: dict[str, list[str]] = {}
        for one in self.classes.values():
            for parent in dict.fromkeys(one.parents):
                found.setdefault(parent, []).append(one.iri)
        return found

    @_kept
    def instances(self, cls: str) -> Ids:
        """All instances of a class or of a class below it."""
        below, listed = {cls}, [cls]
        for one in listed:
            further = [other for other in self._children.get(one, ()) if other not in below]
            below.update(further)
            listed += further
        ids = [self.graph.terms.iri(iri) for iri in sorted(below)]
        known = np.array(sorted(at for at in ids if at is not None), dtype=np.int32)
        if self.kind is None or not len(known):
            return _EMPTY
        return self.graph.step(known, self.kind, inverse=True)

    @_kept
    def below(self, cls: str) -> bool:
        """Whether some instances of a class are only typed with a class below it."""
        if self.profile.types and not self.graph.complete:
            return cls in self._children
        at = self.graph.terms.iri(cls)
        if at is None or self.kind is None:
            return True
        own = self.graph.step(np.array([at], dtype=np.int32), self.kind, inverse=True)
        return len(own) < len(self.instances(cls))

    @_kept
    def classes_of(self, node: int) -> tuple[str, ...]:
        """The classes of a node, the smallest first."""
        if self.kind is None or node < self.graph.terms.first_iri:
            return ()
        found = self.graph.step(np.array([node], dtype=np.int32), self.kind)
        names = [self.graph.terms.value(int(at)) for at in found]
        known = [self.classes[name] for name in names if name in self.classes]
        return tuple(c.iri for c in sorted(known, key=lambda c: (c.instances, c.iri)))

    def known(self, node: int) -> float:
        """How much is said of a node: its sitelinks in a Wikibase, else its edges."""
        links = self.graph.number(v.WIKIBASE_SITELINKS)
        if links is not None and node >= self.graph.terms.first_iri:
            found = self.graph.step(np.array([node], dtype=np.int32), links)
            if len(found):
                return float(self.graph.values[found[0]])
        return self.graph.degree(node)

    def all_are(self, ids: Ids, cls: str) -> bool:
        """Whether nodes (a sample of them) are instances of a class."""
        sample, members = ids[:: len(ids) // 10 + 1], self.instances(cls)
        if not len(members):
            return False
        places = np.minimum(members.searchsorted(sample), len(members) - 1)
        return bool((members[places] == sample).all())

    def is_nary(self, ids: Ids) -> bool:
        """Whether nodes stand for a relation between others: nameless, with several links."""
        return bool(len(ids)) and self._some_nary(self.classes_of(int(ids[0])))

    @_kept
    def _some_nary(self, classes: tuple[str, ...]) -> bool:
        return any(self.classes[cls].nary for cls in classes)

    def is_nameless(self, ids: Ids) -> bool:
        """Whether nodes have no name of any sort."""
        if not len(ids) or int(ids[0]) < self.graph.terms.first_iri:
            return False
        sample, known = ids[:_SAMPLE], self.found["is_nameless"]
        key = sample.tobytes()
        if key not in known:
            if len(known) >= _MOST_KEPT:
                known.clear()
            known[key] = self.naming.isdisjoint(self.graph.present(sample))
        return bool(known[key])

    def around(self, ids: Ids) -> tuple[tuple[Path, frozenset[int]], ...]:
        """The predicates of what lies one or two steps from things like these, and the steps.

        Looked up once for each class, from a sample of its instances.
        """
        classes = self.classes_of(int(ids[0])) if len(ids) else ()
        if classes:
            return self._around(classes[0])
        return tuple(self._reached(ids)) if len(ids) <= _SAMPLE else ()

    @_kept
    def _around(self, cls: str) -> tuple[tuple[Path, frozenset[int]], ...]:
        return tuple(self._reached(self.instances(cls)))

    def _reached(self, ids: Ids) -> Iterator[tuple[Path, frozenset[int]]]:
        first = list(self._neighbours(ids))
        yield from (((step,), self.graph.present(spread(found))) for step, found in first)
        for step, found in first[:_FIRST_STEPS]:
            for onward, further in self._neighbours(found):
                if onward[0] != step[0]:
                    yield (step, onward), self.graph.present(spread(further))

    def _neighbours(self, ids: Ids) -> Iterator[tuple[tuple[int, bool], Ids]]:
        ids = ids[:: len(ids) // _WIDEST_SAMPLE + 1]
        for inverse in (False, True):
            for number in self.graph.predicates_of(ids, inverse=inverse)[0].tolist():
                if number not in self.hidden and self.leads_on(number):
                    found = self.graph.step(ids, number, inverse=inverse)
                    found = found[found >= self.graph.terms.first_iri]
                    if len(found):
                        yield (number, inverse), found

    # Names

    def _texts(self, profile: PredicateProfile | ClassProfile) -> list[str]:
        return [text for text, _ in profile.names] + [local_name(profile.iri)]

    @_kept
    def texts(self, predicate: int) -> tuple[str, ...]:
        """A predicate's names, folded."""
        return tuple(" ".join(tokens(text)) for text in self._texts(self.predicates[predicate]))

    @_kept
    def words(self, predicate: int) -> frozenset[str]:
        """The stems of a predicate's names."""
        return _stems(self._texts(self.predicates[predicate]))

    @_kept
    def names_subject(self, predicate: int) -> bool:
        """Whether a predicate's name says what its subject is: it ends in "of"."""
        last, texts = shared_words().names["subject"], self._texts(self.predicates[predicate])
        return any(not last.isdisjoint(text.split()[-1:]) for text in texts)

    @cached_property
    def redirects(self) -> frozenset[int]:
        """The predicates that lead from what has only a name left to what it was merged into."""
        said = shared_words().names["redirects"]
        begun = re.compile("|".join({word[:_BEGUN] for word in said}))

        def tells(number: int, p: PredicateProfile) -> bool:
            texts = " ".join((p.iri, *(text for text, _ in p.names))).casefold()
            return bool(begun.search(texts)) and not said.isdisjoint(self.words(number))

        return frozenset(
            number
            for number, p in self.predicates.items()
            if p.object_classes and (p.iri == v.OWL_SAME_AS or tells(number, p))
        )

    @cached_property
    def _bare(self) -> frozenset[int]:
        """The predicates that tell nothing of a thing but how it is called and what it is."""
        described = (n for n, p in self.predicates.items() if p.iri in _DESCRIBING)
        return self.naming | self.redirects | frozenset(described)

    def merged(self, node: int) -> int | None:
        """Return what a thing of which only names are told was merged into; None of others."""
        seen = [node]
        while (has := self._has(seen[-1])) and has <= self._bare:
            ids = np.array(seen[-1:], dtype=np.int32)
            ends = {at for one in has & self.redirects for at in self.graph.step(ids, one).tolist()}
            if len(ends) != 1 or not self.graph.terms.is_iri(end := ends.pop()) or end in seen:
                return None
            seen.append(end)
        return seen[-1] if has and len(seen) > 1 else None

    def _has(self, node: int) -> frozenset[int]:
        """The predicates of a node, without that of its class."""
        return self.graph.present(np.array([node], dtype=np.int32)) - {self.kind}

    @_kept
    def hint_of(self, iri: str) -> str:
        """Return words to name a variable from: a label, or the local name."""
        profiles = (self.predicates_by_iri.get(iri), self.classes.get(iri))
        names = next((one.names for one in profiles if one is not None and one.names), ())
        english = [text for text, language in names if language in ("en", "")]
        return (english or [text for text, _ in names] or [words_of_local_name(iri)])[0]

    def is_noun(self, name: str) -> bool:
        """Whether a predicate's name is a noun, as far as words tell: a class has it, or "… of"."""
        words = [stem(word) for word in tokens(name)]
        last = shared_words().names["subject"]
        return not self._class_words.isdisjoint(words) or not last.isdisjoint(words[-1:])

    @cached_property
    def _class_words(self) -> frozenset[str]:
        return frozenset().union(*map(self._own_stems, self.classes))

    @_kept
    def _own_stems(self, cls: str) -> frozenset[str]:
        return _stems(self._texts(self.classes[cls]))

    @_kept
    def lineage(self, cls: str) -> tuple[str, ...]:
        """A class and those above it, as far as the graph has them."""
        listed = [cls]
        for one in listed:
            if one in self.classes:
                listed += [above for above in self.classes[one].parents if above not in listed]
        return tuple(one for one in listed if one in self.classes)

    @_kept
    def class_stems(self, cls: str) -> frozenset[str]:
        """The stems of the names of a class and of those above it."""
        return frozenset[str]().union(*map(self._own_stems, self.lineage(cls)))

    def is_obvious(self, predicate: int, ids: Ids, said: frozenset[str]) -> bool:
        """Whether a predicate is called after the class of its objects: country, of a Country.

        Only classes among `said` count.
        """
        classes = self.classes_of(int(ids[0])) if len(ids) else ()
        return any(cls in said and self.words(predicate) & self._own_stems(cls) for cls in classes)

    def any_name(self, ids: Ids) -> int | None:
        """The predicate that names nodes, standard or not."""
        own = self.name_predicate(ids)
        if own is not None or not len(ids):
            return own
        for number in self._present(ids):
            p = self.predicates.get(number)
            if p is not None and p.naming == "name":
                return number
        return None

    def name_predicate(self, ids: Ids) -> int | None:
        """The predicate that names nodes in the graph's own way, if no standard one does."""
        for cls in self.classes_of(int(ids[0])) if len(ids) else ():
            iri = self.classes[cls].name_predicate
            if iri is not None and not standard_naming(iri):
                return self.graph.number(iri)
        return None

    # Statements, times and units

    def stated(self, ids: Ids, predicate: int) -> int | None:
        """The predicate that gives the value of nameless nodes to which a predicate leads.

        It is called as the predicate itself, as in statements with qualifiers (head of government →
        a statement → head of government → a person), or its number has a unit beside it.
        """
        if not self.is_nameless(ids):
            return None
        own, present = self.words(predicate), self._present(ids)
        for number in present:
            said = number in self.predicates and self.words(number) == own
            if said and (number != predicate or self.is_key_of(ids, number)):
                return number
        return next((v for v, unit, _ in self.quantities if {v, unit} <= set(present)), None)

    def is_key_of(self, ids: Ids, predicate: int) -> bool:
        """Whether a predicate that leads to things gives their own key as well, as a literal.

        So it is if a column of a table and those that refer to it are called the same.
        """
        if predicate not in self.mixed:
            return False
        keys = self.graph.step(ids[:_SAMPLE], predicate)
        return len(keys) > 0 and int(keys[-1]) < self.graph.terms.first_iri

    def _present(self, ids: Ids) -> list[int]:
        """The predicates of a sample of nodes, in their order."""
        return [int(number) for number in self.graph.predicates_of(ids[:_WIDE_SAMPLE])[0]]

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

    @_kept
    def unit(self, predicate: int) -> Unit | None:
        """The unit that a predicate's names or descriptions say its numbers are in."""
        texts = self._texts(self.predicates[predicate])
        return unit_said(texts, self._descriptions(predicate))

    def _descriptions(self, predicate: int) -> Iterator[str]:
        """What a graph says of a predicate in whole sentences."""
        numbers = (self.graph.number(iri) for iri in v.DESCRIPTION_PREDICATES)
        given = (number for number in numbers if number is not None)
        return self._literals(self.graph.predicates[predicate], given)

    def _literals(self, node: int, predicates: Iterable[int]) -> Iterator[str]:
        """The texts that some predicates give a node."""
        nodes = np.array([node], dtype=np.int32)
        for number in predicates:
            for text in self.graph.step(nodes, number).tolist():
                if text < self.graph.terms.first_iri:
                    yield split_literal(self.graph.terms.text(text))[0]

    def is_measured(self, ids: Ids) -> bool:
        """Whether nodes say in what a number at them is given: in a unit, a currency."""
        present = self.graph.predicates_of(ids[:_SAMPLE])[0].tolist() if len(ids) else ()
        return not self._units.isdisjoint(present)

    @cached_property
    def _units(self) -> frozenset[int]:
        """The predicates of few texts that come again and again, as units and currencies do."""
        return frozenset(number for number, p in self.predicates.items() if is_unit_like(p))

    @cached_property
    def quantities(self) -> tuple[tuple[int, int, dict[int, Unit]], ...]:
        """Predicates of one node that give a number and its unit, with the units by term."""
        found, aside = [], self.hidden | self.naming
        for predicate in self.predicates:
            units = {} if predicate in aside else self._units_among(predicate)
            if units:
                present = self.graph.predicates_of(self.graph.ends(predicate))[0].tolist()
                numbers = [p for p in present if p in self.predicates and self._is_number(p)]
                found += [(value, predicate, units) for value in numbers]
        return tuple(found)

    def _is_number(self, predicate: int) -> bool:
        return self.sort(predicate) is Sort.NUMBER

    def _units_among(self, predicate: int) -> dict[int, Unit]:
        """The units that a predicate's objects are; none if most are something else."""
        objects = self.graph.ends(predicate, inverse=True)
        if not 0 < len(objects) <= _MOST_UNITS:
            return {}
        known = ((at, self._unit_of(at)) for at in objects.tolist())
        units = {at: unit for at, unit in known if unit is not None}
        return units if 2 * len(units) > len(objects) else {}

    def _unit_of(self, term: int) -> Unit | None:
        """The unit that a term is: by its IRI, its text, or its label."""
        terms = self.graph.terms
        if term < terms.first_iri:
            return unit_of_text(split_literal(terms.text(term))[0])
        named = map(unit_of_text, self._literals(term, self.naming))
        unit = unit_by_iri(terms.value(term))
        return unit or next((one for one in named if one is not None), None)


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for text in texts for word in tokens(text))


def spread(ids: Ids) -> Ids:
    """Return a sample of nodes, spread over all; few as they are."""
    return ids if len(ids) <= _SPREAD else ids[:: len(ids) // _SPREAD]
