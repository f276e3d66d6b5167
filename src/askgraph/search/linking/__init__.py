"""Words linked; a question as tokens with their places, its language, its numbers and its dates.

Its form is what is left of it: operators and function words in their order.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import islice

from rapidfuzz.distance import OSA, Indel
from rapidfuzz.process import extractOne

from askgraph.index import folded, stem
from askgraph.search.linking.quantities import Quantity, days_from, quantities
from askgraph.search.linking.word_lists import (
    Measure,
    Phrase,
    WordList,
    detected_language,
    shared_words,
    word_list,
)

_POWER = r"(?<![\w.,])\d+(?:\.\d+)?[eE][+-]?\d+(?![\w-])"
_DOTTED = r"(?<!\w)(?:[A-Z]\.){2,}(?:[A-Z](?!\w))?"
_WORD = re.compile(rf"{_POWER}|{_DOTTED}|[^\W_]+(?:[.,]\d+)*", re.UNICODE)
_PARTS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+", re.UNICODE)
_QUOTED = re.compile(  # none goes beyond the next mark of its kind, so that it ends soon
    r"\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|(?<!\w)['‘]([^'‘’]+)['’](?!\w)"
)
_MOST_TOKENS = 120
_SENTENCE_ENDS = ".?!;"


@dataclass(frozen=True)
class Token:
    """A word or number of the question; `quote` numbers the quotation that it stands in."""

    text: str
    folded: str
    stem: str
    start: int
    end: int
    quote: int | None = None

    @property
    def capital(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.text[:1].isupper()


@dataclass(frozen=True)
class Reading:
    """A question as read: at most 120 tokens; `cut` says that there were more.

    `abbreviations` are tokens in capitals that name something: US and WHO, not the pronouns.
    """

    text: str
    tokens: tuple[Token, ...]
    words: WordList
    quantities: tuple[Quantity, ...]
    genitives: frozenset[int] = frozenset()
    cut: bool = False
    abbreviations: frozenset[int] = frozenset()

    @property
    def language(self) -> str:
        """The language of the word lists used."""
        return self.words.language

    @cached_property
    def folded(self) -> Phrase:
        """Its words, folded."""
        return tuple(token.folded for token in self.tokens)

    @cached_property
    def again(self) -> frozenset[int]:
        """The nouns that only point back to where they were named: "this city"."""
        stems, these = [token.stem for token in self.tokens], self.words.agreement["this"]
        after = (at + 1 for at, word in enumerate(self.folded[:-1]) if word in these)
        return frozenset(at for at in after if stems[at] in stems[: at - 1])

    @cached_property
    def aside(self) -> range:
        """The last words, if they only say how to show the answer: "on a map"."""
        count = len(self.tokens)
        for phrase in self.words.following["on_map"]:
            if len(phrase) < count and self.folded[-len(phrase) :] == phrase:
                return range(count - len(phrase), count)
        return range(0)

    @cached_property
    def idle(self) -> frozenset[int]:
        """The words of phrases that say nothing: "so far"."""
        return frozenset(
            position
            for phrase in self.words.idle
            for at in range(len(self.tokens))
            if self.says(phrase, at)
            for position in range(at, at + len(phrase))
        )

    @property
    def wants_map(self) -> bool:
        """Whether it asks for a map, or where something is."""
        return bool(self.aside) or any(self.says(one, 0) for one in self.words.asks["place"])

    def says(self, phrase: Phrase, at: int) -> bool:
        """Whether the words of a phrase stand at a token."""
        if self.folded[at : at + len(phrase)] != phrase:
            return False
        return self.abbreviations.isdisjoint(range(at, at + len(phrase)))

    def is_percent(self, quantity: Quantity) -> bool:
        """Whether a number is one of percent, by the word or the sign after it."""
        rest = self.text[self.tokens[quantity.last].end :].lstrip()
        percent = self.words.clauses["percent"]
        return rest.startswith("%") or not percent.isdisjoint(self.folded[quantity.last + 1 :][:1])

    def parted(self, first: int, last: int) -> bool:
        """Whether a sentence ends between two tokens."""
        between = self.text[self.tokens[first].end : self.tokens[last].start]
        return any(mark in between for mark in _SENTENCE_ENDS)

    def is_stop(self, at: int) -> bool:
        """Whether a token says nothing: function words but quoted ones, "this X", "so far"."""
        token = self.tokens[at]
        if token.quote is not None or at in self.abbreviations:
            return False
        if at in self.again or at in self.idle or at in self.aside:
            return True
        full = self.words.full
        return token.folded in self.words.stop and not (full and token.text.lower() in full)

    def on(self, today: float) -> "Reading":
        """Return it as read on a day (days from 1970-01-01): last year has days then."""
        if all(quantity.relative is None for quantity in self.quantities):
            return self
        known = tuple(
            replace(one, days=days_from(one.relative, today)) if one.relative else one
            for one in self.quantities
        )
        return replace(self, quantities=known)


def bits(positions: Iterable[int]) -> int:
    """Return positions of tokens, each at most once, as bits."""
    return sum(1 << at for at in positions)


def read(text: str, language: str | None = None) -> Reading:
    """Read a question; the language is detected by its function words if none is given."""
    quotes = [match.span() for match in _QUOTED.finditer(text)]
    genitive = _genitive()
    plain = genitive.sub("  ", text)
    parts = (
        (match.start(), part) for match in _WORD.finditer(plain) for part in _parts(match.group())
    )
    found = list(islice(parts, _MOST_TOKENS + 1))
    tokens = tuple(
        Token(
            part.group(),
            folded(_undotted(part.group())),
            stem(folded(_undotted(part.group()))),
            part.start() + start,
            part.end() + start,
            _quote_of(part.start() + start, quotes),
        )
        for start, part in found[:_MOST_TOKENS]
    )
    code = (language or "").split("-")[0].lower()
    words = word_list(code or detected_language([token.folded for token in tokens]))
    tokens = tuple(part for token in tokens for part in _ranked(token, words))
    words_said = [token.folded for token in tokens]
    tokens = tuple(_meant(token, words) for token in tokens)
    genitives = {match.start() for match in genitive.finditer(text)}
    return Reading(
        text,
        tokens,
        words,
        quantities(words_said, words, text, [token.start for token in tokens]),
        frozenset(at for at, token in enumerate(tokens) if token.end in genitives),
        cut=len(found) > _MOST_TOKENS,
    )


_MISSPELT = 6
"""A word of so many letters, or one more, may be an operator's with a letter wrong."""


def _meant(token: Token, words: WordList) -> Token:
    """A word of the question, or the operator's word that it is but for one letter: "minumum"."""
    said = token.folded
    if len(said) < _MISSPELT or token.capital or token.quote is not None or not said.isalpha():
        return token
    if said in words.spelt:
        return token
    among = [one for one in words.long_operators if one[0] == said[0]]
    found = extractOne(said, among, scorer=OSA.distance, score_cutoff=1)
    if found is None or stem(said) == stem(found[0]):
        return token
    return replace(token, folded=found[0], stem=stem(found[0]))


def _ranked(token: Token, words: WordList) -> Iterator[Token]:
    """A word; of a superlative with its place, as in "zweitgrößte", both parts."""
    said = token.folded
    for place in words.joined_ordinals:
        if said.startswith(place) and said[len(place) :] in words.adjectives:
            cut = token.start + len(place)
            parts = (place, token.start, cut), (said[len(place) :], cut, token.end)
            for part, start, end in parts:
                text = token.text[start - token.start : end - token.start]
                yield replace(token, text=text, folded=part, stem=stem(part), start=start, end=end)
            return
    yield token


def _undotted(word: str) -> str:
    """A word without the points of an abbreviation: "U.S." is "US"."""
    return word.replace(".", "") if word[0].isalpha() and "." in word else word


def _parts(word: str) -> list[re.Match[str]]:
    """Split letters from digits, but keep ordinals ("3rd") and decades ("1990s") whole."""
    whole = _bent_number().fullmatch(word) or re.fullmatch(_DOTTED, word)
    return [whole] if whole else list(_PARTS.finditer(word))


@cache
def _bent_number() -> re.Pattern[str]:
    endings = shared_words().endings
    bent = "|".join((*endings["ordinals"], *endings["decades"]))
    return re.compile(rf"\d+(?:{bent}|(?:\.\d+)?[eE][+-]?\d+)")


@cache
def _genitive() -> re.Pattern[str]:
    return re.compile(rf"['’]{shared_words().endings['possessor'][0]}\b")


def _quote_of(start: int, quotes: list[tuple[int, int]]) -> int | None:
    for number, (first, last) in enumerate(quotes):
        if first <= start < last:
            return number
    return None


_THING, _NUMERAL, _QUOTATION = "_", "<number>", "<quoted>"


@lru_cache(maxsize=65_536)
def question_form(text: str, language: str | None = None) -> tuple[str, ...]:
    """Return what is left of a question when the things that it names are taken away.

    Words of an operator become its name in capitals, comparatives and superlatives their degree
    and direction, numbers and quotations one placeholder each, and a run of other content words
    `_`. Function words stay.

    >>> question_form("How many moons are larger than Europa?")
    ('COUNT', '_', 'are', 'MORE_THAN', '_')
    """
    reading = read(text, language)
    found: list[str] = []
    at = 0
    while at < len(reading.tokens):
        piece, length = _piece(reading, at)
        if piece not in (_THING, _QUOTATION) or found[-1:] != [piece]:
            found.append(piece)
        at += length
    return tuple(found)


def form_likeness(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return how alike two forms are, between 0 and 1.

    Half of it is the share of the pieces that stand in both in the same order, half the share of
    operators and placeholders for values that both have, however placed.
    """
    mine, theirs = _told_operators(one), _told_operators(other)
    all_, both = (mine | theirs).total(), (mine & theirs).total()
    shared = both / all_ if all_ else 1.0
    return (Indel.normalized_similarity(one, other) + shared) / 2


def _piece(reading: Reading, at: int) -> tuple[str, int]:
    """What stands for the words from a place on, and how many these are."""
    token = reading.tokens[at]
    if token.quote is not None:
        return _QUOTATION, 1
    operator, length = _operator(reading, at)
    degree = _degree(reading, at)
    if degree is not None and len(degree.phrase) >= length:
        return degree.degree.upper() + ("+" if degree.up else "-"), len(degree.phrase)
    if operator:
        return operator.upper(), length
    if token.text[0].isdigit():
        return _NUMERAL, 1
    return (token.folded if reading.is_stop(at) else _THING), 1


def _operator(reading: Reading, at: int) -> tuple[str, int]:
    for phrase, name in reading.words.phrases.get(reading.tokens[at].folded, ()):
        opens = name != "exists" or not at  # "is" and "did" ask for yes or no at the start only
        if opens and reading.says(phrase, at):
            return name, len(phrase)
    return "", 0


def _degree(reading: Reading, at: int) -> Measure | None:
    for measure in reading.words.adjectives.get(reading.tokens[at].folded, ()):
        if measure.degree != "plain" and reading.says(measure.phrase, at):
            return measure
    return None


def _told_operators(form: tuple[str, ...]) -> Counter[str]:
    return Counter(piece for piece in form if piece.isupper() or piece in (_NUMERAL, _QUOTATION))
