"""A query put through all checks, and repaired if that is safe."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from askgraph import plugins
from askgraph.answers.validation import (
    MAX_JUDGED,
    UNJUDGED,
    WRONG,
    Check,
    Finding,
    Kind,
    Place,
    Repair,
    Services,
    Subject,
    Validation,
)
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Call, Filter, Group, Nested, Pattern, Query, Span, Union, walk
from askgraph.sparql.lexer import edited
from askgraph.sparql.parser import read
from askgraph.sparql.rewrite import Repaired as Readable
from askgraph.sparql.rewrite import repaired as readable

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
    check: Check = plugins.load("check", name)
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
        if one in wrong and not one.is_misprint and any(_within(one, span) for span in broken)
        else one
        for one in findings
    ]


def _within(finding: Finding, span: Span) -> bool:
    place = finding.place
    return place is not None and span[0] <= place.start and place.end <= span[1]


def _lighter(finding: Finding) -> Finding:
    return replace(finding, certainty=min(finding.certainty, _HARMLESS))


SURE = 0.9


def repaired_by(text: str, findings: Sequence[Finding]) -> tuple[str, tuple[Repair, ...]]:
    """Return the query with what can safely be repaired, and what was done.

    Prefixes that are known, predicates that lead the other way, language tags, datatypes, and names
    that differ from just one of the graph's in a letter, in case, or in their namespace. Each place
    is changed at most once.
    """
    edits: dict[Place, tuple[str, Repair]] = {}
    header, done = "", list[Repair]()
    for finding in findings:
        if finding.certainty < SURE or not finding.proposals:
            continue
        best = finding.proposals[0].text
        if finding.kind is Kind.PREFIX:
            header += best + "\n"
            done.append(Repair(f"the prefix {finding.term + ':'!r} was declared", "", best))
        elif finding.place and finding.place not in edits and _is_safe(finding, text):
            before = text[finding.place.start : finding.place.end]
            after = _after(finding, before)
            edits[finding.place] = after, Repair(_NOTES.get(finding.kind, "a name"), before, after)
    places = sorted(edits, key=lambda one: one.start)
    done += [edits[place][1] for place in reversed(places)]
    text = edited(text, ((one.start, one.end, edits[one][0]) for one in places))
    return header + text, tuple(done)


_NOTES = {
    Kind.DIRECTION: "a predicate was turned round",
    Kind.LANGUAGE: "a language tag was corrected",
    Kind.DATATYPE: "a datatype was corrected",
    Kind.CLASS: "the name of a class was corrected",
    Kind.PREDICATE: "the name of a predicate was corrected",
    Kind.ENTITY: "the name of a thing was corrected",
}


def _is_safe(finding: Finding, text: str) -> bool:
    place = finding.place
    if place is None:
        return False
    if finding.kind is Kind.DIRECTION:
        before = text[: place.start].rstrip()[-1:]
        after = text[place.end :].lstrip()[:1]
        return before not in ("^", "/", "|", "!", "(") and after not in ("*", "+", "/", "|", ")")
    if finding.kind in (Kind.LANGUAGE, Kind.DATATYPE):
        return len(finding.proposals) == 1
    return finding.is_misprint


def _after(finding: Finding, before: str) -> str:
    """What is put in; a name in full if its prefix is not that of the one it replaces."""
    best = finding.proposals[0]
    if finding.kind is Kind.DIRECTION:
        return f"^{before}"
    same = before.partition(":")[0] == best.text.partition(":")[0]
    return best.text if same or not best.iri else f"<{best.iri}>"
