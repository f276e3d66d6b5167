"""Closed word lists of each language, and lists shared by all languages.

Some lists map words in the names of classes and predicates to kinds, in any language.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from askgraph.index.names import fold_word, split_tokens, stem_word

LANGUAGES = ("en", "de", "es", "fr")
LANGUAGES_WITH_CAPITAL_NOUNS = frozenset(["de"])

Phrase = tuple[str, ...]
Kinds = frozenset[str]  # some of persons, bodies (that act as persons do), places and times
NO_KINDS: Kinds = frozenset()


_MIN_PART_LENGTH = 3  # letters of a part of a compound at least
_MAX_COMPOUND_LENGTH = 80  # letters of a compound at most; every place is tried as a split
_MAX_SHORT_WORD_LENGTH = 6  # words of more letters than this are long


@dataclass(frozen=True)
class Measure:
    """An adjective of measure: the properties it measures and the direction of its scale."""

    phrase: Phrase
    degree: str  # plain, comparative, superlative
    is_upward: bool
    property_names: tuple[str, ...]
    date_names: tuple[str, ...]

    @property
    def is_age(self) -> bool:
        """Whether it measures an age that can be computed from dates: "old"."""
        return "age" in self.property_names and bool(self.date_names)


@dataclass(frozen=True)
class WordList:
    """One language's lists; phrases are folded tokens, synonyms and naming words are stems.

    Attributes:
        question_words: question phrases by the kind they ask for.
        operators: phrases by operator.
        clauses: words that open a part of a question, and possessives.
        request_phrases: phrases beside a request, such as "could you" and "so".
        yes_or_no: words of yes-no questions.
        agreement: demonstratives and numerals such as "this" and "one".
        decimal_comma: whether the comma is the decimal mark and points group thousands.
        minus_phrases: phrases that end in a word for minus.
        date_fillers: words between day, month and year.
        number_words: number words with their values.
        number_scales: words such as "thousand" with their factors.
        ordinals: ordinals with their numbers.
        months: month names with their numbers.
        decades: decade words with their years in a century.
        text_words: words for parts of a text and for having them.
        text_holders: phrases between a text and the noun that contains it.
        measures: adjectives of measure.
        naming: words for "name".
        label_phrases: phrases that ask for other names and for names in a language.
        light_phrases: phrases without content, such as "took place".
        faint_phrases: words with little content, such as "everyone" and "make".
        generic_nouns: stems of nouns such as "thing" and "item".
        filler_phrases: phrases that have no content and name nothing either.
        accented_words: content words that differ from a function word only by an accent.
        degrees: endings of adjectives and words before them.
        description_phrases: phrases that ask for everything about a thing.
        follow_up_phrases: phrases that refer to the previous question, longest first.
    """

    language: str
    stop_words: frozenset[str]
    question_words: Mapping[str, tuple[Phrase, ...]]
    operators: Mapping[str, tuple[Phrase, ...]]
    clauses: Mapping[str, frozenset[str]]
    request_phrases: Mapping[str, tuple[Phrase, ...]]
    yes_or_no: Mapping[str, frozenset[str]]
    agreement: Mapping[str, frozenset[str]]
    decimal_comma: bool
    minus_phrases: tuple[Phrase, ...]
    date_fillers: frozenset[str]
    number_words: Mapping[str, float]
    number_scales: Mapping[str, float]
    ordinals: Mapping[str, int]
    months: Mapping[str, int]
    decades: Mapping[str, int]
    time_phrases: Mapping[str, tuple[Phrase, ...]]
    text_words: Mapping[str, frozenset[str]]
    text_holders: tuple[Phrase, ...]
    measures: tuple[Measure, ...]
    synonyms: Mapping[str, frozenset[str]]
    naming: frozenset[str]
    label_phrases: Mapping[str, tuple[Phrase, ...]]
    light_phrases: tuple[Phrase, ...]
    faint_phrases: tuple[Phrase, ...]
    generic_nouns: frozenset[str]
    filler_phrases: tuple[Phrase, ...]
    accented_words: frozenset[str]
    degrees: Mapping[str, frozenset[str]]
    description_phrases: Mapping[str, tuple[Phrase, ...]]
    follow_up_phrases: Mapping[str, tuple[Phrase, ...]]

    @cached_property
    def operators_by_first_word(self) -> Mapping[str, tuple[tuple[Phrase, str], ...]]:
        """(phrase, operator) pairs by first word, longest first."""
        return _index_by_first_word(self.operators)

    @cached_property
    def question_words_by_first_word(self) -> Mapping[str, tuple[tuple[Phrase, str], ...]]:
        """(phrase, kind asked for) pairs by first word, longest first."""
        return _index_by_first_word(self.question_words)

    @cached_property
    def time_phrase_starts(self) -> frozenset[str]:
        """The first words of all time and minus phrases."""
        phrases = (
            *self.minus_phrases,
            *(phrase for time_phrases in self.time_phrases.values() for phrase in time_phrases),
        )
        return frozenset(phrase[0] for phrase in phrases)

    @cached_property
    def quantity_starts(self) -> frozenset[str]:
        """The words that may start a quantity, but for those with digits."""
        words = (self.number_words, self.months, self.decades, self.ordinals)
        return self.time_phrase_starts.union(*words, get_shared_words().roman_numerals)

    @cached_property
    def comparison_endings(self) -> frozenset[str]:
        """Last words of comparisons, after which "a" may be a number: "longer than a"."""
        comparisons = (*self.operators["more_than"], *self.operators["less_than"])
        return frozenset(phrase[-1] for phrase in comparisons if len(phrase) > 1)

    @cached_property
    def function_words(self) -> frozenset[str]:
        """The words that shape a question: of operators, measures, requests, times and numbers."""
        groups = (self.question_words, self.request_phrases, self.label_phrases, self.time_phrases)
        phrases = [phrase for group in groups for part in group.values() for phrase in part]
        words = {word for phrase in phrases for word in phrase}
        return self.operator_words | self.stop_words | words | self.number_words.keys()

    @cached_property
    def ordinal_prefixes(self) -> tuple[str, ...]:
        """Ordinals that a superlative may be joined to: "zweit" of "zweite"."""
        return tuple(prefix for prefix in self.ordinals if prefix + "e" in self.ordinals)

    @cached_property
    def operator_words(self) -> frozenset[str]:
        """All words of operators and adjectives; they are never corrected as misspellings."""
        phrases = [
            phrase for operator_phrases in self.operators.values() for phrase in operator_phrases
        ]
        phrases += [measure.phrase for measure in self.measures]
        return frozenset(word for phrase in phrases for word in phrase)

    @cached_property
    def conjunctions(self) -> frozenset[str]:
        """The conjunctions: "and", "or"."""
        return frozenset(p[0] for name in ("and", "or") for p in self.operators[name])

    @cached_property
    def measures_by_first_word(self) -> Mapping[str, tuple[Measure, ...]]:
        """Adjectives of measure by the first word of their phrase, longest first."""
        by_word: dict[str, list[Measure]] = {}
        for measure in self.measures:
            by_word.setdefault(measure.phrase[0], []).append(measure)
        return {
            word: tuple(sorted(measures, key=lambda m: -len(m.phrase)))
            for word, measures in by_word.items()
        }


@dataclass(frozen=True)
class DataCode:
    """A code in data: `data_texts` (folded) stand for words with `word_stems`, in one `table`."""

    table: str
    word_stems: frozenset[str]
    data_texts: frozenset[str]


@dataclass(frozen=True)
class Direction:
    """Prepositions of a direction (folded), and stems of predicates that lead there."""

    prepositions: frozenset[str]
    predicate_stems: frozenset[str]


@dataclass(frozen=True)
class SharedWords:
    """Words needed before the language is known, and stems found in a graph's own names."""

    stop_words: Mapping[str, frozenset[str]]
    endings: Mapping[str, tuple[str, ...]]
    roman_numerals: tuple[str, ...]
    names: Mapping[str, frozenset[str]]
    truth_words: Mapping[str, frozenset[str]]
    pronouns: frozenset[str]
    agents: frozenset[str]
    name_parts: Mapping[str, tuple[str, ...]]
    codes: tuple[DataCode, ...]
    directions: Mapping[str, "Direction"]
    greetings: Mapping[Phrase, str]
    thanks: Mapping[Phrase, str]

    @cached_property
    def data_texts_by_table(self) -> Mapping[str, frozenset[str]]:
        """All data texts of the codes of each table."""
        by_table: dict[str, frozenset[str]] = {}
        for code in self.codes:
            by_table[code.table] = by_table.get(code.table, frozenset()) | code.data_texts
        return by_table


@cache
def get_word_list(language: str) -> WordList:
    """Return the word list of a language; English for an unknown language."""
    if language not in LANGUAGES:
        return get_word_list("en")
    table = _read_table(language)
    numbers = table["numbers"]
    return WordList(
        language=language,
        stop_words=get_shared_words().stop_words[language],
        question_words=_parse_phrases_by_name(table["asks"]),
        operators=_parse_phrases_by_name(table["operators"]),
        clauses=_parse_words_by_name(table["clauses"]),
        request_phrases=_parse_phrases_by_name(table["requests"]),
        yes_or_no=_parse_words_by_name(table["yes_or_no"]),
        agreement=_parse_words_by_name(table["agreement"]),
        decimal_comma=numbers["decimal_comma"],
        minus_phrases=_parse_phrases(numbers["minus"]),
        date_fillers=frozenset(numbers["in_dates"]),
        number_words=_fold_keys(numbers["units"]),
        number_scales=_fold_keys(numbers["scales"]),
        ordinals=_fold_keys(numbers["ordinals"]),
        months=_fold_keys(numbers["months"]),
        decades=_fold_keys(numbers["decades"]),
        time_phrases=_parse_phrases_by_name(table["times"]),
        text_words=_parse_words_by_name(table["texts"]),
        text_holders=_parse_phrases(table["texts"]["holders"]),
        measures=tuple(_parse_measures(table["adjectives"])),
        synonyms=_parse_synonyms([*table["synonyms"]["sets"], *table["synonyms"]["english"]]),
        label_phrases=_parse_phrases_by_name(table["labels"]),
        naming=frozenset(stem_word(p[0]) for p in _parse_phrases(table["naming"]["words"])),
        light_phrases=_parse_phrases(table["light"]["words"]),
        faint_phrases=_parse_phrases(table["light"]["faint"]),
        generic_nouns=frozenset(
            stem_word(phrase[0]) for phrase in _parse_phrases(table["light"]["generic"])
        ),
        filler_phrases=_parse_phrases(table["light"]["idle"]),
        accented_words=frozenset(table["light"]["full"]),
        degrees={name: frozenset(words) for name, words in table["degrees"].items()},
        description_phrases=_sort_longest_first(table["describing"]),
        follow_up_phrases=_sort_longest_first(table["follow"]),
    )


@cache
def get_shared_words() -> SharedWords:
    """Return the words shared by all languages."""
    table = _read_table("shared")
    return SharedWords(
        stop_words={code: frozenset(split_tokens(text)) for code, text in table["stop"].items()},
        endings={name: tuple(texts) for name, texts in table["endings"].items()},
        roman_numerals=tuple(table["numerals"]["roman"]),
        names={
            name: frozenset(stem_word(word) for text in texts for word in split_tokens(text))
            for name, texts in table["names"].items()
        },
        truth_words=_parse_words_by_name(table["truths"]),
        agents=_parse_words_by_name(table["prepositions"])["agents"],
        pronouns=_parse_words_by_name(table["capitals"])["pronouns"],
        name_parts={
            name: tuple("".join(phrase) for phrase in _parse_phrases(texts))
            for name, texts in table["parts"].items()
        },
        codes=tuple(
            DataCode(
                table,
                frozenset(stem_word(phrase[0]) for phrase in _parse_phrases(code["said"])),
                frozenset(phrase[0] for phrase in _parse_phrases(code["held"])),
            )
            for table, texts in table["codes"].items()
            for code in texts.values()
        )
        + _list_language_codes(),
        directions={
            name: Direction(
                frozenset(phrase[0] for phrase in _parse_phrases(direction["said"])),
                frozenset(
                    stem_word(word) for text in direction["held"] for word in split_tokens(text)
                ),
            )
            for name, direction in table["directions"].items()
        },
        greetings=_index_by_phrase(table["greetings"]),
        thanks=_index_by_phrase(table["thanks"]),
    )


def _list_language_codes() -> tuple[DataCode, ...]:
    """Return the codes of languages in data, "en" and "eng" for "English"."""
    names, codes = load_language_names(), _read_table("languages")["codes"]
    return tuple(
        DataCode(
            "language",
            frozenset(stem_word(name) for name, code in names.items() if code == tag),
            frozenset((tag, *others)),
        )
        for tag, others in codes.items()
    )


@cache
def index_countries() -> Mapping[Phrase, tuple[Phrase, ...]]:
    """Return the names and codes of each country, as stems, by each of them."""
    countries = (
        tuple(tuple(map(stem_word, split_tokens(name))) for name in line.split(","))
        for line in _read_table("countries")["names"]
    )
    return {name: names for names in countries for name in names}


@cache
def load_translations(language: str) -> Mapping[str, Phrase]:
    """Return the English stems for the folded words of another language, in all their forms."""
    # Of its function words only prepositions have some.
    table, listed, forms = _read_table("translations"), dict[str, Phrase](), dict[str, Phrase]()
    if language not in table["endings"]:
        return {}
    stop_words = get_shared_words().stop_words[language]
    for group, text in table["words"].items():
        for line in text.splitlines():
            cells = [*map(split_tokens, line.split("|"))]
            for word in cells[LANGUAGES.index(language)]:
                if word not in stop_words or group == "prepositions":
                    listed[word] = (*listed.get(word, ()), *map(stem_word, cells[0]))
    for word, english in listed.items():
        for base in dict.fromkeys((word, word.removesuffix("o"))):
            for ending in table["endings"][language]:
                forms[base + ending] = (*forms.get(base + ending, ()), *english)
    return {word: english for word, english in forms.items() if word not in stop_words} | listed


@cache
def _list_translated_words(language: str) -> tuple[frozenset[str], Sequence[str]]:
    """Return a language's words in the translations, folded, and the endings that they take."""
    table, column = _read_table("translations"), LANGUAGES.index(language)
    lines = (line for text in table["words"].values() for line in text.splitlines())
    words = (word for line in lines for word in line.split("|")[column].split(","))
    endings = table["endings"].get(language, ("", "s"))
    return frozenset(fold_word(word.strip()) for word in words), endings


def translate_word(word: str, language: str) -> Phrase:
    """Return the English stems for a folded word; of a German compound, those of its parts.

    >>> translate_word("agua", "es"), translate_word("wassertemperatur", "de")
    (('water',), ('water', 'temperature'))
    """
    translations = load_translations(language)
    has_compounds = language in LANGUAGES_WITH_CAPITAL_NOUNS and len(word) <= _MAX_COMPOUND_LENGTH
    if word in translations or not has_compounds or (stem_word(word),) in index_countries():
        return translations.get(word, ())
    splits = [(word[:end], word[end:]) for end in range(_MIN_PART_LENGTH, len(word) - 3)]
    heads = [(start, head) for start, head in splits if head in translations]
    modifier, head = min(heads, key=lambda parts: parts[0] not in translations, default=("", ""))
    beginnings = (
        start for start, _ in splits if start in translations and modifier.startswith(start)
    )
    beginning = max(beginnings, key=len, default="")
    middle = modifier.removeprefix(beginning)
    if 0 < len(middle) < _MIN_PART_LENGTH:
        return ()
    return (*translations.get(beginning, ()), *filter(None, (middle,)), *translations.get(head, ()))


def detect_greeting(text: str) -> str | None:
    """Return the language of a text that is only a greeting, thanks or a request for help."""
    words = get_shared_words()
    return words.greetings.get(split_tokens(text)) or words.thanks.get(split_tokens(text))


def is_thanks(text: str) -> bool:
    """Return whether a text is only thanks or a goodbye."""
    return split_tokens(text) in get_shared_words().thanks


def _index_by_phrase(texts_by_language: Mapping[str, Sequence[str]]) -> dict[Phrase, str]:
    return {
        phrase: code
        for code, texts in texts_by_language.items()
        for phrase in _parse_phrases(texts)
    }


_MAX_SHORT_WORDS = 3


def detect_language(words: Sequence[str]) -> str:
    """Return the language with the most function words in the text."""
    # On a draw, words with typical letters or endings, of operators, or of the translations decide;
    # else it is English. A text without function words may be a name of any language.
    shared = get_shared_words()
    is_short = len(words) <= _MAX_SHORT_WORDS  # of which one word decides: "war films"
    english = shared.endings["english"] if is_short else ()
    votes = {
        code: sum(fold_word(word) in stop_words for word in words if word not in english)
        for code, stop_words in shared.stop_words.items()
    }
    drawn = [code for code in LANGUAGES if votes[code] == max(votes.values())]
    plain_words = [word for word in words if word.islower() and word not in english]
    plain_words = plain_words if len(drawn) > 1 else []

    def count_typical(code: str) -> int:
        parts, operator_words = shared.endings[code], get_word_list(code).operator_words
        has_votes = len(drawn) < len(LANGUAGES)
        translations, endings = _list_translated_words(code) if has_votes else ((), ())
        return sum(
            word.endswith(parts[1:])
            or fold_word(word) in operator_words
            or any(fold_word(word).removesuffix(ending) in translations for ending in endings)
            or not set(parts[0]).isdisjoint(word)
            for word in plain_words
        )

    return max(drawn, key=count_typical) if plain_words else drawn[0]


def _read_table(name: str) -> dict[str, Any]:
    source = files("askgraph.search.tokenize").joinpath("words", f"{name}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def _parse_phrases(texts: Sequence[str]) -> tuple[Phrase, ...]:
    phrases = (split_tokens(text) for text in texts)
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))


def _parse_phrases_by_name(table: Mapping[str, Sequence[str]]) -> dict[str, tuple[Phrase, ...]]:
    return {name: _parse_phrases(texts) for name, texts in table.items()}


def _sort_longest_first(table: Mapping[str, Sequence[str]]) -> dict[str, tuple[Phrase, ...]]:
    return {
        name: tuple(sorted(phrases, key=len, reverse=True))
        for name, phrases in _parse_phrases_by_name(table).items()
    }


def _index_by_first_word(
    table: Mapping[str, Sequence[Phrase]],
) -> dict[str, tuple[tuple[Phrase, str], ...]]:
    """Return (phrase, name) pairs by first word, longest first."""
    by_word: dict[str, list[tuple[Phrase, str]]] = {}
    pairs = ((phrase, name) for name, values in table.items() for phrase in values)
    for phrase, name in sorted(pairs, key=lambda pair: -len(pair[0])):
        by_word.setdefault(phrase[0], []).append((phrase, name))
    return {word: tuple(values) for word, values in by_word.items()}


def _parse_words_by_name(table: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return the first words of phrases."""
    return {name: frozenset(p[0] for p in _parse_phrases(texts)) for name, texts in table.items()}


def _fold_keys(table: Mapping[str, Any]) -> dict[str, Any]:
    return {fold_word(key): value for key, value in table.items()}


def _parse_measures(entries: Sequence[Mapping[str, Any]]) -> Iterator[Measure]:
    for entry in entries:
        measures, dates = (
            tuple(
                " ".join(stem_word(word) for word in split_tokens(text))
                for text in entry.get(key, ())
            )
            for key in ("measures", "dates")
        )
        for degree in ("plain", "comparative", "superlative"):
            for phrase in _parse_phrases(entry.get(degree, ())):
                yield Measure(phrase, degree, entry["up"], measures, dates)


def _parse_synonyms(sets: Sequence[str]) -> dict[str, frozenset[str]]:
    synonyms: dict[str, set[str]] = {}
    for line in sets:
        words = {stem_word(word) for word in split_tokens(line)}
        for word in words:
            synonyms.setdefault(word, set()).update(words - {word})
    return {word: frozenset(synonyms_of_word) for word, synonyms_of_word in synonyms.items()}


@cache
def load_language_names() -> Mapping[str, str]:
    """Return the codes of languages by the folded words for them."""
    table = _read_table("languages")
    endings = ("", *table["endings"]["adjectives"])
    return {
        fold_word(name) + ending: code
        for code, names in table["names"].items()
        for name in names
        for ending in endings
    }


@dataclass(frozen=True)
class KindWords:
    """Stems by kind.

    Attributes:
        head_final_languages: languages in which the last word of a name is its head.
        separators: words that separate the head of a name from its complement.
        identifiers: words for a name or number that stands for a thing.
        endings: endings of compounds by kind.
        signs: sets of words in predicate names that only things of a kind have.
        generic: words by kind that add nothing to a question word.
    """

    head_final_languages: frozenset[str]
    separators: frozenset[str]
    identifiers: frozenset[str]
    stems: Mapping[str, Kinds]
    endings: Mapping[str, tuple[str, ...]]
    signs: Mapping[str, tuple[frozenset[str], ...]]
    generic: Mapping[str, frozenset[str]]


@cache
def load_kind_words() -> KindWords:
    """Return the kind words of the package."""
    source = files("askgraph.search.tokenize").joinpath("words", "kinds.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    stems: dict[str, set[str]] = {}
    for kind, text in table["kinds"].items():
        for word in split_tokens(text):
            stems.setdefault(stem_word(word), set()).add(kind)
    return KindWords(
        frozenset(table["heads"]["last"]),
        _stem_words(" ".join(table["heads"]["parting"])),
        _stem_words(" ".join(table["heads"]["keys"])),
        {word: frozenset(kinds) for word, kinds in stems.items()},
        {kind: tuple(split_tokens(" ".join(texts))) for kind, texts in table["endings"].items()},
        {kind: tuple(map(_stem_words, texts)) for kind, texts in table["signs"].items()},
        {kind: _stem_words(" ".join(texts)) for kind, texts in table["generic"].items()},
    )


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(map(stem_word, split_tokens(text)))


def get_word_kinds(word: str) -> Kinds:
    """Return the kinds of a stem, by the lists or, for a compound, by its ending."""
    words = load_kind_words()
    if word in words.stems:
        return words.stems[word]
    return frozenset(
        kind for kind, endings in words.endings.items() if len(word) > 5 and word.endswith(endings)
    )


def find_head(text: str, language: str = "") -> str:
    """Return the stem of the head of a name: "site" of "launch site".

    >>> find_head("place of birth"), find_head("sitio de lanzamiento", "es"), find_head("city_name")
    ('place', 'sitio', 'city')
    """
    words = load_kind_words()
    stems = [stem_word(word) for word in split_tokens(text) if not word[0].isdigit()]
    while stems and stems[-1] in words.separators:  # "located in"
        stems.pop()
    opening = next((at for at, word in enumerate(stems) if at and word in words.separators), None)
    stems = stems[:opening]
    content_stems = [
        word for word in stems if word not in words.identifiers and word not in words.separators
    ]
    stems = content_stems or stems
    if not stems:
        return ""
    return stems[-1] if language in words.head_final_languages else stems[0]


def get_name_kinds(names: Iterable[tuple[str, str]]) -> Kinds:
    """Return the kinds that the heads of (name, language) pairs indicate."""
    return frozenset().union(*(get_word_kinds(find_head(text, code)) for text, code in names))


def find_kind_signs(stems: frozenset[str]) -> Kinds:
    """Return the kinds of things that have a predicate with these words in its names."""
    return frozenset(
        kind
        for kind, word_sets in load_kind_words().signs.items()
        if any(word_set <= stems for word_set in word_sets)
    )
