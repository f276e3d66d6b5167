"""Words of a question that a candidate leaves out: what a person should know beside its answer."""

from collections.abc import Iterator

from askgraph.search.linking.operators import Operator
from askgraph.search.linking.text import Reading, bits
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank.faults import Subject
from askgraph.search.run import Proposal

_MEANT = 0.75
"""A word that fits so well what a link leads to, which the query names, is not left out."""
_SILENT = frozenset("exists and or both distinct now past during ongoing lasted at".split())
"""Operators whose words may say what the pattern says anyhow, or nothing."""
_NUMBERED = frozenset("before after more_than less_than between".split())
"""Operators whose words are mere prepositions if no number or date follows."""


_BESIDE = 2
"""So many words after "how many" may name the number that it asks for."""


def left_out(proposal: Proposal, candidate: Candidate) -> tuple[str, ...]:
    """Return the words that tell something and that a candidate does not stand for, in order.

    An operator that it does not serve is one of these, as a phrase ("more than", "not"). A word
    counts as said if it is linked to something that the query names.
    """
    reading, weights = proposal.reading, proposal.linked.weights
    phrases = {one.first: one for one in unserved(proposal, candidate)}
    inside = {at for one in phrases.values() for at in one.positions}
    meant = _meant(Subject(proposal, candidate)) | set(_light(reading))
    if candidate.tree.distinct:
        meant |= _said(reading, "distinct")
    found: list[str] = []
    for at, token in enumerate(reading.tokens):
        if at in phrases:
            last = reading.tokens[phrases[at].last]
            found.append(" ".join(reading.text[token.start : last.end].split()))
        elif weights[at] and at not in inside | meant:
            found += [] if candidate.used >> at & 1 else [token.text]
    return tuple(dict.fromkeys(found))


def unserved(proposal: Proposal, candidate: Candidate) -> Iterator[Operator]:
    """Yield the operators that a candidate ought to serve, and none of whose words it uses."""
    frame = proposal.frame
    for one in frame.operators:
        number = frame.quantity_after(one)
        missed = number is not None and not candidate.used >> number.first & 1
        compares = one.name not in _NUMBERED or missed
        after = bits(range(one.last + 1, one.last + 1 + _BESIDE))
        if one.name == "count" and candidate.shown_words & after:
            continue  # "how many minutes": the number that is shown
        if one.name not in _SILENT and compares and not one.mask & candidate.used:
            yield one


def _meant(subject: Subject) -> set[int]:
    """The tokens that are linked to something which the query names."""
    return {
        at
        for link in subject.linked.links
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality >= _MEANT and subject.names(link)
    }


def _light(reading: Reading) -> Iterator[int]:
    """The tokens that say nothing of their own: "happened", "took place"."""
    for phrase in reading.words.light:
        for at in range(len(reading.tokens)):
            if reading.says(phrase, at):
                yield from range(at, at + len(phrase))


def _said(reading: Reading, operator: str) -> set[int]:
    words = {phrase[0] for phrase in reading.words.operators[operator] if len(phrase) == 1}
    return {at for at, word in enumerate(reading.folded) if word in words}
