"""A question over two graphs: a part answered in each, joined where both know the same things.

No word may be left out by both parts. One, the head, has what is asked for and is put to its graph;
the other comes as a SERVICE, which the program joins. They meet in a variable of each: things with
the same IRI in both graphs, or that `owl:sameAs` or `skos:exactMatch` in either says are the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations, product

from pyoxigraph import NamedNode, Variable

from askgraph import deadline
from askgraph.answers.search_run import SearchRun
from askgraph.answers.verbalize.phrases import phrases_in
from askgraph.endpoint import Counted
from askgraph.endpoint.federated import Federated
from askgraph.errors import QueryError, ServiceError
from askgraph.search.decide import estimate_confidence, find_omitted_words
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.query_pieces import get_predicate, get_variable, get_variable_number
from askgraph.search.rank import RankedCandidates, cluster_candidates, load_weights
from askgraph.sparql import (
    Element,
    Group,
    Nested,
    Path,
    Pattern,
    Query,
    Values,
    renamed,
    transform,
    variables_of,
    walk,
)
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import OWL_SAME_AS, RDF_TYPE, SKOS_EXACT_MATCH
from askgraph.trace import Answer

Found = tuple[SearchRun, RankedCandidates]

JOINED = 0.9
"""What is left of the weaker part's confidence: that the parts meet in what is meant is a guess,
and the same things under a variable in both graphs speak for it, but no word says so."""

_CANDIDATES, _PAIRS = 8, 4
"""So many candidates of a graph are looked at, and so many pairs of them asked about."""
_REQUESTS = 30
"""After so many requests no further pair is looked at."""
_THINGS = 300
"""So many things of a variable are looked for in the other graph."""
_NOT_ASKED = {"head": 1.0, "disagrees": 0.0, "misfit": 0.0, "unheld": 0.0}
"""What is not asked of a part that shows nothing: that it is what the question asks for."""
_SHARE = 0.2  # of the time left, for a request
_SAME = tuple(map(NamedNode, (OWL_SAME_AS, SKOS_EXACT_MATCH)))
_LINK = Path("|", (*_SAME, *(Path("^", (one,)) for one in _SAME)))
_HERE, _THERE = Variable("here"), Variable("there")


@dataclass(frozen=True, eq=False)
class Part:
    """A candidate of one graph, with the words of the question that it leaves out."""

    run: SearchRun
    proposal: RankedCandidates
    candidate: QueryCandidate
    left: frozenset[str]

    @property
    def tree(self) -> Query:
        """Its query."""
        return self.candidate.tree

    @property
    def is_plain(self) -> bool:
        """Whether its patterns alone are what it says."""
        tree = self.tree
        ordered = tree.order and tree.limit is not None
        return tree.form == "SELECT" and not (tree.is_aggregate or tree.having or ordered)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Those at the ends of its patterns, each once."""
        ends = (
            end
            for one in self.tree.where.elements
            if isinstance(one, Pattern) and get_predicate(one) != RDF_TYPE
            for end in (one.subject, one.object)
        )
        return tuple(dict.fromkeys(end for end in ends if isinstance(end, Variable)))

    async def rows(self, query: Query) -> list[tuple[str, ...]]:
        """The IRIs of the first rows of a query on its graph."""
        own = dict(self.run.graph.profile.types)
        text = text_of(renamed(query, own) if own else query)
        timeout = deadline.clamp_timeout(self.run.limits.timeout, share=_SHARE)
        result = await self.run.endpoint.select(text, timeout=timeout, limit=_THINGS)
        found = [[one.value for one in row if isinstance(one, NamedNode)] for row in result.rows]
        return [tuple(row) for row in found if len(row) == len(result.variables)]


@dataclass(frozen=True)
class Link:
    """The variables of two parts that hold the same things, and the part that says so, if one."""

    head: Variable
    other: Variable
    said_by: Part | None


async def over_two(found: Sequence[Found]) -> Answer | None:
    """Return the answer of two parts, if no graph answers alone and two do together.

    None if a graph's best reading leaves no word out, if no two readings do so together, if the
    graphs have no link, and if there is no answer or it cannot be had in time.
    """
    best = [
        (run, proposal, proposal.candidates[0]) for run, proposal in found if proposal.candidates
    ]
    if len(best) < 2 or not all(find_omitted_words(proposal, one) for _, proposal, one in best):
        return None
    with suppress(QueryError, ServiceError):
        begun = _requests(found)
        graphs = [
            [
                Part(run, proposal, one, frozenset(find_omitted_words(proposal, one)))
                for one in proposal.candidates[:_CANDIDATES]
            ]
            for run, proposal in found
        ]
        pairs = [
            (head, other)
            for ours, theirs in permutations(graphs, 2)
            for head, other in product(ours, theirs)
            if not head.left & other.left and head.left and other.left
            if other.is_plain and _is_head(head, other) and _may_join(head, other)
        ]
        for head, other in sorted(pairs, key=lambda two: -_score(*two))[:_PAIRS]:
            if _requests(found) - begun > _REQUESTS:
                break
            link = await _link(head, other)
            if link is not None:
                sure = JOINED * min(
                    _confidence(head, other, heads=True), _confidence(other, head, heads=False)
                )
                service = f"askgraph:{other.run.graph.name}"
                both = Counted(Federated(head.run.endpoint, {service: other.run.endpoint}))
                run = replace(head.run, endpoint=both)
                candidate = _joined(head, other, link, service)
                labels: dict[str, str] = {}
                said: list[str] = []
                for part in (other, head):
                    builder = part.run.builder(part.proposal)
                    query, own = await builder.layout(part.candidate.query)
                    words = (await builder.reading(query, True, columns=(), labels=own)).words
                    labels, said = labels | own, [part.run.graph.name, words, *said]
                builder = run.builder(head.proposal)
                query, own = await builder.layout(candidate.query)
                answer = await builder.answer(
                    query,
                    await run.ran(query, candidate),
                    columns=candidate.columns,
                    confidence=sure,
                    ordered=bool(candidate.tree.order),
                    labels=labels | own,
                )
                words = phrases_in(head.proposal.question.language).say("two graphs", *said)
                return None if answer.is_empty else replace(answer, words=words)
    return None


def _requests(found: Sequence[Found]) -> int:
    return sum(run.endpoint.requests for run, _ in found)


def _score(head: Part, other: Part) -> float:
    return head.candidate.score + _scored(other.candidate, other, _NOT_ASKED).score


def _is_head(head: Part, other: Part) -> bool:
    """Whether the first word that only one of both explains is the head's, or only it is more."""
    own, others = head.candidate.used, other.candidate.used
    ours, theirs = own & ~others, others & ~own
    first = ours & -ours < theirs & -theirs if ours and theirs else bool(ours)
    return first or not head.is_plain


def _may_join(head: Part, other: Part) -> bool:
    """Whether what is joined to the head's patterns holds for all of it, types written alike."""
    inner = any(isinstance(node, Query) for node in walk(head.tree.where))
    return not inner and head.run.graph.profile.types == other.run.graph.profile.types


async def _link(head: Part, other: Part) -> Link | None:
    """Return the variables in which most things are the same, looked for from the smaller part."""
    near, far = sorted((head, other), key=lambda one: len(one.candidate.ids))
    found: dict[Link, int] = {}
    for ours in near.variables:
        bare = replace(near.tree, columns=((ours, None),), order=(), limit=_THINGS, distinct=True)
        things = [iri for (iri,) in await near.rows(bare)]
        if not things:
            continue
        for said_by, names in (
            (None, {one: one for one in things}),
            (near, await _said(near, things)),
            (far, await _said(far, things)),
        ):
            for theirs in far.variables if names else ():
                same = len(await far.rows(_holding(far.tree, theirs, names)))
                both = (ours, theirs) if near is head else (theirs, ours)
                if same:
                    found[Link(*both, said_by)] = same
    return max(found, key=lambda one: found[one]) if found else None


async def _said(part: Part, things: Sequence[str]) -> Mapping[str, str]:
    """What a graph says to be the same as some things."""
    where = Group((_values(_HERE, things), Pattern(_HERE, _LINK, _THERE)))
    asked = Query("SELECT", where, ((_THERE, None), (_HERE, None)), limit=_THINGS)
    return {row[0]: row[1] for row in await part.rows(asked)}


def _holding(tree: Query, at: Variable, things: Iterable[str]) -> Query:
    """The query for those of some things that a variable holds."""
    where = Group((_values(at, things), *tree.where.elements))
    return Query("SELECT", where, ((at, None),), distinct=True, limit=_THINGS)


def _values(at: Variable, things: Iterable[str]) -> Values:
    return Values((at,), tuple((NamedNode(one),) for one in things))


def _confidence(part: Part, other: Part, *, heads: bool) -> float:
    """How sure a part is of its own words: what only the other explains is none of them."""
    proposal, mine = part.proposal, part.candidate.used
    theirs = other.candidate.used & ~mine
    weights = (0.0 if theirs >> at & 1 else w for at, w in enumerate(proposal.linked.weights))
    operators = (one for one in proposal.operators.operators if not one.mask & theirs)
    own = replace(
        proposal,
        linked=replace(proposal.linked, weights=tuple(weights)),
        operators=replace(proposal.operators, operators=tuple(operators)),
    )
    fair = {"covered": 1.0, **({} if heads else _NOT_ASKED)}
    alike = [one for one in proposal.candidates if one.used & mine == mine]
    found = cluster_candidates([_scored(one, part, fair) for one in alike])
    first = [one for one in found if any(m.tree == part.tree for m in one.members)]
    return estimate_confidence(own, [*first, *(one for one in found if one not in first)])


def _scored(one: QueryCandidate, part: Part, told: Mapping[str, float]) -> QueryCandidate:
    """A candidate with other features, and the score that these give it."""
    weights = load_weights(part.run.graph.name, part.run.limits.ranking)
    more = sum(weights[name] * (value - one.features[name]) for name, value in told.items())
    return replace(one, score=one.score + more, features={**one.features, **told})


def _joined(head: Part, other: Part, link: Link, service: str) -> QueryCandidate:
    """The head with the other part as a SERVICE in its query."""
    one, two = head.candidate, other.candidate
    after = 1 + max(map(get_variable_number, {*_numbered(one)}), default=0)
    names = {name: get_variable(get_variable_number(name) + after) for name in {*_numbered(two)}}
    if link.said_by is None:
        names[link.other] = link.head
    there = names[link.other]
    same = (Pattern(link.head, _LINK, there),)
    inner: tuple[Element, ...] = transform(
        two.tree.where, lambda node: names.get(node, node) if isinstance(node, Variable) else node
    ).elements
    inner = (*inner, *(same if link.said_by is other else ()))
    if one.tree.is_aggregate:  # what is counted is counted once
        met = there if link.said_by is not other else link.head
        inner = (Query("SELECT", Group(inner), ((met, None),), distinct=True),)
    where = (
        *one.tree.where.elements,
        *(same if link.said_by is head else ()),
        Nested("SERVICE", Group(inner), NamedNode(service)),
    )
    distinct = one.tree.distinct or not (one.tree.order or one.tree.is_aggregate)
    tree = replace(one.tree, where=Group(where), distinct=distinct)
    hints = {**one.hints, **{names[v]: hint for v, hint in two.hints.items() if v != link.other}}
    if link.said_by is not None:
        hints[there] = two.hints.get(link.other, "thing")
    return replace(one, tree=tree, hints=hints, used=one.used | two.used)


def _numbered(candidate: QueryCandidate) -> Iterator[Variable]:
    found = (*variables_of(candidate.tree), *candidate.hints)
    return (one for one in found if one.value[1:].isdigit())
