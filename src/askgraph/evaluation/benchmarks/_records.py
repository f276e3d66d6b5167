"""Records of a benchmark's file, and the questions that they make: texts, ids, unreadable items."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents, Unreadable
from askgraph.evaluation.questions import GoldQuestion
from askgraph.metadata.bundles import plain_name, text_of

Item = tuple[str, GoldQuestion | str]
"""Where an item stands; the question, or the reason why there is none."""

Given = TypeVar("Given")

_PROLOGUE = r"(?:\s|\#[^\n]*(?:\n|$)|PREFIX\s[^<>]*<[^<>]*>|BASE\s*<[^<>]*>|DEFINE\s[^\n]*\n)*"
_SURROGATE = re.compile("[\ud800-\udfff]")
_FORM = re.compile(_PROLOGUE + r"(CONSTRUCT|DESCRIBE)\b", re.IGNORECASE)


class Unfit(Exception):
    """The item is no question we could ask or score; the text says why."""


@dataclass(frozen=True)
class Text:
    """One wording of a question; the language is None if the file does not say."""

    string: str
    language: str | None = None


def each(
    records: Iterable[tuple[str, Given | str]],
    read: Callable[[str, Given], Iterable[Item]],
) -> Iterator[Item]:
    """Read every record; one that is `Unfit`, or a reason already, becomes its reason."""
    for place, record in records:
        if isinstance(record, str):
            yield place, record
            continue
        try:
            found = list(read(place, record))
        except Unfit as unfit:
            found = [(place, str(unfit))]
        yield from found


def wordings(
    place: str, question: GoldQuestion, texts: Sequence[Text], language: str | None
) -> Iterator[Item]:
    """Yield the question once for each wording that is asked for.

    If that are several, their ids end in `@` and the language and, for several in one language,
    in `#` and a number.
    """
    there = [text for text in texts if text.string.strip()]
    if not there:
        raise Unfit("it has no text")
    chosen = _in_language(there, language)
    if not chosen:
        known = ", ".join(dict.fromkeys(text.language or "none" for text in there))
        raise Unfit(f"no text in {language!r}; it has {known}")
    for suffix, text in zip(_suffixes(chosen), chosen, strict=True):
        asked = replace(question, id=question.id + suffix, text=text.string, language=text.language)
        yield place, asked


def gathered(
    items: Iterable[Item],
    *,
    graph: str | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> Contents:
    """Sort items into questions and what is listed; a repeated id gets `~2`, `~3`, …"""
    questions: list[GoldQuestion] = []
    unreadable: list[Unreadable] = []
    times: dict[str, int] = {}
    for place, found in items:
        reason = found if isinstance(found, str) else _what_is_missing(found)
        if reason is not None:
            unreadable.append(Unreadable(place, reason))
        elif isinstance(found, GoldQuestion):
            questions.append(replace(found, id=_own_id(found.id, times)))
    return Contents(tuple(questions), tuple(unreadable), graph, prefixes or {})


def split_in(path: Path, splits: Iterable[str]) -> str | None:
    """Return the split that a file's name has as a word, or that its folder is named for."""
    words = set(re.findall(r"[a-z]+", plain_name(path)))
    folder = path.parent.name.lower()
    return next((split for split in splits if split in words or split == folder), None)


def _in_language(texts: Sequence[Text], language: str | None) -> list[Text]:
    if language == "*":
        return list(texts)
    if language is None:
        english = [text for text in texts if _speaks(text, "en")]
        return english or [text for text in texts if text.language == texts[0].language]
    found = [text for text in texts if _speaks(text, language)]
    # A text without a language may be in any.
    return found or [text for text in texts if text.language is None]


def _speaks(text: Text, language: str) -> bool:
    tag, wanted = (text.language or "").lower(), language.lower()
    return tag == wanted or tag.startswith(f"{wanted}-")


def _suffixes(texts: Sequence[Text]) -> list[str]:
    if len(texts) == 1:
        return [""]
    languages = [text.language for text in texts]
    if len(set(languages)) == 1:
        return [f"#{number}" for number in range(1, len(texts) + 1)]
    suffixes = []
    for at, language in enumerate(languages):
        number = f"#{languages[: at + 1].count(language)}" if languages.count(language) > 1 else ""
        suffixes.append(f"@{language or 'none'}{number}")
    return suffixes


def _what_is_missing(question: GoldQuestion) -> str | None:
    if not question.text.strip():
        return "it has no text"
    if _SURROGATE.search(question.text):
        return "its text holds half a surrogate pair, which is no character"
    if not question.has_gold:
        return "it has neither a query nor answers"
    if question.sparql is not None and (form := _FORM.match(question.sparql)):
        return f"a {form[1].upper()} query gives triples, which cannot be scored as rows"
    return None


def _own_id(identity: str, times: dict[str, int]) -> str:
    own, number = identity, 1
    while own in times:
        number = times[identity] = times.get(identity, 1) + 1
        own = f"{identity}~{number}"
    times[own] = 1
    return own


Record = Mapping[str, object]

_KEY = re.compile(r'"([^"\\\n]{1,40})"\s*:')


def keys_in(head: str) -> frozenset[str]:
    """Return the keys, at any depth, of the beginning of a JSON text."""
    return frozenset(_KEY.findall(head))


def loaded(path: Path) -> object:
    """Return the content of a JSON file; `SetupError` with the line if it is not JSON."""
    try:
        content: object = json.loads(text_of(path))
    except json.JSONDecodeError as error:
        raise SetupError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path}: not JSON that can be read: {error}") from error
    return content


def listed(path: Path, *, key: str | None = None) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a JSON list, or of the list under a key, each with its place."""
    content = loaded(path)
    if key is not None:
        if not isinstance(content, dict) or key not in content:
            raise SetupError(f"{path}: expected an object with {key!r}")
        content = content[key]
    if not isinstance(content, list):
        raise SetupError(f"{path}: expected a list of objects{f' in {key!r}' if key else ''}")
    yield from numbered(path, content)


def numbered(path: Path, records: list[object]) -> Iterator[tuple[str, Record | str]]:
    """Yield records with their place; one that is no object becomes a reason."""
    for number, record in enumerate(records, start=1):
        found = record if isinstance(record, dict) else "it is no object"
        yield f"{path}, item {number}", found


def lines(path: Path) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a file with one JSON object a line, each with its place."""
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if line.strip():
            yield f"{path}, line {number}", _object(line)


def identity(record: Record, key: str, place: str) -> str:
    """Return an id as text; if the record has none, its number in the file."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise Unfit(f"{key!r} must be text or a whole number")
    return place.rpartition(" ")[2] if value in (None, "") else str(value)


def text_in(record: Record, key: str) -> str | None:
    """Return a text, None if it is absent, null or blank; `Unfit` for anything else."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise Unfit(f"{key!r} must be text")
    return value.strip() or None if value else None


def texts_in(record: Record, key: str) -> tuple[str, ...]:
    """Return a list of texts, without the blank ones; one text alone counts as a list of one."""
    value = record.get(key)
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(text, str | None) for text in values):
        raise Unfit(f"{key!r} must be a list of texts")
    return tuple(stripped for text in values if text and (stripped := text.strip()))


def query_in(record: Record, key: str = "query") -> str | None:
    """Return the text under `sparql` of the object under a key, or the text under the key."""
    value = record.get(key)
    return text_in(value, "sparql") if isinstance(value, dict) else text_in(record, key)


def _object(line: str) -> Record | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return record if isinstance(record, dict) else "expected an object with 'id' and 'question'"
