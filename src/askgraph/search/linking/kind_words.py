"""Words that tell what kind of thing a name of a class or predicate means, in any language."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from askgraph.index.tokens import stem, tokens

Kinds = frozenset[str]
"""Some of persons, bodies (that act as persons do), places and times."""

NONE: Kinds = frozenset()


@dataclass(frozen=True)
class KindWords:
    """Stems by kind; `last` are languages in which the head of a name is its last word.

    `parting` are words after which a name goes on with what its head is of, `keys` those for
    what only stands for a thing: its name, its number. `signs` are sets of words in the name of a
    predicate that only things of the kind have; `generic` words say no more than a question word.
    """

    last: frozenset[str]
    parting: frozenset[str]
    keys: frozenset[str]
    stems: Mapping[str, Kinds]
    endings: Mapping[str, tuple[str, ...]]
    signs: Mapping[str, tuple[frozenset[str], ...]]
    generic: Mapping[str, frozenset[str]]


@cache
def kind_words() -> KindWords:
    """Return the lists of the package."""
    source = files("askgraph.search.linking").joinpath("words", "kinds.toml")
    raw = tomllib.loads(source.read_text(encoding="utf-8"))
    stems: dict[str, set[str]] = {}
    for kind, text in raw["kinds"].items():
        for word in tokens(text):
            stems.setdefault(stem(word), set()).add(kind)
    return KindWords(
        frozenset(raw["heads"]["last"]),
        _stems(" ".join(raw["heads"]["parting"])),
        _stems(" ".join(raw["heads"]["keys"])),
        {word: frozenset(kinds) for word, kinds in stems.items()},
        {kind: tuple(tokens(" ".join(listed))) for kind, listed in raw["endings"].items()},
        {kind: tuple(map(_stems, listed)) for kind, listed in raw["signs"].items()},
        {kind: _stems(" ".join(listed)) for kind, listed in raw["generic"].items()},
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, tokens(text)))


def kinds_of_word(word: str) -> Kinds:
    """Return the kinds of what a stem means, by the lists or, if it is compound, by its ending."""
    words = kind_words()
    if word in words.stems:
        return words.stems[word]
    return frozenset(
        kind for kind, endings in words.endings.items() if len(word) > 5 and word.endswith(endings)
    )


def head_of(text: str, language: str = "") -> str:
    """Return the stem of the word that says what a name is: "site" of "launch site".

    >>> head_of("place of birth"), head_of("sitio de lanzamiento", "es"), head_of("city_name")
    ('place', 'sitio', 'city')
    """
    words = kind_words()
    stems = [stem(word) for word in tokens(text) if not word[0].isdigit()]
    while stems and stems[-1] in words.parting:  # "located in"
        stems.pop()
    opening = next((at for at, word in enumerate(stems) if at and word in words.parting), None)
    stems = stems[:opening]
    plain = [word for word in stems if word not in words.keys and word not in words.parting]
    stems = plain or stems
    if not stems:
        return ""
    return stems[-1] if language in words.last else stems[0]


def kinds_of_names(names: Iterable[tuple[str, str]]) -> Kinds:
    """Return the kinds that (name, language) pairs tell of."""
    return frozenset().union(*(kinds_of_word(head_of(text, code)) for text, code in names))


def signs_in(stems: frozenset[str]) -> Kinds:
    """Return the kinds of things that have a predicate with some words in its names."""
    signs = kind_words().signs
    return frozenset(kind for kind, listed in signs.items() if any(one <= stems for one in listed))
