"""Read, check and change a graph's glossary in its workspace.

One process at a time changes a glossary, based on the previous changes; readers see the old file or
the new one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Variable

from askgraph.atomic_files import lock_file, write_text_atomically
from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.errors import QueryError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.glossary import (
    Glossary,
    GlossaryEntry,
    check_size,
    format_glossary,
    parse_glossary,
    parse_instructions,
)
from askgraph.graph.profile import Profile
from askgraph.index.names import ItemKind, NameIndex, stem_name
from askgraph.search.glossary import (
    classify_iri,
    find_exact_names,
    parse_definitions,
    resolve_entry,
    suggest_names,
)
from askgraph.sparql import Call, Filter, Pattern, transform, walk
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql.judge import EndpointRequest, check_query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import GraphResult
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import RDF_TYPE

KIND_NAMES = {ItemKind.CLASS: "class", ItemKind.PREDICATE: "property", ItemKind.ENTITY: "thing"}
"""The kinds that an entry may mean, as users call them."""


def load_glossary(path: Path) -> Glossary:
    """Return the glossary in a file; empty if the file does not exist.

    Raises:
        SetupError: the file cannot be read, or contains names that are not IRIs.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Glossary()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the glossary {path} cannot be read: {error}") from error
    glossary = parse_glossary(text, str(path))
    for entry in glossary.entries:
        for iri in entry.means:
            if not is_iri(iri):
                raise SetupError(
                    f"{path}: {entry.word!r} means {iri!r}, which is not an IRI: import "
                    "the file with askgraph define GRAPH --import FILE to look up names and "
                    "prefixes"
                )
    return glossary


def is_iri(text: str) -> bool:
    """Return whether a text is an IRI with a scheme and without characters to escape."""
    scheme, colon, remainder = text.partition(":")
    invalid = set(remainder) & set(' <>"{}|\\^`')
    return bool(
        colon and remainder and not invalid and (remainder.startswith("//") or scheme == "urn")
    )


def apply_glossary(graph: KnowledgeGraph, glossary: Glossary | None) -> KnowledgeGraph:
    """Return a graph with a glossary, and without the properties that this hides."""
    complete = replace(graph.complete or graph, examples=graph.examples, glossary=glossary or None)
    hidden = glossary.hidden_iris if glossary else frozenset()
    if not hidden:
        return complete
    profile, names = complete.profile, complete.names
    return replace(
        complete,
        complete=complete,
        endpoint=HidingEndpoint(complete.endpoint, hidden, complete.prefixes.namespaces),
        profile=replace(
            profile,
            predicates=tuple(item for item in profile.predicates if item.iri not in hidden),
            partitions=tuple(item for item in profile.partitions if item.predicate not in hidden),
        ),
        names=NameIndex.from_names(
            name for name in map(names.read_name, range(len(names))) if name.target not in hidden
        ),
        arrays=complete.arrays and complete.arrays.drop_predicates(hidden),
    )


class HidingEndpoint(EndpointWrapper):
    """Runs queries on `inner` that neither name hidden properties nor return their triples."""

    def __init__(
        self, inner: Endpoint, hidden: frozenset[str], prefixes: Mapping[str, str]
    ) -> None:
        super().__init__(inner)
        self._hidden, self._prefixes = hidden, prefixes

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        tree = parse_tree(request.query, self._prefixes)
        iris = {node.value for node in walk(tree) if isinstance(node, NamedNode)} & self._hidden
        if iris:
            raise QueryError(f"<{min(iris)}> is hidden by the graph's glossary: no query reads it")
        query = request.query
        if not all(map(self._is_safe, walk(tree))):
            restricted = transform(replace(tree, template=()), self._restrict)
            query = to_text(replace(restricted, template=tree.template))
        result = await run(self._inner, query, request.timeout)
        if not isinstance(result, GraphResult):
            return result
        triples = (item for item in result.triples if item.predicate.value not in self._hidden)
        untyped: Any = GraphResult(tuple(triples), result.truncated, result.seconds)
        visible: Kind = untyped
        return visible

    @staticmethod
    def _is_safe(node: object) -> bool:
        return not (isinstance(node, Pattern) and isinstance(node.predicate, Variable)) and not (
            isinstance(node, PropertyPath) and node.operator == "!"
        )

    def _restrict(self, node: object) -> object:
        """Return a pattern that matches no hidden property."""
        hidden = tuple(map(NamedNode, sorted(self._hidden)))
        match node:
            case Pattern(predicate=Variable() as name):
                return node, Filter(Call("NOT IN", (name, *hidden)))
            case PropertyPath(operator="!", parts=parts):
                return replace(node, parts=(*parts, *hidden))
        return node


def find_conflicts(glossary: Glossary, prefixes: PrefixMap) -> list[str]:
    """Return a sentence for each condition that a default filter of its class contradicts."""
    try:
        terms = parse_definitions(glossary, tuple(prefixes.namespaces.items()))
    except QueryError as error:
        return [f"a pattern cannot be read: {error}"]
    entries = [entry for entry in glossary.definitions if entry.iri in terms]
    return [
        f"the default filter {default.word!r} contradicts {entry.word!r} by "
        f"{prefixes.shorten(iri)}: questions about {entry.word!r} ignore it"
        for default in entries
        for entry in entries
        if default.definition.default
        and entry is not default
        and entry.definition.of == default.definition.of
        for iri, value in terms[default.iri].conditions.items()
        if terms[entry.iri].conditions.get(iri, value) != value
    ]


@dataclass(frozen=True, eq=False)
class GlossaryChecker:
    """Checks glossary entries against the names and profile of a graph."""

    name: str
    profile: Profile
    names: NameIndex
    arrays: GraphArrays | None

    def update_file(
        self,
        path: Path,
        entries: Sequence[GlossaryEntry],
        *,
        instructions: str | None = None,
        without: str = "",
    ) -> Glossary:
        """Change the glossary in a file like `Workspace.define`, and return it.

        An error leaves the file unchanged.
        """
        with lock_file(path.with_name(f".{path.name}.lock")):
            glossary = load_glossary(path)
            if instructions is not None:
                checked_text = parse_instructions(instructions, "the glossary")
                glossary = replace(glossary, instructions=checked_text)
            if without:
                if glossary.find_entry(without) is None:
                    words = ", ".join(repr(entry.word) for entry in glossary.entries) or "none"
                    raise SetupError(f"the glossary has no word {without!r}; available: {words}")
                glossary = glossary.remove_word(without)
            glossary = self.add_entries(glossary, entries)
            write_text_atomically(path, format_glossary(glossary))
        return glossary

    @property
    def prefixes(self) -> PrefixMap:
        """The prefixes that IRIs may use."""
        return PrefixMap(dict(self.profile.prefixes))

    def add_entries(self, glossary: Glossary, entries: Sequence[GlossaryEntry]) -> Glossary:
        """Return a glossary with more entries, with their names resolved to IRIs.

        Raises:
            SetupError: the graph lacks a name, a name is ambiguous, a synonym has no target or is
                circular, or a query is invalid.
        """
        for entry in entries:
            if entry.query:
                try:
                    form = check_query(entry.query, prefixes=self.prefixes.namespaces).form
                except QueryError as error:
                    raise SetupError(
                        f"the query of {entry.word!r} cannot be used: {error}"
                    ) from error
                if form not in ("SELECT", "ASK"):
                    raise SetupError(
                        f"the query of {entry.word!r} returns triples: write a SELECT or ASK query"
                    )
        glossary = glossary.add_entries(
            *(
                self._resolve_definition(replace(entry, means=self._resolve_meanings(entry)))
                for entry in entries
            )
        )
        check_size(glossary)
        self.check_words(glossary)
        self.check_synonyms(glossary)
        return glossary

    def check_synonyms(self, glossary: Glossary) -> None:
        """Raise `SetupError` for a synonym without a target, or a circular one."""
        for entry in glossary.entries:
            if entry.same_as and not (
                glossary.resolve_synonyms(entry).query or resolve_entry(entry, glossary, self.names)
            ):
                raise SetupError(
                    f"{entry.word!r} cannot be the same as {entry.same_as!r}: nothing in "
                    "the graph or its glossary has this "
                    f"name{self._suggest_names(entry.same_as)}"
                )

    def check_words(self, glossary: Glossary) -> None:
        """Raise `SetupError` for a word or synonym that two entries define."""
        entries_by_name: dict[tuple[str, ...], GlossaryEntry] = {}
        for entry in glossary.entries:
            for name, _ in entry.names:
                other = entries_by_name.setdefault(stem_name(name), entry)
                if other is not entry:
                    raise SetupError(
                        f"{name!r} is a word of both {other.word!r} and {entry.word!r}; keep one"
                    )

    def _resolve_definition(self, entry: GlossaryEntry) -> GlossaryEntry:
        """Return an entry with IRIs of its class and property; check its pattern."""
        rule = entry.definition
        if not rule.of:
            return entry
        cls = self._resolve_name(rule.of, entry.word, only_classes=True)
        if classify_iri(cls, self.profile) is not ItemKind.CLASS:
            raise SetupError(f"{entry.word!r} needs a class, and {rule.of!r} is none")
        order = rule.order
        if order:
            iri = self._resolve_name(order.lstrip("-"), entry.word, only_classes=False)
            order = "-" * order.startswith("-") + iri
        entry = replace(entry, definition=replace(rule, of=cls, order=order))
        if not rule.pattern:
            return entry
        try:
            terms = parse_definitions(Glossary((entry,)), tuple(self.prefixes.namespaces.items()))
        except QueryError as error:
            raise SetupError(f"the pattern of {entry.word!r} cannot be used: {error}") from error
        for iri in terms[entry.iri].predicates - {RDF_TYPE}:
            if not self._can_exist(iri):
                raise SetupError(
                    f"the pattern of {entry.word!r} has {self.prefixes.shorten(iri)}, "
                    f"which the graph lacks{self._suggest_names(iri)}"
                )
        return entry

    def _resolve_meanings(self, entry: GlossaryEntry) -> tuple[str, ...]:
        """Return the IRIs that an entry means; only classes may be several."""
        iris = [self._resolve_name(text, entry.word, len(entry.means) > 1) for text in entry.means]
        for iri in iris if len(iris) > 1 else ():
            kind = classify_iri(iri, self.profile)
            if kind is not ItemKind.CLASS:
                raise SetupError(
                    f"{entry.word!r} cannot mean {self.prefixes.shorten(iri)} among others: it is "
                    f"a {KIND_NAMES[kind]}, and only classes can be combined"
                )
        return tuple(dict.fromkeys(iris))

    def _resolve_name(self, text: str, word: str, only_classes: bool) -> str:
        """Return the IRI of a name, a prefixed name or an IRI."""
        iri = text.strip().removeprefix("<").removesuffix(">")
        if not is_iri(iri) and ":" in iri and " " not in iri:
            try:
                iri = self.prefixes.expand(iri)
            except KeyError:
                prefixes = ", ".join(self.prefixes.own_prefixes) or "none"
                raise SetupError(f"unknown prefix in {text!r}; the graph has {prefixes}") from None
        if is_iri(iri):
            if self._can_exist(iri):
                return iri
            raise SetupError(f"the graph {self.name!r} has no {text!r}{self._suggest_names(iri)}")
        matches = find_exact_names(text, self.names)
        classes = [match for match in matches if match.kind is ItemKind.CLASS]
        kinds = {
            match.target: match.kind
            for match in ((classes or matches) if only_classes else matches)
        }
        if len(kinds) == 1:
            return next(iter(kinds))
        if not kinds:
            raise SetupError(
                f"{word!r} cannot mean {text!r}: nothing in the graph {self.name!r} has "
                f"this name{self._suggest_names(text)}"
            )
        listed = ", ".join(
            f"{self.prefixes.shorten(iri)} ({KIND_NAMES[kind]})"
            for iri, kind in list(kinds.items())[:8]
        )
        raise SetupError(
            f"{text!r} is the name of several things: say which one {word!r} means: {listed}"
        )

    def _can_exist(self, iri: str) -> bool:
        """Return whether the graph has an IRI; for a remote graph, whether it may have it."""
        if classify_iri(iri, self.profile) is not ItemKind.ENTITY or self.arrays is None:
            return True
        return self.arrays.terms.find_iri(iri) is not None

    def _suggest_names(self, text: str) -> str:
        similar = suggest_names(text.rpartition("/")[2].rpartition("#")[2], self.names)
        listed = " or ".join(map(repr, similar))
        return f"; did you mean {listed}?" if similar else f"; see askgraph describe {self.name}"
