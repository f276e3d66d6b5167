"""The pointer writer's network, written once for the arrays of numpy and of torch.

An encoder of two layers reads a question's words and its listed terms together; how two units are
related biases their attention. A decoder of two layers reads a skeleton from left to right, knows
which terms and words it has used, and gives the next piece: a symbol or a pointer to a term
(Vinyals, Fortunato and Jaitly, "Pointer Networks", 2015). Another output judges whole skeletons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from askgraph.methods.writing.pointer.inputs import BUCKETS, FACTS, RELATIONS, WORDS, Units
from askgraph.methods.writing.pointer.pieces import STAGES, SYMBOLS, Next, awaited
from askgraph.methods.writing.pointer.skeleton import Skeleton

LONGEST = 64
"""How many pieces a skeleton has at most, with the last one."""

Array: TypeAlias = Any
"""An array of numpy or of torch: both have the operators and methods that are used here."""

_FAR = -1e9


@dataclass(frozen=True)
class Settings:
    """The size of a network: width, heads, the width within layers, layers on either side."""

    width: int = 64
    heads: int = 4
    inner: int = 128
    encoder: int = 2
    decoder: int = 2


class Library(Protocol):
    """What arrays have no operator for, in one library or the other."""

    def bag(self, table: Array, ids: Array) -> Array:
        """Sum the rows of a table by numbers along the last axis; row 0 is nothing."""

    def rows(self, table: Array, ids: Array) -> Array:
        """Give the rows of a table."""

    def softmax(self, scores: Array, *, log: bool = False) -> Array:
        """Normalise along the last axis."""

    def clipped(self, values: Array, low: float | None, high: float | None) -> Array:
        """Bound values."""

    def joined(self, one: Array, other: Array) -> Array:
        """Put two arrays together along the last axis."""

    def dropped(self, values: Array) -> Array:
        """Leave some values out while learning."""


Weights = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Memory:
    """What the encoder makes of questions: a vector for each unit, and which units are there.

    `vectors` (questions, units, width), `there` (questions, units) is 1 or 0; `means` (questions,
    units, units) is 1 if a unit is or means another; `terms` (questions, units) is 1 for terms.
    """

    vectors: Array
    there: Array
    means: Array
    terms: Array


@dataclass(frozen=True, eq=False)
class Steps:
    """Skeletons as far as they are known: (questions, skeletons, pieces) each.

    `symbols` are numbers of what came before a place (0 at a pointer), `pointed` (…, units) is 1 at
    the unit pointed at, `used` (…, units) at those used before, `stages` what comes next is read
    as. `allowed` (…, symbols + units) is 0 if something cannot come, else 1.
    """

    symbols: Array
    pointed: Array
    used: Array
    stages: Array
    allowed: Array


def shapes(settings: Settings) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of all weights."""
    wide, symbols = settings.width, len(SYMBOLS) + 1
    found: dict[str, tuple[int, ...]] = {
        "grams": (BUCKETS, wide), "facts": (FACTS, wide), "places": (WORDS, wide),
        "symbols": (symbols, wide), "stages": (len(STAGES), wide), "steps": (LONGEST, wide),
        "pointed": (wide, wide), "symbol_bias": (symbols,), "ask_pointer": (wide, wide),
        "key_pointer": (wide, wide), "reuse": (2, len(STAGES)), "memory.norm": (2, wide),
        "out.norm": (2, wide), "verdict": (wide, 1), "rank": (1,),
    }  # fmt: skip
    for at in range(settings.encoder):
        found |= _layer_shapes(f"encoder{at}", settings, crossing=False)
        found[f"encoder{at}.relations"] = (len(RELATIONS), settings.heads)
    for at in range(settings.decoder):
        found |= _layer_shapes(f"decoder{at}", settings, crossing=True)
        found[f"decoder{at}.covered"] = (settings.heads,)
    return found


def _layer_shapes(name: str, settings: Settings, *, crossing: bool) -> dict[str, tuple[int, ...]]:
    wide, inner = settings.width, settings.inner
    found: dict[str, tuple[int, ...]] = {
        f"{name}.up": (wide, inner), f"{name}.down": (inner, wide), f"{name}.norm": (2, wide),
    }  # fmt: skip
    for part in ("own", "across") if crossing else ("own",):
        found |= {f"{name}.{part}.{key}": (wide, wide) for key in ("q", "k", "v", "o")}
        found[f"{name}.{part}.norm"] = (2, wide)
    return found


def encoded(
    weights: Weights, units: Mapping[str, Array], settings: Settings, library: Library
) -> Memory:
    """Read questions. `units` holds grams, facts, places, relations, there, terms, in batches."""
    grams, there = units["grams"], units["there"]
    count = library.clipped((grams > 0).sum(-1), 1, None)[..., None]
    x = library.bag(weights["grams"], grams) / count**0.5
    x = x + units["facts"] @ weights["facts"] + units["places"] @ weights["places"]
    barred = ((1 - there) * _FAR)[:, None, None, :]
    for at in range(settings.encoder):
        name = f"encoder{at}"
        bias = library.rows(weights[f"{name}.relations"], units["relations"])
        bias = bias.swapaxes(-1, -2).swapaxes(-2, -3) + barred
        own = _normed(x, weights[f"{name}.own.norm"])
        x = x + library.dropped(
            _attention(weights, f"{name}.own", own, own, bias, settings, library)
        )
        x = x + library.dropped(_inner(weights, name, x, library))
    means = (units["places"] @ units["places"].swapaxes(-1, -2)) > 0
    return Memory(_normed(x, weights["memory.norm"]), there, means, units["terms"])


def judged(
    weights: Weights, memory: Memory, steps: Steps, settings: Settings, library: Library
) -> tuple[Array, Array]:
    """Read skeletons; return log-probabilities of what comes next, and a verdict at each place.

    The first is (questions, skeletons, pieces, symbols + units), the second without the last axis.
    """
    vectors = memory.vectors[:, None]
    used = steps.used
    covered = library.clipped(used @ (memory.means * 1.0)[:, None] + used, 0.0, 1.0)
    length = steps.symbols.shape[-1]
    x = library.rows(weights["symbols"], steps.symbols) + weights["steps"][:length]
    x = x + library.rows(weights["stages"], steps.stages)
    x = x + (steps.pointed @ vectors) @ weights["pointed"]
    later = _later(steps.used, length)
    barred = ((1 - memory.there) * _FAR)[:, None, None, None, :]
    for at in range(settings.decoder):
        name = f"decoder{at}"
        own = _normed(x, weights[f"{name}.own.norm"])
        x = x + library.dropped(
            _attention(weights, f"{name}.own", own, own, later, settings, library)
        )
        across = _normed(x, weights[f"{name}.across.norm"])
        bias = weights[f"{name}.covered"][:, None, None] * covered[..., None, :, :] + barred
        x = x + library.dropped(
            _attention(weights, f"{name}.across", across, vectors, bias, settings, library)
        )
        x = x + library.dropped(_inner(weights, name, x, library))
    x = _normed(x, weights["out.norm"])
    symbols = x @ weights["symbols"][1:].swapaxes(-1, -2) + weights["symbol_bias"][1:]
    keys = vectors @ weights["key_pointer"]
    pointers = (x @ weights["ask_pointer"]) @ keys.swapaxes(-1, -2) / settings.width**0.5
    again = library.rows(weights["reuse"].swapaxes(0, 1), steps.stages)
    pointers = pointers + again[..., :1] * used + again[..., 1:] * (covered - used)
    logits = library.joined(symbols, pointers) + (1 - steps.allowed) * _FAR
    return library.softmax(logits, log=True), (x @ weights["verdict"])[..., 0]


def _later(like: Array, length: int) -> Array:
    """A bias that bars every place from those after it."""
    order = (like[..., :1] * 0)[0, 0] + 1
    order = order.cumsum(0)
    return ((order.swapaxes(0, 1) > order) * 1.0) * _FAR


def _attention(
    weights: Weights, name: str, x: Array, of: Array, bias: Array, settings: Settings,
    library: Library,
) -> Array:  # fmt: skip
    """Attention of several heads, with a bias of (…, heads, places of x, places of the other)."""
    q, k, v = (
        _split(part @ weights[f"{name}.{key}"], settings.heads)
        for part, key in ((x, "q"), (of, "k"), (of, "v"))
    )
    scores = q @ k.swapaxes(-1, -2) / (settings.width / settings.heads) ** 0.5 + bias
    mixed = library.softmax(scores) @ v
    mixed = mixed.swapaxes(-2, -3)
    return mixed.reshape(*mixed.shape[:-2], settings.width) @ weights[f"{name}.o"]


def _split(x: Array, heads: int) -> Array:
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-2, -3)


def _inner(weights: Weights, name: str, x: Array, library: Library) -> Array:
    up = _normed(x, weights[f"{name}.norm"]) @ weights[f"{name}.up"]
    return library.clipped(up, 0.0, None) @ weights[f"{name}.down"]


def _normed(x: Array, scale: Array) -> Array:
    """Layer normalisation; the scale is kept as its distance from 1."""
    centred = x - x.mean(-1)[..., None]
    spread = (centred * centred).mean(-1)[..., None] + 1e-5
    return centred / spread**0.5 * (1 + scale[0]) + scale[1]


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
    `counts` (skeletons, pieces) is 1 if there is a piece.
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
