"""Question to links: which words may name which thing in the graph, and how well.

A word stands for itself and its plural; for what differs by a typing error of one letter; for a
longer or shorter word of the same root; for a synonym; for one word written as two, or two as
one; and, in names of predicates and classes, with the next one for an abbreviation ("stuid" for
"student id").
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from askgraph.graph.names import virtual_iri
from askgraph.index.names import Kind, Match, Name, NameIndex, rarity, stem, tokens
from askgraph.search.link.lexicon import (
    LANGUAGE,
    SCHEMA_ONLY,
    abbreviations,
    akin,
    coded,
    initialism,
    initials,
    is_name,
    of_countries,
    scales,
    schema_words,
    spelled_otherwise,
    with_abbreviations,
)
from askgraph.search.tokenize import Token, TokenizedQuestion, bits
from askgraph.search.tokenize.question_operators import (
    detect_operators,
)
from askgraph.search.tokenize.word_lists import Measure, shared_words

_AT_LEAST: Final = {Kind.ENTITY: 0.34, Kind.CLASS: 0.45, Kind.PREDICATE: 0.4, Kind.VALUE: 0.8}
"""The share of a name that words hold at least; of a value most, since there are so many."""
_FOUND: Final = 0.3  # the share at which the index is asked for names: below all of the above
_FOUND_SHORT: Final = 0.4  # the same for names that only abbreviations find
_BEST: Final = {Kind.ENTITY: 6, Kind.CLASS: 8, Kind.PREDICATE: 30, Kind.VALUE: 8}
"""Links kept for one stretch of words; predicates often share a name."""
_CLOSE: Final = 0.55  # a link is kept if it has so much of the best one's score on the same words
_AFTER: Final = 6
_UNLIKE: Final = 0.6
"""Within so many words its preposition follows on a verb; else its name fits so much less."""
_OTHER_NAME: Final = 0.95  # a name that is not the preferred one, as a factor
_WHOLE: Final = 0.9  # from this similarity on all of a name is there, but for a bent word
_BENT_WHOLE, _BENT_PART = 0.1, 0.4
"""What words in another form take from a whole name of a thing, and from a part of one."""
_CODED: Final = 0.9  # how well a word fits the code that data write for it
_ALL_WORDS: Final = 0.99  # the share of a name from which on none of its words is missing
_OWN_WORD: Final = 0.85
"""A part of a name needs one word of such quality: not all of them may be only akin."""
_THINGS = (Kind.ENTITY, Kind.VALUE)

_NOT_FOR: Final = {
    Kind.ENTITY: SCHEMA_ONLY,
    Kind.VALUE: SCHEMA_ONLY,
    Kind.CLASS: frozenset(("doer",)),
    Kind.PREDICATE: frozenset(("hyponym",)),
}
"""Ways of matching that do not hold for a kind: "taught" is no class of teachers."""

_EXACT, _JOINED, _TYPO, _SYNONYM, _SHORT = 1.0, 0.95, 0.8, 0.75, 0.8
"""The quality of a word itself, of words joined or parted, misspelt, akin and abbreviated."""
_INFLECTED: Final = 0.95  # the quality of a word with an ending of its language more or less
_RELATED: Final = 0.9
"""The quality of a word with the same long beginning, before it is marked down by the letter."""
_LONGER: Final = 0.8
"""The same if one word is the other with a few letters more, however short it is."""
_BY_LETTER: Final = 0.05  # what each letter takes that only one of two words of a root has
_FIRST_PART, _FIRST_PART_ASKED = 0.6, 0.7
"""The quality of a compound whose first part is the question's word, and the other way round."""
_ROOT = 5  # letters that words of one root share at least
_STEM = 4  # the same if one of them is no longer than that
_ENDING = 4  # letters of an ending at most
_MOSTLY: Final = 0.6  # the share of the longer word that two words of one root have more of
_LONGEST = 60  # a longer word is looked up only as it is


@dataclass(frozen=True)
class Link:
    """A reading of some words: `positions` are their tokens, `quality` how well each fits.

    `similarity` is the share of the name that the words hold; `target` is an IRI, or a literal as
    N-Triples text. A literal that is a code for the words has the `code`'s table, or the
    predicate that explains it. `how` says of each word how it came to stand for the name's; see
    `Variant`.
    """

    kind: Kind
    target: str
    name: str
    similarity: float
    positions: tuple[int, ...]
    qualities: tuple[float, ...]
    preferred: bool = True
    code: str = ""
    how: tuple[str, ...] = ()

    @cached_property
    def quality(self) -> float:
        """The mean quality of its words."""
        return sum(self.qualities) / len(self.qualities)

    @property
    def is_whole(self) -> bool:
        """Whether the words are all of the name, as it is written."""
        return min(self.similarity, *self.qualities) >= _ALL_WORDS

    @cached_property
    def score(self) -> float:
        """How likely the words mean this: the share of the name held, times the words' quality."""
        return self.similarity * (1.0 if self.preferred else _OTHER_NAME)

    @cached_property
    def mask(self) -> int:
        """The positions as bits."""
        return bits(self.positions)


@dataclass(frozen=True)
class LinkedQuestion:
    """All links of a question, best first, and how much each of its words tells.

    `scales` are the adjectives that only the lexicon knows, with their places. `notes` are
    sentences on names that could not be had. `merged` has the names by which things are meant that
    others were merged into, by their IRIs. `taught` are the words that the graph's glossary
    explains.
    """

    reading: TokenizedQuestion
    links: tuple[Link, ...]
    weights: tuple[float, ...] = field(default=())
    scales: tuple[tuple[int, Measure], ...] = ()
    notes: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    taught: tuple["Meant", ...] = ()

    def of(self, *kinds: Kind) -> tuple[Link, ...]:
        """Return the links of some kinds."""
        return tuple(found for found in self.links if found.kind in kinds)


@dataclass(frozen=True)
class Meant:
    """A word that was taught, the IRIs that it stands for, and its places as bits.

    What is of one of its `classes` is meant, if these are several.
    """

    word: str
    targets: tuple[str, ...]
    classes: tuple[str, ...]
    mask: int

    @property
    def iri(self) -> str:
        """The IRI of a class above those that it stands for."""
        return virtual_iri(self.word)


@dataclass(frozen=True)
class Variant:
    """A token of the vocabulary that the question's token may stand for."""

    position: int
    word: int
    quality: float
    how: str  # exact, abbreviation, joined, split, root, typo, synonym, short, initials,
    # derivation, doer, near, hypernym, hyponym, demonym, code


def link_question(
    reading: TokenizedQuestion, index: NameIndex, *, without: Container[str] = ()
) -> LinkedQuestion:
    """Link a question's words to the names of a graph, `without` some ways (see `Variant`)."""
    reading = with_abbreviations(reading, index)
    found = [one for one in variants(reading, index) if one.how not in without]
    hows = {(v.position, v.word, v.quality): v.how for v in found}
    sure = [key for key, how in hows.items() if how not in SCHEMA_ONLY]
    matches = index.search(sure, at_least=_FOUND)
    if len(hows) > len(sure):
        told = index.search(list(hows), at_least=_FOUND_SHORT)
        loose = {match.name: match for match in told if match.name.kind not in _THINGS}
        known = {match.name for match in matches}
        matches = [loose.get(match.name, match) for match in matches]
        matches += [match for name, match in loose.items() if name not in known]
    every = [one for match in matches for one in _links(match, reading, index, hows)]
    every += [
        Link(
            Kind.VALUE, name.target, name.text, _CODED, (at,), (_CODED,), code=table, how=("code",)
        )
        for at, name, table in coded(reading, index)
    ]
    links = tuple(_best(_by_preposition(every, reading)))
    used = {(at, how) for one in links for at, how in zip(one.positions, one.how, strict=True)}
    heard = [one for one in found if one.how not in SCHEMA_ONLY or (one.position, one.how) in used]
    measures = tuple(scales(reading, index)) if "scale" not in without else ()
    return LinkedQuestion(reading, links, _weights(reading, heard, index), measures)


def joined(linked: LinkedQuestion, more: Iterable[Link]) -> LinkedQuestion:
    """Return the links of a question with more links of the same words, the best of all kept."""
    return replace(linked, links=tuple(_best((*linked.links, *more))))


def also_meant(linked: LinkedQuestion, target: str) -> tuple[str, ...]:
    """Return the other things of the same kind that words linked to `target` may name, best first.

    `target` is an IRI, or a literal as N-Triples text. None if no word is linked to it.
    """
    found: dict[str, None] = {}
    for own in linked.links:
        if own.target == target:
            words = set(own.positions)
            for other in linked.of(own.kind):
                if other.target != target and words & set(other.positions):
                    found[other.target] = None
    return tuple(found)


def _links(
    match: Match,
    reading: TokenizedQuestion,
    index: NameIndex,
    hows: Mapping[tuple[int, int, float], str],
) -> Iterator[Link]:
    """One link for each stretch of the question that holds (enough of) the name."""
    kind = match.name.kind
    for run in _runs(sorted({hit[0] for hit in match.hits}), reading, match.name):
        if all(reading.is_stop(at) for at in run):
            continue
        inside = sorted((hit for hit in match.hits if hit[0] in run), key=lambda hit: hit[2])
        words = {word: quality for _, word, quality in inside}  # of several the best
        best = {position: quality for position, _, quality in inside}
        how = {hit[0]: hows[hit] for hit in inside}
        held = sum(quality * index.rarity_of(word) for word, quality in words.items())
        similarity = min(1.0, held / match.length)
        # The share of words in another form than in a thing's name: "moons" is less the Moon.
        if match.name.kind not in _THINGS:
            bent = 0.0
        else:
            own, endings = tokens(match.name.text), shared_words().endings["words"]
            other = [word for at in run if (word := reading.tokens[at]).folded not in own]
            forms = (
                any(
                    one.folded.startswith(name) and one.folded[len(name) :] in endings
                    for name in own
                )
                for one in other
                if one.stem == one.folded
            )  # "Monde"
            bent = (sum(one.stem != one.folded for one in other) + sum(forms)) / len(run)
        similarity *= 1.0 - bent * (_BENT_WHOLE if similarity > _WHOLE else _BENT_PART)
        if similarity < _WHOLE and not any(reading.tokens[at].text[0].isalpha() for at in run):
            continue
        held_by = sum(index.rarity_of(word) for word in words) / match.length
        surest = max(quality for at, quality in best.items() if not reading.is_stop(at))
        if held_by < _ALL_WORDS and kind in _THINGS and surest < _OWN_WORD:
            continue
        if similarity >= _AT_LEAST[kind] and _NOT_FOR[kind].isdisjoint(how.values()):
            yield Link(
                kind,
                match.name.target,
                match.name.text,
                similarity,
                tuple(run),
                tuple(best[at] for at in run),
                match.name.preferred,
                how=tuple(how[at] for at in run),
            )


def _runs(positions: Sequence[int], reading: TokenizedQuestion, name: Name) -> Iterator[list[int]]:
    """Cut positions if a word of content, or more than two function words, lie between.

    Names of classes and predicates reach neither over a comma or a conjunction nor from a noun in
    the plural to one behind it: "documents that have the status" have no "document status". Names
    of classes do not reach over a verb: "regions that are affected".
    """
    run: list[int] = []
    for at in positions:
        if run and _parted(run[-1], at, reading, name):
            yield _whole_name(run, reading, name)
            run = []
        run.append(at)
    if run:
        yield _whole_name(run, reading, name)


def _whole_name(run: list[int], reading: TokenizedQuestion, name: Name) -> list[int]:
    """The end of a run if that is the name, said in full: "first | name middle | name"."""
    if name.kind is Kind.PREDICATE and len(run) > 1:
        own, said = [*map(stem, tokens(name.text))], [reading.tokens[at].stem for at in run]
        if len(own) < len(said) and said[-len(own) :] == own and said[0] in own:
            return run[-len(own) :]
    return run


def _parted(last: int, at: int, reading: TokenizedQuestion, name: Name) -> bool:
    between = range(last + 1, at)
    if len(between) > 2 or any(not reading.is_stop(word) for word in between):
        return True
    words, said = reading.words, {reading.tokens[word].folded for word in between}
    if said & words.joining:
        return True
    verbs = (words.yes_or_no["being"], words.yes_or_no["doing"], words.texts["has"])
    if name.kind is Kind.CLASS and any(map(said.intersection, verbs)):
        return True
    gap = reading.gap(last, at)
    if name.kind not in (Kind.CLASS, Kind.PREDICATE):
        return False
    return any(mark in gap for mark in ",;?") or (
        bool(between) and _goes_on(last, at, reading, name)
    )


def _goes_on(last: int, at: int, reading: TokenizedQuestion, name: Name) -> bool:
    """Whether a noun that a class's name has in the singular stands in the plural before another.

    So it does before itself, in any name: "documents with the document type".
    """
    token, own = reading.tokens[last], tokens(name.text)
    if token.stem == token.folded or token.folded in own:
        return False
    stems = [*map(stem, own)]
    if reading.tokens[at].stem == token.stem:
        return token.stem in stems
    after = stems[stems.index(token.stem) + 1 :] if token.stem in stems else []
    owner = reading.words.clauses["owner"]  # "competitions of each type": not their type
    owns = any(reading.folded[word] in owner for word in range(last + 1, at))
    return (owns or name.kind is Kind.CLASS) and reading.tokens[at].stem in after


def _by_preposition(links: Sequence[Link], reading: TokenizedQuestion) -> Iterator[Link]:
    """Doubt predicates whose name goes on with another preposition: "flew to" for "flew on".

    One that also has a name which is said in full is meant: "discoverer", also "discovered by"; but
    not by the same name without its preposition.
    """
    words, known = reading.folded, reading.words.clauses["restrict"]
    odd: dict[tuple[str, tuple[int, ...]], set[tuple[str, ...]]] = defaultdict(set)
    for one in links:
        after = words[one.positions[-1] + 1 :][:_AFTER] if one.kind is Kind.PREDICATE else ()
        if after and after[0] in known:
            *before, last = tokens(one.name)
            if before and last in known and last not in after:
                odd[one.target, one.positions].add(tuple(before))
    whole = {(one.target, one.positions, tuple(tokens(one.name))) for one in links if one.is_whole}
    said = {(target, at) for target, at, name in whole if name not in odd.get((target, at), ())}
    for one in links:
        key = (one.target, one.positions)
        unlike = key in odd and key not in said
        yield replace(one, similarity=one.similarity * _UNLIKE) if unlike else one


def _best(links: Iterable[Link]) -> Iterator[Link]:
    """Keep the best few of each kind on each stretch; a thing is named by its best name."""
    grouped: dict[tuple[Kind, tuple[int, ...]], list[Link]] = defaultdict(list)
    seen: dict[tuple[Kind, str, tuple[int, ...]], float] = {}
    for one in sorted(links, key=lambda found: (-found.score, found.name, found.target)):
        key = (one.kind, one.target, one.positions)
        if key in seen:
            continue
        seen[key] = one.score
        group = grouped[one.kind, one.positions]
        close = not group or one.score >= _CLOSE * group[0].score
        if close and len(group) < _BEST[one.kind]:
            group.append(one)
    every = [one for group in grouped.values() for one in group]
    yield from sorted(every, key=lambda found: (-found.score, found.positions, found.target))


def _weights(
    reading: TokenizedQuestion, found: Sequence[Variant], index: NameIndex
) -> tuple[float, ...]:
    """How much each word of the question tells: nothing for function words, more if rare."""
    told = [0.0] * len(reading.tokens)
    for variant in found:
        told[variant.position] = max(told[variant.position], index.rarity_of(variant.word))
    unknown = rarity(0, len(index))
    return tuple(
        0.0 if reading.is_stop(at) else (weight or unknown) for at, weight in enumerate(told)
    )


def variants(reading: TokenizedQuestion, index: NameIndex) -> list[Variant]:
    """Return all variants of all tokens of a question."""
    words, free = index.listed, free_tokens(reading)
    found: list[Variant] = []
    for at, token in enumerate(reading.tokens):
        exact: list[Variant] = []
        word = index.word_id(token.stem)
        if word is not None:
            exact.append(Variant(at, word, _EXACT, "exact"))
        found += exact
        found += _joined(reading.tokens, at, index)
        found += (Variant(place, *meant) for place, meant in initials(reading, at, free, index))
        if reading.is_stop(at) or not token.folded[0].isalpha() or len(token.folded) > _LONGEST:
            continue
        if token.text.isupper() and not reading.text.isupper():
            other = spelled_otherwise(token, index)
            found += [Variant(at, word, _JOINED, "abbreviation") for word in other]
        found += _synonyms(at, token, reading, index)
        found += _shortened(reading, at, index)
        alike = list(_same_root(at, token, words, index))
        found += alike
        if not exact:
            for cut in range(3, len(token.stem) - 2):
                first, second = index.word_id(token.stem[:cut]), index.word_id(token.stem[cut:])
                if first is not None and second is not None:
                    found.append(Variant(at, first, _JOINED, "split"))
                    found.append(Variant(at, second, _JOINED, "split"))
            if not alike:
                found += _typos(at, token, words)
        if at in free:
            found += _meant(reading, at, found, index)
    return found


def free_tokens(reading: TokenizedQuestion) -> frozenset[int]:
    """Return the tokens of content that belong to no operator and to no number or date."""
    taken = {at for one in detect_operators(reading).operators for at in one.positions}
    taken.update(at for one in reading.quantities for at in one.measured)
    tokens = range(len(reading.tokens))
    return frozenset(at for at in tokens if at not in taken and not reading.is_stop(at))


def _meant(
    reading: TokenizedQuestion, at: int, found: Sequence[Variant], index: NameIndex
) -> Iterator[Variant]:
    """What a word may mean that no class or predicate is called by, in any form of it."""
    token, english = reading.tokens[at], reading.language == LANGUAGE
    own = [variant for variant in found if variant.position == at]
    if english and (token.capital or all(one.how != "exact" for one in own)):
        yield from (Variant(at, *meant) for meant in of_countries(token.stem, index))
    schema = schema_words(index).numbers
    if any(v.quality >= _INFLECTED and v.word in schema for v in own):
        return
    name = token.quote is not None or (at > 0 and token.capital)
    name = name or token.stem in reading.words.naming or is_name(token.stem, index)
    if english and not name:
        yield from (Variant(at, *meant) for meant in akin(token.stem, index))
    yield from (Variant(at, *meant) for meant in abbreviations(token.stem, index))
    yield from (Variant(at, *meant) for meant in initialism(token.stem, index))


def _joined(tokens: Sequence[Token], at: int, index: NameIndex) -> Iterator[Variant]:
    """Two words of the question that a name writes as one."""
    if at + 1 >= len(tokens):
        return
    word = index.word_id(tokens[at].folded + tokens[at + 1].stem)
    if word is not None and len(tokens[at].folded) > 1:
        yield Variant(at, word, _JOINED, "joined")
        yield Variant(at + 1, word, _JOINED, "joined")


def _synonyms(
    at: int, token: Token, reading: TokenizedQuestion, index: NameIndex
) -> Iterator[Variant]:
    for other in reading.words.synonyms.get(token.stem, ()):
        word = index.word_id(other)
        if word is not None:
            yield Variant(at, word, _SYNONYM, "synonym")


def _shortened(reading: TokenizedQuestion, at: int, index: NameIndex) -> Iterator[Variant]:
    """Two words of which a name keeps the first letters of one, and the other whole."""
    following = at + 1
    if following >= len(reading.tokens) or reading.is_stop(following):
        return
    first, second = reading.tokens[at], reading.tokens[following]
    if len(second.stem) < 2 or not second.stem.isalpha():
        return
    for length in range(1, len(first.folded)):
        word = index.word_id(first.folded[:length] + second.stem)
        if word is not None:
            yield Variant(at, word, _SHORT, "short")
            yield Variant(following, word, _SHORT, "short")


def _same_root(at: int, token: Token, words: Sequence[str], index: NameIndex) -> Iterator[Variant]:
    """Words that share a long beginning: launch and launched, photo and photograph."""
    own = token.stem
    if len(own) < _STEM:
        return
    start = own[: min(_ROOT, len(own))]
    place = bisect_left(words, start)
    while place < len(words) and words[place].startswith(start):
        word = words[place]
        quality = alikeness(own, word)
        if quality and word != own:
            yield Variant(at, place, quality, "root")
        place += 1
    if len(own) >= _ROOT:
        short, quality = index.word_id(own[:_STEM]), alikeness(own, own[:_STEM])
        if short is not None and quality:
            yield Variant(at, short, quality, "root")


def alikeness(own: str, word: str) -> float:
    """Return the quality of a word that shares a long beginning with another; 0 if none does."""
    shared = _shared(own, word)
    left, right = len(own) - shared, len(word) - shared
    ending = own[shared:] or word[shared:]
    if min(left, right) == 0 and shared >= _STEM and ending in shared_words().endings["words"]:
        return _INFLECTED
    most = max(len(own), len(word))
    if shared >= _ROOT and max(left, right) <= _ENDING and shared > _MOSTLY * most:
        return _RELATED - _BY_LETTER * (left + right)
    if shared >= _STEM and min(left, right) == 0 and left + right < _ENDING:
        return _LONGER - _BY_LETTER * (left + right)
    if shared >= _ROOT and left == 0 and len(word) <= 2 * len(own):
        return _FIRST_PART
    if shared >= _ROOT and right == 0 and len(own) <= 2 * len(word):
        return _FIRST_PART_ASKED
    return 0.0


def _typos(at: int, token: Token, words: Sequence[str]) -> Iterator[Variant]:
    if len(token.stem) < _ROOT:
        return
    for _, _, place in extract(
        token.stem, words, scorer=OSA.distance, score_cutoff=1, limit=5, processor=None
    ):
        if len(words[place]) >= _STEM:
            yield Variant(at, place, _TYPO, "typo")


def _shared(one: str, other: str) -> int:
    """The number of letters that two words begin with alike."""
    for at, (first, second) in enumerate(zip(one, other, strict=False)):
        if first != second:
            return at
    return min(len(one), len(other))


@dataclass(frozen=True)
class Description:
    """A description that a question asks for: of what, and how many words say so before it."""

    links: tuple[Link, ...]
    lead: int
