"""Abbreviations that look like function words: US, IT and WHO in capitals are not pronouns."""

import re
from dataclasses import replace

from askgraph.index.names import NameIndex
from askgraph.search.linking.text import Reading, Token

_WORD = re.compile(r"[^\W\d_]+")
_ALIKE = 50
"""So many names that hold a word are looked at for how they write it."""


def with_abbreviations(reading: Reading, index: NameIndex) -> Reading:
    """Return a reading that knows which of its words in capitals are no function words.

    Such a word stands in capitals in a name of the graph, too; in a question all in capitals
    nothing can be told.
    """
    if reading.text.isupper():
        return reading
    found = (at for at, token in enumerate(reading.tokens) if _may_be_one(token, reading))
    named = frozenset(at for at in found if _is_named(reading.tokens[at], index))
    return replace(reading, abbreviations=named) if named else reading


def _may_be_one(token: Token, reading: Reading) -> bool:
    said = len(token.text) > 1 and token.text.isupper() and token.quote is None
    return said and token.folded in reading.words.stop


def _is_named(token: Token, index: NameIndex) -> bool:
    word = index.word_id(token.stem)
    names = () if word is None else index.bearing(word)[:_ALIKE].tolist()
    return any(token.text in _WORD.findall(index.name(at).text) for at in names)
