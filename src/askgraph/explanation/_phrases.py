"""Phrases of queries in words, by language; a phrase that a language lacks is English.

The words are in `words/*.toml`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from askgraph.rdf.nouns import english_plural, english_singular, is_plural, with_article

__all__ = ["Phrases", "phrases_in"]

LANGUAGES = ("en", "de", "es", "fr")


@lru_cache(maxsize=len(LANGUAGES))
def _table(language: str) -> Mapping[str, Any]:
    source = files("askgraph.explanation").joinpath("words", f"{language}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


class Phrases:
    """The phrases of one language, filled in."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._quotes: str = _table(language)["quotes"]
        self._table: Mapping[str, str] = {
            **_table("en")["phrases"],
            **_table(language)["phrases"],
        }

    def say(self, key: str, *parts: object) -> str:
        """Return a phrase with its parts."""
        text = self._table[key].format(*parts)
        if key == "a" and self.language == "en":
            return with_article(text[2:])
        return text

    def knows(self, key: str) -> bool:
        """Whether there is a phrase by this key."""
        return key in self._table

    def listed(self, parts: Sequence[str], word: str = "and") -> str:
        """Return parts as a list: `a, b and c`."""
        if len(parts) < 2:
            return "".join(parts)
        return self.say(word, ", ".join(parts[:-1]), parts[-1])

    def punctuated(self, text: str) -> str:
        """Return a text as a sentence: with a capital, a full stop, and no comma too many."""
        text = re.sub(r",(?=[,.?]|$)| (?=,)", "", " ".join(text.split()))
        return self.capitalised(text) + ("" if text.endswith("?") else ".")

    def capitalised(self, text: str) -> str:
        """Return a text with a capital at its start, or behind the mark that it starts with."""
        start = 1 if text[:1].isalpha() else 2
        return text[:start].upper() + text[start:]

    def quoted(self, text: str) -> str:
        """Return a text in the quotation marks of the language."""
        return self._quotes.format(text)

    def singular(self, noun: str) -> str:
        """Return the singular of an English class name that was written in the plural."""
        return english_singular(noun) if self.language == "en" else noun

    def one(self, noun: str) -> str:
        """Return a noun with its article; without where it is in the plural already."""
        if self.language == "en" and is_plural(noun.rpartition(" ")[2]):
            return noun
        return self.say("a", noun)

    def verb(self, text: str, *, many: bool) -> str:
        """Return a verb as it stands after one subject or many: `orbits`, `orbit`."""
        return text.removesuffix("s") if many and self.language == "en" else text

    def plural(self, noun: str) -> str:
        """Return the plural of a noun of a few words; the noun itself where that is not known."""
        if " or " in noun and self.language == "en":
            return " or ".join(self.plural(part) for part in noun.split(" or "))
        if self.language == "de" or not noun[-1:].isalpha() or noun.isupper():
            return noun
        if self.language == "en":
            return english_plural(noun)
        first, preposition, rest = _parted(noun)
        words = [_romance_plural(word, self.language) for word in first.split(" ")]
        return " ".join(words) + preposition + rest


def _parted(noun: str) -> tuple[str, str, str]:
    """A noun before and after its first preposition, and the preposition."""
    found = re.search(r" (?:de|du|des|del|al|à|en|a) ", noun)
    return (noun[: found.start()], found[0], noun[found.end() :]) if found else (noun, "", "")


def _romance_plural(word: str, language: str) -> str:
    if not word or word[-1] in "sxz":
        return word
    if language == "fr":
        return word + "s"
    if word[-2:] in ("ón", "án", "én"):
        return word[:-2] + {"ó": "o", "á": "a", "é": "e"}[word[-2]] + "nes"
    return word + ("s" if word[-1] in "aeiouáéíóú" else "es")


def phrases_in(language: str) -> Phrases:
    """Return the phrases of a language, by its tag; English where there is no table."""
    base = language.lower().split("-")[0]
    return Phrases(base if base in LANGUAGES else "en")
