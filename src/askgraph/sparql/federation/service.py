"""The SERVICE clauses of a query: what they ask, where they stand, and what stands around them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from askgraph.errors import ForbiddenQuery, QueryError
from askgraph.sparql.federation.outline import Braces, Element, outline
from askgraph.sparql.judge import named_services
from askgraph.sparql.lexer import lexed

_FIRST = ("triples", "filter", "values", "graph", "groups")


@dataclass(frozen=True)
class Level:
    """What one group has around a clause, or around the group with it.

    Every solution that the clause helps to make satisfies the required ones of `elements`. If
    the clause is `joined`, with nothing optional or negated between, a filter of the group also
    holds for its own solutions. `graph` is what names the GRAPH that holds the levels within.
    """

    elements: tuple[Element, ...]
    joined: bool = True
    graph: str = ""


@dataclass(frozen=True)
class Clause:
    """A part of a query, from `start` to `end`, that another endpoint evaluates.

    That is `SERVICE <target> { body }`, or a whole sub-select in which there is nothing else.
    `names` are the variables of its solutions, `certain` those that each of them binds, `leading`
    those that a VALUES in front of `body`, in the same group, may restrict. `around` are the levels
    around it, innermost first; `graph` is what names the GRAPH that holds the outermost.
    `alternative` says whether the clause is within a UNION.
    """

    target: str
    silent: bool
    body: str
    start: int
    end: int
    names: tuple[str, ...]
    certain: frozenset[str]
    leading: frozenset[str]
    around: tuple[Level, ...]
    graph: str = ""
    alternative: bool = False


def clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of a checked query in order.

    Raises `ForbiddenQuery` for one that names no address in full, and `QueryError` for one within
    an EXISTS that would have to be evaluated for each solution of the rest.
    """
    query = outline(text)
    found = list(_in_group(text, query.where, _Place()))
    for group in query.others:
        found += _in_group(text, group, _Place(exists=True))
    named = named_services(text)
    if part := next((each.target for each in found if each.target not in named), None):
        raise ForbiddenQuery(
            f"a SERVICE needs its address in full: only a part of <{part}> is there"
        )
    return tuple(sorted(found, key=lambda clause: clause.start))


def sole_clause(text: str) -> tuple[Clause, str] | None:
    """Return the clause of a checked query in which there is nothing else, and what it asks.

    The query that it asks has the solution modifiers of the whole. None for a query with more in
    it, for DESCRIBE, which describes what its own endpoint holds, and if SILENT would let the
    rest go on.
    """
    query = outline(text)
    if query.form == "DESCRIBE" or query.others or len(query.where.elements) != 1:
        return None
    element = query.where.elements[0]
    if element.kind != "service" or element.silent:
        return None
    group = element.groups[0]
    first, last = query.dataset_place
    pieces = [text[:first], text[last : query.where.start], text[group.start : group.end]]
    return clauses(text)[0], "".join([*pieces, text[query.where.end :]])


def called_services(text: str) -> tuple[str, ...]:
    """Return the addresses that a query calls by SERVICE, in order, none twice; no variables."""
    return tuple(dict.fromkeys(one for one in named_services(text) if not one.startswith("?")))


def prologue(text: str) -> str:
    """Return the PREFIX and BASE lines of a query."""
    return text[: outline(text).start]


@dataclass(frozen=True)
class _Place:
    """Where a group stands: the levels around it, and the GRAPH in force within.

    `outermost` is the GRAPH in force for the outermost level. An EXISTS puts the values of outer
    solutions into the patterns within.
    """

    around: tuple[Level, ...] = ()
    graph: str = ""
    outermost: str = ""
    exists: bool = False
    alternative: bool = False

    def joined(
        self, others: tuple[Element, ...], *, graph: str = "", alternative: bool = False
    ) -> "_Place":
        """Return the place of a group that is joined with what is beside it."""
        return replace(
            self,
            around=(Level(others, graph=graph), *self.around),
            graph=graph or self.graph,
            alternative=alternative or self.alternative,
        )

    def apart(self, before: tuple[Element, ...] = (), *, exists: bool = False) -> "_Place":
        """Return the place of a group that is optional, negated or a sub-select.

        Further out nothing may restrict it: in `?a … OPTIONAL { ?b … OPTIONAL { SERVICE … } }` a
        solution left out of the innermost group would let a wrong one of the middle group pass.
        """
        around = (Level(before, joined=False),) if before else ()
        exists = exists or self.exists
        return _Place(around, self.graph, self.graph, exists, self.alternative)


def _in_group(text: str, group: Braces, place: _Place) -> Iterator[Clause]:
    for at, element in enumerate(group.elements):
        before = group.elements[:at]
        others = (*before, *group.elements[at + 1 :])
        match element.kind:
            case "service":
                yield _clause(text, element, place.joined(others))
            case "groups" | "graph":
                union = len(element.groups) > 1
                inside = place.joined(others, graph=element.name, alternative=union)
                for inner in element.groups:
                    yield from _in_group(text, inner, inside)
            case "select":
                yield from _in_select(text, element, place)
            case kind:
                exists = kind in ("filter", "bind")
                inside = place.apart(others if kind == "filter" else before, exists=exists)
                for inner in element.groups:
                    yield from _in_group(text, inner, inside)


def _in_select(text: str, select: Element, place: _Place) -> Iterator[Clause]:
    """Yield a sub-select around one clause alone as a whole, else the clauses within."""
    where, *others = select.groups
    sole = where.elements[0] if len(where.elements) == 1 else None
    if sole is None or sole.kind != "service" or sole.silent or others:
        yield from _in_group(text, where, place.apart())
        for group in others:
            yield from _in_group(text, group, place.apart(exists=True))
        return
    inner = sole.groups[0]
    pieces = text[select.start : where.start], text[inner.start : inner.end]
    clause = Clause(
        target=_target(sole),
        silent=False,
        body="{ " + "".join(pieces) + text[where.end : select.end] + " }",
        start=select.start,
        end=select.end,
        names=select.possible,
        certain=select.certain,
        leading=frozenset(),
        around=place.around,
        graph=place.outermost,
        alternative=place.alternative,
    )
    if place.exists:
        _refuse_correlated(text, clause, inner)
    yield clause


def _clause(text: str, element: Element, place: _Place) -> Clause:
    body = element.groups[0]
    leading = frozenset[str]()
    for inner in body.elements:
        if inner.kind not in _FIRST:
            break
        leading |= inner.certain
    clause = Clause(
        target=_target(element),
        silent=element.silent,
        body=text[body.start + 1 : body.end - 1].strip(),
        start=element.start,
        end=element.end,
        names=body.possible,
        certain=body.certain,
        leading=leading,
        around=place.around,
        graph=place.outermost,
        alternative=place.alternative,
    )
    if place.exists:
        _refuse_correlated(text, clause, body)
    return clause


def _refuse_correlated(text: str, clause: Clause, body: Braces) -> None:
    """Refuse a clause whose solutions depend on values that an EXISTS around it puts in."""
    outside = lexed(text[: clause.start]).variables | lexed(text[clause.end :]).variables
    depends = ((lexed(clause.body).variables - clause.certain) | _out_of_scope(body)) & outside
    if depends:
        raise QueryError(
            f"the SERVICE <{clause.target}> within EXISTS reads ?{min(depends)} of the query around"
            " it: bind it within by a pattern, or write the condition outside of the SERVICE"
        )


def _out_of_scope(group: Braces) -> frozenset[str]:
    """Return the variables that filters and expressions read and their group does not bind."""
    found = frozenset[str]()
    for element in group.elements:
        found |= element.used - frozenset(group.possible)
        for inner in element.groups:
            found |= _out_of_scope(inner)
    return found


def _target(service: Element) -> str:
    if not service.name.startswith("<"):
        raise ForbiddenQuery("a SERVICE to a variable is not run: name the graph")
    return service.name[1:-1]
