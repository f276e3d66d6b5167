"""Definitions of what a graph says only indirectly: predicates, comments, names.

The kinds are those of Henselmann et al. (2025), sections 4.2 to 4.4, and names of n-ary relations.
They come in a file that a person can edit:

    [prefixes]
    gn = "http://www.geonames.org/ontology#"
    org = "https://www.w3.org/ns/org#"

    [[shortcut]]                       # a predicate for a property path
    property = "gn:locatedIn"
    path = "org:hasRegisteredSite/gn:parentFeature+"
    label = "located in"

    [[inverse]]                        # a predicate for another one, backwards
    property = "org:siteOf"
    of = "org:hasSite"
    label = "site of"

    [[comment]]
    term = "org:Site"
    text = "A place at which an organization is."

    [[name]]                           # instances without a name, called by what they link
    class = "ex:SupplyFlow"
    from = ["ex:supplier", "ex:customer"]

`language` may stand beside a label or text, `why` wherever somebody wants to say it. A shortcut
that is `unnamed` is a shorter way and no more: words of a question lead to the predicates of its
path, not to it.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pyoxigraph import NamedNode

from askgraph.errors import QuerySyntaxError, SetupError
from askgraph.graph.glossary import toml_value
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql import Pattern, Predicate
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import read
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite.virtual import VirtualPaths, predicates_in, read_path
from askgraph.sparql.serializer import text_of

LANGUAGE = "en"
"""The language of labels and comments that do not say theirs."""

_KEYS = {
    "shortcut": ("property", "path", "label", "comment", "language", "unnamed", "why"),
    "inverse": ("property", "of", "label", "comment", "language", "why"),
    "comment": ("term", "text", "language", "why"),
    "name": ("class", "from", "why"),
}
"""Keys by kind; the first two are needed."""
_LANGUAGE_TAG = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
Made = TypeVar("Made")


@dataclass(frozen=True)
class DefinedProperty:
    """A predicate that stands for a property path; an inverse is one of the path `^p`.

    No word of a question stands for one that is `unnamed`; its label is for those who read it.
    """

    iri: str
    path: Predicate
    label: str = ""
    comment: str = ""
    language: str = LANGUAGE
    why: str = ""
    unnamed: bool = False

    @property
    def inverse_of(self) -> str | None:
        """The predicate that it turns round; None for a shortcut."""
        match self.path:
            case PropertyPath(operator="^", parts=(NamedNode(value=iri),)):
                return iri
            case _:
                return None


@dataclass(frozen=True)
class Comment:
    """What a term means, in words."""

    term: str
    text: str
    language: str = LANGUAGE
    why: str = ""


@dataclass(frozen=True)
class NodeName:
    """Nameless instances of a class get a name: the names of what these predicates lead to."""

    cls: str
    predicates: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Definitions:
    """All that is to be added to one graph."""

    properties: tuple[DefinedProperty, ...] = ()
    comments: tuple[Comment, ...] = ()
    names: tuple[NodeName, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.properties or self.comments or self.names)

    def only(self, *, inverse: bool, shortcuts: bool, comments: bool, names: bool) -> "Definitions":
        """Return those of some kinds."""
        kept = (one for one in self.properties if (inverse if one.inverse_of else shortcuts))
        return Definitions(
            tuple(kept),
            self.comments if comments else (),
            self.names if names else (),
            self.prefixes,
        )


def virtual_paths(definitions: Definitions) -> VirtualPaths:
    """Return the paths of the properties, over the graph's own predicates only.

    A path may use another defined property; `SetupError` if one leads back to itself, and if
    a property is defined twice.
    """
    for iri, times in Counter(one.iri for one in definitions.properties).items():
        if times > 1:
            raise SetupError(f"<{iri}> is defined {times} times: join the paths with '|'")
    given = {one.iri: one.path for one in definitions.properties}
    return {iri: _resolved(path, given, (iri,)) for iri, path in given.items()}


def _resolved(path: Predicate, given: VirtualPaths, on: tuple[str, ...]) -> Predicate:
    match path:
        case NamedNode(value=iri) if iri in on:
            raise SetupError(f"the property <{iri}> is defined by itself")
        case NamedNode(value=iri) if iri in given:
            return _resolved(given[iri], given, (*on, iri))
        case PropertyPath(operator="!") if any(iri in given for iri in predicates_in(path)):
            raise SetupError(f"the path {text_of(path)} negates a defined property")
        case PropertyPath(operator=operator, parts=parts):
            return PropertyPath(operator, tuple(_resolved(part, given, on) for part in parts))
        case _:
            return path


def read_definitions(path: Path) -> Definitions:
    """Read a file of definitions; `SetupError` names what is wrong with it and where."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SetupError(f"there is no file {str(path)!r} of definitions") from error
    except (OSError, ValueError) as error:
        raise SetupError(f"the definitions {path} cannot be read: {error}") from error
    prefixes = document.pop("prefixes", {})
    if not isinstance(prefixes, dict) or not all(isinstance(n, str) for n in prefixes.values()):
        raise SetupError(f"{path}: [prefixes] must give a namespace for each prefix")
    reading = _Reading(path, PrefixMap(prefixes).namespaces)
    if unknown := sorted(set(document) - set(_KEYS)):
        raise SetupError(f"{path}: {unknown[0]!r} is none of {', '.join(_KEYS)}")
    tables = {kind: reading.tables(kind, document.get(kind, [])) for kind in _KEYS}
    made = Definitions(
        (
            *(reading.property(at, table, "path") for at, table in tables["shortcut"]),
            *(reading.property(at, table, "of") for at, table in tables["inverse"]),
        ),
        tuple(reading.comment(at, table) for at, table in tables["comment"]),
        tuple(reading.name(at, table) for at, table in tables["name"]),
        prefixes,
    )
    virtual_paths(made)
    return made


def definitions_text(definitions: Definitions) -> str:
    """Return definitions as the file that `read_definitions` reads."""
    prefixes = PrefixMap(dict(definitions.prefixes))
    short = prefixes.shorten
    tables: list[tuple[str, dict[str, str | bool | list[str]]]] = []
    for one in sorted(definitions.properties, key=lambda one: one.inverse_of is not None):
        words = {"label": one.label, "comment": one.comment, "language": _other(one.language)}
        if one.inverse_of is not None:
            ends = {"property": short(one.iri), "of": short(one.inverse_of)}
            tables.append(("inverse", {**ends, **words, "why": one.why}))
        else:
            path = re.sub("<([^>]*)>", lambda iri: short(iri[1]), text_of(one.path))
            ends = {"property": short(one.iri), "path": path}
            tables.append(("shortcut", {**ends, **words, "unnamed": one.unnamed, "why": one.why}))
    for comment in definitions.comments:
        said = {"term": short(comment.term), "text": comment.text}
        tables.append(
            ("comment", {**said, "language": _other(comment.language), "why": comment.why})
        )
    for name in definitions.names:
        listed = list(map(short, name.predicates))
        tables.append(("name", {"class": short(name.cls), "from": listed, "why": name.why}))
    body = "\n".join(
        f"[[{kind}]]\n"
        + "".join(f"{key} = {toml_value(value)}\n" for key, value in table.items() if value)
        for kind, table in tables
    )
    used = {
        prefix: namespace
        for prefix, namespace in prefixes.namespaces.items()
        if f"{prefix}:" in body
    }
    head = "".join(f"{toml_value(prefix)} = {toml_value(name)}\n" for prefix, name in used.items())
    return f"[prefixes]\n{head}\n{body}" if body else "[prefixes]\n"


def _other(language: str) -> str:
    return "" if language == LANGUAGE else language


@dataclass(frozen=True)
class _Reading:
    """A file of definitions while it is read."""

    path: Path
    prefixes: Mapping[str, str]

    def tables(self, kind: str, value: object) -> list[tuple[str, dict[str, str]]]:
        """The tables of a kind, each with its place, checked but for what its texts mean."""
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise SetupError(f"{self.path}: write [[{kind}]] for each, with two brackets")
        found = []
        for number, table in enumerate(value, 1):
            at = f"{self.path}: [[{kind}]] {number}"
            for key, text in table.items():
                if key not in _KEYS[kind] or not _fits(key, text):
                    raise SetupError(f"{at}: {key!r} is wrong; there are {', '.join(_KEYS[kind])}")
            missing = [key for key in _KEYS[kind][:2] if not table.get(key)]
            if missing:
                raise SetupError(f"{at} has no {missing[0]!r}")
            found.append((at, table))
        return found

    def property(self, at: str, table: Mapping[str, str], key: str) -> DefinedProperty:
        path = self._meant(at, table[key], lambda text: read_path(text, self.prefixes))
        if key == "of":
            path = PropertyPath("^", (path,))
        return DefinedProperty(
            self.iri(at, table["property"]),
            path,
            table.get("label", ""),
            table.get("comment", ""),
            table.get("language", LANGUAGE),
            table.get("why", ""),
            bool(table.get("unnamed", False)),
        )

    def comment(self, at: str, table: Mapping[str, str]) -> Comment:
        language = table.get("language", LANGUAGE)
        return Comment(self.iri(at, table["term"]), table["text"], language, table.get("why", ""))

    def name(self, at: str, table: Mapping[str, str]) -> NodeName:
        listed: Iterable[str] = table["from"]
        predicates = tuple(self.iri(at, one) for one in listed)
        return NodeName(self.iri(at, table["class"]), predicates, table.get("why", ""))

    def iri(self, at: str, text: str) -> str:
        def named(written: str) -> str:
            match read(f"ASK {{ ?s ?p {written} }}", self.prefixes).where.elements:
                case (Pattern(object=NamedNode(value=iri)),) if ":" in iri:
                    return iri
            raise QuerySyntaxError(f"{written!r} is no IRI")

        return self._meant(at, text, named)

    def _meant(self, at: str, text: str, read: Callable[[str], Made]) -> Made:
        for token in lexed(text).all:
            prefix = token.text.partition(":")[0]
            if token.kind == "pname" and prefix not in self.prefixes:
                raise SetupError(f"{at}: the prefix '{prefix}:' of {text!r} is not in [prefixes]")
        try:
            return read(text)
        except (QuerySyntaxError, ValueError) as error:
            raise SetupError(f"{at}: {text!r} cannot be read: {error}") from error


def _fits(key: str, value: object) -> bool:
    """Whether a value is of the type that its key has."""
    match key:
        case "unnamed":
            return isinstance(value, bool)
        case "from":
            return isinstance(value, list) and all(isinstance(one, str) for one in value)
        case "language":
            return isinstance(value, str) and _LANGUAGE_TAG.fullmatch(value) is not None
        case _:
            return isinstance(value, str)
