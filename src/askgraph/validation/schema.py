"""The check of a query's patterns against what the graphs that it asks are known to hold."""

from collections.abc import Iterator

from askgraph.validation import Finding, Subject
from askgraph.validation._blocks import block_of, walk
from askgraph.validation._diagnosis import diagnosed

__all__ = ["schema"]


def schema(subject: Subject, /) -> Iterator[Finding]:
    """Give the classes and predicates that a graph lacks, and the patterns that cannot match in it.

    The sorts of the variables are inferred from all patterns, in polynomial time; a part of the
    graph of which too little is known makes no finding.
    """
    if subject.tree is None:
        return
    for block, _, given in walk(block_of(subject.tree, subject.services)):
        yield from diagnosed(block, given, subject.text)
