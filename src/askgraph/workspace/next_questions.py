"""Suggest questions that may follow an answer, each verified to have an answer itself."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from askgraph.answers.next_questions import propose_next_questions
from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import split_tokens
from askgraph.methods import Method
from askgraph.search.tokenize.word_lists import detect_language
from askgraph.trace import Answer, Outcome, Question, Refusal, build_follow_up
from askgraph.workspace.run_sync import ask_method


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
