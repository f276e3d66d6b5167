"""A slice of a schema as lines for a model: classes, what they lead to, and by which predicates."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from askgraph.metadata import ClassProfile, PredicateProfile
from askgraph.rdf.prefixes import namespace_of
from askgraph.tools._usual_values import usual_values
from askgraph.tools.shown import Writer
from askgraph.tools.slice import Slice
from askgraph.tools.time_lines import time_lines

__all__ = ["SchemaLines", "terms_of"]

_ENDS = 3  # classes shown at each end of a predicate
_ALSO = 3  # other predicates shown that are the same property


def terms_of(part: Slice) -> list[str]:
    """Return all that the lines of a slice name by label."""
    predicates = (p.iri for p in (*part.near, *part.far))
    members = (iri for listed in part.members.values() for iri in listed)
    return [*predicates, *(c.iri for c in part.classes), *members]


@dataclass(frozen=True, eq=False)
class SchemaLines:
    """Writes the classes and predicates of a slice.

    With `kin`, where no line of classes stands by, those at the ends of predicates have their
    labels, and those that lead have the class that they are a kind of. Without `values` no example
    values are told, and under a veil neither these nor members of classes.
    """

    slice: Slice
    writer: Writer
    kin: bool = False
    values: bool = True

    def lines(self) -> Iterator[str]:
        """All lines, the classes first."""
        yield from self._classes()
        if properties := list(self.properties()):
            yield "properties by class of subject, → class or type of object:"
        yield from properties
        if self.slice.far:
            yield f"further properties: {', '.join(self.writer.iri(p.iri) for p in self.slice.far)}"
        yield from self.times()

    def times(self) -> Iterator[str]:
        """How the graph says when things hold and in which units, as far as the question asks."""
        graph, reading = self.slice.graph, self.slice.linked.reading
        return time_lines(reading, graph, self.slice.near, self.writer.short)

    def properties(self, chosen: Iterable[PredicateProfile] | None = None) -> Iterator[str]:
        """Predicates by what they lead from, those near if none are chosen.

        Of two that are inverse only the first is told.
        """
        by_source: dict[str, list[str]] = {}
        told: set[str] = set()
        for p in self.slice.near if chosen is None else chosen:
            if p.iri in told:
                continue
            told |= {p.iri, *p.inverse_of}
            source = self._ends(p.subject_classes, p.subjects) + self._kind_of(p)
            by_source.setdefault(source, []).append(f"{self._name(p)} {self._target(p)}")
        for source, listed in by_source.items():
            yield f"{source}: {'; '.join(listed)}"

    def _classes(self) -> Iterator[str]:
        classes = self.slice.classes
        if classes:
            rest = " …" if len(self.slice.graph.profile.classes) > len(classes) else ""
            yield f"classes: {', '.join(map(self._class, classes))}{rest}"
        members_shown = self.slice.members if self.writer.context.veil is None else {}
        for cls, members in members_shown.items():
            yield f"all {self.writer.short(cls)}: {', '.join(map(self.writer.iri, members))}"

    def _class(self, cls: ClassProfile) -> str:
        shown = {c.iri for c in self.slice.classes}
        above = next((iri for iri in cls.parents if iri in shown), None)
        parent = f" (a {self.writer.short(above)})" if above else ""
        nameless = cls.nary or (cls.name_predicate is None and cls.instances > 1)
        note = " (without label)" if nameless else ""
        veil = self.writer.context.veil
        count = f" {cls.instances:,}" if veil is None or veil.rows else ""
        return f"{self.writer.iri(cls.iri)}{count}{parent}{note}"

    def _kind_of(self, p: PredicateProfile) -> str:
        """What the one class that a predicate leads from is a kind of."""
        classes = self.slice.ends(p.subject_classes, p.subjects).classes
        above = self.slice.parent(classes[0]) if self.kin and len(classes) == 1 else None
        return f" (a {self.writer.short(above)})" if above else ""

    def _name(self, p: PredicateProfile) -> str:
        """A predicate, and its variants by what stands before the name that they share."""
        name = p.iri.removeprefix(namespace_of(p.iri))
        variants = [self.writer.short(iri) for iri in self.slice.variants.get(p.iri, ())[:_ALSO]]
        before = [short.removesuffix(name) if ":" in short else short for short in variants]
        also = f" (also {', '.join(before)})" if before else ""
        return f"{self.writer.iri(p.iri)}{also}"

    def _target(self, p: PredicateProfile) -> str:
        notes = [
            *(["in steps: use +"] if p.transitive else []),
            *(f"inverse {self.writer.short(iri)}" for iri in p.inverse_of[:1]),
        ]
        note = f" ({', '.join(notes)})" if notes else ""
        if p.object_classes:
            return f"→ {self._ends(p.object_classes, p.objects)}{note}"
        prefixes, arrays = self.slice.graph.prefixes, self.slice.graph.arrays
        kinds = "|".join(prefixes.shorten(datatype) for datatype, _ in p.datatypes[:2])
        told_of = self.values and self.writer.context.veil is None
        values = usual_values(arrays, p) if told_of else ()
        joint = ": " if len(values) == p.objects else " e.g. "
        told = f"{joint}{', '.join(map(self.writer.stored, values))}" if values else ""
        return f"→ {kinds or 'things'}{told}{note}"

    def _ends(self, counted: Sequence[tuple[str, int]], total: int) -> str:
        ends = self.slice.ends(counted, total)
        joint, rest = (
            (" and ", "") if ends.shared else ("|", "|…" if len(ends.classes) > _ENDS else "")
        )
        write = self.writer.iri if self.kin else self.writer.short
        return joint.join(map(write, ends.classes[:_ENDS])) + rest or "things"
