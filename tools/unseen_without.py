"""Graph search with one of its parts left out, which tells what the part is worth.

A part is left out by what it does, and not by taking the program apart: its ways of linking, its
weights in the ranking, the functions that it is called by, the operators that it serves.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from unittest.mock import patch

from askgraph.search.rank import weights_for
from askgraph.search.resolve_operators import resolve_times
from askgraph.search.tokenize.question_operators import QuestionOperators

__all__ = ["FIRST_EVIDENCE", "PARTS", "Part", "left_out"]

FIRST_EVIDENCE = (
    *("score", "margin", "covered", "rivals", "faults", "unused_names", "weakest", "required"),
    *("unsaid_order", "groups", "scattered"),
)
"""What confidence weighs if the evidence that travels is left out."""


@dataclass(frozen=True)
class Part:
    """What a part consists of.

    `ways` are those of linking words that it brought, `weights` its features of the ranking, and
    `calls` its functions, each with what is called instead; `operators` are no longer heard.
    """

    about: str
    ways: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    calls: tuple[tuple[str, Any], ...] = ()
    operators: frozenset[str] = frozenset()


def _nothing(*_: object) -> None:
    return None


def _none(*_: object) -> tuple[()]:
    return ()


def _no(*_: object) -> bool:
    return False


def _as_linked(linked: Any, *_: object) -> Any:
    return linked


def _every_link(linked: Any, _: object) -> Any:
    return linked.links


SOURCES: dict[str, Part] = {
    "derivations": Part("derived words and doers", ways=frozenset(("derivation", "doer"))),
    "meanings": Part(
        "words of the same, a more general or a more special meaning",
        ways=frozenset(("near", "hypernym", "hyponym")),
    ),
    "peoples": Part("peoples, and the codes of countries", ways=frozenset(("demonym",))),
    "scales": Part("nouns of the scales of adjectives", ways=frozenset(("scale",))),
    "shortened": Part(
        "names that are shortened, and initials",
        ways=frozenset(("short", "initials", "abbreviation")),
    ),
}
"""The sources of the lexicon, each for itself."""

PARTS: dict[str, Part] = {
    **SOURCES,
    "confidence": Part("evidence that means the same on every graph"),
    "kinds": Part(
        "the kind of thing that is asked for",
        weights=frozenset(("misfit", "unheld", "disagrees", "ungrouped")),
        calls=(("askgraph.search.resolve_operators:link_asked_kind", _as_linked),),
    ),
    "lexicon": Part(
        "the lexicon, and names that are shortened or written otherwise",
        ways=frozenset(("code",)).union(*(one.ways for one in SOURCES.values())),
        calls=(("askgraph.search.link:akin", _none),),
    ),
    "names": Part(
        "what is a name, and of which things",
        weights=frozenset(("parted", "unnamed", "turned")),
        calls=(
            ("askgraph.search.expand.beam_search:without_chance", _every_link),
            ("askgraph.search.expand.beam_search:with_apposition", _none),
            ("askgraph.search.operators.query_builder:is_mirrored", _no),
            ("askgraph.search.operators:show_names", _nothing),
        ),
    ),
    "readings": Part(
        "readings with two aggregates, two extremes, extremes of groups, comparisons",
        calls=(
            ("askgraph.search.operators.extremes_with_ties:keep_ties", _nothing),
            ("askgraph.search.operators.shared_value:join_by_or", _nothing),
            ("askgraph.search.operators.pairs:compare_pairs", _none),
            ("askgraph.search.operators:describe_things", _none),
        ),
        operators=frozenset(
            ("yearly", "exactly", "difference", "ratio", "same", "different", "other")
        ),
    ),
}


@contextmanager
def left_out(name: str | None) -> Iterator[tuple[frozenset[str], Mapping[str, float] | None]]:
    """Leave a part out; give the ways of linking to do without, and the weights to rank with."""
    if name is None:
        yield frozenset(), None
        return
    part = PARTS[name]
    with ExitStack() as patches:
        for place, instead in part.calls:
            module, function = place.split(":")
            patches.enter_context(patch.object(import_module(module), function, instead))
        if part.operators:
            patches.enter_context(
                patch(
                    "askgraph.search.resolve_operators.resolve_times",
                    _without(part.operators),
                )
            )
        own = weights_for("")
        weights = {one: 0.0 if one in part.weights else weight for one, weight in own.items()}
        yield part.ways, weights


def _without(names: frozenset[str]) -> Any:
    def heard(frame: QuestionOperators, *rest: Any) -> QuestionOperators:
        kept = tuple(one for one in frame.operators if one.name not in names)
        return resolve_times(replace(frame, operators=kept), *rest)

    return heard
