"""A graph's schema by predicate number and class: facts, kinds and codes, as a search needs them.

Words in the names of classes and predicates tell whether they hold persons, bodies, places or
times, as do the classes above, and predicates that only one kind has. A question word says what the
head of a predicate's name would: "where … launched" names a launch site, "where" a location. The
other words of that name are then all of it.

Codes are texts for true and false, and for words of a closed table. A symmetric relation that is
stated in one direction holds in both. What words come from is an origin, what they go to is a
destination.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from askgraph.deadline import in_time
from askgraph.graph.arrays import GraphArrays, Ids, objects_of
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
from askgraph.graph.profile import (
    ClassProfile,
    PredicateProfile,
    Profile,
    classes_above,
    standard_naming,
)
from askgraph.index.names import Kind, folded, stem, tokens
from askgraph.search.expand import Doubt, Node
from askgraph.search.link import Link, LinkedQuestion, alikeness
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.search.tokenize.word_lists import (
    NONE,
    Kinds,
    kind_words,
    kinds_of_names,
    kinds_of_word,
    shared_words,
    signs_in,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import local_name, namespace_of, words_of_local_name
from askgraph.sparql.vocabulary import GEO, SCHEMA_SPACES

Path = tuple[tuple[int, bool], ...]

_MOST_KEPT = 50_000  # of so many sets of nodes it is kept if they have names
_SAMPLE, _WIDE_SAMPLE, _WIDEST_SAMPLE = 20, 50, 200
"""Nodes looked at for whether all have names, for the predicates of a kind, for what is around."""
_FIRST_STEPS = 12  # first steps that are gone on from when looking for what is around
_SINGLE: Final = 1.02  # objects a subject has in the mean if it has one, but for mistakes
_MOST_UNITS = 200
_SPREAD = 400  # so many nodes, spread over all, say which predicates there are
_FEW = 16  # so many nodes say whether a predicate repeats another one
_BEGUN = 4
"""So many letters of a word are looked for in all names, before those that have them are read."""
_DESCRIBING = frozenset(v.DESCRIPTION_PREDICATES)
_EMPTY = np.zeros(0, dtype=np.int32)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def remember(
    find: Callable[Concatenate["Schema", _P], _R],
) -> Callable[Concatenate["Schema", _P], _R]:
    """Keep what a function of a schema finds for its other arguments."""

    @wraps(find)
    def look_up(schema: "Schema", /, *key: _P.args, **named: _P.kwargs) -> _R:
        found, arguments = schema.found[find.__name__], (*key, *named.values())
        if arguments not in found:
            found[arguments] = find(schema, *key, **named)
        value: _R = found[arguments]
        return value

    return look_up


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

    @remember
    def node(self, iri: str) -> int | None:
        """The id of what a question names by an IRI."""
        return self.graph.terms.iri(iri)

    def node_of(self, link: Link) -> int | None:
        """The id of the thing or literal that a link leads to."""
        return self.graph.terms.find(
            f"<{link.target}>" if link.kind is Kind.ENTITY else link.target
        )

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

    @remember
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

    @remember
    def _property(self, predicate: int) -> frozenset[tuple[str, str]]:
        p = self.predicates.get(predicate)
        return frozenset(p.names) if p is not None else frozenset()

    def is_one_relation(self, one: int, other: int, ids: Ids) -> bool:
        """Whether two predicates at nameless nodes are the parts of a relation of one name."""
        names = self._property(one) if one != other else None
        return bool(names) and names == self._property(other) and self.is_nameless(ids)

    @remember
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

    @remember
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

    @remember
    def below(self, cls: str) -> bool:
        """Whether some instances of a class are only typed with a class below it."""
        if self.profile.types and not self.graph.complete:
            return cls in self._children
        at = self.graph.terms.iri(cls)
        if at is None or self.kind is None:
            return True
        own = self.graph.step(np.array([at], dtype=np.int32), self.kind, inverse=True)
        return len(own) < len(self.instances(cls))

    @remember
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

    @remember
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

    @remember
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

    @remember
    def texts(self, predicate: int) -> tuple[str, ...]:
        """A predicate's names, folded."""
        return tuple(" ".join(tokens(text)) for text in self._texts(self.predicates[predicate]))

    @remember
    def words(self, predicate: int) -> frozenset[str]:
        """The stems of a predicate's names."""
        return _stems(self._texts(self.predicates[predicate]))

    @remember
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

    @remember
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

    @remember
    def _own_stems(self, cls: str) -> frozenset[str]:
        return _stems(self._texts(self.classes[cls]))

    @remember
    def lineage(self, cls: str) -> tuple[str, ...]:
        """A class and those above it, as far as the graph has them."""
        listed = [cls]
        for one in listed:
            if one in self.classes:
                listed += [above for above in self.classes[one].parents if above not in listed]
        return tuple(one for one in listed if one in self.classes)

    @remember
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

    @remember
    def unit(self, predicate: int) -> Unit | None:
        """The unit that a predicate's names or descriptions say its numbers are in."""
        texts = self._texts(self.predicates[predicate])
        numbers = (self.graph.number(iri) for iri in v.DESCRIPTION_PREDICATES)
        given = (number for number in numbers if number is not None)
        return unit_said(texts, self._literals(self.graph.predicates[predicate], given))

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


_LOOKED_AT = 20  # so many nodes tell the classes of all
_CLASSES = 4  # so many classes of what a predicate leads to, the most frequent ones

_FIRST, _LAST = 1000, 2100  # whole numbers between these may all be years

KINDS: Mapping[str, tuple[str, ...]] = {
    "person": ("persons", "bodies"),
    "place": ("places",),
    "date": ("times",),
    "year": ("times",),
}
"""The kinds of things that each question word asks for."""
_SIMILARITY = 0.9  # the share of a name that a question word and the other words hold together
_BARE = 0.6  # the same if the question word alone stands for the name
_HINT = 0.1  # the quality of a question word: it brings next to nothing, but the step is no guess
_SYNONYM = 0.75
"""The quality of a synonym, and of a word that only begins alike: "lanzado", "lanzamiento"."""
_BEGINNING = 5  # so many letters that words of one root begin with: the kind tells the rest
_AKIN = 0.7  # words at least so alike stand for each other
_SHARE = 0.3
"""All predicates are read until this share of the time is gone; a later question tries anew."""
_DATES = (Sort.DATE, Sort.YEAR, Sort.TEXT_DATE)


@remember
def kinds_of_class(schema: Schema, cls: str) -> Kinds:
    """Return the kinds of a class's instances; none if nothing tells."""
    found: Kinds = NONE
    listed = [cls]
    for one in listed:
        profile = schema.classes.get(one)
        if profile is not None:
            found |= kinds_of_names(profile.names or ((words_of_local_name(one), ""),))
            listed += [above for above in profile.parents if above not in listed]
    signs = _signs(schema)
    told = NONE.union(*(signs.get(one, NONE) for one in listed))
    return found or (told if len(told) == 1 else NONE)


def _signs(schema: Schema) -> dict[str, Kinds]:
    """The kinds that a class's predicates tell of."""
    known = schema.found["signs_of_classes"]
    if not known:
        found: dict[str, Kinds] = {"": NONE}
        for number, profile in (read := in_time(schema.predicates.items(), share=_SHARE)):
            told = signs_in(schema.words(number))
            if any(name.startswith(GEO) for name, _ in profile.datatypes):
                told |= {"places"}
            for cls, _ in profile.subject_classes if told else ():
                found[cls] = found.get(cls, NONE) | told
        if read.cut:
            return found
        known |= found
    return known


@remember
def kinds_of_predicate(schema: Schema, number: int) -> Kinds:
    """Return the kinds that a predicate's own names tell of: place for "birth place"."""
    profile = schema.predicates[number]
    return kinds_of_names((*profile.names, (words_of_local_name(profile.iri), "")))


@remember
def kinds_of_objects(schema: Schema, number: int) -> Kinds:
    """Return the kinds of what a predicate leads to, by its names and by the classes."""
    classes = schema.predicates[number].object_classes[:_CLASSES]
    own = kinds_of_predicate(schema, number)
    return own.union(*(kinds_of_class(schema, cls) for cls, _ in classes))


def kinds_of_nodes(schema: Schema, ids: Ids) -> Kinds:
    """Return the kinds of some nodes, by the classes of a few of them."""
    first = schema.graph.terms.first_iri
    sample = ids[:: len(ids) // _LOOKED_AT + 1].tolist()
    classes = {cls for at in sample if at >= first for cls in schema.classes_of(at)}
    return NONE.union(*(kinds_of_class(schema, cls) for cls in classes))


@remember
def has_kind(schema: Schema, kind: str) -> bool:
    """Return whether instances of any class of the graph are of a kind."""
    return any(kind in kinds_of_class(schema, cls) for cls in schema.classes)


@remember
def holds_years(schema: Schema, number: int) -> bool:
    """Return whether a predicate's numbers may be years, by their size or by its names."""
    if not schema.words(number).isdisjoint(shared_words().names["times"]):
        return True
    objects = schema.graph.ends(number, inverse=True)
    values = schema.graph.values[objects[objects < schema.graph.terms.first_iri]]
    whole = values == np.floor(values)
    return bool(len(values)) and bool((whole & (values > _FIRST) & (values < _LAST)).all())


@dataclass(frozen=True)
class _Named:
    """A predicate that leads to what is asked for, and the words left of one of its names."""

    iri: str
    name: str
    left: frozenset[str]


def link_asked_kind(
    linked: LinkedQuestion, frame: QuestionOperators, schema: Schema
) -> LinkedQuestion:
    """Return the links of a question, and those that its question word makes of its other words."""
    asked = frame.asked_at
    if asked is None or asked[0] not in KINDS:
        return linked
    name, at = asked
    known = {(one.target, one.positions): one.score for one in linked.of(Kind.PREDICATE)}
    found = [
        one
        for one in links_asked(linked, schema, name, at)
        if one.score > known.get((one.target, one.positions), 0.0)
    ]
    if not found:
        return linked
    best = dict.fromkeys((one.target, one.positions) for one in found)
    kept = [one for one in linked.links if (one.target, one.positions) not in best]
    every = sorted([*kept, *_best(found)], key=lambda one: -one.score)
    return replace(linked, links=tuple(every))


def links_asked(linked: LinkedQuestion, schema: Schema, asked: str, at: int) -> Iterator[Link]:
    """Yield predicates that lead to what a question word at a token asks for, by other words."""
    for named in predicates_asked(schema, asked):
        yield from _links(named, linked, at)


def _best(found: Iterable[Link]) -> Iterator[Link]:
    best: dict[tuple[str, tuple[int, ...]], Link] = {}
    for one in found:
        key = one.target, one.positions
        if key not in best or one.quality > best[key].quality:
            best[key] = one
    yield from best.values()


def _links(named: _Named, linked: LinkedQuestion, asked: int) -> Iterator[Link]:
    """The link of a predicate to the words that its name has besides the kind's."""
    if not named.left:
        yield Link(Kind.PREDICATE, named.iri, named.name, _BARE, (asked,), (_HINT,))
        return
    reading, said = linked.reading, {}
    for word in sorted(named.left):
        best = max(
            (
                (_fit(token.stem, word, reading.words.synonyms), -at)
                for at, token in enumerate(reading.tokens)
                if linked.weights[at] and token.quote is None
            ),
            default=(0.0, 0),
        )
        if best[0] < _AKIN:
            return
        said[-best[1]] = best[0]
    places = tuple(sorted(said))
    if places[-1] - places[0] < 2 * len(places):
        qualities = tuple(said[at] for at in places)
        yield Link(Kind.PREDICATE, named.iri, named.name, _SIMILARITY, places, qualities)


def _fit(own: str, word: str, synonyms: Mapping[str, frozenset[str]]) -> float:
    if own == word:
        return 1.0
    begin = own[:_BEGINNING] == word[:_BEGINNING] and min(len(own), len(word)) >= _BEGINNING
    akin = begin or word in synonyms.get(own, ())
    return max(alikeness(own, word), _SYNONYM * akin)


def predicates_asked(schema: Schema, asked: str) -> list[_Named]:
    """Return the predicates that lead to what a question word asks for, by what names leave."""
    known = schema.found["predicates_asked"]
    if asked in known:
        told: list[_Named] = known[asked]
        return told
    read = in_time(schema.open, share=_SHARE)
    found = [one for number in read for one in _named(schema, number, asked)]
    if not read.cut:
        known[asked] = found
    return found


def _named(schema: Schema, number: int, asked: str) -> Iterator[_Named]:
    profile = schema.predicates.get(number)
    if profile is None or number in schema.naming or not _leads_to(schema, number, asked):
        return
    words, kinds = kind_words(), set(KINDS[asked])
    seen = set()
    for text in (*(name for name, _ in profile.names), words_of_local_name(profile.iri)):
        stems = frozenset(map(stem, tokens(text))) - words.parting - words.keys
        left = frozenset(one for one in stems if not kinds & kinds_of_word(one))
        generic = any(stems <= words.generic.get(kind, stems - stems) for kind in kinds)
        if left not in seen and (left or (stems and generic)):
            seen.add(left)
            yield _Named(profile.iri, text, left)


def _leads_to(schema: Schema, number: int, asked: str) -> bool:
    kinds, sort = set(KINDS[asked]), schema.sort(number)
    if asked in ("date", "year"):
        return sort in _DATES or (sort is Sort.NUMBER and holds_years(schema, number))
    if sort is Sort.NONE:
        return bool(kinds & kinds_of_objects(schema, number))
    return sort is Sort.TEXT and bool(kinds & kinds_of_predicate(schema, number))


Truths = tuple[str, str]  # what says yes and what says no, as terms; empty if the data have none

_FEW_CODES: Final = 6  # codes of one predicate at most: how each of two is written differs little
_MIRRORED: Final = 0.6
"""The share of links that also lead back from which on the others are taken to do so as well."""
_FEWEST = 4  # so many links at least say anything about their share
_WITHIN = 4  # words from a preposition to the name that it is about: "from the airport of"


@remember
def truths_of(schema: Schema, predicate: int) -> Truths | None:
    """Return the values of a predicate that mean true and false, None if others occur, too."""
    sort = schema.sort(predicate)
    if sort is Sort.BOOLEAN:
        return "true", "false"
    values = _values(schema, predicate)
    words = shared_words().truths
    if sort is Sort.NUMBER:
        name = tokens(words_of_local_name(schema.graph.iri_of(predicate)))
        if words["asking"].isdisjoint(name[:1]) and words["flags"].isdisjoint(name[-1:]):
            return None
    yes = [term for text, term in values if text in words["yes"]]
    no = [term for text, term in values if text in words["no"]]
    if len(yes) != 1 or len(no) > 1 or len(values) > len(yes) + len(no):
        return None
    return yes[0], no[0] if no else ""


_CODE = 4  # signs of a code at most that a description explains
_MOST_CODES = 40  # so many codes of one predicate, at most, may be explained
_EXPLAINS = re.compile(r"(?<![\w-])\w{1,4}['\"]?(\)|\s*[=:–-]\s*[^\W\d])")
"""What only descriptions that may explain a code have; the values of others are not looked at."""
_LONGEST_INITIALS = 5  # initials are so many at most


@remember
def holds_codes(schema: Schema, predicate: int, table: str) -> bool:
    """Whether all values of a predicate are codes of one table."""
    values, held = _values(schema, predicate), shared_words().held[table]
    return bool(values) and all(text in held for text, _ in values)


def shortened_values(schema: Schema, predicate: int, word: str) -> list[str]:
    """Return the values of a predicate, as terms, whose initials a word is: "LA", "Los Angeles"."""
    if not 1 < len(word) <= _LONGEST_INITIALS or not word.isupper():
        return []
    parts = ((text.split(), term) for text, term in _values(schema, predicate))
    return [term for words, term in parts if "".join(w[0] for w in words) == folded(word)]


@remember
def explained_codes(schema: Schema) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the codes that descriptions of predicates explain, by the stems of the words for them.

    "G: goalie, D: defender" or "goalie (G), defender (D)": each code as a term, with the predicate.
    """
    found = defaultdict[str, list[tuple[str, str]]](list)
    for number, text in _descriptions(schema).items():
        explains = _EXPLAINS.search(text) is not None
        for value, term in _values(schema, number, _MOST_CODES) if explains else ():
            for word in _explained(value, text):
                found[word].append((term, schema.graph.iri_of(number)))
    return found


def _descriptions(schema: Schema) -> dict[int, str]:
    """What the graph says of predicates in a sentence or more, folded, by their numbers."""
    graph, told = schema.graph, defaultdict[int, list[str]](list)
    for described in v.DESCRIPTION_PREDICATES:
        number = graph.number(described)
        if number is not None:
            for node, at in zip(*graph.pairs(np.sort(graph.predicates), number), strict=True):
                text = split_literal(graph.terms.text(int(at)))[0]
                told[graph.numbers[int(node)]].append(folded(text))
    return {number: "; ".join(told[number]) for number in schema.predicates if number in told}


def _explained(code: str, text: str) -> set[str]:
    """The stems of the words that a description explains a short code by."""
    if not 0 < len(code) <= _CODE:
        return set()
    own = re.escape(code)
    after = re.search(rf"(?<![\w-]){own}['\"]?\s*[=:–-]\s*([^\W\d]{{3,}})(?! [^\W\d])", text)
    before = re.search(rf"([^\W\d]{{3,}})\s*\(['\"]?{own}['\"]?\)", text)
    words = [one[1] for one in (after, before) if one is not None]
    return {stem(form) for word in words for form in (word, f"{word}s")}


def _values(schema: Schema, predicate: int, most: int = _FEW_CODES) -> list[tuple[str, str]]:
    """The literals of a predicate, each as its folded text and as a term; none if of many."""
    objects = schema.graph.ends(predicate, inverse=True)
    if not 0 < len(objects) <= most or int(objects[-1]) >= schema.graph.terms.first_iri:
        return []
    terms = [schema.graph.terms.text(int(at)) for at in objects]
    return [(folded(split_literal(term)[0].strip()), term) for term in terms]


@remember
def is_mirrored(schema: Schema, predicate: int) -> bool:
    """Whether a relation is symmetric, and some of its links are stated one way only.

    It is if its schema says so, if its name does ("sibling", "borders") and it links things of
    one class, or if most of its links lead back as well.
    """
    profile = schema.predicates.get(predicate)
    if profile is None or predicate == schema.kind or not schema.leads_on(predicate):
        return False
    own = {cls for cls, _ in profile.subject_classes}
    if own and own.isdisjoint(cls for cls, _ in profile.object_classes):
        return False
    back = _leading_back(schema, predicate)
    if back == 1.0:
        return False
    if v.OWL_SYMMETRIC_PROPERTY in objects_of(schema.graph, profile.iri, v.RDF_TYPE):
        return True
    if not schema.words(predicate).isdisjoint(shared_words().names["symmetric"]):
        return not schema.names_subject(predicate)
    return back >= _MIRRORED and profile.triples >= _FEWEST


def _leading_back(schema: Schema, predicate: int) -> float:
    """The share of a predicate's links whose objects have their subjects for objects."""
    graph = schema.graph
    subjects, objects = graph.pairs(graph.ends(predicate), predicate)
    size = len(graph.terms)
    there = subjects.astype(np.int64) * size + objects
    back = objects.astype(np.int64) * size + subjects
    return float(np.isin(back, there).mean()) if len(there) else 0.0


def stepped(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return the nodes that one edge of a predicate away from a set: of a mirrored one any edge."""
    found = schema.graph.step(nodes, predicate, inverse=inverse)
    if not is_mirrored(schema, predicate):
        return found
    return np.union1d(found, schema.graph.step(nodes, predicate, inverse=not inverse))


def leaving(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return those of the nodes that an edge of a predicate leaves, or of a mirrored one any."""
    found = schema.graph.bearers(nodes, predicate, inverse=inverse)
    if not is_mirrored(schema, predicate):
        return found
    return np.union1d(found, schema.graph.bearers(nodes, predicate, inverse=not inverse))


def misdirected(linked: LinkedQuestion, schema: Schema, node: Node, predicate: int) -> float:
    """Return the doubt that a predicate leads to what words come from, or the other way round."""
    if predicate not in schema.predicates:
        return 0.0
    held = schema.words(predicate)
    ways = {name: not held.isdisjoint(way.held) for name, way in shared_words().directions.items()}
    if not any(ways.values()) or all(ways.values()):
        return 0.0
    while node.link is None and len(node.edges) == 1:
        node = node.edges[0][1]
    link = node.link
    said = _said_before(linked, link) if link is not None else ""
    return Doubt.MISDIRECTED if said and not ways[said] else 0.0


def _said_before(linked: LinkedQuestion, link: Link) -> str:
    """The direction that words before a name say, "" if none do."""
    tokens, first = linked.reading.tokens, link.positions[0]
    for at in range(first - 1, max(-1, first - 1 - _WITHIN), -1):
        for name, way in shared_words().directions.items():
            if tokens[at].folded in way.said:
                return name
        if tokens[at].quote is not None or tokens[at].capital:
            return ""
    return ""
