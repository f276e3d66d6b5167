"""Closed word lists: of each language what questions are made of, and what all languages share.

Some words tell what kind of thing a name of a class or predicate means, in any language.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from askgraph.index.names import folded, stem, tokens

LANGUAGES = ("en", "de", "es", "fr")

Phrase = tuple[str, ...]
Kinds = frozenset[str]  # some of persons, bodies (that act as persons do), places and times
NONE: Kinds = frozenset()


_LONG = 6  # words of more letters than this are long


@dataclass(frozen=True)
class Measure:
    """An adjective of measure: what it measures, and whether it means much or little of it."""

    phrase: Phrase
    degree: str  # plain, comparative, superlative
    up: bool
    measures: tuple[str, ...]
    dates: tuple[str, ...]

    @property
    def is_age(self) -> bool:
        """Whether it measures an age that dates give: "old"."""
        return "age" in self.measures and bool(self.dates)


@dataclass(frozen=True)
class WordList:
    """One language's lists; phrases are folded tokens, synonyms and naming words are stems.

    `clauses` are words that open a part of a question, and possessives; `light` ones say nothing of
    their own, nor do `idle` phrases, which name nothing either; `full` ones do although a
    function word is spelt alike but for an accent; `describing` is how one asks for all of a
    thing, `following` how questions lean on the one before, longest phrases first. With a
    `decimal_comma` points group the thousands; `minus` are phrases that end in a word for it;
    words `in_dates` part day, month and year. `texts` are words for parts of a text and for
    having them, `text_holders` what stands between a text and what holds it. `degrees` are
    endings of adjectives and words before them.
    """

    language: str
    stop: frozenset[str]
    asks: Mapping[str, tuple[Phrase, ...]]
    operators: Mapping[str, tuple[Phrase, ...]]
    clauses: Mapping[str, frozenset[str]]
    yes_or_no: Mapping[str, frozenset[str]]
    agreement: Mapping[str, frozenset[str]]
    decimal_comma: bool
    minus: tuple[Phrase, ...]
    in_dates: frozenset[str]
    units: Mapping[str, float]
    scales: Mapping[str, float]
    ordinals: Mapping[str, int]
    months: Mapping[str, int]
    decades: Mapping[str, int]
    times: Mapping[str, tuple[Phrase, ...]]
    texts: Mapping[str, frozenset[str]]
    text_holders: tuple[Phrase, ...]
    measures: tuple[Measure, ...]
    synonyms: Mapping[str, frozenset[str]]
    naming: frozenset[str]
    light: tuple[Phrase, ...]
    idle: tuple[Phrase, ...]
    full: frozenset[str]
    degrees: Mapping[str, frozenset[str]]
    describing: Mapping[str, tuple[Phrase, ...]]
    following: Mapping[str, tuple[Phrase, ...]]

    @cached_property
    def phrases(self) -> Mapping[str, tuple[tuple[Phrase, str], ...]]:
        """(phrase, operator) pairs by their first word, longest first."""
        return _by_first_word(self.operators)

    @cached_property
    def asking(self) -> Mapping[str, tuple[tuple[Phrase, str], ...]]:
        """(phrase, what it asks for) pairs by their first word, longest first."""
        return _by_first_word(self.asks)

    @cached_property
    def timing(self) -> frozenset[str]:
        """The first words of all phrases of time and of minus: no other word begins one."""
        phrases = (*self.minus, *(phrase for listed in self.times.values() for phrase in listed))
        return frozenset(phrase[0] for phrase in phrases)

    @cached_property
    def before_article(self) -> frozenset[str]:
        """The words that end a comparison, after which "a" may be a number: "longer than a"."""
        listed = (*self.operators["more_than"], *self.operators["less_than"])
        return frozenset(phrase[-1] for phrase in listed if len(phrase) > 1)

    @cached_property
    def long_operators(self) -> frozenset[str]:
        """Long words of extremes, averages and orders, which one wrong letter does not hide."""
        names = ("minimum", "maximum", "average", "order", "ascending", "descending")
        words = {word for name in names for phrase in self.operators[name] for word in phrase}
        return frozenset(word for word in words - self.stop if len(word) > _LONG)

    @cached_property
    def joined_ordinals(self) -> tuple[str, ...]:
        """The ordinals that a superlative may be joined to: "zweit" of "zweite"."""
        return tuple(one for one in self.ordinals if one + "e" in self.ordinals)

    @cached_property
    def spelt(self) -> frozenset[str]:
        """All words of operators and adjectives: none of them is another one misspelt."""
        phrases = [phrase for listed in self.operators.values() for phrase in listed]
        phrases += [measure.phrase for measure in self.measures]
        return frozenset(word for phrase in phrases for word in phrase)

    @cached_property
    def joining(self) -> frozenset[str]:
        """The words that join: "and", "or"."""
        return frozenset(p[0] for name in ("and", "or") for p in self.operators[name])

    @cached_property
    def adjectives(self) -> Mapping[str, tuple[Measure, ...]]:
        """Adjectives of measure by the first word of their phrase, longest first."""
        found: dict[str, list[Measure]] = {}
        for measure in self.measures:
            found.setdefault(measure.phrase[0], []).append(measure)
        return {
            word: tuple(sorted(listed, key=lambda m: -len(m.phrase)))
            for word, listed in found.items()
        }


@dataclass(frozen=True)
class Code:
    """What data write for some words: `held` (folded) for those `said` (stems), in one `table`."""

    table: str
    said: frozenset[str]
    held: frozenset[str]


@dataclass(frozen=True)
class Direction:
    """Prepositions of a direction (folded), and words of predicates that lead there (stems)."""

    said: frozenset[str]
    held: frozenset[str]


@dataclass(frozen=True)
class SharedWords:
    """Words that are read before a language is known, and those in a graph's own names (stems)."""

    stop: Mapping[str, frozenset[str]]
    endings: Mapping[str, tuple[str, ...]]
    roman: tuple[str, ...]
    names: Mapping[str, frozenset[str]]
    truths: Mapping[str, frozenset[str]]
    pronouns: frozenset[str]
    agents: frozenset[str]
    parts: Mapping[str, tuple[str, ...]]
    codes: tuple[Code, ...]
    directions: Mapping[str, "Direction"]
    greetings: Mapping[Phrase, str]
    thanks: Mapping[Phrase, str]

    @cached_property
    def held(self) -> Mapping[str, frozenset[str]]:
        """All that data write for the codes of each table."""
        found: dict[str, frozenset[str]] = {}
        for code in self.codes:
            found[code.table] = found.get(code.table, frozenset()) | code.held
        return found


@cache
def word_list(language: str) -> WordList:
    """Return the lists of a language, English if there is none."""
    if language not in LANGUAGES:
        return word_list("en")
    raw = _read(language)
    numbers = raw["numbers"]
    return WordList(
        language=language,
        stop=shared_words().stop[language],
        asks=_phrases_by_name(raw["asks"]),
        operators=_phrases_by_name(raw["operators"]),
        clauses=_words_by_name(raw["clauses"]),
        yes_or_no=_words_by_name(raw["yes_or_no"]),
        agreement=_words_by_name(raw["agreement"]),
        decimal_comma=numbers["decimal_comma"],
        minus=_phrases(numbers["minus"]),
        in_dates=frozenset(numbers["in_dates"]),
        units=_folded(numbers["units"]),
        scales=_folded(numbers["scales"]),
        ordinals=_folded(numbers["ordinals"]),
        months=_folded(numbers["months"]),
        decades=_folded(numbers["decades"]),
        times=_phrases_by_name(raw["times"]),
        texts=_words_by_name(raw["texts"]),
        text_holders=_phrases(raw["texts"]["holders"]),
        measures=tuple(_measures(raw["adjectives"])),
        synonyms=_synonyms([*raw["synonyms"]["sets"], *raw["synonyms"]["english"]]),
        naming=frozenset(stem(p[0]) for p in _phrases(raw["naming"]["words"])),
        light=_phrases(raw["light"]["words"]),
        idle=_phrases(raw["light"]["idle"]),
        full=frozenset(raw["light"]["full"]),
        degrees={name: frozenset(listed) for name, listed in raw["degrees"].items()},
        describing=_longest_first(raw["describing"]),
        following=_longest_first(raw["follow"]),
    )


@cache
def shared_words() -> SharedWords:
    """Return the words of any language."""
    raw = _read("shared")
    return SharedWords(
        stop={code: frozenset(tokens(text)) for code, text in raw["stop"].items()},
        endings={name: tuple(listed) for name, listed in raw["endings"].items()},
        roman=tuple(raw["numerals"]["roman"]),
        names={
            name: frozenset(stem(word) for text in listed for word in tokens(text))
            for name, listed in raw["names"].items()
        },
        truths=_words_by_name(raw["truths"]),
        agents=_words_by_name(raw["prepositions"])["agents"],
        pronouns=_words_by_name(raw["capitals"])["pronouns"],
        parts={
            name: tuple("".join(phrase) for phrase in _phrases(listed))
            for name, listed in raw["parts"].items()
        },
        codes=tuple(
            Code(
                table,
                frozenset(stem(phrase[0]) for phrase in _phrases(code["said"])),
                frozenset(phrase[0] for phrase in _phrases(code["held"])),
            )
            for table, listed in raw["codes"].items()
            for code in listed.values()
        ),
        directions={
            name: Direction(
                frozenset(phrase[0] for phrase in _phrases(way["said"])),
                frozenset(stem(word) for text in way["held"] for word in tokens(text)),
            )
            for name, way in raw["directions"].items()
        },
        greetings=_by_phrase(raw["greetings"]),
        thanks=_by_phrase(raw["thanks"]),
    )


@cache
def countries() -> tuple[tuple[Phrase, ...], ...]:
    """Return the names and codes of each country, as stems."""
    listed = (line.split(",") for line in _read("countries")["names"])
    return tuple(tuple(tuple(map(stem, tokens(one))) for one in names) for names in listed)


def greeted(text: str) -> str | None:
    """Return the language of a text that only greets, thanks or asks what can be asked; or None."""
    words = shared_words()
    return words.greetings.get(tokens(text)) or words.thanks.get(tokens(text))


def thanked(text: str) -> bool:
    """Return whether a text only gives thanks, or says goodbye."""
    return tokens(text) in shared_words().thanks


def _by_phrase(listed: Mapping[str, Sequence[str]]) -> dict[Phrase, str]:
    return {phrase: code for code, texts in listed.items() for phrase in _phrases(texts)}


def detected_language(words: Sequence[str]) -> str:
    """Return the language whose function words the text holds most of; English on a draw."""
    stop = shared_words().stop
    votes = {code: sum(word in stop[code] for word in words) for code in LANGUAGES}
    return max(LANGUAGES, key=lambda code: votes[code])


def _read(name: str) -> dict[str, Any]:
    source = files("askgraph.search.tokenize").joinpath("words", f"{name}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def _phrases(listed: Sequence[str]) -> tuple[Phrase, ...]:
    found = (tokens(text) for text in listed)
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _phrases_by_name(table: Mapping[str, Sequence[str]]) -> dict[str, tuple[Phrase, ...]]:
    return {name: _phrases(listed) for name, listed in table.items()}


def _longest_first(table: Mapping[str, Sequence[str]]) -> dict[str, tuple[Phrase, ...]]:
    found = _phrases_by_name(table)
    return {name: tuple(sorted(listed, key=len, reverse=True)) for name, listed in found.items()}


def _by_first_word(
    table: Mapping[str, Sequence[Phrase]],
) -> dict[str, tuple[tuple[Phrase, str], ...]]:
    """The phrases with their names by their first word, longest first."""
    found: dict[str, list[tuple[Phrase, str]]] = {}
    pairs = ((phrase, name) for name, listed in table.items() for phrase in listed)
    for phrase, name in sorted(pairs, key=lambda pair: -len(pair[0])):
        found.setdefault(phrase[0], []).append((phrase, name))
    return {word: tuple(listed) for word, listed in found.items()}


def _words_by_name(table: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """The first words of phrases."""
    return {name: frozenset(p[0] for p in _phrases(listed)) for name, listed in table.items()}


def _folded(table: Mapping[str, Any]) -> dict[str, Any]:
    return {folded(key): value for key, value in table.items()}


def _measures(raw: Sequence[Mapping[str, Any]]) -> Iterator[Measure]:
    for entry in raw:
        measures, dates = (
            tuple(" ".join(stem(word) for word in tokens(text)) for text in entry.get(key, ()))
            for key in ("measures", "dates")
        )
        for degree in ("plain", "comparative", "superlative"):
            for phrase in _phrases(entry.get(degree, ())):
                yield Measure(phrase, degree, entry["up"], measures, dates)


def _synonyms(sets: Sequence[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in sets:
        words = {stem(word) for word in tokens(line)}
        for word in words:
            found.setdefault(word, set()).update(words - {word})
    return {word: frozenset(others) for word, others in found.items()}


@dataclass(frozen=True)
class KindWords:
    """Stems by kind; `last` are languages in which the head of a name is its last word.

    `parting` are words after which a name goes on with what its head is of, `keys` those for
    what only stands for a thing: its name, its number. `signs` are sets of words in the name of a
    predicate that only things of the kind have; `generic` words say no more than a question word.
    """

    last: frozenset[str]
    parting: frozenset[str]
    keys: frozenset[str]
    stems: Mapping[str, Kinds]
    endings: Mapping[str, tuple[str, ...]]
    signs: Mapping[str, tuple[frozenset[str], ...]]
    generic: Mapping[str, frozenset[str]]


@cache
def kind_words() -> KindWords:
    """Return the lists of the package."""
    source = files("askgraph.search.tokenize").joinpath("words", "kinds.toml")
    raw = tomllib.loads(source.read_text(encoding="utf-8"))
    stems: dict[str, set[str]] = {}
    for kind, text in raw["kinds"].items():
        for word in tokens(text):
            stems.setdefault(stem(word), set()).add(kind)
    return KindWords(
        frozenset(raw["heads"]["last"]),
        _stems(" ".join(raw["heads"]["parting"])),
        _stems(" ".join(raw["heads"]["keys"])),
        {word: frozenset(kinds) for word, kinds in stems.items()},
        {kind: tuple(tokens(" ".join(listed))) for kind, listed in raw["endings"].items()},
        {kind: tuple(map(_stems, listed)) for kind, listed in raw["signs"].items()},
        {kind: _stems(" ".join(listed)) for kind, listed in raw["generic"].items()},
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, tokens(text)))


def kinds_of_word(word: str) -> Kinds:
    """Return the kinds of what a stem means, by the lists or, if it is compound, by its ending."""
    words = kind_words()
    if word in words.stems:
        return words.stems[word]
    return frozenset(
        kind for kind, endings in words.endings.items() if len(word) > 5 and word.endswith(endings)
    )


def head_of(text: str, language: str = "") -> str:
    """Return the stem of the word that says what a name is: "site" of "launch site".

    >>> head_of("place of birth"), head_of("sitio de lanzamiento", "es"), head_of("city_name")
    ('place', 'sitio', 'city')
    """
    words = kind_words()
    stems = [stem(word) for word in tokens(text) if not word[0].isdigit()]
    while stems and stems[-1] in words.parting:  # "located in"
        stems.pop()
    opening = next((at for at, word in enumerate(stems) if at and word in words.parting), None)
    stems = stems[:opening]
    plain = [word for word in stems if word not in words.keys and word not in words.parting]
    stems = plain or stems
    if not stems:
        return ""
    return stems[-1] if language in words.last else stems[0]


def kinds_of_names(names: Iterable[tuple[str, str]]) -> Kinds:
    """Return the kinds that (name, language) pairs tell of."""
    return frozenset().union(*(kinds_of_word(head_of(text, code)) for text, code in names))


def signs_in(stems: frozenset[str]) -> Kinds:
    """Return the kinds of things that have a predicate with some words in its names."""
    signs = kind_words().signs
    return frozenset(kind for kind, listed in signs.items() if any(one <= stems for one in listed))
