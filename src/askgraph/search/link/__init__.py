"""Link the words of a question to names in the graph, with a score for each link.

A word matches itself and its plural; words one typing error away; longer or shorter words of the
same root; synonyms; one word written as two, or two as one; and, together with the next word,
abbreviations in names of predicates and classes ("stuid" for "student id").
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rapidfuzz.distance import OSA, Prefix
from rapidfuzz.process import extract

from askgraph.graph.names import build_virtual_iri
from askgraph.index.names import (
    IndexedName,
    IndexedNameMatch,
    ItemKind,
    NameIndex,
    compute_rarity,
    split_tokens,
    stem_name,
    stem_word,
)
from askgraph.search.link import lexicon
from askgraph.search.link.word_vectors import is_unknown_word
from askgraph.search.tokenize import QuestionToken, TokenizedQuestion, to_bit_mask
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.search.tokenize.word_lists import (
    LANGUAGES_WITH_CAPITAL_NOUNS,
    Measure,
    get_shared_words,
    translate_word,
)
from askgraph.sparql.prefixes import split_local_name

_MIN_NAME_SHARE: Final = {
    ItemKind.ENTITY: 0.34,
    ItemKind.CLASS: 0.45,
    ItemKind.PREDICATE: 0.4,
    ItemKind.VALUE: 0.8,
}
"""Minimum share of a name that words must cover; highest for values, which are numerous."""
_MIN_SEARCH_SHARE: Final = 0.3  # minimum score of names from the index, below all of the above
_MIN_LOOSE_SEARCH_SHARE: Final = 0.4  # the same for names that only abbreviations find
_MAX_LINKS: Final = {
    ItemKind.ENTITY: 6,
    ItemKind.CLASS: 8,
    ItemKind.PREDICATE: 30,
    ItemKind.VALUE: 8,
}
"""Links per stretch of words; predicates often share a name."""
_MAX_NAMESAKES: Final = 24  # things with exactly one name, which are one answer together
_MIN_SCORE_RATIO: Final = 0.55  # share of the best link's score on the same words that a link needs
_MAX_PREPOSITION_WORDS: Final = 6
_PREPOSITION_PENALTY_FACTOR: Final = 0.6
"""A verb's preposition follows within `_MAX_PREPOSITION_WORDS`; else this factor applies."""
_SHORT_NAME_FACTOR: Final = 0.6  # a short form of a name beside the full name of another thing
_OTHER_NAME_FACTOR: Final = 0.95  # a name that is not the preferred one, as a factor
_FULL_NAME_SHARE: Final = 0.9  # from this similarity on all of a name is there, but for a bent word
_BENT_NAME_SHARE: Final = 0.75  # below this similarity words are a part of a name, bent or not
_INFLECTED_NAME_PENALTY, _INFLECTED_PART_PENALTY = 0.1, 0.4
"""Penalties for words in another form than in a thing's full name, and in a part of one."""
_CLOSING_QUOTES = frozenset("\"'”’»“‘")
_CODE_SCORE: Final = 0.9  # how well a word fits the code that data write for it
_ALL_WORDS_SHARE: Final = 0.99  # share of a name that counts as all of its words
_MIN_EXACT_WORD_SCORE: Final = 0.85
"""A partial name needs one word of this quality: not all of them may be mere relatives."""
_THING_KINDS = (ItemKind.ENTITY, ItemKind.VALUE)
_MIN_NAMESAKES: Final = 3  # from so many things with a plural in their names it says their kind

_EXCLUDED_MATCHES: Final = {
    ItemKind.ENTITY: lexicon.SCHEMA_ONLY_MATCHES,
    ItemKind.VALUE: lexicon.SCHEMA_ONLY_MATCHES,
    ItemKind.CLASS: frozenset(("doer", "demonym", "code")),
    ItemKind.PREDICATE: frozenset(("hyponym", "demonym", "code")),
}
"""Kinds of matches not valid for a kind of name: "taught" is no teacher, "US" is no state."""

_EXACT_SCORE, _JOINED_SCORE, _TYPO_SCORE, _SYNONYM_SCORE, _SHORT_SCORE = 1.0, 0.95, 0.8, 0.75, 0.8
"""Qualities: the word itself, joined or split, misspelt, a synonym, abbreviated."""
_TRANSLATION_SCORE: Final = 0.9  # quality of the English word for one of another language
_INFLECTED_SCORE: Final = 0.95  # quality of a word that differs by an ending of its language
_RELATED_SCORE: Final = 0.9
"""Quality of a word with the same long beginning, before the penalty for each letter."""
_LONGER_WORD_SCORE: Final = 0.8
"""The same if one word is the other with a few more letters, however short it is."""
_LETTER_PENALTY: Final = 0.05  # penalty for each letter that only one of two words of a root has
_FIRST_PART_SCORE, _QUESTION_FIRST_PART_SCORE = 0.6, 0.7
"""Quality of a compound that begins with the question's word, and of the opposite."""
_MIN_ROOT_LENGTH = 5  # letters that words of one root share at least
_MIN_STEM_LENGTH = 4  # the same if one of them is no longer than that
_MAX_ENDING_LENGTH = 4  # letters of an ending at most
_MIN_ROOT_SHARE: Final = 0.6  # the share of the longer word that two words of one root have more of
_MAX_FUZZY_WORD_LENGTH = 60  # a longer word is looked up without inflection


@dataclass(frozen=True)
class Link:
    """A possible meaning of some words of a question.

    Attributes:
        target: an IRI, or a literal as N-Triples text.
        name: the name in the graph.
        similarity: the share of the name that the words cover.
        positions: the tokens.
        qualities: how well each token matches.
        preferred: whether the name is the preferred one of its target.
        code: for a literal that is a code of the words, the table of the code or the IRI of the
            predicate that explains it.
        how: how each token matches; see `Variant`.
    """

    kind: ItemKind
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
    def is_exact(self) -> bool:
        """Whether the words are the full name, as written."""
        return min(self.similarity, *self.qualities) >= _ALL_WORDS_SHARE

    @cached_property
    def score(self) -> float:
        """The similarity, lower for a name that is not preferred."""
        return self.similarity * (1.0 if self.preferred else _OTHER_NAME_FACTOR)

    @cached_property
    def mask(self) -> int:
        """The tokens as a bit mask."""
        return to_bit_mask(self.positions)


@dataclass(frozen=True)
class LinkedQuestion:
    """All links of a question, best first.

    Attributes:
        weights: the weight of each token; rare words weigh more, function words 0.
        scales: adjectives known only to the lexicon, with their positions.
        notes: sentences about names that could not be retrieved.
        merged: names of things that others were merged into, by IRI.
        glossary_words: words that the graph's glossary explains.
    """

    reading: TokenizedQuestion
    links: tuple[Link, ...]
    weights: tuple[float, ...] = field(default=())
    scales: tuple[tuple[int, Measure], ...] = ()
    notes: tuple[str, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    glossary_words: tuple["GlossaryWord", ...] = ()

    def get_links(self, *kinds: ItemKind) -> tuple[Link, ...]:
        """Return the links of these kinds."""
        return tuple(link for link in self.links if link.kind in kinds)


@dataclass(frozen=True)
class GlossaryWord:
    """A word of the glossary, the IRIs it stands for, and its tokens as a bit mask.

    If it has several `classes`, it means the instances of any of them. The `aggregate` of a
    measure is how it sums up several instances, "none" if it does not; empty for other words.
    """

    word: str
    targets: tuple[str, ...]
    classes: tuple[str, ...]
    mask: int
    aggregate: str = ""

    @property
    def iri(self) -> str:
        """The IRI of a virtual class above the classes that it stands for."""
        return build_virtual_iri(self.word)


@dataclass(frozen=True)
class Variant:
    """A word of the index's vocabulary that a token may stand for."""

    position: int
    word: int
    quality: float
    how: str  # exact, abbreviation, joined, split, root, typo, synonym, short, initials,
    # derivation, doer, near, record, hypernym, hyponym, demonym, code


def link_question(
    reading: TokenizedQuestion, index: NameIndex, *, without: Container[str] = ()
) -> LinkedQuestion:
    """Link a question's words to the names of a graph.

    Args:
        without: kinds of matches to leave out; see `Variant`.
    """
    reading = lexicon.detect_abbreviations(reading, index)
    matched_variants = [item for item in find_variants(reading, index) if item.how not in without]
    hows = {(v.position, v.word, v.quality): v.how for v in matched_variants}
    strict_keys = [key for key, how in hows.items() if how not in lexicon.SCHEMA_ONLY_MATCHES]
    matches = index.search(strict_keys, at_least=_MIN_SEARCH_SHARE)
    if len(hows) > len(strict_keys):
        loose_matches = index.search(list(hows), at_least=_MIN_LOOSE_SEARCH_SHARE)
        loose_by_name = {
            match.name: match for match in loose_matches if match.name.kind not in _THING_KINDS
        }
        known_names = {match.name for match in matches}
        matches = [loose_by_name.get(match.name, match) for match in matches]
        matches += [match for name, match in loose_by_name.items() if name not in known_names]
    links_found = [
        item
        for match in matches
        for item in _build_links(match, reading, index, hows)
        if not _is_generic_part(item, reading)
    ]
    links_found = [*_drop_kind_parts(_keep_capital_names(links_found, reading), reading)]
    links_found += [
        Link(
            ItemKind.VALUE,
            name.target,
            name.text,
            _CODE_SCORE,
            (at,),
            (_CODE_SCORE,),
            code=table,
            how=("code",),
        )
        for at, name, table in lexicon.find_codes(reading, index)
    ]
    links_found = _prefer_quoted_spelling(links_found, reading)
    links = tuple(_select_best_links(_adjust_for_prepositions(links_found, reading)))
    used_matches = {
        (at, how) for item in links for at, how in zip(item.positions, item.how, strict=True)
    }
    relevant_variants = [
        item
        for item in matched_variants
        if item.how not in lexicon.SCHEMA_ONLY_MATCHES or (item.position, item.how) in used_matches
    ]
    measures = tuple(lexicon.detect_scales(reading, index)) if "scale" not in without else ()
    return LinkedQuestion(
        reading, links, _weigh_tokens(reading, relevant_variants, index), measures
    )


def _prefer_quoted_spelling(links: Sequence[Link], reading: TokenizedQuestion) -> list[Link]:
    """Leave out values that differ from a quoted one in signs only: B+ for "B"."""
    quoted = {
        (link.positions, tuple(split_tokens(link.name))): link.name.casefold()
        for link in links
        if link.kind is ItemKind.VALUE and _is_quoted(link, reading)
    }
    return [
        link
        for link in links
        if link.kind is not ItemKind.VALUE
        or quoted.get((link.positions, tuple(split_tokens(link.name))), link.name.casefold())
        == link.name.casefold()
    ]


def _is_quoted(link: Link, reading: TokenizedQuestion) -> bool:
    """Return whether a quotation is the name of a link, sign by sign."""
    first = reading.tokens[link.positions[0]]
    end = first.start + len(link.name)
    return (
        first.quote is not None
        and reading.text[first.start : end].casefold() == link.name.casefold()
        and reading.text[end : end + 1] in _CLOSING_QUOTES
    )


def add_links(linked: LinkedQuestion, new_links: Iterable[Link]) -> LinkedQuestion:
    """Return a question with further links of the same words; only the best are retained."""
    return replace(linked, links=tuple(_select_best_links((*linked.links, *new_links))))


def find_alternative_targets(linked: LinkedQuestion, target: str) -> tuple[str, ...]:
    """Return other targets of the same kind for the words linked to a target, best first.

    Args:
        target: an IRI, or a literal as N-Triples text.
    """
    targets: dict[str, None] = {}
    for link in linked.links:
        if link.target == target:
            positions = set(link.positions)
            for rival in linked.get_links(link.kind):
                if rival.target != target and positions & set(rival.positions):
                    targets[rival.target] = None
    return tuple(targets)


def _build_links(
    match: IndexedNameMatch,
    reading: TokenizedQuestion,
    index: NameIndex,
    hows: Mapping[tuple[int, int, float], str],
) -> Iterator[Link]:
    """Yield one link for each stretch of the question that covers enough of the name."""
    kind = match.name.kind
    for run in _split_runs(sorted({hit[0] for hit in match.hits}), reading, match.name):
        if all(reading.is_stop(at) for at in run):
            continue
        hits_in_run = sorted((hit for hit in match.hits if hit[0] in run), key=lambda hit: hit[2])
        words = {word: quality for _, word, quality in hits_in_run}  # of several the best
        best = {position: quality for position, _, quality in hits_in_run}
        how = {hit[0]: hows[hit] for hit in hits_in_run}
        matched_rarity = sum(quality * index.get_rarity(word) for word, quality in words.items())
        similarity = round(min(1.0, matched_rarity / match.length), 6)  # 0.9, not 0.8999999
        # The share of words in another form than in the name: "moons" fits the Moon less.
        if match.name.kind not in _THING_KINDS or match.name.whole:  # kinds have plurals
            inflected_share = 0.0
        else:
            name_words, endings = split_tokens(match.name.text), get_shared_words().endings["words"]
            inflected = [
                word for at in run if (word := reading.tokens[at]).folded not in name_words
            ]
            has_endings = (
                any(
                    token.folded.startswith(name) and token.folded[len(name) :] in endings
                    for name in name_words
                )
                for token in inflected
                if token.stem == token.folded
            )  # "Monde"
            inflected_share = (
                sum(token.stem != token.folded for token in inflected) + sum(has_endings)
            ) / len(run)
        similarity *= 1.0 - inflected_share * (
            _INFLECTED_NAME_PENALTY if similarity > _FULL_NAME_SHARE else _INFLECTED_PART_PENALTY
        )
        if similarity < _FULL_NAME_SHARE and not any(
            reading.tokens[at].text[0].isalpha() for at in run
        ):
            continue
        if match.name.whole and similarity < _FULL_NAME_SHARE:
            continue
        matched_share = sum(index.get_rarity(word) for word in words) / match.length
        best_quality = max(quality for at, quality in best.items() if not reading.is_stop(at))
        if (
            matched_share < _ALL_WORDS_SHARE
            and kind in _THING_KINDS
            and best_quality < _MIN_EXACT_WORD_SCORE
        ):
            continue
        if (
            kind is ItemKind.VALUE
            and not match.name.preferred
            and not (
                len(run) > 1
                or reading.tokens[run[0]].is_capitalized
                or reading.tokens[run[0]].quote is not None
                or reading.text.islower()
            )
        ):
            continue
        if similarity >= _MIN_NAME_SHARE[kind] and _EXCLUDED_MATCHES[kind].isdisjoint(how.values()):
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


def _is_generic_part(link: Link, reading: TokenizedQuestion) -> bool:
    """Return whether only generic nouns link to a part of a thing's name, or of its IRI's path."""
    # "Works by X" is not about the maker "Roman Bronze Works", nor "tools" about a page `/tools/`.
    # "Anything by X" is not about a song "Anything".
    faint = reading.word_list.faint_phrases
    if link.kind is ItemKind.ENTITY and all(
        reading.tokens[at].text.islower() and (word,) in faint and reading.tokens[at].quote is None
        for at in link.positions
        for word in reading.folded_words[at : at + 1]
    ):
        return True
    if link.kind not in _THING_KINDS or not all(map(reading.is_generic_noun, link.positions)):
        return False
    is_in_path = link.kind is ItemKind.ENTITY and stem_name(link.name) == stem_name(
        split_local_name(link.target)
    )
    return link.similarity < _FULL_NAME_SHARE or is_in_path


def _keep_capital_names(links: Sequence[Link], reading: TokenizedQuestion) -> list[Link]:
    """Leave out other links for the words of a full name that is written with its capitals."""
    # "The Moon" is a thing and not the class "moon"; "Falcon Heavy" is neither "Falcon 9" nor
    # heavy.
    content = [token for at, token in enumerate(reading.tokens) if not reading.is_stop(at)]
    if reading.language in LANGUAGES_WITH_CAPITAL_NOUNS or all(t.is_capitalized for t in content):
        return [*links]
    names = {
        link.positions
        for link in links
        if link.kind is ItemKind.ENTITY and link.is_exact and link.name[:1].isupper()
        if all(reading.tokens[at].is_capitalized for at in link.positions)
        if link.positions[-1] > 0 or reading.tokens[0].text.isupper()
    }
    return [
        link for link in links if not any(_is_beside_name(link, name, reading) for name in names)
    ]


def _is_beside_name(link: Link, name: tuple[int, ...], reading: TokenizedQuestion) -> bool:
    """Return whether a link takes a part of a name, or a word of it for something else."""
    if {*link.positions} < {*name}:
        return True
    is_schema = link.kind in (ItemKind.CLASS, ItemKind.PREDICATE)
    return (is_schema and link.positions == name and link.name.islower()) or any(
        at in name
        and quality < (_EXACT_SCORE if reading.tokens[at].text.isupper() else _MIN_EXACT_WORD_SCORE)
        and (is_schema or reading.tokens[at].text.isupper())
        for at, quality in zip(link.positions, link.qualities, strict=True)
    )


def _drop_kind_parts(links: Sequence[Link], reading: TokenizedQuestion) -> Iterator[Link]:
    """Leave out parts of the names of several things for a plural noun of their kind."""
    # "Drinks with gin" is not about the category "Mint drinks" or "Coffee drinks". The short form
    # of a name is less than the same words as a full name: "David Bowie" is hardly "David Bowie
    # (1967 album)".
    phrases = {link.positions for link in links if link.is_exact and len(link.positions) > 1}
    full_names = {(link.kind, link.positions) for link in links if link.preferred and link.is_exact}
    targets: dict[tuple[int, ...], set[str]] = defaultdict(set)
    content = {
        link.positions: tuple(at for at in link.positions if not reading.is_stop(at))
        for link in links
    }
    for link in links:
        if link.kind in _THING_KINDS:
            targets[content[link.positions]].add(link.target)
    for link in links:
        words = content[link.positions]
        token = reading.tokens[words[0]]
        is_plural = len(words) == 1 and token.stem != token.folded and token.quote is None
        is_name = token.is_capitalized and words[0] > 0
        is_part = link.kind in _THING_KINDS and link.similarity < _BENT_NAME_SHARE
        if is_part and is_plural and not is_name and len(targets[words]) >= _MIN_NAMESAKES:
            continue
        is_class_of_root = link.kind is ItemKind.CLASS and "root" in link.how
        if is_class_of_root and any({*link.positions} <= {*phrase[:-1]} for phrase in phrases):
            continue  # "programming" in "programming language" is no program
        is_short = link.kind in _THING_KINDS and not link.preferred
        if is_short and link.is_exact and (link.kind, link.positions) in full_names:
            yield replace(link, similarity=link.similarity * _SHORT_NAME_FACTOR)
        else:
            yield link


def _split_runs(
    positions: Sequence[int], reading: TokenizedQuestion, name: IndexedName
) -> Iterator[list[int]]:
    """Split positions where a content word, or more than two function words, come between."""
    # Names of classes and predicates do not extend over a comma or conjunction, nor from a plural
    # noun to a later noun: "documents that have the status" contains no "document status". Names of
    # classes and things do not extend over a verb: "regions that are affected", "planets have
    # rings".
    run: list[int] = []
    for at in positions:
        if run and _is_separated(run[-1], at, reading, name):
            yield _trim_to_name(run, reading, name)
            run = []
        run.append(at)
    if run:
        yield _trim_to_name(run, reading, name)


def _trim_to_name(run: list[int], reading: TokenizedQuestion, name: IndexedName) -> list[int]:
    """Return the end of a run if it is the full name: "first | name middle | name"."""
    if name.kind is ItemKind.PREDICATE and len(run) > 1:
        name_stems = [*map(stem_word, split_tokens(name.text))]
        question_stems = [reading.tokens[at].stem for at in run]
        if (
            len(name_stems) < len(question_stems)
            and question_stems[-len(name_stems) :] == name_stems
            and question_stems[0] in name_stems
        ):
            return run[-len(name_stems) :]
    return run


def _is_separated(last: int, at: int, reading: TokenizedQuestion, name: IndexedName) -> bool:
    between = range(last + 1, at)
    if len(between) > 2 or any(not reading.is_stop(word) for word in between):
        return True
    words, words_between = reading.word_list, {reading.tokens[word].folded for word in between}
    if words_between & words.conjunctions:
        return True
    verbs = (words.yes_or_no["being"], words.yes_or_no["doing"], words.text_words["has"])
    if name.kind in (ItemKind.CLASS, ItemKind.ENTITY) and any(
        (words_between - {*split_tokens(name.text)}).intersection(verb) for verb in verbs
    ):
        return True
    gap = reading.get_gap(last, at)
    if name.kind not in (ItemKind.CLASS, ItemKind.PREDICATE):
        return False
    return any(mark in gap for mark in ",;?") or (
        bool(between) and _is_plural_before_noun(last, at, reading, name)
    )


def _is_plural_before_noun(
    last: int, at: int, reading: TokenizedQuestion, name: IndexedName
) -> bool:
    """Return whether a plural precedes another noun: "documents with the document type"."""
    token, name_words = reading.tokens[last], split_tokens(name.text)
    if token.stem == token.folded or token.folded in name_words:
        return False
    stems = [*map(stem_word, name_words)]
    if reading.tokens[at].stem == token.stem:
        return token.stem in stems
    later_stems = stems[stems.index(token.stem) + 1 :] if token.stem in stems else []
    owner_words = reading.word_list.clauses["owner"]  # "competitions of each type": not their type
    has_owner_word = any(reading.folded_words[word] in owner_words for word in range(last + 1, at))
    return (has_owner_word or name.kind is ItemKind.CLASS) and reading.tokens[
        at
    ].stem in later_stems


def _adjust_for_prepositions(links: Sequence[Link], reading: TokenizedQuestion) -> Iterator[Link]:
    """Lower the score of predicates whose name has another preposition: "flew to" for "flew on"."""
    # No penalty applies if another name of the predicate matches exactly: "discoverer", also
    # "discovered by"; but the same name without its preposition does not count.
    words, prepositions = reading.folded_words, reading.word_list.clauses["restrict"]
    mismatches: dict[tuple[str, tuple[int, ...]], set[tuple[str, ...]]] = defaultdict(set)
    for link in links:
        following = (
            words[link.positions[-1] + 1 :][:_MAX_PREPOSITION_WORDS]
            if link.kind is ItemKind.PREDICATE
            else ()
        )
        if following and following[0] in prepositions:
            *before, last = split_tokens(link.name)
            if before and last in prepositions and last not in following:
                mismatches[link.target, link.positions].add(tuple(before))
    exact = {
        (link.target, link.positions, tuple(split_tokens(link.name)))
        for link in links
        if link.is_exact
    }
    exact_keys = {
        (target, at) for target, at, name in exact if name not in mismatches.get((target, at), ())
    }
    for link in links:
        key = (link.target, link.positions)
        yield (
            replace(link, similarity=link.similarity * _PREPOSITION_PENALTY_FACTOR)
            if key in mismatches and key not in exact_keys
            else link
        )


def _select_best_links(links: Iterable[Link]) -> Iterator[Link]:
    """Yield the best links of each kind on each stretch; each target by its best name."""
    grouped: dict[tuple[ItemKind, tuple[int, ...]], list[Link]] = defaultdict(list)
    scores: dict[tuple[ItemKind, str, tuple[int, ...]], float] = {}
    for link in sorted(
        links, key=lambda candidate: (-candidate.score, candidate.name, candidate.target)
    ):
        key = (link.kind, link.target, link.positions)
        if key in scores:
            continue
        scores[key] = link.score
        group = grouped[link.kind, link.positions]
        is_close = not group or link.score >= _MIN_SCORE_RATIO * group[0].score
        is_namesake = link.kind is ItemKind.ENTITY and link.is_exact
        if is_close and len(group) < (_MAX_NAMESAKES if is_namesake else _MAX_LINKS[link.kind]):
            group.append(link)
    selected = [link for group in grouped.values() for link in group]
    yield from sorted(
        selected, key=lambda candidate: (-candidate.score, candidate.positions, candidate.target)
    )


def _weigh_tokens(
    reading: TokenizedQuestion, matched_variants: Sequence[Variant], index: NameIndex
) -> tuple[float, ...]:
    """Return the weight of each token: 0 for function words, higher for rare words."""
    rarities = [0.0] * len(reading.tokens)
    for variant in matched_variants:
        rarities[variant.position] = max(rarities[variant.position], index.get_rarity(variant.word))
    unknown_rarity = compute_rarity(0, len(index))
    return tuple(
        0.0 if reading.is_stop(at) else (weight or unknown_rarity)
        for at, weight in enumerate(rarities)
    )


def find_variants(reading: TokenizedQuestion, index: NameIndex) -> list[Variant]:
    """Return all variants of all tokens of a question."""
    words, free = index.sorted_tokens, find_free_tokens(reading)
    matches: list[Variant] = []
    for at, token in enumerate(reading.tokens):
        word = index.find_word(token.stem)
        quality = _INFLECTED_SCORE if token.is_corrected else _EXACT_SCORE
        exact_matches = [] if word is None else [Variant(at, word, quality, "exact")]
        matches += exact_matches
        is_abbreviation = token.text.isupper() and not reading.text.isupper()
        if (at in free or reading.is_stop(at)) and not is_abbreviation:
            english = map(index.find_word, translate_word(token.folded, reading.language))
            matches += [
                Variant(at, x, _TRANSLATION_SCORE, "synonym") for x in english if x is not None
            ]
        matches += _join_words(reading.tokens, at, index)
        matches += (
            Variant(position, *match)
            for position, match in lexicon.find_initials(reading, at, free, index)
        )
        if (
            reading.is_stop(at)
            or not token.folded[0].isalpha()
            or len(token.folded) > _MAX_FUZZY_WORD_LENGTH
        ):
            continue
        if is_abbreviation:
            spellings = lexicon.find_spelling_variants(token, index)
            matches += [Variant(at, word, _JOINED_SCORE, "abbreviation") for word in spellings]
        synonyms = map(index.find_word, reading.word_list.synonyms.get(token.stem, ()))
        matches += [Variant(at, x, _SYNONYM_SCORE, "synonym") for x in synonyms if x is not None]
        matches += _find_shortened(reading, at, index)
        related = list(_find_same_root(at, token, words, index))
        matches += related
        if not exact_matches:
            for boundary in range(3, len(token.stem) - 2):
                first = index.find_word(token.stem[:boundary])
                second = index.find_word(token.stem[boundary:])
                if first is not None and second is not None:
                    matches.append(Variant(at, first, _JOINED_SCORE, "split"))
                    matches.append(Variant(at, second, _JOINED_SCORE, "split"))
        best_quality = max((match.quality for match in exact_matches + related), default=0.0)
        if best_quality < _RELATED_SCORE or is_unknown_word(token.folded):
            matches += _find_typos(at, token, words)
        if at in free:
            matches += _find_related_variants(reading, at, matches, index)
    return matches


def find_free_tokens(reading: TokenizedQuestion) -> frozenset[int]:
    """Return the content tokens outside operators, numbers and dates."""
    used = {at for item in detect_operators(reading).operators for at in item.positions}
    used.update(at for item in reading.quantities for at in item.positions_with_unit)
    tokens = range(len(reading.tokens))
    return frozenset(at for at in tokens if at not in used and not reading.is_stop(at))


def _find_related_variants(
    reading: TokenizedQuestion, at: int, matches: Sequence[Variant], index: NameIndex
) -> Iterator[Variant]:
    """Yield related words for a token that names no class or predicate in any form."""
    token, is_english = reading.tokens[at], reading.language == lexicon.LANGUAGE
    english = (token.stem,) if is_english else translate_word(token.folded, reading.language)
    own_variants = [variant for variant in matches if variant.position == at]
    if token.is_capitalized or all(variant.how != "exact" for variant in own_variants):
        for word in dict.fromkeys((token.stem, *english)):
            yield from (
                Variant(at, *match) for match in lexicon.find_country_matches((word,), index)
            )
    for end in range(at + 2, min(at + 5, len(reading.tokens)) + 1):  # names of up to five words
        stems = tuple(token.stem for token in reading.tokens[at:end])
        is_in_names = None not in map(index.find_word, stems)
        for match in () if is_in_names else lexicon.find_country_matches(stems, index):
            yield from (Variant(position, *match) for position in range(at, end))
    schema = lexicon.get_schema_words(index).numbers
    if any(v.quality >= _INFLECTED_SCORE and v.word in schema for v in own_variants):
        return
    has_capital = token.is_capitalized and reading.language not in LANGUAGES_WITH_CAPITAL_NOUNS
    is_named = token.quote is not None or (at > 0 and has_capital)
    is_named = (
        is_named
        or token.stem in reading.word_list.naming
        or lexicon.is_full_name(token.stem, index)
    )
    for word in () if is_named else english:
        yield from (Variant(at, *match) for match in lexicon.find_related_matches(word, index))
    yield from (Variant(at, *match) for match in lexicon.find_abbreviations(token.stem, index))


def _join_words(tokens: Sequence[QuestionToken], at: int, index: NameIndex) -> Iterator[Variant]:
    """Yield a word of the index that is two words of the question joined."""
    if at + 1 >= len(tokens):
        return
    word = index.find_word(tokens[at].folded + tokens[at + 1].stem)
    if word is not None and len(tokens[at].folded) > 1:
        yield Variant(at, word, _JOINED_SCORE, "joined")
        yield Variant(at + 1, word, _JOINED_SCORE, "joined")


def _find_shortened(reading: TokenizedQuestion, at: int, index: NameIndex) -> Iterator[Variant]:
    """Yield words made of the first letters of one word and all of the next."""
    following = at + 1
    if following >= len(reading.tokens) or reading.is_stop(following):
        return
    first, second = reading.tokens[at], reading.tokens[following]
    if len(second.stem) < 2 or not second.stem.isalpha():
        return
    for length in range(1, len(first.folded)):
        word = index.find_word(first.folded[:length] + second.stem)
        if word is not None:
            yield Variant(at, word, _SHORT_SCORE, "short")
            yield Variant(following, word, _SHORT_SCORE, "short")


def _find_same_root(
    at: int, token: QuestionToken, words: Sequence[str], index: NameIndex
) -> Iterator[Variant]:
    """Yield words with a long common beginning: launch and launched, photo and photograph."""
    token_stem = token.stem
    if len(token_stem) < _MIN_STEM_LENGTH:
        return
    start = token_stem[: min(_MIN_ROOT_LENGTH, len(token_stem))]
    number = bisect_left(words, start)
    while number < len(words) and words[number].startswith(start):
        word = words[number]
        quality = score_common_beginning(token_stem, word)
        if quality and word != token_stem:
            yield Variant(at, number, quality, "root")
        number += 1
    if len(token_stem) >= _MIN_ROOT_LENGTH:
        stem_number = index.find_word(token_stem[:_MIN_STEM_LENGTH])
        quality = score_common_beginning(token_stem, token_stem[:_MIN_STEM_LENGTH])
        if stem_number is not None and quality:
            yield Variant(at, stem_number, quality, "root")


def score_common_beginning(first: str, second: str) -> float:
    """Return the quality of two words as forms of one root, 0 to 1; 0 if unrelated."""
    shared = Prefix.similarity(first, second)
    first_rest, second_rest = len(first) - shared, len(second) - shared
    if (
        min(first_rest, second_rest) == 0
        and shared >= _MIN_STEM_LENGTH
        and (first[shared:] or second[shared:]) in get_shared_words().endings["words"]
    ):
        return _INFLECTED_SCORE
    if (
        shared >= _MIN_ROOT_LENGTH
        and max(first_rest, second_rest) <= _MAX_ENDING_LENGTH
        and shared > _MIN_ROOT_SHARE * max(len(first), len(second))
    ):
        return _RELATED_SCORE - _LETTER_PENALTY * (first_rest + second_rest)
    if (
        shared >= _MIN_STEM_LENGTH
        and min(first_rest, second_rest) == 0
        and first_rest + second_rest < _MAX_ENDING_LENGTH
    ):
        return _LONGER_WORD_SCORE - _LETTER_PENALTY * (first_rest + second_rest)
    if shared >= _MIN_ROOT_LENGTH and first_rest == 0 and len(second) <= 2 * len(first):
        return _FIRST_PART_SCORE
    if shared >= _MIN_ROOT_LENGTH and second_rest == 0 and len(first) <= 2 * len(second):
        return _QUESTION_FIRST_PART_SCORE
    return 0.0


def _find_typos(at: int, token: QuestionToken, words: Sequence[str]) -> Iterator[Variant]:
    if len(token.stem) < _MIN_ROOT_LENGTH:
        return
    for _, _, number in extract(
        token.stem, words, scorer=OSA.distance, score_cutoff=1, limit=5, processor=None
    ):
        if len(words[number]) >= _MIN_STEM_LENGTH and words[number] != token.stem:
            yield Variant(at, number, _TYPO_SCORE, "typo")


@dataclass(frozen=True)
class DescriptionRequest:
    """A request for a description: the things, and the number of words before them."""

    links: tuple[Link, ...]
    lead_word_count: int
