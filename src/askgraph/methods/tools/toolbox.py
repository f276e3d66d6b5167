"""The tools of one run over its graphs: check calls, run them, and turn failures into text.

A tool's schema for a model is derived from its signature and docstring.
"""

import asyncio
import inspect
import re
import time
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from askgraph import deadline, plugins
from askgraph.answers.verbalize import list_query_iris
from askgraph.endpoint import CountingEndpoint
from askgraph.errors import QueryError, ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall, ToolSchema
from askgraph.llm.structured import InvalidCall, ValidCall, check_call
from askgraph.methods.tools import TOOL_SETS, Context, Tool, ToolLimits
from askgraph.sparql.judge import admit_query
from askgraph.trace import Observation, Question, ToolUse

_URL = re.compile(r"https?://[^\s<>\"'{}|^`]+")
_TEXT_PARAMETER = "text"  # of an answer, for people
_LAST_TOOL = "cancel"  # brings the best attempt of a run whose time is over
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def parse_tool_set(name: str) -> tuple[str, ...]:
    """Return the tools of a set by name (`best`), or of names of sets and tools with commas.

    Raises:
        SetupError: a set or tool does not exist.
    """
    if name in TOOL_SETS:
        return TOOL_SETS[name]
    parts = [part.strip() for part in name.split(",") if part.strip()]
    tools = tuple(dict.fromkeys(tool for part in parts for tool in TOOL_SETS.get(part, (part,))))
    if not tools:
        raise SetupError(f"name the tools: a set ({', '.join(TOOL_SETS)}) or names of tools")
    for tool in tools:
        if tool not in plugins.list_names("tool"):
            raise SetupError(
                plugins.explain_removal("tool", tool)
                or f"there is no set of tools {name!r}; available: {', '.join(TOOL_SETS)}; or "
                f"name tools, separated by commas: {', '.join(plugins.list_names('tool'))}"
            )
    return tools


def build_schemas(
    names: Sequence[str], graphs: Sequence[str] = (), *, published: bool = False
) -> tuple[ToolSchema, ...]:
    """Return the schemas of tools by name, as a model sees them."""
    load = partial(_load_schema, with_hidden=False, published=published)
    return tuple(load(name, tuple(graphs)) for name in names)


@lru_cache(maxsize=256)
def _load_schema(
    name: str, graphs: tuple[str, ...], *, with_hidden: bool, published: bool = False
) -> ToolSchema:
    tool = _load_tool(name)
    return build_schema(name, tool, graphs=graphs, with_hidden=with_hidden, published=published)


@lru_cache(maxsize=256)
def _load_tool(name: str) -> Tool:
    tool: Tool = plugins.load("tool", name)
    return tool


@dataclass(eq=False)
class GraphToolbox:
    """Tools by name over graphs, for one question; see `Toolbox`.

    After `seconds`, running calls are stopped and further calls fail, except `cancel` with its best
    attempt. With `takes_text`, `answer` also takes the answer in words; if the limits are plain,
    only that and the query. `requests` counts the SPARQL requests of all calls.
    """

    names: Sequence[str]
    graphs: Sequence[KnowledgeGraph]
    question: Question
    limits: ToolLimits = field(default_factory=ToolLimits)
    guarded: bool = True
    seconds: float | None = None
    takes_text: bool = False
    _shown_iris: set[str] = field(default_factory=set)
    _start_time: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        urls = _URL.findall(self.question.text)
        self._shown_iris.update(
            variant for iri in urls for variant in (iri, iri.rstrip(".,;:!?)]"))
        )
        for earlier in self.question.before:
            for graph in self.graphs:
                with suppress(QueryError):  # from another graph, whose prefixes are unknown here
                    admitted = admit_query(earlier.query, prefixes=graph.prefixes.namespaces)
                    self._shown_iris.update(list_query_iris(admitted.text))

    @cached_property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The schemas of the tools, as a language model sees them."""
        schemas = build_schemas(self.names, self.graph_names, published=self.limits.plain)
        if not self.takes_text:
            return schemas
        return tuple(
            self._add_text_parameter(schema) if schema.name == "answer" else schema
            for schema in schemas
        )

    def _add_text_parameter(self, schema: ToolSchema) -> ToolSchema:
        """Return the schema of `answer` with a parameter for the answer in words."""
        parameters = cast("dict[str, Any]", schema.parameters)
        hidden_names = ("columns", "certainty") if self.limits.plain else ()
        properties = {
            key: property_schema
            for key, property_schema in parameters["properties"].items()
            if key not in hidden_names
        }
        properties[_TEXT_PARAMETER] = {
            "type": "string",
            "description": "the answer in words, for the asker",
        }
        required = [key for key in (*parameters["required"], _TEXT_PARAMETER) if key in properties]
        return replace(
            schema, parameters={**parameters, "properties": properties, "required": required}
        )

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The names of the graphs."""
        return tuple(graph.name for graph in self.graphs)

    @cached_property
    def _contexts(self) -> dict[str, Context]:
        return {
            graph.name: Context(
                replace(graph, endpoint=CountingEndpoint(graph.endpoint)),
                self.question,
                self.limits,
                self._shown_iris,
                self.guarded,
            )
            for graph in self.graphs
        }

    @property
    def requests(self) -> int:
        """The number of SPARQL requests so far."""
        endpoints = [context.graph.endpoint for context in self._contexts.values()]
        return sum(
            endpoint.requests for endpoint in endpoints if isinstance(endpoint, CountingEndpoint)
        )

    async def call(self, call: ToolCall) -> ToolUse:
        """Run a call; the observation reports any fault in it."""
        return (await self.call_all([call]))[0]

    async def call_all(self, calls: Sequence[ToolCall]) -> tuple[ToolUse, ...]:
        """Run the calls of one turn, each as if it were the only one."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._run_call(call)) for call in calls]
        except ExceptionGroup as problems:  # the other calls were cancelled
            raise problems.exceptions[0] from None
        results = [task.result() for task in tasks]
        for use, context in results:
            self._shown_iris.update(context.shown_iris, use.observation.seen)
            graph_context = self._contexts[context.graph.name]
            graph_context.refused_queries.update(context.refused_queries)
            graph_context.shown_results.update(context.shown_results)
        return tuple(use for use, _ in results)

    async def _run_call(self, call: ToolCall) -> tuple[ToolUse, Context]:
        """Run a call with its own context, and return the context with the changes of the call."""
        started = time.perf_counter()
        full_schemas = (
            (_load_schema(call.name, self.graph_names, with_hidden=True),) if not call.id else ()
        )
        match check_call(call, full_schemas or self.schemas):
            case InvalidCall(feedback=feedback):
                context = self._copy_context({})
                arguments: dict[str, object] = {"text": call.arguments}
                observation = Observation(feedback, failed=True)
            case ValidCall(tool=schema, arguments=checked_arguments):
                arguments, text = dict(checked_arguments), ""
                context = self._copy_context(arguments)
                tool_arguments = {
                    name: value for name, value in arguments.items() if name != "graph"
                }
                if self.takes_text and call.name == "answer" and call.id:
                    tool_arguments = {"columns": ["*"], **tool_arguments}
                    text = " ".join(str(tool_arguments.pop(_TEXT_PARAMETER, "")).split())
                observation = await self._run_tool(schema.name, context, tool_arguments)
                if text and observation.answer is not None:
                    final_answer = replace(observation.answer, interpretation=text)
                    observation = replace(observation, answer=final_answer)
        seconds = time.perf_counter() - started
        return ToolUse(call.name, arguments, observation, seconds, call.id), context

    def _copy_context(self, arguments: dict[str, object]) -> Context:
        graph_context = self._contexts[str(arguments.get("graph", next(iter(self._contexts))))]
        sets = (
            set(graph_context.shown_iris),
            set(graph_context.refused_queries),
            set(graph_context.shown_results),
        )
        return replace(
            graph_context, shown_iris=sets[0], refused_queries=sets[1], shown_results=sets[2]
        )

    async def _run_tool(
        self, name: str, context: Context, arguments: dict[str, object]
    ) -> Observation:
        """Return the observation of a tool, or the reason why it failed."""
        seconds_left = None
        if name != _LAST_TOOL:
            run_seconds_left = self.seconds and self._start_time + self.seconds - time.monotonic()
            seconds_left = deadline.clamp_to_search_time(run_seconds_left)
        try:
            async with asyncio.timeout(seconds_left):
                return await _load_tool(name)(context, **arguments)
        except (QueryError, ServiceError) as problem:
            return Observation(f"{name} failed: {problem}", failed=True)
        except TimeoutError:
            return Observation(f"{name} was stopped: the question's time is over", failed=True)


def build_schema(
    name: str,
    tool: Tool,
    *,
    graphs: Sequence[str] = (),
    with_hidden: bool = False,
    published: bool = False,
) -> ToolSchema:
    """Return the schema of a tool; with several graphs, the call must name one as `graph`.

    Parameters after a `*` are for methods; only a schema `with_hidden` parameters has them. As
    published (GRASP, arXiv 2507.08107, section 3.2), a call always names a graph, only parameters
    that may be null can be left out, and others with a default do not exist.

    Raises:
        TypeError: a parameter has a type without a JSON Schema here.
    """
    hints = get_type_hints(tool, include_extras=True)
    properties: dict[str, object] = {}
    required: list[str] = []
    if len(graphs) > 1 or (published and graphs):
        properties["graph"] = {"type": "string", "enum": list(graphs)}
        required.append("graph")
    for parameter in list(inspect.signature(tool).parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not with_hidden:
            continue
        if published and parameter.default not in (parameter.empty, None, ""):
            continue
        properties[parameter.name] = _build_property(hints[parameter.name])
        if parameter.default is parameter.empty or (published and parameter.default == ""):
            required.append(parameter.name)
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSchema(
        name, " ".join((inspect.getdoc(tool) or "").split("\n\n")[0].split()), parameters
    )


def _build_property(hint: Any) -> Mapping[str, object]:
    if get_origin(hint) is Annotated:
        kind, description = get_args(hint)[:2]
        return {**_build_property(kind), "description": description}
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(kinds) == 1:
            return _build_property(kinds[0])
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is list:
        return {"type": "array", "items": _build_property(get_args(hint)[0])}
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    raise TypeError(f"no JSON Schema for a parameter of type {hint!r}")
