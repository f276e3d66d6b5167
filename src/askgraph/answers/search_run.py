"""Graph search's run of one question over one graph: candidates, answers, a decision."""

import asyncio
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date

from askgraph.answers import AnswerBuilder
from askgraph.answers.verbalize import in_words, iris_of, merged_in_words, taught_in_words
from askgraph.answers.verbalize.phrases import Phrases, phrases_in
from askgraph.deadline import DEFAULT_SECONDS, clamp_timeout
from askgraph.endpoint import Counted
from askgraph.errors import QueryError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.search.decide import (
    Thresholds,
    choose_options,
    choose_outcome,
    compute_confidence_factor,
    decide,
    find_omitted_words,
)
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.pipeline import propose
from askgraph.search.rank import Cluster, RankedCandidates
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import render_query
from askgraph.trace import (
    Answer,
    Clarification,
    Draft,
    Findings,
    Mention,
    Missing,
    Option,
    Question,
    Refusal,
)

_DRAFTS = 5
_MENTIONS = 20
_READINGS = 4  # that a question back may offer
_FAR = 0.4  # score below the best from which a reading is not worth offering
_SHARE = 0.5  # of the time left, for a query: another one may have to be run
PASSED_OVER = 0.8
"""What is left of a confidence for each better candidate that was passed over."""

AHEAD = 0.35
"""How much worse a candidate with a result may score than a better one that is empty."""


@dataclass(frozen=True)
class SearchLimits:
    """How much is grown, tried and shown; see `askgraph.methods.graph_search`."""

    states: int = 150
    tried: int = 4
    evidence_rows: int = 3
    rows: int = 10_000
    timeout: float | None = 20.0
    seconds: float | None = DEFAULT_SECONDS
    answer_from: float = 0.5
    ask_from: float = 0.2
    operators: bool = True
    today: str = ""
    ranking: str = ""
    meanings: str = ""


@dataclass
class SearchRun:
    """Graph search for one question over one graph; requests go to `endpoint`, which counts."""

    limits: SearchLimits
    question: Question
    graph: KnowledgeGraph
    endpoint: Counted
    late: bool = False
    """Whether a query took too long."""

    async def proposal(self) -> RankedCandidates:
        """Read the question, link it and grow candidates."""
        limits = self.limits
        return await propose(
            self.question,
            self.counted,
            states=limits.states,
            operators=limits.operators,
            ranking=limits.ranking,
            meanings=limits.meanings,
            today=date.fromisoformat(limits.today) if limits.today else None,
        )

    def findings(self, proposal: RankedCandidates) -> Findings:
        """Return what the best candidate takes the words of the question to mean."""
        reading = proposal.question
        mentions = [
            Mention(
                " ".join(reading.tokens[at].text for at in link.positions),
                link.kind.name.lower(),
                link.target,
                link.name,
                round(link.score, 3),
            )
            for link in _meant(proposal.linked.links)[:_MENTIONS]
        ]
        best = proposal.candidates[0] if proposal.candidates else None
        return Findings(tuple(mentions), _left(proposal, best))

    def drafts(self, proposal: RankedCandidates) -> list[Draft]:
        """Return the best few candidates, of those that read the same the best one."""
        kept: list[tuple[QueryCandidate, Set[str]]] = []
        for one in proposal.candidates:
            iris = frozenset(iris_of(one.query))
            alike = (other for other, known in kept if known == iris)  # few; only these are worded
            if not any(_in_words(one, iris) == _in_words(other, iris) for other in alike):
                kept.append((one, iris))
            if len(kept) == _DRAFTS:
                break
        return [
            Draft(
                render_query(one.query, self.graph.prefixes, self.graph.profile.types),
                round(one.score, 3),
            )
            for one, _ in kept
        ]

    @property
    def counted(self) -> KnowledgeGraph:
        """The graph behind the endpoint that counts."""
        return replace(self.graph, endpoint=self.endpoint)

    @property
    def prefixes(self) -> PrefixMap:
        """The graph's prefixes."""
        return self.graph.prefixes

    async def outcome(self, proposal: RankedCandidates) -> Answer | Clarification | Refusal:
        """Run the best candidates until one has a result; answer, ask back or refuse."""
        decision = decide(proposal)
        found = decision.clusters
        if not found:
            return Refusal(_nothing(proposal), missing=await self.missing(proposal))
        answer = await self.first_answer(proposal, found, decision.confidence)
        if answer is None:
            return Refusal("The queries that fit the question could not be run in time.")
        if self.late:
            answer = replace(answer, cut_short="the query of a better reading took too long")
        limits = Thresholds(self.limits.answer_from, self.limits.ask_from)
        match choose_outcome(answer.confidence, limits):
            case "answer":
                return answer
            case "ask":
                options = await self.options(proposal, found, answer)
                if len(options) > 1:
                    missing = await self.missing(proposal)
                    return Clarification(_which(proposal), options, answer, missing=missing)
        return Refusal(_unsure(proposal), answer, missing=await self.missing(proposal))

    async def missing(self, proposal: RankedCandidates) -> tuple[Missing, ...]:
        """Return the words that no reading stands for, with names of the graph instead."""
        from askgraph.answers.suggestions import missing_of  # few questions lack a word

        words = _left(proposal, proposal.candidates[0] if proposal.candidates else None)
        return await asyncio.to_thread(missing_of, words, proposal, self.graph)

    async def first_answer(
        self, proposal: RankedCandidates, found: Sequence[Cluster], confidence: float
    ) -> Answer | None:
        """Return the best cluster's answer, or the next one's if it is empty or fails."""
        fallback: Answer | None = None
        for place, cluster in enumerate(found[: self.limits.tried]):
            if fallback is not None and cluster.score < found[0].score - AHEAD:
                break  # the empty result is the answer: nothing else is meant nearly as well
            answer = await self.answer(cluster.best, proposal, confidence * PASSED_OVER**place)
            if answer is None:
                continue
            if answer.boolean is not None:
                return answer
            rows = len(answer.result.rows)
            less = replace(
                answer,
                confidence=round(
                    (answer.confidence or 0.0)
                    * compute_confidence_factor(proposal, cluster.best, rows),
                    4,
                ),
            )
            if rows:
                return less
            fallback = fallback or less
        return fallback

    async def answer(
        self,
        candidate: QueryCandidate,
        proposal: RankedCandidates,
        confidence: float,
        *,
        known: SelectResult | bool | None = None,
    ) -> Answer | None:
        """Run one candidate, unless it is known what it gives; None if it cannot be run."""
        builder = self.builder(proposal)
        query, labels = await builder.layout(candidate.query)
        try:
            given = known if known is not None else await self.ran(query, candidate)
        except QueryError:
            return None
        except TimedOut:
            self.late = True
            return None
        answer = await builder.answer(
            query,
            given,
            columns=candidate.columns,
            confidence=confidence,
            ordered=bool(candidate.tree.order),
            labels=labels,
        )
        names = proposal.linked.merged
        merged = {name: labels[iri] for iri, name in names.items() if iri in labels}
        words = " ".join(
            (
                answer.words,
                *merged_in_words(merged, proposal.question.language),
                *await self.taught(proposal, candidate.used),
            )
        )
        return replace(
            answer,
            words=words,
            unused_words=find_omitted_words(proposal, candidate, is_query_shown=True),
        )

    async def taught(self, proposal: RankedCandidates, used: int = -1) -> list[str]:
        """Say what the words (bits of `used`) mean that the graph's glossary explains."""
        meant = {
            one.word: one.targets
            for one in proposal.linked.glossary_words
            if one.mask & used == one.mask
        }
        language, near = proposal.question.language, proposal.schema.graph
        return await taught_in_words(meant, self.counted, language, near=near) if meant else []

    def builder(self, proposal: RankedCandidates) -> AnswerBuilder:
        """Return the builder of this question's answers."""
        return AnswerBuilder(
            self.counted,
            [proposal.question.language],
            near=proposal.schema.graph,
            timeout=clamp_timeout(None, share=_SHARE),
            evidence_rows=self.limits.evidence_rows,
            evidence_seconds=clamp_timeout(None, share=_SHARE),
        )

    async def ran(self, query: str, candidate: QueryCandidate) -> SelectResult | bool:
        """Run a query as SELECT or ASK."""
        endpoint = self.endpoint
        timeout = clamp_timeout(self.limits.timeout, share=_SHARE)
        if candidate.is_ask:
            return await endpoint.ask(query, timeout=timeout)
        return await endpoint.select(query, timeout=timeout, limit=self.limits.rows)

    async def options(
        self, proposal: RankedCandidates, found: Sequence[Cluster], known: Answer
    ) -> tuple[Option, ...]:
        """Return the best readings that are worth asking, each with its number of rows.

        What an answer is `known` to give is not asked again.
        """
        builder, answers = self.builder(proposal), []
        near = (one.best for one in found[:_READINGS] if one.score >= found[0].score - _FAR)
        laid_out = [(best, *await builder.layout(best.query)) for best in near]
        apart = await builder.apart({k: text for *_, own in laid_out for k, text in own.items()})
        for best, query, own in laid_out:
            labels = {iri: apart[iri] for iri in own}
            if query == known.query and labels == own:
                answers.append(known)
                continue
            with suppress(QueryError, TimedOut):
                said = known.result if known.boolean is None else known.boolean
                given = said if query == known.query else await self.ran(query, best)
                answers.append(
                    await builder.reading(query, given, columns=best.columns, labels=labels)
                )
        return choose_options(answers)


def _in_words(one: QueryCandidate, iris: Set[str]) -> str:
    """A candidate in words, in which IRIs tell namesakes apart."""
    return in_words(one.query, {iri: iri for iri in iris})


def top_score(proposal: RankedCandidates) -> float:
    """Return the score of the best candidate, minus infinity if there is none."""
    return proposal.candidates[0].score if proposal.candidates else float("-inf")


def _which(proposal: RankedCandidates) -> str:
    """The question back, with the words that no reading stands for."""
    phrases = phrases_in(proposal.question.language)
    which = phrases.say("ask which")
    if missing := _left(proposal, proposal.candidates[0]):
        return phrases.say("ask missing", _named(missing[:6], phrases), which)
    return which


def _nothing(proposal: RankedCandidates) -> str:
    phrases, words = phrases_in(proposal.question.language), _left(proposal, None)
    if words:
        return phrases.say("refuse unknown", _named(words[:8], phrases))
    return phrases.say("refuse nothing")


def _unsure(proposal: RankedCandidates) -> str:
    phrases = phrases_in(proposal.question.language)
    if missing := _left(proposal, proposal.candidates[0]):
        return phrases.say("refuse missing", _named(missing[:6], phrases))
    return phrases.say("refuse unsure")


def _named(words: Sequence[str], phrases: Phrases) -> str:
    """Words of the question as they are named: each in the quotes of a language but English."""
    if phrases.language == "en":
        return repr(", ".join(words))
    return ", ".join(map(phrases.quote, words))


def _meant(links: Sequence[Link]) -> list[Link]:
    """The links without those by a part of a name, of words that are all of another one."""
    whole = {(one.kind, one.positions) for one in links if one.is_exact}
    return [one for one in links if one.is_exact or (one.kind, one.positions) not in whole]


def _left(proposal: RankedCandidates, candidate: QueryCandidate | None) -> tuple[str, ...]:
    """The words that a candidate leaves out; without one, all that mean something."""
    if candidate is not None:
        return find_omitted_words(proposal, candidate)
    tokens, weights = proposal.question.tokens, proposal.linked.weights
    return tuple(token.text for token, weight in zip(tokens, weights, strict=True) if weight)
