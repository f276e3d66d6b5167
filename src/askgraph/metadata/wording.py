"""Labels of predicates that are made from others, out of the labels that these have."""

from askgraph.index.tokens import tokens
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.metadata.names import local_name
from askgraph.rdf.labels import best_label, words_of_local_name

__all__ = [
    "called",
    "chain_label",
    "closure_label",
    "inverse_label",
    "role_label",
    "virtual_iri",
]

_VIRTUAL = "urn:askgraph:virtual:"
_HAVING = ("has ", "have ", "is ", "was ")


def called(term: ClassProfile | PredicateProfile) -> str:
    """Return what a term is called: its best label, else the words of its IRI."""
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
