"""Answer a question over two graphs: a part in each, joined where both know the same resources.

Both parts together must cover all words. One part, the head, has the answer columns and goes to
its own graph; the other becomes a SERVICE, which the program joins. They meet in a variable of
each: resources with the same IRI in both graphs, or linked by `owl:sameAs` or `skos:exactMatch`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations, product

from pyoxigraph import NamedNode, Variable

from askgraph import deadline, sparql
from askgraph.answers.search_run import SearchRun
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.endpoint import CountingEndpoint
from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.search.decide import estimate_confidence, find_omitted_words
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.query_pieces import get_predicate, get_variable, get_variable_number
from askgraph.search.rank import RankedCandidates, cluster_candidates, load_weights
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import OWL_SAME_AS, RDF_TYPE, SKOS_EXACT_MATCH
from askgraph.trace import Answer

SearchedGraph = tuple[SearchRun, RankedCandidates]

JOIN_CONFIDENCE_FACTOR = 0.9
"""Factor on the weaker part's confidence.

The join is a guess: shared resources support it, but no word of the question states it.
"""

_MAX_CANDIDATES, _MAX_PAIRS = 8, 4
"""How many candidates of a graph are combined, and how many pairs are queried."""
_MAX_REQUESTS = 30
"""After this many requests no further pair is tried."""
_MAX_JOIN_VALUES = 300
"""How many values of a variable are looked up in the other graph."""
_NEUTRAL_FEATURES = {"head": 1.0, "disagrees": 0.0, "misfit": 0.0, "unheld": 0.0}
"""Feature values of a part without answer columns, where these features do not apply."""
_TIME_SHARE = 0.2  # part of the remaining time for one request
_SAME_AS_PREDICATES = tuple(map(NamedNode, (OWL_SAME_AS, SKOS_EXACT_MATCH)))
_SAME_AS_PATH = sparql.Path(
    "|", (*_SAME_AS_PREDICATES, *(sparql.Path("^", (one,)) for one in _SAME_AS_PREDICATES))
)
_LOCAL_NODE, _REMOTE_NODE = Variable("here"), Variable("there")


@dataclass(frozen=True, eq=False)
class GraphPart:
    """A candidate of one graph, with the words of the question that it ignores."""

    run: SearchRun
    proposal: RankedCandidates
    candidate: QueryCandidate
    unused_words: frozenset[str]

    @property
    def tree(self) -> sparql.Query:
        """The query of the candidate."""
        return self.candidate.tree

    @property
    def is_plain(self) -> bool:
        """Whether the patterns alone express the query: no aggregate, HAVING or ordered limit."""
        tree = self.tree
        ordered = tree.order and tree.limit is not None
        return tree.form == "SELECT" and not (tree.is_aggregate or tree.having or ordered)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The distinct variables at the ends of the patterns."""
        ends = (
            end
            for pattern in self.tree.where.elements
            if isinstance(pattern, sparql.Pattern) and get_predicate(pattern) != RDF_TYPE
            for end in (pattern.subject, pattern.object)
        )
        return tuple(dict.fromkeys(end for end in ends if isinstance(end, Variable)))

    async def fetch_iri_rows(self, query: sparql.Query) -> list[tuple[str, ...]]:
        """Return the IRIs in the first rows of a query on the graph of the part."""
        own_types = dict(self.run.graph.profile.types)
        text = to_text(sparql.rename_iris(query, own_types) if own_types else query)
        timeout = deadline.clamp_timeout(self.run.limits.timeout, share=_TIME_SHARE)
        result = await self.run.endpoint.select(text, timeout=timeout, limit=_MAX_JOIN_VALUES)
        iri_rows = [
            [term.value for term in row if isinstance(term, NamedNode)] for row in result.rows
        ]
        return [tuple(row) for row in iri_rows if len(row) == len(result.variables)]


@dataclass(frozen=True)
class PartLink:
    """The variables in which two parts meet, and the part that states the identity, if any."""

    head: Variable
    service: Variable
    stated_by: GraphPart | None


async def answer_over_two_graphs(searched: Sequence[SearchedGraph]) -> Answer | None:
    """Return an answer joined from two graphs, if no graph answers alone.

    None if a graph's best candidate covers all words, if no two candidates together do, if
    the graphs have no link, and if there is no answer or it takes too long.
    """
    best = [
        (run, proposal, proposal.candidates[0]) for run, proposal in searched if proposal.candidates
    ]
    if len(best) < 2 or not all(
        find_omitted_words(proposal, candidate) for _, proposal, candidate in best
    ):
        return None
    with suppress(QueryError, ServiceError):
        requests_before = _count_requests(searched)
        graphs = [
            [
                GraphPart(
                    run, proposal, candidate, frozenset(find_omitted_words(proposal, candidate))
                )
                for candidate in proposal.candidates[:_MAX_CANDIDATES]
            ]
            for run, proposal in searched
        ]
        pairs = [
            (head, service_part)
            for first_parts, second_parts in permutations(graphs, 2)
            for head, service_part in product(first_parts, second_parts)
            if not head.unused_words & service_part.unused_words
            and head.unused_words
            and service_part.unused_words
            if service_part.is_plain
            and _is_head_first(head, service_part)
            and _can_join(head, service_part)
        ]
        for head, service_part in sorted(pairs, key=lambda pair: -_score_pair(*pair))[:_MAX_PAIRS]:
            if _count_requests(searched) - requests_before > _MAX_REQUESTS:
                break
            link = await _find_link(head, service_part)
            if link is not None:
                confidence = JOIN_CONFIDENCE_FACTOR * min(
                    _estimate_part_confidence(head, service_part, is_head=True),
                    _estimate_part_confidence(service_part, head, is_head=False),
                )
                service_iri = f"askgraph:{service_part.run.graph.name}"
                federated = CountingEndpoint(
                    FederatedEndpoint(head.run.endpoint, {service_iri: service_part.run.endpoint})
                )
                run = replace(head.run, endpoint=federated)
                candidate = _join_parts(head, service_part, link, service_iri)
                labels: dict[str, str] = {}
                descriptions: list[str] = []
                for part in (service_part, head):
                    builder = part.run.create_builder(part.proposal)
                    query, own_labels = await builder.format_query(part.candidate.query)
                    words = (
                        await builder.build_worded_answer(
                            query, True, columns=(), labels=own_labels
                        )
                    ).words
                    labels = labels | own_labels
                    descriptions = [part.run.graph.name, words, *descriptions]
                builder = run.create_builder(head.proposal)
                query, own_labels = await builder.format_query(candidate.query)
                answer = await builder.answer(
                    query,
                    await run.run_query(query, candidate),
                    columns=candidate.columns,
                    confidence=confidence,
                    ordered=bool(candidate.tree.order),
                    labels=labels | own_labels,
                )
                words = load_phrases(head.proposal.question.language).say(
                    "two graphs", *descriptions
                )
                return None if answer.is_empty else replace(answer, words=words)
    return None


def _count_requests(searched: Sequence[SearchedGraph]) -> int:
    return sum(run.endpoint.requests for run, _ in searched)


def _score_pair(head: GraphPart, service_part: GraphPart) -> float:
    return (
        head.candidate.score
        + _rescore(service_part.candidate, service_part, _NEUTRAL_FEATURES).score
    )


def _is_head_first(head: GraphPart, service_part: GraphPart) -> bool:
    """Return whether the first word that only one part covers is the head's.

    A part that is not plain must be the head.
    """
    head_words, service_words = head.candidate.used, service_part.candidate.used
    only_head, only_service = head_words & ~service_words, service_words & ~head_words
    first = (
        only_head & -only_head < only_service & -only_service
        if only_head and only_service
        else bool(only_head)
    )
    return first or not head.is_plain


def _can_join(head: GraphPart, service_part: GraphPart) -> bool:
    """Return whether a join with the head's patterns applies to its whole result.

    Both graphs must also use the same type predicates.
    """
    inner = any(isinstance(node, sparql.Query) for node in sparql.walk(head.tree.where))
    return not inner and head.run.graph.profile.types == service_part.run.graph.profile.types


async def _find_link(head: GraphPart, service_part: GraphPart) -> PartLink | None:
    """Return the variables with most common resources, searched from the smaller part."""
    smaller, larger = sorted((head, service_part), key=lambda part: len(part.candidate.ids))
    counts_by_link: dict[PartLink, int] = {}
    for near_variable in smaller.variables:
        values_query = replace(
            smaller.tree,
            columns=((near_variable, None),),
            order=(),
            limit=_MAX_JOIN_VALUES,
            distinct=True,
        )
        iris = [iri for (iri,) in await smaller.fetch_iri_rows(values_query)]
        if not iris:
            continue
        for said_by, names in (
            (None, {part: part for part in iris}),
            (smaller, await _fetch_same_as(smaller, iris)),
            (larger, await _fetch_same_as(larger, iris)),
        ):
            for far_variable in larger.variables if names else ():
                match_count = len(
                    await larger.fetch_iri_rows(
                        _restrict_to_values(larger.tree, far_variable, names)
                    )
                )
                ends = (
                    (near_variable, far_variable)
                    if smaller is head
                    else (far_variable, near_variable)
                )
                if match_count:
                    counts_by_link[PartLink(*ends, said_by)] = match_count
    return max(counts_by_link, key=lambda part: counts_by_link[part]) if counts_by_link else None


async def _fetch_same_as(part: GraphPart, iris: Sequence[str]) -> Mapping[str, str]:
    where = sparql.Group(
        (_build_values(_LOCAL_NODE, iris), sparql.Pattern(_LOCAL_NODE, _SAME_AS_PATH, _REMOTE_NODE))
    )
    query = sparql.Query(
        "SELECT", where, ((_REMOTE_NODE, None), (_LOCAL_NODE, None)), limit=_MAX_JOIN_VALUES
    )
    return {row[0]: row[1] for row in await part.fetch_iri_rows(query)}


def _restrict_to_values(
    tree: sparql.Query, variable: Variable, iris: Iterable[str]
) -> sparql.Query:
    where = sparql.Group((_build_values(variable, iris), *tree.where.elements))
    return sparql.Query("SELECT", where, ((variable, None),), distinct=True, limit=_MAX_JOIN_VALUES)


def _build_values(variable: Variable, iris: Iterable[str]) -> sparql.Values:
    return sparql.Values((variable,), tuple((NamedNode(iri),) for iri in iris))


def _estimate_part_confidence(part: GraphPart, other_part: GraphPart, *, is_head: bool) -> float:
    """Estimate the confidence of a part in its own words; words of the other part do not count."""
    proposal, own_words = part.proposal, part.candidate.used
    other_words = other_part.candidate.used & ~own_words
    weights = (
        0.0 if other_words >> position & 1 else weight
        for position, weight in enumerate(proposal.linked.weights)
    )
    operators = (
        candidate for candidate in proposal.operators.operators if not candidate.mask & other_words
    )
    own_proposal = replace(
        proposal,
        linked=replace(proposal.linked, weights=tuple(weights)),
        operators=replace(proposal.operators, operators=tuple(operators)),
    )
    neutral = {"covered": 1.0, **({} if is_head else _NEUTRAL_FEATURES)}
    same_words = [
        candidate for candidate in proposal.candidates if candidate.used & own_words == own_words
    ]
    scored_clusters = cluster_candidates(
        [_rescore(candidate, part, neutral) for candidate in same_words]
    )
    own_clusters = [
        candidate
        for candidate in scored_clusters
        if any(member.tree == part.tree for member in candidate.members)
    ]
    return estimate_confidence(
        own_proposal,
        [
            *own_clusters,
            *(candidate for candidate in scored_clusters if candidate not in own_clusters),
        ],
    )


def _rescore(
    candidate: QueryCandidate, part: GraphPart, features: Mapping[str, float]
) -> QueryCandidate:
    """Return a candidate with other features and the score that follows from them."""
    weights = load_weights(part.run.graph.name, part.run.limits.ranking)
    score_difference = sum(
        weights[name] * (value - candidate.features[name]) for name, value in features.items()
    )
    return replace(
        candidate,
        score=candidate.score + score_difference,
        features={**candidate.features, **features},
    )


def _join_parts(
    head: GraphPart, service_part: GraphPart, link: PartLink, service_iri: str
) -> QueryCandidate:
    head_candidate, service_candidate = head.candidate, service_part.candidate
    offset = 1 + max(
        map(get_variable_number, {*_iterate_numbered_variables(head_candidate)}), default=0
    )
    names = {
        name: get_variable(get_variable_number(name) + offset)
        for name in {*_iterate_numbered_variables(service_candidate)}
    }
    if link.stated_by is None:
        names[link.service] = link.head
    service_node = names[link.service]
    same_as_pattern = (sparql.Pattern(link.head, _SAME_AS_PATH, service_node),)
    inner: tuple[sparql.Element, ...] = sparql.transform(
        service_candidate.tree.where,
        lambda node: names.get(node, node) if isinstance(node, Variable) else node,
    ).elements
    inner = (*inner, *(same_as_pattern if link.stated_by is service_part else ()))
    if head_candidate.tree.is_aggregate:  # count each thing once
        join_node = service_node if link.stated_by is not service_part else link.head
        inner = (sparql.Query("SELECT", sparql.Group(inner), ((join_node, None),), distinct=True),)
    where = (
        *head_candidate.tree.where.elements,
        *(same_as_pattern if link.stated_by is head else ()),
        sparql.Nested("SERVICE", sparql.Group(inner), NamedNode(service_iri)),
    )
    distinct = head_candidate.tree.distinct or not (
        head_candidate.tree.order or head_candidate.tree.is_aggregate
    )
    tree = replace(head_candidate.tree, where=sparql.Group(where), distinct=distinct)
    hints = {
        **head_candidate.hints,
        **{
            names[name_variable]: hint
            for name_variable, hint in service_candidate.hints.items()
            if name_variable != link.service
        },
    }
    if link.stated_by is not None:
        hints[service_node] = service_candidate.hints.get(link.service, "thing")
    return replace(
        head_candidate, tree=tree, hints=hints, used=head_candidate.used | service_candidate.used
    )


def _iterate_numbered_variables(candidate: QueryCandidate) -> Iterator[Variable]:
    all_variables = (*sparql.find_variables(candidate.tree), *candidate.hints)
    return (item for item in all_variables if item.value[1:].isdigit())
