"""Kinds of questions in English, each with the query that it stands for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf.nouns import english_plural, with_article
from askgraph.rdf.vocabulary import NUMERIC_DATATYPES

_LISTED = 100


@dataclass(frozen=True)
class Sample:
    """What a template is filled with; terms are as SPARQL writes them.

    `noun` and `label` are what class and predicate are called. `subject` is a thing of the class,
    called `name`, of which the predicate says `value`, called `text`.
    """

    noun: str
    cls: str
    label: str = ""
    predicate: str = ""
    name: str = ""
    subject: str = ""
    value: str = ""
    text: str = ""

    @property
    def plural(self) -> str:
        """What things of the class are called."""
        return english_plural(self.noun)


@dataclass(frozen=True)
class Made:
    """A question and a query without its prefixes."""

    question: str
    query: str


def _any_class(cls: ClassProfile) -> bool:
    return cls.instances > 1


def _any_predicate(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return True


@dataclass(frozen=True)
class Template:
    """A kind of question: what it is made of, and of which classes and predicates it can be asked.

    `fits` is told how many triples of the predicate are said of the class. `gives` is what the
    query's first column holds: things of the class (`?x`), values of the predicate (`?value`), or
    nothing that has a name.
    """

    filled: Callable[[Sample], Made]
    of_class: bool = False
    fits_class: Callable[[ClassProfile], bool] = _any_class
    fits: Callable[[PredicateProfile, int, ClassProfile], bool] = _any_predicate
    gives: str = ""


def _links(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return bool(predicate.object_classes)


def _shares(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    """Whether several things have the same object, so that counting by it tells something."""
    return bool(predicate.object_classes) and 1 < predicate.objects <= predicate.triples / 2


def _measures(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return predicate.functional and not NUMERIC_DATATYPES.isdisjoint(dict(predicate.datatypes))


def _lacks(predicate: PredicateProfile, own: int, cls: ClassProfile) -> bool:
    return 0 < cls.instances - own <= _LISTED


KINDS: Mapping[str, Template] = {
    "object": Template(
        lambda s: Made(
            f"What is the {s.label} of {s.name}?",
            f"SELECT DISTINCT ?value WHERE {{ {s.subject} {s.predicate} ?value }}",
        ),
        gives="?value",
    ),
    "subject": Template(
        lambda s: Made(
            f"Which {s.plural} have the {s.label} {s.text}?",
            f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} ; {s.predicate} {s.value} }}",
        ),
        fits=_links,
        gives="?x",
    ),
    "count": Template(
        lambda s: Made(
            f"How many {s.plural} have the {s.label} {s.text}?",
            "SELECT (COUNT(DISTINCT ?x) AS ?number) WHERE "
            f"{{ ?x a {s.cls} ; {s.predicate} {s.value} }}",
        ),
        fits=_shares,
    ),
    "highest": Template(
        lambda s: Made(
            f"Which {s.noun} has the highest {s.label}?",
            f"SELECT ?x WHERE {{ ?x a {s.cls} ; {s.predicate} ?value }} "
            "ORDER BY DESC(?value) LIMIT 1",
        ),
        fits=_measures,
        gives="?x",
    ),
    "more": Template(
        lambda s: Made(
            f"Which {s.plural} have {with_article(s.label)} of more than {s.text}?",
            f"SELECT DISTINCT ?x WHERE {{ ?x a {s.cls} ; {s.predicate} ?value "
            f"FILTER (?value > {s.text}) }}",
        ),
        fits=_measures,
        gives="?x",
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
