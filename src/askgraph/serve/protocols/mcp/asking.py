"""The tool that answers a question, telling its steps, and asking back where the client can."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import InputRequiredResult
from pydantic import BaseModel, Field

from askgraph.answers.build import chosen_answer
from askgraph.errors import ServiceError, SetupError
from askgraph.serve.protocols.mcp.access import Access, chosen, current
from askgraph.serve.protocols.mcp.answered import answered
from askgraph.serve.protocols.mcp.asking_back import answer_given, ask_back
from askgraph.serve.protocols.mcp.bounded import ROWS
from askgraph.serve.protocols.mcp.failing import telling
from askgraph.serve.protocols.mcp.looking import Language
from askgraph.serve.protocols.mcp.results import Answered
from askgraph.serve.protocols.step_words import words_of
from askgraph.serve.runs.asking import Asked
from askgraph.trace import Answer, Clarification, Earlier, Outcome, Question, Refusal
from askgraph.workspace import DEFAULT_METHOD

__all__ = ["EarlierQuestion", "ask"]

_QUESTION = 4_000  # characters
_GRAPHS = 10


class EarlierQuestion(BaseModel):
    """A question that was asked before, with the query that answered it."""

    question: str = Field(max_length=_QUESTION)
    query: str = Field(max_length=100_000)


async def ask(
    context: Context,
    question: Annotated[
        str,
        Field(
            description="In the user's own words.",
            min_length=1,
            max_length=_QUESTION,
            pattern=r"^[^\x00]*$",
        ),
    ],
    graphs: Annotated[
        list[str] | None,
        Field(description="Names of graphs; may be left out for the only one.", max_length=_GRAPHS),
    ] = None,
    method: Annotated[
        str | None, Field(description="One of `list_graphs`; default: graph-search, no model.")
    ] = None,
    language: Language = None,
    earlier: Annotated[
        list[EarlierQuestion] | None,
        Field(description="What this question follows up on, oldest first.", max_length=20),
    ] = None,
    limit: Annotated[int, Field(description="Rows to show at most.", ge=1, le=500)] = ROWS,
) -> Answered | InputRequiredResult:
    """Answer a question in natural language over one graph or several.

    Gives the answer with the query, how it was read, how sure that is, and the triples behind it;
    or a question back with readings to choose from; or why there is no answer.
    """
    access = current()
    with telling():
        access.check("ask")
        given = answer_given(context)
        if given is not None:
            return await _read_as(access, given.reading, given.asked_back, given.graph, limit)
        names = graphs or [chosen(access, None)]
        before = tuple(Earlier(one.question, one.query) for one in earlier or ())
        asked = Asked(
            Question(question, language, before),
            tuple(dict.fromkeys(chosen(access, name) for name in names)),
            _method(access, method),
        )
        outcome = await _outcome(context, access, asked)
        if isinstance(outcome, Clarification) and outcome.options:
            graph = outcome.best.graph if outcome.best else asked.graphs[0]
            back = await ask_back(context, outcome, graph)
            if isinstance(back, InputRequiredResult):
                return back
            if back is not None:
                return await _read_as(access, back, outcome, graph, limit)
        return answered(outcome, limit=limit)


async def _outcome(
    context: Context,
    access: Access,
    asked: Asked,
) -> Outcome:
    """Read the steps to the end; each is told as progress."""
    async with aclosing(access.steps(asked)) as steps:
        done = 0
        async for step in steps:
            if isinstance(step, Answer | Clarification | Refusal):
                return step
            done += 1
            await context.report_progress(done, message=words_of(step))
    raise ServiceError("the run was stopped before it came to an end; ask again")


async def _read_as(
    access: Access, reading: int, asked_back: Clarification, graph: str, limit: int
) -> Answered:
    """The answer of the reading that the user chose."""
    async with access.graph(chosen(access, graph)) as opened:
        answer = await chosen_answer(
            asked_back.options[reading],
            asked_back,
            opened,
            timeout=access.query_timeout,
            limit=1_000,
        )
    return answered(answer, limit=limit)


def _method(access: Access, name: str | None) -> str:
    names: Sequence[str] = access.method_names()
    wanted = (name or DEFAULT_METHOD).replace("_", "-")
    if wanted not in names:
        raise SetupError(f"no method {name!r}; there are {', '.join(names)}")
    return wanted
