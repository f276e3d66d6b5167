"""What is known of a graph: classes, predicates, names, and what was left out of the count."""

from dataclasses import dataclass

__all__ = ["ClassProfile", "PredicateProfile", "Profile"]

VERSION = 1


@dataclass(frozen=True)
class ClassProfile:
    """A class as it is used.

    `names` are (text, language) pairs. `name_predicate` carries the names of its instances, where
    most have one. `nary` marks classes whose instances have no name and link two things or more.
    """

    iri: str
    instances: int
    names: tuple[tuple[str, str], ...] = ()
    parents: tuple[str, ...] = ()
    name_predicate: str | None = None
    nary: bool = False


@dataclass(frozen=True)
class PredicateProfile:
    """A predicate as it is used.

    `subject_classes`, `object_classes`, `datatypes` and `languages` are (name, number of triples)
    pairs, most frequent first. `naming` is "name", "alternative" or "" (no names). `inverse_of`
    lists predicates that say the same the other way round.
    """

    iri: str
    triples: int
    subjects: int
    objects: int
    names: tuple[tuple[str, str], ...] = ()
    subject_classes: tuple[tuple[str, int], ...] = ()
    object_classes: tuple[tuple[str, int], ...] = ()
    datatypes: tuple[tuple[str, int], ...] = ()
    languages: tuple[tuple[str, int], ...] = ()
    naming: str = ""
    transitive: bool = False
    inverse_of: tuple[str, ...] = ()

    @property
    def functional(self) -> bool:
        """Whether a subject has at most one object (one in fifty may have more)."""
        return self.triples <= self.subjects * 1.02

    @property
    def literal(self) -> bool:
        """Whether its objects are literals."""
        return bool(self.datatypes) and not self.object_classes


@dataclass(frozen=True)
class Profile:
    """What is known of a graph as a whole; `cuts` says what a bound left out."""

    triples: int
    classes: tuple[ClassProfile, ...]
    predicates: tuple[PredicateProfile, ...]
    languages: tuple[tuple[str, int], ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    cuts: tuple[str, ...] = ()
    source: str = ""
    created: str = ""
    version: int = VERSION
