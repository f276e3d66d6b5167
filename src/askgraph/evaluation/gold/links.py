"""The entities and relations that a question is about, as its benchmark knows them."""

from collections.abc import Mapping

from askgraph.evaluation.metrics.linking import links
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["gold_links"]


def gold_links(
    question: GoldQuestion, *, prefixes: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the IRIs of entities, classes and relations: the benchmark's own, else the query's.

    None where the gold query has none, or there is no gold query. `prefixes` are those that it may
    use without declaring them.
    """
    named = (*question.entities, *question.predicates)
    if named:
        return tuple(dict.fromkeys(named))
    found = links(question.sparql, prefixes=prefixes)
    return (*sorted(found.entities), *sorted(found.predicates))
