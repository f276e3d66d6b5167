"""A query as blocks: what must hold together, what may, what must not, and who is asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.validation import Knowledge, Services, Sorts
from askgraph.answers.validation._inference import (
    Atom,
    Env,
    Typing,
    atoms_of,
    closed,
    inferred,
    sorts_of,
)
from askgraph.sparql import (
    Bind,
    Element,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Term,
    Union,
    Values,
    groups_in,
)
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, WIKIBASE


@dataclass
class Block:
    """Patterns that hold together, put to one graph.

    `unions` are alternatives, `inner` what is optional, denied or asked for to exist, `selects` the
    queries within with their columns, `apart` what another graph is asked, or one alone.
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
    return _built(query.where, _asked(query, services.own), services.others, count())


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


def _asked(query: Query, own: Knowledge) -> Knowledge | None:
    """What is known of the graphs that a query takes as its own, None if one is not known."""
    names = [one.removeprefix("FROM <")[:-1] for one in query.datasets if "FROM <" in one]
    graphs = [own.of_graph(name) for name in names]
    if None in graphs:
        return None
    return graphs[0] if len(graphs) == 1 else own


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
            for group in groups_in(element.condition):
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
        case "GRAPH" if isinstance(nested.name, NamedNode) and block.known is not None:
            named = block.known.of_graph(nested.name.value)
            if named is not block.known:
                block.apart.append(_built(nested.group, named, others, fresh))
            if named is not None:
                _add_all(nested.group, block, others, fresh)
        case "" | "GRAPH":
            _add_all(nested.group, block, others, fresh)
        case "SERVICE":
            name = nested.name.value if isinstance(nested.name, NamedNode) else ""
            if name != WIKIBASE + "label":
                block.apart.append(_built(nested.group, others.get(name), others, fresh))
        case _:
            block.inner.append(_built(nested.group, block.known, others, fresh))


def _add_all(
    group: Group, block: Block, others: Mapping[str, Knowledge], fresh: Iterator[int]
) -> None:
    for element in group.elements:
        _add(element, block, others, fresh)


def _summaries(block: Block) -> Iterator[Env]:
    if block.known is not None:
        for union in block.unions:
            yield _in_any([branch.summary for branch in union], block.known)
    for select, columns in block.selects:
        yield {n: s for n, s in select.summary.items() if columns is None or n in columns}


def _in_any(branches: Sequence[Env], known: Knowledge) -> Env:
    """What a variable may be that all branches bind: what it is in any of them."""
    first, *rest = branches
    shared = [name for name in first if all(name in other for other in rest)]
    either = {name: first[name].union(*(other[name] for other in rest)) for name in shared}
    whole = {name: closed(sorts, known) for name, sorts in either.items()}
    return {name: sorts for name, sorts in whole.items() if sorts is not None}


def _values(values: Values, known: Knowledge) -> Iterator[tuple[str, Sorts]]:
    for at, name in enumerate(values.variables):
        cells = [row[at] for row in values.rows if at < len(row)]
        sorts = [None if cell is None else _cell(cell, known) for cell in cells]
        told = [one for one in sorts if one is not None]
        if told and len(told) == len(sorts):
            yield name.value, frozenset().union(*told)


def _cell(term: Term, known: Knowledge) -> Sorts | None:
    if isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES:
        return NUMERIC_DATATYPES  # some stores join numbers by value
    return None if isinstance(term, Variable) else sorts_of(term, {}, known)
