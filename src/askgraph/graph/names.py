"""Every name in a graph: of its classes, predicates and entities, and its short literal values."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from urllib.parse import urlsplit

import numpy as np

from askgraph.graph.arrays import GraphArrays, Ids, objects_of
from askgraph.graph.literals import Sort
from askgraph.graph.profile import (
    ClassProfile,
    PredicateProfile,
    Profile,
    classes_above,
    standard_naming,
)
from askgraph.index.names import Kind, Name, stem, tokens
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import best_label, local_name, namespace_of, words_of_local_name
from askgraph.sparql.vocabulary import SCHEMA_SPACES

_LONGEST_VALUE = 80
_FARTHEST = 200  # steps in which a node of a network would come back to itself
_MOST_VALUE_TOKENS = 8
_ALIKE = 5
_SENTENCE, _SHORT = 4, 3  # words of a label, and letters of words that tell nothing in it


def schema_names(profile: Profile) -> Iterator[Name]:
    """Names of classes and predicates: their labels, and their readable local names."""
    names = {c.iri: [text for text, _ in c.names] or [local_name(c.iri)] for c in profile.classes}
    owners = {
        p.iri: frozenset(
            stem(word) for text in names.get(p.subject_classes[0][0], []) for word in tokens(text)
        )
        for p in profile.predicates
        if len(p.subject_classes) == 1
    }
    both: tuple[tuple[Sequence[ClassProfile | PredicateProfile], Kind], ...] = (
        (profile.classes, Kind.CLASS),
        (profile.predicates, Kind.PREDICATE),
    )
    for listed, kind in both:
        for item in listed:
            if item.iri.startswith(SCHEMA_SPACES):
                continue
            for text, _ in item.names:
                yield Name(text, item.iri, kind)
            local = local_name(item.iri)
            if local and not any(tokens(local) == tokens(text) for text, _ in item.names):
                yield Name(local, item.iri, kind, preferred=not item.names)
            if kind is Kind.PREDICATE:
                texts = [text for text, _ in item.names] + [local]
                yield from _shorter(item.iri, texts, owners.get(item.iri, frozenset()))


def _shorter(iri: str, texts: list[str], owner: frozenset[str]) -> Iterator[Name]:
    """A predicate's names without function words, and without the words of its class."""
    for text in texts:
        words = [word for word in tokens(text) if word not in _FUNCTION_WORDS]
        if words and len(words) < len(tokens(text)):
            yield Name(" ".join(words), iri, Kind.PREDICATE, preferred=False)
        own = [word for word in words if stem(word) not in owner]
        if own and len(own) < len(words):
            yield Name(" ".join(own), iri, Kind.PREDICATE, preferred=False)


_FUNCTION_WORDS = frozenset("a an the of in on at by to for has have had is are was be ref".split())


def names_in(graph: GraphArrays, profile: Profile) -> Iterator[Name]:
    """Yield all names of a graph, schema first."""
    above = classes_above(graph, profile)
    profile = replace(profile, classes=(*profile.classes, *above))
    yield from schema_names(profile)
    schema = {c.iri for c in profile.classes} | {p.iri for p in profile.predicates}
    yield from _entities(graph, profile, schema)
    for at, value in short_texts(graph):
        yield Name(value, graph.terms.text(at), Kind.VALUE)


_WORDS, _NUMBER = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_ALIKE_DIGITS = str.maketrans("123456789", "000000000")


def acronym(text: str) -> str:
    """Return the initials of a name of three words or more, else ""."""
    if text.replace(" ", "", 1).isalpha():
        return ""  # a word or two, as most names are
    words = _WORDS.findall(text)
    initials = [word[0] for word in words if word[0].isupper()]
    short = all(word[0].isupper() or len(word) <= 3 for word in words)
    return "".join(initials) if len(initials) >= 3 and short else ""


def tells_more(label: str, iris: Sequence[str]) -> bool:
    """Return whether a label says more than the local names of some IRIs, those of its own first.

    A sentence of which only short words are new ("The width of a road.") does not.
    """
    words = tokens(label)
    if not words or words == _local_words(iris[0]):
        return False
    known = {stem(word) for iri in iris for word in _local_words(iri)}
    more = [word for word in words if stem(word) not in known]
    sentence = label.endswith(".") or len(words) >= _SENTENCE
    return not sentence or len(more) == len(words) or max(map(len, more), default=0) > _SHORT


@lru_cache(1 << 14)
def _local_words(iri: str) -> tuple[str, ...]:
    return tokens(words_of_local_name(iri))


def short_value(text: str) -> bool:
    """Return whether a literal is short enough to be mentioned in a question."""
    return len(text) <= _LONGEST_VALUE and 0 < len(tokens(text)) <= _MOST_VALUE_TOKENS


def _entities(graph: GraphArrays, profile: Profile, schema: set[str]) -> Iterator[Name]:
    named = np.zeros(len(graph.terms), dtype=np.bool_)
    # What is no thing in a Wikibase: pages and properties; predicates have the names of these.
    direct, about = graph.number(v.WIKIBASE_DIRECT), graph.number(v.SCHEMA_ABOUT)
    if direct is None:
        aside = np.zeros(0, dtype=np.int32)
    else:
        properties = graph.ends(direct)
        aside = properties if about is None else np.union1d(properties, graph.ends(about))
    for predicate in profile.predicates:
        if not predicate.naming:
            continue
        number = graph.number(predicate.iri)
        if number is None:
            continue
        subjects, objects = graph.pairs(graph.ends(number), number)
        named[subjects] = True
        if standard_naming(predicate.iri):
            kept = ~np.isin(subjects, aside)
            subjects, objects = subjects[kept], objects[kept]
            yield from _labelled(graph, subjects, objects, schema, predicate.naming == "name")
    # Local names of IRIs without a name, if they are words and not numbered alike.
    nameless = np.diff(graph.out_offsets) + np.diff(graph.in_offsets) > 0
    nameless[named] = False
    nameless[: graph.terms.first_iri] = nameless[graph.terms.first_blank :] = False
    iris: defaultdict[str, list[str]] = defaultdict(list)
    counts = Counter[str]()  # by IRIs whose digits are all one: the names of these are alike
    for iri in graph.terms.values(np.flatnonzero(nameless)):
        if iri not in schema and not iri.startswith(SCHEMA_SPACES):
            alike = iri if "%" in iri else iri.translate(_ALIKE_DIGITS)
            counts[alike] += 1
            if counts[alike] <= _ALIKE:
                iris[alike].append(iri)
    shapes = Counter[str]()
    for alike, some in iris.items():
        shapes[_NUMBER.sub("#", local_name(some[0]))] += counts[alike]
    for iri in sorted(chain.from_iterable(iris.values())):
        local = local_name(iri)
        if local and shapes[_NUMBER.sub("#", local)] <= _ALIKE:
            yield Name(local, iri, Kind.ENTITY, preferred=False)


def _labelled(
    graph: GraphArrays, subjects: Ids, objects: Ids, schema: set[str], main: bool
) -> Iterator[Name]:
    terms, last = graph.terms, ("", "")
    kept = (subjects >= terms.first_iri) & (subjects < terms.first_blank)
    kept &= objects < terms.first_iri
    pairs = zip(terms.values(subjects[kept]), terms.values(objects[kept]), strict=True)
    for target, text in pairs:
        if target in schema or (target, text) == last:
            continue
        last = target, text
        yield Name(text, target, Kind.ENTITY, main)
        initials = acronym(text)
        if initials:
            yield Name(initials, target, Kind.ENTITY, preferred=False)


def short_texts(graph: GraphArrays) -> Iterator[tuple[int, str]]:
    """Yield the ids and texts of the short text values, but for names and descriptions."""
    wanted = np.zeros(graph.terms.first_iri, dtype=np.bool_)
    for number in range(len(graph.predicates)):
        iri = graph.iri_of(number)
        if not standard_naming(iri) and iri not in v.DESCRIPTION_PREDICATES:
            objects = graph.ends(number, inverse=True)
            wanted[objects[objects < graph.terms.first_iri]] = True
    wanted &= np.isin(graph.sorts, (Sort.TEXT, Sort.TEXT_NUMBER, Sort.TEXT_DATE))
    ids = np.flatnonzero(wanted)
    for at, value in zip(ids.tolist(), graph.terms.values(ids), strict=True):
        if short_value(value):
            yield at, value


NAME_WORDS = frozenset(
    "name title label titel bezeichnung nombre titulo nom titre intitule".split()
)

_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+|\+?[\d\s()-]{7,}")


def naming_role(predicate: PredicateProfile, samples: Sequence[str]) -> str:
    """Return "name", "alternative" or "" for a predicate, judged by its texts and its own name.

    A graph's own name predicate is functional, its texts are short, not addresses, and either its
    own name says so or (nearly) every text occurs once.
    """
    standard = standard_naming(predicate.iri)
    if standard or not samples:
        return standard
    longest = sorted(len(tokens(text)) for text in samples)[len(samples) * 9 // 10]
    lettered = sum(any(c.isalpha() for c in text) for text in samples) / len(samples)
    addresses = sum(_ADDRESS.fullmatch(text) is not None for text in samples) / len(samples)
    if longest > 10 or lettered < 0.8 or addresses > 0.2 or not predicate.functional:
        return ""
    words = {stem(word) for word in tokens(words_of_local_name(predicate.iri))}
    said = bool(words & NAME_WORDS) or _ends_so(words)
    unique = predicate.objects >= 0.9 * predicate.triples
    return "name" if said or unique else ""


def name_score(predicate: str, cls: str, coverage: float, distinct: float) -> float:
    """Return how well a predicate names a class, of whose instances a share bears it.

    Higher is better: standard, then said in its own name, then like the class, unique.
    """
    words = [stem(word) for word in tokens(words_of_local_name(predicate))]
    own = {stem(word) for word in tokens(words_of_local_name(cls))}
    said = 1.0 if words and words[-1] in NAME_WORDS else 0.8 * _ends_so(words)
    alike = 0.7 if set(words) & own else 0.0
    standard = 3.0 if standard_naming(predicate) else 0.0
    return standard + said + alike + coverage + distinct - 0.05 * len(words)


def _ends_so(words: Iterable[str]) -> bool:
    """Whether a word ends with one for names, as "surname" does."""
    return any(word.endswith(end) for word in words for end in NAME_WORDS if len(end) >= 4)


_VIRTUAL = "urn:askgraph:virtual:"
_HAVING = ("has ", "have ", "is ", "was ")


def called(term: ClassProfile | PredicateProfile) -> str:
    """Return a term's name: its best label, else the words of its IRI."""
    label = best_label(term.names, ["en"])
    return label or local_name(term.iri) or words_of_local_name(term.iri)


def virtual_iri(label: str) -> str:
    """Return an IRI for a predicate that no graph has: it says so, and what it is called."""
    words = tokens(label)
    return _VIRTUAL + "".join([*words[:1], *(word.capitalize() for word in words[1:])])


def chain_label(first: PredicateProfile, above: PredicateProfile) -> str:
    """Return the label of one step and then any number of another.

    >>> site = PredicateProfile("http://x/hasSite", 1, 1, 1)
    >>> chain_label(site, PredicateProfile("http://x/partOf", 1, 1, 1))
    'site part of'
    """
    return f"{_bare(called(first))} {_bare(called(above))}"


def closure_label(above: PredicateProfile) -> str:
    """Return the label of any number of steps."""
    return f"{called(above)} at any depth"


def role_label(role: PredicateProfile) -> str:
    """Return the label of the way from one end of a relation to the one with this role."""
    return f"has {_bare(called(role))}"


def inverse_label(one: PredicateProfile) -> str:
    """Return the label of a predicate turned round.

    >>> inverse_label(PredicateProfile("http://x/authorOf", 1, 1, 1))
    'has author'
    >>> inverse_label(PredicateProfile("http://x/hasSite", 1, 1, 1))
    'site of'
    """
    bare = _bare(called(one))
    return f"has {bare.removesuffix(' of')}" if bare.endswith(" of") else f"{bare} of"


def _bare(label: str) -> str:
    """A label without the verb that stands before its noun."""
    low = label.lower()
    return next((label[len(word) :] for word in _HAVING if low.startswith(word)), label)


def code_of(iri: str) -> tuple[str, str] | None:
    """Return the host and the local name of an IRI whose local name is a code, else None."""
    namespace = namespace_of(iri)
    code = iri[len(namespace) :]
    if not any(c.isdigit() for c in code) or local_name(iri):
        return None
    return urlsplit(iri).netloc, code


def variants_in(iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the predicates that are one property, by host and code, in the order given."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for iri in iris:
        key = code_of(iri)
        if key is not None:
            found[key].append(iri)
    return {key: tuple(listed) for key, listed in found.items()}


def same_property(iris: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the predicates in groups, each of one property, in the order of their firsts.

    >>> base = "http://example.org/prop/"
    >>> same_property([base + "direct/P3", base + "name", base + "statement/P3"])[0]
    ('http://example.org/prop/direct/P3', 'http://example.org/prop/statement/P3')
    """
    groups: dict[tuple[str, str] | str, list[str]] = {}
    for iri in dict.fromkeys(iris):
        groups.setdefault(code_of(iri) or iri, []).append(iri)
    return [tuple(listed) for listed in groups.values()]


def is_hierarchy(graph: GraphArrays, number: int) -> bool:
    """Return whether a predicate can be walked on and on: it says so, or leads upwards."""
    iri = graph.iri_of(number)
    if v.OWL_TRANSITIVE_PROPERTY in objects_of(graph, iri, v.RDF_TYPE):
        return True
    if iri in (v.RDF_TYPE, v.OWL_SAME_AS):
        return False
    objects = graph.ends(number, inverse=True)
    resources = frontier = objects[objects >= graph.terms.first_iri]
    for _ in range(2):
        frontier = graph.step(frontier, number) if len(frontier) else frontier
    deep = frontier[frontier >= graph.terms.first_iri] if len(frontier) else frontier
    if not len(deep):
        return False
    # If many nodes can reach themselves, it is a network of peers.
    sample = resources[:: max(1, len(resources) // 50)]
    cyclic = sum(_reaches_itself(graph, number, at) for at in sample.tolist())
    return cyclic <= 0.2 * len(sample)


def _reaches_itself(graph: GraphArrays, number: int, node: int) -> bool:
    seen = np.zeros(len(graph.terms), dtype=np.bool_)
    frontier = np.array([node], dtype=np.int32)
    for _ in range(_FARTHEST):
        if not len(frontier) or seen[node]:
            break
        found = graph.step(frontier, number)
        frontier = found[~seen[found]]
        seen[frontier] = True
    return bool(seen[node])
