"""A query as blocks, and the sorts of what their patterns match.

A block holds what must hold together, what may, what must not, and who is asked. The sorts that a
query's variables may have are narrowed to a fixed point; steps that leave none are in conflict.

Each step claims sorts for both of its ends: all that a thing may have there. A class claims itself:
it is one of the thing's sorts, which may have more. What no other claim on a variable leaves room
for is in conflict; it is put aside, so that one fault does not hide another or make sound patterns
look wrong. Then the links between sorts narrow both ends of each step until nothing changes: arc
consistency (Mackworth, "Consistency in networks of relations", 1977), which takes time polynomial
in the steps and sorts, whatever cycles the patterns have.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.validation import Knowledge, PredicateUse, Services, Sorts
from askgraph.sparql import (
    Bind,
    Element,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    Values,
    groups_in,
)
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, RDF_TYPE, RDFS_SUB_CLASS_OF, WIKIBASE


@dataclass(frozen=True)
class Step:
    """A predicate, taken against its direction or not."""

    predicate: str
    inverse: bool = False


@dataclass(frozen=True)
class Atom:
    """One of several steps leads from the subject to the object; `single` if it is one edge.

    No steps: nothing is known of what lies between.
    """

    subject: Term
    steps: tuple[Step, ...]
    object: Term
    pattern: Pattern
    single: bool = True


@dataclass(frozen=True)
class Typing:
    """The subject has a class; with `below`, or one under it."""

    subject: Term
    cls: str
    pattern: Pattern
    below: bool = False


def atoms_of(pattern: Pattern, fresh: Iterator[int]) -> list[Atom | Typing]:
    """Return the steps of a pattern; the nodes within a path become variables of their own."""
    return list(_walked(pattern.subject, pattern.predicate, pattern.object, pattern, fresh))


def predicates_in(part: Predicate) -> Iterator[str]:
    """Yield the IRIs of a predicate or path, negated ones not."""
    match part:
        case NamedNode():
            yield part.value
        case Path(operator="!"):
            return
        case Path(parts=parts):
            for inner in parts:
                yield from predicates_in(inner)


def may_be_empty(part: Predicate) -> bool:
    """Return whether a path may lead from a node to itself over no edge at all."""
    match part:
        case Path(operator="*" | "?"):
            return True
        case Path(operator="/", parts=parts):
            return all(may_be_empty(inner) for inner in parts)
        case Path(operator="|", parts=parts):
            return any(may_be_empty(inner) for inner in parts)
        case Path(operator="^" | "+", parts=(inner,)):
            return may_be_empty(inner)
        case _:
            return False


def _walked(
    start: Term, path: Predicate, end: Term, pattern: Pattern, fresh: Iterator[int]
) -> Iterator[Atom | Typing]:
    match path:
        case NamedNode(value=iri) if iri == RDF_TYPE and isinstance(end, NamedNode):
            yield Typing(start, end.value, pattern)
        case Path(operator="/", parts=parts):
            yield from _sequence(start, parts, end, pattern, fresh)
        case Path(operator="^", parts=(NamedNode(),)):
            yield Atom(start, _steps(path), end, pattern)
        case Path(operator="^", parts=(inner,)):
            yield from _walked(end, inner, start, pattern, fresh)
        case Path(operator="+", parts=(inner,)):
            yield Atom(start, _steps(inner), end, pattern, single=False)
        case Variable():
            return
        case _:
            yield Atom(start, _steps(path), end, pattern)


def _sequence(
    start: Term, parts: tuple[Predicate, ...], end: Term, pattern: Pattern, fresh: Iterator[int]
) -> Iterator[Atom | Typing]:
    if _is_typing(parts) and isinstance(end, NamedNode):
        yield Typing(start, end.value, pattern, below=True)
        return
    here = start
    for part in parts[:-1]:
        there = Variable(f"__path{next(fresh)}")
        yield from _walked(here, part, there, pattern, fresh)
        here = there
    yield from _walked(here, parts[-1], end, pattern, fresh)


def _is_typing(parts: tuple[Predicate, ...]) -> bool:
    """Whether it is `a/rdfs:subClassOf*`, or with `+` or `?`."""
    match parts:
        case (NamedNode(value=kind), Path(operator="*" | "+" | "?", parts=(NamedNode(value=up),))):
            return bool(kind == RDF_TYPE and up == RDFS_SUB_CLASS_OF)
        case _:
            return False


def _steps(path: Predicate) -> tuple[Step, ...]:
    """The alternatives of a path that is one step long; none if it may be longer or shorter."""
    match path:
        case NamedNode(value=iri):
            return (Step(iri),)
        case Path(operator="^", parts=(inner,)):
            return tuple(Step(step.predicate, not step.inverse) for step in _steps(inner))
        case Path(operator="|", parts=parts):
            found = [_steps(part) for part in parts]
            return tuple(step for steps in found for step in steps) if all(found) else ()
        case _:
            return ()


Env = Mapping[str, Sorts]
"""The sorts of variables by name; a variable that it lacks may be anything."""
_ROUNDS = 50
_MANY = 500  # sorts of one variable whose links are still looked at


@dataclass(frozen=True)
class _Claim:
    """What a step or a class says of one variable; without a source, what is said elsewhere."""

    source: Atom | Typing | None
    sorts: Sorts


def inferred(
    atoms: Sequence[Atom | Typing], known: Knowledge, given: Iterable[Env] = ()
) -> tuple[Env, list[Atom | Typing]]:
    """Return the sorts of the variables, and the steps and classes that are in conflict."""
    env: dict[str, Sorts] = {}
    wrong: dict[int, Atom | Typing] = {}
    for name, claims in _claims(atoms, known, given).items():
        sorts, culprits = _resolved(claims, known)
        if sorts is not None:
            env[name] = sorts
        wrong.update((id(one), one) for one in culprits)
    for atom in atoms:
        if isinstance(atom, Atom) and id(atom) not in wrong and _misfits(atom, env, known):
            wrong[id(atom)] = atom
    sound = [one for one in atoms if isinstance(one, Atom) and id(one) not in wrong]
    for atom in _narrowed(sound, env, known):
        wrong[id(atom)] = atom
    return env, list(wrong.values())


def sorts_of(term: Term, env: Env, known: Knowledge) -> Sorts | None:
    """Return the sorts that a term may have; None if nothing is known of it."""
    match term:
        case Variable():
            return env.get(term.value)
        case Literal():
            return frozenset([term.datatype.value])
        case NamedNode() if known.entities is not None:
            return known.entities.sorts(term.value)
        case _:
            return None


def allowed(step: Step, known: Knowledge) -> tuple[Sorts | None, Sorts | None]:
    """Return the sorts that a step leads from and to; None if they are not known well enough."""
    use = known.predicates.get(step.predicate)
    if use is None:
        return None, None
    subjects = use.subjects if use.subjects_told >= known.least and use.subjects else None
    objects = use.ends if use.objects_told >= known.least and use.ends else None
    return (objects, subjects) if step.inverse else (subjects, objects)


def closed(sorts: Sorts, known: Knowledge) -> Sorts | None:
    """Return all sorts of what is of one of several sorts; None if that is not known.

    A single sort stays alone: it is one of the thing's. Of two sets that each have only some of
    them, what is in both may be no sort of the thing at all.
    """
    if len(sorts) == 1:
        return sorts
    found = [known.together.get(one) for one in sorts]
    return _either(found)


def _claims(
    atoms: Sequence[Atom | Typing], known: Knowledge, given: Iterable[Env]
) -> dict[str, list[_Claim]]:
    found: dict[str, list[_Claim]] = defaultdict(list)
    for one in atoms:
        for term, sorts in _said(one, known):
            if isinstance(term, Variable) and sorts is not None:
                found[term.value].append(_Claim(one, sorts))
    for env in given:
        for name, sorts in env.items():
            found[name].append(_Claim(None, sorts))
    return found


def _said(one: Atom | Typing, known: Knowledge) -> list[tuple[Term, Sorts | None]]:
    if isinstance(one, Typing):
        if one.below:
            below = known.below(one.cls)
            return [(one.subject, None if below is None else closed(below, known))]
        return [(one.subject, frozenset([one.cls]) if one.cls in known.classes else None)]
    sides = [allowed(step, known) for step in one.steps]
    subjects = _either([side[0] for side in sides])
    objects = _either([side[1] for side in sides])
    return [(one.subject, subjects), (one.object, objects)]


def _either(sorts: Sequence[Sorts | None]) -> Sorts | None:
    told = [one for one in sorts if one is not None]
    return frozenset().union(*told) if told and len(told) == len(sorts) else None


def _resolved(
    claims: Sequence[_Claim], known: Knowledge
) -> tuple[Sorts | None, list[Atom | Typing]]:
    """What all claims on a variable leave, and the sources of those that leave nothing."""
    outside = [claim for claim in claims if claim.source is None]
    typings = [claim for claim in claims if isinstance(claim.source, Typing)]
    steps = [claim for claim in claims if isinstance(claim.source, Atom)]
    culprits: list[Atom | Typing] = []
    typed: Sorts | None = None
    several = False
    for claim in [*outside, *typings]:
        both = claim.sorts if typed is None else typed & claim.sorts
        if both:
            typed = both
        elif typed is None or claim.source is None or _meet(typed, claim.sorts, known):
            # A thing of several classes: each step has to fit one of them.
            typed, several = (typed or frozenset()) | claim.sorts, True
        else:
            culprits.append(claim.source)
    if several and typed is not None:
        misfits = [claim for claim in steps if not claim.sorts & typed]
        return typed, [*culprits, *(claim.source for claim in misfits if claim.source is not None)]
    sorts, wrong = _fitting(typed, steps, typings)
    return sorts, [*culprits, *(one for one in wrong if one not in culprits)]


def _meet(first: Sorts, second: Sorts, known: Knowledge) -> bool:
    """Whether a thing of one of the first sorts may be of one of the second too."""
    return any(one not in known.together or known.together[one] & first for one in second)


def _fitting(
    typed: Sorts | None, steps: Sequence[_Claim], typings: Sequence[_Claim]
) -> tuple[Sorts | None, list[Atom | Typing]]:
    """What the steps leave of the sorts that are said elsewhere or by classes, and what cannot."""
    first = [] if typed is None else [_Claim(typings[0].source if typings else None, typed)]
    together = [*first, *steps]
    common = _common(together)
    if common is None or common:
        return common, []
    others = ([*together[:at], *together[at + 1 :]] for at in range(len(together)))
    culprits = [one for one, rest in zip(together, others, strict=True) if _common(rest)]
    if not culprits:
        return _greedy(typed, steps)
    wrong = [one.source for one in culprits if isinstance(one.source, Atom)]
    classes = [claim.source for claim in typings if culprits[0] is together[0]]
    kept = _common([one for one in together if not (wrong and one.source is wrong[-1])])
    return kept or None, [*wrong, *(source for source in classes if source is not None)]


def _common(claims: Sequence[_Claim]) -> Sorts | None:
    return reduce(frozenset.__and__, (claim.sorts for claim in claims)) if claims else None


def _greedy(
    typed: Sorts | None, steps: Sequence[_Claim]
) -> tuple[Sorts | None, list[Atom | Typing]]:
    """Several faults on one variable: what comes first is believed, its class before all."""
    kept, culprits = typed, list[Atom | Typing]()
    for claim in steps:
        if kept is None or kept & claim.sorts:
            kept = claim.sorts if kept is None else kept & claim.sorts
        elif claim.source is not None:
            culprits.append(claim.source)
    return kept, culprits


def _misfits(atom: Atom, env: Env, known: Knowledge) -> bool:
    """Whether a constant, or a variable whose sorts others told, does not fit the step's end."""
    both = ((sorts_of(term, env, known), sorts) for term, sorts in _said(atom, known))
    return any(one is not None and two is not None and not one & two for one, two in both)


def _narrowed(atoms: Sequence[Atom], env: dict[str, Sorts], known: Knowledge) -> list[Atom]:
    """Narrow `env` by the links of each step; return the steps that leave nothing."""
    waiting = [atom for atom in atoms if atom.single and len(atom.steps) == 1]
    wrong: list[Atom] = []
    for _ in range(_ROUNDS):
        changed = False
        for atom in list(waiting):
            use = known.predicates.get(atom.steps[0].predicate)
            if use is None or use.links_told < known.least:
                waiting.remove(atom)
                continue
            ends = (atom.subject, atom.object)[:: -1 if atom.steps[0].inverse else 1]
            before = [sorts_of(term, env, known) for term in ends]
            after = _linked(use, *before)
            if any(sorts is not None and not sorts for sorts in after):
                wrong.append(atom)
                waiting.remove(atom)
                continue
            for term, old, new in zip(ends, before, after, strict=True):
                if isinstance(term, Variable) and new is not None and new != old:
                    env[term.value] = new
                    changed = True
        if not changed:
            break
    return wrong


def _linked(
    use: PredicateUse, subjects: Sorts | None, objects: Sorts | None
) -> tuple[Sorts | None, Sorts | None]:
    if subjects is None or len(subjects) > _MANY:
        return subjects, objects
    kept = subjects
    if objects is not None:
        kept = frozenset(s for s in subjects if s not in use.links or use.links[s] & objects)
    if all(sort in use.links for sort in kept):
        reached: Sorts = frozenset().union(*(use.links[sort] for sort in kept))
        objects = reached if objects is None else objects & reached
    return kept, objects


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
