"""The weights of a ranking, read from a file: those of any graph, and others for graphs by name.

What the package uses lies beside this file, in `ranking.toml`; `tools/ranking.py --write` makes it.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.search.rank.score import FEATURES

__all__ = ["RANKING", "Ranking", "ranking_text", "read_ranking", "weights_for"]

RANKING = Path(__file__).with_name("ranking.toml")
"""The ranking that the package uses."""


@dataclass(frozen=True)
class Ranking:
    """What each feature of a candidate weighs; `graphs` are the weights of single graphs."""

    weights: Mapping[str, float]
    graphs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ValueError` where the weights are not one finite number for each feature."""
        for table in (self.weights, *self.graphs.values()):
            odd = sorted(set(table) ^ set(FEATURES))
            if odd:
                raise ValueError(f"one weight for each feature is needed; see {', '.join(odd)}")
            if not all(_is_number(weight) for weight in table.values()):
                raise ValueError("a weight must be a finite number")

    def of(self, graph: str) -> Mapping[str, float]:
        """The weights for a graph."""
        return self.graphs.get(graph, self.weights)


def weights_for(graph: str, path: str = "") -> Mapping[str, float]:
    """Return the weights for a graph, from a file or from the package's; each is read once.

    Raises `SetupError` where the file is missing or holds no ranking.
    """
    return _read(path).of(graph)


def read_ranking(path: Path) -> Ranking:
    """Read a ranking; raises `SetupError` where the file is missing or holds none."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return Ranking(table["weights"], table.get("graphs", {}))
    except (OSError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise SetupError(
            f"{str(path)!r} holds no weights of a ranking ({problem}); "
            f"a file like it is made with tools/ranking.py --write"
        ) from problem


def ranking_text(ranking: Ranking, about: Sequence[str]) -> str:
    """Return a ranking as a file that `read_ranking` reads, with lines of comment on top.

    Weights are rounded to four digits after the point.
    """
    lines = [f"# {line}".rstrip() for line in about]
    lines += ["", "[weights]", *_rows(ranking.weights)]
    for name, weights in sorted(ranking.graphs.items()):
        lines += ["", f"[graphs.{_key(name)}]", *_rows(weights)]
    return "\n".join([*lines, ""])


@cache
def _read(path: str) -> Ranking:
    return read_ranking(Path(path).expanduser() if path else RANKING)


def _is_number(weight: object) -> bool:
    return isinstance(weight, int | float) and type(weight) is not bool and math.isfinite(weight)


def _rows(weights: Mapping[str, float]) -> list[str]:
    return [f"{name} = {round(float(weights[name]), 4)!r}" for name in FEATURES]


def _key(name: str) -> str:
    """A name as a quoted key of TOML."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
