"""Words for IRIs: those in the IRI itself, and the best of the labels that a graph gives."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

_SAYS_NOTHING = frozenset({"this", "it", "me", "self"})
_EXTENSION = re.compile(r"\.(?:ttl|owl|rdf|xml|nt|html?|jsonld|json|trig)$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[_\s/#:=&;,+-]+")


@lru_cache(maxsize=65536)
def words_of_local_name(iri: str) -> str:
    """Return the words in the last part of an IRI.

    >>> words_of_local_name("http://x/ship#disposition_of_ship")
    'disposition of ship'
    >>> words_of_local_name("http://x/parentFeature")
    'parent feature'
    >>> words_of_local_name("http://x/HTTPServer2")
    'HTTP server 2'
    """
    local = _local_part(iri)
    chunks = [chunk for chunk in _SEPARATORS.split(local) if chunk]
    return " ".join(word for chunk in chunks for word in _words_of_chunk(chunk)) or iri


def best_label(labels: Iterable[tuple[str, str | None]], languages: Sequence[str]) -> str | None:
    """Return the label in the best of the languages, `(text, language tag)` pairs in; None of none.

    For each language asked for: exactly it, then its base language and that language's other
    regions. Then `mul`, labels without a language, English, and the first of any.
    """
    given = [(text, (tag or "").lower()) for text, tag in labels if text.strip()]
    for wanted in language_chain(languages):
        for text, tag in given:
            if tag == wanted:
                return text
        for text, tag in given:
            if wanted and wanted != "mul" and tag.startswith(wanted + "-"):
                return text
    return given[0][0] if given else None


def language_chain(languages: Sequence[str]) -> tuple[str, ...]:
    """Return the language tags to try in turn, lower case; the empty one means no language."""
    chain: list[str] = []
    for language in languages:
        parts = language.lower().split("-")
        chain += ["-".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return tuple(dict.fromkeys([*(tag for tag in chain if tag), "mul", "", "en"]))


def _local_part(iri: str) -> str:
    """Return the part after the last `#`, `/` or `:`, percent-escapes resolved."""
    parts = [part for part in re.split(r"[#/:]", iri) if part]
    while len(parts) > 1 and parts[-1].lower() in _SAYS_NOTHING:
        parts.pop()
    return _EXTENSION.sub("", unquote(parts[-1])) if parts else ""


def _words_of_chunk(chunk: str) -> Iterator[str]:
    """Yield the words of one piece without separators, split at case and digits."""
    words = list(_split_at_case(chunk))
    if len(words) == 1:
        yield words[0]
        return
    for word in words:
        yield word.lower() if word[0].isupper() and word[1:].islower() else word


def _split_at_case(chunk: str) -> Iterator[str]:
    """`parentFeature` -> parent, Feature; `HTTPServer2` -> HTTP, Server, 2; `Q42` stays whole."""
    start = 0
    for at in range(1, len(chunk)):
        if (
            _is_hump(chunk, start, at)
            or _is_number(chunk, start, at)
            or _is_after_number(chunk, at)
        ):
            yield chunk[start:at]
            start = at
    if start < len(chunk):
        yield chunk[start:]


def _is_hump(chunk: str, start: int, at: int) -> bool:
    """Return whether a capital letter begins a word; not in `iPhone`, `URIs`."""
    if not chunk[at].isupper():
        return False
    if chunk[at - 1].islower():
        return at - start > 1
    rest = chunk[at + 1 :]
    return chunk[at - 1].isupper() and rest[:1].islower() and rest != "s"


def _is_number(chunk: str, start: int, at: int) -> bool:
    """Return whether digits begin here after a word; not after the one capital letter of `Q42`."""
    is_code = at - start == 1 and chunk[start].isupper()
    return chunk[at].isdigit() and chunk[at - 1].isalpha() and not is_code


def _is_after_number(chunk: str, at: int) -> bool:
    """Return whether a word begins after digits; not in `2nd`, `3D`."""
    if not (chunk[at].isalpha() and chunk[at - 1].isdigit()):
        return False
    word = chunk[at : at + 3]
    return word[1:2].islower() and (word[0].isupper() or (len(word) == 3 and word.islower()))


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
