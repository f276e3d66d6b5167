"""The sorts that a query's variables may have, narrowed to a fixed point; steps that leave none.

Each step claims sorts for both of its ends: all that a thing may have there. A class claims itself:
it is one of the thing's sorts, which may have more. What no other claim on a variable leaves room
for is in conflict; it is put aside, so that one fault does not hide another or make sound patterns
look wrong. Then the links between sorts narrow both ends of each step until nothing changes: arc
consistency (Mackworth, "Consistency in networks of relations", 1977), which takes time polynomial
in the steps and sorts, whatever cycles the patterns have.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.validation import Knowledge, PredicateUse, Sorts
from askgraph.sparql import Path, Pattern, Predicate, Term
from askgraph.sparql.vocabulary import RDF_TYPE, RDFS_SUB_CLASS_OF


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
