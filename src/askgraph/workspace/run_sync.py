"""Work from ordinary code (scripts, notebooks, the command line): run to its end, with progress."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from askgraph.deadline import DEFAULT_SECONDS
from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.methods import Method, answer_with_deadline, expand_virtual_predicates, unwrap
from askgraph.trace import Outcome, Question, Step, Trace

if TYPE_CHECKING:
    from askgraph.trace.codec import Head

Result = TypeVar("Result")

Progress = Callable[[str, int, int | None], None]
"""Given the name of the work, how far it is, and of how much if that is known."""


def silent(what: str, done: int, total: int | None) -> None:
    """Report progress to nobody."""


def result_of(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, also if an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    done: Future[Result] = Future()
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(_run, work, done), daemon=True)
    thread.start()
    return done.result()


def _run(work: Coroutine[Any, Any, Result], done: Future[Result]) -> None:
    try:
        done.set_result(asyncio.run(work))
    except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
        done.set_exception(error)


async def steps_of(
    question: Question,
    method: Method,
    graphs: Sequence[KnowledgeGraph],
    *,
    timeout: float | None = None,
) -> AsyncGenerator[Step, None]:
    """Give the steps of a method as they come; `TimedOut` after so many seconds.

    By its setting `seconds`, 20 if it has none, a method has ended with the best that it found.

    Whoever stops reading earlier closes the stream (`contextlib.aclosing`), which ends the run.
    An answer's query has the graph's own predicates, also if the method used virtual ones.
    """
    loop = asyncio.get_running_loop()
    end = None if timeout is None else loop.time() + timeout
    stream = answer_with_deadline(method, question, graphs, seconds=DEFAULT_SECONDS)
    virtual = any(graph.virtual_paths for graph in graphs)
    try:
        while True:
            clock = asyncio.timeout_at(end)
            try:
                async with clock:
                    step = await anext(stream, None)
            except TimeoutError as error:
                if not clock.expired():
                    raise
                raise TimedOut(f"no answer within {timeout:g} seconds") from error
            if step is None:
                return
            if virtual:
                step = expand_virtual_predicates(step, graphs)
            yield step
    finally:
        await stream.aclose()


async def outcome_of(
    question: Question,
    method: Method,
    graphs: Sequence[KnowledgeGraph],
    *,
    timeout: float | None = None,
) -> Outcome:
    """Return what a method makes of a question; `TimedOut` after so many seconds."""
    async with aclosing(steps_of(question, method, graphs, timeout=timeout)) as stream:
        steps = tuple([step async for step in stream])
    return Trace(question, type(method).__name__, steps).outcome


def head_of(method: Method, graphs: Sequence[KnowledgeGraph]) -> "Head":
    """Return what a trace says of its method and graphs: settings without objects or secrets."""
    from askgraph.trace.codec import GraphState, Head  # most runs leave no trace

    states = tuple(GraphState(graph.name, graph.snapshot) for graph in graphs)
    return Head(_settings(unwrap(method)), states)


def _settings(method: object) -> dict[str, object]:
    kind: Any = type(method)
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind)
    values = {f.name: getattr(method, f.name) for f in fields(kind) if f.init}
    return {name: _setting(value, hints[name]) for name, value in values.items()}


def _setting(value: object, hint: Any) -> object:
    if isinstance(value, LanguageModel):
        return value.identity.told
    if isinstance(value, Mapping):  # models or methods by name
        return {name: _setting(one, Any) for name, one in value.items()}
    if hasattr(value, "answer"):
        return _settings(value)
    from askgraph.trace.codec import told

    try:
        return told(value, hint)
    except TypeError:
        return str(value)
