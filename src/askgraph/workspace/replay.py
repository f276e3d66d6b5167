"""Replay traces: rerun a method from its trace alone, and compare the steps."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

from askgraph import plugins
from askgraph.endpoint import EndpointWrapper, Kind, RunOnEndpoint
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.profile import Profile
from askgraph.index.names import NameIndex
from askgraph.llm import Identity
from askgraph.methods.tools.replay import ReplayedModel, load_graph_responses
from askgraph.sparql.judge import EndpointRequest
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
    get_attempt,
    use_recorder,
)
from askgraph.trace.codec import TraceHead, from_json_value


@dataclass(frozen=True)
class Replay:
    """A run and its repetition; `differs` is the first step, from 0, that differs.

    Times and prices are ignored.
    """

    then: Trace
    now: Trace
    differs: int | None

    @property
    def same_answer(self) -> bool:
        """Whether both runs have the same answer, confidence and best attempt."""
        return _get_answer(self.then) == _get_answer(self.now)


async def replayed(trace: Trace, head: TraceHead) -> Replay:
    """Run the method of a trace again, without a model or an endpoint.

    Raises:
        SetupError: the method cannot be replayed, the run has no outcome, or the steps differ.
    """
    last = trace.steps[-1] if trace.steps else None
    if isinstance(last, Answer) and last.confirmed:
        raise SetupError(
            "the answer of this trace was confirmed before, as "
            f"{last.confirmed.question!r}: no method ran, so there is nothing to run again"
        )
    method = _create_method(trace, head)
    if not trace.steps or not isinstance(trace.steps[-1], Outcome):
        raise SetupError(
            "the run of this trace was stopped or failed before its outcome: it can be "
            "shown with 'askgraph trace show', but not run again"
        )
    async with aclosing(_replay_steps(method, trace, head)) as stream:
        steps = [step async for step in stream]
    now = Trace(trace.question, trace.method, tuple(steps))
    return Replay(
        trace,
        now,
        _find_difference([*map(_normalize_step, trace.steps)], [*map(_normalize_step, now.steps)]),
    )


def _find_difference(then: Sequence[object], now: Sequence[object]) -> int | None:
    if Counter(map(repr, then)) == Counter(map(repr, now)):
        return None
    numbered_pairs = enumerate(zip(then, now, strict=False))
    return next(
        (position for position, (old_step, new_step) in numbered_pairs if old_step != new_step),
        min(len(then), len(now)),
    )


async def _replay_steps(method: Any, trace: Trace, head: TraceHead) -> AsyncGenerator[Step, None]:
    if hasattr(method, "replay"):
        async with aclosing(method.replay(trace)) as steps:
            async for step in steps:
                yield step
        return
    recorded_responses = next((step for step in trace.steps if isinstance(step, Heard)), None)
    responses = load_graph_responses(trace)
    # Create an empty graph that rejects queries.
    graphs = [
        KnowledgeGraph(
            name=graph_state.name,
            endpoint=_ReplayEndpoint(graph_state.name),
            profile=Profile(0, (), ()),
            names=NameIndex.from_names(()),
            prefixes=PrefixMap(responses.get_prefixes(graph_state.name)),
            arrays=build_arrays(()),
        )
        for graph_state in head.graphs
    ]
    async with aclosing(method.answer(trace.question, graphs)) as steps:
        while True:
            with use_recorder(responses):
                step = await anext(steps, None)
            if step is None:
                return
            if isinstance(step, Outcome) and recorded_responses is not None:
                yield recorded_responses
            yield step


class _ReplayEndpoint(EndpointWrapper):
    """The endpoint of a replay; it rejects queries that the trace does not contain."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def address(self) -> str:
        """The address of the replay."""
        return f"replay:{self._name}"

    async def _run_request(
        self, asked: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        raise SetupError(
            "the run differs from its trace: it now sends this query to graph "
            f"{self._name!r}:\n{asked.query}"
        )


class _ConsultedMethod:
    """A placeholder for a consulted method; the trace has its outcome."""


def _create_method(trace: Trace, head: TraceHead) -> Any:
    plugin: Any = plugins.load("method", trace.method)
    if head.settings.get("model") is None:
        raise SetupError(
            f"method {trace.method!r} cannot be replayed: it takes the same steps for the "
            "same question and graph. Ask the question again"
        )
    hints = get_type_hints(plugin)
    values: dict[str, object] = {}
    try:
        for name, value in head.settings.items():
            match name, value:
                case "model", {}:
                    values[name] = _create_model(trace, value)
                case "further", {}:
                    values[name] = {
                        component_name: _create_model(trace, identity)
                        for component_name, identity in value.items()
                    }
                case "others", {}:
                    values[name] = {component_name: _ConsultedMethod() for component_name in value}
                case _:
                    values[name] = from_json_value(value, hints[name])
        return plugin(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise SetupError(
            f"the trace was made by askgraph {head.askgraph}, whose {trace.method!r} had "
            f"other settings than this version: {error!r}"
        ) from error


def _create_model(trace: Trace, identity: Mapping[str, Any]) -> ReplayedModel:
    return ReplayedModel(trace, Identity(**identity) if identity else None)


def _normalize_step(step: Step) -> object:
    match step:
        case ModelTurn():
            return step.choice
        case ToolUse():
            return replace(step, seconds=0.0)
        case Thought() | Answer() | Clarification() | Refusal():
            return replace(step, usage=Usage())
        case _:
            return step


def _get_answer(trace: Trace) -> tuple[type, Answer | None] | None:
    last = trace.steps[-1] if trace.steps else None
    if not isinstance(last, Outcome):
        return None
    best = get_attempt(last)
    return type(last), best and replace(best, usage=Usage())
