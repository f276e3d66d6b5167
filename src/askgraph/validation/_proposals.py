"""What may be meant instead of a name that is wrong: names that fit its place, most alike first."""

from collections.abc import Iterable, Sequence
from math import log10

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from askgraph.rdf.labels import words_of_local_name
from askgraph.rdf.prefixes import namespace_of
from askgraph.validation._atoms import Step
from askgraph.validation._inference import allowed
from askgraph.validation.knowledge import UNTYPED, Knowledge, PredicateUse, Sorts

__all__ = ["MOST", "classes_like", "predicates_like"]

MOST = 3
_FIT, _HINT, _SAME_SPACE, _TYPO = 3.0, 2.5, 0.3, 6.0
_CLOSE = 0.72  # by characters: the same name, mistyped


def predicates_like(
    wrong: str,
    known: Knowledge,
    *,
    subjects: Sorts | None = None,
    objects: Sorts | None = None,
    hints: Sequence[str] = (),
    most: int = MOST,
) -> tuple[Step, ...]:
    """Return the predicates that may be meant between ends of these sorts.

    `hints` are the names of the variables at the ends, which often say what a predicate gives. A
    predicate counts as a misprint where it is like the wrong one by its characters.
    """
    scored: list[tuple[float, str, bool]] = []
    for use in known.predicates.values():
        if use.iri == wrong:
            continue
        alike = _alike(wrong, use.iri, use.names, hints)
        for inverse in (False, True):
            fit = _fit(use, subjects, objects, known, inverse=inverse)
            if fit > 0 or (not inverse and alike >= _TYPO * _CLOSE):
                weight = 0.2 * log10(1 + use.triples) - (2.5 if inverse else 0.0)
                scored.append((_FIT * fit + alike + weight, use.iri, inverse))
    scored.sort(key=lambda one: (-one[0], one[1]))
    return tuple(Step(iri, inverse) for _, iri, inverse in scored[:most])


def classes_like(
    wrong: str,
    known: Knowledge,
    *,
    claims: Iterable[Sorts] = (),
    hints: Sequence[str] = (),
    most: int = MOST,
) -> tuple[str, ...]:
    """Return the classes that may be meant of a thing of which `claims` hold, all or most."""
    wanted = [claim for claim in claims if claim]
    scored = []
    for one in known.classes.values():
        if one.iri == wrong:
            continue
        fits = sum(one.iri in claim for claim in wanted) / len(wanted) if wanted else 0.5
        score = 2 * _FIT * fits + _alike(wrong, one.iri, one.names, hints)
        scored.append((score + 0.2 * log10(1 + one.instances), one.iri))
    scored.sort(key=lambda one: (-one[0], one[1]))
    return tuple(iri for _, iri in scored[:most])


def _fit(
    use: PredicateUse,
    subjects: Sorts | None,
    objects: Sorts | None,
    known: Knowledge,
    *,
    inverse: bool,
) -> float:
    """2 where both ends fit, 0 where one does not; an end of which nothing is known fits by half.

    An end fits better the fewer other things have it: what all things have is seldom meant.
    """
    fit = 0.0
    for own, end in zip((subjects, objects), allowed(Step(use.iri, inverse), known), strict=True):
        if own is None or end is None:
            fit += 0.5
        elif own & end:
            fit += 1.0 if own & end != {UNTYPED} else 0.6
        else:
            return 0.0
    if inverse and objects is None:
        return 0.0
    if subjects and objects and use.links_told >= known.least:
        sources, targets = (objects, subjects) if inverse else (subjects, objects)
        if not any(use.links.get(sort, targets) & targets for sort in sources):
            return 0.0
    return fit


def _alike(wrong: str, iri: str, names: Sequence[tuple[str, str]], hints: Sequence[str]) -> float:
    """How like a name is to the wrong one, by characters where it is nearly the same."""
    own, other = wrong[len(namespace_of(wrong)) :], iri[len(namespace_of(iri)) :]
    same = OSA.normalized_similarity(own.lower(), other.lower()) if own and other else 0.0
    words = words_of_local_name(iri).lower()
    texts = [words, *(text.lower() for text, _ in names[:4])]
    meant = words_of_local_name(wrong).lower()
    likeness = max(fuzz.token_sort_ratio(meant, text) for text in texts) / 100
    hint = max(
        (fuzz.token_set_ratio(name, text) / 100 for name in hints for text in texts), default=0.0
    )
    exact = max((fuzz.ratio(name, text) / 100 for name in hints for text in texts), default=0.0)
    space = _SAME_SPACE if namespace_of(wrong) == namespace_of(iri) else 0.0
    typo = _TYPO * same if same >= _CLOSE else 0.0
    return max(typo, likeness) + _HINT * (hint + exact) / 2 + space
