"""The closed word lists of a language: function words, operators, measures, synonyms."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from askgraph.index.tokens import stem, tokens

LANGUAGES = ("en", "de", "es", "fr")

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Measure:
    """An adjective of measure: what it measures, and whether it means much or little of it."""

    phrase: Phrase
    degree: str  # plain, comparative, superlative
    up: bool
    measures: tuple[str, ...]
    dates: tuple[str, ...]


@dataclass(frozen=True)
class Following:
    """How questions lean on the one before: their first words, words that only whole questions
    have, words that stand for a thing, for what a thing has, and the word between the two.
    """

    lead: tuple[Phrase, ...]
    whole: frozenset[str]
    it: tuple[Phrase, ...]
    its: frozenset[str]
    of: str


@dataclass(frozen=True)
class WordList:
    """One language's lists; phrases are folded tokens, synonyms and naming words are stems."""

    language: str
    stop: frozenset[str]
    asks: Mapping[str, tuple[Phrase, ...]]
    operators: Mapping[str, tuple[Phrase, ...]]
    restrict: frozenset[str]
    units: Mapping[str, float]
    scales: Mapping[str, float]
    ordinals: Mapping[str, int]
    months: Mapping[str, int]
    decades: Mapping[str, int]
    decades_before: frozenset[str]
    centuries: frozenset[str]
    times: Mapping[str, tuple[Phrase, ...]]
    measures: tuple[Measure, ...]
    synonyms: Mapping[str, frozenset[str]]
    naming: frozenset[str]
    following: Following

    @cached_property
    def phrases(self) -> Mapping[str, tuple[tuple[Phrase, str], ...]]:
        """(phrase, operator) pairs by their first word, longest first."""
        found: dict[str, list[tuple[Phrase, str]]] = {}
        for name, listed in self.operators.items():
            for phrase in listed:
                found.setdefault(phrase[0], []).append((phrase, name))
        return {
            word: tuple(sorted(pairs, key=lambda pair: -len(pair[0])))
            for word, pairs in found.items()
        }

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


@lru_cache(maxsize=len(LANGUAGES))
def word_list(language: str) -> WordList:
    """Return the lists of a language, English if there is none."""
    code = language if language in LANGUAGES else "en"
    source = files("askgraph.search.linking").joinpath("words", f"{code}.toml")
    raw = tomllib.loads(source.read_text(encoding="utf-8"))
    numbers = raw["numbers"]
    return WordList(
        language=code,
        stop=frozenset(word for text in raw["stop"].split() for word in tokens(text)),
        asks={key: _phrases(listed) for key, listed in raw["asks"].items()},
        operators={key: _phrases(listed) for key, listed in raw["operators"].items()},
        restrict=frozenset(p[0] for p in _phrases(raw["clauses"]["restrict"])),
        units=_folded(numbers["units"]),
        scales=_folded(numbers["scales"]),
        ordinals={key: int(value) for key, value in _folded(numbers["ordinals"]).items()},
        months={key: int(value) for key, value in _folded(numbers["months"]).items()},
        decades={key: int(value) for key, value in _folded(numbers["decades"]).items()},
        decades_before=frozenset(p[0] for p in _phrases(raw["times"]["decade_before"])),
        centuries=frozenset(p[0] for p in _phrases(raw["times"]["century"])),
        times={key: _phrases(listed) for key, listed in raw["times"].items()},
        measures=tuple(_measures(raw["adjectives"])),
        synonyms=_synonyms(raw["synonyms"]["sets"]),
        naming=frozenset(stem(p[0]) for p in _phrases(raw["naming"]["words"])),
        following=_following(raw["follow"]),
    )


def detected_language(words: Sequence[str]) -> str:
    """Return the language whose function words the text holds most of; English on a draw."""
    votes = {code: sum(word in word_list(code).stop for word in words) for code in LANGUAGES}
    return max(LANGUAGES, key=lambda code: votes[code])


def _following(raw: Mapping[str, object]) -> Following:
    def longest_first(key: str) -> tuple[Phrase, ...]:
        return tuple(sorted(_phrases(_strings(raw[key])), key=lambda phrase: -len(phrase)))

    return Following(
        lead=longest_first("lead"),
        whole=frozenset(phrase[0] for phrase in longest_first("whole")),
        it=longest_first("it"),
        its=frozenset(phrase[0] for phrase in longest_first("its")),
        of=str(raw["of"]),
    )


def _phrases(listed: Sequence[str]) -> tuple[Phrase, ...]:
    found = (tokens(text) for text in listed)
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _folded(table: Mapping[str, float]) -> dict[str, float]:
    return {" ".join(tokens(key)): value for key, value in table.items()}


def _measures(raw: Sequence[Mapping[str, object]]) -> Iterator[Measure]:
    for entry in raw:
        for degree in ("plain", "comparative", "superlative"):
            for phrase in _phrases(_strings(entry.get(degree))):
                yield Measure(
                    phrase,
                    degree,
                    bool(entry["up"]),
                    tuple(_stems(entry.get("measures"))),
                    tuple(_stems(entry.get("dates"))),
                )


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _stems(value: object) -> Iterator[str]:
    for text in _strings(value):
        yield " ".join(stem(word) for word in tokens(text))


def _synonyms(sets: Sequence[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in sets:
        words = {stem(word) for word in tokens(line)}
        for word in words:
            found.setdefault(word, set()).update(words - {word})
    return {word: frozenset(others) for word, others in found.items()}
