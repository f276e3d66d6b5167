"""Ids as 64-bit keys: many ids are looked up at once, without a dictionary in memory."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Keys", "keys_of"]

Keys = NDArray[np.uint64]

_BLOCK = 1024
_BASE = 0x9E3779B97F4A7C15
_BASE_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


def keys_of(texts: Sequence[str]) -> Keys:
    """Return a key for each text: the same on every machine.

    Two of a billion texts share a key with a probability of about 3 %, two of a hundred million
    with one of 0.03 %; who must be sure compares the texts.
    """
    blocks = [_keys(texts[at : at + _BLOCK]) for at in range(0, len(texts), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint64)


def _keys(texts: Sequence[str]) -> Keys:
    """The bytes as digits of a number to an odd base, modulo 2 to the 64, then mixed."""
    digits = _digits(texts)
    starts = np.flatnonzero(digits == 0)
    if len(starts) > len(texts):
        digits = _digits([text.replace("\0", "\\0") for text in texts])
        starts = np.flatnonzero(digits == 0)
    starts[1:] = starts[:-1] + 1
    starts[0] = 0
    size = 1 << (len(digits) - 1).bit_length()
    # Each text's number is shifted by where it starts: dividing by the base makes up for it.
    keys: Keys = np.add.reduceat(_powers(_BASE, size)[: len(digits)] * (digits + _ONE), starts)
    keys *= _powers(_BASE_INVERSE, size)[starts]
    keys ^= keys >> _SHIFT
    keys *= _MIX
    keys ^= keys >> _SHIFT
    return keys


_ONE = np.uint8(1)


def _digits(texts: Sequence[str]) -> NDArray[np.uint8]:
    """The bytes of the texts, a zero byte after each."""
    return np.frombuffer("\0".join((*texts, "")).encode(), np.uint8)


@lru_cache(maxsize=4)
def _powers(base: int, size: int) -> NDArray[np.uint64]:
    factors = np.full(size, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors)
