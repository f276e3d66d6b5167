"""The opinions that the guided method asks for, and the outcome in which they end.

One voice alone is asked again if its answer is doubtful, and may then look things up. Several
voices, or other methods beside them, are voted on by what they give; between two that are nearly as
good one check decides, on what tells them apart.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from askgraph.agent.conversation import Conversation
from askgraph.errors import ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.budget import Account
from askgraph.llm.structured import Structured, read_structured
from askgraph.methods import Method
from askgraph.methods.guided.candidates import Candidates
from askgraph.methods.guided.opinions import Agreement, Opinion, Vote, voted
from askgraph.methods.guided.verdict import Judge, Reply, Verdict
from askgraph.search.decide.decision import Thresholds, decided
from askgraph.search.decide.options import worth_asking
from askgraph.tools import Toolbox
from askgraph.trace import (
    Answer,
    Clarification,
    Draft,
    ModelTurn,
    Option,
    Outcome,
    Question,
    Refusal,
    Step,
    Thought,
    ToolUse,
)

_AGAIN = "Reply again, in the same form: mended, or the same if you are sure of it."
_DECLINED = """\
Are you sure? Candidate 1 uses the words of the question like this and has a result. If the graph
still holds no answer, say so again."""
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
_RIVAL = 0.5  # what graph search believes of a candidate that is worth a question back
_CHOSEN = 0.75  # the chance of an answer that a check has chosen, at least
_LOOKED_UP = 0.6  # and of one that was looked up, at most


_NONE = "the model's replies could not be used"
_DECLINED_AT_MOST = 0.3  # the most that is believed of an answer that a model declined to give
_WHICH_MEANT = "Which of these do you mean?"


@dataclass(frozen=True, eq=False)
class Voice:
    """A model with the messages that it is told, under a name; `n` replies are wanted.

    Voices of one `source` err together, such as those of one model.
    """

    name: str
    talk: Conversation
    n: int = 1
    source: str = "model"


@dataclass(eq=False)
class Panel:
    """Everybody who is asked about one question; `answer` is what came of it, None for nothing.

    `others` are methods that are consulted beside the voices, on the same `graphs`. `looks` bounds
    how often a voice alone is asked again, `turns` how often it may then call functions of the
    `toolbox`. `verdict` is that of the reply that counts. `given_up` says, in the model's words,
    why the graph holds no answer. `account` is what all of it is charged to.
    """

    question: Question
    judge: Judge
    voices: Sequence[Voice]
    others: Mapping[str, Method] = field(default_factory=dict)
    graphs: Sequence[KnowledgeGraph] = ()
    looks: int = 1
    toolbox: Callable[[], Toolbox] | None = None
    turns: int = 0
    account: Account | None = None
    answer: Answer | None = None
    confidence: float = 0.0
    verdict: Verdict | None = None
    rivals: Sequence[Answer] = ()
    given_up: str = ""
    _heard: dict[str, list[Verdict]] = field(default_factory=dict)  # by voice
    _failure: ServiceError | None = None  # of a voice

    def steps(self) -> AsyncGenerator[Step, None]:
        """Ask everybody, and settle on an answer.

        Raises `BudgetSpent` and `ServiceError` as models do; what was found until then stands.
        """
        if len(self.voices) == 1 and self.voices[0].n == 1 and not self.others:
            return self._alone(self.voices[0])
        return self._together()

    async def _alone(self, voice: Voice) -> AsyncGenerator[Step, None]:
        """One voice: asked again if there is doubt, then let look things up."""
        talk = voice.talk
        yield talk.prompt("question")
        for left in reversed(range(self.looks + 1)):
            turn = (await talk.turn()).step
            yield turn
            reply = self.judge.read(turn.choice)
            verdict = await self.judge.judged(reply, revised=left < self.looks)
            self._take(verdict)
            if verdict.answer is not None:
                yield Draft(verdict.answer.query, verdict.confidence, verdict.answer.words)
            doubts = self._doubts(verdict)
            if not doubts:
                break
            yield Thought(self._named("\n".join(doubts)))
            if left:
                talk.told(self._checked("\n".join([*doubts, _AGAIN])))
        if self.turns and self.toolbox is not None and self._lacks():
            from askgraph.methods.guided.sources import looked_up_further  # on doubt alone

            looking_up = looked_up_further(talk, self.toolbox(), turns=self.turns)
            async with aclosing(looking_up) as items:
                async for item in items:
                    self._note(item)
                    if not isinstance(item, Answer):
                        yield item
        await self._note_rival()

    def _checked(self, text: str) -> str:
        """A text as a model may read it."""
        veil = self.judge.candidates.veil
        return text if veil is None else veil.checked(text)

    def _named(self, text: str) -> str:
        """What a model is told, as a person may read it: names in place of placeholders."""
        veil = self.judge.candidates.veil
        return text if veil is None else veil.in_words(text)

    def _doubts(self, verdict: Verdict) -> Sequence[str]:
        believed = self.judge.candidates.chances
        if verdict.declines and believed and believed[0] >= _CHOSEN:
            return (_DECLINED,)
        return verdict.doubts

    def _take(self, verdict: Verdict) -> None:
        """Keep the last answer, unless it is empty and there was one before."""
        self.verdict = verdict
        self.given_up = verdict.reply.thought if verdict.declines else ""
        if verdict.answer is None:
            return
        if self.answer is None or not verdict.answer.is_empty or self.answer.is_empty:
            self.answer, self.confidence = verdict.answer, verdict.confidence

    def _lacks(self) -> bool:
        """Whether there is no answer that could stand."""
        verdict = self.verdict
        if verdict is None or verdict.declines or verdict.reply.ask:
            return False
        return self.answer is None or self.answer.is_empty or verdict.signs.findings > 0

    async def _note_rival(self) -> None:
        """Keep the best candidate with another result, if graph search believes in it."""
        verdict = self.verdict
        if verdict is not None and verdict.rival and verdict.signs.against >= _RIVAL:
            answer = await self.judge.taken(verdict.rival)
            self.rivals = () if answer is None else (answer,)

    def _note(self, item: Step) -> None:
        """Keep what a lookup came to: an answer, or the reason why there is none."""
        if isinstance(item, Answer) and (
            self.answer is None or not item.is_empty or self.answer.is_empty
        ):
            self.answer, self.confidence = item, min(item.confidence, _LOOKED_UP)
        if isinstance(item, ToolUse) and item.observation.ends == "cancel":
            self.given_up = item.observation.text

    async def _together(self) -> AsyncGenerator[Step, None]:
        """All voices and methods at once, and a vote."""
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
        if candidates.numbered and not candidates.follows and _SEARCH not in self.others:
            own = await self.judge.taken(1)
            if own is not None:
                opinions.append(Opinion(_SEARCH, own, own.confidence))
        vote = voted(opinions)
        self._settle(vote)
        if vote is not None and vote.runner_up is not None:
            turn = await self._decided(vote, vote.runner_up)
            if turn is not None:
                yield turn
                self._choose(vote, vote.runner_up, turn)

    async def _gathered(self, opinions: list[Opinion]) -> AsyncGenerator[Step, None]:
        """Ask all voices and methods at once, and keep what they say; the vote so far stands."""
        from askgraph.methods.guided.sources import consulted, merged  # for several opinions

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
            said = await voice.talk.samples(voice.n)
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
                yield Thought(f"{voice.name}: {self._named(verdict.doubts[0])}")

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
        from askgraph.methods.guided.difference import told_apart  # for two that are near

        context = self.judge.candidates.by_graph[first.graph].linked.context
        talk = spoke.talk
        talk.options = {**talk.options, "schema": _DECIDE}
        veil = self.judge.candidates.veil
        one, two = (a.query if veil is None else veil.query(a.query) for a in (first, second))
        words = _WHICH.replace("{first}", one).replace("{second}", two)
        apart = None if veil and not veil.rows else await told_apart(context, first, second)
        talk.told(self._checked(words.replace("{apart}", apart.text if apart else "")))
        return (await talk.turn()).step

    def _choose(self, vote: Vote, other: Agreement, turn: ModelTurn) -> None:
        """Take the answer that the check has chosen, if it chose one."""
        read = read_structured(turn.choice, _DECIDE)
        if isinstance(read, Structured) and read.value["better"] in (1, 2):
            chosen = other if read.value["better"] == 2 else vote.chosen
            self.answer, self.confidence = chosen.answer, max(_CHOSEN, vote.chances[0])
            self.rivals = ((vote if chosen is other else other).answer,)


@dataclass(frozen=True)
class Ending:
    """How sure an answer has to be, whether to ask back, and what ended the run early, if so."""

    limits: Thresholds
    asks_back: bool = True
    problem: str = ""


async def outcome_of(panel: Panel, candidates: Candidates, ending: Ending) -> Outcome:
    """Return what a run comes to.

    If no model gave an answer, graph search's outcome stands, and says so. Raises
    `ServiceError` if an endpoint is down.
    """
    reply = panel.verdict.reply if panel.verdict is not None else Reply()
    if ending.asks_back and reply.ask and (back := await _asked_back(panel, reply)):
        return back
    if panel.given_up:
        return await _given_up(panel, candidates)
    if panel.answer is None:
        return await _searched(candidates, ending)
    confidence = round(panel.confidence, 4)
    answer = replace(panel.answer, confidence=confidence, cut_short=ending.problem or None)
    match decided(confidence, ending.limits):
        case "answer":
            return answer
        case "ask" if ending.asks_back and panel.rivals:
            options = worth_asking([answer, *panel.rivals])
            return Clarification(_WHICH_MEANT, options, answer) if options else answer
        case "ask":
            return answer
        case _:
            why = "No query that was found has a result." if answer.is_empty else _unsure(reply)
            return Refusal(why, answer)


async def _asked_back(panel: Panel, reply: Reply) -> Clarification | None:
    """The model's question, if the candidates that it lies between differ in what they say."""
    answers = [await panel.judge.taken(number) for number in reply.between]
    found = [answer for answer in answers if answer is not None]
    options: tuple[Option, ...] = worth_asking(found) if len(found) > 1 else ()
    if not options:
        return None
    return Clarification(reply.ask, options, panel.answer or found[0])


async def _given_up(panel: Panel, candidates: Candidates) -> Refusal:
    """The model's reason, with the best attempt, little believed: its own, or graph search's."""
    best = panel.answer
    if best is None and not candidates.follows:
        own = await candidates.best.searched.outcome(candidates.best.proposal)
        best = own if isinstance(own, Answer) else own.best
    if best is None:
        return Refusal(panel.given_up)
    return Refusal(
        panel.given_up, replace(best, confidence=min(best.confidence, _DECLINED_AT_MOST))
    )


async def _searched(candidates: Candidates, ending: Ending) -> Outcome:
    """Graph search's outcome, which says that no reply could be used; none to a follow-up."""
    if candidates.follows:
        return Refusal(
            f"Graph search does not read earlier questions, and {ending.problem or _NONE}."
        )
    own = await searched_outcome(candidates, asks_back=ending.asks_back)
    if isinstance(own, Answer):
        return replace(own, cut_short=ending.problem or f"{_NONE}: this is what graph search found")
    return own


async def searched_outcome(candidates: Candidates, *, asks_back: bool) -> Outcome:
    """Return graph search's own outcome; if it may not ask back, its best answer instead."""
    own = await candidates.best.searched.outcome(candidates.best.proposal)
    if isinstance(own, Clarification) and not asks_back and own.best is not None:
        return own.best
    return own


def _unsure(reply: Reply) -> str:
    thought = f" {reply.thought}" if reply.thought else ""
    return f"No answer is sure enough; the nearest one is shown.{thought}"
