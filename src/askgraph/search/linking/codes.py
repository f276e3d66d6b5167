"""Codes that data write for words of a question: F and M, or their words, for female and male."""

from collections.abc import Iterator

import numpy as np

from askgraph.index.names import Kind, Name, NameIndex, name_tokens
from askgraph.search.linking.text import Reading
from askgraph.search.linking.word_lists import Code, shared_words

_SPELLINGS = 20
"""So many texts at most are one code, written otherwise."""


def coded(reading: Reading, index: NameIndex) -> Iterator[tuple[int, Name, str]]:
    """Yield the texts of a graph that are codes for words of a question.

    With each comes the word's token, and the table of the code.
    """
    for at, token in enumerate(reading.tokens):
        if token.quote is None:
            for code in shared_words().codes:
                if token.stem in code.said:
                    yield from ((at, name, code.table) for name in _names(code, index))


def _names(code: Code, index: NameIndex) -> Iterator[Name]:
    for held in sorted(code.held):
        word = index.word_id(held)
        if word is None:
            continue
        bearing = index.bearing(word)
        values = bearing[index.kinds[bearing] == Kind.VALUE]
        for number in values[np.argsort(index.lengths[values])][:_SPELLINGS].tolist():
            name = index.name(number)
            if name_tokens(name.text) == (held,):
                yield name
