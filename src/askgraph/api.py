"""The Python API: answer questions from a script or a notebook."""

import asyncio
import logging
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pyoxigraph import Literal, NamedNode

from askgraph.answers.codec import to_json_object
from askgraph.answers.console import to_html, to_text
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.methods import Method, can_follow_up
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult, Term, to_plain_value
from askgraph.trace import Answer, Clarification, Outcome, Question, Refusal, build_follow_up
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.graphs import OpenedGraphs, prepare_graphs
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import ask_method, run_coroutine, run_in_background

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["AsyncGraph", "Graph", "Result", "Source", "Value", "ask"]

Source = str | Path | KnowledgeGraph
"""A graph: a name in the workspace, a path, a URL, or an open graph."""
Value = str | int | float | date | None
"""The value of a cell; booleans are integers, and times are dates, as in Python's own types."""
Content = TypeVar("Content")

_PARSERS: dict[str, Callable[[str], Value]] = {
    **dict.fromkeys(voc.NUMERIC_DATATYPES, float),
    **dict.fromkeys((*voc.INTEGER_DATATYPES, voc.XSD_G_YEAR), int),
    **dict.fromkeys((voc.XSD_DATE_TIME, voc.XSD_DATE_TIME_STAMP), datetime.fromisoformat),
    voc.XSD_DATE: lambda text: date.fromisoformat(text.removesuffix("Z")),
    voc.XSD_BOOLEAN: {"true": True, "1": True, "false": False, "0": False}.__getitem__,
}
_PANDAS_TYPES = {
    int: "Int64",
    float: "float64",
    bool: "boolean",
    date: "datetime64[s]",
    datetime: "datetime64[us]",
    UTC: "datetime64[us, UTC]",
}
_MAX_FRAME_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class Result:
    """The outcome of a question: `str()` gives the text of `askgraph ask`, a notebook a table.

    Attributes:
        outcome: An answer, a refusal or a clarification.
        prefixes: Prefixes of the graph that the outcome belongs to.
        question: The question as the method received it.
    """

    outcome: Outcome
    prefixes: PrefixMap
    question: Question

    @property
    def answered(self) -> bool:
        """Whether the outcome is an answer, not a refusal or a clarification."""
        return isinstance(self.outcome, Answer)

    @property
    def sentence(self) -> str:
        """The answer as a sentence, which may be empty; else the reason or the question back."""
        match self.outcome:
            case Answer(sentence=text) | Clarification(question=text) | Refusal(reason=text):
                return text

    @property
    def reading(self) -> str:
        """The question as the answer's query has it; empty without an answer."""
        return self.outcome.words if isinstance(self.outcome, Answer) else ""

    @property
    def query(self) -> str | None:
        """The SPARQL query of the answer; None without an answer."""
        return self.outcome.query if isinstance(self.outcome, Answer) else None

    @property
    def confidence(self) -> float | None:
        """The confidence in the answer, from 0 to 1; None without an answer."""
        return self.outcome.confidence if isinstance(self.outcome, Answer) else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns; `answer` for yes or no."""
        return self._table.variables

    @property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """The answer's rows: IRIs as text, numbers, booleans and dates as Python's; else empty.

        A year is an integer. A literal that its datatype does not allow stays text.
        """
        return tuple(tuple(map(_to_value, row)) for row in self._table.rows)

    def to_pandas(self, *, labels: bool = False) -> "pandas.DataFrame":
        """Return the rows as a data frame; with `labels`, things by their names.

        A column has one type: whole numbers, numbers, booleans, dates, times (in UTC if they have
        a zone), else text.

        Raises:
            SetupError: pandas is not installed.
        """
        pandas, columns = _import_library("pandas"), self._get_typed_columns(labels)
        return pandas.DataFrame(
            {
                name: pandas.Series(values, dtype=_PANDAS_TYPES.get(kind))
                for name, (kind, values) in columns.items()
            }
        )

    def to_polars(self, *, labels: bool = False) -> "polars.DataFrame":
        """Return the rows as a polars frame, with columns as `to_pandas` has them.

        Raises:
            SetupError: polars is not installed.
        """
        polars, columns = _import_library("polars"), self._get_typed_columns(labels)
        return polars.DataFrame({name: values for name, (_, values) in columns.items()})

    def json(self) -> dict[str, object]:
        """Return the object that `askgraph ask --json` prints."""
        return to_json_object(self.outcome)

    def __str__(self) -> str:
        return to_text(self.outcome, self.prefixes)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return to_html(self.outcome, self.prefixes)

    @property
    def _table(self) -> SelectResult:
        match self.outcome:
            case Answer(boolean=bool(boolean)):
                return SelectResult(("answer",), ((Literal(boolean),),))
            case Answer(result=result):
                return result
            case _:
                return SelectResult((), ())

    def _get_typed_columns(self, use_labels: bool) -> dict[str, tuple[object, list[Value]]]:
        table = self._table
        labels = self.outcome.labels if use_labels and isinstance(self.outcome, Answer) else {}
        return {name: _to_typed_column(table.get_column(name), labels) for name in table.variables}


@dataclass(eq=False)
class _GraphOptions:
    """The options of both classes; `Graph` explains them."""

    graph: Source | Sequence[Source] | None = None
    _: KW_ONLY
    method: str | None = None
    settings: Mapping[str, object] | None = None
    model: str | LanguageModel | None = None
    base_url: str | None = None
    workspace: str | Path | None = None


@dataclass(eq=False)
class AsyncGraph(_GraphOptions):
    """A graph, or several, to ask in an event loop; see `Graph`.

    It opens with `async with`, else with the first question. Questions may run at once.
    """

    def __post_init__(self) -> None:
        self._workspace = Workspace(self.workspace)
        self._models = Models(self._workspace.folder)
        self._lock = asyncio.Lock()
        self._opened: OpenedGraphs | None = None

    async def ask(
        self,
        question: str,
        *,
        after: Result | None = None,
        language: str | None = None,
        seconds: float | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Answer a question; see `Graph.ask`."""
        full_question = Question(question, language)
        if after is not None:
            full_question = build_follow_up(
                question, after.question, after.outcome, language=language
            )
        method = self._create_method(seconds)
        if after is not None and not can_follow_up(method):
            message = "method %r ignores earlier questions: 'after' has no effect"
            logging.getLogger("askgraph").warning(message, self.method or DEFAULT_METHOD)
        opened = await self._ensure_open(method)
        outcome = await ask_method(
            full_question,
            method,
            opened.graphs,
            timeout=timeout,
            offer=self._workspace.offer_graphs,
        )
        return Result(outcome, opened.get_graph(outcome).prefixes, full_question)

    async def close(self) -> None:
        """Close the graphs and models; the next question opens them again."""
        async with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            await opened.close()
        await self._models.close()

    async def __aenter__(self) -> Self:
        await self._ensure_open(self._create_method())
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def _create_method(self, seconds: float | None = None) -> Method:
        options = {"model": self.model, "base_url": self.base_url, "seconds": seconds}
        settings = {
            **(self.settings or {}),
            **{name: value for name, value in options.items() if value is not None},
        }
        name = self.method or DEFAULT_METHOD
        return self._workspace.method(name, settings, models=self._models, confirmed=True)

    async def _ensure_open(self, method: Method) -> OpenedGraphs:
        is_list = isinstance(self.graph, Sequence) and not isinstance(self.graph, str)
        sources: Any = self.graph if is_list else [self.graph]
        async with self._lock:
            if self._opened is None:
                self._opened = await asyncio.to_thread(
                    lambda: prepare_graphs(sources, self._workspace.find, method)
                )
            return self._opened


@dataclass(eq=False)
class Graph(_GraphOptions):
    """A graph, or several, opened once for many questions.

        with askgraph.Graph("space.ttl") as graph:
            print(graph.ask("Which moons does Jupiter have?"))

    It works in scripts and in notebooks, which already run an event loop, and from several
    threads. Without `with`, call `close`. `AsyncGraph` is the same for async code.

    Args:
        graph: A name in the workspace, a path, a URL or an open graph, or a list of these, one
            of which answers. May be omitted if the workspace has only one graph.
        method: Name of the method.
        settings: Settings of the method; `{"confirmed": False}` ignores confirmed answers.
        model: Language model for a method that needs one: a name in the workspace, a model
            id (of the server at `base_url`), or a model object, which stays open.
        base_url: Address of the model's server.
        workspace: Folder of the workspace. It caches data about a path or URL, so that
            it opens fast the next time.

    Raises:
        SetupError: The caller can fix it: an unknown graph, a missing file.
        ServiceError: The endpoint failed.
    """

    def __post_init__(self) -> None:
        self._graph = graph = AsyncGraph(**vars(self))
        _wait_for(graph.__aenter__())
        # For callers that forget to close it; this must not wait, as it may run in any thread.
        weakref.finalize(self, lambda: run_in_background(graph.close()))

    def ask(
        self,
        question: str,
        *,
        after: Result | None = None,
        language: str | None = None,
        seconds: float | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Answer a question in natural language.

        Args:
            after: The result of the previous question, which this one may refer to, if the
                method supports follow-up questions.
            language: BCP 47 tag of the question's language, if known.
            seconds: Return the best answer so far after this time; 20 by default.
            timeout: Fail after this many seconds.

        Raises:
            SetupError: The caller can fix it: a missing model, a changed file.
            ServiceError: The endpoint or the model server failed.
        """
        return _wait_for(
            self._graph.ask(
                question, after=after, language=language, seconds=seconds, timeout=timeout
            )
        )

    def close(self) -> None:
        """Close the graphs and models; the next question opens them again."""
        _wait_for(self._graph.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def ask(
    question: str,
    graph: Source | Sequence[Source] | None = None,
    *,
    after: Result | None = None,
    language: str | None = None,
    method: str | None = None,
    settings: Mapping[str, object] | None = None,
    model: str | LanguageModel | None = None,
    base_url: str | None = None,
    seconds: float | None = None,
    timeout: float | None = None,
    workspace: str | Path | None = None,
) -> Result:
    """Answer one question over one or several graphs, which are opened for it and closed.

    `Graph` and `Graph.ask` explain the arguments and the errors.
    """

    async def open_and_ask() -> Result:
        options = _GraphOptions(
            graph, method=method, settings=settings, model=model, base_url=base_url,
            workspace=workspace,
        )  # fmt: skip
        async with AsyncGraph(**vars(options)) as opened:
            return await opened.ask(
                question, after=after, language=language, seconds=seconds, timeout=timeout
            )

    return run_coroutine(open_and_ask())


def _wait_for(coroutine: Coroutine[Any, Any, Content]) -> Content:
    """Run a coroutine in the background, and stop it if the caller is interrupted."""
    future = run_in_background(coroutine)
    try:
        return future.result()
    finally:
        future.cancel()


def _import_library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SetupError(f"a frame of {name} needs {name}: pip install {name}") from error


def _to_value(term: Term | None) -> Value:
    text = to_plain_value(term)
    if text is None or not isinstance(term, Literal) or term.datatype.value not in _PARSERS:
        return text
    try:
        return _PARSERS[term.datatype.value](text)
    except (KeyError, ValueError):
        return text


def _to_typed_column(
    terms: Sequence[Term | None], labels: Mapping[str, str]
) -> tuple[object, list[Value]]:
    """Return the type of a column, None for text, and its values, all of that type or None."""
    values = [_to_value(term) for term in terms]
    kinds: set[object] = {type(value) for value in values if value is not None}
    numbers = [value for value in values if isinstance(value, int | float)]
    if kinds == {int, float} or (kinds == {int} and max(map(abs, numbers)) > _MAX_FRAME_INTEGER):
        return float, [float(value) if isinstance(value, int) else value for value in values]
    times = [value for value in values if isinstance(value, datetime) and value.tzinfo]
    if kinds == {datetime} and times:
        # Times with and without a zone are not comparable.
        kinds = {UTC} if len(times) == len(values) - values.count(None) else {str}
        values = [time.astimezone(UTC) if isinstance(time, datetime) else time for time in values]
    if len(kinds) == 1 and kinds <= _PANDAS_TYPES.keys():
        return kinds.pop(), values
    return None, [
        labels.get(term.value, term.value) if isinstance(term, NamedNode) else to_plain_value(term)
        for term in terms
    ]
