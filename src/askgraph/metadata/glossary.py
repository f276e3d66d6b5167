"""A graph's glossary: words that its users have for its classes, properties and things.

It comes in a file that a person can edit, as TOML or, see `glossary_turtle`, as Turtle:

    instructions = "Distances are in kilometres."      # for language models

    [[entry]]                          # a class, a property or a thing
    word = "kickoff"
    means = ["http://example.org/launchDate"]

    [[entry]]                          # what is of one of several classes
    word = "vehicles"
    means = ["http://example.org/Car", "http://example.org/Lorry"]

    [[entry]]                          # another word of the graph or of the glossary
    word = "boats"
    same_as = "ship"

    [[entry]]                          # a question with a query of its own
    word = "active fleet"
    query = "SELECT ?ship { ?ship a <http://example.org/Ship> }"
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from askgraph.errors import SetupError
from askgraph.index.names import name_tokens

_MEANINGS: Final = ("means", "same_as", "query")
_LONGEST: Final = {"word": 200, "same_as": 200, "means": 2_000, "query": 20_000}
"""So many characters a text of an entry may have."""
_INSTRUCTIONS: Final = 4_000
"""So many characters the instructions may have."""
_MOST: Final = 5_000
"""So many entries a glossary may have, and so many classes one of them."""


@dataclass(frozen=True)
class Entry:
    """A word or phrase, and one of the meanings that it can have.

    It `means` a property, a thing, or what is of one of several classes (IRIs), is the `same_as`
    another word, or asks what a `query` answers.
    """

    word: str
    means: tuple[str, ...] = ()
    same_as: str = ""
    query: str = ""

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The stems of its word: entries that have the same are of the same word."""
        return name_tokens(self.word)

    def table(self) -> dict[str, Any]:
        """Return it as TOML and JSON have it: its word, and its one meaning."""
        meaning = next((key, value) for key in _MEANINGS if (value := getattr(self, key)))
        return dict((("word", self.word), meaning))


@dataclass(frozen=True)
class Glossary:
    """The entries of a graph, in the order of their words, and what models are told of it."""

    entries: tuple[Entry, ...] = ()
    instructions: str = ""

    def __bool__(self) -> bool:
        return bool(self.entries or self.instructions)

    def table(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "instructions": self.instructions,
            "entries": [one.table() for one in self.entries],
        }

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, ...], Entry]:
        return {one.key: one for one in self.entries}

    def of(self, word: str) -> Entry | None:
        """Return the entry of a word, in the singular or plural; None if there is none."""
        return self._by_key.get(name_tokens(word))

    def with_entries(self, *entries: Entry) -> "Glossary":
        """Return it with more entries, each in the place of one of the same word."""
        every = {**self._by_key, **{one.key: one for one in entries}}
        ordered = sorted(every.values(), key=lambda one: one.word.casefold())
        return Glossary(tuple(ordered), self.instructions)

    def without(self, word: str) -> "Glossary":
        """Return it without the entry of a word."""
        key = name_tokens(word)
        return Glossary(tuple(one for one in self.entries if one.key != key), self.instructions)

    def last(self, entry: Entry) -> Entry:
        """Return the entry at the end of synonyms of synonyms; `SetupError` for a cycle."""
        way = [entry]
        while (following := self.of(way[-1].same_as) if way[-1].same_as else None) is not None:
            way.append(following)
            if following.key in {one.key for one in way[:-1]}:
                words = " is the same as ".join(repr(one.word) for one in way)
                raise SetupError(f"these words explain each other in a circle: {words}")
        return way[-1]


def read_glossary(text: str, place: str) -> Glossary:
    """Return the glossary in a text; `SetupError` says what is wrong with it, and where.

    What entries mean may be written as names, too: see `askgraph.workspace.teaching`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{place} is no TOML: {error}") from error
    if unknown := sorted(set(document) - {"instructions", "entry"}):
        raise SetupError(f"{place}: {unknown[0]!r} is neither 'instructions' nor [[entry]]")
    tables, said = document.get("entry", []), document.get("instructions", "")
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise SetupError(f"{place}: write [[entry]] for each word, with two brackets")
    found: dict[tuple[str, ...], Entry] = {}
    for number, table in enumerate(tables, 1):
        where = f"{place}: [[entry]] {number}"
        entry = entry_of(table, where)
        if (other := found.setdefault(entry.key, entry)) is not entry:
            raise twice(entry, other, where)
    return Glossary(instructions=checked_instructions(said, place)).with_entries(*found.values())


def twice(entry: Entry, other: Entry, place: str) -> SetupError:
    """Return the error of a word that two entries explain."""
    return SetupError(
        f"{place}: {entry.word!r} is explained twice, also as {other.word!r}; leave one of them"
    )


def entry_of(table: Mapping[str, Any], place: str) -> Entry:
    """Return the entry that a table tells; `SetupError` says what is wrong with it, after `place`.

    It needs a word and one meaning.
    """
    keys = ("word", *_MEANINGS)
    if unknown := sorted(set(table) - {*keys}):
        raise SetupError(f"{place}: {unknown[0]!r} is none of {', '.join(keys)}")
    means = table.get("means", ())
    listed = list(means) if isinstance(means, list | tuple) else [means]
    texts = {key: table.get(key) or "" for key in ("word", "same_as", "query")}
    for key, text in (*texts.items(), *(("means", one) for one in listed)):
        if not isinstance(text, str) or len(text) > _LONGEST[key]:
            raise SetupError(f"{place}: {key!r} is a text of at most {_LONGEST[key]} characters")
    texts = {key: text.strip() for key, text in texts.items()}
    entry = Entry(texts["word"], tuple(dict.fromkeys(listed)), texts["same_as"], texts["query"])
    if not entry.key:
        raise SetupError(f"{place}: 'word' is the word or phrase to explain, as people write it")
    if sum(map(bool, (entry.means, entry.same_as, entry.query))) != 1:
        raise SetupError(f"{place}: say what {entry.word!r} means by one of {', '.join(_MEANINGS)}")
    return entry


def checked_instructions(text: object, place: str) -> str:
    """Return instructions as they are kept; `SetupError` if they are no text, or too long."""
    if not isinstance(text, str) or len(text) > _INSTRUCTIONS:
        raise SetupError(f"{place}: 'instructions' is a text of at most {_INSTRUCTIONS} characters")
    return text.strip()


def check_size(glossary: Glossary) -> None:
    """Raise `SetupError` for more entries than a glossary may have."""
    if len(glossary.entries) > _MOST:
        raise SetupError(f"a glossary has at most {_MOST:,} entries: remove some first")


def glossary_text(glossary: Glossary) -> str:
    """Return a glossary as the file that `read_glossary` reads."""
    return "\n".join(_blocks(glossary))


def _blocks(glossary: Glossary) -> Iterator[str]:
    if glossary.instructions:
        yield f"instructions = {_quoted(glossary.instructions)}\n"
    for one in glossary.entries:
        lines = (f"{key} = {_quoted(value)}" for key, value in one.table().items())
        yield "\n".join(("[[entry]]", *lines, ""))


def _quoted(value: str | tuple[str, ...]) -> str:
    """A value as TOML has it: JSON's form, but for the character DEL, is TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
