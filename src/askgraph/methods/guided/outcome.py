"""How a run of the guided method ends: an answer, a question back, or a refusal."""

from dataclasses import dataclass, replace

from askgraph.methods.guided.panel import Panel
from askgraph.methods.guided.proposals import Searches
from askgraph.methods.guided.reply import Reply
from askgraph.search.decide.decision import Thresholds, decided
from askgraph.search.decide.options import worth_asking
from askgraph.trace import Answer, Clarification, Option, Outcome, Refusal

__all__ = ["Ending", "outcome_of", "searched_outcome"]

_NONE = "the model's replies could not be used"
_DECLINED = 0.3  # the most that is believed of an answer that a model declined to give
_WHICH = "Which of these do you mean?"


@dataclass(frozen=True)
class Ending:
    """How sure an answer has to be, whether to ask back, and what ended the run early, if so."""

    limits: Thresholds
    asks_back: bool = True
    problem: str = ""


async def outcome_of(panel: Panel, searches: Searches, ending: Ending) -> Outcome:
    """Return what a run comes to.

    Where no model gave an answer, graph search's outcome stands, and says so. Raises
    `ServiceError` where an endpoint is down.
    """
    reply = panel.verdict.reply if panel.verdict is not None else Reply()
    if ending.asks_back and reply.ask and (back := await _asked_back(panel, reply)):
        return back
    if panel.given_up:
        return await _given_up(panel, searches)
    if panel.answer is None:
        return await _searched(searches, ending)
    confidence = round(panel.confidence, 4)
    answer = replace(panel.answer, confidence=confidence, cut_short=ending.problem or None)
    match decided(confidence, ending.limits):
        case "answer":
            return answer
        case "ask" if ending.asks_back and panel.rivals:
            options = worth_asking([answer, *panel.rivals])
            return Clarification(_WHICH, options, answer) if options else answer
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


async def _given_up(panel: Panel, searches: Searches) -> Refusal:
    """The model's reason, with the best attempt, little believed: its own, or graph search's."""
    best = panel.answer
    if best is None and not searches.follows:
        own = await searches.best.searched.outcome(searches.best.proposal)
        best = own if isinstance(own, Answer) else own.best
    if best is None:
        return Refusal(panel.given_up)
    return Refusal(panel.given_up, replace(best, confidence=min(best.confidence, _DECLINED)))


async def _searched(searches: Searches, ending: Ending) -> Outcome:
    """Graph search's outcome, which says that no reply could be used; none to a follow-up."""
    if searches.follows:
        return Refusal(
            f"Graph search does not read earlier questions, and {ending.problem or _NONE}."
        )
    own = await searched_outcome(searches, asks_back=ending.asks_back)
    if isinstance(own, Answer):
        return replace(own, cut_short=ending.problem or f"{_NONE}: this is what graph search found")
    return own


async def searched_outcome(searches: Searches, *, asks_back: bool) -> Outcome:
    """Return graph search's own outcome; where it may not ask back, its best answer instead."""
    own = await searches.best.searched.outcome(searches.best.proposal)
    if isinstance(own, Clarification) and not asks_back and own.best is not None:
        return own.best
    return own


def _unsure(reply: Reply) -> str:
    thought = f" {reply.thought}" if reply.thought else ""
    return f"No answer is sure enough; the nearest one is shown.{thought}"
