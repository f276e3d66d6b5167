"""The words of a name and of a search, alike for both; no name is left without one."""

import re
from collections.abc import Iterator

from askgraph.index.tokens import folded, tokens

__all__ = ["search_words", "spelling"]

# Scripts written without spaces: each sign is a word, so that any part of a name is found.
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def search_words(text: str) -> list[str]:
    """Return the words of a text, folded; a text of signs alone is one word.

    >>> search_words("Müller-Straße 7")
    ['muller', 'strasse', '7']
    >>> search_words("東京 Tower")
    ['東', '京', 'tower']
    >>> search_words("+ +")
    ['++']
    """
    found = list(tokens(text))
    if not text.isascii() and _UNSPACED.search(text):
        found = [part for word in found for part in _parts(word)]
    if not found:
        signs = "".join(folded(text).split())
        return [signs] if signs else []
    return found


def spelling(text: str) -> str:
    """Return a text's words, folded, one space between them and around."""
    return f" {' '.join(search_words(text))} "


def _parts(word: str) -> Iterator[str]:
    last = 0
    for sign in _UNSPACED.finditer(word):
        if sign.start() > last:
            yield word[last : sign.start()]
        yield sign[0]
        last = sign.end()
    if last < len(word):
        yield word[last:]
