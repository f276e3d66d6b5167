"""What the pointer writer learns from: a question's units, and skeletons right and wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.graph import KnowledgeGraph
from askgraph.search.form import Form
from askgraph.search.linking.link import Linked
from askgraph.writing.pointer.batches import fits
from askgraph.writing.pointer.inputs import Units, units_of
from askgraph.writing.pointer.listing import listed_terms, written
from askgraph.writing.pointer.skeleton import Skeleton, skeleton_of, terms_of

__all__ = ["RIGHT", "Lesson", "Offer", "lesson_of"]

RIGHT = 0.99
"""From this worth on a query is right."""


@dataclass(frozen=True)
class Offer:
    """A query that may be right: its form, its worth between 0 and 1, its score in graph search."""

    form: Form
    worth: float
    score: float = 0.0


@dataclass(frozen=True, eq=False)
class Lesson:
    """A question as the network sees it, with skeletons, what each is worth, and their scores."""

    units: Units
    skeletons: tuple[Skeleton, ...]
    worths: tuple[float, ...]
    scores: tuple[float, ...]


def lesson_of(linked: Linked, offers: Sequence[Offer], graph: KnowledgeGraph) -> Lesson | None:
    """Return a lesson; None if none of its offers is right and can be written."""
    named = dict.fromkeys(term for one in offers for term in terms_of(one.form))
    listed = listed_terms(linked, graph.profile, named=named)
    units = units_of(linked.reading, linked.weights, listed, graph.profile, graph.arrays)
    places = {written(one): at for at, one in enumerate(listed)}
    kept: dict[Skeleton, Offer] = {}
    for one in offers:
        try:
            skeleton = skeleton_of(one.form, places)
            if fits(skeleton, units):
                kept.setdefault(skeleton, one)
        except ValueError:
            continue
    if not any(one.worth >= RIGHT for one in kept.values()):
        return None
    best = kept.values()
    return Lesson(units, tuple(kept), tuple(o.worth for o in best), tuple(o.score for o in best))
