"""Texts of several kinds in the room of one prompt: each kind has a share, what one leaves the
others may use, and a text that is too long is shortened before it is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askgraph.llm.estimate import estimated_tokens


@dataclass(frozen=True)
class Piece:
    """One text in several lengths: whole, then ever shorter."""

    texts: tuple[str, ...]


def fitted(
    kinds: Mapping[str, Sequence[Piece]], shares: Mapping[str, float], *, room: int
) -> dict[str, list[str]]:
    """Return the texts of each kind that have room in so many tokens together, in their order.

    Within its share of the room each kind gets in as many pieces as it can, at their shortest, and
    then lengthens them, the first ones first. What is left of the room goes to what is still out or
    short, kind by kind. `shares` are parts of 1.
    """
    chosen = {name: _Chosen(pieces) for name, pieces in kinds.items()}
    left = room
    for name, one in chosen.items():
        left -= one.fill(int(room * shares[name]))
    for one in chosen.values():
        left -= one.fill(left)
    return {name: one.texts() for name, one in chosen.items()}


class _Chosen:
    """Which length of each piece of one kind is taken; -1 for none."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = [piece for piece in pieces if piece.texts]
        self._costs = [[estimated_tokens(t) + 1 for t in piece.texts] for piece in self._pieces]
        self._taken = [-1] * len(self._pieces)

    def fill(self, room: int) -> int:
        """Take what has room, and return what it costs more than before."""
        left = room
        for at, costs in enumerate(self._costs):
            if self._taken[at] < 0 and costs[-1] <= left:
                self._taken[at] = len(costs) - 1
                left -= costs[-1]
        for at, costs in enumerate(self._costs):
            left -= self._lengthen(at, costs, left)
        return room - left

    def texts(self) -> list[str]:
        """The texts that are taken."""
        both = zip(self._pieces, self._taken, strict=True)
        return [piece.texts[taken] for piece, taken in both if taken >= 0]

    def _lengthen(self, at: int, costs: Sequence[int], left: int) -> int:
        now = self._taken[at]
        better = (length for length in range(max(now, 0)) if costs[length] - costs[now] <= left)
        longer = next(better, now)
        self._taken[at] = longer
        return costs[longer] - costs[now] if now >= 0 else 0
