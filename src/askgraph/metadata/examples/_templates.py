"""Kinds of questions in English, each with the query that it stands for."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf.labels import (
    best_label,
    english_plural,
    english_singular,
    is_plural,
    with_article,
    within_sentence,
    words_of_local_name,
)
from askgraph.rdf.vocabulary import NUMERIC_DATATYPES

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
    def plural(self) -> str:
        """The plural of the class's name."""
        return english_plural(self.noun)


@dataclass(frozen=True)
class Made:
    """A question and a query without its prefixes.

    `tie` is a query for the two best values, if the question asks for the one that has the best.
    """

    question: str
    query: str
    tie: str = ""


def _any_class(cls: ClassProfile) -> bool:
    return cls.instances > 1


def _any_predicate(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return True


@dataclass(frozen=True)
class Template:
    """A kind of question: what it is made of, and of which classes and predicates it can be asked.

    `fits` is told how many triples of the predicate are said of the class. `second` is what a
    second predicate is said of: of the `same` things, or of those that the first leads to (`next`).
    `gives` is what the query's first column holds: things of the class (`?x`), values of the last
    predicate (`?value`), or nothing that has a name. `rounds` is how often it is asked of one class
    and predicate, with other samples. `measures` needs values that can be measured.
    """

    filled: Callable[[Sample], Made]
    of_class: bool = False
    fits_class: Callable[[ClassProfile], bool] = _any_class
    fits: Callable[[PredicateProfile, int, ClassProfile], bool] = _any_predicate
    second: Literal["", "same", "next"] = ""
    gives: str = ""
    rounds: int = 1
    measures: bool = False


def _links(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return bool(predicate.object_classes)


def _shares(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    """Return whether several things have the same object, so that counting by it makes sense."""
    return bool(predicate.object_classes) and 1 < predicate.objects <= predicate.triples / 2


def _measures(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return predicate.functional and not NUMERIC_DATATYPES.isdisjoint(dict(predicate.datatypes))


def _lacks(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return 0 < cls.instances - own <= _LISTED


def _extreme(word: str, order: str) -> Template:
    def filled(s: Sample) -> Made:
        body = f"{{ ?x a {s.cls} ; {s.predicate} ?value }} ORDER BY {order}(?value) LIMIT"
        return Made(
            f"Which {s.noun} has the {word} {s.label}?",
            f"SELECT ?x WHERE {body} 1",
            tie=f"SELECT ?value WHERE {body} 2",
        )

    return Template(filled, fits=_measures, gives="?x", measures=True)


def _most(s: Sample) -> Made:
    body = f"{{ ?x a {s.cls} ; {s.predicate} ?value }} GROUP BY ?value ORDER BY DESC"
    return Made(
        f"Which {s.label} has the most {s.plural}?",
        f"SELECT ?value WHERE {body}(COUNT(DISTINCT ?x)) LIMIT 1",
        tie=f"SELECT (COUNT(DISTINCT ?x) AS ?number) WHERE {body}(?number) LIMIT 2",
    )


KINDS: Mapping[str, Template] = {
    "object": Template(
        lambda s: Made(
            f"What is the {s.label} of {s.name}?",
            f"SELECT DISTINCT ?value WHERE {{ {s.subject} {s.predicate} ?value }}",
        ),
        gives="?value",
        rounds=3,
    ),
    "subject": Template(
        lambda s: Made(
            f"Which {s.plural} have the {s.label} {s.text}?",
            f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} ; {s.predicate} {s.value} }}",
        ),
        fits=_links,
        gives="?x",
        rounds=3,
    ),
    "highest": _extreme("highest", "DESC"),
    "path": Template(
        lambda s: Made(
            f"What is the {s.other_label} of the {s.label} of {s.name}?",
            "SELECT DISTINCT ?value WHERE "
            f"{{ {s.subject} {s.predicate} ?middle . ?middle {s.other_predicate} ?value }}",
        ),
        fits=_links,
        second="next",
        gives="?value",
        rounds=2,
    ),
    "count": Template(
        lambda s: Made(
            f"How many {s.plural} have the {s.label} {s.text}?",
            "SELECT (COUNT(DISTINCT ?x) AS ?number) WHERE "
            f"{{ ?x a {s.cls} ; {s.predicate} {s.value} }}",
        ),
        fits=_shares,
        rounds=2,
    ),
    "more": Template(
        lambda s: Made(
            f"Which {s.plural} have {with_article(s.label)} of more than {s.text}?",
            f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} ; {s.predicate} ?value "
            f"FILTER (?value > {s.text}) }}",
        ),
        fits=_measures,
        gives="?x",
        measures=True,
    ),
    "both": Template(
        lambda s: Made(
            f"Which {s.plural} have the {s.label} {s.text} and the {s.other_label} {s.other_text}?",
            f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} ; {s.predicate} {s.value} ; "
            f"{s.other_predicate} {s.other_value} }}",
        ),
        fits=_shares,
        second="same",
        gives="?x",
        rounds=2,
    ),
    "without": Template(
        lambda s: Made(
            f"Which {s.plural} have no {s.label}?",
            f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} "
            f"FILTER NOT EXISTS {{ ?x {s.predicate} ?value }} }}",
        ),
        fits=_lacks,
        gives="?x",
    ),
    "whether": Template(
        lambda s: Made(
            f"Is {s.text} the {s.label} of {s.name}?",
            f"ASK {{ {s.subject} {s.predicate} {s.value} }}",
        ),
        fits=_links,
        rounds=2,
    ),
    "each": Template(
        lambda s: Made(
            f"How many {s.plural} are there for each {s.label}?",
            "SELECT ?value (COUNT(DISTINCT ?x) AS ?number) WHERE "
            f"{{ ?x a {s.cls} ; {s.predicate} ?value }} GROUP BY ?value",
        ),
        fits=_shares,
        gives="?value",
    ),
    "lowest": _extreme("lowest", "ASC"),
    "most": Template(_most, fits=_shares, gives="?value"),
    "average": Template(
        lambda s: Made(
            f"What is the average {s.label} of {s.plural}?",
            f"SELECT (AVG(?value) AS ?number) WHERE {{ ?x a {s.cls} ; {s.predicate} ?value }}",
        ),
        fits=_measures,
        measures=True,
    ),
    "list": Template(
        lambda s: Made(
            f"Which {s.plural} are there?", f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} }}"
        ),
        of_class=True,
        fits_class=lambda cls: 1 < cls.instances <= _LISTED,
        gives="?x",
    ),
    "all": Template(
        lambda s: Made(
            f"How many {s.plural} are there?",
            f"SELECT (COUNT(DISTINCT ?x) AS ?number) WHERE {{ ?x a {s.cls} }}",
        ),
        of_class=True,
    ),
}
"""By name; `drafts` takes one of each in turn."""
