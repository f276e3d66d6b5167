"""The terms that a question's query may name, as a list that a writer can point into."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

from askgraph.index.names import Kind
from askgraph.metadata import Profile
from askgraph.metadata.names import local_name
from askgraph.rdf.labels import best_label, words_of_local_name
from askgraph.rdf.vocabulary import XSD_DATE, XSD_DATE_TIME, XSD_G_YEAR
from askgraph.search.linking.link import Linked
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.days import day_literal
from askgraph.writing import Listed
from askgraph.writing.pointer.skeleton import number_of

__all__ = ["MOST", "listed_terms", "plain_number", "said_numbers", "written"]

MOST = 48
"""How many terms are listed at most."""

_LAST = 10_000
_DATED = (XSD_DATE, XSD_DATE_TIME, XSD_G_YEAR)


def written(listed: Listed) -> str:
    """Return a listed term as forms have it: IRIs in angle brackets."""
    literal = listed.target.startswith('"') or number_of(listed.target) is not None
    return listed.target if literal else f"<{listed.target}>"


def listed_terms(
    linked: Linked, profile: Profile, *, named: Iterable[str] = (), limit: int = MOST
) -> tuple[Listed, ...]:
    """Return what a question's words were linked to, its numbers, and `named`, in their order.

    `named` are terms that a query names in any case, as `terms_of` gives them; they are kept before
    what was only linked. What no word means stands last.
    """
    found: dict[str, Listed] = {}
    for link in linked.links:
        one = Listed(link.kind, link.target, link.name, positions=link.positions, score=link.score)
        found.setdefault(written(one), one)
    wanted = dict.fromkeys(named)
    for one in said_numbers(linked.reading.quantities, profile, wanted):
        found[written(one)] = one
    for term in wanted:
        if term not in found:
            found[term] = _unlinked(term, linked, profile)
    best = sorted(found.items(), key=lambda item: (item[0] not in wanted, -item[1].score))
    return tuple(sorted((one for _, one in best[:limit]), key=_place))


def said_numbers(
    quantities: Sequence[Quantity], profile: Profile, named: Iterable[str] = ()
) -> Iterator[Listed]:
    """The constants that a question's numbers and dates may be, and those of `named` that are."""
    types = {name for p in profile.predicates for name, _ in p.datatypes[:1] if name in _DATED}
    for quantity in quantities:
        places = tuple(quantity.positions)
        texts: dict[str, None] = {}
        if quantity.value is not None:
            texts[plain_number(quantity.value)] = None
        for datatype in sorted(types) if quantity.days else ():
            for day, end in zip(quantity.days or (), (False, True), strict=True):
                texts[day_literal(day, datatype, end=end)] = None
        for term in named:
            if _is_same(term, quantity):
                texts[term] = None
        for text in texts:
            yield Listed(Kind.VALUE, text, quantity.text, positions=places, score=1.0)


def plain_number(value: float) -> str:
    """Return the digits of a number as SPARQL writes integers and decimals: no exponent."""
    return f"{Decimal(int(value) if float(value).is_integer() else repr(value)):f}"


def _is_same(term: str, quantity: Quantity) -> bool:
    number = number_of(term)
    return number is not None and number == quantity.value


def _unlinked(term: str, linked: Linked, profile: Profile) -> Listed:
    """A term that no word was linked to: a step, a class, a constant."""
    if not term.startswith("<"):
        text = term.split('"')[1] if term.startswith('"') else term
        return Listed(Kind.VALUE, term, text, positions=_said(text, linked))
    iri = term[1:-1]
    kind, label = _known(profile).get(iri, (Kind.ENTITY, ""))
    return Listed(kind, iri, label or words_of_local_name(local_name(iri)))


def _said(text: str, linked: Linked) -> tuple[int, ...]:
    return tuple(at for at, t in enumerate(linked.reading.tokens) if t.folded == text.lower())


@lru_cache(maxsize=32)
def _known(profile: Profile) -> dict[str, tuple[Kind, str]]:
    """The kind and label of each class and predicate."""
    found = {c.iri: (Kind.CLASS, best_label(c.names, ["en"]) or "") for c in profile.classes}
    for p in profile.predicates:
        found[p.iri] = (Kind.PREDICATE, best_label(p.names, ["en"]) or "")
    return found


def _place(listed: Listed) -> tuple[object, ...]:
    first = listed.positions[0] if listed.positions else _LAST
    return first, -len(listed.positions), -listed.score, listed.kind, listed.target
