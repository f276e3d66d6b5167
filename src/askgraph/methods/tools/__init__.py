"""Define the contract of all tools: an async function on a graph that a language model may call.

A tool is a module here whose `__all__` has one name: a function with a `Context` as its first
argument. The name of the module is the name of the tool; a few related tools share a module and
have the names of their functions. A model sees only the first paragraph of the docstring and the
annotations of the other parameters. Parameters after a `*` are for methods and hidden from models:

    async def search_entity(
        context: Context, query: Annotated[str, "name, or part of it"]
    ) -> Observation:
        '''Find things by name.'''

A tool returns an `Observation`, whose text is written for a model with little room: at most
`ToolLimits.rows` rows, short IRIs with labels, strings of the graph in quotes. It may raise
`QueryError` and `ServiceError`; the toolbox turns them into text.

Modules that tools share, by purpose:

    text from a model       terms (IRIs and literals), term_text (the IRIs of a query)
    a query                 query_run (exploration and answers), query_faults (its faults)
    searching               search (also within a pattern), hits (one line each)
    nodes                   node_facts (classes and predicates of several)
    the overview            mentions (linked names), schema_lines, schema_names
    candidates              candidates (of graph search, with results)
    text for a model        rendering; toolbox and replay: the tools of a run
    privacy                 masking
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall, ToolSchema
from askgraph.trace import Observation, Question, ToolUse

if TYPE_CHECKING:  # few questions have boundaries or a veil
    from askgraph.graph.boundaries import Boundary
    from askgraph.methods.tools.masking import TermMasker

Tool = Callable[..., Awaitable[Observation]]
"""`async def tool(context: Context, **arguments) -> Observation`."""

Visibility = Literal["everything", "masked", "schema", "nothing"]
"""How much of a graph a model may see: a setting of a method. `nothing` means no model."""

_BASE_TOOLS = ("answer", "cancel", "execute")
_SEARCH_TOOLS = (*_BASE_TOOLS, "list", "search_entity", "search_property")

TOOL_SETS: Mapping[str, tuple[str, ...]] = {
    "B": _BASE_TOOLS,
    "S": _SEARCH_TOOLS,
    "S_E": (*_SEARCH_TOOLS, "search_property_of_entity", "search_object_of_property"),
    "S_A": (*_BASE_TOOLS, "list", "search_autocomplete"),
    "S_C": (*_BASE_TOOLS, "list", "search_constrained"),
    "best": (*_BASE_TOOLS, "search_constrained", "describe", "propose_queries"),
}
"""The function sets of the GRASP paper (section 3.3) under their names there, and our `best`."""


@dataclass(frozen=True)
class ToolLimits:
    """Limits on the size of a tool's output and on its time.

    `rows`, `columns`, `hits` and `triples` are the most that is shown, `clip` the characters of a
    text. `candidates` limits the terms within which a search looks, `timeout` (seconds) each query.
    `individuals` and `schema` are the boundaries for describing an entity, and a class or property;
    they override the call, unless "auto". With `plain`, a query runs as written except for
    prefixes, a failed or empty one is reported only in the words of the endpoint, and a hit is
    what its index has of it. With `bare`, hits of all kinds are one list of IRIs with labels, and
    rows are CSV, of many the first.
    """

    rows: int = 10
    columns: int = 10
    hits: int = 10
    triples: int = 10
    clip: int = 80
    candidates: int = 65_536
    timeout: float = 20.0
    individuals: "Boundary" = "auto"
    schema: "Boundary" = "auto"
    plain: bool = False
    bare: bool = False


@dataclass(eq=False)
class Context:
    """The graph, question and limits that a tool works with.

    `shown_iris` are the IRIs that any graph of the run has shown before this turn of the model.
    With `guarded`, `answer` accepts only queries whose IRIs and results have been shown.
    `refused_queries` records which queries it refused, and why; it accepts some of them when they
    come again. `shown_results` are the queries and the column values whose rows the model has read.
    Each call has its own copies, so that no call depends on another call of the same turn. With a
    `masker`, entities and literals are shown as placeholders. `language` is the user's, as a BCP 47
    tag.
    """

    graph: KnowledgeGraph
    question: Question
    limits: ToolLimits = field(default_factory=ToolLimits)
    shown_iris: set[str] = field(default_factory=set)
    guarded: bool = True
    refused_queries: set[str] = field(default_factory=set)
    shown_results: set[object] = field(default_factory=set)
    masker: "TermMasker | None" = None

    @property
    def language(self) -> str:
        """The language of the question, English if unknown."""
        return self.question.language or "en"

    @property
    def can_show_counts(self) -> bool:
        """Whether a model may read rows and their number."""
        return self.masker is None or self.masker.shows_rows


class Toolbox(Protocol):
    """The tools of one run, and the graphs that it may use."""

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The schemas of the tools, as a language model sees them."""

    @property
    def graphs(self) -> Sequence[KnowledgeGraph]:
        """The graphs; empty during a replay."""

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The names of the graphs; if there are several, each call must name one as `graph`."""

    @property
    def requests(self) -> int:
        """The number of SPARQL requests of all calls so far."""

    async def call(self, call: ToolCall) -> ToolUse:
        """Run a call that a model wrote; the observation reports any fault in it.

        A call without an id comes from the method itself and may be of any tool.

        Raises:
            SetupError: the run must end.
        """

    async def call_all(self, calls: Sequence[ToolCall]) -> tuple[ToolUse, ...]:
        """Run the calls of one turn concurrently and return them in order; see `call`.

        Each runs as if it were the only one: it ignores what another call shows.
        """
