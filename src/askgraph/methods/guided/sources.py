"""Sources of opinions beside a first reply: other methods, functions to look things up."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

from askgraph.agent.conversation import Conversation
from askgraph.agent.exploration import written_answer
from askgraph.errors import BudgetSpent, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Options
from askgraph.methods import Method
from askgraph.methods.guided.opinions import Opinion
from askgraph.tools import Toolbox
from askgraph.trace import (
    Answer,
    Clarification,
    ModelTurn,
    Question,
    Refusal,
    Step,
    Thought,
    ToolUse,
)

_GO_ON = """\
You may now look up what is missing with the functions, in at most {turns} turns, several calls in
one turn if they do not depend on each other. End with `answer`, or with `cancel` if the graph
cannot answer."""
_LAST = "This was the last turn to look things up. End now with `answer`, or with `cancel`."


_ASKS_BACK = 0.5  # of the confidence in the best answer of a method that asks back
Item = TypeVar("Item")


async def looked_up_further(
    talk: Conversation, toolbox: Toolbox, *, turns: int
) -> AsyncGenerator[ModelTurn | ToolUse | Answer, None]:
    """Let the model call functions for some turns; an answer that comes of it is the last item.

    If the model cancels, calls nothing or comes to no end there is none. Raises `BudgetSpent`
    and `ServiceError` as the model does.
    """
    talk.tools = toolbox.schemas
    talk.options = _without_schema(talk.options)
    talk.told(_GO_ON.replace("{turns}", str(turns)))
    for left in reversed(range(turns + 1)):
        turn = await talk.turn()
        yield turn.step
        calls = turn.choice.calls or written_answer(turn.choice.text, toolbox, "")
        if turn.trouble is not None or not calls:
            return
        uses = await toolbox.together(calls)
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


def _without_schema(options: Options) -> Options:
    kept: Options = {**options}
    kept.pop("schema", None)
    return kept


async def consulted(
    name: str, method: Method, question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step | Opinion, None]:
    """Give the steps of a method but for its outcome, then what it says as an opinion.

    A method that refuses, whose budget ends or whose servers fail has no opinion; a thought says
    so.
    """
    try:
        async with aclosing(_steps(method, question, graphs)) as steps:
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


async def _steps(
    method: Method, question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step, None]:
    steps = method.answer(question, graphs)
    try:
        async for step in steps:
            yield step
    finally:
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()


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
