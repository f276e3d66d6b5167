"""The curve from the logistic model's confidence to a chance: fitted, and tried on other graphs."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tools.calibration_cases import Case

from askgraph.candidates.calibration import Curve, Scored, curve_text, fitted
from askgraph.evaluation.reports.confidence import aurc, calibration

__all__ = ["GENERATED", "curve_file", "curve_of", "curve_report", "held_out"]

GENERATED = 0.25
"""What all generated questions of a graph weigh, for each 1 that people's weigh."""


def curve_of(found: Sequence[Case]) -> Curve:
    """Fit the curve to cases.

    A graph weighs the square root of the number of its questions, so that none rules and none is
    ruled by a few; its generated questions weigh a quarter of that, because they are easier.
    """
    number = Counter((case.graph, case.generated) for case in found)
    people = {graph: n for (graph, generated), n in number.items() if not generated}
    return fitted(
        [
            Scored(
                case.given,
                case.f1,
                people.get(case.graph, number[case.graph, case.generated]) ** 0.5
                * (GENERATED if case.generated else 1.0)
                / number[case.graph, case.generated],
            )
            for case in found
        ]
    )  # fmt: skip


def held_out(found: Sequence[Case]) -> list[float]:
    """The chance of each case by a curve that was fitted without its graph."""
    curves = {}
    for graph in {case.graph for case in found}:
        others = [case for case in found if case.graph != graph]
        curves[graph] = curve_of(others or found)
    return [curves[case.graph](case.given) for case in found]


def curve_report(found: Sequence[Case]) -> str:
    """How well confidences hold before and after, each graph by a curve fitted without it."""
    after = held_out(found)
    lines = ["questions  confidence   n      mean  F1     ECE    Brier  AURC"]
    for title, generated in (("people's", False), ("generated", True)):
        at = [place for place, case in enumerate(found) if case.generated is generated]
        if at:
            scores = [found[place].f1 for place in at]
            before = [found[place].given for place in at]
            lines.append(_line(title, "logistic", before, scores))
            lines.append(_line(title, "curve", [after[place] for place in at], scores))
    by_graph = list(_by_graph(found, after))
    lines += ["", "graph (people's questions)     n    mean F1  logistic  curve", *by_graph]
    return "\n".join(lines)


def curve_file(found: Sequence[Case], command: str) -> str:
    """The curve as a file, with what it was fitted to."""
    people = sum(not case.generated for case in found)
    graphs = len({case.graph for case in found})
    about = [
        "From the confidence of askgraph.candidates.decide to a chance; see calibration.py.",
        f"Made by: {command}",
        f"Fitted to {people} answers to people's questions and {len(found) - people} to generated",
        f"ones over {graphs} graphs; generated ones of a graph weigh {GENERATED:g} of people's.",
    ]
    return curve_text(curve_of(found), about)


def _line(title: str, which: str, given: Sequence[float], scores: Sequence[float]) -> str:
    pairs = list(zip(given, scores, strict=True))
    held, n = calibration(pairs), len(pairs)
    return (
        f"{title:<10} {which:<12} {n:<5}  {sum(given) / n:.3f} {sum(scores) / n:.3f}"
        f"  {held.ece:.3f}  {held.brier:.3f}  {aurc(pairs):.3f}"
    )


def _by_graph(found: Sequence[Case], after: Sequence[float]) -> Iterator[str]:
    for graph in sorted({case.graph for case in found}):
        at = [n for n, case in enumerate(found) if case.graph == graph and not case.generated]
        if at:
            score = sum(found[n].f1 for n in at) / len(at)
            before = sum(found[n].given for n in at) / len(at)
            curve = sum(after[n] for n in at) / len(at)
            yield f"{graph:<30} {len(at):<4} {score:>7.3f}  {before:>8.3f}  {curve:.3f}"
