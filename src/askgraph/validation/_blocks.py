"""A query as blocks: what must hold together, what may, what must not, and who is asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from pyoxigraph import NamedNode, Variable

from askgraph.rdf.vocabulary import WIKIBASE
from askgraph.sparql.tree import (
    Bind,
    Call,
    Element,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Term,
    Union,
    Values,
)
from askgraph.validation._atoms import Atom, Typing, atoms_of
from askgraph.validation._inference import Env, inferred, sorts_of
from askgraph.validation.knowledge import Knowledge, Services, Sorts

__all__ = ["Block", "block_of", "walk"]


@dataclass
class Block:
    """Patterns that hold together, put to one graph.

    `unions` are alternatives, `inner` what is optional, denied or asked for to exist, `selects` the
    queries within with their columns, `apart` what another graph is asked.
    """

    known: Knowledge | None
    patterns: list[Pattern] = field(default_factory=list)
    atoms: list[Atom | Typing] = field(default_factory=list)
    given: list[Env] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    unions: list[list["Block"]] = field(default_factory=list)
    inner: list["Block"] = field(default_factory=list)
    selects: list[tuple["Block", frozenset[str] | None]] = field(default_factory=list)
    apart: list["Block"] = field(default_factory=list)
    summary: Env = field(default_factory=dict)


def block_of(query: Query, services: Services) -> Block:
    """Return the block of a query's WHERE part, with all those in it and their summaries."""
    return _built(query.where, services.own, services.others, count())


def walk(block: Block, outside: Env | None = None) -> Iterator[tuple[Block, Env, list[Env]]]:
    """Yield each block with the sorts of its variables and what they were inferred from.

    Each is looked at once from within, when it is built, and once from outside: time grows with the
    query, however deep it is nested.
    """
    given = [*block.given, *_summaries(block), *([outside] if outside else [])]
    env: Env = inferred(block.atoms, block.known, given)[0] if block.known else {}
    yield block, env, given
    for inner in (*block.inner, *(branch for union in block.unions for branch in union)):
        yield from walk(inner, env)
    for select, columns in block.selects:
        shared = {n: s for n, s in env.items() if columns is None or n in columns}
        yield from walk(select, shared)
    for other in block.apart:
        yield from walk(other)


def _built(
    group: Group, known: Knowledge | None, others: Mapping[str, Knowledge], fresh: Iterator[int]
) -> Block:
    block = Block(known)
    for element in group.elements:
        _add(element, block, others, fresh)
    if known is not None:
        block.summary = inferred(block.atoms, known, [*block.given, *_summaries(block)])[0]
    return block


def _add(
    element: Element, block: Block, others: Mapping[str, Knowledge], fresh: Iterator[int]
) -> None:
    match element:
        case Pattern():
            block.patterns.append(element)
            block.atoms += atoms_of(element, fresh)
        case Values() | Bind():
            block.given += _told(element, block.known)
        case Filter():
            block.filters.append(element)
            for group in _groups(element.condition):
                block.inner.append(_built(group, block.known, others, fresh))
        case Union(groups=groups):
            block.unions.append([_built(one, block.known, others, fresh) for one in groups])
        case Query():
            inner = _built(element.where, block.known, others, fresh)
            plain = frozenset(v.value for v, value in element.columns if value is None)
            block.selects.append((inner, plain if element.columns else None))
        case Nested():
            _add_nested(element, block, others, fresh)


def _told(element: Values | Bind, known: Knowledge | None) -> list[Env]:
    """The sorts of what is given by name."""
    if known is None:
        return []
    if isinstance(element, Values):
        return [dict(_values(element, known))]
    if not isinstance(element.value, NamedNode):
        return []
    sorts = sorts_of(element.value, {}, known)
    return [] if sorts is None else [{element.variable.value: sorts}]


def _add_nested(
    nested: Nested, block: Block, others: Mapping[str, Knowledge], fresh: Iterator[int]
) -> None:
    match nested.word:
        case "" | "GRAPH":
            for element in nested.group.elements:
                _add(element, block, others, fresh)
        case "SERVICE":
            name = nested.name.value if isinstance(nested.name, NamedNode) else ""
            if name != WIKIBASE + "label":
                block.apart.append(_built(nested.group, others.get(name), others, fresh))
        case _:
            block.inner.append(_built(nested.group, block.known, others, fresh))


def _summaries(block: Block) -> Iterator[Env]:
    for union in block.unions:
        first, *rest = [branch.summary for branch in union]
        yield {
            name: sorts.union(*(other[name] for other in rest))
            for name, sorts in first.items()
            if all(name in other for other in rest)
        }
    for select, columns in block.selects:
        yield {n: s for n, s in select.summary.items() if columns is None or n in columns}


def _values(values: Values, known: Knowledge) -> Iterator[tuple[str, Sorts]]:
    for at, name in enumerate(values.variables):
        cells = [row[at] for row in values.rows if at < len(row)]
        sorts = [None if cell is None else _cell(cell, known) for cell in cells]
        told = [one for one in sorts if one is not None]
        if told and len(told) == len(sorts):
            yield name.value, frozenset().union(*told)


def _cell(term: Term, known: Knowledge) -> Sorts | None:
    return None if isinstance(term, Variable) else sorts_of(term, {}, known)


def _groups(part: object) -> Iterator[Group]:
    match part:
        case Group():
            yield part
        case Call(arguments=arguments):
            for inner in arguments:
                yield from _groups(inner)
        case _:
            return
