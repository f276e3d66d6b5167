"""The phrases of one language, its numbers and dates, and lists of words by what they are."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pyoxigraph import Literal

from askgraph.graph.literals import parse_duration
from askgraph.graph.measures import Unit, parse_unit
from askgraph.sparql import english
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import split_local_name

LANGUAGES = ("en", "de", "es", "fr")
_MARKS = re.compile("[\ue000-\uf8ff]")
"""The marks around the words of a term, if any are marked."""
_BEFORE_VOWELS = {
    "fr": (("de", "aeiouéèêàâîôû", "d’"), ("que", "aeiouéèêàâîôû", "qu’")),
    "es": (("y", "i", "e "), ("o", "o", "u ")),
}
"""Words that change before a vowel: the word, the vowels, and the word in its place."""
_REPAIRS = {
    "de": ((r"(?<=,) und, | und, ", ", "), (r"\b(nach|vor|ab) (?=\d+\. [A-Z]\w+ \d)", r"\1 dem ")),
    "es": ((r"\ba (?=\d+ de )", "al "),),
    "fr": ((r"\b(après|avant) (?=\d+(?:er)? [a-zéû]+ \d)", r"\1 le "),),
}
"""What two phrases of a language do to each other: a pattern, and what stands in its place."""
_IS_DATE = re.compile(
    r"\b(?:date|year|day|born|founded|birth|death|datum|jahr|gegründet|geboren|gestorben)\b"
    r"|\b(?:fecha|año|fundado|nacido|année|naissance|fondé|né)\b"
    r"|(?:datum|jahr)\b",
    re.IGNORECASE,
)
MAX_CHARACTERS = 120
_MAX_ABBREVIATION = 4
"""Letters of a name in capitals that may be an abbreviation; a longer one is a word."""
_MAX_DECIMALS = 4
_MAX_EXACT_DECIMALS = 9
"""More decimals are those of a computed number: two of an average are enough."""
_SCIENTIFIC_LIMITS = (1e15, 1e-6)
"""From the first size on, and below the second, a number is a power of ten."""
_YEAR_VARIABLE = re.compile("year|decade")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SHORT_NUMBER = re.compile(r"[-+]?\d{1,4}")
_DATE = re.compile(r"(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?)?)?)?")
_WHOLE_MINUTE = re.compile(r"^(\d\d:\d\d):00(?:\.0+)?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@lru_cache(maxsize=len(LANGUAGES))
def load_lexicon(language: str) -> Mapping[str, Any]:
    """Return the tables of a language: phrases, plurals, verbs, and English nouns by kind."""
    folder = files("askgraph.answers.verbalize").joinpath("words")
    tables = tomllib.loads(folder.joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    if language == "en":
        more = tomllib.loads(folder.joinpath("en_lexicon.toml").read_text(encoding="utf-8"))
        rows = (row.split() for row in more["agents"].split(","))
        agents = {noun: (past, participle) for noun, past, participle in rows}
        forms = tomllib.loads(folder.joinpath("en_forms.toml").read_text(encoding="utf-8"))
        persons = frozenset(more["persons"].split())
        tables |= {**more, "agents": agents, "persons": persons, "forms": forms}
    return tables


@lru_cache(maxsize=1)
def _place_labels() -> frozenset[str]:
    return frozenset(text for language in LANGUAGES for text in load_lexicon(language)["places"])


def is_place_label(label: str) -> bool:
    """Return whether a property's label names a location in any language."""
    return label.lower() in _place_labels()


def is_verb_of(label: str, language: str) -> bool:
    """Return whether a label is a verb in the third person that the tables of a language have."""
    return label.lower() in load_lexicon(language).get("verbs", {})


def is_person_noun(noun: str) -> bool:
    """Return whether an English noun names people: `astronaut`, `crew member`, `biologist`."""
    words = english.singularize(noun.lower()).split(" of ")[0].split(" ")
    last = words[-1]
    if len(words) > 1 and last in ("account", "user"):
        return False
    is_known = last in load_lexicon("en")["persons"]
    return is_known or bool(re.search(r"(?:ologist|ician|woman|chairman|sportsman)$", last))


def is_uncounted(noun: str) -> bool:
    """Return whether an English noun has no plural: nobody asks how many equipments there are."""
    return noun.split(" ")[-1].lower().removesuffix("s") in load_lexicon("en")["uncounted"].split()


def is_keyword(name: str) -> bool:
    """Return whether a name is that of a key: "employee ID", "ref stadium", "Kennung"."""
    words = {word.strip(".").lower() for word in name.split()}
    return not words.isdisjoint(load_lexicon("en")["keys"].split())


def is_vague(noun: str) -> bool:
    """Return whether a noun is too general to ask for: "thing", "class", "Eintrag"."""
    return noun.lower() in load_lexicon("en")["vague"].split()


def is_date(text: str) -> bool:
    """Return whether the name of a property shows that its values are dates."""
    return bool(_IS_DATE.search(text))


def to_adjective(label: str) -> str:
    """Return an English label of a property that is true or false as an adjective, or "".

    `contagious` and `is contagious` are `contagious`, `in stock` stays as it is; `atmosphere` is
    nothing that a thing is.
    """
    first, *more = label.split()
    endings = tuple(load_lexicon("en")["adjective_endings"].split())
    if first.lower() == "is" and more:
        is_adjective = len(more) == 1 or more[-1].lower().endswith(endings)
        return " ".join(more) if is_adjective else ""
    if more and re.fullmatch("of|by|in|at|to|from|on|with|for|under|near|as", first):
        return label
    return label if not more and first.lower().endswith(endings) else ""


def trim_definition(label: str) -> str:
    """Return the noun of a label that is a definition or begins with a code.

    "The capital of a country." is "capital", "P1 is identified by" is "is identified by",
    "STUDENT" is "Student".
    """
    if code := re.match(r"[EPep]\d+[a-z]?[ _](?=[A-Za-z]{2})", label):
        label = label[code.end()] + label[code.end() + 1 :].lower()
    if label.isupper() and len(max(label.split(), key=len)) > _MAX_ABBREVIATION:
        label = label.capitalize()
    match = re.fullmatch(r"(?:the|an?) (.+?)(?: of an? .+)?[.:].*", label, re.IGNORECASE)
    return match[1] if match else label


class Phrases:
    """The phrases of one language; `nouns` is the language of the labels, empty if unknown."""

    def __init__(self, language: str, nouns: str | None = None) -> None:
        self.language = language
        self.nouns = language if nouns is None else nouns
        tables = load_lexicon(language)
        self._quotes: str = tables["quotes"]
        self.written: Mapping[str, str] = tables["written"]
        self._table: Mapping[str, str] = {**load_lexicon("en")["phrases"], **tables["phrases"]}
        self._either = self._table["or"].format("", "")

    @property
    def is_english(self) -> bool:
        """Whether sentences are English: they have a grammar, other languages only phrases."""
        return self.language == "en"

    def say(self, key: str, *parts: object) -> str:
        """Return the phrase of a key with its parts: `d’Apollo`, `e islas`, `an agency`."""
        template: str = self._table[key]
        for word, vowels, replacement in _BEFORE_VOWELS.get(self.language, ()):
            for at, part in enumerate(parts):
                first = _MARKS.sub("", str(part))[:1].lower()
                if first and first in vowels:
                    pattern = rf"\b{word} (?=\{{{at}\}})"  # not "hay {0}"
                    template = re.sub(pattern, replacement, template)
        if key == "a" and self.is_english:
            return english.add_article(str(parts[0]))
        return template.format(*parts)

    def has_phrase(self, key: str) -> bool:
        """Return whether the language, or else English, has a phrase of a key."""
        return key in self._table

    def join_list(self, parts: Sequence[str], word: str = "and") -> str:
        """Return parts as a list: `a, b and c`."""
        if len(parts) < 2:
            return "".join(parts)
        return self.say(word, ", ".join(parts[:-1]), parts[-1])

    def punctuate(self, text: str) -> str:
        """Return a text as a sentence: with a capital, a full stop, and no comma too many."""
        text = re.sub(r",(?=[,.?]|$)| (?=,)", "", " ".join(text.split()))
        for pattern, replacement in _REPAIRS.get(self.language, ()):
            text = re.sub(pattern, replacement, text)
        text = re.sub(r",(?=,)", "", text)
        return self.capitalize(text) + ("" if text.endswith(("?", "…")) else ".")

    def capitalize(self, text: str) -> str:
        """Return a text with a capital at its start, or behind the mark that it starts with."""
        return re.sub(r"^\W{0,2}.?", lambda start: start[0].upper(), text)

    def finish_question(self, text: str) -> str:
        """Return a question with a capital, and with the elisions of French."""
        elided = re.sub("\\bde (?=[aeiouéèêàâîôû])", "d’", text, flags=re.IGNORECASE)
        return self.capitalize(elided if self.language == "fr" else text)

    def name_language(self, tag: str) -> str:
        """Return the name of a language; its tag if the tables have no name for it."""
        names: Mapping[str, str] = load_lexicon(self.language).get("languages", {})
        return names.get(tag.lower(), f"the language {tag}" if self.is_english else tag)

    def quote(self, text: str) -> str:
        """Return a text in the quotation marks of the language."""
        return self._quotes.format(text)

    def singularize(self, noun: str) -> str:
        """Return the singular of an English class name that was written in the plural."""
        return english.singularize(noun) if self.is_english else noun

    def add_article(self, noun: str) -> str:
        """Return a noun with its article; without if it is in the plural already."""
        if self.is_english and english.is_plural(noun.rpartition(" ")[2]):
            return noun
        return self.say("a", noun)

    def agree(self, verb: str) -> str:
        """Return a verb of the third person as it stands after several subjects."""
        if self.is_english:
            first, space, rest = verb.partition(" ")
            return english.to_infinitive(first) + space + rest
        verbs: Mapping[str, str] = load_lexicon(self.language)["verbs"]
        first, space, rest = verb.partition(" ")
        return (verbs.get(first) or re.sub("(?<=t)e$|e?t$", "en", first)) + space + rest

    def substitute(self, text: str, word: str) -> str:
        """Return the word that stands in the place of a text."""
        return word

    def split_alternatives(self, noun: str) -> list[str]:
        """Return the nouns of `a, b or c`; the noun itself if it is one."""
        first, either, last = noun.rpartition(self._either)
        return [*first.split(", "), last] if either else [noun]

    def pluralize(self, noun: str) -> str:
        """Return the plural of a noun of a few words; the noun itself if that is not known."""
        if len(either := self.split_alternatives(noun)) > 1:
            return self.join_list([*map(self.pluralize, either)], "or")
        if not noun[-1:].isalpha() or noun.isupper() or not self.nouns:
            return noun
        if self.nouns == "de":
            *before, word = noun.split(" ")
            if not word[:1].isupper():
                return noun
            endings = load_lexicon("de")["plurals"]
            cut = next(at for at in range(len(word) + 1) if word[at:].lower() in endings)
            ending = endings[word[cut:].lower()]
            plural = ending.capitalize() if cut == 0 else word[:cut] + ending
            return " ".join(
                [*(re.sub("(?<=e)[rsnm]$", "", adjective) for adjective in before), plural]
            )
        if self.nouns == "en":
            return english.pluralize(noun)
        match = re.search(r" (?:de|du|des|del|al|à|en|a) ", noun)
        first, preposition, rest = (
            (noun[: match.start()], match[0], noun[match.end() :]) if match else (noun, "", "")
        )
        words = [_pluralize_romance(word, self.language) for word in first.split(" ")]
        return " ".join(words) + preposition + rest


def _pluralize_romance(word: str, language: str) -> str:
    if not word or word[-1] in "sxz":
        return word
    if language == "fr":
        return (
            f"{word[:-1]}ux"
            if word.endswith("al")
            else word + ("x" if word[-2:] in ("au", "eu") else "s")
        )
    if word[-2:] in ("ón", "án", "én"):
        return word[:-2] + {"ó": "o", "á": "a", "é": "e"}[word[-2]] + "nes"
    return word + ("s" if word[-1] in "aeiouáéíóú" else "es")


def load_phrases(language: str, nouns: str | None = None) -> Phrases:
    """Return the phrases of a language, by its tag; English if there is no table.

    `nouns` is the language of the labels if it is another one, empty if nobody knows.
    """
    base = language.lower().split("-")[0]
    return Phrases(base if base in LANGUAGES else "en", nouns if base in LANGUAGES else None)


@dataclass(frozen=True)
class ValueWriter:
    """Writes values in the language of its phrases."""

    phrases: Phrases

    def write_bound(self, literal: Literal, *, is_measure: bool = False) -> str:
        """Return a value that things are compared with; four digits may be a year."""
        if _SHORT_NUMBER.fullmatch(literal.value) and not is_measure:
            return literal.value
        return self.write_literal(literal)

    def write_literal(self, literal: Literal, unit: Unit | None = None, variable: str = "") -> str:
        """Return a number with its unit, a date in words, a text on one line."""
        datatype = literal.datatype.value
        if datatype == v.XSD_BOOLEAN:
            return self.phrases.say("yes" if literal.value in ("true", "1") else "no")
        if datatype in v.DATE_DATATYPES:
            return self.write_date(literal.value)
        if datatype in v.DURATION_DATATYPES:
            return self.write_duration(literal.value)
        if datatype == v.XSD_TIME:
            return _WHOLE_MINUTE.sub(r"\1", literal.value)
        own = "" if datatype.startswith(v.XSD) or literal.language else datatype
        unit = parse_unit(split_local_name(own)) if own else unit
        if datatype in v.NUMERIC_DATATYPES or unit is not None:
            number = _parse_number(literal.value)
            is_year = datatype in v.INTEGER_DATATYPES and _YEAR_VARIABLE.search(variable.lower())
            if number is not None and is_year:
                return str(number)
            if number is not None:
                return self.add_unit(self.write_number(number), unit)
        return shorten_line(literal.value)

    def write_number(self, value: float | Decimal) -> str:
        """Return a number with the separators of the language; a huge or a tiny one as a power."""
        size = abs(float(value))
        if size and not _SCIENTIFIC_LIMITS[1] <= size < _SCIENTIFIC_LIMITS[0]:
            digits, _, exponent = f"{float(value):.6e}".partition("e")
            power = str(int(exponent)).translate(_SUPERSCRIPTS)
            return f"{self._write_plain(Decimal(digits))} × 10{power}"
        return self._write_plain(Decimal(value))

    def _write_plain(self, value: Decimal) -> str:
        decimals = _MAX_DECIMALS if abs(value) >= 1 else 9
        if abs(value) >= 1 and value != round(value, _MAX_EXACT_DECIMALS):
            decimals = 2
        integer, _, fraction = f"{round(value, decimals):,f}".partition(".")
        written = self.phrases.written
        if len(integer.lstrip("-").replace(",", "")) <= int(written["ungrouped"]):
            integer = integer.replace(",", "")
        fraction = fraction.rstrip("0")
        text = integer.replace(",", written["group"])
        return text + (written["point"] + fraction if fraction else "")

    def write_date(self, text: str) -> str:
        """Return a date, a month or a year in words; the text itself if it is none."""
        match = _DATE.match(text)
        if match is None or match[1].startswith("-"):
            return text
        year, month, day, time = match.groups()
        written = self.phrases.written
        months = written["months"].split()
        if month is None or not 1 <= int(month) <= len(months):
            return year.lstrip("0") or year
        if day is None:
            return written["month"].format(months[int(month) - 1], int(year))
        first = written.get("first day", "{0}") if int(day) == 1 else "{0}"
        date = written["day"].format(first.format(int(day)), months[int(month) - 1], int(year))
        return f"{date}, {time}" if time and time != "00:00" else date

    def write_duration(self, text: str) -> str:
        """Return a duration in words: `3 years 2 months`, `1 h 30 min`; else the text itself."""
        if (parts := parse_duration(text)) is None:
            return text
        months, seconds = map(abs, parts)
        minutes, second = divmod(Decimal(str(seconds)), 60)
        days = (*map(Decimal, divmod(months, 12)), minutes // 1440)
        counts = (*days, minutes // 60 % 24, minutes % 60, second)
        names = [name.split() for name in self.phrases.written["duration"].split(",")]
        texts = [
            f"{self.write_number(count)} {single if count == 1 else many}"
            for count, (single, many) in zip(counts, names, strict=True)
            if count
        ]
        sign = "-" if min(parts) < 0 else ""
        return sign + (" ".join(texts) or f"0 {names[-1][1]}")

    def add_unit(self, number: str, unit: Unit | None) -> str:
        """Return a number with its unit, as far as that has a sign or a name in the language."""
        sign = self.name_unit(unit) if unit is not None else ""
        return f"{number} {sign}" if sign else number

    def name_unit(self, unit: Unit) -> str:
        """Return the sign or the name of a unit, with its multiple; empty if it has none."""
        written = self.phrases.written
        sign = unit.sign or written.get(f"unit {unit.name}", "")
        if unit.scale != 1.0 and sign:
            multiple = written.get(f"times {unit.scale:.0f}", "")
            return multiple.format(sign) if multiple else ""
        return sign


def _parse_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and math.isfinite(float(number)) else None


def remove_controls(text: str) -> str:
    """Return a text on one line, without characters that would hide or turn around others."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def shorten_line(text: str) -> str:
    """Return the start of a text, on one line."""
    line = remove_controls(text)
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1].rstrip()}…"
