"""Questions and skeletons as arrays of one size, for the network."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.writing.pointer.inputs import FACTS, WORDS, Units
from askgraph.writing.pointer.network import LONGEST
from askgraph.writing.pointer.pieces import STAGES, SYMBOLS, Next, awaited
from askgraph.writing.pointer.skeleton import Skeleton

__all__ = ["NUMBER_OF", "Known", "allowed_after", "fits", "known_steps", "unit_arrays"]

NUMBER_OF = {symbol: at for at, symbol in enumerate(SYMBOLS)}
_STAGE = {stage: at for at, stage in enumerate(STAGES)}
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def unit_arrays(questions: Sequence[Units]) -> dict[str, NDArray[np.generic]]:
    """Return the units of questions as arrays of one size, as `encoded` takes them."""
    most, n = max(len(one.grams) for one in questions), len(questions)
    width = max(one.grams.shape[1] for one in questions)
    found: dict[str, NDArray[np.generic]] = {
        "grams": np.zeros((n, most, width), dtype=np.int64),
        "facts": np.zeros((n, most, FACTS), dtype=np.float32),
        "places": np.zeros((n, most, WORDS), dtype=np.float32),
        "relations": np.zeros((n, most, most), dtype=np.int64),
        "there": np.zeros((n, most), dtype=np.float32),
        "terms": np.zeros((n, most), dtype=np.float32),
    }
    for at, one in enumerate(questions):
        size = len(one.grams)
        found["grams"][at, :size] = one.grams
        found["facts"][at, :size] = one.facts
        found["places"][at, :size] = one.places
        found["relations"][at, :size, :size] = one.relations
        found["there"][at, :size] = 1
        found["terms"][at, one.words : size] = 1
    return found


@dataclass(frozen=True, eq=False)
class Known:
    """Skeletons of one question as the network reads them, with the pieces that come next.

    All are (skeletons, pieces, …); `targets` are numbers of symbols, or of units after these, and
    `counts` (skeletons, pieces) is 1 where there is a piece.
    """

    symbols: Ints
    pointed: Floats
    used: Floats
    stages: Ints
    allowed: Floats
    targets: Ints
    counts: Floats


def fits(skeleton: Skeleton, units: Units) -> bool:
    """Whether a skeleton can be read: each term in a role that it has, and not too long.

    Raises `ValueError` for what is no skeleton.
    """
    return len(skeleton) <= LONGEST and all(
        bool(units.roles[piece] & before.roles)
        for piece, before in zip(skeleton, awaited(skeleton), strict=False)
        if isinstance(piece, int)
    )


def known_steps(
    skeletons: Sequence[Skeleton], units: Units, *, room: tuple[int, int, int] | None = None
) -> Known:
    """Return whole skeletons, or as many pieces of them as there are, with what comes next.

    The arrays are of the size of `room` (skeletons, pieces, units), else one place longer than the
    longest skeleton. Raises `ValueError` for what is no skeleton, or is too long.
    """
    longest = max(map(len, skeletons))
    if longest > LONGEST:
        raise ValueError(f"a skeleton of {longest} pieces; {LONGEST} are read at most")
    n, length, size = room or (len(skeletons), min(LONGEST, longest + 1), len(units.grams))
    known = Known(
        np.zeros((n, length), dtype=np.int64),
        np.zeros((n, length, size), dtype=np.float32),
        np.zeros((n, length, size), dtype=np.float32),
        np.zeros((n, length), dtype=np.int64),
        np.ones((n, length, len(SYMBOLS) + size), dtype=np.float32),
        np.zeros((n, length), dtype=np.int64),
        np.zeros((n, length), dtype=np.float32),
    )
    rows: dict[Next, Floats] = {}
    for row, skeleton in enumerate(skeletons):
        for at, before in enumerate(awaited(skeleton)[:length]):
            if before not in rows:
                rows[before] = allowed_after(before, units)
            known.stages[row, at] = _STAGE[before.stage]
            known.allowed[row, at, :] = 0
            known.allowed[row, at, : len(rows[before])] = rows[before]
        _fill(known, row, skeleton, units)
    return known


def _fill(known: Known, row: int, skeleton: Skeleton, units: Units) -> None:
    more = known.symbols.shape[1]
    for at, piece in enumerate(skeleton):
        known.counts[row, at] = 1
        if isinstance(piece, int):
            unit = units.words + piece
            known.targets[row, at] = len(SYMBOLS) + unit
            if not known.allowed[row, at, len(SYMBOLS) + unit]:
                raise ValueError(f"term {piece} cannot stand at place {at}")
            known.used[row, at + 1 :, unit] = 1
            if at + 1 < more:
                known.pointed[row, at + 1, unit] = 1
        else:
            known.targets[row, at] = NUMBER_OF[piece]
            if at + 1 < more:
                known.symbols[row, at + 1] = NUMBER_OF[piece] + 1


def allowed_after(before: Next, units: Units) -> Floats:
    """Return what may come next: 1 for each symbol and unit that can, in one row."""
    row = np.zeros(len(SYMBOLS) + len(units.grams), dtype=np.float32)
    for symbol in before.symbols:
        row[NUMBER_OF[symbol]] = 1
    if before.roles:
        first = len(SYMBOLS) + units.words
        for at, roles in enumerate(units.roles):
            if roles & before.roles:
                row[first + at] = 1
    return row
