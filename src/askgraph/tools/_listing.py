"""Triples by predicate as a model reads them: a line for each, whatever variants it has."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode

from askgraph.tools import Context
from askgraph.tools._triples import Fixed, Group, Pair
from askgraph.tools._variants import Variants
from askgraph.tools.shown import Writer
from askgraph.tools.tables import Shown

__all__ = ["Line", "chosen", "lines_of", "told", "where"]

_ROOM = 2_000  # characters for the names of predicates


@dataclass(frozen=True)
class Line:
    """A predicate with the variants of it: see `askgraph.metadata.names`."""

    lead: Group
    variants: tuple[Group, ...] = ()
    chosen: tuple[Pair, ...] = ()


def lines_of(context: Context, groups: Sequence[Group]) -> list[Line]:
    """Return the groups with their variants: frequent ones first, those that were shown last."""
    variants = Variants(context.graph.profile)
    by_iri = {group.predicate: group for group in groups}
    lines = []
    for iris in variants.grouped(by_iri):
        first, *others = (by_iri[iri] for iri in iris)
        lines.append(Line(first, tuple(others)))

    def place(line: Line) -> tuple[bool, int, str]:
        profile = variants.known.get(line.lead.predicate)
        frequency = profile.triples if profile else line.lead.count
        return line.lead.predicate in context.seen, -frequency, line.lead.predicate

    return sorted(lines, key=place)


def chosen(context: Context, lines: Sequence[Line], most: int) -> list[Line]:
    """Return lines with the pairs to show: one each, then one more in turn; what is new first."""
    pairs = [sorted(line.lead.pairs, key=lambda pair: _order(context, pair)) for line in lines]
    taken = [0] * len(lines)
    left = most
    while left > 0 and any(count < len(some) for count, some in zip(taken, pairs, strict=True)):
        for at, some in enumerate(pairs):
            if left > 0 and taken[at] < len(some):
                taken[at] += 1
                left -= 1
    return [
        replace(line, chosen=tuple(some[:count]))
        for line, some, count in zip(lines, pairs, taken, strict=True)
    ]


async def told(
    context: Context, fixed: Fixed, shown: Sequence[Line], lines: Sequence[Line]
) -> Shown:
    """Return the lines to show as text, and the predicates of all others by name."""
    rest = lines[len(shown) :]
    iris = [line.lead.predicate for line in (*shown, *rest)]
    ends = [term for line in shown for pair in line.chosen for term in pair]
    iris += [term.value for term in ends if isinstance(term, NamedNode)]
    writer = await Writer.knowing(context, iris)
    groups = [group for line in lines for group in (line.lead, *line.variants)]
    count = sum(group.count for group in groups)
    least = "at least " if any(group.cut for group in groups) else ""
    given = await where(context, fixed)
    parts = [f"{least}{count:,} triple{'' if count == 1 else 's'} {given.text}:"]
    parts += [_written(writer, fixed, line) for line in shown]
    if rest:
        parts.append(f"also: {_names(writer, rest)}")
    return Shown("\n".join(parts), tuple(dict.fromkeys([*given.seen, *writer.seen])))


def _names(writer: Writer, lines: Sequence[Line]) -> str:
    """The predicates by name, as many as there is room for."""
    names: list[str] = []
    room = _ROOM
    for line in lines:
        if room < 0:
            return f"{', '.join(names)}, and {len(lines) - len(names)} more"
        names.append(writer.iri(line.lead.predicate))
        room -= len(names[-1]) + 2
    return ", ".join(names)


async def where(context: Context, fixed: Fixed) -> Shown:
    """Return what was given, in words."""
    given = [
        ("subject", fixed.subject),
        ("predicate", fixed.predicate),
        *(("object", one) for one in fixed.objects[:1]),
    ]
    iris = [term.value for _, term in given if isinstance(term, NamedNode)]
    writer = await Writer.knowing(context, iris)
    parts = [
        f"{place} {writer.text(term.value) if isinstance(term, Literal) else writer.term(term)}"
        for place, term in given
        if term is not None
    ]
    return Shown("with " + " and ".join(parts), tuple(writer.seen))


def _order(context: Context, pair: Pair) -> tuple[int, bool]:
    """What was shown comes last, and texts in other languages than the asker's."""
    shown = sum(isinstance(term, NamedNode) and term.value in context.seen for term in pair)
    language = pair[1].language if isinstance(pair[1], Literal) else None
    return shown, bool(language) and language not in (context.language, "en")


def _written(writer: Writer, fixed: Fixed, line: Line) -> str:
    """A predicate with its examples: the ends that are not given, and how many there are."""
    name = writer.iri(line.lead.predicate)
    notes = [f"{'≥' if line.lead.cut else ''}{line.lead.count:,}"]
    if line.variants:
        notes.append("also " + ", ".join(writer.short(one.predicate) for one in line.variants))
    shows_all = len(line.chosen) == line.lead.count and not line.variants
    note = "" if shows_all else f" ({'; '.join(notes)})"
    if fixed.subject and fixed.objects:
        return name + note
    if fixed.subject:
        return f"{name} → {', '.join([writer.term(end) for _, end in line.chosen])}{note}"
    if len(fixed.objects) == 1:
        return f"{name} ← {', '.join([writer.term(start) for start, _ in line.chosen])}{note}"
    pairs = [f"{writer.term(start)} → {writer.term(end)}" for start, end in line.chosen]
    return f"{name}{note}: {'; '.join(pairs)}"
