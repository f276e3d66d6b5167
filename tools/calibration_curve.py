"""The curve from what the trees give to a chance: fitted, and tried on other graphs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tools.calibration_cases import PARTS, Case, shares
from tools.calibration_trees import confidences

from askgraph.evaluation.reports.confidence import aurc, calibration
from askgraph.search.decide.confidence import Curve, Scored, Trees, curve_text, fitted

__all__ = ["about", "curve_file", "curve_of", "curve_report", "given_without", "held_out"]


def given_without(found: Sequence[Case], trees: Mapping[str, Trees]) -> list[float]:
    """What the trees give for each case that are fitted without its graph."""
    return [float(confidences(trees[case.held], [case.evidence])[0]) for case in found]


def curve_of(found: Sequence[Case], given: Sequence[float]) -> Curve:
    """Fit the curve to whether cases are right and what the model gives; they weigh as `shares`.

    Not to those with a word masked: how often such questions are asked is nothing that they tell.
    Nor to what is left of a confidence where another reading was passed over.
    """
    weighted = zip(found, given, shares(found).tolist(), strict=True)
    kept = [item for item in weighted if item[0].left == 1 and item[0].source != "masked"]
    return fitted([Scored(one, float(case.right), share) for case, one, share in kept])


def held_out(found: Sequence[Case], given: Sequence[float]) -> list[float]:
    """The confidence of each case by a curve that was fitted without its graph."""
    curves = {}
    for held in {case.held for case in found}:
        others = [at for at, case in enumerate(found) if case.held != held]
        kept = others or range(len(found))
        curves[held] = curve_of([found[at] for at in kept], [given[at] for at in kept])
    pairs = zip(found, given, strict=True)
    return [curves[case.held](one) * case.left for case, one in pairs]


def curve_report(found: Sequence[Case], given: Sequence[float]) -> str:
    """How well confidences hold before and after, each graph by a curve fitted without it."""
    after = held_out(found, given)
    lines = ["questions  confidence   n      mean  F1     ECE    Brier  AURC"]
    for title in PARTS:
        at = [place for place, case in enumerate(found) if case.source == title]
        if at:
            scores = [found[place].f1 for place in at]
            lines.append(_line(title, "trees", [given[place] for place in at], scores))
            lines.append(_line(title, "curve", [after[place] for place in at], scores))
    by_graph = list(_by_graph(found, given, after))
    lines += ["", "graph (people's questions)     n    mean F1  trees     curve", *by_graph]
    return "\n".join(lines)


def curve_file(found: Sequence[Case], given: Sequence[float], command: str) -> str:
    """The curve as a file, with what it was fitted to."""
    first = (
        "From the confidence of askgraph.search.decide.confidence to a chance; see calibration.py."
    )
    return curve_text(curve_of(found, given), [first, *about(found, command)])


def about(found: Sequence[Case], command: str) -> list[str]:
    """What a fitted file says of itself: by what command, and to what."""
    firsts = [case for case in found if case.left == 1]
    number = Counter(case.source for case in firsts)
    graphs = len({case.graph for case in found})
    weigh = " and ".join(f"{PARTS[name]:g}" for name in ("generated", "masked"))
    return [
        f"Made by: {command}",
        f"Fitted to {number['people']} answers to people's questions, {number['generated']} to",
        f"generated ones and {number['masked']} to those with a word masked, over {graphs} graphs;",
        f"the latter weigh {weigh} of people's (the curve leaves the masked out).",
    ]


def _line(title: str, which: str, given: Sequence[float], scores: Sequence[float]) -> str:
    pairs = list(zip(given, scores, strict=True))
    held, n = calibration(pairs), len(pairs)
    return (
        f"{title:<10} {which:<12} {n:<5}  {sum(given) / n:.3f} {sum(scores) / n:.3f}"
        f"  {held.ece:.3f}  {held.brier:.3f}  {aurc(pairs):.3f}"
    )


def _by_graph(
    found: Sequence[Case], given: Sequence[float], after: Sequence[float]
) -> Iterator[str]:
    for graph in sorted({case.graph for case in found}):
        at = [n for n, case in enumerate(found) if case.graph == graph and case.source == "people"]
        if at:
            score = sum(found[n].f1 for n in at) / len(at)
            before = sum(given[n] for n in at) / len(at)
            curve = sum(after[n] for n in at) / len(at)
            yield f"{graph:<30} {len(at):<4} {score:>7.3f}  {before:>8.3f}  {curve:.3f}"
