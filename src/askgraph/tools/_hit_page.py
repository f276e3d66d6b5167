"""One line for one search hit, with what was fetched for all hits of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource
from askgraph.index.tokens import tokens
from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.metadata.shapes import ends_of
from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import words_of_local_name
from askgraph.sparql.results import Term
from askgraph.tools import Context
from askgraph.tools._facts import Meeting
from askgraph.tools.shown import Writer, clipped

__all__ = ["USUAL", "Found", "Page", "key_of"]

USUAL = (v.RDF_TYPE, *v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES)
"""Predicates that (nearly) everything has: they tell nothing of a hit."""

_NAMES = 5
_NAME_ROOM = 60  # characters of all other names of a hit together
_PLAIN_INFOS = frozenset({"class", "property"})


@dataclass(frozen=True)
class Found:
    """What a search found: a term, what an index knows of it, the name that matched.

    `note` is what the search adds: how often it stands where it was looked for. `nameless` nodes
    have no label: their resource's is made of what hangs on them.
    """

    term: Term
    resource: Resource | None = None
    name: str = ""
    note: str = ""
    nameless: bool = False


def key_of(term: Term) -> str:
    """Return an IRI as it is, and any other term as N-Triples text."""
    return term.value if isinstance(term, NamedNode) else str(term)


@dataclass(frozen=True)
class Page:
    """Writes hits, with what was fetched for all of them."""

    context: Context
    writer: Writer
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[str, Sequence[Meeting]] = field(default_factory=dict)
    holders: Mapping[str, str] = field(default_factory=dict)
    every: Mapping[str, frozenset[str]] = field(default_factory=dict)  # all classes

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph of the hits."""
        return self.context.graph

    @property
    def _counts(self) -> bool:
        """Whether it may be told how many there are."""
        return self.context.veil is None or self.context.veil.rows

    def line(self, found: Found) -> str:
        """One entity or literal."""
        if isinstance(found.term, Literal):
            return self._joined(self._literal(found.term), self._holder(found.term), found.note)
        if isinstance(found.term, BlankNode):
            return self._joined("a blank node", self._about(found), found.note)
        iri = key_of(found.term)
        cls = next((c for c in self.graph.profile.classes if c.iri == iri), None)
        kinds = [self.writer.iri(one) for one in self.classes.get(str(found.term), ())]
        head = self.writer.iri(iri)
        if cls is not None:
            head += f" class, {cls.instances:,} instances" if self._counts else " class"
        elif kinds:
            head += f" a {', '.join(kinds)}"
        return self._joined(
            head,
            self._about(found),
            self._others(found),
            self._infos(found, cls),
            self._meetings(found),
            found.note,
        )

    def property_line(
        self,
        found: Found,
        variants: Sequence[str],
        profiles: Mapping[str, PredicateProfile],
        description: str,
    ) -> str:
        """One property."""
        iri = key_of(found.term)
        head = self.writer.short(iri)
        if iri in USUAL:
            return self._joined(head, found.note)
        label = self._label(found)
        if label:
            head += f" {self.writer.about(iri, label)}"
        if variants:
            head += f" (also {', '.join(self.writer.short(one) for one in variants)})"
        use = self._ends(profiles[iri]) if iri in profiles else self._infos(found, None)
        about = self.writer.about(iri, description) if description else ""
        return self._joined(head, use, self._others(found), about, found.note)

    def _joined(self, *parts: str) -> str:
        return "- " + " | ".join(part for part in parts if part)

    def _literal(self, literal: Literal) -> str:
        """A literal as a query has to write it, or its beginning where it is very long."""
        text = self.writer.literal(literal)
        if len(literal.value) > self.context.limits.clip:
            return f"{text} (clipped; match a part of it by CONTAINS)"
        return text

    def _holder(self, literal: Literal) -> str:
        meetings = self.hints.get(str(literal), ())
        total = sum(one.count for one in meetings)
        by = ", ".join(self.writer.iri(one.predicate) for one in meetings[:2])
        holder = self.holders.get(str(literal))
        who = f" of {self.writer.iri(holder)}" if holder else ""
        more = f" and {total - 1:,} more" if holder and total > 1 and self._counts else ""
        return f"{by}{who}{more}"

    def _label(self, found: Found) -> str:
        """The label of a property, where it says more than its local name."""
        iri = key_of(found.term)
        label = self.writer.labels.get(iri)
        if label is None and found.resource is not None:
            label = found.resource.label
        if label is None or tokens(label) == tokens(words_of_local_name(iri)):
            return ""
        return label

    def _about(self, found: Found) -> str:
        """What an index calls a node that has no label: words of what hangs on it."""
        iri = key_of(found.term)
        if found.resource is None or iri in self.writer.labels:
            return ""
        own = tokens(words_of_local_name(iri))
        telling = [name for name in found.resource.names if tokens(name) != own]
        if not telling:
            return ""
        words = max(telling, key=len)
        kind, _, rest = words.partition(": ")
        told = self.writer.about(iri, rest if tokens(kind) in self._kinds(found) else words)
        return f"no label; {told}" if told else "no label"

    def _kinds(self, found: Found) -> set[tuple[str, ...]]:
        """The names of all classes of a hit."""
        types = self.every.get(str(found.term), frozenset())
        named = [text for c in self.graph.profile.classes if c.iri in types for text, _ in c.names]
        return {tokens(words) for words in (*named, *map(words_of_local_name, types))}

    def _others(self, found: Found) -> str:
        """Other names, the one that matched first."""
        iri = key_of(found.term)
        if found.resource is None or self._about(found) or not self.writer.about(iri, "-"):
            return ""
        shown = {tokens(self.writer.labels.get(iri, found.resource.label))}
        shown.add(tokens(words_of_local_name(iri)))
        names: list[str] = []
        room = _NAME_ROOM
        for name in (found.name, *found.resource.names):
            room -= len(name)
            if name and tokens(name) not in shown and (room > 0 or not names):
                shown.add(tokens(name))
                names.append(self.writer.about(iri, name))
        return f"also {', '.join(names[:_NAMES])}" if names else ""

    def _infos(self, found: Found, cls: ClassProfile | None) -> str:
        """What an index tells things apart by, where the line does not say it anyway."""
        if found.resource is None:
            return ""
        said = self._kinds(found)
        infos = [
            clipped(" ".join(info.split()), self.context.limits.clip)
            for info in found.resource.infos
            if info not in _PLAIN_INFOS and tokens(info) not in said
        ]
        told = (self.writer.about(key_of(found.term), info) for info in infos[:2])
        return ", ".join(info for info in told if info)

    def _meetings(self, found: Found) -> str:
        shown = [
            f"{'^' if one.inverse else ''}{self.writer.iri(one.predicate)}"
            for one in self.hints.get(str(found.term), ())
        ]
        return f"has {', '.join(shown)}" if shown else ""

    def _ends(self, profile: PredicateProfile) -> str:
        sources, targets = (
            " or ".join(
                self.writer.iri(iri) for iri in ends_of(profile, self.graph.profile, inverse=way)
            )
            for way in (True, False)
        )
        count = f", {profile.triples:,}×" if self._counts else ""
        return f"{sources or 'things'} → {targets or 'things'}{count}"
