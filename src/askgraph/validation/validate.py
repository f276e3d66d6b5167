"""A query put through all checks, and repaired if that is safe."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from askgraph import registry
from askgraph.errors import QuerySyntaxError
from askgraph.sparql.read import read
from askgraph.sparql.rewrite.repair import Repaired as Readable
from askgraph.sparql.rewrite.repair import repaired as readable
from askgraph.sparql.tree import Call, Filter, Group, Nested, Pattern, Query, Span, Union, walk
from askgraph.validation import (
    MAX_JUDGED,
    UNJUDGED,
    WRONG,
    Check,
    Finding,
    Kind,
    Repair,
    Subject,
    Validation,
)
from askgraph.validation.knowledge import Services
from askgraph.validation.repairs import is_misprint, repaired_by

CHECKS = ("syntax", "structure", "known_iris", "schema", "filters")
"""The checks that are made if no others are asked for, in the order of their findings."""

_ROUNDS = 3
_TOO_DEEP = "it is nested too deeply, or has too long a condition, to be looked at"


def validated(
    query: str,
    services: Services,
    *,
    checks: Sequence[str] = CHECKS,
    language: str = "en",
    repair: bool = True,
) -> Validation:
    """Return what is wrong with a query, and the query with what could safely be repaired.

    Never raises for a query, however broken. What keeps a query from being read at all (words
    around it, a bare aggregate, a label service of Wikibase) is mended first; of that only the
    repairs tell. With `repair` the rest is mended in at most three rounds, each from its findings.
    """
    made = readable(query, language=language) if len(query) <= MAX_JUDGED else Readable(query)
    repairs = [Repair(note) for note in made.notes]
    found = findings_on(made.query, services, checks=checks)
    if not repair:
        return Validation(made.query, found, made.query, tuple(repairs), found)
    text, remaining = made.query, found
    for _ in range(_ROUNDS):
        changed, done = repaired_by(text, remaining)
        if not done:
            break
        now = findings_on(changed, services, checks=checks)
        if len(now) >= len(remaining):
            break
        text, remaining = changed, now
        repairs += done
    return Validation(made.query, found, text, tuple(repairs), remaining)


def findings_on(
    text: str, services: Services, *, checks: Sequence[str] = CHECKS
) -> tuple[Finding, ...]:
    """Return what the checks find, in the order of the checks and, of each, of the text."""
    try:
        tree = read(text, services.own.prefixes.namespaces) if len(text) <= MAX_JUDGED else None
    except QuerySyntaxError:
        tree = None
    try:
        return _found(Subject(text, tree, services), checks)
    except RecursionError:
        return (Finding(Kind.SYNTAX, _TOO_DEEP, certainty=UNJUDGED),)


def _found(subject: Subject, checks: Sequence[str]) -> tuple[Finding, ...]:
    found: dict[tuple[object, ...], Finding] = {}
    for name in checks:
        for one in sorted(_check(name)(subject), key=_start):
            found.setdefault(_what(one), one)
    listed = tuple(found.values())
    return weighed(subject.tree, listed) if subject.tree and listed else listed


@cache
def _check(name: str) -> Check:
    check: Check = registry.load("check", name)
    return check


def _what(finding: Finding) -> tuple[object, ...]:
    """What makes two findings one: a place may be looked at for one graph and for all of them."""
    alone = finding.place is None or finding.kind is Kind.FILTER
    return finding.kind, finding.place, finding.term, finding.message if alone else ""


def _start(finding: Finding) -> int:
    return finding.place.start if finding.place else -1


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
    for part in walk(tree):
        match part:
            case Union():
                unions.append(part)
            case Nested(word="MINUS", group=group):
                denied.append(group)
            case Call(name="NOT EXISTS", arguments=(Group() as group,)):
                denied.append(group)
    return unions, denied


def _span(group: Group) -> Span | None:
    """From the first to the last pattern or condition of a group; None if it has none."""
    spans: list[Span] = []
    for part in walk(group):
        if isinstance(part, Pattern):
            spans += part.spans
        elif isinstance(part, Filter) and part.span is not None:
            spans.append(part.span)
    return (min(s for s, _ in spans), max(e for _, e in spans)) if spans else None


def _is_misfit(finding: Finding, span: Span) -> bool:
    return finding.kind in _MISFITS and _within(finding, span)


def _without_spare(findings: Sequence[Finding], branches: Sequence[Span | None]) -> list[Finding]:
    """The findings, lighter in the branches that cannot match if another one can."""
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
