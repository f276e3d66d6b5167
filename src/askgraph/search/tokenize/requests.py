"""Find what a question asks for after words that only explain why, or ask politely.

    I'm planning a trip, so which moons have water?      which moons have water?
    To see how busy it was: how many launches were there? how many launches were there?
    Could you please tell me which rockets flew twice?    which rockets flew twice?
    Rockets, how many are there?                          how many rockets are there?

A clause says why if it speaks of the speaker, or of a purpose by an infinitive, and a complete
request follows it: one that opens with a question word or an imperative, names a thing itself, and
does not refer back. A clause with a number or a quotation narrows the request; whether it has a
name is for the graph to say (`askgraph.search.pipeline`).
"""

from collections.abc import Iterator
from dataclasses import replace

from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.search.tokenize.word_lists import Phrase

_STRONG_MARKS = ":.?!;–—"  # marks after which a request may open without a further word
_MIN_PURPOSE_WORDS = 4  # so many words has a purpose at least: not "to Mars, which …"
_MAX_WORDS_BEFORE_QUESTION = 3  # so many words may open a request: "in the end, on which …"
_MAX_TOPIC_WORDS = 8  # so many words name the topic before a question at most


def move_topic(reading: TokenizedQuestion) -> TokenizedQuestion:
    """Return the question with the topic before "how many" after it, if no noun follows there."""
    phrases, lists = reading.word_list.request_phrases, reading.word_list
    counts = lists.operators["count"]
    starts = (at for at in _iterate_boundaries(reading) if _match(reading, at, phrases["which"]))
    start = next(starts, 0)
    end = start + _match(reading, start, counts)
    closing = (*phrases["self"], *phrases["purpose"], *phrases["which"], *phrases["asking"])
    if (
        not 0 < start <= _MAX_TOPIC_WORDS
        or start == end
        or "," not in reading.get_gap(start - 1, start)
        or reading.folded_words[0] in lists.clauses["restrict"]
        or any(_match(reading, at, closing) for at in range(start))
        or all(map(reading.is_stop, range(start)))
        or (end < len(reading.tokens) and not reading.is_stop(end))
        or _match(reading, end, lists.follow_up_phrases["of_them"])
    ):
        return reading
    text, tokens = reading.text, reading.tokens
    topic = text[: text.rindex(",", 0, tokens[start].start)].strip()
    count = text[tokens[start].start : tokens[end - 1].end]
    return tokenize(f"{count} {topic}{text[tokens[end - 1].end :]}", reading.language)


def find_request_start(reading: TokenizedQuestion) -> int:
    """Return the first token of the request; 0 if all words belong to it."""
    greeting = _match(reading, 0, reading.word_list.request_phrases["greeting"])
    start = _skip_polite_words(reading, greeting)
    start = 0 if start == greeting and not _opens_question(reading, start) else start
    for boundary in _iterate_boundaries(reading):
        if boundary > start and _opens_question(reading, boundary):
            request = _skip_polite_words(reading, boundary)
            if _can_be_reason(reading, boundary) and _is_complete(reading, request):
                return request
            if request == boundary and "," not in reading.get_gap(boundary - 1, boundary):
                return start  # this is a question itself, but not a complete one
    return start


def find_request_end(reading: TokenizedQuestion) -> int:
    """Return the token after the request; then the speaker only adds: "…? I always forget."."""
    phrases = reading.word_list.request_phrases
    for at in _iterate_boundaries(reading):
        after = range(at, len(reading.tokens))
        if (
            _match(reading, at, (*phrases["self"], *phrases["asking"]))
            and not all(map(reading.is_stop, range(at)))
            and not any(_match(reading, n, phrases["which"]) for n in after)
            and not any(reading.tokens[n].quote is not None for n in after)
            and not any(quantity.first >= at for quantity in reading.quantities)
        ):
            return at
    return len(reading.tokens)


def is_occasion(reading: TokenizedQuestion) -> bool:
    """Return whether the question opens with what the answer is for: "for the brochure"."""
    return bool(_match(reading, 0, reading.word_list.request_phrases["occasion"]))


def drop_words_after(reading: TokenizedQuestion, end: int) -> TokenizedQuestion:
    """Return the question without its tokens from one on."""
    return replace(
        reading,
        tokens=reading.tokens[:end],
        quantities=tuple(item for item in reading.quantities if item.last < end),
        genitives=frozenset(at for at in reading.genitives if at < end),
        abbreviations=frozenset(at for at in reading.abbreviations if at < end),
    )


def drop_words_before(reading: TokenizedQuestion, start: int) -> TokenizedQuestion:
    """Return the question without its first tokens."""
    quantities = (item for item in reading.quantities if item.first >= start)
    return replace(
        reading,
        tokens=reading.tokens[start:],
        quantities=tuple(
            replace(item, first=item.first - start, last=item.last - start) for item in quantities
        ),
        genitives=frozenset(at - start for at in reading.genitives if at >= start),
        abbreviations=frozenset(at - start for at in reading.abbreviations if at >= start),
    )


def _skip_polite_words(reading: TokenizedQuestion, start: int) -> int:
    """Return the token after "could you please tell me"; the same token without such words."""
    # The verb belongs to them only if a question follows it: "could you tell me which", but "could
    # you give me the names".
    phrases = reading.word_list.request_phrases
    wanting = start + _match(reading, start, phrases["wanting"])
    if wanting > start and _opens_question(reading, wanting):
        return wanting
    at = start + _match(reading, start, phrases["asking"])
    if at == start:
        return start
    while length := _match(reading, at, phrases["kindly"]):
        at += length
    after_verb = at + _match(reading, at, phrases["telling"])
    while length := _match(reading, after_verb, phrases["kindly"]):
        after_verb += length
    start = after_verb if after_verb > at and _opens_question(reading, after_verb) else at
    return start if start < len(reading.tokens) else 0


def _iterate_boundaries(reading: TokenizedQuestion) -> Iterator[int]:
    """Yield the first token of each part that a mark or a word such as "so" separates."""
    for at in range(1, len(reading.tokens)):
        gap = reading.get_gap(at - 1, at)
        length = _match(reading, at, reading.word_list.request_phrases["so"])
        if length and "," in gap and at + length < len(reading.tokens):
            yield at + length
        elif any(mark in gap for mark in _STRONG_MARKS) or " - " in gap or "," in gap:
            yield at


def _can_be_reason(reading: TokenizedQuestion, end: int) -> bool:
    """Return whether the words before a token may only explain why something is asked."""
    words, phrases = reading.folded_words[:end], reading.word_list.request_phrases
    if any(reading.tokens[at].quote is not None for at in range(end)):
        return False
    if any(character.isdigit() for word in words for character in word):
        return False
    if any(item.first < end for item in reading.quantities if not item.is_spelled):
        return False
    has_strong_end = "," not in reading.get_gap(end - 1, end)
    if _match(reading, 0, phrases["self"]):
        return has_strong_end or all(map(reading.is_stop, range(end)))
    if is_occasion(reading):
        return ":" in reading.get_gap(end - 1, end)
    length = _match(reading, 0, phrases["purpose"])
    return bool(length) and end >= _MIN_PURPOSE_WORDS and _has_infinitive(reading, length, end)


def _has_infinitive(reading: TokenizedQuestion, start: int, end: int) -> bool:
    """Return whether a purpose has its verb: no article opens it, and a word or an ending tells."""
    phrases, times = reading.word_list.request_phrases, reading.word_list.time_phrases
    if _match(reading, start, (*times["the"], *times["one"])):
        return False  # "to the planets, which …"
    if phrases["infinitive_word"]:
        return any(_match(reading, at, phrases["infinitive_word"]) for at in range(start, end))
    endings = tuple(phrase[0] for phrase in phrases["infinitive_endings"])
    return not endings or reading.folded_words[start].endswith(endings)


def _is_complete(reading: TokenizedQuestion, start: int) -> bool:
    """Return whether a request names what it is about, and refers to no word before it."""
    words, lists = reading.folded_words, reading.word_list
    verbs = lists.yes_or_no["being"] | lists.yes_or_no["doing"] | lists.text_words["has"]
    length = _match(reading, start, lists.request_phrases["choosing"])
    if length and verbs.intersection(words[start + length : start + length + 1]):
        return False  # "which have rings": what they are stands before
    content = [at for at in range(start, len(words)) if not reading.is_stop(at)]
    if not content:
        return False
    end = next(
        (
            at
            for at in range(content[0], len(words))
            if (
                at > 0
                and (
                    reading.has_sentence_break(at - 1, at)
                    or reading.folded_words[at] in reading.word_list.conjunctions
                )
            )
        ),
        len(words),
    )
    return not any(_refers_back(reading, at, content[0]) for at in range(start, end))


def _refers_back(reading: TokenizedQuestion, at: int, first_noun: int) -> bool:
    """Return whether a token is a word for what was named before: "it", "such", "each one"."""
    lists, words = reading.word_list, reading.folded_words
    keys = ("of_them", "them", "its")
    pronouns = (phrase for key in keys for phrase in lists.follow_up_phrases[key])
    if not _match(reading, at, (*pronouns, *lists.request_phrases["such"])):
        return False
    there_is = lists.request_phrases["there_is"]
    if _match(reading, at, there_is) or _match(reading, max(0, at - 1), there_is):
        return False
    is_relative = words[at] in lists.clauses["restrict"] and not reading.is_stop(at - 1)
    return not (at > first_noun and is_relative)  # "planets that have rings"


def _opens_question(reading: TokenizedQuestion, start: int) -> bool:
    """Return whether a question or an imperative opens at a token, or after a few small words."""
    lists = reading.word_list
    openings = (
        *lists.operators["each"],
        *lists.request_phrases["asking"],
        *lists.request_phrases["wanting"],
        *lists.follow_up_phrases["whole"],
    )
    if _match(reading, start, openings):
        return True
    before = lists.clauses["restrict"]
    for at in range(start + 1, min(start + _MAX_WORDS_BEFORE_QUESTION, len(reading.tokens))):
        if reading.folded_words[at - 1] not in before:
            return False
        if _match(reading, at, lists.request_phrases["which"]):
            return True
    return False


def _match(reading: TokenizedQuestion, at: int, phrases: tuple[Phrase, ...]) -> int:
    """Return the length of the longest phrase at a token; 0 if there is none."""
    return max((len(phrase) for phrase in phrases if reading.has_phrase_at(phrase, at)), default=0)
