"""Repeat a run from its trace alone: responses of model and graphs, and results of tools.

`record_graph_responses` stores what graphs return to a method that is no agent; see
`askgraph.trace.heard`.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Unpack

from askgraph import llm
from askgraph.errors import BudgetSpent, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.structured import ValidCall, check_call
from askgraph.trace import (
    Answer,
    Heard,
    ModelTurn,
    Outcome,
    Prompt,
    ResponseRecorder,
    Step,
    ToolUse,
    Trace,
    build_prefixes_key,
    use_recorder,
)
from askgraph.trace.codec import from_json_value, to_json_value


async def record_graph_responses(
    steps: AsyncGenerator[Step, None], graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run, and before the outcome its graphs' responses, for a replay."""
    recording = ResponseRecorder({}, to_json_value, from_json_value)
    async with aclosing(steps):
        while True:
            with use_recorder(recording):
                step = await anext(steps, None)
            if step is None:
                return
            if isinstance(step, Outcome) and recording.responses:
                prefixes = {
                    build_prefixes_key(graph.name): (dict(graph.prefixes.own_prefixes),)
                    for graph in graphs
                }
                responses = {key: tuple(items) for key, items in recording.responses.items()}
                yield Heard({**prefixes, **responses})
            yield step


class ReplayedModel:
    """Returns the responses of the model in a trace, turn by turn, with the same token usage.

    Several replies to one call are separate turns. After the last turn it raises `BudgetSpent`,
    with the reason in the trace if there is one: at that point the model failed, or a budget ended
    the run.
    """

    def __init__(self, trace: Trace, identity: llm.Identity | None = None) -> None:
        last = trace.steps[-1] if trace.steps else None
        self._end_reason = last.cut_short if isinstance(last, Answer) else None
        steps = enumerate(trace.steps)
        self._turns = [(at, step) for at, step in steps if isinstance(step, ModelTurn)]
        self._prompts = {
            at: step.messages for at, step in enumerate(trace.steps) if isinstance(step, Prompt)
        }
        self._turn_index = 0
        model = self._turns[0][1].model if self._turns else ""
        self.identity = identity or llm.Identity("replayed", model or "replayed")

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Return the turn after the prompt with these messages; if there is none, the next turn."""
        prompt = next((at for at, item in self._prompts.items() if item == tuple(messages)), None)
        if prompt is not None:
            del self._prompts[prompt]
            self._turn_index = sum(at < prompt for at, _ in self._turns)
        if self._turn_index == len(self._turns):
            message = f"the model of the trace took {self._turn_index} turns and no more"
            raise BudgetSpent(self._end_reason or message, limit="calls", scope="trace")
        first, turn = self._turns[self._turn_index]
        next_turns = self._turns[self._turn_index : self._turn_index + (options.get("n") or 1)]
        turns = [item for offset, (at, item) in enumerate(next_turns) if at == first + offset]
        self._turn_index += len(turns)
        choice, usage = turn.choice, turn.usage
        if choice.reasoning:
            yield llm.ReasoningPart(choice.reasoning)
        if choice.text:
            yield llm.TextPart(choice.text)
        for call in choice.calls:
            yield llm.CallPart(call)
        tokens = llm.TokenUsage(usage.input_tokens, usage.cached_tokens, output=usage.output_tokens)
        yield llm.Completion(tuple(item.choice for item in turns), tokens, turn.model)

    async def close(self) -> None:
        """Do nothing: there are no resources."""


@dataclass(eq=False)
class ReplayedToolbox:
    """Returns the results of calls from a trace; see `Toolbox`.

    Calls between two turns of the model may come in any order. A call that is not in the trace
    raises `SetupError`, which names the step where the run differs.
    """

    trace: Trace
    _remaining_uses: dict[int, ToolUse] = field(init=False)

    def __post_init__(self) -> None:
        steps = enumerate(self.trace.steps)
        self._remaining_uses = {at: step for at, step in steps if isinstance(step, ToolUse)}

    @cached_property
    def schemas(self) -> tuple[llm.ToolSchema, ...]:
        """The schemas of the tools, as the model saw them."""
        prompts = (step for step in self.trace.steps if isinstance(step, Prompt) and step.tools)
        first = next(prompts, None)
        return first.tools if first else ()

    @property
    def first_messages(self) -> list[llm.Message]:
        """The first messages to the model, with results from the graphs."""
        return [*next(step for step in self.trace.steps if isinstance(step, Prompt)).messages]

    @property
    def graphs(self) -> tuple[KnowledgeGraph, ...]:
        """Empty: a replay needs no graph."""
        return ()

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The names of the graphs in order; empty text if the run had only one graph."""
        uses = (step for step in self.trace.steps if isinstance(step, ToolUse))
        graphs_in_calls = (str(use.arguments["graph"]) for use in uses if "graph" in use.arguments)
        graphs_in_schemas = [
            name for schema in self.schemas for name in _list_graphs_in_schema(schema)
        ]
        return tuple(dict.fromkeys([*graphs_in_schemas, *graphs_in_calls])) or ("",)

    @property
    def requests(self) -> int:
        """The number of SPARQL requests of the whole run; 0 if it has no outcome."""
        last = self.trace.steps[-1] if self.trace.steps else None
        return last.usage.requests if isinstance(last, Outcome) else 0

    async def call(self, call: llm.ToolCall) -> ToolUse:
        """Return the result of the same call in the trace."""
        candidates = list(self._list_next_uses())
        checked = check_call(call, self.schemas)
        if isinstance(checked, ValidCall):
            arguments = dict(checked.arguments)
        else:
            try:
                arguments = json.loads(call.arguments)
            except ValueError:
                arguments = None
        matches = [
            (at, use)
            for at, use in candidates
            if use.tool == call.name and use.arguments in (arguments, {"text": call.arguments})
        ]
        if not matches:
            raise SetupError(self._describe_difference(call, candidates))
        at, use = next((entry for entry in matches if entry[1].call == call.id), matches[0])
        del self._remaining_uses[at]
        return use

    async def call_all(self, calls: Sequence[llm.ToolCall]) -> tuple[ToolUse, ...]:
        """Return the results of the same calls in the trace, in order."""
        return tuple([await self.call(call) for call in calls])

    def _list_next_uses(self) -> Iterator[tuple[int, ToolUse]]:
        """Yield the remaining calls of the same turn as the first remaining call."""
        first = next(iter(self._remaining_uses), None)
        for at, use in self._remaining_uses.items():
            if any(isinstance(step, ModelTurn) for step in self.trace.steps[first:at]):
                return
            yield at, use

    def _describe_difference(
        self, call: llm.ToolCall, candidates: Sequence[tuple[int, ToolUse]]
    ) -> str:
        actual_call = f"{call.name}({call.arguments})"
        if not candidates:
            return (
                f"the run differs from its trace: all calls are made, and {actual_call} "
                "comes besides"
            )
        at, use = candidates[0]
        expected_call = f"{use.tool}({json.dumps(use.arguments, ensure_ascii=False)})"
        return (
            f"the run differs from its trace at step {at + 1}: {expected_call} was called, "
            f"now {actual_call} is"
        )


def load_graph_responses(trace: Trace) -> ResponseRecorder:
    """Return the responses of graphs in a trace, for a replay."""
    heard_step = next((step for step in trace.steps if isinstance(step, Heard)), Heard({}))
    return ResponseRecorder(
        {key: list(responses) for key, responses in heard_step.said.items()},
        to_json_value,
        from_json_value,
        is_replay=True,
    )


def _list_graphs_in_schema(schema: llm.ToolSchema) -> tuple[str, ...]:
    """Return the graphs among which a tool lets the model choose."""
    match schema.parameters:
        case {"properties": {"graph": {"enum": [*names]}}}:
            return tuple(map(str, names))
    return ()
