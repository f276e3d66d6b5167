"""Questions that may follow an answer, each asked to see that it has an answer itself."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from askgraph.answers.next_questions import next_questions
from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import tokens
from askgraph.methods import Method
from askgraph.search.tokenize.word_lists import detect_language
from askgraph.trace import Answer, Outcome, Question, Refusal, follow_up
from askgraph.workspace.run_sync import outcome_of


async def following(
    asked: Question,
    outcome: Outcome,
    method: Method,
    graph: KnowledgeGraph,
    *,
    timeout: float | None = None,
    seconds: float = 10.0,
    turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> tuple[str, ...]:
    """Return up to three questions that may follow an answer; none follow another outcome.

    The method answers each within `timeout` seconds, else `seconds`, in a `turn` of its own; after
    so many `seconds` none is tried any more.
    """
    if not isinstance(outcome, Answer):
        return ()
    answer = outcome

    async def ask(text: str) -> Outcome:
        question = follow_up(text, asked, answer, language=asked.language)
        try:
            async with turn():
                return await outcome_of(question, method, [graph], timeout=timeout or seconds)
        except TimedOut as error:
            return Refusal(str(error))

    language = asked.language or detect_language(tokens(asked.text)) or "en"
    return await next_questions(answer, asked.text, graph, ask, language=language, seconds=seconds)
