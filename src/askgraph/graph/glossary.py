"""A graph's glossary: words that its users have for its classes, properties and things.

It comes in a file that a person can edit, as TOML or Turtle:

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

    [[entry]]                          # how answers speak of a property (all keys are optional)
    word = "crew member"
    means = ["http://example.org/crewMember"]
    phrase = "crewed by"               # before a value: "missions crewed by Ann"
    inverse = "crewed"                 # of a value: "people who crewed Apollo 11"
    plural = "crew members"
    person = true                      # its values are people
    most = "largest"                   # of the highest value; `least` of the lowest

    [[entry]]                          # a question with a query of its own
    word = "active fleet"
    query = "SELECT ?ship { ?ship a <http://example.org/Ship> }"

In Turtle, standard terms are on the classes, properties and things meant:

    o:launchDate skos:altLabel "kickoff" .                            # a class, property or thing
    [] owl:unionOf ( o:Car o:Lorry ) ; skos:altLabel "vehicles" .     # what is of one of these
    [] skos:prefLabel "ship" ; skos:altLabel "boats" .                # another word
    [] sh:select "SELECT …" ; skos:altLabel "active fleet" .          # a query of its own
    [] a skos:ConceptScheme ; rdfs:comment "Distances are in km." .   # for language models

A concept with `skos:exactMatch` means what it matches. `skos:definition` says the same as
`rdfs:comment`; of a class, property or thing it is read into the instructions, behind its name.

Notes are sentences that agents keep about a graph for later runs, the oldest first, in a file of
JSON lines, `{"text", "kept", "snapshot"}`, which a person may edit. What a model wrote is trusted
as little as what a graph holds: a note is one line of few characters.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode, RdfFormat

from askgraph.atomic_files import locked, refused, write_whole
from askgraph.errors import SetupError
from askgraph.index.names import name_tokens
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.lexer import lexed, with_declared
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import Described, parsed, turtle_text

_MEANINGS: Final = ("means", "same_as", "query")
_WORDINGS: Final = ("phrase", "inverse", "plural", "most", "least")
_LONGEST: Final = {
    **{"word": 200, "same_as": 200, "means": 2_000, "query": 20_000},
    **dict.fromkeys(_WORDINGS, 100),
}
"""So many characters a text of an entry may have."""
_INSTRUCTIONS: Final = 4_000
"""So many characters the instructions may have."""
_MOST: Final = 5_000
"""So many entries a glossary may have, and so many classes one of them."""


@dataclass(frozen=True)
class Wording:
    """How answers speak of a property or class, where its label is not enough.

    Attributes:
        phrase: The words between a subject and a value: `crewed by`, `home ground`.
        inverse: What the value did to the subject, in the past: `crewed`.
        plural: The plural of the noun.
        most: The adjective of the thing with the highest value: `largest`.
        least: The adjective of the thing with the lowest value: `smallest`.
        person: Whether the class has people, or the property leads to people.
    """

    phrase: str = ""
    inverse: str = ""
    plural: str = ""
    most: str = ""
    least: str = ""
    person: bool = False

    def __bool__(self) -> bool:
        return self != Wording()


@dataclass(frozen=True)
class Entry:
    """A word or phrase, and one of the meanings that it can have.

    It `means` a property, a thing, or what is of one of several classes (IRIs), is the `same_as`
    another word, or asks what a `query` answers. A word that means one term may say how answers
    speak of it.
    """

    word: str
    means: tuple[str, ...] = ()
    same_as: str = ""
    query: str = ""
    wording: Wording = Wording()

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The stems of its word: entries that have the same are of the same word."""
        return name_tokens(self.word)

    def table(self) -> dict[str, Any]:
        """Return it as TOML and JSON have it: its word, its one meaning, and its wording."""
        meaning = next((key, value) for key in _MEANINGS if (value := getattr(self, key)))
        wording = {key: value for key, value in asdict(self.wording).items() if value}
        return {"word": self.word, **dict((meaning,)), **wording}


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

    @cached_property
    def wordings(self) -> Mapping[str, Wording]:
        """The wordings of terms, by their IRIs."""
        return {entry.means[0]: entry.wording for entry in self.entries if entry.wording}

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

    What entries mean may be written as names, too: see `askgraph.workspace.glossary`.
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
    keys = ("word", *_MEANINGS, *_WORDINGS, "person")
    if unknown := sorted(set(table) - {*keys}):
        raise SetupError(f"{place}: {unknown[0]!r} is none of {', '.join(keys)}")
    means = table.get("means", ())
    listed = list(means) if isinstance(means, list | tuple) else [means]
    texts = {key: table.get(key) or "" for key in ("word", "same_as", "query", *_WORDINGS)}
    for key, text in (*texts.items(), *(("means", one) for one in listed)):
        if not isinstance(text, str) or len(text) > _LONGEST[key]:
            raise SetupError(f"{place}: {key!r} is a text of at most {_LONGEST[key]} characters")
    texts = {key: text.strip() for key, text in texts.items()}
    person = table.get("person", False)
    if not isinstance(person, bool):
        raise SetupError(f"{place}: 'person' is true or false")
    wording = Wording(**{key: texts[key] for key in _WORDINGS}, person=person)
    means = tuple(dict.fromkeys(listed))
    entry = Entry(texts["word"], means, texts["same_as"], texts["query"], wording)
    if wording and len(means) != 1:
        raise SetupError(f"{place}: a wording is for a word that means one property or class")
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
        yield f"instructions = {toml_value(glossary.instructions)}\n"
    for one in glossary.entries:
        lines = (f"{key} = {toml_value(value)}" for key, value in one.table().items())
        yield "\n".join(("[[entry]]", *lines, ""))


def toml_value(value: str | bool | Sequence[str]) -> str:
    """Return a value as TOML has it: JSON's form, but for the character DEL, is TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_WORDS = (voc.SKOS_PREF_LABEL, voc.SKOS_ALT_LABEL, voc.SKOS_HIDDEN_LABEL)
_QUERIES = (voc.SH_SELECT, voc.SH_ASK)
_COMMENTS = (voc.RDFS_COMMENT, voc.SKOS_DEFINITION)
_WHOLE = frozenset(map(NamedNode, (voc.SKOS_CONCEPT_SCHEME, voc.OWL_ONTOLOGY)))
"""What is of such a kind is the graph or glossary as a whole."""


def read_turtle_glossary(
    text: str, place: str, *, format: RdfFormat = RdfFormat.TURTLE
) -> Glossary:
    """Return the glossary in an RDF text; `SetupError` says what is wrong with it, and where.

    A word that several classes have means what is of one of them.
    """
    statements, prefixes = parsed(text, place, format=format)
    found: dict[tuple[str, ...], Entry] = {}
    said: list[str] = []
    for subject in statements.subjects:
        one = Described(subject, statements)
        said.extend(_comments(one, PrefixMap(prefixes)))
        for entry in _entries(one, place):
            other = found.get(entry.key)
            found[entry.key] = entry if other is None else _of_both(other, entry, place)
    if not (found or said):
        raise SetupError(
            f"{place} explains no word: put skos:altLabel on the classes, properties and things "
            "that words mean"
        )
    instructions = checked_instructions("\n".join(dict.fromkeys(said)), place)
    return Glossary(instructions=instructions).with_entries(*found.values())


def _entries(one: Described, place: str) -> Iterator[Entry]:
    """A word for each of its labels, those of what is neither named nor joined its synonyms."""
    query = next(filter(None, map(one.text, _QUERIES)), "")
    united = [
        term for head in one.nodes(voc.OWL_UNION_OF) for term in one.statements.listed(head.node)
    ]
    means = [term.value for term in united if isinstance(term, NamedNode)]
    means = means or list(one.iris(voc.SKOS_EXACT_MATCH))
    if not (query or means) and isinstance(one.node, NamedNode):
        means = [one.node.value]
    name = "" if query or means else one.text(voc.SKOS_PREF_LABEL) or ""
    labels = [text for key in _WORDS[bool(name) :] for text, _ in one.labelled(key)]
    if query and not labels:
        raise SetupError(f"{place}: {one.node} has a query and no word: give it a skos:altLabel")
    if labels and not (query or means or name):
        raise SetupError(
            f"{place}: nothing says what {labels[0]!r} means: put its skos:altLabel on the class, "
            "property or thing meant, or give another word of it as skos:prefLabel"
        )
    if query:
        ontologies = one.objects(voc.SH_PREFIXES) or None
        query = with_declared(query, one.statements.declared(ontologies))
    for text in dict.fromkeys(labels):
        meaning = {"query": query} if query else {"means": means, "same_as": name}
        yield entry_of({"word": text, **meaning}, place)


def _of_both(known: Entry, entry: Entry, place: str) -> Entry:
    """The entry of a word that stands at several subjects."""
    if known.means and entry.means:
        return replace(known, means=tuple(dict.fromkeys((*known.means, *entry.means))))
    if (known.same_as, known.query) != (entry.same_as, entry.query):
        raise twice(entry, known, place)
    return known


def _comments(one: Described, prefixes: PrefixMap) -> Iterator[str]:
    texts = [text.strip() for key in _COMMENTS for text, _ in one.labelled(key)]
    if _WHOLE.intersection(one.objects(voc.RDF_TYPE)):
        yield from texts
    elif isinstance(one.node, NamedNode):
        yield from (f"{prefixes.shorten(one.node.value)}: {text}" for text in texts)


def turtle_glossary(glossary: Glossary, prefixes: PrefixMap) -> str:
    """Return a glossary as Turtle, which `read_turtle_glossary` reads as the same glossary."""
    body = "\n".join(_statements(glossary, prefixes))
    return f"{prefixes.header(body)}\n{body}"


def _statements(glossary: Glossary, prefixes: PrefixMap) -> Iterator[str]:
    name = prefixes.shorten
    if glossary.instructions:
        told = f"{name(voc.RDFS_COMMENT)} {turtle_text(glossary.instructions)}"
        yield f"[] a {name(voc.SKOS_CONCEPT_SCHEME)} ;\n    {told} .\n"
    for one in glossary.entries:
        label = f"{name(voc.SKOS_ALT_LABEL)} {turtle_text(one.word)}"
        means = [*map(name, one.means)]
        if len(means) == 1:
            yield f"{means[0]} {label} .\n"
        elif means:
            yield f"[] {name(voc.OWL_UNION_OF)} ( {' '.join(means)} ) ;\n    {label} .\n"
        elif one.same_as:
            yield f"[] {name(voc.SKOS_PREF_LABEL)} {turtle_text(one.same_as)} ;\n    {label} .\n"
        else:
            words = (token.text.upper() for token in lexed(one.query).given)
            form = next((word for word in words if word in ("SELECT", "ASK")), "SELECT")
            asks = voc.SH_ASK if form == "ASK" else voc.SH_SELECT
            yield f"[] {name(asks)} {turtle_text(one.query)} ;\n    {label} .\n"


MOST: Final = 16
"""So many notes a graph has at most: the oldest go."""
LONGEST: Final = 300
"""So many characters a note has at most."""


@dataclass(frozen=True)
class Note:
    """A sentence about a graph, the day when it was kept (ISO 8601), the graph's snapshot then."""

    text: str
    kept: str = ""
    snapshot: str = ""

    @property
    def key(self) -> str:
        """Its text as far as it matters: notes that have the same are the same."""
        return self.text.casefold().rstrip(" .!;")


def on_one_line(text: str) -> str:
    """Return a text with one space for any, and for what is no character to be seen."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def notes_in(path: Path) -> tuple[Note, ...]:
    """Return the notes in a file, within the bounds; none if there is no file.

    Raises `SetupError` if it cannot be read: then it was written by hand.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the notes {path} cannot be read: {error}") from error
    return _bounded([_note(line, f"{path}:{at}") for at, line in enumerate(lines, 1) if line])


def keep(path: Path, text: str, snapshot: str) -> bool:
    """Keep a note, and return whether it is new; one that was kept before is the newest then.

    Raises `ValueError` for a text that is empty or too long, `SetupError` if it cannot be kept.
    """
    line = on_one_line(text)
    if not line:
        raise ValueError("a note is a sentence: this one is empty")
    if len(line) > LONGEST:
        raise ValueError(f"a note has at most {LONGEST} characters, this one has {len(line):,}")
    note = Note(line, datetime.now(UTC).date().isoformat(), snapshot)
    before: list[Note] = []

    def change(notes: Sequence[Note]) -> Sequence[Note]:
        before.extend(one for one in notes if one.key == note.key)
        return [*(one for one in notes if one.key != note.key), note]

    changed(path, change)
    return not before


def changed(path: Path, change: Callable[[Sequence[Note]], Sequence[Note]]) -> tuple[Note, ...]:
    """Write what a change makes of the notes in a file, and return it; nothing if it raises.

    One process at a time does it. Raises `SetupError` if the file cannot be written.
    """
    try:
        with locked(path.with_name(f".{path.name}.lock")):
            made = _bounded(change(notes_in(path)))
            lines = (json.dumps(asdict(one), ensure_ascii=False) for one in made)
            write_whole(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise refused(f"the notes {path} cannot be written", error) from error
    return made


def _bounded(notes: Sequence[Note]) -> tuple[Note, ...]:
    return tuple(notes[-MOST:])


def _note(line: str, place: str) -> Note:
    try:
        match json.loads(line):
            case {"text": str(text), **more}:
                kept, snapshot = (str(more.get(key, "")) for key in ("kept", "snapshot"))
                return Note(on_one_line(text)[:LONGEST], kept, snapshot)
    except ValueError:
        pass
    raise SetupError(f'{place}: no note: a line is {{"text": …, "kept": …, "snapshot": …}}')
