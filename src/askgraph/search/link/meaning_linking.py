"""Link words that spelling, stems and lexicon leave unexplained to names of similar meaning.

The word vectors of the package compare one to three adjacent words with the names of classes,
predicates and, if they are few, values; those of a German, Spanish or French question also with the
names of things, which are often English. A link by meaning always has a lower quality than the same
name spelled.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from askgraph.index.names import ItemKind, NameIndex, split_stems
from askgraph.search.link import Link, LinkedQuestion, add_links, find_free_tokens
from askgraph.search.link.lexicon import LANGUAGE
from askgraph.search.link.word_vectors import get_name_vectors
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.search.tokenize.word_lists import LANGUAGES_WITH_CAPITAL_NOUNS, translate_word

_MIN_COSINES: Final = {
    ItemKind.ENTITY: 0.75,
    ItemKind.CLASS: 0.55,
    ItemKind.PREDICATE: 0.55,
    ItemKind.VALUE: 0.7,
}
"""Minimum cosine of words and a name, by kind."""
_MIN_COSINE_RATIO: Final = 0.85  # a name is linked if it has so much of the nearest one's cosine
_MAX_LINKS_PER_STRETCH: Final = 4
_MAX_WORDS: Final = 3  # words that are compared as one
_SCORE_BONUS, _MAX_SCORE = 0.1, 0.74
"""What turns a cosine into a quality, and the maximum: below a synonym of the word lists."""
_MIN_EXPLAINED_SHARE: Final = 0.85
"""Minimum share of a thing's or value's name for a link to explain its words."""
_MIN_WORD_QUALITY: Final = 0.75  # the quality from which on a link explains a word: a synonym's


def link_by_meaning(linked: LinkedQuestion, index: NameIndex) -> LinkedQuestion:
    """Return a question with links by meaning of its unexplained words."""
    links: dict[Link, float] = {}
    reading = linked.reading
    for positions in _list_stretches(linked):
        is_named = any(_is_in_name(reading, at) for at in positions)
        sources = [] if is_named else [get_name_vectors(index)]
        words, least = [reading.tokens[at].folded for at in positions], min(_MIN_COSINES.values())
        translations = translate_word(words[0], reading.language) if len(words) == 1 else ()
        if reading.language != LANGUAGE and not translations:
            sources.append(get_name_vectors(index, is_of_things=True))
        nearest = sorted(
            (
                item
                for source in sources
                for phrase in (words, *((word,) for word in translations))
                for item in source.find_nearest(
                    phrase, limit=_MAX_LINKS_PER_STRETCH, at_least=least
                )
            ),
            key=lambda item: -item[1],
        )
        stems = {reading.tokens[at].stem for at in positions}
        is_faint = tuple(words) in reading.word_list.faint_phrases
        for name, cosine in nearest:
            # A value with one of the words was found by spelling, if it is meant.
            has_word = not stems.isdisjoint(split_stems(name.text))
            if name.kind is ItemKind.VALUE and (has_word or is_faint):
                continue
            if cosine >= max(_MIN_COSINES[name.kind], _MIN_COSINE_RATIO * nearest[0][1]):
                quality, count = min(_MAX_SCORE, cosine + _SCORE_BONUS), len(positions)
                link = Link(
                    name.kind,
                    name.target,
                    name.text,
                    quality,
                    tuple(positions),
                    (quality,) * count,
                    name.preferred,
                    how=("near",) * count,
                )
                links[link] = cosine
    # A word that brings the others no nearer says something else: "horror" of "horror movies".
    useful_links = [
        link
        for link, cosine in links.items()
        if not any(
            part.kind is link.kind
            and part.mask & link.mask == part.mask != link.mask
            and part_cosine >= cosine
            for part, part_cosine in links.items()
        )
    ]
    return add_links(linked, useful_links) if links else linked


def _list_stretches(linked: LinkedQuestion) -> Iterator[Sequence[int]]:
    """Yield the positions of adjacent words that no link explains."""
    reading = linked.reading
    unexplained, owner = find_unexplained(linked), reading.word_list.clauses["owner"]
    may_join = reading.language != LANGUAGE  # "detectores de humo"
    for first in range(len(unexplained)):
        yield unexplained[first : first + 1]
        for last in range(first + 1, min(first + _MAX_WORDS, len(unexplained))):
            between = reading.folded_words[unexplained[last - 1] + 1 : unexplained[last]]
            if between and not (may_join and len(between) == 1 and between[0] in owner):
                break
            yield unexplained[first : last + 1]


def find_unexplained(linked: LinkedQuestion) -> list[int]:
    """Return the tokens that no link explains."""
    reading = linked.reading
    explained = {
        at
        for link in linked.links
        if link.kind in (ItemKind.CLASS, ItemKind.PREDICATE)
        or link.similarity >= _MIN_EXPLAINED_SHARE
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality >= _MIN_WORD_QUALITY
    }
    words, clauses = (*reading.folded_words, "", ""), reading.word_list.clauses
    kinds = {  # "per field", but not "each type of pet"
        item.last + 1
        for item in detect_operators(reading).get_operators("each")
        if words[item.last + 1] in clauses["kinds"] and words[item.last + 2] not in clauses["owner"]
    }
    return [
        at
        for at in sorted(find_free_tokens(reading) - explained)
        if reading.tokens[at].text[0].isalpha()
        and (reading.language != LANGUAGE or not _is_in_name(reading, at))
        and reading.tokens[at].quote is None
        and reading.tokens[at].stem not in reading.word_list.naming
        and not reading.is_generic_noun(at)
        and at not in kinds
    ]


def _is_in_name(reading: TokenizedQuestion, at: int) -> bool:
    """Return whether capitals mark a word as part of a name: what it means is no clue to others."""
    return (
        at > 0
        and reading.tokens[at].is_capitalized
        and reading.language not in LANGUAGES_WITH_CAPITAL_NOUNS
        and not all(token.is_capitalized for token in reading.tokens)
    )
