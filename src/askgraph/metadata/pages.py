"""All triples of a small graph behind an endpoint, whatever its cap on rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.metadata.inquiry import Inquiry
from askgraph.sparql.results import Row

__all__ = ["Pages", "all_triples"]


@dataclass(frozen=True)
class Pages:
    """Triples, and what of them is not as it should be, in words."""

    triples: tuple[Triple, ...]
    cuts: tuple[str, ...] = ()


async def all_triples(inquiry: Inquiry, total: int) -> Pages | None:
    """Return the triples of a graph that has so many; None where they cannot be had.

    One query where the endpoint gives that many rows, else pages below its cap: the triples of
    several predicates at a time, big predicates in ordered pages. Where these would cost more than
    half of the queries that are left, none is asked for.
    """
    whole = await inquiry.rows("all triples", "SELECT ?s ?p ?o { ?s ?p ?o }")
    if whole is None or not whole.rows:
        return None
    if len(whole.rows) >= total and not whole.cut:
        return Pages(tuple(_triples(whole.rows)))
    inquiry.cap = len(whole.rows)
    return await _paged(inquiry, total, cap=len(whole.rows))


async def _paged(inquiry: Inquiry, total: int, *, cap: int) -> Pages | None:
    counted = await inquiry.rows(
        "predicates", "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?n"
    )
    if counted is None or counted.cut:
        return None
    queries = list(_queries(counted.rows, cap))
    if len(queries) > inquiry.queries_left / 2:
        return None
    rename = not await _lasting_names(inquiry)
    triples: list[Triple] = []
    for number, query in enumerate(queries):
        page = await inquiry.rows(f"triples, {len(triples):,} of {total:,}", query)
        if page is None:
            return None
        triples += _triples(page.rows, f"p{number}x" if rename else "")
    cuts = []
    if len(triples) < total:
        cuts.append(f"{total - len(triples):,} of {total:,} triples did not come")
    if rename:
        cuts.append("blank nodes that several pages hold are taken for different ones")
    return Pages(tuple(triples), tuple(cuts))


def _queries(counted: Sequence[Row], cap: int) -> Iterator[str]:
    together: list[str] = []
    size = 0
    for predicate, number in counted:
        count = int(number.value) if isinstance(number, Literal) else 0
        if count >= cap:
            yield from _ordered(str(predicate), count, cap)
            continue
        if size + count >= cap:
            yield _of(together)
            together, size = [], 0
        together.append(str(predicate))
        size += count
    if together:
        yield _of(together)


def _of(predicates: Sequence[str]) -> str:
    return f"SELECT ?s ?p ?o {{ VALUES ?p {{ {' '.join(predicates)} }} ?s ?p ?o }}"


def _ordered(predicate: str, count: int, cap: int) -> Iterator[str]:
    """Ordered inside, cut outside: Virtuoso refuses ORDER BY with an OFFSET beyond 10,000."""
    inner = f"SELECT ?s ({predicate} AS ?p) ?o {{ ?s {predicate} ?o }} ORDER BY ?s ?o"
    for offset in range(0, count, cap):
        yield f"SELECT ?s ?p ?o {{ {{ {inner} }} }} LIMIT {cap} OFFSET {offset}"


async def _lasting_names(inquiry: Inquiry) -> bool:
    """Whether a blank node has the same name in two replies (or there is none)."""
    body = "{ ?b ?p ?o FILTER(isBlank(?b)) } ORDER BY ?b"
    two = await inquiry.rows("blank nodes", f"SELECT DISTINCT ?b {body} LIMIT 2")
    second = await inquiry.rows("blank nodes", f"SELECT DISTINCT ?b {body} LIMIT 1 OFFSET 1")
    if two is None or second is None:
        return False
    return len(two.rows) < 2 or two.rows[1:] == second.rows


def _triples(rows: Sequence[Row], rename: str = "") -> Iterator[Triple]:
    for subject, predicate, value in rows:
        if not isinstance(subject, NamedNode | BlankNode) or not isinstance(predicate, NamedNode):
            continue
        if rename and isinstance(subject, BlankNode):
            subject = BlankNode(rename + subject.value)
        if rename and isinstance(value, BlankNode):
            value = BlankNode(rename + value.value)
        if isinstance(value, NamedNode | BlankNode | Literal):
            yield Triple(subject, predicate, value)
