"""The tools of one run over its graphs: calls are checked, run, and whatever fails becomes text.

The schema that a model sees of a tool is made of its signature and docstring.
"""

import asyncio
import inspect
import re
import time
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from askgraph import deadline, plugins
from askgraph.answers.verbalize import iris_of
from askgraph.endpoint import Counted
from askgraph.errors import QueryError, ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall, ToolSchema
from askgraph.llm.structured import BadCall, SoundCall, checked_call
from askgraph.methods.tools import SETS, Context, Limits, Tool
from askgraph.sparql.judge import admitted
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Observation, Question, ToolUse

_ADDRESS = re.compile(r"https?://[^\s<>\"'{}|^`]+")
_TEXT = "text"  # of an answer, for people
_LAST = "cancel"  # brings the best attempt of a run whose time is over
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def named_set(name: str) -> tuple[str, ...]:
    """Return the tools of a set: by its name (`best`), or names of sets and tools with commas.

    Raises `SetupError` if there is no such set or tool.
    """
    if name in SETS:
        return SETS[name]
    parts = [part.strip() for part in name.split(",") if part.strip()]
    tools = tuple(dict.fromkeys(tool for part in parts for tool in SETS.get(part, (part,))))
    if not tools:
        raise SetupError(f"no tools are named: write a set ({', '.join(SETS)}) or names of tools")
    for tool in tools:
        if tool not in plugins.names("tool"):
            raise SetupError(
                f"no set of tools {name!r}: there are {', '.join(SETS)}, or name tools with commas "
                f"between: {', '.join(plugins.names('tool'))}"
            )
    return tools


def set_schemas(names: Sequence[str], graphs: Sequence[str] = ()) -> tuple[ToolSchema, ...]:
    """Return the schemas of tools by name, as a model sees them."""
    return tuple(_schema(name, tuple(graphs), whole=False) for name in names)


@lru_cache(maxsize=256)
def _schema(name: str, graphs: tuple[str, ...], *, whole: bool) -> ToolSchema:
    return schema_of(name, _loaded(name), graphs=graphs, whole=whole)


@lru_cache(maxsize=256)
def _loaded(name: str) -> Tool:
    tool: Tool = plugins.load("tool", name)
    return tool


@dataclass(eq=False)
class GraphToolbox:
    """Tools by name over graphs, for one question; see `Toolbox`.

    After `seconds`, calls under way are stopped and no other is made, but for the last attempt of
    `cancel`. With `spoken`, `answer` takes the answer in words, too, and if the limits are plain
    nothing but that and the query. `requests` counts the SPARQL requests of all calls.
    """

    names: Sequence[str]
    graphs: Sequence[KnowledgeGraph]
    question: Question
    limits: Limits = field(default_factory=Limits)
    guarded: bool = True
    seconds: float | None = None
    spoken: bool = False
    _seen: set[str] = field(default_factory=set)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        written = _ADDRESS.findall(self.question.text)
        self._seen.update(part for iri in written for part in (iri, iri.rstrip(".,;:!?)]")))
        for earlier in self.question.before:
            for graph in self.graphs:
                self._seen.update(_iris(earlier.query, graph.prefixes))

    @cached_property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools as a language model sees them."""
        found = set_schemas(self.names, self.graph_names)
        if not self.spoken:
            return found
        return tuple(self._spoken(one) if one.name == "answer" else one for one in found)

    def _spoken(self, schema: ToolSchema) -> ToolSchema:
        """The schema of `answer`, with the words for the asker."""
        given = cast("dict[str, Any]", schema.parameters)
        left_out = ("columns", "certainty") if self.limits.plain else ()
        kept = {key: one for key, one in given["properties"].items() if key not in left_out}
        kept[_TEXT] = {"type": "string", "description": "the answer in words, for the asker"}
        required = [key for key in (*given["required"], _TEXT) if key in kept]
        return replace(schema, parameters={**given, "properties": kept, "required": required})

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The names of the graphs."""
        return tuple(graph.name for graph in self.graphs)

    @cached_property
    def _contexts(self) -> dict[str, Context]:
        return {
            graph.name: Context(
                replace(graph, endpoint=Counted(graph.endpoint)),
                self.question,
                self.limits,
                self._seen,
                self.guarded,
            )
            for graph in self.graphs
        }

    @property
    def requests(self) -> int:
        """The number of SPARQL requests so far."""
        endpoints = [context.graph.endpoint for context in self._contexts.values()]
        return sum(one.requests for one in endpoints if isinstance(one, Counted))

    async def call(self, call: ToolCall) -> ToolUse:
        """Run a call; whatever is wrong with it is told in the observation."""
        return (await self.together([call]))[0]

    async def together(self, calls: Sequence[ToolCall]) -> tuple[ToolUse, ...]:
        """Run the calls of one turn, each as if it were the only one."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._use(call)) for call in calls]
        except ExceptionGroup as problems:  # the others were stopped: nothing goes on unseen
            raise problems.exceptions[0] from None
        done = [task.result() for task in tasks]
        for use, context in done:
            self._seen.update(context.seen, use.observation.seen)
            known = self._contexts[context.graph.name]
            known.refused.update(context.refused)
            known.shown.update(context.shown)
        return tuple(use for use, _ in done)

    async def _use(self, call: ToolCall) -> tuple[ToolUse, Context]:
        """Run a call with a context of its own, which is returned as the call has left it."""
        started = time.perf_counter()
        whole = (_schema(call.name, self.graph_names, whole=True),) if not call.id else ()
        match checked_call(call, whole or self.schemas):
            case BadCall(feedback=feedback):
                context = self._context({})
                arguments: dict[str, object] = {"text": call.arguments}
                observation = Observation(feedback, failed=True)
            case SoundCall(tool=schema, arguments=given):
                arguments, text = dict(given), ""
                context = self._context(arguments)
                taken = {name: value for name, value in arguments.items() if name != "graph"}
                if self.spoken and call.name == "answer" and call.id:
                    taken = {"columns": ["*"], **taken}
                    text = " ".join(str(taken.pop(_TEXT, "")).split())
                observation = await self._run(schema.name, context, taken)
                if text and observation.answer is not None:
                    said = replace(observation.answer, interpretation=text)
                    observation = replace(observation, answer=said)
        seconds = time.perf_counter() - started
        return ToolUse(call.name, arguments, observation, seconds, call.id), context

    def _context(self, arguments: dict[str, object]) -> Context:
        first = next(iter(self._contexts))
        known = self._contexts[str(arguments.get("graph", first))]
        sets = set(known.seen), set(known.refused), set(known.shown)
        return replace(known, seen=sets[0], refused=sets[1], shown=sets[2])

    async def _run(self, name: str, context: Context, arguments: dict[str, object]) -> Observation:
        """What a tool gives, or why it gives nothing."""
        left = None
        if name != _LAST:
            own = self.seconds and self._began + self.seconds - time.monotonic()
            left = deadline.before_closing(own)
        try:
            async with asyncio.timeout(left):
                return await _loaded(name)(context, **arguments)
        except (QueryError, ServiceError) as problem:
            return Observation(f"{name} failed: {problem}", failed=True)
        except TimeoutError:
            return Observation(f"{name} was stopped: the question's time is over", failed=True)


def _iris(query: str, prefixes: PrefixMap) -> tuple[str, ...]:
    """The IRIs in a query of earlier in the conversation, which the model is shown."""
    try:
        return iris_of(admitted(query, prefixes=prefixes.namespaces).text)
    except QueryError:  # of another graph, whose prefixes are not known here
        return ()


def schema_of(
    name: str, tool: Tool, *, graphs: Sequence[str] = (), whole: bool = False
) -> ToolSchema:
    """Return the schema of a tool; with several graphs, the call has to name one as `graph`.

    Parameters after a `*` are for methods: only the `whole` schema has them. Raises `TypeError` for
    a parameter of a type that JSON Schema has no word for here.
    """
    hints = get_type_hints(tool, include_extras=True)
    properties: dict[str, object] = {}
    required: list[str] = []
    if len(graphs) > 1:
        properties["graph"] = {"type": "string", "enum": list(graphs)}
        required.append("graph")
    for parameter in list(inspect.signature(tool).parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not whole:
            continue
        properties[parameter.name] = _property(hints[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSchema(
        name, " ".join((inspect.getdoc(tool) or "").split("\n\n")[0].split()), parameters
    )


def _property(hint: Any) -> Mapping[str, object]:
    if get_origin(hint) is Annotated:
        kind, description = get_args(hint)[:2]
        return {**_property(kind), "description": description}
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(kinds) == 1:
            return _property(kinds[0])
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is list:
        return {"type": "array", "items": _property(get_args(hint)[0])}
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    raise TypeError(f"no JSON Schema for a parameter of type {hint!r}")
