"""A graph's adjacency as arrays, so that answer sets are grown without SPARQL round trips."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Seeds:
    """The terms that a question mentions: IRIs, and literals as N-Triples text."""

    entities: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
