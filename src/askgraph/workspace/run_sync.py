"""Work from ordinary code (scripts, notebooks, the command line): run to its end, with progress."""

import asyncio
import contextvars
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from askgraph.answers.next_questions import propose_next_questions
from askgraph.deadline import DEFAULT_SECONDS
from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import split_tokens
from askgraph.llm import LanguageModel
from askgraph.methods import Method, answer_with_deadline, expand_virtual_predicates, unwrap
from askgraph.search.tokenize.word_lists import detect_language
from askgraph.trace import Answer, Outcome, Question, Refusal, Step, Trace, build_follow_up

if TYPE_CHECKING:
    from askgraph.trace.codec import TraceHead

Result = TypeVar("Result")
OfferGraphs = Callable[[Question, Sequence[KnowledgeGraph], Outcome], Outcome]
"""Adds the other graphs that know the words of a question better to its outcome."""

Progress = Callable[[str, int, int | None], None]
"""A callback with the name of the work, the amount done, and the total if known."""


_LOOP_LOCK = threading.Lock()


def ignore_progress(task: str, done: int, total: int | None) -> None:
    """Ignore progress."""


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, even if an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    future: Future[Result] = Future()
    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(_run_into_future, coroutine, future), daemon=True
    )
    thread.start()
    return future.result()


def _run_into_future(coroutine: Coroutine[Any, Any, Result], future: Future[Result]) -> None:
    try:
        future.set_result(asyncio.run(coroutine))
    except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
        future.set_exception(error)


def run_in_background(coroutine: Coroutine[Any, Any, Result]) -> "Future[Result]":
    """Run a coroutine in an event loop that lasts as long as this process, in a thread."""
    with _LOOP_LOCK:
        return asyncio.run_coroutine_threadsafe(coroutine, _start_loop(os.getpid()))


@cache
def _start_loop(process: int) -> asyncio.AbstractEventLoop:  # a fork has no threads of its parent
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="askgraph", daemon=True).start()
    return loop


async def stream_steps(
    question: Question,
    method: Method,
    graphs: Sequence[KnowledgeGraph],
    *,
    timeout: float | None = None,
    offer: OfferGraphs | None = None,
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a method as they come.

    A method ends with its best result at its setting `seconds`, 20 by default. Callers that
    stop early must close the stream (`contextlib.aclosing`), which ends the run. The query
    of an answer uses the graph's own predicates, even if the method used virtual ones. `offer`
    adds other graphs to the outcome.

    Raises:
        TimedOut: the run took more than `timeout` seconds.
    """
    deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
    stream = answer_with_deadline(method, question, graphs, seconds=DEFAULT_SECONDS)
    virtual = any(graph.virtual_paths for graph in graphs)
    try:
        while True:
            clock = asyncio.timeout_at(deadline)
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
            if offer is not None and isinstance(step, Outcome):
                step = await asyncio.to_thread(offer, question, graphs, step)
            yield step
    finally:
        await stream.aclose()


async def ask_method(
    question: Question,
    method: Method,
    graphs: Sequence[KnowledgeGraph],
    *,
    timeout: float | None = None,
    offer: OfferGraphs | None = None,
) -> Outcome:
    """Return the outcome of a method for a question; see `stream_steps`."""
    steps_of_method = stream_steps(question, method, graphs, timeout=timeout, offer=offer)
    async with aclosing(steps_of_method) as stream:
        steps = tuple([step async for step in stream])
    return Trace(question, type(method).__name__, steps).outcome


def head_of(method: Method, graphs: Sequence[KnowledgeGraph]) -> "TraceHead":
    """Return the head of a trace: settings without objects or secrets, and graph states."""
    from askgraph.trace.codec import GraphState, TraceHead  # most runs leave no trace

    states = tuple(GraphState(graph.name, graph.snapshot) for graph in graphs)
    return TraceHead(_encode_settings(unwrap(method)), states)


def _encode_settings(method: object) -> dict[str, object]:
    kind: Any = type(method)
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind)
    values = {field.name: getattr(method, field.name) for field in fields(kind) if field.init}
    return {name: _encode_setting(value, hints[name]) for name, value in values.items()}


def _encode_setting(value: object, hint: Any) -> object:
    if isinstance(value, LanguageModel):
        return value.identity.key_fields
    if isinstance(value, Mapping):  # models or methods by name
        return {name: _encode_setting(component, Any) for name, component in value.items()}
    if hasattr(value, "answer"):
        return _encode_settings(value)
    from askgraph.trace.codec import to_json_value

    try:
        return to_json_value(value, hint)
    except TypeError:
        return str(value)


async def suggest_next_questions(
    question: Question,
    outcome: Outcome,
    method: Method,
    graph: KnowledgeGraph,
    *,
    timeout: float | None = None,
    seconds: float = 10.0,
    enter_turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> tuple[str, ...]:
    """Return up to three questions that may follow an answer; empty for other outcomes.

    The method answers each within `timeout` seconds, else `seconds`, in a turn of its own.
    After `seconds` no further question is tried.
    """
    if not isinstance(outcome, Answer):
        return ()
    answer = outcome

    async def ask(text: str) -> Outcome:
        next_question = build_follow_up(text, question, answer, language=question.language)
        try:
            async with enter_turn():
                return await ask_method(next_question, method, [graph], timeout=timeout or seconds)
        except TimedOut as error:
            return Refusal(str(error))

    language = question.language or detect_language(split_tokens(question.text)) or "en"
    return await propose_next_questions(
        answer, question.text, graph, ask, language=language, seconds=seconds
    )
