"""The voice that the guided method asks, and the outcome in which a run ends.

It is asked again if its answer is doubtful, and may then look things up. For several voices, and
other methods beside them, see `askgraph.methods.guided.voting`.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from askgraph.methods.guided.candidates import Candidates
from askgraph.methods.guided.prompt import Reply
from askgraph.methods.guided.verdict import Judge, Verdict
from askgraph.methods.shared import Conversation
from askgraph.methods.tools import Toolbox
from askgraph.search.decide import Thresholds, choose_options, choose_outcome
from askgraph.trace import (
    Answer,
    Clarification,
    Draft,
    ModelTurn,
    Option,
    Outcome,
    Refusal,
    Step,
    Thought,
    ToolUse,
    heard,
)

_GO_ON = """\
You may now look up what is missing with the functions, in at most {turns} turns, several calls in
one turn if they do not depend on each other. End with `answer`, or with `cancel` if the graph
cannot answer."""
_LAST = "This was the last turn to look things up. End now with `answer`, or with `cancel`."
_AGAIN = """\
Reply again, in the same form: mended, or with "query": "same" if you keep to what you said."""
_DECLINED = """\
Are you sure? Candidate 1 uses the words of the question like this and has a result. If the graph
still holds no answer, say so again."""
_RIVAL = 0.5  # what graph search believes of a candidate that is worth a question back
CHOSEN = 0.75  # the chance of an answer that a check has chosen, at least
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
    """One voice that is asked about a question; `answer` is what came of it, None for nothing.

    `looks` bounds how often it is asked again, `turns` how often it may then call functions of the
    `toolbox`. `verdict` is that of the reply that counts. `given_up` says, in the model's words,
    why the graph holds no answer.
    """

    judge: Judge
    voices: Sequence[Voice]
    looks: int = 1
    toolbox: Callable[[], Toolbox] | None = None
    turns: int = 0
    answer: Answer | None = None
    confidence: float = 0.0
    verdict: Verdict | None = None
    rivals: Sequence[Answer] = ()
    given_up: str = ""

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Ask, and settle on an answer: again if there is doubt, then let look things up.

        Raises `BudgetSpent` and `ServiceError` as models do; what was found until then stands.
        """
        [voice] = self.voices
        talk = voice.talk
        yield talk.prompt("question")
        for left in reversed(range(self.looks + 1)):
            turn = (await talk.turn()).step
            yield turn
            reply = self.judge.read(turn.choice)
            if reply.same and self.verdict is not None:
                break
            verdict = await self.judge.judged(reply, revised=left < self.looks)
            self._take(verdict)
            if verdict.answer is not None:
                yield Draft(verdict.answer.query, verdict.confidence, verdict.answer.words)
            doubts = self._doubts(verdict)
            if not doubts:
                break
            yield Thought(self.named("\n".join(doubts)))
            if left:
                talk.told(self.checked("\n".join([*doubts, _AGAIN])))
        if self.turns and self.toolbox is not None and self._lacks():
            async with aclosing(self._looked_up(talk, self.toolbox())) as steps:
                async for step in steps:
                    yield step
        await self._note_rival()

    async def _looked_up(self, talk: Conversation, toolbox: Toolbox) -> AsyncGenerator[Step, None]:
        """Let the model look things up, and keep what that comes to."""
        async with aclosing(looked_up_further(talk, toolbox, turns=self.turns)) as items:
            async for item in items:
                # Keep what a lookup came to: an answer, or the reason why there is none.
                if isinstance(item, Answer) and (
                    self.answer is None or not item.is_empty or self.answer.is_empty
                ):
                    self.answer, self.confidence = item, min(item.confidence, _LOOKED_UP)
                if isinstance(item, ToolUse) and item.observation.ends == "cancel":
                    self.given_up = item.observation.text
                if not isinstance(item, Answer):
                    yield item

    def checked(self, text: str) -> str:
        """Return a text as a model may read it."""
        veil = self.judge.candidates.veil
        return text if veil is None else veil.mask_text(text)

    def named(self, text: str) -> str:
        """Return what a model is told as a person may read it: names in place of placeholders."""
        veil = self.judge.candidates.veil
        return text if veil is None else veil.unmask_text(text)

    def _doubts(self, verdict: Verdict) -> Sequence[str]:
        believed = self.judge.chances
        if verdict.declines and believed and believed[0] >= CHOSEN:
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
        """Keep the best candidate with another result of this kind that graph search believes."""
        verdict, own = self.verdict, self.answer
        if own is None or verdict is None or not verdict.rival or verdict.signs.against < _RIVAL:
            return
        answer = await self.judge.taken(verdict.rival)

        async def of_one_kind() -> bool:
            return answer is not None and self.judge.of_one_kind(own, answer)

        if answer is not None and await heard("rival", bool, of_one_kind):
            self.rivals = (answer,)


async def looked_up_further(
    talk: Conversation, toolbox: Toolbox, *, turns: int
) -> AsyncGenerator[ModelTurn | ToolUse | Answer, None]:
    """Let the model call functions for some turns; an answer that comes of it is the last item.

    If the model cancels, calls nothing or comes to no end there is none. Raises `BudgetSpent`
    and `ServiceError` as the model does.
    """
    from askgraph.methods.shared.exploration import written_answer  # few questions come to this

    talk.tools = toolbox.schemas
    talk.options = {**talk.options, "schema": None}
    talk.told(_GO_ON.replace("{turns}", str(turns)))
    for left in reversed(range(turns + 1)):
        turn = await talk.turn()
        yield turn.step
        calls = turn.choice.calls or written_answer(turn.choice.text, toolbox, "")
        if turn.trouble is not None or not calls:
            return
        uses = await heard(
            "functions", tuple[ToolUse, ...], partial(toolbox.call_all, calls), calls
        )
        for item in _items(uses):
            yield item
        if turn.choice.calls:
            talk.observed(uses)
        else:
            talk.told(uses[0].observation.text)
        if any(use.observation.ends for use in uses):
            return
        if left == 1:
            talk.told(_LAST)


def _items(uses: Sequence[ToolUse]) -> list[ToolUse | Answer]:
    """The calls of a turn, those that end the run last; then the answer of the first of these."""
    ending = [use for use in uses if use.observation.ends]
    answer = ending[0].observation.answer if ending else None
    answers = answer is not None and ending[0].observation.ends == "answer"
    others = [use for use in uses if not use.observation.ends]
    return [*others, *ending, *([answer] if answers and answer else [])]


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
        # The model's reason, with the best attempt, little believed: its own, or graph search's.
        best = panel.answer
        if best is None and not candidates.follows:
            own = await searched_outcome(candidates, asks_back=True)
            best = own if isinstance(own, Answer) else own.best
        if best is None:
            return Refusal(panel.given_up)
        return Refusal(
            panel.given_up, replace(best, confidence=min(best.confidence, _DECLINED_AT_MOST))
        )
    if panel.answer is None:
        return await _searched(candidates, ending)
    confidence = round(panel.confidence, 4)
    answer = replace(panel.answer, confidence=confidence, cut_short=ending.problem or None)
    match choose_outcome(confidence, ending.limits):
        case "answer":
            return answer
        case "ask" if ending.asks_back and panel.rivals:
            options = choose_options([answer, *panel.rivals])
            return Clarification(_WHICH_MEANT, options, answer) if options else answer
        case "ask":
            return answer
        case _:
            why = "No answer is sure enough; the nearest one is shown."
            why += f" {reply.thought}" if reply.thought else ""
            why = "No query that was found has a result." if answer.is_empty else why
            return Refusal(why, answer)


async def _asked_back(panel: Panel, reply: Reply) -> Clarification | None:
    """The model's question, if the candidates that it lies between differ in what they say."""
    answers = [await panel.judge.taken(number) for number in reply.between]
    found = [answer for answer in answers if answer is not None]
    options: tuple[Option, ...] = choose_options(found) if len(found) > 1 else ()
    if not options:
        return None
    return Clarification(reply.ask, options, panel.answer or found[0])


async def _searched(candidates: Candidates, ending: Ending) -> Outcome:
    """Graph search's outcome, which says that no reply could be used; none to a follow-up."""
    if candidates.follows:
        why = ending.problem or _NONE
        return Refusal(f"Graph search does not read earlier questions, and {why}.")
    own = await searched_outcome(candidates, asks_back=ending.asks_back)
    if isinstance(own, Answer):
        return replace(own, cut_short=ending.problem or f"{_NONE}: this is what graph search found")
    return own


async def searched_outcome(candidates: Candidates, *, asks_back: bool) -> Outcome:
    """Return graph search's own outcome; if it may not ask back, its best answer instead."""
    best = candidates.best
    own = await heard("searched", Outcome, partial(best.searched.outcome, best.proposal))
    if isinstance(own, Clarification) and not asks_back and own.best is not None:
        return own.best
    return own
