"""Replays of traces: the run behind a trace, and the same run again from the trace alone."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from askgraph import plugins
from askgraph.endpoint import Delegating, Kind, Run
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.profile import Profile
from askgraph.index.names import NameIndex
from askgraph.llm import Identity
from askgraph.methods.tools.replay import ReplayedModel, load_graph_responses
from askgraph.sparql.judge import Asked
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import (
    Answer,
    Clarification,
    Heard,
    ModelTurn,
    Outcome,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Trace,
    Usage,
    attempt_of,
    hearing,
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
    async with aclosing(_again(method, trace, head)) as stream:
        steps = [step async for step in stream]
    now = Trace(trace.question, trace.method, tuple(steps))
    return Replay(trace, now, _differs([*map(_core, trace.steps)], [*map(_core, now.steps)]))


def _differs(then: Sequence[object], now: Sequence[object]) -> int | None:
    """The first step that is another one; those that were taken at once come in any order."""
    if Counter(map(repr, then)) == Counter(map(repr, now)):
        return None
    both = enumerate(zip(then, now, strict=False))
    return next((at for at, (one, other) in both if one != other), min(len(then), len(now)))


async def _again(method: Any, trace: Trace, head: Head) -> AsyncGenerator[Step, None]:
    """Give the steps of the run again: of an agent by its tools, else by what its graphs said."""
    if hasattr(method, "replay"):
        async with aclosing(method.replay(trace)) as steps:
            async for step in steps:
                yield step
        return
    kept = next((step for step in trace.steps if isinstance(step, Heard)), None)
    said = load_graph_responses(trace)
    graphs = [_silent(one.name, said.prefixes(one.name)) for one in head.graphs]
    async with aclosing(method.answer(trace.question, graphs)) as steps:
        while True:
            with hearing(said):
                step = await anext(steps, None)
            if step is None:
                return
            if isinstance(step, Outcome) and kept is not None:
                yield kept
            yield step


class _Silent(Delegating):
    """The endpoint of a replay: a query that was not heard when the trace was made is refused."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def address(self) -> str:
        """No address."""
        return f"replay:{self._name}"

    async def _run(self, asked: Asked, kind: type[Kind], run: Run[Kind]) -> Kind:
        raise SetupError(
            f"the run differs from its trace: graph {self._name!r} is asked now for\n{asked.query}"
        )


def _silent(name: str, prefixes: Mapping[str, str]) -> KnowledgeGraph:
    """A graph that holds nothing and says nothing."""
    return KnowledgeGraph(
        name=name,
        endpoint=_Silent(name),
        profile=Profile(0, (), ()),
        names=NameIndex.of(()),
        prefixes=PrefixMap(prefixes),
        arrays=build_arrays(()),
    )


class _Unasked:
    """A method that was consulted: what it came to is in the trace."""


def _made(trace: Trace, head: Head) -> Any:
    """The method with the settings that it had then."""
    plugin: Any = plugins.load("method", trace.method)
    if head.settings.get("model") is None:
        raise SetupError(
            f"method {trace.method!r} has nothing to run again without a model: it takes the same "
            "steps whenever it is asked the same of the same graph. Ask again, with the graph"
        )
    hints = get_type_hints(plugin)
    values: dict[str, object] = {}
    try:
        for name, value in head.settings.items():
            match name, value:
                case "model", {}:
                    values[name] = _model(trace, value)
                case "further", {}:
                    values[name] = {one: _model(trace, which) for one, which in value.items()}
                case "others", {}:
                    values[name] = {one: _Unasked() for one in value}
                case _:
                    values[name] = read(value, hints[name])
        return plugin(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise SetupError(
            f"the trace was made by askgraph {head.askgraph}, whose {trace.method!r} had other "
            f"settings than this one has: {error!r}"
        ) from error


def _model(trace: Trace, identity: Mapping[str, Any]) -> ReplayedModel:
    return ReplayedModel(trace, Identity(**identity) if identity else None)


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
