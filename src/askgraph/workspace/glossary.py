"""Teaching: a graph's glossary in its workspace, read, checked against the graph, and changed.

One process at a time changes a glossary, each from what the others left; readers see the old file
or the new one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askgraph.atomic_files import lock_file, write_text_atomically
from askgraph.errors import QueryError, SetupError
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
from askgraph.index.names import Kind, NameIndex
from askgraph.search.glossary import classify_iri, find_exact_names, resolve_entry, suggest_names
from askgraph.sparql.judge import checked
from askgraph.sparql.prefixes import PrefixMap

KINDS = {Kind.CLASS: "class", Kind.PREDICATE: "property", Kind.ENTITY: "thing"}
"""What an entry may mean, as people call it."""


def kept_glossary(path: Path) -> Glossary:
    """Return the glossary in a file, an empty one if there is none.

    Raises `SetupError` if it cannot be read, or means names that are no IRIs: then it was written
    by hand.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Glossary()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the glossary {path} cannot be read: {error}") from error
    found = parse_glossary(text, str(path))
    for one in found.entries:
        for iri in one.means:
            if not is_iri(iri):
                raise SetupError(
                    f"{path}: {one.word!r} means {iri!r}, which is no IRI: names and prefixes are "
                    "looked up by askgraph teach GRAPH --import FILE"
                )
    return found


def is_iri(text: str) -> bool:
    """Whether a text is an IRI as it stands in a file: with a scheme, and nothing to escape."""
    scheme, colon, rest = text.partition(":")
    odd = set(rest) & set(' <>"{}|\\^`')
    return bool(colon and rest and not odd and (rest.startswith("//") or scheme == "urn"))


def changed_glossary(path: Path, change: Callable[[Glossary], Glossary]) -> Glossary:
    """Write what a change makes of a glossary, and return it; nothing if the change raises."""
    with lock_file(path.with_name(f".{path.name}.lock")):
        made = change(kept_glossary(path))
        write_text_atomically(path, format_glossary(made))
    return made


@dataclass(frozen=True, eq=False)
class Known:
    """A graph as far as a glossary can speak of it."""

    name: str
    profile: Profile
    names: NameIndex
    arrays: GraphArrays | None

    def taught(
        self,
        path: Path,
        entries: Sequence[GlossaryEntry],
        *,
        instructions: str | None = None,
        without: str = "",
    ) -> Glossary:
        """Change the glossary in a file as `Workspace.teach` says, and return it."""

        def changed(glossary: Glossary) -> Glossary:
            if instructions is not None:
                said = parse_instructions(instructions, "the glossary")
                glossary = replace(glossary, instructions=said)
            if without:
                if glossary.find_entry(without) is None:
                    words = ", ".join(repr(one.word) for one in glossary.entries) or "none"
                    raise SetupError(f"{without!r} was not taught; there are {words}")
                glossary = glossary.remove_word(without)
            return self.with_entries(glossary, entries)

        return changed_glossary(path, changed)

    @property
    def prefixes(self) -> PrefixMap:
        """The prefixes that IRIs may be written with."""
        return PrefixMap(dict(self.profile.prefixes))

    def with_entries(self, glossary: Glossary, entries: Sequence[GlossaryEntry]) -> Glossary:
        """Return a glossary with more entries, whose names are IRIs then.

        Raises `SetupError` for a name that the graph does not have or that is not clear, for a
        synonym of nothing and for one in a circle, and for a query that is none.
        """
        for one in entries:
            if one.query:
                self._check_query(one)
        glossary = glossary.add_entries(*(replace(one, means=self._means(one)) for one in entries))
        check_size(glossary)
        self.check(glossary)
        return glossary

    def check(self, glossary: Glossary) -> None:
        """Raise `SetupError` for a synonym of nothing, or one in a circle."""
        for one in glossary.entries:
            if one.same_as and not (
                glossary.resolve_synonyms(one).query or resolve_entry(one, glossary, self.names)
            ):
                raise SetupError(
                    f"{one.word!r} cannot be the same as {one.same_as!r}: nothing in the graph "
                    f"or its glossary is called so{self._near(one.same_as)}"
                )

    def _check_query(self, entry: GlossaryEntry) -> None:
        try:
            form = checked(entry.query, prefixes=self.prefixes.namespaces).form
        except QueryError as error:
            raise SetupError(f"the query of {entry.word!r} cannot be used: {error}") from error
        if form not in ("SELECT", "ASK"):
            raise SetupError(
                f"the query of {entry.word!r} gives triples: write a SELECT or an ASK query"
            )

    def _means(self, entry: GlossaryEntry) -> tuple[str, ...]:
        """The IRIs of what an entry means; only classes may be several."""
        found = [self._iri(text, entry.word, len(entry.means) > 1) for text in entry.means]
        for iri in found if len(found) > 1 else ():
            kind = classify_iri(iri, self.profile)
            if kind is not Kind.CLASS:
                raise SetupError(
                    f"{entry.word!r} cannot mean several things of which {self._shown(iri)} is "
                    f"one: it is a {KINDS[kind]}, and only classes go together"
                )
        return tuple(dict.fromkeys(found))

    def _iri(self, text: str, word: str, only_classes: bool) -> str:
        """The IRI of a name, a prefixed name or an IRI."""
        iri = text.strip().removeprefix("<").removesuffix(">")
        if not is_iri(iri) and ":" in iri and " " not in iri:
            try:
                iri = self.prefixes.expand(iri)
            except KeyError:
                known = ", ".join(self.prefixes.own) or "none"
                raise SetupError(
                    f"the prefix of {text!r} is not known; the graph has {known}"
                ) from None
        if is_iri(iri):
            if self._is_there(iri):
                return iri
            raise SetupError(f"the graph {self.name!r} has no {text!r}{self._near(iri)}")
        found = find_exact_names(text, self.names)
        classes = [one for one in found if one.kind is Kind.CLASS]
        kinds = {one.target: one.kind for one in ((classes or found) if only_classes else found)}
        if len(kinds) == 1:
            return next(iter(kinds))
        if not kinds:
            raise SetupError(
                f"{word!r} cannot mean {text!r}: nothing in the graph {self.name!r} is called so"
                f"{self._near(text)}"
            )
        listed = ", ".join(
            f"{self._shown(iri)} ({KINDS[kind]})" for iri, kind in list(kinds.items())[:8]
        )
        raise SetupError(f"{text!r} is the name of several: say which one {word!r} means: {listed}")

    def _is_there(self, iri: str) -> bool:
        """Whether a graph has an IRI; of a remote one, whether it may have it."""
        if classify_iri(iri, self.profile) is not Kind.ENTITY or self.arrays is None:
            return True
        return self.arrays.terms.find_iri(iri) is not None

    def _shown(self, iri: str) -> str:
        return self.prefixes.shorten(iri)

    def _near(self, text: str) -> str:
        found = suggest_names(text.rpartition("/")[2].rpartition("#")[2], self.names)
        listed = " or ".join(map(repr, found))
        return f"; did you mean {listed}?" if found else f"; see askgraph describe {self.name}"
