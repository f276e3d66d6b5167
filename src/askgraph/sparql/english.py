"""English inflection, by rules and a table of irregular words: plurals, verbs, articles."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

_PREPOSITION = re.compile(
    r"(?<!-) (?:of|in|for|at|with|by|to|from|on|per|under|without) |-(?:in|of)-"
)
_VOWEL_SOUND = re.compile(r"[aeioAEIO]|[uU](?!ni|s[aei]|rl|ti)|[FHLMNRSX](?=[A-Z\d]|\b)")
_DOUBLED = re.compile(r"(?:refer|prefer|transfer|control|occur|permit|submit|commit|admit|emit)$")
_SAME_FORMS = frozenset("read cost cut set put hit cast come run split become let hurt".split())
_SHORT_VERB = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")


@cache
def _load_tables() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    source = files("askgraph.sparql").joinpath("english.toml").read_text(encoding="utf-8")
    return {
        key: tuple(tuple(row.split()) for row in text.split(","))
        for key, text in tomllib.loads(source).items()
    }


def _table(key: str) -> tuple[tuple[str, ...], ...]:
    return _load_tables()[key]


@cache
def _plurals() -> Mapping[str, str]:
    return {row[0]: row[1] for row in _table("nouns")}


@cache
def _singulars() -> Mapping[str, str]:
    return {plural: singular for singular, plural in _plurals().items()}


@cache
def _regular_verbs() -> frozenset[str]:
    return frozenset(_table("regular")[0])


@cache
def _participles() -> Mapping[str, str]:
    """Return the past of each irregular participle: `written` -> `wrote`."""
    return {participle: past for _, past, participle in _table("verbs")}


@cache
def _verbs() -> frozenset[str]:
    return frozenset([*_regular_verbs(), *(row[0] for row in _table("verbs"))])


def is_plural(word: str) -> bool:
    """Return whether an English word looks like a plural."""
    low = word.lower()
    if low in _table("unchanged")[0] or low in _table("singular")[0]:
        return False
    return low in _singulars() or bool(re.search(r"[^sui]s$", low))


@lru_cache(maxsize=4096)
def pluralize(noun: str) -> str:
    """Return the plural of a noun of a few words: that of the word before its first preposition.

    >>> pluralize("point of departure")
    'points of departure'
    """
    match = _PREPOSITION.search(noun)
    end = match.start() if match else len(noun)
    start = max(noun.rfind(" ", 0, end), noun.rfind("-", 0, end)) + 1
    return noun[:start] + _pluralize_word(noun[start:end]) + noun[end:]


def _pluralize_word(word: str) -> str:
    low = word.lower()
    if low in _table("unchanged")[0] or is_plural(low) or low.endswith("ics"):
        return word
    if low in _plurals():
        return _match_case(word, _plurals()[low])
    if low.endswith("man") and low not in ("human", "german", "roman", "talisman", "ottoman"):
        return word[:-2] + "en"
    if re.search(r"[sx]is$", low):
        return word[:-2] + "es"
    if re.search(r"[^aeiou]y$", low):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(?:s|x|z|ch|sh)$", low) else "s")


def _match_case(word: str, form: str) -> str:
    return form.capitalize() if word[:1].isupper() else form


@lru_cache(maxsize=4096)
def singularize(noun: str) -> str:
    """Return the singular of a noun that was written in the plural."""
    head, space, last = noun.rpartition(" ")
    low = last.lower()
    if low in _singulars():
        return head + space + _match_case(last, _singulars()[low])
    if not is_plural(last) or len(last) < 4:
        return noun
    if low.endswith("ies") and len(low) > 4:
        return head + space + last[:-3] + "y"
    if re.search(r"(?:analy|cri|the|hypothe|diagno|oa|synop|ba)ses$", low) and low != "bases":
        return head + space + last[:-2] + "is"
    return head + space + re.sub(r"(?:(?<=[sxz])|(?<=ch)|(?<=sh))es$|s$", "", last)


def add_article(noun: str) -> str:
    """Return a noun after "a" or "an", as it is spoken."""
    return f"an {noun}" if _VOWEL_SOUND.match(noun) else f"a {noun}"


def lower_first_letter(label: str) -> str:
    """Return a label as it stands in a sentence: "Launch site" is "launch site", "GDP" stays."""
    return label[0].lower() + label[1:] if label[1:2].islower() else label


def is_verb(word: str) -> bool:
    """Return whether a word is the infinitive of a verb that names of properties are made of."""
    return word in _verbs()


def to_infinitive(verb: str) -> str:
    """Return the infinitive of the third person: `carries` -> `carry`, `teaches` -> `teach`."""
    if verb in ("is", "has", "does", "goes"):
        return {"is": "be", "has": "have", "does": "do", "goes": "go"}[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if re.search(r"(?:ch|sh|ss|us|x|zz|o)es$", verb) and not is_verb(verb[:-1]):
        return verb[:-2]
    return verb.removesuffix("s")


def to_participle(infinitive: str) -> str:
    """Return the past participle of a verb: `write` -> `written`, `ship` -> `shipped`."""
    for row in _table("verbs"):
        if row[0] == infinitive:
            return row[2]
    if infinitive.endswith("e"):
        return infinitive + "d"
    if re.search(r"[^aeiou]y$", infinitive):
        return infinitive[:-1] + "ied"
    is_doubled = _SHORT_VERB.fullmatch(infinitive) or _DOUBLED.search(infinitive)
    return infinitive + (infinitive[-1] if is_doubled else "") + "ed"


def to_past(participle: str) -> str:
    """Return the past of a past participle: `written` -> `wrote`, `founded` -> `founded`."""
    return _participles().get(participle, participle)


def is_past_participle(word: str) -> bool:
    """Return whether a word looks like a past participle of a verb."""
    if word in _participles():
        return word not in _SAME_FORMS
    return word.endswith("ed") and _infinitive_of_regular(word) != ""


def _infinitive_of_regular(word: str) -> str:
    stem = word[:-2]
    options = (word[:-1], stem, stem[:-1], word[:-3] + "y")
    return next((option for option in options if option in _regular_verbs()), "")


def is_past(word: str) -> bool:
    """Return whether a word is the past of a verb, as a participle that stands alone may be."""
    return any(row[1] == word != row[0] for row in _table("verbs")) or (
        word.endswith("ed") and _infinitive_of_regular(word) != ""
    )


def past_to_participle(past: str) -> str:
    """Return the participle of the past of a verb: `wrote` -> `written`."""
    return next((row[2] for row in _table("verbs") if row[1] == past), past)


def is_verb_form(word: str) -> bool:
    """Return whether a word that ends in "ing" is a form of a verb."""
    stem = word.removesuffix("ing")
    return any(is_verb(option) for option in (stem, stem + "e", stem[:-1]))
