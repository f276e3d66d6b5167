"""Run all checks on a query, and make the safe repairs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from askgraph import plugins
from askgraph.answers.validation import (
    MAX_CHECKED_CHARACTERS,
    MIN_WRONG_CERTAINTY,
    UNCHECKED_PROBABILITY,
    Check,
    CheckInput,
    FaultKind,
    Finding,
    Repair,
    ServiceKnowledge,
    SourceRange,
    Validation,
)
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Call, Filter, Group, Nested, Pattern, Query, Span, Union, walk
from askgraph.sparql.lexer import apply_edits
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.rewrite import RepairedQuery as Readable
from askgraph.sparql.rewrite import repair_query as readable

CHECKS = ("syntax", "structure", "known_iris", "schema", "filters")
"""The default checks, in the order of their findings."""

_MAX_ROUNDS = 3
_TOO_DEEP_MESSAGE = "the query is nested too deeply, or has too long a condition, to be checked"


def validate_query(
    query: str,
    services: ServiceKnowledge,
    *,
    checks: Sequence[str] = CHECKS,
    language: str = "en",
    repair: bool = True,
) -> Validation:
    """Check a query, and repair it where that is safe. Never raises for a query, however broken.

    Faults that prevent parsing (surrounding words, a bare aggregate, a label service of
    Wikibase) are repaired first and are reported only as repairs. With `repair`, findings are
    repaired in at most three rounds.
    """
    readable_query = (
        readable(query, language=language)
        if len(query) <= MAX_CHECKED_CHARACTERS
        else Readable(query)
    )
    repairs = [Repair(note) for note in readable_query.notes]
    findings = find_faults(readable_query.query, services, checks=checks)
    if not repair:
        return Validation(
            readable_query.query, findings, readable_query.query, tuple(repairs), findings
        )
    text, remaining = readable_query.query, findings
    for _ in range(_MAX_ROUNDS):
        new_text, new_repairs = apply_repairs(text, remaining)
        if not new_repairs:
            break
        new_findings = find_faults(new_text, services, checks=checks)
        if len(new_findings) >= len(remaining):
            break
        text, remaining = new_text, new_findings
        repairs += new_repairs
    return Validation(readable_query.query, findings, text, tuple(repairs), remaining)


def find_faults(
    text: str, services: ServiceKnowledge, *, checks: Sequence[str] = CHECKS
) -> tuple[Finding, ...]:
    """Return the findings, in the order of the checks and then of the text."""
    try:
        tree = (
            parse_tree(text, services.queried_graph.prefixes.namespaces)
            if len(text) <= MAX_CHECKED_CHARACTERS
            else None
        )
    except QuerySyntaxError:
        tree = None
    try:
        subject = CheckInput(text, tree, services)
        findings_by_key: dict[tuple[object, ...], Finding] = {}
        for name in checks:
            faults = _load_check(name)(subject)
            for finding in sorted(faults, key=lambda item: item.place.start if item.place else -1):
                findings_by_key.setdefault(_get_identity(finding), finding)
        findings = tuple(findings_by_key.values())
        return adjust_certainties(subject.tree, findings) if subject.tree and findings else findings
    except RecursionError:
        return (Finding(FaultKind.SYNTAX, _TOO_DEEP_MESSAGE, certainty=UNCHECKED_PROBABILITY),)


@cache
def _load_check(name: str) -> Check:
    check: Check = plugins.load("check", name)
    return check


def _get_identity(finding: Finding) -> tuple[object, ...]:
    """Return the identity of a finding: a place may be checked for one graph and for all."""
    needs_message = finding.place is None or finding.kind is FaultKind.FILTER
    return finding.kind, finding.place, finding.term, finding.message if needs_message else ""


_MAX_HARMLESS_CERTAINTY = 0.4
"""Maximum certainty of a finding on a part that the query does not need for its answers."""

_NO_MATCH_KINDS = frozenset(
    {
        FaultKind.CLASS,
        FaultKind.PREDICATE,
        FaultKind.ENTITY,
        FaultKind.DIRECTION,
        FaultKind.SUBJECT,
        FaultKind.OBJECT,
        FaultKind.DATATYPE,
        FaultKind.LANGUAGE,
        FaultKind.FILTER,
    }
)
_MISMATCH_KINDS = frozenset({FaultKind.SUBJECT, FaultKind.OBJECT})


def adjust_certainties(tree: Query, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Lower the certainty of findings that leave the query its answers.

    A UNION branch that cannot match is harmless beside one that can, and so is a negation of
    triples that the class never has: both may be intended. Misprints keep their certainty.
    """
    unions, negated_groups = _list_unions_and_negations(tree)
    adjusted = list(findings)
    for group in negated_groups:
        if span := _get_span(group):
            adjusted = [
                _lower_certainty(finding)
                if finding.kind in _MISMATCH_KINDS and _is_within(finding, span)
                else finding
                for finding in adjusted
            ]
    for union in reversed(unions):
        # Lower the certainty in branches that cannot match if another branch can.
        branches = [_get_span(branch) for branch in union.groups]
        wrong_findings = [
            finding
            for finding in adjusted
            if finding.kind in _NO_MATCH_KINDS and finding.certainty >= MIN_WRONG_CERTAINTY
        ]
        broken_spans = [
            span
            for span in branches
            if span is not None and any(_is_within(finding, span) for finding in wrong_findings)
        ]
        if len(broken_spans) == len(branches):
            adjusted = list(adjusted)
        else:
            adjusted = [
                _lower_certainty(finding)
                if finding in wrong_findings
                and not finding.is_misprint
                and any(_is_within(finding, span) for span in broken_spans)
                else finding
                for finding in adjusted
            ]
    return tuple(adjusted)


def _list_unions_and_negations(tree: Query) -> tuple[list[Union], list[Group]]:
    unions, negated_groups = list[Union](), list[Group]()
    for part in walk(tree):
        match part:
            case Union():
                unions.append(part)
            case Nested(word="MINUS", group=group):
                negated_groups.append(group)
            case Call(name="NOT EXISTS", arguments=(Group() as group,)):
                negated_groups.append(group)
    return unions, negated_groups


def _get_span(group: Group) -> Span | None:
    spans: list[Span] = []
    for part in walk(group):
        if isinstance(part, Pattern):
            spans += part.spans
        elif isinstance(part, Filter) and part.span is not None:
            spans.append(part.span)
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None


def _is_within(finding: Finding, span: Span) -> bool:
    source_range = finding.place
    return (
        source_range is not None and span[0] <= source_range.start and source_range.end <= span[1]
    )


def _lower_certainty(finding: Finding) -> Finding:
    return replace(finding, certainty=min(finding.certainty, _MAX_HARMLESS_CERTAINTY))


MIN_REPAIR_CERTAINTY = 0.9


def apply_repairs(text: str, findings: Sequence[Finding]) -> tuple[str, tuple[Repair, ...]]:
    """Return the query with all safe repairs, and the repairs.

    Safe are known prefixes, predicates in the wrong direction, language tags, datatypes, and
    names that differ from exactly one name of the graph in a letter, in case, or in their
    namespace. Each place changes at most once.
    """
    edits: dict[SourceRange, tuple[str, Repair]] = {}
    header, repairs = "", list[Repair]()
    for finding in findings:
        if finding.certainty < MIN_REPAIR_CERTAINTY or not finding.proposals:
            continue
        best = finding.proposals[0].text
        if finding.kind is FaultKind.PREFIX:
            header += best + "\n"
            repairs.append(Repair(f"the prefix {finding.term + ':'!r} was declared", "", best))
        elif finding.place and finding.place not in edits and _is_safe_repair(finding, text):
            before = text[finding.place.start : finding.place.end]
            after = _build_replacement(finding, before)
            edits[finding.place] = (
                after,
                Repair(_REPAIR_NOTES.get(finding.kind, "a name"), before, after),
            )
    places = sorted(edits, key=lambda source_range: source_range.start)
    repairs += [edits[finding_range][1] for finding_range in reversed(places)]
    text = apply_edits(
        text,
        ((source_range.start, source_range.end, edits[source_range][0]) for source_range in places),
    )
    return header + text, tuple(repairs)


_REPAIR_NOTES = {
    FaultKind.DIRECTION: "a predicate was reversed",
    FaultKind.LANGUAGE: "a language tag was corrected",
    FaultKind.DATATYPE: "a datatype was corrected",
    FaultKind.CLASS: "the name of a class was corrected",
    FaultKind.PREDICATE: "the name of a predicate was corrected",
    FaultKind.ENTITY: "the name of a thing was corrected",
}


def _is_safe_repair(finding: Finding, text: str) -> bool:
    source_range = finding.place
    if source_range is None:
        return False
    if finding.kind is FaultKind.DIRECTION:
        before = text[: source_range.start].rstrip()[-1:]
        after = text[source_range.end :].lstrip()[:1]
        return before not in ("^", "/", "|", "!", "(") and after not in ("*", "+", "/", "|", ")")
    if finding.kind in (FaultKind.LANGUAGE, FaultKind.DATATYPE):
        return len(finding.proposals) == 1
    return finding.is_misprint


def _build_replacement(finding: Finding, before: str) -> str:
    best = finding.proposals[0]
    if finding.kind is FaultKind.DIRECTION:
        return f"^{before}"
    same = before.partition(":")[0] == best.text.partition(":")[0]
    return best.text if same or not best.iri else f"<{best.iri}>"
