"""A conversation that goes on with functions: what is missing is looked up, then answered."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from askgraph.agent.conversation import Conversation
from askgraph.agent.opening import written_answer
from askgraph.llm import Options
from askgraph.tools import Toolbox
from askgraph.trace import Answer, ModelTurn, ToolUse

__all__ = ["looked_up_further"]

_GO_ON = """\
You may now look up what is missing with the functions, in at most {turns} turns, several calls in
one turn if they do not depend on each other. End with `answer`, or with `cancel` if the graph
cannot answer."""
_LAST = "This was the last turn to look things up. End now with `answer`, or with `cancel`."


async def looked_up_further(
    talk: Conversation, toolbox: Toolbox, *, turns: int
) -> AsyncGenerator[ModelTurn | ToolUse | Answer, None]:
    """Let the model call functions for some turns; an answer that comes of it is the last item.

    Where the model cancels, calls nothing or comes to no end there is none. Raises `BudgetSpent`
    and `ServiceError` as the model does.
    """
    talk.tools = toolbox.schemas
    talk.options = _without_schema(talk.options)
    talk.told(_GO_ON.replace("{turns}", str(turns)))
    for left in reversed(range(turns + 1)):
        async with aclosing(_turn(talk, toolbox)) as items:
            last: ModelTurn | ToolUse | Answer | None = None
            async for last in items:
                yield last
        ended = isinstance(last, ToolUse) and bool(last.observation.ends)
        if not isinstance(last, ToolUse) or ended:
            return
        if left == 1:
            talk.told(_LAST)


async def _turn(
    talk: Conversation, toolbox: Toolbox
) -> AsyncGenerator[ModelTurn | ToolUse | Answer, None]:
    """One turn: what the model said, its calls; the last item says whether it goes on."""
    turn = await talk.turn()
    yield turn.step
    calls = turn.choice.calls or written_answer(turn.choice.text, toolbox, "")
    if turn.trouble is not None or not calls:
        return
    uses = await toolbox.together(calls)
    for use in (*(one for one in uses if not one.observation.ends), *_ending(uses)):
        yield use
    for use in _ending(uses)[:1]:
        if use.observation.ends == "answer" and use.observation.answer is not None:
            yield use.observation.answer
    if turn.choice.calls:
        talk.observed(uses)
    else:
        talk.told(uses[0].observation.text)


def _ending(uses: Sequence[ToolUse]) -> list[ToolUse]:
    return [use for use in uses if use.observation.ends]


def _without_schema(options: Options) -> Options:
    kept: Options = {**options}
    kept.pop("schema", None)
    return kept
