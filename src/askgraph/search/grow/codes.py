"""Predicates whose values are codes: texts for true and false, and for words of a closed table."""

from typing import Final

from askgraph.index.tokens import folded, tokens
from askgraph.rdf.labels import words_of_local_name
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.word_lists import shared_words
from askgraph.traversal.literals import Sort, split_literal

Truths = tuple[str, str]
"""What says yes and what says no, as terms; empty if the data have none."""

_FEW: Final = 6
"""Codes of one predicate at most: how each of two is written differs little."""


def truths_of(schema: Schema, predicate: int) -> Truths | None:
    """Return the values of a predicate that mean true and false, None if others occur, too."""
    known = schema.found["truths_of"]
    if predicate not in known:
        known[predicate] = _truths_of(schema, predicate)
    found: Truths | None = known[predicate]
    return found


def _truths_of(schema: Schema, predicate: int) -> Truths | None:
    sort = schema.sort(predicate)
    if sort is Sort.BOOLEAN:
        return "true", "false"
    values = _values(schema, predicate)
    words = shared_words().truths
    if sort is Sort.NUMBER:
        first = tokens(words_of_local_name(schema.graph.iri_of(predicate)))[:1]
        if words["asking"].isdisjoint(first):
            return None
    yes = [term for text, term in values if text in words["yes"]]
    no = [term for text, term in values if text in words["no"]]
    if len(yes) != 1 or len(no) > 1 or len(values) > len(yes) + len(no):
        return None
    return yes[0], no[0] if no else ""


def holds_codes(schema: Schema, predicate: int, table: str) -> bool:
    """Whether all values of a predicate are codes of one table."""
    known, key = schema.found["holds_codes"], (predicate, table)
    if key not in known:
        values = _values(schema, predicate)
        held = shared_words().held[table]
        known[key] = bool(values) and all(text in held for text, _ in values)
    return bool(known[key])


def _values(schema: Schema, predicate: int) -> list[tuple[str, str]]:
    """The literals of a predicate, each as its folded text and as a term; none if of many."""
    objects = schema.graph.ends(predicate, inverse=True)
    if not 0 < len(objects) <= _FEW or int(objects[-1]) >= schema.graph.terms.first_iri:
        return []
    terms = [schema.graph.terms.text(int(at)) for at in objects]
    return [(folded(split_literal(term)[0].strip()), term) for term in terms]
