"""The tools of one run over its graphs: calls are checked, run, and whatever fails becomes text."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from askgraph import registry
from askgraph.endpoint.counted import Counted
from askgraph.errors import QueryError, ServiceError, SetupError
from askgraph.explanation.verbalise import iris_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall, ToolSchema
from askgraph.llm.calls import BadCall, SoundCall, checked_call
from askgraph.rdf.prefixes import PrefixMap
from askgraph.sparql.query import admitted
from askgraph.tools import SETS, Context, Limits, Tool
from askgraph.tools._schema import schema_of
from askgraph.trace import Observation, Question, ToolUse

__all__ = ["GraphToolbox", "named_set", "set_schemas"]


def named_set(name: str) -> tuple[str, ...]:
    """Return the tools of a set: by its name (`best`), or as their names with commas between.

    Raises `SetupError` where there is no such set or tool.
    """
    if name in SETS:
        return SETS[name]
    tools = tuple(part.strip() for part in name.split(",") if part.strip())
    for tool in tools:
        if tool not in registry.names("tool"):
            raise SetupError(
                f"no set of tools {name!r}: there are {', '.join(SETS)}, or name tools with commas "
                f"between: {', '.join(registry.names('tool'))}"
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
    tool: Tool = registry.load("tool", name)
    return tool


@dataclass(eq=False)
class GraphToolbox:
    """Tools by name over graphs, for one question; see `Toolbox`.

    `requests` counts the SPARQL requests of all calls.
    """

    names: Sequence[str]
    graphs: Sequence[KnowledgeGraph]
    question: Question
    limits: Limits = field(default_factory=Limits)
    guarded: bool = True
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for earlier in self.question.before:
            for graph in self.graphs:
                self._seen.update(_iris(earlier.query, graph.prefixes))

    @cached_property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools as a language model sees them."""
        return set_schemas(self.names, self.graph_names)

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The names of the graphs."""
        return tuple(graph.name for graph in self.graphs)

    @cached_property
    def _contexts(self) -> dict[str, Context]:
        return {
            graph.name: Context(
                _counting(graph), self.question, self.limits, self._seen, self.guarded
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
        started = time.perf_counter()
        arguments, observation = await self._called(call)
        self._seen.update(observation.seen)
        seconds = time.perf_counter() - started
        return ToolUse(call.name, arguments, observation, seconds, call.id)

    async def _called(self, call: ToolCall) -> tuple[dict[str, object], Observation]:
        schemas = self.schemas
        if not call.id:
            schemas = (_schema(call.name, self.graph_names, whole=True),)
        match checked_call(call, schemas):
            case BadCall(feedback=feedback):
                return {"text": call.arguments}, Observation(feedback, failed=True)
            case SoundCall(tool=schema, arguments=given):
                arguments = dict(given)
                context = self._context(arguments)
                tool = _loaded(schema.name)
                kept = {name: value for name, value in arguments.items() if name != "graph"}
                try:
                    return arguments, await tool(context, **kept)
                except (QueryError, ServiceError) as problem:
                    return arguments, Observation(f"{schema.name} failed: {problem}", failed=True)

    def _context(self, arguments: dict[str, object]) -> Context:
        first = next(iter(self._contexts))
        return self._contexts[str(arguments.get("graph", first))]


def _counting(graph: KnowledgeGraph) -> KnowledgeGraph:
    return replace(graph, endpoint=Counted(graph.endpoint))


def _iris(query: str, prefixes: PrefixMap) -> tuple[str, ...]:
    """The IRIs in a query of earlier in the conversation, which the model is shown."""
    try:
        return iris_of(admitted(query, prefixes=prefixes.namespaces).text)
    except QueryError:  # of another graph, whose prefixes are not known here
        return ()
