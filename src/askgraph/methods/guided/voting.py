"""Several opinions on one question: requested at once, and put to a vote by their results.

The weight of an opinion is the chance that it is right if no other source was asked. Sources err
independently, so that two that agree are worth much more than one. Opinions of one source, such as
the samples of a model, err together: all of them are worth less than two independent ones.
"""

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TypeVar

from askgraph.errors import BudgetSpent, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.budget import BudgetAccount
from askgraph.methods import Method
from askgraph.methods.guided.panel import Panel, Voice
from askgraph.methods.guided.verdict import Verdict
from askgraph.sparql.comparison import group_equal_results, has_no_value, select_columns
from askgraph.sparql.results import SelectResult
from askgraph.trace import (
    Answer,
    Clarification,
    Draft,
    ModelTurn,
    Question,
    Refusal,
    Step,
    Thought,
    record_or_replay,
    record_or_replay_steps,
)

_SEARCH_METHOD = "graph-search"
_MIN_WEIGHT, _MAX_WEIGHT = 0.001, 0.97  # no source is worse or better
_WRONG_ANSWER_COUNT = 8  # assumed number of wrong answers that a source may give
_SOURCE_CORRELATION_RATIO = 0.5  # how much the opinions of one source correlate
_EMPTY_RESULT_WEIGHT = 0.25  # probability factor for an answer without rows
_CLARIFICATION_WEIGHT = 0.5  # of the confidence in the best answer of a method that asks back
Item = TypeVar("Item")


@dataclass(frozen=True)
class Opinion:
    """An answer of a source to the question; opinions of one `source` share its weight.

    `weight` is the chance, 0 to 1, that this answer is right by the source alone. Alternatives that
    a method ranks, each with its own chance, are separate sources.
    """

    source: str
    answer: Answer
    weight: float = 1.0

    @property
    def result(self) -> SelectResult | bool:
        """The answer columns of the result, or the boolean."""
        if self.answer.boolean is not None:
            return self.answer.boolean
        return select_columns(self.answer.result, self.answer.answer_columns)


@dataclass(frozen=True)
class AnswerGroup:
    """Opinions with the same result, the best one first.

    `weight` is the log odds of the result against any one answer that nobody gave. An opinion that
    is hardly ever right does not lower it.
    """

    opinions: tuple[Opinion, ...]
    weight: float

    @property
    def answer(self) -> Answer:
        """The answer of the best opinion."""
        return self.opinions[0].answer

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the result, each once, by name."""
        return tuple(sorted({opinion.source for opinion in self.opinions}))

    @property
    def is_empty(self) -> bool:
        """Whether the result has no value."""
        return has_no_value(self.opinions[0].result)


@dataclass(frozen=True)
class VoteResult:
    """The result of a vote: the winning group, the chance that it is right, and the runner-up.

    `chances` has the chance of each group, the heaviest first; the rest to 1 is the chance that
    none is right.
    """

    winner: AnswerGroup
    confidence: float
    runner_up: AnswerGroup | None
    chances: tuple[float, ...]

    @property
    def answer(self) -> Answer:
        """The answer of the winning group's best opinion, unchanged."""
        return self.winner.answer


def group_opinions(opinions: Sequence[Opinion]) -> list[AnswerGroup]:
    """Group opinions by the results of their answers, the heaviest group first.

    `askgraph.sparql.comparison` defines equality; only the answer columns count, and the order of
    rows does not, even if the question asks for one: a query that sorts and one that does not have
    found the same values. All answers without a value form one group, which weighs little: a wrong
    query is empty far more often than an empty result is right. Truncated results are compared by
    their rows, so that results cut at different rows count as different. The order of the opinions
    has no influence: ties go by name of the source, then by graph, query and answer columns.
    """
    ranked_opinions = sorted(opinions, key=_get_sort_key)
    numbers = group_equal_results([opinion.result for opinion in ranked_opinions])
    groups = defaultdict[int, list[Opinion]](list)
    for number, opinion in zip(numbers, ranked_opinions, strict=True):
        groups[number].append(opinion)
    counts_by_source = Counter(opinion.source for opinion in opinions)
    answer_groups = [
        AnswerGroup(tuple(group), _weigh_group(group, counts_by_source))
        for group in groups.values()
    ]
    return sorted(
        answer_groups,
        key=lambda group: (-group.weight, -len(group.opinions), _get_sort_key(group.opinions[0])),
    )


def count_votes(opinions: Sequence[Opinion]) -> VoteResult | None:
    """Return the result of a vote of several opinions; None if there are none.

    Naive Bayes over sources: at first all answers are equally likely; a source gives the right one
    with the chance of its weight, and else one of 8 wrong ones. Several opinions of one source
    count as correlated ones do (the design effect of cluster samples, Kish 1965). The confidence in
    a lone opinion is its weight.
    """
    answer_groups = group_opinions(opinions)
    if not answer_groups:
        return None
    beliefs = [math.exp(min(answer_group.weight, 500.0)) for answer_group in answer_groups]
    total = math.fsum(beliefs) + max(0, _WRONG_ANSWER_COUNT + 1 - len(answer_groups))
    chances = tuple(belief / total for belief in beliefs)
    return VoteResult(
        answer_groups[0], chances[0], answer_groups[1] if answer_groups[1:] else None, chances
    )


def _weigh_group(group: Sequence[Opinion], counts_by_source: Mapping[str, int]) -> float:
    """Return the log odds of a group; `counts_by_source` counts all opinions of each source."""
    empty_factor = _EMPTY_RESULT_WEIGHT if has_no_value(group[0].result) else 1.0
    all_odds: list[float] = []
    for opinion in group:
        chance = min(max(opinion.weight * empty_factor, _MIN_WEIGHT), _MAX_WEIGHT)
        # How likely the answer is if it is right, and if it is wrong.
        log_odds = math.log(chance * _WRONG_ANSWER_COUNT / (1.0 - chance))
        correlation = _SOURCE_CORRELATION_RATIO * (counts_by_source[opinion.source] - 1)
        all_odds.append(log_odds / (1 + correlation))
    return math.fsum(max(0.0, opinion_odds) for opinion_odds in all_odds) or max(all_odds)


def _get_sort_key(opinion: Opinion) -> tuple[float, float, str, str, str, tuple[str, ...]]:
    answer = opinion.answer
    answer_key = answer.graph, answer.query, answer.answer_columns
    return -opinion.weight, -answer.confidence, opinion.source, *answer_key


@dataclass(eq=False)
class VotingPanel(Panel):
    """Several voices or consulted methods, and a vote on their results.

    Attributes:
        others: the consulted methods, on the same `graphs`.
        account: the account that everything is charged to.
    """

    _: KW_ONLY
    question: Question
    others: Mapping[str, Method] = field(default_factory=dict)
    graphs: Sequence[KnowledgeGraph] = ()
    account: BudgetAccount | None = None
    _verdicts_by_voice: dict[str, list[Verdict]] = field(default_factory=dict)  # by voice
    _failure: ServiceError | None = None  # of a voice

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Ask all voices and methods at once, and hold the vote."""
        opinions: list[Opinion] = []
        async with aclosing(self._gather_opinions(opinions)) as steps:
            async for step in steps:
                yield step
        # Set the verdict of most replies: a question back, a refusal, or the first with an answer.
        # A refusal needs more replies than there are `opinions`, including those of consulted
        # methods. The order of the voices counts, not the order of replies.
        verdicts = [
            verdict
            for voice in self.voices
            for verdict in self._verdicts_by_voice.get(voice.name, ())
        ]
        clarifications = [verdict for verdict in verdicts if verdict.reply.ask]
        refusals = [verdict for verdict in verdicts if verdict.is_refusal]
        if 2 * len(clarifications) > len(verdicts):
            self.verdict = clarifications[0]
        elif len(refusals) > len(opinions):
            self.verdict, self.refusal_reason = refusals[0], refusals[0].reply.thought
        else:
            answering = [verdict for verdict in verdicts if verdict not in clarifications]
            self.verdict = next((verdict for verdict in answering if verdict.answer), None)
        if not opinions and not self._verdicts_by_voice and self._failure is not None:
            raise self._failure
        if self.refusal_reason:
            return
        candidates = self.judge.candidates
        if self.judge.chances and not candidates.is_follow_up and _SEARCH_METHOD not in self.others:
            search_answer = await self.judge.answer_candidate(1)
            if search_answer is not None:
                opinions.append(Opinion(_SEARCH_METHOD, search_answer, search_answer.confidence))
        self._set_answer(count_votes(opinions))

    async def _gather_opinions(self, opinions: list[Opinion]) -> AsyncGenerator[Step, None]:
        """Ask all voices and methods at once, collect their opinions and update the vote."""
        methods = self.others.items()
        if self.judge.candidates.is_follow_up:  # graph search reads no earlier question
            methods = {name: method for name, method in methods if name != _SEARCH_METHOD}.items()
        streams = [
            *(self._ask_voice(voice) for voice in self.voices),
            *(consult_method(name, method, self.question, self.graphs) for name, method in methods),
        ]
        account = self.account
        seconds_left = account.remaining_seconds if account is not None else None
        deadline = (
            None if seconds_left is None else asyncio.get_running_loop().time() + seconds_left
        )
        try:
            async with aclosing(merge_streams(*streams, deadline=deadline)) as items:
                async for item in items:
                    if isinstance(item, Opinion):
                        opinions.append(item)
                        self._set_answer(count_votes(opinions))
                        yield Draft(item.answer.query, item.weight, item.answer.words)
                    else:
                        yield item
        except TimeoutError as problem:
            if account is None or deadline is None:
                raise
            raise account.build_error(
                "seconds", "the time limit of the question was reached"
            ) from problem

    async def _ask_voice(self, voice: Voice) -> AsyncGenerator[Step | Opinion, None]:
        """Yield the replies of a voice and its opinions; its failure does not end the run."""
        yield voice.conversation.to_prompt(f"question ({voice.name})")
        try:
            sample = partial(voice.conversation.sample_replies, voice.n)
            replies = await record_or_replay("replies", tuple[ModelTurn, ...], sample, voice.name)
        except ServiceError as problem:
            self._failure = problem
            yield Thought(f"{voice.name} said nothing: {problem}")
            return
        voice.conversation.choices.append(replies[0].choice)
        voice.conversation.messages.append(replies[0].choice.message)
        for turn in replies:
            yield turn
            verdict = await self.judge.judge_reply(self.judge.read_reply(turn.choice))
            self._verdicts_by_voice.setdefault(voice.name, []).append(verdict)
            if verdict.answer is not None:
                yield Opinion(voice.source, verdict.answer, verdict.confidence)
            elif verdict.doubts:
                yield Thought(f"{voice.name}: {verdict.remark}")

    def _set_answer(self, vote: VoteResult | None) -> None:
        if vote is not None:
            self.answer, self.confidence = vote.answer, vote.confidence
            self.rivals = () if vote.runner_up is None else (vote.runner_up.answer,)


async def consult_method(
    name: str, method: Method, question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step | Opinion, None]:
    """Yield the steps of a method without its outcome, then its answer as an opinion.

    A method has no opinion if it refuses, spends its budget or its servers fail; a thought reports
    this.
    """
    try:
        stream = record_or_replay_steps(
            f"consulted {name}", lambda: method.answer(question, graphs)
        )
        async with aclosing(stream) as steps:
            async for step in steps:
                match step:
                    case Answer():
                        yield Opinion(name, step, step.confidence)
                    case Clarification(best=Answer() as best_answer):
                        weight = best_answer.confidence * _CLARIFICATION_WEIGHT
                        yield Opinion(name, best_answer, weight)
                    case Clarification():
                        yield Thought(f"{name} asks back and has no answer.")
                    case Refusal(reason=reason):
                        yield Thought(f"{name} has no answer: {reason}")
                    case _:
                        yield step
    except (BudgetSpent, ServiceError) as problem:
        yield Thought(f"{name} came to no end: {problem}")


async def merge_streams(
    *streams: AsyncGenerator[Item, None], deadline: float | None = None
) -> AsyncGenerator[Item, None]:
    """Yield the items of all streams until they end, and close all streams.

    Args:
        deadline: time of the event loop's clock.

    Raises:
        TimeoutError: the deadline passes first.
        Exception: the first error of a stream, which ends all others.
    """
    queue: asyncio.Queue[tuple[Item, ...]] = asyncio.Queue()
    tasks = [asyncio.create_task(_forward_stream(stream, queue)) for stream in streams]
    try:
        for _ in tasks:
            while True:
                async with asyncio.timeout_at(deadline):
                    item = await queue.get()
                if not item:
                    break
                yield item[0]
            for task in tasks:
                if task.done():
                    task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _forward_stream(
    stream: AsyncGenerator[Item, None], queue: "asyncio.Queue[tuple[Item, ...]]"
) -> None:
    """Put each item in a tuple; at the end of the stream, put an empty tuple."""
    try:
        async with aclosing(stream):
            async for item in stream:
                queue.put_nowait((item,))
    finally:
        # the task is done here; reading it raises its error
        asyncio.get_running_loop().call_soon(queue.put_nowait, ())
