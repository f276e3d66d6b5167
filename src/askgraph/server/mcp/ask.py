"""The tool that answers a question; it reports progress, and asks back if the client can."""

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

from askgraph.answers import answer_option
from askgraph.answers.codec import get_status
from askgraph.answers.verbalize import describe_answerer
from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError
from askgraph.server.mcp import access as mcp_access
from askgraph.server.mcp.results import (
    DEFAULT_ROWS,
    AskResult,
    QuestionReading,
    UnknownWords,
    describe_truncation,
    format_rows,
    select_labels,
)
from askgraph.server.runs import RunRequest, check_question, choose_default_method
from askgraph.server.runs.events import clip_line, describe_step
from askgraph.sparql.results import SelectResult
from askgraph.trace import (
    Answer,
    Clarification,
    Option,
    Outcome,
    PreviousQuestion,
    Question,
    Refusal,
    get_attempt,
)
from askgraph.trace.codec import from_json_value, to_json_value

_MAX_QUESTION_CHARACTERS = 4_000  # characters
_MAX_GRAPHS = 10
_MAX_EVIDENCE_ROWS, _MAX_EVIDENCE_LINES, _MAX_LINE_CHARACTERS = 5, 6, 300
_MAX_LISTED_ROWS = 5
_MAX_SENTENCE_CHARACTERS = 1_000  # characters


class EarlierQuestion(BaseModel):
    """An earlier question with the query that answered it."""

    question: str = Field(max_length=_MAX_QUESTION_CHARACTERS)
    query: str = Field(max_length=100_000)


async def ask(
    context: Context,
    question: Annotated[
        str,
        Field(
            description="The question in the user's own words.",
            min_length=1,
            max_length=_MAX_QUESTION_CHARACTERS,
            pattern=r"^[^\x00]*$",
        ),
    ],
    graphs: Annotated[
        list[str] | None,
        Field(
            description="Names of graphs; may be left out for the only one.", max_length=_MAX_GRAPHS
        ),
    ] = None,
    method: Annotated[str | None, Field(description="From `list_graphs`; default: auto.")] = None,
    language: mcp_access.LanguageParameter = None,
    earlier: Annotated[
        list[EarlierQuestion] | None,
        Field(description="What this question follows up on, oldest first.", max_length=20),
    ] = None,
    limit: Annotated[
        int, Field(description="Maximum number of rows to show.", ge=1, le=500)
    ] = DEFAULT_ROWS,
    seconds: Annotated[
        float | None,
        Field(
            description="Time limit, after which the best answer so far comes; default: 20.", gt=0
        ),
    ] = None,
) -> AskResult | InputRequiredResult:
    """Answer a question in natural language over one graph or several.

    Returns the answer with its query, the reading of the question, a confidence and the supporting
    triples; or a question back with readings to choose from; or the reason for having no answer.
    """
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors():
        access.require_scope("ask")
        check_question(question)
        choice = read_choice(context)
        if choice is not None:
            return await _answer_reading(access, *choice, limit)
        methods = access.list_methods()
        method_name = (method or choose_default_method(methods)).replace("_", "-")
        names = graphs or [mcp_access.resolve_graph_name(access, None)]
        before = tuple(PreviousQuestion(item.question, item.query) for item in earlier or ())
        request = RunRequest(
            Question(question, language, before),
            tuple(dict.fromkeys(mcp_access.resolve_graph_name(access, name) for name in names)),
            method_name,
            seconds=seconds,
        )
        if method_name not in methods:
            raise SetupError(f"no method {method!r}; available: {', '.join(methods)}")
        outcome = await _await_outcome(context, access, request)
        if isinstance(outcome, Clarification) and outcome.options:
            graph = outcome.best.graph if outcome.best else request.graphs[0]
            reading = await ask_back(context, outcome, graph)
            if isinstance(reading, InputRequiredResult):
                return reading
            if reading is not None:
                return await _answer_reading(access, reading, outcome, graph, limit)
        following: Sequence[str] = ()
        with suppress(AskgraphError):  # the answer is complete without follow-up questions
            following = await access.suggest_following(request.question, outcome)
        return to_ask_result(outcome, limit=limit, following=following)


async def _await_outcome(
    context: Context, access: mcp_access.GraphAccess, request: RunRequest
) -> Outcome:
    """Read the steps up to the outcome and report each as progress."""
    async with aclosing(access.stream_steps(request)) as steps:
        step_count = 0
        async for step in steps:
            if isinstance(step, Answer | Clarification | Refusal):
                return step
            step_count += 1
            await context.report_progress(step_count, message=describe_step(step))
    raise ServiceError("the run was stopped before it finished; ask again")


async def _answer_reading(
    access: mcp_access.GraphAccess, index: int, clarification: Clarification, graph: str, limit: int
) -> AskResult:
    async with access.open_graph(mcp_access.resolve_graph_name(access, graph)) as open_graph:
        answer = await answer_option(
            clarification.options[index],
            clarification,
            open_graph,
            timeout=access.query_timeout,
            limit=1_000,
        )
    return to_ask_result(answer, limit=limit)


def to_ask_result(outcome: Outcome, *, limit: int, following: Sequence[str] = ()) -> AskResult:
    """Convert an outcome, with at most `limit` rows, and the questions that may follow."""
    best = get_attempt(outcome) or Answer("", "", SelectResult((), ()), (), "", 0.0)
    rows = format_rows(best.result.rows, limit)
    readings = outcome.options if isinstance(outcome, Clarification) else ()
    missing = () if isinstance(outcome, Answer) else outcome.missing
    return AskResult.model_validate(
        {
            "status": get_status(outcome),
            "message": _format_message(outcome),
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
            "labels": select_labels(rows, best.labels),
            "evidence": [
                clip_line(f"row {piece.row + 1}: {line}", _MAX_LINE_CHARACTERS)
                for piece in best.evidence[:_MAX_EVIDENCE_ROWS]
                for line in piece.words[:_MAX_EVIDENCE_LINES]
            ],
            "why_empty": best.why_empty,
            "cut": f"{best.cut_short}; this is the best answer so far"
            if best.cut_short
            else describe_truncation(best.result.truncated),
            "readings": [
                QuestionReading(words=item.words, rows=item.count, query=item.query)
                for item in readings
            ],
            "confirmed": best.confirmed.question if best.confirmed else None,
            "interpretation": best.interpretation or None,
            "missing": [UnknownWords(words=item.words, names=list(item.names)) for item in missing],
            "next": list(following),
            "seconds": round(outcome.usage.seconds, 3),
            "answered_by": describe_answerer(outcome) or None,
        }
    )


def _format_message(outcome: Outcome) -> str:
    match outcome:
        case Refusal(reason=reason):
            return reason
        case Clarification(question=question):
            return question
        case Answer(sentence=sentence) if sentence:
            return clip_line(sentence, _MAX_SENTENCE_CHARACTERS)
        case Answer(boolean=bool() as holds):
            return "yes" if holds else "no"
        case _:
            return _format_answer_values(outcome)


def _format_answer_values(answer: Answer) -> str:
    """Return the first values of the answer columns, by label."""
    rows, variables = answer.result.rows, answer.result.variables
    if not rows:
        return answer.why_empty or "nothing was found"
    columns = [variables.index(name) for name in answer.answer_columns if name in variables]

    texts = [
        ", ".join(
            clip_line(answer.labels.get(value, value) if isinstance(value, str) else str(value))
            for value in format_rows([tuple(row[n] for n in columns)], 1)[0]
        )
        for row in rows[:_MAX_LISTED_ROWS]
    ]
    more = f" and {len(rows) - _MAX_LISTED_ROWS:,} more" if len(rows) > _MAX_LISTED_ROWS else ""
    return "; ".join(texts) + more


_READING_KEY = "reading"
_STATELESS_VERSION = "2026-07-28"
_MAX_READING_CHARACTERS = 200
_MAX_READINGS = 20  # readings in a state that the client returns


class PlainStateCodec:
    """A codec for request state that passes through the client unencrypted; it holds no secret.

    So any process of a server can resume the call. The state is validated like any other input.
    """

    def seal(self, payload: bytes) -> str:
        """Return the state as text for a header or body."""
        return base64.urlsafe_b64encode(payload).decode()

    def unseal(self, token: str) -> bytes:
        """Decode a sealed state; raise `InvalidRequestState` if it is not valid Base64."""
        try:
            return base64.urlsafe_b64decode(token.encode("ascii"))
        except ValueError as error:
            raise InvalidRequestState("malformed") from error


async def ask_back(
    context: Context, clarification: Clarification, graph: str
) -> InputRequiredResult | int | None:
    """Ask the user which reading they mean.

    Returns:
        The result that suspends the call until the reply comes; or the index of the chosen reading;
        or None if the client cannot ask or the user does not choose.
    """
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return None
    texts = _format_readings(clarification)
    if is_version_at_least(context.protocol_version or "", _STATELESS_VERSION):
        options = [to_json_value(option, Option) for option in clarification.options]
        state = json.dumps({"question": clarification.question, "options": options, "graph": graph})
        form = ElicitRequestFormParams(
            message=clarification.question, requested_schema=_build_form_schema(texts)
        )
        return InputRequiredResult(
            input_requests={_READING_KEY: ElicitRequest(params=form)}, request_state=state
        )
    try:
        reply = await context.session.elicit_form(
            clarification.question, _build_form_schema(texts), related_request_id=context.request_id
        )
    except NoBackChannelError:
        return None
    return _find_choice(reply, texts)


def read_choice(context: Context) -> tuple[int, Clarification, str] | None:
    """Return the reading that the user chose; None at the start of a call.

    The user is not asked a second time.

    Returns:
        The index of the reading, the clarification that offered it, and the graph.

    Raises:
        QueryError: the state is damaged, or the user chose no reading.
    """
    responses, state = context.input_responses, context.request_state
    if not responses or state is None:
        return None
    reply = responses.get(_READING_KEY)
    try:
        content = json.loads(state)
        options = tuple(
            from_json_value(option, Option) for option in content["options"][:_MAX_READINGS]
        )
        clarification = Clarification(from_json_value(content["question"], str), options, None)
        graph = from_json_value(content["graph"], str)
    except (ValueError, KeyError, TypeError) as error:
        raise QueryError("the state of this call is damaged: ask again") from error
    if not isinstance(reply, ElicitResult):
        return None
    index = _find_choice(reply, _format_readings(clarification))
    if index is None:
        raise QueryError("no interpretation was chosen: ask again in unambiguous words")
    return index, clarification, graph


def _format_readings(clarification: Clarification) -> list[str]:
    """Return the readings as the user sees them, numbered."""
    return [
        clip_line(f"{number}. {option.words}", _MAX_READING_CHARACTERS)
        for number, option in enumerate(clarification.options, 1)
    ]


def _build_form_schema(texts: list[str]) -> dict[str, object]:
    reading = {"type": "string", "title": "Reading", "enum": texts}
    return {"type": "object", "properties": {_READING_KEY: reading}, "required": [_READING_KEY]}


def _find_choice(reply: ElicitResult, texts: list[str]) -> int | None:
    chosen = (reply.content or {}).get(_READING_KEY) if reply.action == "accept" else None
    return texts.index(chosen) if isinstance(chosen, str) and chosen in texts else None
