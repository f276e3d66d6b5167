"""A graph's glossary: its users' words for its classes, properties and resources.

It is stored in a file that people can edit, as TOML or Turtle:

    instructions = "Distances are in kilometres."      # for language models

    [[entry]]                          # a class, a property or another resource
    word = "kickoff"
    means = ["http://example.org/launchDate"]

    [[entry]]                          # instances of any of several classes
    word = "vehicles"
    means = ["http://example.org/Car", "http://example.org/Lorry"]

    [[entry]]                          # a synonym for a word of the graph or glossary
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

    [[entry]]                          # a question with its own query
    word = "active fleet"
    query = "SELECT ?ship { ?ship a <http://example.org/Ship> }"

    [[entry]]                          # a measure: a number for each instance of a class
    word = "net revenue"
    of = "order line"
    pattern = "?this o:quantity ?n ; o:price ?p"
    value = "?n * ?p"
    aggregate = "sum"                  # for another thing: of all instances that it reaches

    [[entry]]                          # a condition: some instances of a class
    word = "products on sale"
    of = "product"
    pattern = "?this o:onSale true"
    default = true                     # a default filter: questions about the class mean these
    unless = ["also discontinued"]     # words of a question that lift it

    [[entry]]                          # a property that no answer reads or shows
    word = "internal cost"
    means = "o:internalCost"
    hidden = true

    [[entry]]                          # a row rule: the order and number of rows of a list
    word = "newest orders"
    of = "order"
    order = "-o:day"                   # after a minus sign from the highest value
    limit = 20

Every entry may have `synonyms = { en = ["net sales"] }`, a `description`, an `owner`, a `unit` and
`tests = [{ question = "…", rows = [["95"]] }]`. In `pattern` and `value`, `?this` is the instance,
and prefixes are those of the graph (docs/how-to/definitions.md).

In Turtle, standard terms describe the classes, properties and resources:

    o:launchDate skos:altLabel "kickoff" .                            # a class, property, resource
    [] owl:unionOf ( o:Car o:Lorry ) ; skos:altLabel "vehicles" .     # instances of any of these
    [] skos:prefLabel "ship" ; skos:altLabel "boats" .                # a synonym
    [] sh:select "SELECT …" ; skos:altLabel "active fleet" .          # a question with its query
    [] a skos:ConceptScheme ; rdfs:comment "Distances are in km." .   # for language models

    [] skos:prefLabel "net revenue" ; sh:targetClass o:OrderLine ;    # a definition
       sh:select "SELECT ?this (SUM(?n * ?p) AS ?value) { ?this o:quantity ?n … }" .

A concept with `skos:exactMatch` means its match. `skos:definition` is equivalent to `rdfs:comment`;
for a class, property or resource it is added to the instructions, after its name.

Notes are sentences that agents keep about a graph for later runs, oldest first, in a file of JSON
lines, `{"text", "kept", "snapshot"}`, which people may edit. Model output is as untrusted as the
content of a graph: a note is a single short line.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pyoxigraph import Literal, NamedNode, RdfFormat

from askgraph.atomic_files import lock_file, to_setup_error, write_text_atomically
from askgraph.errors import SetupError
from askgraph.graph.names import build_virtual_iri
from askgraph.index.names import stem_name
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.lexer import declare_prefixes, tokenize
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import SubjectDescription, parse_statements, write_turtle_string

_MEANING_KEYS: Final = ("means", "same_as", "query", "pattern", "order", "limit")
_TEXT_KEYS: Final = ("of", "pattern", "value", "aggregate", "unit", "order", "description", "owner")
_DEFINITION_KEYS: Final = (
    *_TEXT_KEYS, "default", "unless", "hidden", "limit", "synonyms", "tests",
)  # fmt: skip
AGGREGATES: Final = {"": "", "sum": "SUM", "average": "AVG", "minimum": "MIN", "maximum": "MAX"}
"""How a measure sums up several instances, and the function in SPARQL."""
_WORDING_KEYS: Final = ("phrase", "inverse", "plural", "most", "least")
_MAX_CHARACTERS: Final = {
    **{"word": 200, "same_as": 200, "means": 2_000, "query": 20_000},
    **dict.fromkeys(_WORDING_KEYS, 100),
    **dict.fromkeys(_TEXT_KEYS, 2_000),
    **dict.fromkeys(("unless", "synonyms"), 200),
}
"""Maximum length of an entry's texts, by key."""
_MAX_INSTRUCTION_CHARACTERS: Final = 4_000  # maximum length of the instructions
_MAX_ENTRIES: Final = 5_000  # maximum number of entries in a glossary


@dataclass(frozen=True)
class TermWording:
    """How answers speak of a property or class, where its label is not enough."""

    phrase: str = ""  # the words between a subject and a value: `crewed by`, `home ground`
    inverse: str = ""  # what the value did to the subject, in the past: `crewed`
    plural: str = ""  # the plural of the noun
    most: str = ""  # the adjective of the thing with the highest value: `largest`
    least: str = ""  # the adjective of the thing with the lowest value: `smallest`
    person: bool = False  # whether the class has people, or the property leads to people

    def __bool__(self) -> bool:
        return self != TermWording()


@dataclass(frozen=True)
class DefinitionTest:
    """A question with the rows that its answer must have, in any order; see `Definition`."""

    question: str
    rows: tuple[tuple[str, ...], ...]
    lang: str = ""


@dataclass(frozen=True)
class Definition:
    """What an entry defines beyond a meaning; all attributes are optional.

    Attributes:
        of: The class of `?this`.
        pattern: The graph pattern that `?this` matches.
        value: The expression of a measure over the variables of the pattern.
        aggregate: How a measure sums up several instances: a key of `AGGREGATES`.
        unit: The unit of a measure or property, for readers.
        order: The property by which lists of the class are sorted, after `-` from the highest.
        description: One sentence for readers and models.
        owner: Who answers for it.
        default: Whether questions about the class mean only what matches the pattern.
        unless: Words of a question that lift a default filter.
        hidden: Whether no answer reads or shows the property.
        limit: The number of rows of a list of the class.
        synonyms: Further words, as (text, language) pairs.
        tests: Questions with the rows of their answers.
    """

    of: str = ""
    pattern: str = ""
    value: str = ""
    aggregate: str = ""
    unit: str = ""
    order: str = ""
    description: str = ""
    owner: str = ""
    default: bool = False
    unless: tuple[str, ...] = ()
    hidden: bool = False
    limit: int = 0
    synonyms: tuple[tuple[str, str], ...] = ()
    tests: tuple[DefinitionTest, ...] = ()

    def __bool__(self) -> bool:
        return self != Definition()

    @property
    def kind(self) -> str:
        """The kind: measure, filter, condition, rows, hidden or an empty text."""
        if self.pattern:
            return "measure" if self.value else "filter" if self.default else "condition"
        return "rows" if self.order or self.limit else "hidden" if self.hidden else ""

    def to_table(self) -> dict[str, Any]:
        """Return the attributes that are set, as a dict for TOML and JSON."""
        table = {key: value for key, value in asdict(self).items() if value}
        languages: dict[str, list[str]] = {}
        for text, language in self.synonyms:
            languages.setdefault(language or "und", []).append(text)
        tests = [
            {key: value for key, value in asdict(test).items() if value} for test in self.tests
        ]
        lists = {"synonyms": languages, "tests": tests, "unless": list(self.unless)}
        return {key: lists.get(key, value) for key, value in table.items()}


@dataclass(frozen=True)
class GlossaryEntry:
    """A word or phrase with one meaning."""

    word: str  # the word or phrase
    means: tuple[str, ...] = ()  # IRIs: a property, a resource, or classes whose instances it means
    same_as: str = ""  # another word with the same meaning
    query: str = ""  # A query whose result it means
    wording: TermWording = TermWording()  # how answers speak of the one term that it means
    definition: Definition = Definition()  # what the word defines beyond a meaning

    @property
    def iri(self) -> str:
        """The IRI of the virtual class or property that it defines."""
        return build_virtual_iri(self.word)

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """The word and its synonyms, as (text, language) pairs."""
        return ((self.word, ""), *self.definition.synonyms)

    def get_name(self, language: str) -> str:
        """Return the first name in a language; the word without one."""
        names = (text for text, tag in self.definition.synonyms if tag == language)
        return self.word if language == "en" else next(names, self.word)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The stems of the word; entries with equal keys define the same word."""
        return stem_name(self.word)

    def to_table(self) -> dict[str, Any]:
        """Return the word and its meaning as a dict for TOML and JSON."""
        meanings = {key: value for key in _MEANING_KEYS[:3] if (value := getattr(self, key))}
        wording = {key: value for key, value in asdict(self.wording).items() if value}
        return {"word": self.word, **meanings, **wording, **self.definition.to_table()}


@dataclass(frozen=True)
class Glossary:
    """The entries of a graph, sorted by word, and instructions for language models."""

    entries: tuple[GlossaryEntry, ...] = ()
    instructions: str = ""

    def __bool__(self) -> bool:
        return bool(self.entries or self.instructions)

    def to_table(self) -> dict[str, Any]:
        """Return the glossary as a dict for JSON."""
        return {
            "instructions": self.instructions,
            "entries": [entry.to_table() for entry in self.entries],
        }

    @cached_property
    def _entries_by_name(self) -> Mapping[tuple[str, ...], GlossaryEntry]:
        return {stem_name(name): entry for entry in self.entries for name, _ in entry.names}

    @cached_property
    def wordings(self) -> Mapping[str, TermWording]:
        """The wordings of terms, by their IRIs."""
        return {entry.means[0]: entry.wording for entry in self.entries if entry.wording}

    @cached_property
    def definitions(self) -> tuple[GlossaryEntry, ...]:
        """The entries of measures, conditions, filters and row rules."""
        return tuple(entry for entry in self.entries if entry.definition.of)

    @cached_property
    def hidden_iris(self) -> frozenset[str]:
        """The properties that no answer reads or shows."""
        return frozenset(
            iri for entry in self.entries if entry.definition.hidden for iri in entry.means
        )

    def find_entry(self, word: str) -> GlossaryEntry | None:
        """Return the entry of a word, in singular or plural, or None."""
        return self._entries_by_name.get(stem_name(word))

    def add_entries(self, *entries: GlossaryEntry) -> "Glossary":
        """Return a glossary with more entries, replacing those with the same word."""
        entries_by_key = {entry.key: entry for entry in (*self.entries, *entries)}
        sorted_entries = sorted(entries_by_key.values(), key=lambda entry: entry.word.casefold())
        return Glossary(tuple(sorted_entries), self.instructions)

    def remove_word(self, word: str) -> "Glossary":
        """Return a glossary without the entry of a word."""
        key = stem_name(word)
        return Glossary(
            tuple(entry for entry in self.entries if entry.key != key), self.instructions
        )

    def resolve_synonyms(self, entry: GlossaryEntry) -> GlossaryEntry:
        """Return the entry at the end of a chain of synonyms.

        Raises:
            SetupError: The chain is a cycle.
        """
        chain = [entry]
        while (
            next_entry := self.find_entry(chain[-1].same_as) if chain[-1].same_as else None
        ) is not None:
            chain.append(next_entry)
            if next_entry.key in {item.key for item in chain[:-1]}:
                words = " is the same as ".join(repr(item.word) for item in chain)
                raise SetupError(f"these words explain each other in a circle: {words}")
        return chain[-1]


def parse_glossary(text: str, source: str) -> Glossary:
    """Parse a glossary from TOML; raises `SetupError` with the position of a fault.

    Meanings may also be names instead of IRIs: see `askgraph.workspace.glossary`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{source} is not TOML: {error}") from error
    if unknown_keys := sorted(set(document) - {"instructions", "entry"}):
        raise SetupError(f"{source}: {unknown_keys[0]!r} is neither 'instructions' nor [[entry]]")
    tables, instructions = document.get("entry", []), document.get("instructions", "")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SetupError(f"{source}: write [[entry]] for each word, with two brackets")
    entries: dict[tuple[str, ...], GlossaryEntry] = {}
    for index, table in enumerate(tables, 1):
        position = f"{source}: [[entry]] {index}"
        entry = parse_entry(table, position)
        if (previous := entries.setdefault(entry.key, entry)) is not entry:
            raise to_duplicate_error(entry, previous, position)
    return Glossary(instructions=parse_instructions(instructions, source)).add_entries(
        *entries.values()
    )


def to_duplicate_error(entry: GlossaryEntry, previous: GlossaryEntry, position: str) -> SetupError:
    """Return the error for a word that two entries define."""
    return SetupError(
        f"{position}: {entry.word!r} is explained twice, also as {previous.word!r}; keep "
        "one of them"
    )


def parse_entry(table: Mapping[str, Any], position: str) -> GlossaryEntry:
    """Parse an entry from a table with a word and one meaning.

    Raises:
        SetupError: The entry is invalid; the message starts with `position`.
    """
    keys = ("word", *_MEANING_KEYS[:3], *_WORDING_KEYS, "person", *_DEFINITION_KEYS)
    if unknown_keys := sorted(set(table) - {*keys}):
        raise SetupError(f"{position}: {unknown_keys[0]!r} is not one of {', '.join(keys)}")
    means = table.get("means", ())
    meanings = list(means) if isinstance(means, list | tuple) else [means]
    text_keys = ("word", "same_as", "query", *_WORDING_KEYS, *_TEXT_KEYS)
    texts = {key: table.get(key) or "" for key in text_keys}
    synonyms = _parse_synonyms(table.get("synonyms") or {}, position)
    listed = [
        *(("means", meaning) for meaning in meanings),
        *(("synonyms", s) for s, _ in synonyms),
    ]
    unless = table.get("unless") or []
    unless = unless if isinstance(unless, list | tuple) else [unless]
    listed += [("unless", phrase) for phrase in unless]
    for key, text in (*texts.items(), *listed):
        if not isinstance(text, str) or len(text) > _MAX_CHARACTERS[key]:
            raise SetupError(
                f"{position}: {key!r} must be a text of at most {_MAX_CHARACTERS[key]} characters"
            )
    texts = {key: text.strip() for key, text in texts.items()}
    flags = {key: table.get(key) or False for key in ("person", "default", "hidden")}
    if unset := [key for key, flag in flags.items() if not isinstance(flag, bool)]:
        raise SetupError(f"{position}: {unset[0]!r} must be true or false")
    limit, person = table.get("limit") or 0, flags.pop("person")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise SetupError(f"{position}: 'limit' must be a number of rows")
    attributes: dict[str, Any] = {**{key: texts[key] for key in _TEXT_KEYS}, **flags}
    definition = Definition(
        **attributes,
        unless=tuple(unless),
        limit=limit,
        synonyms=synonyms,
        tests=_parse_tests(table.get("tests") or [], position),
    )
    wording = TermWording(**{key: texts[key] for key in _WORDING_KEYS}, person=person)
    iris = tuple(dict.fromkeys(meanings))
    entry = GlossaryEntry(
        texts["word"], iris, texts["same_as"], texts["query"], wording, definition
    )
    if wording and len(iris) != 1:
        raise SetupError(f"{position}: a wording needs a word that means one property or class")
    if not entry.key:
        raise SetupError(
            f"{position}: 'word' must be the word or phrase to explain, as people write it"
        )
    _check_definition(entry, position)
    return entry


def _check_definition(entry: GlossaryEntry, position: str) -> None:
    """Raise `SetupError` unless an entry has one meaning and the keys that it needs."""
    rule = entry.definition
    has_rule = bool(rule.pattern or rule.order or rule.limit)
    if sum(map(bool, (entry.means, entry.same_as, entry.query, has_rule))) != 1:
        raise SetupError(
            f"{position}: say what {entry.word!r} means by one of {', '.join(_MEANING_KEYS)}"
        )
    if rule.aggregate not in AGGREGATES:
        functions = ", ".join(filter(None, AGGREGATES))
        raise SetupError(f"{position}: 'aggregate' must be one of {functions}")
    if has_rule != bool(rule.of):
        raise SetupError(f"{position}: {entry.word!r} needs both 'of', a class, and its pattern")
    if (rule.value or rule.default) and not rule.pattern:
        raise SetupError(f"{position}: {entry.word!r} needs a 'pattern' for its instances")
    if rule.hidden and not entry.means:
        raise SetupError(f"{position}: say by 'means' which property is hidden")


def _parse_synonyms(value: Any, position: str) -> tuple[tuple[str, str], ...]:
    """Return the (text, language) pairs of a list of words, or of lists by language."""
    by_language = value if isinstance(value, dict) else {"und": value}
    pairs = []
    for language, texts in by_language.items():
        for text in texts if isinstance(texts, list | tuple) else [texts]:
            if not isinstance(text, str) or not stem_name(text):
                raise SetupError(f"{position}: 'synonyms' must be words, or lists by language")
            pairs.append((text.strip(), "" if language == "und" else str(language)))
    return tuple(dict.fromkeys(pairs))


def _parse_tests(value: Any, position: str) -> tuple[DefinitionTest, ...]:
    tests = []
    for table in value if isinstance(value, list | tuple) else [value]:
        match table:
            case {"question": str(question), "rows": list() | tuple() as rows}:
                cells = tuple(
                    tuple(map(str, row if isinstance(row, list | tuple) else [row])) for row in rows
                )
                tests.append(DefinitionTest(question, cells, str(table.get("lang") or "")))
            case _:
                raise SetupError(f"{position}: a test needs a 'question' and its 'rows'")
    return tuple(tests)


def parse_instructions(text: object, position: str) -> str:
    """Check and strip instructions; raises `SetupError` if they are no text or too long."""
    if not isinstance(text, str) or len(text) > _MAX_INSTRUCTION_CHARACTERS:
        raise SetupError(
            f"{position}: 'instructions' must be a text of at most "
            f"{_MAX_INSTRUCTION_CHARACTERS} characters"
        )
    return text.strip()


def check_size(glossary: Glossary) -> None:
    """Raise `SetupError` if a glossary has too many entries."""
    if len(glossary.entries) > _MAX_ENTRIES:
        raise SetupError(f"a glossary has at most {_MAX_ENTRIES:,} entries: remove some first")


def format_glossary(glossary: Glossary) -> str:
    """Format a glossary as a file that `parse_glossary` reads."""
    text = glossary.instructions
    blocks = [f"instructions = {to_toml(text)}\n"] if text else []
    for entry in glossary.entries:
        lines = (f"{key} = {to_toml(value)}" for key, value in entry.to_table().items())
        blocks.append("\n".join(("[[entry]]", *lines, "")))
    return "\n".join(blocks)


def to_toml(value: object) -> str:
    """Return a value as TOML, which equals JSON except for the character DEL and for tables."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {to_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(to_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_LABEL_PREDICATES = (voc.SKOS_PREF_LABEL, voc.SKOS_ALT_LABEL, voc.SKOS_HIDDEN_LABEL)
_QUERY_PREDICATES = (voc.SH_SELECT, voc.SH_ASK)
_COMMENT_PREDICATES = (voc.RDFS_COMMENT, voc.SKOS_DEFINITION, voc.SH_AGENT_INSTRUCTION)
_UNIT: Final = voc.QUDT + "unit"
_TEXT_PREDICATES: Final = {
    "description": voc.SKOS_DEFINITION,
    "owner": voc.DCTERMS_CREATOR,
    "unit": _UNIT,
    "unless": voc.SKOS_SCOPE_NOTE,
    "tests": voc.SKOS_EXAMPLE,
}
"""Predicates of the texts of a definition, by key."""
_MEASURE: Final = re.compile(
    r"\s*SELECT\s+\?this(?:\s+\((.*?)\s+AS\s+\?value\))?\s*(?:WHERE\s*)?\{(.*)\}\s*", re.I | re.S
)
_GLOSSARY_CLASSES = frozenset(map(NamedNode, (voc.SKOS_CONCEPT_SCHEME, voc.OWL_ONTOLOGY)))
"""Classes of nodes that stand for the complete graph or glossary."""


def parse_turtle_glossary(
    text: str, source: str, *, format: RdfFormat = RdfFormat.TURTLE
) -> Glossary:
    """Parse a glossary from RDF; raises `SetupError` with the position of a fault.

    A word that labels several classes means instances of any of them.
    """
    statements, prefixes = parse_statements(text, source, format=format)
    entries: dict[tuple[str, ...], GlossaryEntry] = {}
    comments: list[str] = []
    for subject in statements.subjects:
        node = SubjectDescription(subject, statements)
        comments.extend(_read_comments(node, PrefixMap(prefixes)))
        for entry in _parse_entries(node, source):
            first = entries.setdefault(entry.key, entry)
            if first.means and entry.means:
                means = tuple(dict.fromkeys((*first.means, *entry.means)))
                entries[entry.key] = replace(first, means=means)
            elif (first.same_as, first.query) != (entry.same_as, entry.query):
                raise to_duplicate_error(entry, first, source)
    if not (entries or comments):
        raise SetupError(
            f"{source} explains no word: put skos:altLabel on the classes, properties and things "
            "that words mean"
        )
    instructions = parse_instructions("\n".join(dict.fromkeys(comments)), source)
    return Glossary(instructions=instructions).add_entries(*entries.values())


def _parse_entries(node: SubjectDescription, source: str) -> Iterator[GlossaryEntry]:
    """Yield an entry for each label; labels of unnamed nodes without a union are synonyms."""
    if (table := _read_definition(node, source)) is not None:
        yield parse_entry(table, source)
        return
    query = next(filter(None, map(node.get_text, _QUERY_PREDICATES)), "")
    members = [
        term
        for head in node.get_nodes(voc.OWL_UNION_OF)
        for term in node.statements.iterate_list(head.node)
    ]
    means = [term.value for term in members if isinstance(term, NamedNode)]
    means = means or list(node.get_iris(voc.SKOS_EXACT_MATCH))
    if not (query or means) and isinstance(node.node, NamedNode):
        means = [node.node.value]
    name = "" if query or means else node.get_text(voc.SKOS_PREF_LABEL) or ""
    labels = [text for key in _LABEL_PREDICATES[bool(name) :] for text, _ in node.get_labels(key)]
    if query and not labels:
        raise SetupError(f"{source}: {node.node} has a query but no word: give it a skos:altLabel")
    if labels and not (query or means or name):
        raise SetupError(
            f"{source}: nothing says what {labels[0]!r} means: put its skos:altLabel on the class, "
            "property or thing meant, or give another word of it as skos:prefLabel"
        )
    if query:
        ontologies = node.get_objects(voc.SH_PREFIXES) or None
        query = declare_prefixes(query, node.statements.get_declared_prefixes(ontologies))
    for text in dict.fromkeys(labels):
        meaning = {"query": query} if query else {"means": means, "same_as": name}
        yield parse_entry({"word": text, **meaning}, source)


def _read_definition(node: SubjectDescription, source: str) -> dict[str, Any] | None:
    """Return the table of a node that defines more than a meaning; None for other nodes."""
    word, cls = node.get_text(voc.SKOS_PREF_LABEL), node.get_iri(voc.SH_TARGET_CLASS)
    texts = {
        key: [literal.value for literal in node.get_literals(iri)]
        for key, iri in _TEXT_PREDICATES.items()
    }
    hidden = node.get_text(voc.SH_DEACTIVATED) == "true"
    if not word or isinstance(node.node, NamedNode) or not (cls or hidden or any(texts.values())):
        return None
    synonyms: dict[str, list[str]] = {}
    for text, language in node.get_labels(voc.SKOS_ALT_LABEL):
        synonyms.setdefault(language or "und", []).append(text)
    table: dict[str, Any] = {
        "word": word,
        "means": list(node.get_iris(voc.SKOS_EXACT_MATCH)),
        "of": cls,
        "hidden": hidden,
        "default": node.get_text(voc.SH_DEFAULT_VALUE) == "true",
        "synonyms": synonyms,
        "limit": int(node.get_text(voc.SH_MAX_COUNT) or 0),
        **{key: " ".join(texts[key]) for key in ("description", "owner", "unit")},
        "unless": texts["unless"],
    }
    if order := node.get_iri(voc.SH_PATH):
        table["order"] = "-" * (node.get_text(voc.SH_ORDER) == "-1") + order
    try:
        table["tests"] = [json.loads(text) for text in texts["tests"]]
    except ValueError as error:
        raise SetupError(f"{source}: skos:example of {word!r} is not JSON: {error}") from error
    if select := node.get_text(voc.SH_SELECT):
        match = _MEASURE.fullmatch(select)
        if match is None:
            raise SetupError(f"{source}: write 'SELECT ?this (… AS ?value) {{ … }}' for {word!r}")
        value, table["pattern"] = match[1] or "", match[2].strip()
        functions = {function: name for name, function in AGGREGATES.items() if function}
        function = re.fullmatch(rf"({'|'.join(functions)})\((.*)\)", value, re.I | re.S)
        table["value"] = function[2] if function else value
        table["aggregate"] = functions[function[1].upper()] if function else ""
    return table


def _read_comments(node: SubjectDescription, prefixes: PrefixMap) -> Iterator[str]:
    texts = [text.strip() for key in _COMMENT_PREDICATES for text, _ in node.get_labels(key)]
    if _GLOSSARY_CLASSES.intersection(node.get_objects(voc.RDF_TYPE)):
        yield from texts
    elif isinstance(node.node, NamedNode):
        yield from (f"{prefixes.shorten(node.node.value)}: {text}" for text in texts)


def format_turtle_glossary(glossary: Glossary, prefixes: PrefixMap) -> str:
    """Format a glossary as Turtle that `parse_turtle_glossary` reads as the same glossary."""
    body = "\n".join(_format_statements(glossary, prefixes))
    return f"{prefixes.build_header(body)}\n{body}"


def _format_statements(glossary: Glossary, prefixes: PrefixMap) -> Iterator[str]:
    shorten = prefixes.shorten
    if glossary.instructions:
        comment = f"{shorten(voc.RDFS_COMMENT)} {write_turtle_string(glossary.instructions)}"
        yield f"[] a {shorten(voc.SKOS_CONCEPT_SCHEME)} ;\n    {comment} .\n"
    for entry in glossary.entries:
        label = f"{shorten(voc.SKOS_ALT_LABEL)} {write_turtle_string(entry.word)}"
        means = [*map(shorten, entry.means)]
        if entry.definition:
            yield _format_definition(entry, prefixes)
        elif len(means) == 1:
            yield f"{means[0]} {label} .\n"
        elif means:
            yield f"[] {shorten(voc.OWL_UNION_OF)} ( {' '.join(means)} ) ;\n    {label} .\n"
        elif entry.same_as:
            yield (
                f"[] {shorten(voc.SKOS_PREF_LABEL)} {write_turtle_string(entry.same_as)} ;\n  "
                f"  {label} .\n"
            )
        else:
            words = (token.text.upper() for token in tokenize(entry.query).tokens)
            form = next((word for word in words if word in ("SELECT", "ASK")), "SELECT")
            predicate = voc.SH_ASK if form == "ASK" else voc.SH_SELECT
            yield f"[] {shorten(predicate)} {write_turtle_string(entry.query)} ;\n    {label} .\n"


def _format_definition(entry: GlossaryEntry, prefixes: PrefixMap) -> str:
    """Return the node of a definition; `_read_definition` reads it."""
    shorten, quote, rule = prefixes.shorten, write_turtle_string, entry.definition
    pairs = [(voc.SKOS_PREF_LABEL, quote(entry.word))]
    for text, language in rule.synonyms:
        pairs.append((voc.SKOS_ALT_LABEL, str(Literal(text, language=language or None))))
    pairs += [(voc.SKOS_EXACT_MATCH, shorten(iri)) for iri in entry.means]
    if rule.of:
        pairs.append((voc.SH_TARGET_CLASS, shorten(rule.of)))
    if rule.pattern:
        function = AGGREGATES[rule.aggregate]
        value = f"{function}({rule.value})" if function else rule.value
        column = f" ({value} AS ?value)" if value else ""
        pairs.append((voc.SH_SELECT, quote(f"SELECT ?this{column} WHERE {{ {rule.pattern} }}")))
    if rule.order:
        pairs.append((voc.SH_PATH, shorten(rule.order.lstrip("-"))))
        pairs.append((voc.SH_ORDER, "-1" if rule.order.startswith("-") else "1"))
    pairs += [(voc.SH_MAX_COUNT, str(rule.limit))] if rule.limit else []
    pairs += [(voc.SH_DEFAULT_VALUE, "true")] if rule.default else []
    pairs += [(voc.SH_DEACTIVATED, "true")] if rule.hidden else []
    tests = rule.to_table().get("tests", [])
    values = {"unless": rule.unless, "tests": [json.dumps(x, ensure_ascii=False) for x in tests]}
    for key, iri in _TEXT_PREDICATES.items():
        pairs += [(iri, quote(text)) for text in values.get(key, [getattr(rule, key)]) if text]
    return "[] " + " ;\n    ".join(f"{shorten(iri)} {value}" for iri, value in pairs) + " .\n"


MAX_NOTES: Final = 16
"""Maximum number of notes of a graph; the oldest are dropped."""
MAX_NOTE_CHARACTERS: Final = 300
"""Maximum length of a note."""


@dataclass(frozen=True)
class Note:
    """A sentence about a graph."""

    text: str  # the sentence
    kept: str = ""  # date of the note, in ISO 8601
    snapshot: str = ""  # the graph's snapshot at that date

    @property
    def key(self) -> str:
        """The normalized text; notes with equal keys are duplicates."""
        return self.text.casefold().rstrip(" .!;")


def to_one_line(text: str) -> str:
    """Return a text on one line, with invisible characters and repeated spaces as one space."""
    return " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )


def read_notes(path: Path) -> tuple[Note, ...]:
    """Read the notes of a file, up to the limits; empty if there is no file.

    Raises:
        SetupError: The file is invalid, probably after manual editing.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the notes {path} cannot be read: {error}") from error
    return _drop_oldest(
        [_parse_note(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line]
    )


def add_note(path: Path, text: str, snapshot: str) -> bool:
    """Add a note as the newest; return False if it existed before.

    Raises:
        ValueError: The text is empty or too long.
        SetupError: The note cannot be written.
    """
    line = to_one_line(text)
    if not line:
        raise ValueError("the note is empty: write a sentence")
    if len(line) > MAX_NOTE_CHARACTERS:
        raise ValueError(
            f"a note can have at most {MAX_NOTE_CHARACTERS} characters; this one has {len(line):,}"
        )
    note = Note(line, datetime.now(UTC).date().isoformat(), snapshot)
    before: list[Note] = []

    def append_note(notes: Sequence[Note]) -> Sequence[Note]:
        before.extend(other_note for other_note in notes if other_note.key == note.key)
        return [*(other_note for other_note in notes if other_note.key != note.key), note]

    update_notes(path, append_note)
    return not before


def update_notes(
    path: Path, transform: Callable[[Sequence[Note]], Sequence[Note]]
) -> tuple[Note, ...]:
    """Update the notes of a file with a function, under a lock, and return them.

    Writes nothing if the function raises.

    Raises:
        SetupError: The file cannot be written.
    """
    try:
        with lock_file(path.with_name(f".{path.name}.lock")):
            updated = _drop_oldest(transform(read_notes(path)))
            lines = (json.dumps(asdict(note), ensure_ascii=False) for note in updated)
            write_text_atomically(path, "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise to_setup_error(f"the notes {path} cannot be written", error) from error
    return updated


def _drop_oldest(notes: Sequence[Note]) -> tuple[Note, ...]:
    return tuple(notes[-MAX_NOTES:])


def _parse_note(line: str, position: str) -> Note:
    try:
        match json.loads(line):
            case {"text": str(text), **fields}:
                date, snapshot = (str(fields.get(key, "")) for key in ("kept", "snapshot"))
                return Note(to_one_line(text)[:MAX_NOTE_CHARACTERS], date, snapshot)
    except ValueError:
        pass
    raise SetupError(
        f'{position}: not a note: a line must be {{"text": …, "kept": …, "snapshot": …}}'
    )
