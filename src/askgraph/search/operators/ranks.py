"""Statements that carry a rank: the preferred ones are meant, deprecated ones never are.

The ranks are those of the Wikibase data model (Normal, Preferred, Deprecated): of the statements of
one thing by one predicate those of the best rank count.
"""

import numpy as np

from askgraph.rdf.vocabulary import WIKIBASE_DEPRECATED, WIKIBASE_PREFERRED
from askgraph.search.form import Filter, Pattern
from askgraph.search.operators.attachment import Places
from askgraph.search.operators.query_builder import Work
from askgraph.traversal.arrays import Ids

__all__ = ["best_ranked"]

_TIMED = frozenset(
    "at now past during between before after superlative minimum maximum most fewest top order "
    "ascending descending each lasting lasted elapsed".split()
)
_PREFERRED, _DEPRECATED = f"<{WIKIBASE_PREFERRED}>", f"<{WIKIBASE_DEPRECATED}>"


def best_ranked(places: Places, work: Work) -> None:
    """Keep the best statements; where a time is asked for, or all of them, those not deprecated."""
    rank = places.schema.rank
    if rank is None:
        return
    every = bool(_TIMED & set(work.notes)) or _all_asked(places, work)
    iri = places.graph.iri_of(rank)
    for pattern in list(work.draft.patterns):
        statement = pattern.object
        ids = _statements(places, pattern)
        if not isinstance(statement, int) or not places.is_resource(ids):
            continue
        ranks = {places.graph.terms.text(int(at)) for at in places.graph.step(ids, rank)}
        if _PREFERRED in ranks and not every:
            _best(work, pattern, statement, iri)
        elif _DEPRECATED in ranks:
            work.draft.without.append(((Pattern(statement, iri, _DEPRECATED),), ()))


def _best(work: Work, pattern: Pattern, statement: int, iri: str) -> None:
    """Preferred, or not deprecated where the same thing has no preferred one."""
    draft = work.draft
    if isinstance(pattern.subject, str):
        draft.patterns.append(Pattern(statement, iri, _PREFERRED))
        return
    own, other = draft.variable("rank"), draft.variable("other statement")
    draft.patterns.append(Pattern(statement, iri, own))
    draft.filters.append(Filter(own, "!=", (_DEPRECATED,)))
    better = (
        Pattern(pattern.subject, pattern.predicate, other),
        Pattern(other, iri, _PREFERRED),
    )
    draft.without.append((better, (Filter(own, "!=", (_PREFERRED,)),)))


def _statements(places: Places, pattern: Pattern) -> Ids:
    """The statements that a pattern leads to."""
    number = places.schema.number(pattern.predicate)
    if number is None or pattern.plus:
        return np.zeros(0, dtype=np.int32)
    if not isinstance(pattern.subject, str):
        return places.graph.ends(number, inverse=True)
    subject = places.graph.terms.find(pattern.subject)
    if subject is None:
        return np.zeros(0, dtype=np.int32)
    return places.graph.step(np.array([subject], dtype=np.int32), number)


def _all_asked(places: Places, work: Work) -> bool:
    """Whether a date of the question is used, or a word asks for all there ever were."""
    words = {token.folded for token in places.reading.tokens}
    every = {phrase[0] for phrase in places.reading.words.times["all_of_them"]}
    dated = any(work.used >> q.first & 1 for q in places.reading.quantities if q.days is not None)
    return dated or bool(words & every)
