"""Proposals in place of a wrong name or literal: those that fit its place, most alike first."""

from collections.abc import Iterable, Iterator, Sequence
from math import log10

from pyoxigraph import Literal, NamedNode
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from askgraph.rdf import language_chain, namespace_of, words_of_local_name
from askgraph.rdf import vocabulary as v
from askgraph.validation import UNTYPED, Finding, Kind, Knowledge, PredicateUse, Sorts
from askgraph.validation._inference import Step, allowed

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
    predicate counts as a misprint if it is like the wrong one by its characters.
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
    """2 if both ends fit, 0 if one does not; an end of which nothing is known fits by half.

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
    """How like a name is to the wrong one, by characters if it is nearly the same."""
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


_TEXTS = frozenset({v.RDF_LANG_STRING, v.XSD_STRING})
_TIMES = v.DATE_DATATYPES | {v.XSD_TIME, v.XSD_DURATION, v.XSD_G_MONTH, v.XSD_G_DAY}


def fitting(
    literal: Literal, datatypes: frozenset[str], languages: frozenset[str]
) -> tuple[Literal, ...]:
    """Return the literals of the same text that have one of the datatypes, the likeliest first.

    Numbers stay if the text is one; of the languages, English and no other comes first.
    """
    found: list[Literal] = []
    for datatype in sorted(datatypes, key=lambda one: (one not in _TEXTS, one)):
        if datatype == v.RDF_LANG_STRING:
            tag = literal.language or ""
            order = [*language_chain([tag, "en"]), *sorted(languages)]
            tags = [one for one in dict.fromkeys(order) if one in languages]
            found += [Literal(literal.value, language=one) for one in tags[:3]]
        elif datatype == v.XSD_STRING:
            found.append(Literal(literal.value))
        else:
            found += _typed(literal.value, datatype)
    ordered = sorted(found, key=lambda one: _group(one) != _group(literal))
    return tuple(one for one in ordered if one != literal)


def comparable(first: str, second: str) -> bool:
    """Whether values of two datatypes can be compared; unknown datatypes with all."""
    kinds = _kind(first), _kind(second)
    return kinds[0] == kinds[1] or "" in kinds


def _typed(text: str, datatype: str) -> Iterator[Literal]:
    literal = Literal(text, datatype=NamedNode(datatype))
    if datatype in v.NUMERIC_DATATYPES:
        try:
            number = float(text)
        except ValueError:
            return
        if datatype in v.INTEGER_DATATYPES and not number.is_integer():
            return
        whole = datatype in v.INTEGER_DATATYPES and not text.lstrip("+-").isdigit()
        yield Literal(str(int(number)), datatype=NamedNode(datatype)) if whole else literal
    elif datatype == v.XSD_BOOLEAN:
        if text in ("true", "false", "0", "1"):
            yield literal
    else:
        yield literal


def _group(literal: Literal) -> str:
    return _kind(literal.datatype.value)


def _kind(datatype: str) -> str:
    if datatype in v.NUMERIC_DATATYPES:
        return "number"
    if datatype in _TEXTS:
        return "text"
    if datatype in _TIMES:
        return datatype if datatype not in v.DATE_DATATYPES else "date"
    return "boolean" if datatype == v.XSD_BOOLEAN else ""


_NAMES = frozenset({Kind.CLASS, Kind.PREDICATE, Kind.ENTITY})
_SHORT = 4  # characters of a name below which one of them makes another word


def is_misprint(finding: Finding) -> bool:
    """Return whether its first proposal differs in next to nothing, and no other one does."""
    wrong = finding.term
    alike = [one for one in finding.proposals if one.iri and _nearly(wrong, one.iri)]
    return finding.kind in _NAMES and len(alike) == 1 and alike[0] is finding.proposals[0]


def _nearly(wrong: str, iri: str) -> bool:
    own, other = wrong[len(namespace_of(wrong)) :], iri[len(namespace_of(iri)) :]
    plain = [_plain(own), _plain(other)]
    if plain[0] == plain[1]:
        return True
    near = OSA.distance(own, other) == 1 and min(map(len, plain)) >= _SHORT
    return near and own[-1:].isdigit() == other[-1:].isdigit() and not own[-1:].isdigit()


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
