"""The parts of a question: what is asked for, and what restricts it."""

from dataclasses import dataclass
from typing import Self

from askgraph.search.linking.operators import Frame
from askgraph.search.linking.text import Reading

__all__ = ["Zones"]


@dataclass(frozen=True)
class Zones:
    """For each token, whether it stands in a part that asks."""

    reading: Reading
    head: tuple[bool, ...]

    @classmethod
    def of(cls, reading: Reading, frame: Frame) -> Self:
        """Split a question at the words that open a restriction, and at its sentences."""
        head, asking, seen = [], True, False
        for at, token in enumerate(reading.tokens):
            gap = reading.text[reading.tokens[at - 1].end : token.start] if at else ""
            if any(mark in gap for mark in ".?!;"):
                asking, seen = True, False
            elif seen and token.quote is None and _opens(at, reading):
                asking = False
            head.append(asking)
            seen = seen or not reading.is_stop(at)
        return cls(reading, tuple(head))

    def is_head(self, at: int) -> bool:
        """Whether a token stands in a part that asks."""
        return self.head[at]

    def is_listed(self, at: int) -> bool:
        """Whether a token opens, or follows a comma or a conjunction (articles left aside)."""
        tokens, lists = self.reading.tokens, self.reading.words
        joins = {phrase[0] for phrase in lists.operators["and"]}
        before = at - 1
        while before >= 0 and self.reading.is_stop(before) and tokens[before].folded not in joins:
            gap = self.reading.text[tokens[before].end : tokens[before + 1].start]
            if "," in gap:
                return True
            if tokens[before].folded in _THEIR:
                return True
            if tokens[before].folded in lists.restrict:
                return False
            before -= 1
        if before < 0:
            return True
        gap = self.reading.text[tokens[before].end : tokens[before + 1].start]
        return "," in gap or tokens[before].folded in joins


_WEAK = frozenset("of for to by than de von des du of pour por para fur zu zum zur".split())


_THEIR = frozenset("their its his her ihren ihrem ihrer ihre seinen sus su leur leurs ses".split())


def _opens(at: int, reading: Reading) -> bool:
    following = reading.tokens[at + 1].folded if at + 1 < len(reading.tokens) else ""
    word = reading.tokens[at].folded
    return word in reading.words.restrict and word not in _WEAK and following not in _THEIR
