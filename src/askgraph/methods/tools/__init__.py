"""The one contract of all tools: an async function on a graph that a language model may call.

A tool is a module here with an `__all__` of one name: a function whose first argument is a
`Context`. The module's name is the tool's name (a few of one idea share a
module, and are called as their functions are); the first paragraph of the function's docstring,
and the annotations of its other parameters, are all that a model is told of it. Parameters after a
`*` are for methods, and no model is told of them:

    async def search_entity(
        context: Context, query: Annotated[str, "name, or part of it"]
    ) -> Observation:
        \"\"\"Find things by name.\"\"\"

It gives an `Observation`, whose text is written for a model with little room: at most
`Limits.rows` rows, IRIs short and with labels, strings of the graph in quotes. It may raise
`QueryError` and `ServiceError`: the toolbox turns them into text.

What tools share, by what it is for:

    what a model wrote      terms (its IRIs and literals, the IRIs of a query)
    a query                 query_run (as it is, or as an answer), query_faults (its faults)
    searching               search (also within a pattern), hits (a line each)
    a thing or a class      hits (of several)
    the overview            mentions (what is named), schema_lines
    candidates              candidates (graph search's, with results)
    words for a model       rendering; toolbox and replay: a run's tools
    what it may not see     masking
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from askgraph.graph import KnowledgeGraph
from askgraph.llm import ToolCall, ToolSchema
from askgraph.trace import Observation, Question, ToolUse

if TYPE_CHECKING:  # few questions have boundaries or a veil
    from askgraph.graph.boundaries import Boundary
    from askgraph.methods.tools.masking import Veil

Tool = Callable[..., Awaitable[Observation]]
"""`async def tool(context: Context, **arguments) -> Observation`."""

Sees = Literal["everything", "masked", "schema", "nothing"]
"""What a model may see of a graph: its setting in a method. `nothing` means no model at all."""

_BASE = ("answer", "cancel", "execute")
_SEARCH = (*_BASE, "list", "search_entity", "search_property")

SETS: Mapping[str, tuple[str, ...]] = {
    "B": _BASE,
    "S": _SEARCH,
    "S_E": (*_SEARCH, "search_property_of_entity", "search_object_of_property"),
    "S_A": (*_BASE, "list", "search_autocomplete"),
    "S_C": (*_BASE, "list", "search_constrained"),
    "best": (*_BASE, "search_constrained", "describe", "propose_queries"),
}
"""The function sets of the GRASP paper (section 3.3) by their names there, and `best`, ours."""


@dataclass(frozen=True)
class Limits:
    """How much a tool shows and how long it may take.

    `rows`, `columns`, `hits` and `triples` are the most that is shown, `clip` the characters of a
    text. `candidates` bounds what a search is restricted to, `timeout` (seconds) each query.
    `individuals` and `schema` are the boundaries of what is told of a thing, and of a class or
    property, whatever a call asks for; "auto" leaves it to the call. With `plain`, a query runs
    as it was written but for the prefixes, and of one that fails or is empty nothing is told but
    what the endpoint says.
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


@dataclass(eq=False)
class Context:
    """What a tool works on: one graph, for one question.

    `seen` are the IRIs that any graph of the run has shown before this turn of the model. With
    `guarded`, `answer` takes only queries whose IRIs and results have been seen. `refused` notes
    which queries it did not take before, and why: some it takes when they come again. `shown` are
    the queries and columns of values whose rows the model has read. Each call has its own copies,
    so that no call of a turn counts on what another one happened to show first. If there is a
    `veil`, things and literals are shown as its placeholders. `language` is the asker's, as a
    BCP 47 tag.
    """

    graph: KnowledgeGraph
    question: Question
    limits: Limits = field(default_factory=Limits)
    seen: set[str] = field(default_factory=set)
    guarded: bool = True
    refused: set[str] = field(default_factory=set)
    shown: set[object] = field(default_factory=set)
    veil: "Veil | None" = None

    @property
    def language(self) -> str:
        """The language of the question, English if it is not known."""
        return self.question.language or "en"

    @property
    def shows_counts(self) -> bool:
        """Whether a model may read rows, and how many there are."""
        return self.veil is None or self.veil.rows


class Toolbox(Protocol):
    """The tools that one run may use, and all of the graphs that it may touch."""

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools as a language model sees them."""
        ...

    @property
    def graphs(self) -> Sequence[KnowledgeGraph]:
        """The graphs themselves; none if a run is only replayed."""
        ...

    @property
    def graph_names(self) -> tuple[str, ...]:
        """The graphs; if there are several, each call has to name one as `graph`."""
        ...

    @property
    def requests(self) -> int:
        """The number of SPARQL requests of all calls so far."""
        ...

    async def call(self, call: ToolCall) -> ToolUse:
        """Run a call that a model wrote; whatever is wrong with it is told in the observation.

        A call without an id is the method's own: it may be of any tool. Raises nothing but what
        ends a run: `SetupError` and cancellation.
        """
        ...

    async def together(self, calls: Sequence[ToolCall]) -> tuple[ToolUse, ...]:
        """Run the calls of one turn, all at once, in their order; see `call`.

        Each is run as if it were the only one: what another one shows has not been seen.
        """
        ...
