"""Kinds of questions in English, each with the query that it stands for."""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from askgraph.graph.profile import ClassProfile, PredicateProfile
from askgraph.sparql.prefixes import (
    best_label,
    english_plural,
    english_singular,
    is_plural,
    with_article,
    within_sentence,
    words_of_local_name,
)
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES

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
    """Return whether a predicate's name can stand after "the", and says what is asked for.

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


_LISTED = 100


@dataclass(frozen=True)
class Sample:
    """The filling of a template; terms are as SPARQL writes them.

    `noun` and `label` are what class and predicate are called. `subject` is a thing of the class,
    called `name`, of which the predicate says `value`, called `text`. What begins with `other` is
    the same of a second predicate.
    """

    noun: str
    cls: str
    label: str = ""
    predicate: str = ""
    name: str = ""
    subject: str = ""
    value: str = ""
    text: str = ""
    other_label: str = ""
    other_predicate: str = ""
    other_value: str = ""
    other_text: str = ""

    @property
    def filling(self) -> Mapping[str, str]:
        """All that a template can name; also `plural`, and `a_label` with its article."""
        made = {"plural": english_plural(self.noun), "a_label": with_article(self.label)}
        return {**vars(self), **made}


@dataclass(frozen=True)
class Template:
    """A kind of question: its words, the query, and of which classes and predicates it is asked.

    `fits` names what must hold of the class (`of_class`), or of the triples of the predicate that
    are said of it. `second` is what a second predicate is said of: of the `same` things, or of
    those that the first leads to (`next`). `gives` is what the query's first column holds: things
    of the class (`?x`), values of the last predicate (`?value`), or nothing that has a name.
    `rounds` is how often it is asked of one class and predicate, with other samples. It is
    `measured` if it needs values that can be measured.
    """

    question: str
    query: str
    tie: str = ""
    of_class: bool = False
    fits: str = ""
    second: Literal["", "same", "next"] = ""
    gives: str = ""
    rounds: int = 1
    measured: bool = False

    def fits_class(self, cls: ClassProfile) -> bool:
        """Return whether it can be asked of a class as a whole."""
        return self.of_class and 1 < cls.instances <= (_LISTED if self.fits else math.inf)

    def fits_predicate(self, predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
        """Return whether it can be asked of a predicate with so many triples of a class."""
        match self.fits:
            case "links":
                return bool(predicate.object_classes)
            case "shares":  # several things have the same object: counting by it makes sense
                few = 1 < predicate.objects <= predicate.triples / 2
                return bool(predicate.object_classes) and few
            case "measures":
                numeric = not NUMERIC_DATATYPES.isdisjoint(dict(predicate.datatypes))
                return predicate.functional and numeric
            case "lacks":
                return 0 < cls.instances - own <= _LISTED
            case _:
                return True


@cache
def templates() -> Mapping[str, Template]:
    """Return them by name, in the order in which they are asked."""
    text = files("askgraph.graph.examples").joinpath("templates.toml").read_text("utf-8")
    return {name: Template(**about) for name, about in tomllib.loads(text).items()}
