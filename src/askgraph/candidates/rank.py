"""The score of a candidate: all weights in one place."""

from dataclasses import dataclass, replace

from askgraph.candidates.finish import Candidate
from askgraph.candidates.form import Aggregate
from askgraph.candidates.operators import Frame
from askgraph.candidates.schema import Schema
from askgraph.linking.link import Linked
from askgraph.traversal.literals import Sort

__all__ = ["WEIGHTS", "ranked"]

WEIGHTS = {
    "covered": 2.0,
    "patterns": -0.05,
    "unknown": -0.16,
    "spread": -0.01,
    "nameless": -0.35,
    "asks": 0.25,
    "head": 0.25,
    "far": -0.06,
}


def ranked(
    candidates: list[Candidate], linked: Linked, frame: Frame, schema: Schema
) -> list[Candidate]:
    """Score candidates and return them best first; equal queries only once."""
    total = sum(linked.weights) + 0.6 * len(frame.operators) or 1.0
    scored = []
    for candidate in candidates:
        features = _features(candidate, linked, frame, schema, total)
        score = sum(WEIGHTS[name] * value for name, value in features.items())
        scored.append(replace(candidate, score=score, features=features))
    best: dict[object, Candidate] = {}
    for candidate in sorted(scored, key=lambda c: -c.score):
        best.setdefault(candidate.form, candidate)
    return list(best.values())


def _features(
    candidate: Candidate, linked: Linked, frame: Frame, schema: Schema, total: float
) -> dict[str, float]:
    return {
        "covered": candidate.gain / total,
        "patterns": float(candidate.patterns),
        "unknown": candidate.unknown,
        "spread": candidate.state.spread,
        "nameless": _nameless(candidate, schema),
        "asks": _agrees(candidate, frame, schema),
        "head": _head(candidate, linked),
        "far": _far(candidate),
    }


def _nameless(candidate: Candidate, schema: Schema) -> float:
    """Whether the answer is a node that stands only for a relation."""
    answers = [c for c in candidate.form.columns if c.answer]
    if candidate.form.ask or len(answers) != 1 or answers[0].value != 0:
        return 0.0
    return float(schema.is_nameless(candidate.state.ids))


def _agrees(candidate: Candidate, frame: Frame, schema: Schema) -> float:
    """Whether the answer is of the sort that the question word asks for."""
    form = candidate.form
    if frame.exists and frame.asks is None:
        return 1.0 if form.ask else 0.0
    if frame.asks == "number":
        counted = any(isinstance(c.value, Aggregate) for c in form.columns)
        return 1.0 if counted or Sort.NUMBER in _sorts(candidate, schema) else 0.0
    if frame.asks in ("date", "year"):
        return 1.0 if _sorts(candidate, schema) & {Sort.DATE, Sort.YEAR, Sort.TEXT_DATE} else 0.0
    return 0.0


def _sorts(candidate: Candidate, schema: Schema) -> set[Sort]:
    shown = {c.value for c in candidate.form.columns if isinstance(c.value, int)}
    found = set()
    for pattern in candidate.form.patterns:
        if pattern.object in shown:
            number = schema.number(pattern.predicate)
            if number is not None:
                found.add(schema.sort(number))
    return found


def _head(candidate: Candidate, linked: Linked) -> float:
    """Whether the answer's own class or last step takes up the first words of content."""
    first = next((at for at, w in enumerate(linked.weights) if w), None)
    if first is None:
        return 0.0
    node = candidate.state.node
    links = [node.cls_link, *(edge.link for edge, _ in node.edges)]
    links += [child.link for _, child in node.edges]
    if any(link is not None and first in link.positions for link in links):
        return 1.0
    return 0.0


def _far(candidate: Candidate) -> float:
    """How many steps from the answer the named predicates lie: the nearest are meant."""
    total, level = 0.0, list(candidate.state.node.edges)
    depth = 0
    while level:
        total += depth * sum(edge.link is not None for edge, _ in level)
        level = [below for _, child in level for below in child.edges]
        depth += 1
    return total
