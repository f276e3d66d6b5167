"""Texts that a question asks a name to hold, to start or to end with: quoted, or a letter or word.

"Contains" alone may be any relation; before a quotation or "the letter" it is about a text.
"""

from askgraph.search.linking.text import Reading

_BETWEEN = 4
"""So many tokens stand at most between "contains" and its text: "the french word"."""


def held_text(reading: Reading, operator: range) -> range | None:
    """Return the tokens of the text that the words of an operator are about, if there is one.

    That is a quotation that follows, else what follows "the letter" or "the word", else a name or
    a number, else a quotation right before, as if the verb comes last.
    """
    return _text_after(reading, operator[-1]) or _text_before(reading, operator[0])


def _text_before(reading: Reading, first: int) -> range | None:
    at = first - 1
    if at < 0 or reading.tokens[at].quote is None:
        return None
    while at > 0 and reading.tokens[at - 1].quote == reading.tokens[first - 1].quote:
        at -= 1
    return range(at, first)


def _text_after(reading: Reading, last: int) -> range | None:
    tokens, kinds = reading.tokens, reading.words.texts["kinds"]
    said = tokens[last].folded in kinds
    for at in range(last + 1, min(last + 2 + _BETWEEN, len(tokens))):
        token = tokens[at]
        if token.quote is not None:
            return _quoted(reading, at)
        if token.folded in kinds:
            said = True
        elif said and (len(token.folded) == 1 or not reading.is_stop(at)):
            return _name(reading, at)
        elif not said and not reading.is_stop(at):
            named = token.capital or len(token.folded) == 1 or token.folded.isdigit()
            return _name(reading, at) if named else None
    return None


def is_about_text(reading: Reading, at: int, *, having: bool) -> bool:
    """Whether a word like "contains" at a token is about a text.

    One like "has" is only if "the letter" or "the word" follows, or "in its name"; one like
    "contains" if a word for "name" stands before it, too.
    """
    held = held_text(reading, range(at, at + 1))
    if held is None:
        return False
    kinds = reading.words.texts["kinds"]
    if any(reading.tokens[one].folded in kinds for one in range(at + 1, held.start)):
        return True
    quoted = reading.tokens[held.start].quote is not None
    if not having and at and reading.tokens[at - 1].stem in reading.words.naming:
        return True
    return quoted and (not having or holder_of(reading, held) is not None)


def holder_of(reading: Reading, held: range) -> int | None:
    """Return the token before the noun that holds a text, if "in its" or "in part of their" does.

    That is the last token of "in their" after the text.
    """
    for phrase in reading.words.text_holders:
        if reading.says(phrase, held.stop):
            return held.stop + len(phrase) - 1
    return None


def _quoted(reading: Reading, at: int) -> range:
    number, stop = reading.tokens[at].quote, at
    while stop < len(reading.tokens) and reading.tokens[stop].quote == number:
        stop += 1
    return range(at, stop)


def _name(reading: Reading, at: int) -> range:
    """A word, with those in capitals that follow it at once."""
    tokens, stop = reading.tokens, at + 1
    while (
        tokens[at].capital
        and len(tokens[at].folded) > 1
        and stop < len(tokens)
        and tokens[stop].capital
        and reading.text[tokens[stop - 1].end : tokens[stop].start] == " "
    ):
        stop += 1
    return range(at, stop)
