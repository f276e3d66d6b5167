"""The logistic model of confidence: weights of evidence, from a file in the package.

`confidence.toml` beside this file holds them; `tools/calibrate.py --write` fits and writes it. The
sign of each weight is given beforehand: evidence for an answer never lowers its confidence on a
graph that happens to be odd, and evidence against never raises it.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from askgraph.errors import SetupError

__all__ = [
    "EVIDENCE",
    "FOR",
    "WEIGHTS_FILE",
    "own_weights",
    "read_weights",
    "weighed",
    "weights_text",
]

WEIGHTS_FILE = Path(__file__).with_name("confidence.toml")
"""The weights that the package uses."""

FOR = frozenset(["score", "margin", "covered"])
"""The evidence that speaks for an answer; all other speaks against it."""

EVIDENCE = FOR | {
    *("rivals", "faults", "unused_names", "guess", "weakest", "required", "unsaid_order"),
    *("denies", "groups", "scattered"),
}
"""The names of all evidence, as `evidence_for` gives it."""


def weighed(evidence: Mapping[str, float], weights: Mapping[str, float] | None = None) -> float:
    """Return what the model gives (0–1) for evidence; what has no weight counts nothing."""
    known = own_weights() if weights is None else weights
    linear = known["bias"] + sum(known.get(name, 0.0) * value for name, value in evidence.items())
    if linear >= 0:
        return 1 / (1 + math.exp(-linear))
    odds = math.exp(linear)  # exp(-linear) would be too large for a number
    return odds / (1 + odds)


@cache
def own_weights() -> Mapping[str, float]:
    """The weights that the package uses: `bias`, and one for each name of `evidence_for`."""
    return read_weights(WEIGHTS_FILE)


def read_weights(path: Path) -> dict[str, float]:
    """Read weights; raises `SetupError` where the file is missing or holds none of the kind."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))["weights"]
        weights = {name: _number(name, value) for name, value in table.items()}
        odd = sorted(weights.keys() ^ {"bias", *EVIDENCE})
        if odd:
            raise ValueError(f"one weight for each evidence is needed; see {', '.join(odd)}")
    except (OSError, KeyError, AttributeError, TypeError, ValueError, OverflowError) as problem:
        raise SetupError(
            f"{str(path)!r} holds no weights of evidence ({problem}); "
            f"make it anew with tools/calibrate.py --write"
        ) from problem
    return weights


def weights_text(weights: Mapping[str, float], about: Sequence[str]) -> str:
    """Return weights as a file that `read_weights` reads, with lines of comment on top."""
    lines = [f"# {line}".rstrip() for line in about]
    lines += ["", "[weights]", *(f"{name} = {value:.3f}" for name, value in weights.items())]
    return "\n".join([*lines, ""])


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} = {value!r} is no number")
    if name != "bias" and value * (1 if name in FOR else -1) < 0:
        raise ValueError(f"{name} = {value!r} has the wrong sign")
    return float(value)
