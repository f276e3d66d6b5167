"""Run graph search for one question over one graph: candidates, answers, a decision."""

import asyncio
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from askgraph import trace
from askgraph.answers import AnswerBuilder, verbalize
from askgraph.answers.absent_year import find_absent_year, is_none
from askgraph.answers.verbalize.phrases import Phrases, load_phrases
from askgraph.deadline import DEFAULT_SECONDS, clamp_timeout
from askgraph.endpoint import CountingEndpoint
from askgraph.errors import QueryError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.search.decide import (
    EMPTY_RESULT_FACTOR,
    Thresholds,
    choose_options,
    choose_outcome,
    compute_confidence_factor,
    decide,
    find_omitted_words,
)
from askgraph.search.glossary import remove_lifting_words
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import (
    DURATIONS_NOTE,
    INEXACT_DURATIONS_NOTE,
    NONE_NOTE,
    OTHER_DURATION_NOTE,
    QueryCandidate,
)
from askgraph.search.pipeline import propose
from askgraph.search.rank import Cluster, RankedCandidates
from askgraph.sparql import Nested, find_variables
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import render_query, to_text

if TYPE_CHECKING:
    from askgraph.answers.suggestions import Gap

_MAX_DRAFTS = 5
_MAX_MENTIONS = 20
_MAX_OPTIONS = 4  # options of a clarification question
_MAX_SCORE_GAP = 0.4  # readings further below the best score are not offered
_TIME_SHARE = 0.5  # part of the remaining time for one query: another query may have to run
SKIPPED_CANDIDATE_FACTOR = 0.8
"""Factor on the confidence for each better candidate that was skipped."""

DOUBTFUL_ORDER_FACTOR = 0.5
"""Factor on the confidence if durations may be compared wrongly."""

_DURATION_PROBE = """PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
ASK {
  VALUES (?years ?months) { ("P2Y"^^xsd:duration "P3M"^^xsd:duration) }
  VALUES (?hours ?minutes) { ("PT2H"^^xsd:duration "PT90M"^^xsd:duration) }
  FILTER(?years > ?months && ?hours > ?minutes)
}"""

MAX_EMPTY_SCORE_GAP = 0.35
"""How much lower than a better but empty candidate the score of the answer may be."""


@dataclass(frozen=True)
class SearchLimits:
    """Limits on expansion, attempts and output; see `askgraph.methods.graph_search`."""

    states: int = 150
    tried: int = 4
    evidence_rows: int = 3
    rows: int = 10_000
    timeout: float | None = 20.0
    seconds: float | None = DEFAULT_SECONDS
    answer_from: float = 0.33
    ask_from: float = 0.15
    operators: bool = True
    today: str = ""
    ranking: str = ""


@dataclass
class SearchRun:
    """Graph search for one question over one graph; the counting `endpoint` gets all requests."""

    limits: SearchLimits
    question: trace.Question
    graph: KnowledgeGraph
    endpoint: CountingEndpoint
    timed_out: bool = False  # whether a query did

    async def propose_candidates(self, question: trace.Question | None = None) -> RankedCandidates:
        """Read the question, or another one, link it and expand candidates."""
        limits = self.limits
        return await propose(
            question or self.question,
            self.counted_graph,
            states=limits.states,
            operators=limits.operators,
            ranking=limits.ranking,
            today=date.fromisoformat(limits.today) if limits.today else None,
        )

    def build_findings(self, proposal: RankedCandidates) -> trace.Findings:
        """Return how the best candidate interprets the words of the question."""
        reading = proposal.question
        mentions = [
            trace.Mention(
                " ".join(reading.tokens[position].text for position in link.positions),
                link.kind.name.lower(),
                link.target,
                link.name,
                round(link.score, 3),
            )
            for link in _drop_partial_links(proposal.linked.links)[:_MAX_MENTIONS]
        ]
        best = proposal.candidates[0] if proposal.candidates else None
        return trace.Findings(tuple(mentions), _list_unused_words(proposal, best))

    def list_drafts(self, proposal: RankedCandidates) -> list[trace.Draft]:
        """Return the best few candidates; of those with the same words, only the best."""
        distinct: list[tuple[QueryCandidate, Set[str]]] = []
        for candidate in proposal.candidates:
            iris = frozenset(verbalize.list_query_iris(candidate.query))
            names = {iri: iri for iri in iris}
            same_iris = [other for other, other_iris in distinct if other_iris == iris]
            # Few have the same IRIs; only these are worded.
            texts = [verbalize.verbalize_query(same.query, names) for same in same_iris]
            if not texts or verbalize.verbalize_query(candidate.query, names) not in texts:
                distinct.append((candidate, iris))
            if len(distinct) == _MAX_DRAFTS:
                break
        return [
            trace.Draft(
                render_query(candidate.query, self.graph.prefixes, self.graph.profile.types),
                round(candidate.score, 3),
            )
            for candidate, _ in distinct
        ]

    @property
    def counted_graph(self) -> KnowledgeGraph:
        """The graph, with requests going to the counting endpoint."""
        return replace(self.graph, endpoint=self.endpoint)

    @property
    def prefixes(self) -> PrefixMap:
        """The graph's prefixes."""
        return self.graph.prefixes

    async def decide_outcome(
        self, proposal: RankedCandidates
    ) -> trace.Answer | trace.Clarification | trace.Refusal:
        """Run the best candidates until one has a result; answer, ask back or refuse."""
        decision = decide(proposal)
        clusters = decision.clusters
        if not clusters:
            gap = await self.describe_gap(proposal)
            return trace.Refusal(gap.reason, missing=gap.missing)
        answer = await self.answer_absent_year(proposal)
        if answer is not None:
            return answer
        answer = await self.find_first_answer(proposal, clusters, decision.confidence)
        if answer is None:
            return trace.Refusal("No query that fits the question finished in time.")
        if self.timed_out:
            answer = replace(answer, cut_short="the query of a better reading ran out of time")
        limits = Thresholds(self.limits.answer_from, self.limits.ask_from)
        outcome = choose_outcome(answer.confidence, limits, is_doubtful=decision.is_doubtful)
        if outcome == "answer":
            return answer
        gap = await self.describe_gap(proposal)
        if outcome == "ask":
            fitting = [
                cluster
                for cluster in clusters
                if not gap.full_names.intersection(find_omitted_words(proposal, cluster.best))
            ]
            options = await self.build_options(proposal, fitting, answer)
            if len(options) > 1:
                question = load_phrases(proposal.question.language).say("ask which")
                question = f"{gap.reason} {question}" if gap.missing else question
                return trace.Clarification(question, options, answer, missing=gap.missing)
            if answer.confidence >= limits.answer:
                return answer
        return trace.Refusal(gap.reason, answer, missing=gap.missing)

    async def answer_absent_year(self, proposal: RankedCandidates) -> trace.Answer | None:
        """Answer a question for a year without values; None if it is for no such year."""
        absent = find_absent_year(proposal) if proposal.question.quantities else None
        if absent is None:
            return None
        with suppress(QueryError, TimedOut):
            timeout = clamp_timeout(self.limits.timeout, share=_TIME_SHARE)
            dates = await self.endpoint.select(to_text(absent.range_query), timeout=timeout)
            factor = 1.0 if absent.is_outside(dates) else EMPTY_RESULT_FACTOR
            for near_year in absent.list_near_years(dates):
                text = self.question.text.replace(str(absent.year), str(near_year))
                near = await self.propose_candidates(replace(self.question, text=text))
                decision = decide(near)
                best = decision.clusters[0].best if decision.clusters else None
                if best is None or find_omitted_words(near, best):
                    continue
                candidate = absent.replace_year(best, near_year)
                answer = await self.answer(candidate, near, round(decision.confidence * factor, 4))
                if answer is not None and is_none(answer):
                    bound = absent.describe_range(answer, dates, near.question.language)
                    return replace(answer, sentence=f"{answer.sentence} {bound}".strip())
        return None

    async def describe_gap(self, proposal: RankedCandidates) -> "Gap":
        """Return why no reading is sure, and the words that no candidate covers."""
        from askgraph.answers.suggestions import describe_gap  # few questions lack a word

        best = proposal.candidates[0] if proposal.candidates else None
        words = _list_unused_words(proposal, best)
        return await asyncio.to_thread(describe_gap, words, proposal, self.graph)

    async def find_first_answer(
        self, proposal: RankedCandidates, clusters: Sequence[Cluster], confidence: float
    ) -> trace.Answer | None:
        """Return the best cluster's answer, or the next one's if it is empty or fails."""
        fallback: trace.Answer | None = None
        for position, cluster in enumerate(clusters[: self.limits.tried]):
            is_worse = cluster.score < clusters[0].score - MAX_EMPTY_SCORE_GAP
            guesses = cluster.best.features["unknown"] > clusters[0].best.features["unknown"] == 0
            if fallback is not None and (is_worse or guesses):
                break  # the empty result is the answer: no other reading is nearly as good
            answer = await self.answer(
                cluster.best, proposal, confidence * SKIPPED_CANDIDATE_FACTOR**position
            )
            if answer is None:
                continue
            if answer.boolean is not None:
                return answer
            rows, unbound_rows = len(answer.result.rows), _count_unbound(answer, cluster.best)
            factor = compute_confidence_factor(
                proposal, cluster.best, rows, has_unbound=bool(unbound_rows)
            )
            discounted = replace(answer, confidence=round((answer.confidence or 0.0) * factor, 4))
            if rows > unbound_rows or NONE_NOTE in cluster.best.notes:
                return discounted
            fallback = fallback or discounted
        return fallback

    async def answer(
        self,
        candidate: QueryCandidate,
        proposal: RankedCandidates,
        confidence: float,
        *,
        known_result: SelectResult | bool | None = None,
    ) -> trace.Answer | None:
        """Run one candidate, unless its result is known; None if it cannot be run."""
        builder = self.create_builder(proposal)
        query, labels = await builder.format_query(candidate.query)
        result = known_result
        try:
            if result is None:
                result = await self.run_query(query, candidate)
        except QueryError:
            return None
        except TimedOut:
            self.timed_out = True
            return None
        doubt = await self.describe_doubt(candidate, load_phrases(proposal.question.language))
        answer = await builder.answer(
            query,
            result,
            columns=candidate.columns,
            confidence=round(confidence * DOUBTFUL_ORDER_FACTOR, 4) if doubt else confidence,
            ordered=bool(candidate.tree_with_things.order),
            labels=labels,
        )
        names = proposal.linked.merged
        merged = {name: labels[iri] for iri, name in names.items() if iri in labels}
        merged_names = verbalize.describe_merged_names(merged, proposal.question.language)
        meanings = await self.describe_glossary_words(proposal, candidate.used)
        unused_words = find_omitted_words(proposal, candidate, is_query_shown=True)
        words = " ".join((answer.words, *merged_names, *doubt, *meanings))
        return replace(answer, words=words, unused_words=unused_words)

    async def describe_doubt(self, candidate: QueryCandidate, phrases: Phrases) -> list[str]:
        """Return sentences on durations that have no order, or none at the endpoint."""
        for note in (INEXACT_DURATIONS_NOTE, OTHER_DURATION_NOTE):
            if note in candidate.notes:
                return [phrases.say(note.replace("_", " "))]
        if DURATIONS_NOTE not in candidate.notes:
            return []
        try:
            timeout = clamp_timeout(self.limits.timeout, share=_TIME_SHARE)
            is_ordered = await self.endpoint.ask(_DURATION_PROBE, timeout=timeout)
        except (QueryError, TimedOut):
            is_ordered = False
        return [] if is_ordered else [phrases.say("unordered durations")]

    async def describe_glossary_words(
        self, proposal: RankedCandidates, used: int = -1
    ) -> list[str]:
        """Return sentences on the meaning of words (bits of `used`) that the glossary explains."""
        glossary = self.graph.glossary
        if not glossary:
            return []
        defined = {entry.iri for entry in glossary.definitions}
        targets_by_word = {
            entry.word: entry.targets
            for entry in proposal.linked.glossary_words
            if entry.mask & used == entry.mask
            and not defined.intersection(entry.targets)
            and not any(
                entry.mask & other.mask == entry.mask != other.mask
                for other in proposal.linked.glossary_words
            )
        }
        language, fetched_part = proposal.question.language, proposal.schema.graph
        lifted = remove_lifting_words(self.question.text, glossary)[1]
        sentences = verbalize.describe_exceptions(glossary, proposal.question, lifted)
        if not targets_by_word:
            return sentences
        return sentences + await verbalize.describe_taught_words(
            targets_by_word, self.counted_graph, language, near=fetched_part
        )

    def create_builder(self, proposal: RankedCandidates) -> AnswerBuilder:
        """Create the builder of this question's answers."""
        return AnswerBuilder(
            self.counted_graph,
            [proposal.question.language],
            fetched_part=proposal.schema.graph,
            timeout=clamp_timeout(None, share=_TIME_SHARE),
            evidence_rows=self.limits.evidence_rows,
            evidence_seconds=clamp_timeout(None, share=_TIME_SHARE),
        )

    async def run_query(self, query: str, candidate: QueryCandidate) -> SelectResult | bool:
        """Run a query as SELECT or ASK."""
        timeout = clamp_timeout(self.limits.timeout, share=_TIME_SHARE)
        if candidate.is_ask:
            return await self.endpoint.ask(query, timeout=timeout)
        return await self.endpoint.select(query, timeout=timeout, limit=self.limits.rows)

    async def build_options(
        self, proposal: RankedCandidates, clusters: Sequence[Cluster], known_answer: trace.Answer
    ) -> tuple[trace.Option, ...]:
        """Return the best interpretations as options, each with its number of rows.

        The result of `known_answer` is not queried again.
        """
        builder, answers = self.create_builder(proposal), []
        best_candidates = (
            cluster.best
            for cluster in clusters[:_MAX_OPTIONS]
            if cluster.score >= clusters[0].score - _MAX_SCORE_GAP
        )
        laid_out = [(best, *await builder.format_query(best.query)) for best in best_candidates]
        distinct_labels = await builder.disambiguate_labels(
            {iri: text for *_, own_labels in laid_out for iri, text in own_labels.items()}
        )
        for best, query, own_labels in laid_out:
            labels = {iri: distinct_labels[iri] for iri in own_labels}
            if query == known_answer.query and labels == own_labels:
                answers.append(known_answer)
                continue
            with suppress(QueryError, TimedOut):
                result: SelectResult | bool = known_answer.result
                if query != known_answer.query:
                    result = await self.run_query(query, best)
                elif known_answer.boolean is not None:
                    result = known_answer.boolean
                answers.append(
                    await builder.build_worded_answer(
                        query, result, columns=best.columns, labels=labels
                    )
                )
        return choose_options(answers)


def _count_unbound(answer: trace.Answer, candidate: QueryCandidate) -> int:
    """Return the number of rows with an unbound answer that no optional pattern explains."""
    names = answer.result.variables
    optional = {
        variable.value
        for element in candidate.tree.where.elements
        if isinstance(element, Nested) and element.word
        for variable in find_variables(element)
    }
    required = [
        at
        for at, name in enumerate(names)
        if name in answer.answer_columns and name not in optional
    ]
    return sum(any(row[at] is None for at in required) for row in answer.result.rows)


def get_top_score(proposal: RankedCandidates) -> float:
    """Return the score of the best candidate; minus infinity without candidates."""
    return proposal.candidates[0].score if proposal.candidates else float("-inf")


def _drop_partial_links(links: Sequence[Link]) -> list[Link]:
    """Drop links by a part of a name where the same words are the complete name of another."""
    complete_matches = {(link.kind, link.positions) for link in links if link.is_exact}
    return [
        link
        for link in links
        if link.is_exact or (link.kind, link.positions) not in complete_matches
    ]


def _list_unused_words(
    proposal: RankedCandidates, candidate: QueryCandidate | None
) -> tuple[str, ...]:
    """Return the words that a candidate ignores; without a candidate, all words with a meaning."""
    if candidate is not None:
        return find_omitted_words(proposal, candidate)
    tokens, weights = proposal.question.tokens, proposal.linked.weights
    return tuple(token.text for token, weight in zip(tokens, weights, strict=True) if weight)
