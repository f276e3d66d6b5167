"""The lexicon of English words: what is akin to a word besides in spelling, and how near.

It is distilled from WordNet (`tools/make_lexicon.py`; licence beside the file) and lies in the
package as sorted text, one line a word. It is mapped into memory and bisected, never read as a
whole: a look-up touches a few dozen lines. Words are stems, as the index of names has them.

    deep +8depth s6abysmal …        a letter for the relation, a digit for the weight, the word
"""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

LEXICON: Final = Path(__file__).with_name("words") / "wordnet.txt"
"""The lexicon's file."""
LICENCE: Final = Path(__file__).with_name("words") / "wordnet-licence.txt"
"""The licence of WordNet, which the file is made from."""
LANGUAGE: Final = "en"
"""The language of its words."""

_RELATIONS: Final = {
    "s": "synonym",
    "d": "derivation",
    "g": "doer",
    "u": "hypernym",
    "l": "hyponym",
    "n": "demonym",
    "+": "more",
    "-": "less",
}
"""Relations by letter: `doer` leads from a verb to who does it, `more` and `less` from an adjective
to the noun of its scale."""
_BASE: Final = "="
"""The letter of an irregular form, which leads to the word that it is of."""
_ENDINGS: Final = (
    ("ied", "y"),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", "e"),
    ("er", ""),
    ("or", "e"),
    ("ly", ""),
    ("e", ""),
)
"""Endings of English words, and what stands in their place in the word that they are of."""
_SHORTEST: Final = 3


@dataclass(frozen=True, slots=True)
class Relative:
    """A word (or several) akin to another: the relation, and between 0 and 1 how near it is."""

    how: str
    words: tuple[str, ...]
    weight: float


@lru_cache(maxsize=4096)
def relatives(word: str) -> tuple[Relative, ...]:
    """Return the relatives of a stem, or of the words that it is a form of; nearest first.

    >>> [one.words for one in relatives("deep") if one.how == "more"][0]
    ('depth',)
    """
    best: dict[tuple[str, tuple[str, ...]], float] = {}
    for base in bases(word):
        for relative in _entry(base):
            key = relative.how, relative.words
            if relative.words != (word,):
                best[key] = max(best.get(key, 0.0), relative.weight)
        if base != word:
            best["derivation", (base,)] = 1.0
    found = [Relative(how, words, weight) for (how, words), weight in best.items()]
    return tuple(sorted(found, key=lambda one: (-one.weight, one.how, one.words)))


@lru_cache(maxsize=16_384)
def bases(word: str) -> tuple[str, ...]:
    """Return the words of the lexicon that a stem is a form of, itself first if it is one.

    >>> bases("donated")
    ('donate',)
    """
    line = _line(word)
    own = [word] if any(not cell.startswith(_BASE) for cell in line) else []
    irregular = [cell[2:] for cell in line if cell.startswith(_BASE)]
    regular = [] if own and not irregular and not _is_bent(word) else list(_regular(word))
    return tuple(dict.fromkeys((*own, *irregular, *(one for one in regular if _line(one)))))


def _is_bent(word: str) -> bool:
    """Whether a word that is one of its own may be a form of a verb as well."""
    return word.endswith(("ed", "ing"))


def _regular(word: str) -> Iterator[str]:
    for ending, put in _ENDINGS:
        start = word.removesuffix(ending)
        if start == word or len(start) < _SHORTEST - len(put):
            continue
        yield start + put
        if not put and start[-1] == start[-2:-1] and start[-1] not in "aeiou":
            yield start[:-1]


def _entry(word: str) -> Iterator[Relative]:
    for cell in _line(word):
        if not cell.startswith(_BASE):
            yield Relative(_RELATIONS[cell[0]], tuple(cell[2:].split("_")), int(cell[1]) / 10)


@lru_cache(maxsize=16_384)
def _line(word: str) -> tuple[str, ...]:
    """The cells of a word's line, none if it has no line."""
    wanted, text = word.encode() + b" ", _mapped()
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        start = text.rfind(b"\n", low, middle) + 1 or low
        end = text.find(b"\n", middle)
        key = text[start : start + len(wanted)]
        if key == wanted:
            return tuple(text[start + len(wanted) : end].decode().split(" "))
        if key < wanted:
            low = end + 1
        else:
            high = start
    return ()


@cache
def _mapped() -> mmap.mmap:
    with LEXICON.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
