"""Correct misspelt words of a question before its operators are read and its words are linked.

A word is misspelt if neither the graph's names, the word lists nor the table of word vectors have
it in any form. It is replaced by the best word that is one letter off (Damerau, "A technique for
computer detection and correction of spelling errors", 1964): a function word of the language or a
word of the graph, else a frequent word of the table. Quotations, numbers and names in capitals
stay, and so does a word that is one letter off a name in the graph, which is linked as it is.
"""

from collections import Counter
from dataclasses import replace
from itertools import chain
from string import ascii_lowercase
from typing import Final

from askgraph.index.names import NameIndex, stem_word
from askgraph.search.link.word_vectors import is_unknown_word, weigh_known_words
from askgraph.search.tokenize import QuestionToken, TokenizedQuestion, find_quantities
from askgraph.search.tokenize.word_lists import LANGUAGES_WITH_CAPITAL_NOUNS

_MIN_LENGTH, _MIN_CONTENT_LENGTH = 4, 5
"""Letters of a word that is corrected; shorter content words are often abbreviations."""
_MAX_QUESTION_WORD_LENGTH: Final = 12  # no question word is longer
_MAX_LENGTH: Final = 30  # a longer word has too many words a letter off
_MAX_OTHER_COST: Final = 1.03  # maximum cost of a word that neither the graph nor the lists have
_GRAPH_WORD_BONUS, _FUNCTION_WORD_BONUS = 0.3, 0.2
_OTHER_LETTER_PENALTY, _FIRST_LETTER_PENALTY = 0.15, 0.3
"""Swapped, missing and doubled letters are likelier; the first letter is mostly right."""


def correct_spelling(reading: TokenizedQuestion, index: NameIndex) -> TokenizedQuestion:
    """Return a question with its misspelt words corrected; the text of each token stays."""
    tokens = tuple(_correct(token, at, reading, index) for at, token in enumerate(reading.tokens))
    if tokens == reading.tokens:
        return reading
    words, starts = [token.folded for token in tokens], [token.start for token in tokens]
    quantities = find_quantities(words, reading.word_list, reading.text, starts)
    return replace(reading, tokens=tokens, quantities=quantities)


def _correct(
    token: QuestionToken, at: int, reading: TokenizedQuestion, index: NameIndex
) -> QuestionToken:
    word, function_words = token.folded, reading.word_list.function_words
    if at == 0 and token.quote is None and word not in function_words:
        question_word = _find_question_word(word, reading)
        if question_word and index.find_word(token.stem) is None:
            return replace(token, folded=question_word, stem=stem_word(question_word))
    has_capital_nouns = reading.language in LANGUAGES_WITH_CAPITAL_NOUNS
    if (
        not _MIN_LENGTH <= len(word) <= _MAX_LENGTH
        or token.quote is not None
        or not (word.isascii() and word.isalpha())
        or (token.is_capitalized and at > 0 and not has_capital_nouns)
        or word in function_words
        or index.find_word(token.stem) is not None
        or not is_unknown_word(word, compounds=has_capital_nouns)
    ):
        return token
    near_words = _list_near_words(word)
    weights = weigh_known_words(list(near_words))
    in_graph = {other for other in near_words if index.find_word(stem_word(other)) is not None}
    listed, costs = function_words | in_graph, dict[str, float]()
    for other, weight in weights.items():
        cost = weight + near_words[other]
        is_likely = other in function_words and (
            len(other) > len(word) or Counter(other) == Counter(word)
        )
        if len(word) >= _MIN_CONTENT_LENGTH:
            is_likely = other in listed or cost < _MAX_OTHER_COST
        if is_likely:
            bonus = _GRAPH_WORD_BONUS * (other in in_graph)
            costs[other] = cost - bonus - _FUNCTION_WORD_BONUS * (other in function_words)
    best = min(costs, key=lambda other: (costs[other], other), default=None)
    if best is None or (best not in listed and in_graph - weights.keys()):
        return token
    return replace(token, folded=best, stem=stem_word(best))


def _find_question_word(word: str, reading: TokenizedQuestion) -> str | None:
    """Return the question word that a word misspells, if exactly one fits: "wich"."""
    lists = reading.word_list
    if len(word) > _MAX_QUESTION_WORD_LENGTH:
        return None
    phrases = (*lists.request_phrases["which"], *chain(*lists.question_words.values()))
    matches = {phrase[0] for phrase in phrases} & _list_near_words(word).keys()
    matches = {x for x in matches if x[0] == word[0] and Counter(word) <= Counter(x)}
    return matches.pop() if len(matches) == 1 else None


def _list_near_words(word: str) -> dict[str, float]:
    """Return the strings one letter off, each with a penalty for how unlikely that slip is."""
    near_words: dict[str, float] = {}
    for at in range(len(word) + 1):
        start, end, first = word[:at], word[at:], _FIRST_LETTER_PENALTY * (at == 0)
        swapped = [start + end[1] + end[0] + end[2:]] if len(end) > 1 else []
        for other in (start + end[1:], *swapped, *(start + x + end for x in ascii_lowercase)):
            near_words[other] = min(near_words.get(other, first), first)
        for other in (start + x + end[1:] for x in ascii_lowercase if end):
            near_words.setdefault(other, first + _OTHER_LETTER_PENALTY)
    near_words.pop(word, None)
    return near_words
