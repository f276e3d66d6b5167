"""The tool that answers a question: it reports the steps, and asks back if the client can."""

import base64
import json
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import NoBackChannelError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field

from askgraph.answers import chosen_answer
from askgraph.answers.codec import status_of
from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError
from askgraph.server.mcp.access import Access, Language, current, find_graph, tool_errors
from askgraph.server.mcp.results import (
    ROWS,
    Answered,
    Reading,
    Unknown,
    Value,
    cells,
    cut_words,
    labels_shown,
)
from askgraph.server.runs import RunRequest, check_question
from askgraph.server.runs.events import one_line, words_of
from askgraph.sparql.results import SelectResult
from askgraph.trace import (
    Answer,
    Clarification,
    Earlier,
    Option,
    Outcome,
    Question,
    Refusal,
    attempt_of,
)
from askgraph.trace.codec import read, told
from askgraph.workspace import DEFAULT_METHOD

_QUESTION = 4_000  # characters
_GRAPHS = 10
_EVIDENCE, _LINES, _LINE = 5, 6, 300
_LISTED = 5
_SENTENCE = 1_000  # characters


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
    seconds: Annotated[
        float | None,
        Field(description="After so many the best comes that was found; default: 20.", gt=0),
    ] = None,
) -> Answered | InputRequiredResult:
    """Answer a question in natural language over one graph or several.

    Gives the answer with the query, how it was read, how sure that is, and the triples behind it;
    or a question back with readings to choose from; or why there is no answer.
    """
    access = current()
    with tool_errors():
        access.check("ask")
        check_question(question)
        given = read_choice(context)
        if given is not None:
            return await _read_as(access, *given, limit)
        methods, wanted = access.method_names(), (method or DEFAULT_METHOD).replace("_", "-")
        names = graphs or [find_graph(access, None)]
        before = tuple(Earlier(one.question, one.query) for one in earlier or ())
        asked = RunRequest(
            Question(question, language, before),
            tuple(dict.fromkeys(find_graph(access, name) for name in names)),
            wanted,
            seconds=seconds,
        )
        if wanted not in methods:
            raise SetupError(f"no method {method!r}; there are {', '.join(methods)}")
        outcome = await _outcome(context, access, asked)
        if isinstance(outcome, Clarification) and outcome.options:
            graph = outcome.best.graph if outcome.best else asked.graphs[0]
            back = await ask_back(context, outcome, graph)
            if isinstance(back, InputRequiredResult):
                return back
            if back is not None:
                return await _read_as(access, back, outcome, graph, limit)
        following: Sequence[str] = ()
        with suppress(AskgraphError):  # the answer is there: nothing is to be said of these
            following = await access.following(asked.question, outcome)
        return to_answered(outcome, limit=limit, following=following)


async def _outcome(context: Context, access: Access, asked: RunRequest) -> Outcome:
    """Read the steps to the end; each is reported as progress."""
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
    async with access.graph(find_graph(access, graph)) as opened:
        answer = await chosen_answer(
            asked_back.options[reading],
            asked_back,
            opened,
            timeout=access.query_timeout,
            limit=1_000,
        )
    return to_answered(answer, limit=limit)


def to_answered(outcome: Outcome, *, limit: int, following: Sequence[str] = ()) -> Answered:
    """Return an outcome with at most `limit` rows, and the questions that may follow."""
    best = attempt_of(outcome) or Answer("", "", SelectResult((), ()), (), "", 0.0)
    rows = cells(best.result.rows, limit)
    readings = outcome.options if isinstance(outcome, Clarification) else ()
    missing = () if isinstance(outcome, Answer) else outcome.missing
    return Answered.model_validate(
        {
            "status": status_of(outcome),
            "message": _message(outcome),
            "words": best.words,
            "unused_words": list(best.unused_words),
            "confidence": None if best.chosen else best.confidence,
            "chosen": best.chosen,
            "query": best.query or None,
            "graph": best.graph or None,
            "columns": list(best.result.variables),
            "answer_columns": list(best.answer_columns),
            "rows": rows,
            "total": len(best.result.rows),
            "boolean": best.boolean,
            "labels": labels_shown(rows, best.labels),
            "evidence": [
                one_line(f"row {piece.row + 1}: {line}", _LINE)
                for piece in best.evidence[:_EVIDENCE]
                for line in piece.words[:_LINES]
            ],
            "why_empty": best.why_empty,
            "cut": f"{best.cut_short}; this is the best so far"
            if best.cut_short
            else cut_words(best.result.truncated),
            "readings": [
                Reading(words=one.words, rows=one.count, query=one.query) for one in readings
            ],
            "confirmed": best.confirmed.question if best.confirmed else None,
            "interpretation": best.interpretation or None,
            "missing": [Unknown(words=one.words, names=list(one.names)) for one in missing],
            "next": list(following),
            "seconds": round(outcome.usage.seconds, 3),
        }
    )


def _message(outcome: Outcome) -> str:
    match outcome:
        case Refusal(reason=reason):
            return reason
        case Clarification(question=question):
            return question
        case Answer(sentence=sentence) if sentence:
            return one_line(sentence, _SENTENCE)
        case Answer(boolean=bool() as holds):
            return "yes" if holds else "no"
        case _:
            return _listed(outcome)


def _listed(answer: Answer) -> str:
    """The first values of the columns that answer, by label."""
    rows, variables = answer.result.rows, answer.result.variables
    if not rows:
        return answer.why_empty or "nothing was found"
    at = [variables.index(name) for name in answer.answer_columns if name in variables]

    def name(value: Value) -> str:
        return one_line(answer.labels.get(value, value) if isinstance(value, str) else str(value))

    told = [
        ", ".join(map(name, cells([tuple(row[n] for n in at)], 1)[0])) for row in rows[:_LISTED]
    ]
    more = f" and {len(rows) - _LISTED:,} more" if len(rows) > _LISTED else ""
    return "; ".join(told) + more


_KEY = "reading"
_MODERN = "2026-07-28"
_WORDS = 200
_MOST = 20  # readings in a state that comes back


class OpenState:
    """The state of a call as it goes through the client: readable, as it holds no secret.

    So it can come back to any process of a server; it is checked like any other input.
    """

    def seal(self, payload: bytes) -> str:
        """Return the state as text for a header or body."""
        return base64.urlsafe_b64encode(payload).decode()

    def unseal(self, token: str) -> bytes:
        """Return the state that was sealed; `InvalidRequestState` if it is no such text."""
        try:
            return base64.urlsafe_b64decode(token.encode("ascii"))
        except ValueError as error:
            raise InvalidRequestState("malformed") from error


async def ask_back(
    context: Context, asked: Clarification, graph: str
) -> InputRequiredResult | int | None:
    """Ask which reading is meant.

    Returns the end of the call until the answer comes, or the place of the reading chosen, or
    None if the client cannot ask, or the user does not choose.
    """
    able = context.client_capabilities
    if able is None or able.elicitation is None:
        return None
    words = _words(asked)
    if is_version_at_least(context.protocol_version or "", _MODERN):
        options = [told(option, Option) for option in asked.options]
        state = json.dumps({"question": asked.question, "options": options, "graph": graph})
        form = ElicitRequestFormParams(message=asked.question, requested_schema=_schema(words))
        return InputRequiredResult(
            input_requests={_KEY: ElicitRequest(params=form)}, request_state=state
        )
    try:
        reply = await context.session.elicit_form(
            asked.question, _schema(words), related_request_id=context.request_id
        )
    except NoBackChannelError:
        return None
    return _place(reply, words)


def read_choice(context: Context) -> tuple[int, Clarification, str] | None:
    """Return the reading that the user chose when the call was made before; None at its start.

    It is given by its place, with what was asked back, and the graph.

    A user who does not choose is not asked again. Raises `QueryError` for a state that is damaged.
    """
    responses, state = context.input_responses, context.request_state
    if not responses or state is None:
        return None
    reply = responses.get(_KEY)
    try:
        content = json.loads(state)
        options = tuple(read(one, Option) for one in content["options"][:_MOST])
        asked = Clarification(read(content["question"], str), options, None)
        graph = read(content["graph"], str)
    except (ValueError, KeyError, TypeError) as error:
        raise QueryError("the state of this call is damaged: ask anew") from error
    if not isinstance(reply, ElicitResult):
        return None
    place = _place(reply, _words(asked))
    if place is None:
        raise QueryError("no reading was chosen: ask again, in words that leave only one")
    return place, asked, graph


def _words(asked: Clarification) -> list[str]:
    """The readings as the user sees them, each once."""
    return [
        one_line(f"{number}. {option.words}", _WORDS)
        for number, option in enumerate(asked.options, 1)
    ]


def _schema(words: list[str]) -> dict[str, object]:
    reading = {"type": "string", "title": "Reading", "enum": words}
    return {"type": "object", "properties": {_KEY: reading}, "required": [_KEY]}


def _place(reply: ElicitResult, words: list[str]) -> int | None:
    chosen = (reply.content or {}).get(_KEY) if reply.action == "accept" else None
    return words.index(chosen) if isinstance(chosen, str) and chosen in words else None
