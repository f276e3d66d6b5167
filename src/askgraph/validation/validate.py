"""A query put through all checks, and repaired where that is safe."""

from collections.abc import Sequence
from functools import cache

from askgraph import registry
from askgraph.errors import QuerySyntaxError
from askgraph.sparql.read import read
from askgraph.sparql.rewrite.repair import Repaired as Readable
from askgraph.sparql.rewrite.repair import repaired as readable
from askgraph.validation import UNJUDGED, Check, Finding, Kind, Repair, Subject, Validation
from askgraph.validation._grammar import MAX_JUDGED
from askgraph.validation._weight import weighed
from askgraph.validation.knowledge import Services
from askgraph.validation.repairs import repaired_by

__all__ = ["CHECKS", "findings_on", "validated"]

CHECKS = ("syntax", "structure", "known_iris", "schema", "filters")
"""The checks that are made where no others are asked for, in the order of their findings."""

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
