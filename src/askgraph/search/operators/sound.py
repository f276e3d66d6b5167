"""Soundness of a draft: it neither contradicts itself nor says a thing twice.

A pattern beside its own denial has no result; a denial that nothing could break, and a pattern that
repeats another under a second variable, add nothing.
"""

from collections.abc import Iterable, Iterator, Mapping

from pyoxigraph import Variable

from askgraph.search.grow.schema import Schema
from askgraph.search.operators.draft import Draft
from askgraph.search.query import denied_in, patterns_in, predicate_of
from askgraph.sparql.tree import Filter, Group, Pattern, Term, variables_of


def is_sound(draft: Draft) -> bool:
    """Whether a draft can have a result, and says nothing twice."""
    patterns = list(dict.fromkeys(draft.patterns))
    if not draft.denied and len(patterns) < 2:
        return True
    denied = [group for one in draft.denied for group in denied_in(Group((one,)))]
    return not (
        any(_is_said(one, patterns) or _is_idle(one, patterns, draft.schema) for one in denied)
        or _repeats(patterns, draft)
    )


def _is_said(denied: Group, patterns: list[Pattern]) -> bool:
    """Whether the pattern holds all that is denied, whatever its own variables stand for."""
    said = patterns_in(denied)
    if len(said) != len(denied.elements):
        return False
    outside = set(variables_of(tuple(patterns)))
    return any(True for _ in _fits(said, patterns, {one: one for one in outside}))


def _fits(
    left: list[Pattern], among: list[Pattern], known: Mapping[Term, Term]
) -> Iterator[Mapping[Term, Term]]:
    """Ways to take the first patterns for some of the others."""
    if not left:
        yield known
        return
    first, *others = left
    for one in among:
        if one.predicate == first.predicate:
            found = _bound(_bound(known, first.subject, one.subject), first.object, one.object)
            if found is not None:
                yield from _fits(others, among, found)


def _bound(
    known: Mapping[Term, Term] | None, part: Term, target: Term
) -> Mapping[Term, Term] | None:
    if known is None:
        return None
    if not isinstance(part, Variable):
        return known if part == target else None
    if part in known:
        return known if known[part] == target else None
    return {**known, part: target}


def _is_idle(denied: Group, patterns: list[Pattern], schema: Schema) -> bool:
    """Whether a thing is denied a value of a predicate of which it has its only other one."""
    said = patterns_in(denied)
    if len(said) != 1 or len(denied.elements) != 1 or isinstance(said[0].object, Variable):
        return False
    number = schema.number(predicate_of(said[0]))
    return any(
        (one.subject, one.predicate) == (said[0].subject, said[0].predicate)
        and not isinstance(one.object, Variable)
        and one.object != said[0].object
        and number is not None
        and schema.is_functional(number)
        for one in patterns
    )


def _repeats(patterns: list[Pattern], draft: Draft) -> bool:
    """Whether a variable that nothing else is about could be another one all along."""
    by_end: dict[object, list[Pattern]] = {}
    for one in patterns:
        by_end.setdefault((one.subject, one.predicate), []).append(one)
        by_end.setdefault((one.predicate, one.object, None), []).append(one)
    pairs = [listed for listed in by_end.values() if len(listed) > 1]
    if not pairs:
        return False
    needed = set(_needed(draft))
    every = set(patterns)
    return any(
        _folds(mine, theirs, patterns, every)
        for listed in pairs
        for mine, theirs in _ends(listed)
        if isinstance(mine, Variable) and mine not in needed
    )


def _ends(listed: Iterable[Pattern]) -> Iterator[tuple[Term, Term]]:
    """The other ends of patterns that share a predicate and one end, in pairs."""
    listed = list(listed)
    for one in listed:
        for other in listed:
            if one.subject == other.subject and one.object != other.object:
                yield one.object, other.object
            elif one.object == other.object and one.subject != other.subject:
                yield one.subject, other.subject


def _folds(mine: Term, theirs: Term, patterns: list[Pattern], every: set[Pattern]) -> bool:
    """Whether all that is said of a variable is said of another end, too."""
    about = [one for one in patterns if mine in (one.subject, one.object)]
    return all(
        Pattern(
            theirs if one.subject == mine else one.subject,
            one.predicate,
            theirs if one.object == mine else one.object,
        )
        in every
        for one in about
    )


def _needed(draft: Draft) -> Iterator[Variable]:
    """The variables that anything but the pattern is about."""
    rest: tuple[object, ...] = (
        *draft.filters, *draft.denied, *draft.averages, *draft.optional, *draft.given,
        *draft.computed, *draft.columns, *draft.context, *draft.group, *draft.having,
        *(key for key, _ in draft.order),
    )  # fmt: skip
    for one in rest:
        yield from variables_of(one.condition if isinstance(one, Filter) else one)
