"""Definitions of virtual predicates, comments and names that enrich a graph.

The kinds follow Henselmann et al. (2025), sections 4.2 to 4.4, besides names of n-ary relations.
They are stored in a file that people can edit:

    [prefixes]
    gn = "http://www.geonames.org/ontology#"
    org = "https://www.w3.org/ns/org#"

    [[shortcut]]                       # a predicate for a property path
    property = "gn:locatedIn"
    path = "org:hasRegisteredSite/gn:parentFeature+"
    label = "located in"

    [[inverse]]                        # the inverse of a predicate
    property = "org:siteOf"
    of = "org:hasSite"
    label = "site of"

    [[comment]]
    term = "org:Site"
    text = "A place at which an organization is."

    [[name]]                           # nameless instances, named by their links
    class = "ex:SupplyFlow"
    from = ["ex:supplier", "ex:customer"]

`language` is allowed beside a label or text, `why` everywhere. Words of a question never link to an
`unnamed` shortcut, only to the predicates of its path.
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
from askgraph.graph.glossary import to_toml
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql import Pattern, Predicate
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite.virtual import VirtualPaths, find_predicates, parse_path
from askgraph.sparql.serializer import to_text

DEFAULT_LANGUAGE = "en"
"""Language of labels and comments by default."""

_KEYS_BY_KIND = {
    "shortcut": ("property", "path", "label", "comment", "language", "unnamed", "why"),
    "inverse": ("property", "of", "label", "comment", "language", "why"),
    "comment": ("term", "text", "language", "why"),
    "name": ("class", "from", "why"),
}
"""Keys by kind; the first two are required."""
_LANGUAGE_TAG = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class DefinedProperty:
    """A predicate defined by a property path; for an inverse the path is `^p`."""

    iri: str  # IRI of the predicate
    path: Predicate
    label: str = ""  # label for people
    comment: str = ""  # comment for people
    language: str = DEFAULT_LANGUAGE  # language of label and comment
    why: str = ""  # reason for the definition
    unnamed: bool = False  # whether words of a question never link to it

    @property
    def inverse_of(self) -> str | None:
        """The predicate that it inverts; None for a shortcut."""
        match self.path:
            case PropertyPath(operator="^", parts=(NamedNode(value=iri),)):
                return iri
            case _:
                return None


@dataclass(frozen=True)
class TermComment:
    """An explanation of a term in words."""

    term: str
    text: str
    language: str = DEFAULT_LANGUAGE
    why: str = ""


@dataclass(frozen=True)
class NodeName:
    """A rule that names nameless instances of a class by the resources of some predicates."""

    cls: str
    predicates: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Definitions:
    """All definitions for one graph."""

    properties: tuple[DefinedProperty, ...] = ()
    comments: tuple[TermComment, ...] = ()
    names: tuple[NodeName, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.properties or self.comments or self.names)

    def select(
        self, *, inverse: bool, shortcuts: bool, comments: bool, names: bool
    ) -> "Definitions":
        """Return the definitions of some kinds."""
        properties = (
            item for item in self.properties if (inverse if item.inverse_of else shortcuts)
        )
        return Definitions(
            tuple(properties),
            self.comments if comments else (),
            self.names if names else (),
            self.prefixes,
        )


def resolve_virtual_paths(definitions: Definitions) -> VirtualPaths:
    """Return the path of each property, over the graph's own predicates only.

    Raises:
        SetupError: A path refers to itself, or a property is defined twice.
    """
    for iri, count in Counter(item.iri for item in definitions.properties).items():
        if count > 1:
            raise SetupError(f"<{iri}> is defined {count} times: join the paths with '|'")
    paths = {item.iri: item.path for item in definitions.properties}
    return {iri: _resolve_path(path, paths, (iri,)) for iri, path in paths.items()}


def _resolve_path(path: Predicate, paths: VirtualPaths, ancestors: tuple[str, ...]) -> Predicate:
    match path:
        case NamedNode(value=iri) if iri in ancestors:
            raise SetupError(f"the property <{iri}> is defined by itself")
        case NamedNode(value=iri) if iri in paths:
            return _resolve_path(paths[iri], paths, (*ancestors, iri))
        case PropertyPath(operator="!") if any(iri in paths for iri in find_predicates(path)):
            raise SetupError(f"the path {to_text(path)} negates a defined property")
        case PropertyPath(operator=operator, parts=parts):
            return PropertyPath(
                operator, tuple(_resolve_path(part, paths, ancestors) for part in parts)
            )
        case _:
            return path


def read_definitions(path: Path) -> Definitions:
    """Read a file of definitions.

    Raises:
        SetupError: The file is missing or invalid; the message names the position.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SetupError(f"there is no file {str(path)!r} of definitions") from error
    except (OSError, ValueError) as error:
        raise SetupError(f"the definitions {path} cannot be read: {error}") from error
    prefixes = document.pop("prefixes", {})
    if not isinstance(prefixes, dict) or not all(isinstance(n, str) for n in prefixes.values()):
        raise SetupError(f"{path}: [prefixes] must give a namespace for each prefix")
    reader = _DefinitionReader(path, PrefixMap(prefixes).namespaces)
    if unknown := sorted(set(document) - set(_KEYS_BY_KIND)):
        raise SetupError(f"{path}: {unknown[0]!r} is not one of {', '.join(_KEYS_BY_KIND)}")
    tables = {kind: reader.read_tables(kind, document.get(kind, [])) for kind in _KEYS_BY_KIND}
    definitions = Definitions(
        (
            *(
                reader.read_property(position, table, "path")
                for position, table in tables["shortcut"]
            ),
            *(reader.read_property(position, table, "of") for position, table in tables["inverse"]),
        ),
        tuple(reader.read_comment(position, table) for position, table in tables["comment"]),
        tuple(reader.read_name(position, table) for position, table in tables["name"]),
        prefixes,
    )
    resolve_virtual_paths(definitions)
    return definitions


def format_definitions(definitions: Definitions) -> str:
    """Format definitions as a file that `read_definitions` reads."""
    prefixes = PrefixMap(dict(definitions.prefixes))
    shorten = prefixes.shorten
    tables: list[tuple[str, dict[str, str | bool | list[str]]]] = []
    for item in sorted(definitions.properties, key=lambda item: item.inverse_of is not None):
        words = {
            "label": item.label,
            "comment": item.comment,
            "language": "" if item.language == DEFAULT_LANGUAGE else item.language,
        }
        if item.inverse_of is not None:
            terms = {"property": shorten(item.iri), "of": shorten(item.inverse_of)}
            tables.append(("inverse", {**terms, **words, "why": item.why}))
        else:
            path = re.sub("<([^>]*)>", lambda iri: shorten(iri[1]), to_text(item.path))
            terms = {"property": shorten(item.iri), "path": path}
            tables.append(
                ("shortcut", {**terms, **words, "unnamed": item.unnamed, "why": item.why})
            )
    for comment in definitions.comments:
        tables.append(
            (
                "comment",
                {
                    **{"term": shorten(comment.term), "text": comment.text},
                    "language": "" if comment.language == DEFAULT_LANGUAGE else comment.language,
                    "why": comment.why,
                },
            )
        )
    for name in definitions.names:
        predicates = list(map(shorten, name.predicates))
        tables.append(("name", {"class": shorten(name.cls), "from": predicates, "why": name.why}))
    body = "\n".join(
        f"[[{kind}]]\n"
        + "".join(f"{key} = {to_toml(value)}\n" for key, value in table.items() if value)
        for kind, table in tables
    )
    used_prefixes = {
        prefix: namespace
        for prefix, namespace in prefixes.namespaces.items()
        if f"{prefix}:" in body
    }
    head = "".join(
        f"{to_toml(prefix)} = {to_toml(name)}\n" for prefix, name in used_prefixes.items()
    )
    return f"[prefixes]\n{head}\n{body}" if body else "[prefixes]\n"


@dataclass(frozen=True)
class _DefinitionReader:
    """Parses the tables of a file of definitions."""

    path: Path
    prefixes: Mapping[str, str]

    def read_tables(self, kind: str, value: object) -> list[tuple[str, dict[str, str]]]:
        """Return the tables of a kind with their positions, after checking keys and types."""
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise SetupError(f"{self.path}: write [[{kind}]] for each, with two brackets")
        tables = []
        for number, table in enumerate(value, 1):
            position = f"{self.path}: [[{kind}]] {number}"
            for key, text in table.items():
                if key not in _KEYS_BY_KIND[kind] or not _has_valid_type(key, text):
                    raise SetupError(
                        f"{position}: the key {key!r} or its value is invalid; available: "
                        f"{', '.join(_KEYS_BY_KIND[kind])}"
                    )
            missing = [key for key in _KEYS_BY_KIND[kind][:2] if not table.get(key)]
            if missing:
                raise SetupError(f"{position} has no {missing[0]!r}")
            tables.append((position, table))
        return tables

    def read_property(self, position: str, table: Mapping[str, str], key: str) -> DefinedProperty:
        path = self._parse_text(position, table[key], lambda text: parse_path(text, self.prefixes))
        if key == "of":
            path = PropertyPath("^", (path,))
        return DefinedProperty(
            self.read_iri(position, table["property"]),
            path,
            table.get("label", ""),
            table.get("comment", ""),
            table.get("language", DEFAULT_LANGUAGE),
            table.get("why", ""),
            bool(table.get("unnamed", False)),
        )

    def read_comment(self, position: str, table: Mapping[str, str]) -> TermComment:
        language = table.get("language", DEFAULT_LANGUAGE)
        return TermComment(
            self.read_iri(position, table["term"]), table["text"], language, table.get("why", "")
        )

    def read_name(self, position: str, table: Mapping[str, str]) -> NodeName:
        predicate_names: Iterable[str] = table["from"]
        predicates = tuple(self.read_iri(position, predicate) for predicate in predicate_names)
        return NodeName(self.read_iri(position, table["class"]), predicates, table.get("why", ""))

    def read_iri(self, position: str, text: str) -> str:
        def parse_iri(source: str) -> str:
            match parse_tree(f"ASK {{ ?s ?p {source} }}", self.prefixes).where.elements:
                case (Pattern(object=NamedNode(value=iri)),) if ":" in iri:
                    return iri
            raise QuerySyntaxError(f"{source!r} is not an IRI")

        return self._parse_text(position, text, parse_iri)

    def _parse_text(self, position: str, text: str, parse: Callable[[str], Parsed]) -> Parsed:
        for token in tokenize(text).all_tokens:
            prefix = token.text.partition(":")[0]
            if token.kind == "pname" and prefix not in self.prefixes:
                raise SetupError(
                    f"{position}: the prefix '{prefix}:' of {text!r} is not in [prefixes]"
                )
        try:
            return parse(text)
        except (QuerySyntaxError, ValueError) as error:
            raise SetupError(f"{position}: {text!r} cannot be read: {error}") from error


def _has_valid_type(key: str, value: object) -> bool:
    match key:
        case "unnamed":
            return isinstance(value, bool)
        case "from":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "language":
            return isinstance(value, str) and _LANGUAGE_TAG.fullmatch(value) is not None
        case _:
            return isinstance(value, str)
