"""A run again from its trace: what model and graph said and what the tools gave, from there alone.

What graphs say to a method that is no agent is kept by `with_heard`; see `askgraph.trace.heard`.
"""

import json
from collections.abc import (
    AsyncGenerator,
    Iterator,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Unpack

from askgraph import llm
from askgraph.errors import BudgetSpent, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.structured import SoundCall, checked_call
from askgraph.trace import (
    Answer,
    Heard,
    Hearing,
    ModelTurn,
    Outcome,
    Prompt,
    Step,
    ToolUse,
    Trace,
    hearing,
    prefixes_of,
)
from askgraph.trace.codec import read, told


async def with_heard(
    steps: AsyncGenerator[Step, None], graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step, None]:
    """Give the steps of a run, and before its outcome what its graphs said, for a replay."""
    kept = Hearing({}, told, read)
    async with aclosing(steps):
        while True:
            with hearing(kept):
                step = await anext(steps, None)
            if step is None:
                return
            if isinstance(step, Outcome) and kept.said:
                own = {prefixes_of(one.name): (dict(one.prefixes.own),) for one in graphs}
                yield Heard({**own, **{what: tuple(all) for what, all in kept.said.items()}})
            yield step


class ReplayedModel:
    """Says what the model of a trace said, turn by turn, and counts the same tokens for it.

    Several replies to one call are so many turns.
    Raises `BudgetSpent` after the last turn, for the reason that the trace gives, if it does: there
    the model failed, or a budget ended the run.
    """

    def __init__(self, trace: Trace, identity: llm.Identity | None = None) -> None:
        last = trace.steps[-1] if trace.steps else None
        self._end = last.cut_short if isinstance(last, Answer) else None
        steps = enumerate(trace.steps)
        self._turns = [(at, step) for at, step in steps if isinstance(step, ModelTurn)]
        self._prompts = {
            at: step.messages for at, step in enumerate(trace.steps) if isinstance(step, Prompt)
        }
        self._said = 0
        model = self._turns[0][1].model if self._turns else ""
        self._identity = identity or llm.Identity("replayed", model or "replayed")

    @property
    def identity(self) -> llm.Identity:
        """The model of the trace, under the name that its server gave it."""
        return self._identity

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Give the turn after the prompt of these messages; if none has them, the next one."""
        prompt = next((at for at, one in self._prompts.items() if one == tuple(messages)), None)
        if prompt is not None:
            del self._prompts[prompt]
            self._said = sum(at < prompt for at, _ in self._turns)
        if self._said == len(self._turns):
            none_left = f"the model of the trace took {self._said} turns and no more"
            raise BudgetSpent(self._end or none_left, limit="calls", scope="trace")
        first, turn = self._turns[self._said]
        following = self._turns[self._said : self._said + (options.get("n") or 1)]
        turns = [one for place, (at, one) in enumerate(following) if at == first + place]
        self._said += len(turns)
        choice, usage = turn.choice, turn.usage
        if choice.reasoning:
            yield llm.ReasoningPart(choice.reasoning)
        if choice.text:
            yield llm.TextPart(choice.text)
        for call in choice.calls:
            yield llm.CallPart(call)
        tokens = llm.TokenUsage(usage.input_tokens, usage.cached_tokens, output=usage.output_tokens)
        yield llm.Completion(tuple(one.choice for one in turns), tokens, turn.model)

    async def close(self) -> None:
        """Do nothing: there is nothing to give back."""


@dataclass(eq=False)
class ReplayedToolbox:
    """Gives back what each call gave when the trace was made; see `Toolbox`.

    Calls that were made between two turns of the model may come in any order. A call that was not
    made then raises `SetupError`, which names the step if the run goes another way.
    """

    trace: Trace
    _left: dict[int, ToolUse] = field(init=False)

    def __post_init__(self) -> None:
        steps = enumerate(self.trace.steps)
        self._left = {at: step for at, step in steps if isinstance(step, ToolUse)}

    @cached_property
    def schemas(self) -> tuple[llm.ToolSchema, ...]:
        """The tools as the model saw them."""
        prompts = (step for step in self.trace.steps if isinstance(step, Prompt) and step.tools)
        first = next(prompts, None)
        return first.tools if first else ()

    @property
    def told(self) -> list[llm.Message]:
        """What the model was told first, with what the graphs gave to it."""
        first = next(step for step in self.trace.steps if isinstance(step, Prompt))
        return [*first.messages]

    @property
    def graphs(self) -> tuple[KnowledgeGraph, ...]:
        """None: a replay needs no graph."""
        return ()

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The graphs that calls named, in order; if there was one, it has no name here."""
        uses = (step for step in self.trace.steps if isinstance(step, ToolUse))
        named = (str(use.arguments["graph"]) for use in uses if "graph" in use.arguments)
        offered = [name for schema in self.schemas for name in _offered(schema)]
        return tuple(dict.fromkeys([*offered, *named])) or ("",)

    @property
    def requests(self) -> int:
        """The number of SPARQL requests of the whole run; 0 where it came to no outcome."""
        last = self.trace.steps[-1] if self.trace.steps else None
        return last.usage.requests if isinstance(last, Outcome) else 0

    async def call(self, call: llm.ToolCall) -> ToolUse:
        """Return what the same call gave."""
        candidates = list(self._next())
        checked = checked_call(call, self.schemas)
        if isinstance(checked, SoundCall):
            meant = dict(checked.arguments)
        else:
            try:
                meant = json.loads(call.arguments)
            except ValueError:
                meant = None
        alike = [
            (at, use)
            for at, use in candidates
            if use.tool == call.name and use.arguments in (meant, {"text": call.arguments})
        ]
        if not alike:
            raise SetupError(self._differs(call, candidates))
        at, use = next((one for one in alike if one[1].call == call.id), alike[0])
        del self._left[at]
        return use

    async def together(self, calls: Sequence[llm.ToolCall]) -> tuple[ToolUse, ...]:
        """Return what the same calls gave, in their order."""
        return tuple([await self.call(call) for call in calls])

    def _next(self) -> Iterator[tuple[int, ToolUse]]:
        """The calls that are left of those after the same turn of the model as the first left."""
        first = next(iter(self._left), None)
        for at, use in self._left.items():
            if any(isinstance(step, ModelTurn) for step in self.trace.steps[first:at]):
                return
            yield at, use

    def _differs(self, call: llm.ToolCall, candidates: Sequence[tuple[int, ToolUse]]) -> str:
        made = f"{call.name}({call.arguments})"
        if not candidates:
            return f"the run differs from its trace: all calls are made, and {made} comes besides"
        at, use = candidates[0]
        then = f"{use.tool}({json.dumps(use.arguments, ensure_ascii=False)})"
        return f"the run differs from its trace at step {at + 1}: {then} was called, now {made} is"


def heard_in(trace: Trace) -> Hearing:
    """Return what graphs said in the run of a trace, to be given again."""
    kept = next((step for step in trace.steps if isinstance(step, Heard)), Heard({}))
    return Hearing({what: list(all) for what, all in kept.said.items()}, told, read, again=True)


def _offered(schema: llm.ToolSchema) -> tuple[str, ...]:
    """The graphs among which a tool lets a model choose."""
    match schema.parameters:
        case {"properties": {"graph": {"enum": [*names]}}}:
            return tuple(map(str, names))
    return ()
