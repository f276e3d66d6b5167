"""What people call the classes, properties and individuals of published vocabularies.

One TOML file describes one vocabulary. Files of users have the same form:

    title = "SKOS"
    namespaces = ["http://www.w3.org/2004/02/skos/core#"]

    [classes.Concept]                  # the local name
    en = ["term", "keyword"]           # what people call it, by language
    de = ["Begriff", "Schlagwort"]

    [properties.altLabel]
    en = ["synonym", "alternative name"]
    naming = "alternative"

    [properties.changeNote]
    bookkeeping = true

    [individuals.reference]            # a code, type or unit that graphs use without a label
    en = ["reference status"]

With `codes = true` at the top, a local name is a code, an underscore and words that differ between
versions: `P98i` stands for `P98i_was_born`.

A graph reads only the vocabularies whose namespaces it uses. The names are added to the profile
(`add_vocabulary_names`) beside the published labels, which stay preferred.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeGuard

from askgraph.errors import SetupError
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile, is_schema_term
from askgraph.index.names import stem_name
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name

LANGUAGES = ("en", "de", "es", "fr")
NAME, ALTERNATIVE, NEVER = "name", "alternative", "never"
NAMING_ROLES = (NAME, ALTERNATIVE, NEVER)
_AUXILIARY_VERB = re.compile(r"^(has|had|is|was) ")
_SCHEMA_LANGUAGES = (v.RDF, v.RDFS, v.OWL, v.SH)
_TOP_KEYS = ("title", "namespaces", "codes", "classes", "properties", "individuals")
_FIRST_TABLE = re.compile(r"^\[(?:classes|properties|individuals)\.", re.MULTILINE)
_FLAGS = ("bookkeeping", "value")
_PROPERTY_KEYS = (*LANGUAGES, "naming", "inverse", *_FLAGS)


@dataclass(frozen=True)
class VocabularyTerm:
    """What people know of a class, property or individual.

    Attributes:
        naming: "name" or "alternative" if its values name the subject, "never" if they do not
            although they may look so, "" if that depends on the graph.
        bookkeeping: Whether it is about the record, not about the thing: it is only used in a
            query if the question names it.
        value: Whether its value stands for a subject without a name, such as the date of a time
            span or the number of a measurement.
    """

    names: tuple[tuple[str, str], ...] = ()  # (text, language) pairs
    naming: str = ""
    bookkeeping: bool = False
    value: bool = False
    inverse: str = ""  # local name of the property that says the same in the other direction


@dataclass(frozen=True)
class VocabularyFile:
    """The content of a file: terms by local name, or by code."""

    title: str  # name of the vocabulary
    namespaces: tuple[str, ...]  # namespaces of its terms, for all versions
    codes: bool  # whether local names begin with a code that identifies the term
    classes: Mapping[str, VocabularyTerm]  # classes by local name
    properties: Mapping[str, VocabularyTerm]  # properties by local name
    individuals: Mapping[str, VocabularyTerm] = field(default_factory=dict)  # by local name

    def find(self, iri: str, terms: Mapping[str, VocabularyTerm]) -> VocabularyTerm | None:
        """Return one of the terms by its IRI, or None."""
        namespace = next((item for item in self.namespaces if iri.startswith(item)), None)
        if namespace is None:
            return None
        local = iri[len(namespace) :]
        if not self.codes:
            return terms.get(local)
        code, _, words = local.partition("_")
        term = terms.get(code, VocabularyTerm())
        name = _AUXILIARY_VERB.sub("", words.replace("_", " "))
        return replace(term, names=((name, LANGUAGES[0]), *term.names)) if name else term


@dataclass(frozen=True)
class Vocabularies:
    """The vocabularies that a graph uses; those of users come first."""

    items: tuple[VocabularyFile, ...] = ()

    def find_class(self, iri: str) -> VocabularyTerm | None:
        """Return the knowledge of a class, or None."""
        terms = (item.find(iri, item.classes) for item in self.items)
        return next((term for term in terms if term is not None), None)

    def find_property(self, iri: str) -> VocabularyTerm | None:
        """Return the knowledge of a property, or None."""
        terms = (item.find(iri, item.properties) for item in self.items)
        return next((term for term in terms if term is not None), None)


def load_vocabularies(iris: Iterable[str], user_files: Sequence[Path] = ()) -> Vocabularies:
    """Read the vocabularies with a term among some IRIs, those of users first.

    Args:
        iris: Classes and predicates of a graph.
        user_files: Further vocabularies.

    Raises:
        SetupError: A file is missing or invalid; the message names the file and the key.
    """
    all_iris = tuple(iris)
    texts = (*((str(path), _read_text(path)) for path in user_files), *_read_packaged_files())
    used = []
    for source, text in texts:
        namespaces = read_namespaces(text, source)
        if any(iri.startswith(namespaces) for iri in all_iris):
            used.append(parse_vocabulary(text, source))
    return Vocabularies(tuple(used))


def iterate_individuals(user_files: Sequence[Path] = ()) -> Iterator[tuple[str, VocabularyTerm]]:
    """Yield the individuals that vocabularies name, by IRI, those of users first.

    Raises:
        SetupError: A file is missing or invalid; the message names the file and the key.
    """
    texts = (*((str(path), _read_text(path)) for path in user_files), *_read_packaged_files())
    for source, text in texts:
        if "[individuals." in text:
            vocabulary = parse_vocabulary(text, source)
            for local, term in vocabulary.individuals.items():
                yield from ((name + local, term) for name in vocabulary.namespaces)


@cache
def load_packaged_individuals() -> Mapping[str, VocabularyTerm]:
    """Return the individuals that the vocabularies of the package name, by IRI."""
    return dict(iterate_individuals())


def compute_vocabulary_digest(user_files: Sequence[Path] = ()) -> str:
    """Return a hash of the content of all vocabularies; `SetupError` if a file is missing."""
    digest = hashlib.sha256()
    for _, text in _read_packaged_files():
        digest.update(text.encode())
    for path in user_files:
        digest.update(_read_text(path).encode())
    return digest.hexdigest()[:16]


@cache
def _read_packaged_files() -> tuple[tuple[str, str], ...]:
    """Return the names and texts of the files in the package, sorted by name."""
    folder = files(__name__)
    paths = sorted(
        (path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda p: p.name
    )
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in paths)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SetupError(f"there is no vocabulary file {str(path)!r}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the vocabulary {path} cannot be read: {error}") from error


def read_namespaces(text: str, source: str) -> tuple[str, ...]:
    """Return the namespaces of a vocabulary; only the part before the first table is parsed."""
    namespaces = _parse_toml(_FIRST_TABLE.split(text, maxsplit=1)[0], source).get("namespaces")
    if not _is_text_list(namespaces) or not all(":" in namespace for namespace in namespaces):
        raise SetupError(
            f"{source}: 'namespaces' must be a list of namespace IRIs before the first table"
        )
    return tuple(namespaces)


def parse_vocabulary(text: str, source: str) -> VocabularyFile:
    """Return the vocabulary in a TOML text; `SetupError` names the source and the wrong key."""
    namespaces, document = read_namespaces(text, source), _parse_toml(text, source)
    if unknown := sorted(set(document) - set(_TOP_KEYS)):
        raise SetupError(f"{source}: {unknown[0]!r} is none of {', '.join(_TOP_KEYS)}")
    title, codes = document.get("title"), document.get("codes", False)
    if not isinstance(title, str) or not title:
        raise SetupError(f"{source}: 'title' must be the name of the vocabulary")
    if not isinstance(codes, bool):
        raise SetupError(f"{source}: 'codes' must be true or false, it is {codes!r}")
    return VocabularyFile(
        title,
        namespaces,
        codes,
        _parse_terms(document, "classes", LANGUAGES, source),
        _parse_terms(document, "properties", _PROPERTY_KEYS, source),
        _parse_terms(document, "individuals", LANGUAGES, source),
    )


def _parse_terms(
    document: Mapping[str, Any], kind: str, keys: Sequence[str], source: str
) -> dict[str, VocabularyTerm]:
    tables = document.get(kind, {})
    if not isinstance(tables, dict):
        raise SetupError(f"{source}: {kind!r} must hold a table for each term, as [{kind}.NAME]")
    return {
        local: _parse_term(table, keys, f"{source}: [{kind}.{local}]")
        for local, table in tables.items()
    }


def _parse_term(table: object, keys: Sequence[str], where: str) -> VocabularyTerm:
    if not isinstance(table, dict):
        raise SetupError(f"{where} must be a table, it is {table!r}")
    if unknown := sorted(set(table) - set(keys)):
        raise SetupError(f"{where} has an unknown key {unknown[0]!r}; there are {', '.join(keys)}")
    names: list[tuple[str, str]] = []
    for language in LANGUAGES:
        texts = table.get(language, [])
        if not _is_text_list(texts) or not all(map(stem_name, texts)):
            raise SetupError(f"{where} {language} must be a list of names, it is {texts!r}")
        names += [(text, language) for text in texts]
    naming, flags = table.get("naming", ""), [table.get(flag, False) for flag in _FLAGS]
    if "naming" in table and naming not in NAMING_ROLES:
        raise SetupError(f"{where} naming {naming!r} is none of {', '.join(NAMING_ROLES)}")
    for flag, value in zip(_FLAGS, flags, strict=True):
        if not isinstance(value, bool):
            raise SetupError(f"{where} {flag} must be true or false, it is {value!r}")
    inverse = table.get("inverse", "")
    if not isinstance(inverse, str):
        raise SetupError(f"{where} inverse must be a local name, it is {inverse!r}")
    return replace(VocabularyTerm(tuple(names), naming, *flags), inverse=inverse)


def _parse_toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"the vocabulary {source} is no TOML: {error}") from error


def _is_text_list(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def add_vocabulary_names(profile: Profile, vocabularies: Vocabularies) -> Profile:
    """Return the profile with the names and roles that vocabularies give its terms.

    The graph's own names come first: a name of a class is left out if a class or predicate of the
    graph has it itself, and a name of a predicate if a predicate has it. Unless the graph is an
    ontology, nobody asks for the terms of its schema: these get no names.
    """
    sizes = [(item.iri.startswith(_SCHEMA_LANGUAGES), item.instances) for item in profile.classes]
    is_ontology = 2 * sum(size for is_schema, size in sizes if is_schema) > sum(
        size for _, size in sizes
    )
    own_predicate_names = _collect_own_names(profile.predicates)
    own_names = own_predicate_names | _collect_own_names(profile.classes)

    def find_term(
        find: Callable[[str], VocabularyTerm | None], iri: str, owners: Sequence[str]
    ) -> VocabularyTerm:
        is_schema_only = bool(owners) and all(cls.startswith(_SCHEMA_LANGUAGES) for cls in owners)
        term = None if is_schema_only and not is_ontology else find(iri)
        return term or VocabularyTerm()

    def describe_predicate(item: PredicateProfile) -> PredicateProfile:
        term = find_term(vocabularies.find_property, item.iri, [c for c, _ in item.subject_classes])
        names = _select_names(term, own_predicate_names)
        return replace(item, other_names=names, bookkeeping=term.bookkeeping, value=term.value)

    def describe_class(item: ClassProfile) -> ClassProfile:
        term = find_term(vocabularies.find_class, item.iri, [item.iri])
        return replace(item, other_names=_select_names(term, own_names))

    return replace(
        profile,
        classes=tuple(map(describe_class, profile.classes)),
        predicates=tuple(map(describe_predicate, profile.predicates)),
    )


def _collect_own_names(
    items: Iterable[ClassProfile | PredicateProfile],
) -> frozenset[tuple[str, ...]]:
    """Return the stems of the published labels and local names; schema languages have none."""
    texts = (
        text
        for item in items
        if not is_schema_term(item.iri)
        for text in (*(label for label, _ in item.names), split_local_name(item.iri))
    )
    return frozenset(map(stem_name, texts))


def _select_names(
    term: VocabularyTerm, own_names: frozenset[tuple[str, ...]]
) -> tuple[tuple[str, str], ...]:
    return tuple((text, tag) for text, tag in term.names if stem_name(text) not in own_names)
