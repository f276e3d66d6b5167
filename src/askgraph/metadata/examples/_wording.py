"""What classes and predicates are called in the questions that templates make."""

import re

from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf.labels import best_label, words_of_local_name
from askgraph.rdf.nouns import english_singular, is_plural, within_sentence

__all__ = ["called", "is_noun", "label"]

_NO_NOUN = re.compile(r"^(?:is|has|was|had) | (?:of|in|for|at|with|by|to|from|on|as)$|[^e]ed$")
_TECHNICAL = frozenset(["fk", "id", "identifier", "iri", "key", "pk", "ref", "uri", "url"])
_OF_LINKS = _TECHNICAL | {"code"}
_OPERATORS = frozenset(
    "average count first highest largest last least longest lowest maximum mean median minimum "
    "most number oldest shortest smallest sum total youngest".split()
)


def called(item: ClassProfile | PredicateProfile) -> str:
    """Return an English name for a sentence, in the singular for a class.

    A link is called without the words of databases: `ref_stadium_id` leads to the stadium.
    """
    name = label(item)
    if isinstance(item, ClassProfile):
        return english_singular(name)
    if not item.object_classes:
        return name
    return " ".join(word for word in name.split() if word not in _OF_LINKS) or name


def is_noun(predicate: PredicateProfile) -> bool:
    """Whether a predicate's name can stand after "the", and says what is asked for.

    Identifiers do not, nor verbs, nor names that are read as operators: "the highest of Glebe
    Park", "the orbits of Styx".
    """
    words = called(predicate).split()
    if is_plural(words[-1]) or _TECHNICAL.intersection(words) or _OPERATORS.issuperset(words):
        return False
    return _NO_NOUN.search(label(predicate)) is None


def label(item: ClassProfile | PredicateProfile) -> str:
    """Return the English label, else the words of the IRI, as they stand in a sentence."""
    return within_sentence(best_label(item.names, ["en"]) or words_of_local_name(item.iri))
