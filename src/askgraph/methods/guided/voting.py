"""Several opinions on one question: asked for at once, and voted on by what they give.

Each opinion's weight is the chance that it is right when nobody else was asked. Sources err apart
from each other, so that two that agree are worth much more than one. The opinions of one source, as
the samples of a model, err together: all of them are worth less than two that are apart. Between
two answers that are nearly as good one check decides, on what tells them apart.
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
from askgraph.llm.budget import Account
from askgraph.llm.structured import Structured, read_structured
from askgraph.methods import Method
from askgraph.methods.guided.panel import CHOSEN, Panel, Voice
from askgraph.methods.guided.verdict import Verdict, told_apart
from askgraph.sparql.comparison import alike, is_blank, of_columns
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
    heard,
    heard_steps,
)

_WHICH = """\
Two answers are left:
1. {first}
2. {second}
{apart}
Which of them answers the question? Reply with a JSON object: "better" is 1, 2, or 0 if neither is
better; "why" is one sentence."""
_DECIDE: Mapping[str, object] = {
    "type": "object",
    "properties": {"better": {"type": "integer", "enum": [0, 1, 2]}, "why": {"type": "string"}},
    "required": ["better", "why"],
    "additionalProperties": False,
}
_SEARCH = "graph-search"
_NEARLY = 0.2  # of the chance of the best answer, from which the next one is nearly as good
_NEVER, _SURE = 0.001, 0.97  # no source is worse or better
_WRONG = 8  # wrong answers that a source errs between, all told
_TOGETHER = 0.5  # how much the opinions of one source correlate
_EMPTY = 0.25  # of the chance that an answer is right, what is left where it has no rows
_ASKS_BACK = 0.5  # of the confidence in the best answer of a method that asks back
Item = TypeVar("Item")


@dataclass(frozen=True)
class Opinion:
    """One answer to the question; opinions of one `source` share what the source is worth.

    `weight` is the chance, from 0 to 1, that this answer is right as far as the source alone tells.
    Alternatives that a method ranks, each with a chance of its own, are sources of their own.
    """

    source: str
    answer: Answer
    weight: float = 1.0

    @property
    def given(self) -> SelectResult | bool:
        """What answers the question: the answer columns, or yes or no."""
        if self.answer.boolean is not None:
            return self.answer.boolean
        return of_columns(self.answer.result, self.answer.answer_columns)


@dataclass(frozen=True)
class Agreement:
    """Opinions that give the same, the best one first.

    `weight` says how much speaks for it: the logarithm of its odds against any one answer that
    nobody gave. An opinion that is hardly ever right takes nothing away from others.
    """

    opinions: tuple[Opinion, ...]
    weight: float

    @property
    def answer(self) -> Answer:
        """The answer of the best opinion."""
        return self.opinions[0].answer

    @property
    def sources(self) -> tuple[str, ...]:
        """Who gives it, each once, in the order of names."""
        return tuple(sorted({opinion.source for opinion in self.opinions}))

    @property
    def is_empty(self) -> bool:
        """Whether it holds no value."""
        return is_blank(self.opinions[0].given)


@dataclass(frozen=True)
class Vote:
    """What is believed: an agreement, the chance that it is right, and the next best one.

    `chances` has that of each agreement, the heaviest first; what is missing to 1 is the chance
    that none is right.
    """

    chosen: Agreement
    confidence: float
    runner_up: Agreement | None
    chances: tuple[float, ...]

    @property
    def answer(self) -> Answer:
        """The answer of the chosen agreement's best opinion, as it was given."""
        return self.chosen.answer


def agreements(opinions: Sequence[Opinion]) -> list[Agreement]:
    """Group opinions by what their answers give, the heaviest group first.

    See `askgraph.sparql.comparison` for what is the same; only the answer columns count, and
    neither does the order of the rows if it was asked for: one that sorts and one that does not
    have found the same things. All answers without a value are one group, which weighs little: a
    query that goes wrong gives nothing far more often than nothing is right. If a result is
    truncated, the rows that are there are compared, so that two which were cut at other rows count
    as different. The order of the opinions has no influence: of equals the first by name of the
    source, then by graph, query and answer columns, is the best.
    """
    ranked = sorted(opinions, key=_rank)
    groups = defaultdict[int, list[Opinion]](list)
    for number, opinion in zip(alike([one.given for one in ranked]), ranked, strict=True):
        groups[number].append(opinion)
    times = Counter(opinion.source for opinion in opinions)
    found = [Agreement(tuple(group), _weight(group, times)) for group in groups.values()]
    return sorted(found, key=lambda one: (-one.weight, -len(one.opinions), _rank(one.opinions[0])))


def voted(opinions: Sequence[Opinion]) -> Vote | None:
    """Return what is believed of several opinions; None if there are none.

    Naive Bayes over sources: before anybody speaks all answers are alike, a source gives the right
    one with the chance that its weight says, and else one of 8 wrong ones. Several opinions of one
    source count as correlated ones do (the design effect of cluster samples, Kish 1965). A lone
    opinion is believed as its weight says.
    """
    found = agreements(opinions)
    if not found:
        return None
    beliefs = [math.exp(min(one.weight, 500.0)) for one in found]
    total = math.fsum(beliefs) + max(0, _WRONG + 1 - len(found))
    chances = tuple(belief / total for belief in beliefs)
    return Vote(found[0], chances[0], found[1] if found[1:] else None, chances)


def _weight(group: Sequence[Opinion], times: Mapping[str, int]) -> float:
    """What speaks for the opinions of a group, if their sources spoke so many times in all."""
    left = _EMPTY if is_blank(group[0].given) else 1.0
    odds = [
        _odds(opinion.weight * left) / (1 + _TOGETHER * (times[opinion.source] - 1))
        for opinion in group
    ]
    return math.fsum(max(0.0, one) for one in odds) or max(odds)


def _odds(weight: float) -> float:
    """The logarithm of how much likelier an answer is from its source if it is right."""
    chance = min(max(weight, _NEVER), _SURE)
    return math.log(chance * _WRONG / (1.0 - chance))


def _rank(opinion: Opinion) -> tuple[float, float, str, str, str, tuple[str, ...]]:
    answer = opinion.answer
    said = answer.graph, answer.query, answer.answer_columns
    return -opinion.weight, -answer.confidence, opinion.source, *said


@dataclass(eq=False)
class VotingPanel(Panel):
    """Several voices, or methods that are consulted beside them, and a vote on what they give.

    `others` are the methods, on the same `graphs`. `account` is what all of it is charged to.
    """

    _: KW_ONLY
    question: Question
    others: Mapping[str, Method] = field(default_factory=dict)
    graphs: Sequence[KnowledgeGraph] = ()
    account: Account | None = None
    _heard: dict[str, list[Verdict]] = field(default_factory=dict)  # by voice
    _failure: ServiceError | None = None  # of a voice

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Ask all voices and methods at once, and vote."""
        opinions: list[Opinion] = []
        async with aclosing(self._gathered(opinions)) as steps:
            async for step in steps:
                yield step
        self._hear(len(opinions))
        if not opinions and not self._heard and self._failure is not None:
            raise self._failure
        if self.given_up:
            return
        candidates = self.judge.candidates
        if self.judge.chances and not candidates.follows and _SEARCH not in self.others:
            own = await self.judge.taken(1)
            if own is not None:
                opinions.append(Opinion(_SEARCH, own, own.confidence))
        vote = voted(opinions)
        self._settle(vote)
        if vote is not None and vote.runner_up is not None:
            decide = partial(self._decided, vote, vote.runner_up)
            turn = await heard("decided", ModelTurn | None, decide)
            if turn is not None:
                yield turn
                other = vote.runner_up
                read = read_structured(turn.choice, _DECIDE)
                if isinstance(read, Structured) and read.value["better"] in (1, 2):
                    chosen = other if read.value["better"] == 2 else vote.chosen
                    self.answer, self.confidence = chosen.answer, max(CHOSEN, vote.chances[0])
                    self.rivals = ((vote if chosen is other else other).answer,)

    async def _gathered(self, opinions: list[Opinion]) -> AsyncGenerator[Step, None]:
        """Ask all voices and methods at once, and keep what they say; the vote so far stands."""
        asked = self.others.items()
        if self.judge.candidates.follows:  # graph search reads no earlier question
            asked = {name: one for name, one in asked if name != _SEARCH}.items()
        streams = [
            *(self._spoken(voice) for voice in self.voices),
            *(consulted(name, one, self.question, self.graphs) for name, one in asked),
        ]
        account = self.account
        left = account.seconds_left if account is not None else None
        until = None if left is None else asyncio.get_running_loop().time() + left
        try:
            async with aclosing(merged(*streams, until=until)) as items:
                async for item in items:
                    if isinstance(item, Opinion):
                        opinions.append(item)
                        self._settle(voted(opinions))
                        yield Draft(item.answer.query, item.weight, item.answer.words)
                    else:
                        yield item
        except TimeoutError as problem:
            if account is None or until is None:
                raise
            raise account.spent("seconds", "the time for the question is over") from problem

    async def _spoken(self, voice: Voice) -> AsyncGenerator[Step | Opinion, None]:
        """The replies of one voice, each an opinion if it comes to an answer; it may fail alone."""
        yield voice.talk.prompt(f"question ({voice.name})")
        try:
            sample = partial(voice.talk.samples, voice.n)
            said = await heard("replies", tuple[ModelTurn, ...], sample, voice.name)
        except ServiceError as problem:
            self._failure = problem
            yield Thought(f"{voice.name} said nothing: {problem}")
            return
        voice.talk.went_on(said[0].choice)
        for turn in said:
            yield turn
            verdict = await self.judge.judged(self.judge.read(turn.choice))
            self._heard.setdefault(voice.name, []).append(verdict)
            if verdict.answer is not None:
                yield Opinion(voice.source, verdict.answer, verdict.confidence)
            elif verdict.doubts:
                yield Thought(f"{voice.name}: {self.named(verdict.doubts[0])}")

    def _hear(self, opinions: int) -> None:
        """Tell what most replies come to: a question back, no answer, or the first with an answer.

        That there is none has to be said by more replies than there are `opinions`, those of
        consulted methods among them. The order of the voices counts, not who spoke first.
        """
        verdicts = [one for voice in self.voices for one in self._heard.get(voice.name, ())]
        asking = [one for one in verdicts if one.reply.ask]
        declining = [one for one in verdicts if one.declines]
        if 2 * len(asking) > len(verdicts):
            self.verdict = asking[0]
        elif len(declining) > opinions:
            self.verdict, self.given_up = declining[0], declining[0].reply.thought
        else:
            others = [one for one in verdicts if one not in asking]
            self.verdict = next((one for one in others if one.answer), None)

    def _settle(self, vote: Vote | None) -> None:
        if vote is not None:
            self.answer, self.confidence = vote.answer, vote.confidence
            self.rivals = () if vote.runner_up is None else (vote.runner_up.answer,)

    async def _decided(self, vote: Vote, other: Agreement) -> ModelTurn | None:
        """Where two answers are nearly as good, ask which, on what tells them apart."""
        first, second = vote.answer, other.answer
        near = vote.chances[1] >= _NEARLY * vote.chances[0] and first.graph == second.graph
        spoke = next((one for one in self.voices if one.name in self._heard), None)
        if not near or spoke is None:
            return None
        context = self.judge.candidates.by_graph[first.graph].linked.context
        talk = spoke.talk
        talk.options = {**talk.options, "schema": _DECIDE}
        veil = self.judge.candidates.veil
        one, two = (a.query if veil is None else veil.mask_query(a.query) for a in (first, second))
        words = _WHICH.replace("{first}", one).replace("{second}", two)
        apart = "" if veil and not veil.shows_rows else await told_apart(context, first, second)
        talk.told(self.checked(words.replace("{apart}", apart)))
        return (await talk.turn()).step


async def consulted(
    name: str, method: Method, question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step | Opinion, None]:
    """Give the steps of a method but for its outcome, then what it says as an opinion.

    A method that refuses, whose budget ends or whose servers fail has no opinion; a thought says
    so.
    """
    try:
        stream = heard_steps(f"consulted {name}", lambda: method.answer(question, graphs))
        async with aclosing(stream) as steps:
            async for step in steps:
                match step:
                    case Answer():
                        yield Opinion(name, step, step.confidence)
                    case Clarification(best=Answer() as best):
                        weight = best.confidence * _ASKS_BACK
                        yield Opinion(name, best, weight)
                    case Clarification():
                        yield Thought(f"{name} asks back and has no answer.")
                    case Refusal(reason=reason):
                        yield Thought(f"{name} has no answer: {reason}")
                    case _:
                        yield step
    except (BudgetSpent, ServiceError) as problem:
        yield Thought(f"{name} came to no end: {problem}")


async def merged(
    *streams: AsyncGenerator[Item, None], until: float | None = None
) -> AsyncGenerator[Item, None]:
    """Give what the streams give until all have ended; all of them are closed in the end.

    What one of them raises ends all the others, and is raised as it is. Raises `TimeoutError` if
    the clock of the event loop comes to `until` before.
    """
    queue: asyncio.Queue[tuple[Item, ...]] = asyncio.Queue()
    tasks = [asyncio.create_task(_put(stream, queue)) for stream in streams]
    try:
        for _ in tasks:
            while item := await _next(queue, until):
                yield item[0]
            for task in tasks:
                if task.done():
                    task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _next(queue: "asyncio.Queue[tuple[Item, ...]]", until: float | None) -> tuple[Item, ...]:
    async with asyncio.timeout_at(until):
        return await queue.get()


async def _put(
    stream: AsyncGenerator[Item, None], queue: "asyncio.Queue[tuple[Item, ...]]"
) -> None:
    """Put what comes, each alone; if the stream has ended, nothing."""
    try:
        async with aclosing(stream):
            async for item in stream:
                queue.put_nowait((item,))
    finally:
        # the task is done when this is read, with its error if it has one
        asyncio.get_running_loop().call_soon(queue.put_nowait, ())
