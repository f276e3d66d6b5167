"""The patterns of a query as single steps, each with what it asks of its two ends."""

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode, Variable

from askgraph.rdf.vocabulary import RDF_TYPE, RDFS_SUB_CLASS_OF
from askgraph.sparql.tree import Path, Pattern, Predicate, Term


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
    predicate = pattern.predicate
    match predicate:
        case Variable():
            return []
        case _:
            return list(_walked(pattern.subject, predicate, pattern.object, pattern, fresh))


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
    start: Term,
    parts: tuple[Predicate, ...],
    end: Term,
    pattern: Pattern,
    fresh: Iterator[int],
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
