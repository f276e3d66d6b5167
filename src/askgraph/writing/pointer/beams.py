"""Beam search over skeletons that the grammar allows, and what makes a query hang together."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from askgraph.search.form import Form
from askgraph.writing.pointer.inputs import Units
from askgraph.writing.pointer.network import LONGEST
from askgraph.writing.pointer.pieces import STOP, SYMBOLS, Piece
from askgraph.writing.pointer.skeleton import Skeleton

__all__ = ["beams", "is_whole"]

_BARRED = -1e8
_ASSURED = 0.7


def beams(
    chances: Callable[[Sequence[Skeleton]], NDArray[np.float32]], units: Units, *, width: int
) -> list[tuple[Skeleton, float]]:
    """Return whole skeletons with their log-probabilities, most likely first.

    `chances` gives the log-probabilities of symbols and units after each of some unfinished
    skeletons. So many as `width` are followed at once; longer ones than `LONGEST` are given up.
    They are ordered by the mean of their pieces, to a power that spares the long ones a little.
    """
    open_: list[tuple[Skeleton, float]] = [((), 0.0)]
    done: list[tuple[Skeleton, float]] = []
    for _ in range(LONGEST - 1):
        logs = chances([skeleton for skeleton, _ in open_])
        grown: list[tuple[Skeleton, float]] = []
        for (skeleton, score), row in zip(open_, logs, strict=True):
            for at in np.argsort(-row)[: width + 1]:
                if row[at] > _BARRED:
                    piece = _piece(int(at), units)
                    grown.append(((*skeleton, piece), score + float(row[at])))
        grown.sort(key=lambda one: -one[1])
        done += [one for one in grown[:width] if one[0][-1] == STOP]
        open_ = [one for one in grown[:width] if one[0][-1] != STOP]
        if not open_ or len(done) >= width:
            break
    return sorted(done, key=lambda one: -one[1] / len(one[0]) ** _ASSURED)


def _piece(at: int, units: Units) -> Piece:
    return SYMBOLS[at] if at < len(SYMBOLS) else at - len(SYMBOLS) - units.words


def is_whole(form: Form) -> bool:
    """Whether all patterns of a query hang together, by variables, constants or conditions."""
    groups = [set[object]()]
    patterns = [p for ps, _ in ((form.patterns, ()), *form.either, *form.without) for p in ps]
    links = [{end for end in (p.subject, p.object) if isinstance(end, int)} for p in patterns]
    links += [{f.variable, *(v for v in f.values if isinstance(v, int))} for f in form.filters]
    groups = []
    for link in links:
        if not link:
            continue
        touched = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link]
        groups.append(set[object](link).union(*touched))
    return len(groups) <= 1
