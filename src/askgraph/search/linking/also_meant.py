"""What else the words of a question may mean that were taken to mean one thing."""

from askgraph.search.linking.link import Linked

__all__ = ["also_meant"]


def also_meant(linked: Linked, target: str) -> tuple[str, ...]:
    """Return the other things of the same kind that words linked to `target` may name, best first.

    `target` is an IRI, or a literal as N-Triples text. None where no word is linked to it.
    """
    found: dict[str, None] = {}
    for own in linked.links:
        if own.target == target:
            words = set(own.positions)
            for other in linked.of(own.kind):
                if other.target != target and words & set(other.positions):
                    found[other.target] = None
    return tuple(found)
