"""The names in a big graph behind an endpoint, page by page, as many as a bound allows."""

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.index.names import Kind, Name
from askgraph.metadata import PredicateProfile, Profile
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.names import acronym, schema_names, short_value
from askgraph.metadata.naming import standard_naming
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Row, Term

__all__ = ["remote_names"]

_PAGE = 50_000
_ORDERED = 100_000
_TEXTUAL = frozenset({v.XSD_STRING, v.RDF_LANG_STRING})


async def remote_names(inquiry: Inquiry, profile: Profile) -> tuple[list[Name], list[str]]:
    """Return the names of classes, predicates, entities and short values; and what is missing."""
    names = list(schema_names(profile))
    schema = {c.iri for c in profile.classes} | {p.iri for p in profile.predicates}
    cuts: list[str] = []
    pager = _Pager(inquiry)
    for predicate in _naming(profile):
        preferred = predicate.naming == "name"
        wanted = _Wanted(predicate, "SELECT ?s ?o", "names", predicate.triples)
        rows = await pager.all_of(wanted, keep=0.1)
        names += _entity_names(rows, schema, preferred=preferred)
        cuts += _missing(wanted, len(rows))
    for predicate in _valued(profile):
        wanted = _Wanted(predicate, "SELECT DISTINCT ?o", "values", predicate.objects)
        rows = await pager.all_of(wanted)
        names += _value_names(row[-1] for row in rows)
        cuts += _missing(wanted, len(rows))
    return names, cuts


def _naming(profile: Profile) -> list[PredicateProfile]:
    """Standard name predicates: preferred names before alternative ones."""
    found = [p for p in profile.predicates if p.naming and standard_naming(p.iri)]
    return sorted(found, key=lambda p: (p.naming != "name", p.triples))


def _valued(profile: Profile) -> list[PredicateProfile]:
    """Predicates whose values may be mentioned: the graph's own names, then few values first."""
    found = [
        p
        for p in profile.predicates
        if not standard_naming(p.iri)
        and p.iri not in v.DESCRIPTION_PREDICATES
        and dict(p.datatypes).keys() & _TEXTUAL
    ]
    return sorted(found, key=lambda p: (not p.naming, p.objects))


@dataclass(frozen=True)
class _Wanted:
    """Rows of a predicate: what to select, what that is in words, how many are expected."""

    predicate: PredicateProfile
    select: str
    what: str
    expected: int

    def page(self, size: int, offset: int) -> str:
        """The query for one page, in order where ordering is not too much to ask."""
        body = f"{self.select} {{ ?s <{self.predicate.iri}> ?o }}"
        if self.predicate.triples <= _ORDERED:
            variables = self.select.removeprefix("SELECT ").removeprefix("DISTINCT ")
            body = f"SELECT {variables} {{ {{ {body} ORDER BY {variables} }} }}"
        return f"{body} LIMIT {size} OFFSET {offset}"


class _Pager:
    """Fetches rows page by page; learns the endpoint's cap from what comes."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self._page = _PAGE

    async def all_of(self, wanted: _Wanted, *, keep: float = 0.0) -> list[Row]:
        """Return the rows until they end, or until only `keep` of the bound is left."""
        found: list[Row] = []
        size = self._page
        while self._inquiry.share_left() > keep:
            words = f"{wanted.what} by <{wanted.predicate.iri}>, {len(found):,} of about "
            query = wanted.page(size, len(found))
            page = await self._inquiry.rows(f"{words}{wanted.expected:,}", query)
            if page is None or not page.rows:
                break
            self._page = size
            found += page.rows
            short = len(page.rows) < size
            if short and not page.cut and len(found) >= 0.98 * wanted.expected:
                break
            if short:
                size = len(page.rows)
        return found


def _missing(wanted: _Wanted, found: int) -> Iterator[str]:
    if found < 0.98 * wanted.expected:
        yield (
            f"{wanted.what} by <{wanted.predicate.iri}>: {found:,} of about "
            f"{wanted.expected:,} were read"
        )


def _entity_names(rows: list[Row], schema: set[str], *, preferred: bool) -> Iterator[Name]:
    for subject, text in rows:
        if not isinstance(subject, NamedNode) or not isinstance(text, Literal):
            continue
        if subject.value in schema:
            continue
        yield Name(text.value, subject.value, Kind.ENTITY, preferred)
        if initials := acronym(text.value):
            yield Name(initials, subject.value, Kind.ENTITY, preferred=False)


def _value_names(terms: Iterator[Term | None]) -> Iterator[Name]:
    for term in terms:
        if isinstance(term, Literal) and short_value(term.value):
            yield Name(term.value, str(term), Kind.VALUE)
