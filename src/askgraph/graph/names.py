"""Collect all names in a graph: of classes, predicates and entities, and short literal values."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from askgraph.graph import profile as parts
from askgraph.graph.arrays import GraphArrays, Ids, get_objects
from askgraph.graph.literals import ValueKind
from askgraph.graph.vocabularies import NEVER, VocabularyTerm, iterate_individuals
from askgraph.index.names import IndexedName, ItemKind, fold_word, split_tokens, stem_word
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import choose_label, get_local_name, get_namespace, split_local_name
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

_MAX_VALUE_CHARACTERS = 80
_MAX_CYCLE_STEPS = 200  # longest cycle to look for in a network of nodes
_MAX_VALUE_TOKENS = 8
_MIN_ALIKE_NAMES = 10  # so many names at least begin with a word that is no part of each
_ARTICLES = frozenset("the der die das el la los las le les".split())
_QUALIFIER_PATTERN = re.compile(r"(.*\S)\s+\(([^()]+)\)")
_MIN_INNER_SHARE = 0.1  # nodes of a hierarchy that are neither at its top nor at its bottom
_MAX_SIMILAR_COUNT, _MAX_CODE_CHARACTERS = 5, 8  # of things without a label, by local name
# Words of a label, and letters of uninformative words.
_MIN_SENTENCE_WORDS, _MAX_SHORT_WORD_LENGTH = 4, 3


def iterate_schema_names(profile: parts.Profile) -> Iterator[IndexedName]:
    """Yield the names of classes and predicates.

    These are their labels, their readable local names, and the names of their vocabulary.
    """
    names = {
        c.iri: [text for text, _ in c.names] or [get_local_name(c.iri)] for c in profile.classes
    }
    owners = {
        p.iri: frozenset(
            stem_word(word)
            for text in names.get(p.subject_classes[0][0], [])
            for word in split_tokens(text)
        )
        for p in profile.predicates
        if len(p.subject_classes) == 1
    }
    schema: tuple[tuple[Sequence[parts.ClassProfile | parts.PredicateProfile], ItemKind], ...] = (
        (profile.classes, ItemKind.CLASS),
        (profile.predicates, ItemKind.PREDICATE),
    )
    predicates = {predicate.iri for predicate in profile.predicates}
    for items, kind in schema:
        for item in items:
            yield from (
                IndexedName(text, item.iri, kind, preferred=False, whole=True)
                for text, _ in item.other_names
            )
            if item.iri.startswith(SCHEMA_NAMESPACES):
                continue
            for text, _ in item.names:
                yield IndexedName(text, item.iri, kind)
            local = get_local_name(item.iri) or ("" if item.names else split_local_name(item.iri))
            if local and not any(
                split_tokens(local) == split_tokens(text) for text, _ in item.names
            ):
                yield IndexedName(local, item.iri, kind, preferred=not item.names)
            if isinstance(item, parts.PredicateProfile):
                # An inverse that no triple uses names the predicate, too.
                for inverse in map(get_local_name, sorted({*item.inverse_of} - predicates)):
                    if inverse:
                        yield IndexedName(inverse, item.iri, kind, preferred=False)
                texts = [text for text, _ in item.names] + [local]
                yield from _iterate_short_names(item.iri, texts, owners.get(item.iri, frozenset()))


def collect_schema_iris(profile: parts.Profile) -> set[str]:
    """Return the classes, the predicates and their inverses: these are no things."""
    inverses = (predicate.inverse_of for predicate in profile.predicates)
    terms: tuple[parts.ClassProfile | parts.PredicateProfile, ...]
    terms = (*profile.classes, *profile.predicates)
    return {term.iri for term in terms}.union(*inverses)


def _iterate_short_names(
    iri: str, texts: list[str], owner_stems: frozenset[str]
) -> Iterator[IndexedName]:
    """Yield a predicate's names without function words, and without the words of its class."""
    for text in texts:
        words = [word for word in split_tokens(text) if word not in _FUNCTION_WORDS]
        if words and len(words) < len(split_tokens(text)):
            yield IndexedName(" ".join(words), iri, ItemKind.PREDICATE, preferred=False)
        own_words = [word for word in words if stem_word(word) not in owner_stems]
        if own_words and len(own_words) < len(words):
            yield IndexedName(" ".join(own_words), iri, ItemKind.PREDICATE, preferred=False)


_FUNCTION_WORDS = frozenset("a an the of in on at by to for has have had is are was be ref".split())


def iterate_names(
    graph: GraphArrays, profile: parts.Profile, vocabulary_files: Sequence[Path] = ()
) -> Iterator[IndexedName]:
    """Yield all names of a graph, schema first; `vocabulary_files` are those of users."""
    superclasses = parts.collect_superclasses(graph, profile)
    profile = replace(profile, classes=(*profile.classes, *superclasses))
    yield from iterate_schema_names(profile)
    schema = collect_schema_iris(profile)
    yield from _iterate_entity_names(graph, profile, schema)
    for iri, term in iterate_individuals(vocabulary_files):
        if iri not in schema and graph.terms.find_prefix(f"<{iri}>"):
            for text, _ in term.names:
                yield IndexedName(text, iri, ItemKind.ENTITY, preferred=False, whole=True)
    for term_id, value in iterate_short_texts(graph):
        yield IndexedName(value, graph.terms.get_text(term_id), ItemKind.VALUE)
    for predicate in profile.predicates:
        if predicate.naming and not parts.get_standard_role(predicate.iri):
            yield from _iterate_short_value_names(graph, predicate.iri)


_WORD_PATTERN, _NUMBER_PATTERN = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_DIGITS_TO_ZERO = str.maketrans("123456789", "000000000")


def build_acronym(text: str) -> str:
    """Return the initials of a name of three words or more, else ""."""
    if text.replace(" ", "", 1).isalpha():
        return ""  # a word or two, as most names are
    words = _WORD_PATTERN.findall(text)
    initials = [word[0] for word in words if word[0].isupper()]
    has_short_rest = all(word[0].isupper() or len(word) <= 3 for word in words)
    return "".join(initials) if len(initials) >= 3 and has_short_rest else ""


def escape_unseen(text: str) -> str:
    r"""Write characters that end a line, turn it round or do not show as `\u` with their code."""
    return _UNSEEN_CHARACTERS.sub(lambda match: json.dumps(match[0])[1:-1], text)


# JSON escapes only the control characters of ASCII. Tags (U+E0000) spell text that nobody sees.
UNSEEN_RANGES = "\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f"
_UNSEEN_CHARACTERS = re.compile(f"[{UNSEEN_RANGES}]")


def is_informative_label(label: str, iris: Sequence[str]) -> bool:
    """Return whether a label adds words to the local names of some IRIs, its own first.

    A sentence whose only new words are short ("The width of a road.") does not.
    """
    words = split_tokens(label)
    if not words or words == _tokenize_local_name(iris[0]):
        return False
    known_stems = {stem_word(word) for iri in iris for word in _tokenize_local_name(iri)}
    new_words = [word for word in words if stem_word(word) not in known_stems]
    return (
        not (label.endswith(".") or len(words) >= _MIN_SENTENCE_WORDS)
        or len(new_words) == len(words)
        or max(map(len, new_words), default=0) > _MAX_SHORT_WORD_LENGTH
    )


@lru_cache(1 << 14)
def _tokenize_local_name(iri: str) -> tuple[str, ...]:
    return split_tokens(split_local_name(iri))


def is_short_value(text: str) -> bool:
    """Return whether a literal is short enough to be mentioned in a question."""
    return len(text) <= _MAX_VALUE_CHARACTERS and 0 < len(split_tokens(text)) <= _MAX_VALUE_TOKENS


def _iterate_entity_names(
    graph: GraphArrays, profile: parts.Profile, schema: set[str]
) -> Iterator[IndexedName]:
    has_name = np.zeros(len(graph.terms), dtype=np.bool_)
    # Pages and properties of a Wikibase are not things; predicates take the properties' names.
    direct = graph.get_predicate_number(v.WIKIBASE_DIRECT)
    about_number = graph.get_predicate_number(v.SCHEMA_ABOUT)
    if direct is None:
        excluded = np.zeros(0, dtype=np.int32)
    else:
        properties = graph.get_ends(direct)
        excluded = (
            properties
            if about_number is None
            else np.union1d(properties, graph.get_ends(about_number))
        )
    for predicate in profile.predicates:
        if not predicate.naming:
            continue
        number = graph.get_predicate_number(predicate.iri)
        if number is None:
            continue
        subjects, objects = graph.get_edges(graph.get_ends(number), number)
        has_name[subjects] = True
        if parts.get_standard_role(predicate.iri):
            is_included = ~np.isin(subjects, excluded)
            subjects, objects = subjects[is_included], objects[is_included]
            yield from _iterate_labels(graph, subjects, objects, schema, predicate.naming == "name")
    # Use local names of IRIs without a name, unless they are codes or numbered.
    nameless = np.diff(graph.out_offsets) + np.diff(graph.in_offsets) > 0
    nameless[has_name] = False
    nameless[: graph.terms.first_iri] = nameless[graph.terms.first_blank :] = False
    iris: defaultdict[str, list[str]] = defaultdict(list)
    counts = Counter[str]()  # counts IRIs that differ only in digits, as their names do
    for iri in graph.terms.iterate_values(np.flatnonzero(nameless)):
        if iri not in schema and not iri.startswith(SCHEMA_NAMESPACES):
            pattern = iri if "%" in iri else iri.translate(_DIGITS_TO_ZERO)
            counts[pattern] += 1
            if counts[pattern] <= _MAX_SIMILAR_COUNT:
                iris[pattern].append(iri)
    shapes = Counter[str]()
    for pattern, pattern_iris in iris.items():
        shapes[_NUMBER_PATTERN.sub("#", split_local_name(pattern_iris[0]))] += counts[pattern]
    for iri in sorted(chain.from_iterable(iris.values())):
        local = split_local_name(iri)
        is_code = len(local) <= _MAX_CODE_CHARACTERS and any(map(str.isdigit, local))
        if (get_local_name(iri) or is_code) and shapes[
            _NUMBER_PATTERN.sub("#", local)
        ] <= _MAX_SIMILAR_COUNT:
            yield IndexedName(local, iri, ItemKind.ENTITY, preferred=False)


def _iterate_labels(
    graph: GraphArrays, subjects: Ids, objects: Ids, schema: set[str], is_preferred: bool
) -> Iterator[IndexedName]:
    terms, last = graph.terms, ("", "")
    is_included = (subjects >= terms.first_iri) & (subjects < terms.first_blank)
    is_included &= objects < terms.first_iri
    pairs = zip(
        terms.iterate_values(subjects[is_included]),
        terms.iterate_values(objects[is_included]),
        strict=True,
    )
    for target, text in pairs:
        if target in schema or (target, text) == last:
            continue
        last = target, text
        yield IndexedName(text, target, ItemKind.ENTITY, is_preferred)
        initials = build_acronym(text)
        if initials:
            yield IndexedName(initials, target, ItemKind.ENTITY, preferred=False)


def _iterate_short_value_names(graph: GraphArrays, predicate: str) -> Iterator[IndexedName]:
    number = graph.get_predicate_number(predicate)
    ends = graph.get_ends(number, inverse=True) if number is not None else np.zeros(0, np.int32)
    ids = ends[ends < graph.terms.first_iri]
    texts = list(graph.terms.iterate_values(ids))
    words = (split_tokens(text) for text in texts)
    counts = Counter(tokens[0] for tokens in words if len(tokens) > 1)
    word, count = max(counts.items(), key=lambda entry: entry[1], default=("", 0))
    common_word = word if count >= max(_MIN_ALIKE_NAMES, len(texts) / 2) else ""
    for term_id, text in zip(ids.tolist(), texts, strict=True):
        if is_short_value(text):
            target = graph.terms.get_text(term_id)
            for short in list_short_names(text, common_word):
                yield IndexedName(short, target, ItemKind.VALUE, preferred=False)


def list_short_names(name: str, common_word: str = "") -> tuple[str, ...]:
    """Return what people call a thing for short.

    Its name without a qualifier in brackets, capital letters in these, its initials, and its name
    without a leading article or a word that most names of its kind begin with.

    >>> list_short_names("The Nirvana (band)")
    ('The Nirvana', 'Nirvana')
    >>> list_short_names("Institute of Art and Design")
    ('IAD',)
    >>> list_short_names("Apache Cassandra", "apache")
    ('Cassandra',)
    """
    match = _QUALIFIER_PATTERN.fullmatch(name)
    names = [match[1]] if match is not None else []
    names += [match[2]] if match is not None and match[2].isupper() else []
    core = match[1] if match is not None else name
    first, _, rest = core.partition(" ")
    is_skipped = first.lower() in _ARTICLES or (common_word and fold_word(first) == common_word)
    if is_skipped and any(len(word) > 1 for word in _WORD_PATTERN.findall(rest)):
        names.append(rest)
    names += [build_acronym(core)] if len(core.split()) > 2 else []
    return tuple(dict.fromkeys(text for text in names if text and text != name))


def iterate_short_texts(graph: GraphArrays) -> Iterator[tuple[int, str]]:
    """Yield the ids and texts of short text values, except descriptions and names of IRIs."""
    terms, is_name = graph.terms, np.zeros((2, graph.terms.first_iri), dtype=np.bool_)
    is_included = np.zeros(terms.first_iri, dtype=np.bool_)
    for number in range(len(graph.predicates)):
        iri = graph.get_predicate_iri(number)
        if parts.get_standard_role(iri):
            subjects, objects = graph.get_edges_in_range(terms.first_iri, len(terms), number)
            is_text = objects < terms.first_iri
            is_name[(subjects[is_text] >= terms.first_blank).astype(int), objects[is_text]] = True
        elif iri not in v.DESCRIPTION_PREDICATES:
            objects = graph.get_ends(number, inverse=True)
            is_included[objects[objects < terms.first_iri]] = True
    is_included |= is_name[1] & ~is_name[0]
    is_included &= np.isin(
        graph.sorts, (ValueKind.TEXT, ValueKind.TEXT_NUMBER, ValueKind.TEXT_DATE)
    )
    ids = np.flatnonzero(is_included)
    for term_id, value in zip(ids.tolist(), terms.iterate_values(ids), strict=True):
        if is_short_value(value):
            yield term_id, value


NAME_WORDS = frozenset(
    "name title label titel bezeichnung nombre titulo nom titre intitule".split()
)

_MAX_NAME_TOKENS = 10
_ADDRESS_WORDS = frozenset(map(stem_word, "address adresse anschrift dirección street".split()))
_TEXT_NAMESPACES = (v.XSD, v.RDF)
_ADDRESS_PATTERN = re.compile(r"\S+@\S+\.\S+|https?://\S+|\+?[\d\s()-]{7,}")


def detect_naming_role(
    predicate: parts.PredicateProfile, samples: Sequence[str], term: VocabularyTerm | None = None
) -> str:
    """Return "name", "alternative" or "" for a predicate, by its vocabulary, texts and own name.

    A graph's own name predicate is functional and has short texts that are not addresses. Besides,
    its IRI contains a word for names, or (nearly) every text is unique and no address.

    Args:
        samples: Some of its texts.
        term: The term of its vocabulary, which takes precedence over its texts.
    """
    standard = parts.get_standard_role(predicate.iri)
    if standard or not samples or predicate.iri in v.DESCRIPTION_PREDICATES:
        return standard
    if term is not None and term.naming:
        return "" if term.naming == NEVER else term.naming
    lengths = sorted(len(split_tokens(text)) for text in samples)
    letter_share = sum(any(c.isalpha() for c in text) for text in samples) / len(samples)
    address_share = sum(_ADDRESS_PATTERN.fullmatch(text) is not None for text in samples) / len(
        samples
    )
    is_coded = not all(get_namespace(iri) in _TEXT_NAMESPACES for iri, _ in predicate.datatypes)
    if is_coded or letter_share < 0.8 or address_share > 0.2 or not predicate.functional:
        return ""
    words = {stem_word(word) for word in split_tokens(split_local_name(predicate.iri))}
    is_named_name = has_name_word(predicate.iri)
    is_unique = 1 < predicate.objects >= 0.9 * predicate.triples and not words & _ADDRESS_WORDS
    # One in ten texts may be longer, and half of those that the property itself calls names.
    length = lengths[len(lengths) // 2 if is_named_name else len(lengths) * 9 // 10]
    return "name" if (is_named_name or is_unique) and length <= _MAX_NAME_TOKENS else ""


def has_name_word(predicate: str) -> bool:
    """Return whether the IRI of a predicate has a word for names."""
    words = {stem_word(word) for word in split_tokens(split_local_name(predicate))}
    return bool(words & NAME_WORDS) or _has_name_suffix(words)


def score_name_predicate(predicate: str, cls: str, coverage: float, distinct: float) -> float:
    """Return how well a predicate names the instances of a class; higher is better.

    Standard predicates come first, then predicates with a word for names in their IRI, then those
    that share a word with the class or have no other word ("name").

    Args:
        coverage: Share of the instances with a value.
        distinct: Share of distinct values.
    """
    words = [stem_word(word) for word in split_tokens(split_local_name(predicate))]
    class_stems = {stem_word(word) for word in split_tokens(split_local_name(cls))}
    word_score = 1.0 if words and words[-1] in NAME_WORDS else 0.8 * _has_name_suffix(words)
    class_score = 0.7 if set(words) & class_stems or NAME_WORDS.issuperset(words) else 0.0
    standard_score = 3.0 if parts.get_standard_role(predicate) else 0.0
    return standard_score + word_score + class_score + coverage + distinct - 0.05 * len(words)


def _has_name_suffix(words: Iterable[str]) -> bool:
    """Return whether a word ends with a word for names, such as "surname"."""
    return any(word.endswith(end) for word in words for end in NAME_WORDS if len(end) >= 4)


_VIRTUAL_NAMESPACE = "urn:askgraph:virtual:"
_LEADING_VERBS = ("has ", "have ", "is ", "was ")


def get_label(term: parts.ClassProfile | parts.PredicateProfile) -> str:
    """Return a term's best label, else the words of its IRI."""
    label = choose_label(term.names, ["en"])
    return label or get_local_name(term.iri) or split_local_name(term.iri)


def build_virtual_iri(label: str) -> str:
    """Return an IRI, made from a label, for a predicate that no graph contains."""
    words = split_tokens(label)
    return _VIRTUAL_NAMESPACE + "".join([*words[:1], *(word.capitalize() for word in words[1:])])


def build_chain_label(first: parts.PredicateProfile, above: parts.PredicateProfile) -> str:
    """Return the label of one predicate followed by any number of steps of another.

    >>> site = PredicateProfile("http://x/hasSite", 1, 1, 1)
    >>> build_chain_label(site, PredicateProfile("http://x/partOf", 1, 1, 1))
    'site part of'
    """
    return f"{_strip_leading_verb(get_label(first))} {_strip_leading_verb(get_label(above))}"


def build_closure_label(above: parts.PredicateProfile) -> str:
    """Return the label of any number of steps of a predicate."""
    return f"{get_label(above)} at any depth"


def build_role_label(role: parts.PredicateProfile) -> str:
    """Return the label of the path through a relation to the end with this role."""
    return f"has {_strip_leading_verb(get_label(role))}"


def build_inverse_label(predicate: parts.PredicateProfile) -> str:
    """Return the label of a predicate's inverse.

    >>> build_inverse_label(PredicateProfile("http://x/authorOf", 1, 1, 1))
    'has author'
    >>> build_inverse_label(PredicateProfile("http://x/hasSite", 1, 1, 1))
    'site of'
    """
    noun = _strip_leading_verb(get_label(predicate))
    return f"has {noun.removesuffix(' of')}" if noun.endswith(" of") else f"{noun} of"


def _strip_leading_verb(label: str) -> str:
    lowercase = label.lower()
    return next(
        (label[len(word) :] for word in _LEADING_VERBS if lowercase.startswith(word)), label
    )


def extract_code(iri: str) -> tuple[str, str] | None:
    """Return the host and the local name of an IRI if the local name is a code, else None."""
    code = iri[len(get_namespace(iri)) :]
    if not any(c.isdigit() for c in code) or get_local_name(iri):
        return None
    return urlsplit(iri).netloc, code


def group_by_code(iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Group the predicates whose local name is a code by host and code, in the given order."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for iri in iris:
        key = extract_code(iri)
        if key is not None:
            groups[key].append(iri)
    return {key: tuple(group) for key, group in groups.items()}


def group_by_property(iris: Iterable[str]) -> list[tuple[str, ...]]:
    """Group predicates that are forms of the same property, in the order of their first members.

    >>> base = "http://example.org/prop/"
    >>> group_by_property([base + "direct/P3", base + "name", base + "statement/P3"])[0]
    ('http://example.org/prop/direct/P3', 'http://example.org/prop/statement/P3')
    """
    groups: dict[tuple[str, str] | str, list[str]] = {}
    for iri in dict.fromkeys(iris):
        groups.setdefault(extract_code(iri) or iri, []).append(iri)
    return [tuple(group) for group in groups.values()]


def is_hierarchy(graph: GraphArrays, number: int) -> bool:
    """Return whether a predicate is declared transitive or leads upwards without cycles."""
    iri = graph.get_predicate_iri(number)
    if v.OWL_TRANSITIVE_PROPERTY in get_objects(graph, iri, v.RDF_TYPE):
        return True
    if iri in (v.RDF_TYPE, v.OWL_SAME_AS):
        return False
    objects = graph.get_ends(number, inverse=True)
    resources = frontier = objects[objects >= graph.terms.first_iri]
    for _ in range(2):
        frontier = graph.step(frontier, number) if len(frontier) else frontier
    deep = frontier[frontier >= graph.terms.first_iri] if len(frontier) else frontier
    subjects = graph.get_ends(number)
    inner = np.intersect1d(resources, subjects)
    if not len(deep) or len(inner) < _MIN_INNER_SHARE * min(len(resources), len(subjects)):
        return False  # one thing is met on both sides by chance
    # If many nodes can reach themselves, it is a network of peers.
    sample = inner[:: max(1, len(inner) // 50)]
    return sum(_is_cyclic(graph, number, node) for node in sample.tolist()) <= 0.2 * len(sample)


def _is_cyclic(graph: GraphArrays, number: int, node: int) -> bool:
    is_reached = np.zeros(len(graph.terms), dtype=np.bool_)
    frontier = np.array([node], dtype=np.int32)
    for _ in range(_MAX_CYCLE_STEPS):
        if not len(frontier) or is_reached[node]:
            break
        next_nodes = graph.step(frontier, number)
        frontier = next_nodes[~is_reached[next_nodes]]
        is_reached[frontier] = True
    return bool(is_reached[node])
