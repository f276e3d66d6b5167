"""English nouns within sentences: their plurals, their first letters."""

import re

_SAME_IN_PLURAL = frozenset(
    ["data", "series", "species", "people", "news", "aircraft", "spacecraft", "headquarters"]
)
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_VOWEL_SOUND = re.compile(r"[aeioAEIO]|[uU](?!ni|s[aei]|rl|ti)|[FHLMNRSX](?=[A-Z\d]|\b)")
_PREPOSITION = re.compile(r" (?:of|in|for|at|with|by|to|from) ")


def is_plural(word: str) -> bool:
    """Return whether an English word looks like a plural."""
    low = word.lower()
    return low not in _SAME_IN_PLURAL and bool(re.search(r"[^suia]s$", low))


def english_plural(noun: str) -> str:
    """Return the plural of a noun of a few words: that of the word before its first preposition.

    >>> english_plural("point of departure")
    'points of departure'
    """
    found = _PREPOSITION.search(noun)
    end = found.start() if found else len(noun)
    start = noun.rfind(" ", 0, end) + 1
    return noun[:start] + _plural(noun[start:end]) + noun[end:]


def english_singular(noun: str) -> str:
    """Return the singular of a noun that was written in the plural."""
    head, space, last = noun.rpartition(" ")
    if not is_plural(last) or len(last) < 4:
        return noun
    if last.endswith("ies"):
        return head + space + last[:-3] + "y"
    return head + space + re.sub(r"(?:(?<=[sxz])|(?<=ch)|(?<=sh))es$|s$", "", last)


def with_article(noun: str) -> str:
    """Return a noun after "a" or "an", as it is spoken."""
    return f"an {noun}" if _VOWEL_SOUND.match(noun) else f"a {noun}"


def within_sentence(label: str) -> str:
    """Return a label as it stands in a sentence: "Launch site" is "launch site", "GDP" stays."""
    return label[0].lower() + label[1:] if label[1:2].islower() else label


def _plural(word: str) -> str:
    low = word.lower()
    if low in _SAME_IN_PLURAL or is_plural(low) or low.endswith("ics"):
        return word
    if low in _IRREGULAR:
        return word[: len(word) - len(low)] + _IRREGULAR[low]
    if re.search(r"[^aeiou]y$", low):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(?:s|x|z|ch|sh)$", low) else "s")
