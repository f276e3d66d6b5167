"""Count the things of several classes: "number of ships and number of ports"."""

from collections.abc import Iterator

import numpy as np
from pyoxigraph import NamedNode

from askgraph.index.names import ItemKind
from askgraph.search.expand import GainWeight, Node, PartialMatch
from askgraph.search.expand.beam_search import BeamSearch
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import QueryCandidate, QueryDraft
from askgraph.search.query_pieces import build_aggregate, build_filter, build_pattern
from askgraph.search.tokenize import to_bit_mask
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.sparql.vocabulary import RDF_TYPE

_MIN_LINK_SCORE = 0.9  # words name a class so well that nothing else is meant


def build_class_counts(
    search: BeamSearch, operators: QuestionOperators
) -> Iterator[QueryCandidate]:
    """Yield the query for the number of things of each class, if a question asks for only that."""
    counts = operators.get_operators("count")
    links = _find_counted_classes(search, operators)
    if not counts or len(links) < 2:
        return
    used = to_bit_mask(at for link in links for at in link.positions)
    for operator in (*counts, *operators.get_operators("and")):
        used |= operator.mask
    starts = {count.first for count in counts}
    unused = [
        at for at, weight in enumerate(search.linked.weights) if weight and not used >> at & 1
    ]
    if any(at + 1 not in starts for at in unused):
        return  # "number of ships versus number of ports": only a word between counts joins them
    used |= to_bit_mask(unused)
    schema = search.schema
    ids = np.unique(np.concatenate([schema.get_instances(link.target) for link in links]))
    draft, node = QueryDraft(schema), Node(ids, cls_link=links[0])
    thing, kind = draft.create_variable("thing"), draft.create_variable("class")
    draft.patterns.append(build_pattern(thing, RDF_TYPE, kind))
    draft.filters.append(build_filter(kind, "IN", *(NamedNode(link.target) for link in links)))
    total = build_aggregate("COUNT", thing, distinct=True)
    draft.columns, draft.group_keys = [kind, total], [kind]
    gain = search.sum_weights(used) + GainWeight.OPERATOR * len(counts)
    state = PartialMatch(node, used, gain, patterns=1, anchored=True)
    shown = to_bit_mask(at for link in links for at in link.positions)
    values = (draft.to_query(), (kind, total), draft.hints, state, thing, ids)
    yield QueryCandidate(*values, used, gain, 0.0, 1, ("count",), shown, links)


def _find_counted_classes(search: BeamSearch, operators: QuestionOperators) -> tuple[Link, ...]:
    """Return the best class for each noun that follows a count or a conjunction."""
    reading = operators.reading
    starts = [item.last for item in operators.get_operators("count")]
    if not starts:
        return ()
    joints = {*starts, *(item.last for item in operators.get_operators("and"))}
    links: dict[int, Link] = {}
    for link in sorted(
        search.linked.get_links(ItemKind.CLASS),
        key=lambda link: (link.positions[0], -len(link.positions), -link.score),
    ):
        before = link.positions[0] - 1
        while before > starts[0] and reading.is_stop(before) and before not in joints:
            before -= 1
        is_counted = before in starts or (links and before in joints)
        if link.score >= _MIN_LINK_SCORE and is_counted:
            links.setdefault(link.positions[0], link)
    return tuple({link.target: link for link in links.values()}.values())
