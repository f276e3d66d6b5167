"""How much a finding weighs where it stands: in one branch of several, or in what is denied."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from askgraph.sparql.tree import (
    Call,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Span,
    Union,
)
from askgraph.validation import WRONG, Finding, Kind
from askgraph.validation.repairs import is_misprint

__all__ = ["weighed"]

_HARMLESS = 0.4
"""How sure a finding at most calls a query wrong that has its answers without the place."""

_NO_MATCH = frozenset(
    {
        Kind.CLASS,
        Kind.PREDICATE,
        Kind.ENTITY,
        Kind.DIRECTION,
        Kind.SUBJECT,
        Kind.OBJECT,
        Kind.DATATYPE,
        Kind.LANGUAGE,
        Kind.FILTER,
    }
)
_MISFITS = frozenset({Kind.SUBJECT, Kind.OBJECT})


def weighed(tree: Query, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, those less sure that leave the query its answers.

    A branch of a UNION that cannot match is harmless beside one that can, as is the denial that
    things have what nothing of their class has: both may be meant. A misprint is none the less one.
    """
    unions, denied = _unions_and_denials(tree)
    found = list(findings)
    for group in denied:
        if span := _span(group):
            found = [_lighter(one) if _is_misfit(one, span) else one for one in found]
    for union in reversed(unions):
        found = _without_spare(found, [_span(branch) for branch in union.groups])
    return tuple(found)


def _unions_and_denials(tree: Query) -> tuple[list[Union], list[Group]]:
    """All of a query, those within others after them."""
    unions, denied = list[Union](), list[Group]()
    for part in _parts(tree):
        match part:
            case Union():
                unions.append(part)
            case Nested(word="MINUS", group=group):
                denied.append(group)
            case Call(name="NOT EXISTS", arguments=(Group() as group,)):
                denied.append(group)
    return unions, denied


def _parts(part: object) -> Iterator[object]:
    """A part of a tree and all within it; no recursion, as a chain of conditions may be long."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case Query(where=inner) | Nested(group=inner):
                waiting.append(inner)
            case Group(elements=inner) | Union(groups=inner) | Call(arguments=inner):
                waiting += reversed(inner)
            case Filter(condition=inner):
                waiting.append(inner)


def _span(group: Group) -> Span | None:
    """From the first to the last pattern or condition of a group; None where it has none."""
    spans: list[Span] = []
    for part in _parts(group):
        if isinstance(part, Pattern):
            spans += part.spans
        elif isinstance(part, Filter) and part.span is not None:
            spans.append(part.span)
    return (min(s for s, _ in spans), max(e for _, e in spans)) if spans else None


def _is_misfit(finding: Finding, span: Span) -> bool:
    return finding.kind in _MISFITS and _within(finding, span)


def _without_spare(findings: Sequence[Finding], branches: Sequence[Span | None]) -> list[Finding]:
    """The findings, lighter in the branches that cannot match where another one can."""
    wrong = [one for one in findings if one.kind in _NO_MATCH and one.certainty >= WRONG]
    broken = [
        span for span in branches if span is not None and any(_within(one, span) for one in wrong)
    ]
    if len(broken) == len(branches):
        return list(findings)
    return [
        _lighter(one)
        if one in wrong and not is_misprint(one) and any(_within(one, span) for span in broken)
        else one
        for one in findings
    ]


def _within(finding: Finding, span: Span) -> bool:
    place = finding.place
    return place is not None and span[0] <= place.start and place.end <= span[1]


def _lighter(finding: Finding) -> Finding:
    return replace(finding, certainty=min(finding.certainty, _HARMLESS))
