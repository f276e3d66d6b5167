"""Replays of traces: the run behind a trace, and the same run again from the trace alone."""

from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.llm.budget import Prices
from askgraph.tools.replay import ReplayedModel
from askgraph.trace import (
    Answer,
    Clarification,
    ModelTurn,
    Outcome,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Trace,
    Usage,
    attempt_of,
)
from askgraph.trace.codec import Head, read


@dataclass(frozen=True)
class Replay:
    """A run and its repetition; `differs` is the first step, from 0, that is another one now.

    What a clock or a price table says makes no difference.
    """

    then: Trace
    now: Trace
    differs: int | None

    @property
    def same_answer(self) -> bool:
        """Whether both came to the same: as sure an answer, or the same best attempt."""
        return _answer(self.then) == _answer(self.now)


async def replayed(trace: Trace, head: Head) -> Replay:
    """Run the method of a trace again, with no model and no endpoint.

    Raises `SetupError` if the method cannot do that, if the run came to no outcome, and if
    it goes another way now.
    """
    last = trace.steps[-1] if trace.steps else None
    if isinstance(last, Answer) and last.confirmed:
        raise SetupError(
            f"the answer of this trace was confirmed before, as {last.confirmed.question!r}: no "
            "method was asked, and there is nothing to run again"
        )
    method = _made(trace, head)
    if not trace.steps or not isinstance(trace.steps[-1], Outcome):
        raise SetupError(
            "the run of this trace was stopped or failed before it came to an outcome: it can be "
            "shown (askgraph trace show), not run again"
        )
    steps: list[Step] = []
    async with aclosing(method.replay(trace)) as stream:
        async for step in stream:
            steps.append(step)
    now = Trace(trace.question, trace.method, tuple(steps))
    pairs = zip(trace.steps, now.steps, strict=False)
    shared = min(len(trace.steps), len(now.steps))
    differs = next(
        (at for at, pair in enumerate(pairs) if _core(pair[0]) != _core(pair[1])), shared
    )
    return Replay(trace, now, None if differs == len(trace.steps) == len(now.steps) else differs)


def _made(trace: Trace, head: Head) -> Any:
    """The method with the settings that it had then."""
    plugin: Any = registry.load("method", trace.method)
    if not hasattr(plugin, "replay"):
        raise SetupError(
            f"method {trace.method!r} has no replay: it takes the same steps whenever it is asked "
            "the same of the same graph. Ask again, with the graph"
        )
    hints = get_type_hints(plugin)
    values: dict[str, object] = {}
    try:
        for name, value in head.settings.items():
            values[name] = ReplayedModel(trace) if name == "model" else read(value, hints[name])
        if isinstance(prices := values.get("prices"), Prices):
            values["prices"] = _of_replayed(prices, trace, head)
        return plugin(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise SetupError(
            f"the trace was made by askgraph {head.askgraph}, whose {trace.method!r} had other "
            f"settings than this one has: {error!r}"
        ) from error


def _of_replayed(prices: Prices, trace: Trace, head: Head) -> Prices:
    """Prices that also know the model by the name that its server gave it."""
    served = ReplayedModel(trace).identity.model
    match head.settings.get("model"):
        case {"model": str(name)}:
            return replace(prices, models={**prices.models, served: prices.of(name)})
        case _:
            return prices


def _core(step: Step) -> object:
    """What two runs have in common in a step."""
    match step:
        case ModelTurn():
            return step.choice
        case ToolUse():
            return replace(step, seconds=0.0)
        case Thought() | Answer() | Clarification() | Refusal():
            return replace(step, usage=Usage())
        case _:
            return step


def _answer(trace: Trace) -> tuple[type, Answer | None] | None:
    last = trace.steps[-1] if trace.steps else None
    if not isinstance(last, Outcome):
        return None
    best = attempt_of(last)
    return type(last), best and replace(best, usage=Usage())
