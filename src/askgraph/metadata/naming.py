"""Which predicates carry names: the standard ones, and a graph's own, found by their shape."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.index.tokens import stem, tokens
from askgraph.metadata import PredicateProfile
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name

__all__ = ["NAME_WORDS", "NameShape", "naming_role", "standard_naming"]

NAME_WORDS = frozenset(
    "name title label titel bezeichnung nombre titulo nom titre intitule".split()
)
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+|\+?[\d\s()-]{7,}")


def standard_naming(iri: str) -> str:
    """Return "name" or "alternative" for the predicates of the standard vocabularies, else ""."""
    if iri in v.LABEL_PREDICATES:
        return "name"
    return "alternative" if iri in v.ALTERNATIVE_LABEL_PREDICATES else ""


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
    said = bool(words & NAME_WORDS) or any(
        word.endswith(ending) for word in words for ending in NAME_WORDS if len(ending) >= 4
    )
    unique = predicate.objects >= 0.9 * predicate.triples
    return "name" if said or unique else ""


@dataclass(frozen=True)
class NameShape:
    """How a name predicate serves one class; the best one has the highest score."""

    predicate: str
    cls: str
    coverage: float
    distinct: float

    @property
    def score(self) -> float:
        """Higher is better: standard, then said in its own name, then like the class, unique."""
        words = [stem(word) for word in tokens(words_of_local_name(self.predicate))]
        own = {stem(word) for word in tokens(words_of_local_name(self.cls))}
        said = 1.0 if words and (words[-1] in NAME_WORDS) else 0.0
        if not said and any(w.endswith(e) for w in words for e in NAME_WORDS if len(e) >= 4):
            said = 0.8
        alike = 0.7 if set(words) & own else 0.0
        standard = 3.0 if standard_naming(self.predicate) else 0.0
        return standard + said + alike + self.coverage + self.distinct - 0.05 * len(words)
