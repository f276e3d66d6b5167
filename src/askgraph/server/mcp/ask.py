"""The tool that answers a question; it reports progress, and asks back if the client can."""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Annotated, Any

from mcp.server.apps import client_supports_apps
from mcp.server.mcpserver import Context
from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import NoBackChannelError
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode

from askgraph.answers import answer_option
from askgraph.answers.codec import to_json_object
from askgraph.answers.codec import to_json_value as to_cell_value
from askgraph.answers.verbalize import describe_answerer, describe_confidence
from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError
from askgraph.graph.names import is_informative_label
from askgraph.methods.tools.rendering import quote
from askgraph.server.mcp import access as mcp_access
from askgraph.server.runs import RunRequest, check_question, choose_default_method
from askgraph.server.runs.events import clip_line, describe_step
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import Term
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
_MAX_SENTENCE_CHARACTERS, _MAX_MESSAGE_CHARACTERS = 300, 1_000  # in text, and in detail
_MAX_LINE_CHARACTERS = 300  # characters of the reading, or of a remark
_MAX_LABEL_CHARACTERS = 80
_CHARACTERS_PER_ROW = 40  # characters of the rows in a text, for each row of the limit
_DETAIL_ROWS, _DETAIL_EVIDENCE_ROWS = 50, 5  # rows of structured content if the limit is lower
_PREFIX = re.compile(r"PREFIX\s+([\w.-]*):\s*<([^<>]*)>", re.IGNORECASE)
CARD_KEY = "askgraph/answer"
"""The key of an answer in the metadata of a result, where the card finds it, but no model."""


class EarlierQuestion(BaseModel):
    """An earlier question with the query that answered it."""

    question: str = Field(max_length=_MAX_QUESTION_CHARACTERS)
    query: str = Field(max_length=100_000)


async def ask(
    context: Context,
    question: Annotated[
        str,
        Field(
            description="In the user's own words.",
            min_length=1,
            max_length=_MAX_QUESTION_CHARACTERS,
            pattern=r"^[^\x00]*$",
        ),
    ],
    graphs: Annotated[
        list[str] | None, Field(description="Needed if there are several.", max_length=_MAX_GRAPHS)
    ] = None,
    reading: Annotated[
        str | None,
        Field(description="One of the readings that came back, word for word.", max_length=1_000),
    ] = None,
    earlier: Annotated[
        list[EarlierQuestion] | None,
        Field(description="What this follows up on, oldest first.", max_length=20),
    ] = None,
    method: Annotated[str | None, Field(description="From list_graphs.")] = None,
    limit: mcp_access.LimitParameter = mcp_access.DEFAULT_ROWS,
    detail: mcp_access.DetailParameter = False,
    language: mcp_access.LanguageParameter = None,
) -> CallToolResult | InputRequiredResult:
    """Answer a question about the graphs in plain words; use this first.

    Returns the answer, how the question was read, the confidence, rows and the SPARQL query; or
    readings to choose from; or why there is no answer.
    """
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors():
        access.require_scope("ask")
        check_question(question)
        has_card = client_supports_apps(context)
        choice = read_choice(context)
        if choice is not None:
            answer = await _answer_reading(access, *choice)
            return to_result(answer, limit, detail=detail, has_card=has_card)
        methods = access.list_methods()
        method_name = (method or choose_default_method(methods)).replace("_", "-")
        names = graphs or [mcp_access.resolve_graph_name(access, None)]
        before = tuple(PreviousQuestion(item.question, item.query) for item in earlier or ())
        request = RunRequest(
            Question(question, language, before),
            tuple(dict.fromkeys(mcp_access.resolve_graph_name(access, name) for name in names)),
            method_name,
        )
        if method_name not in methods:
            raise SetupError(f"no method {method!r}; available: {', '.join(methods)}")
        outcome = await _await_outcome(context, access, request)
        if isinstance(outcome, Clarification) and outcome.options:
            graph = outcome.best.graph if outcome.best else request.graphs[0]
            if reading is not None:
                index: int | InputRequiredResult | None = _find_reading(outcome, reading)
            else:
                index = await ask_back(context, outcome, graph)
            if isinstance(index, InputRequiredResult):
                return index
            if index is not None:
                outcome = await _answer_reading(access, index, outcome, graph)
        following: Sequence[str] = ()
        if detail:
            with suppress(AskgraphError):  # the answer is complete without follow-up questions
                following = await access.suggest_following(request.question, outcome)
        return to_result(outcome, limit, detail=detail, has_card=has_card, following=following)


async def _await_outcome(
    context: Context, access: mcp_access.GraphAccess, request: RunRequest
) -> Outcome:
    async with aclosing(access.stream_steps(request)) as steps:
        step_count = 0
        async for step in steps:
            if isinstance(step, Answer | Clarification | Refusal):
                return step
            step_count += 1
            await context.report_progress(step_count, message=describe_step(step))
    raise ServiceError("the run was stopped before it finished; ask again")


async def _answer_reading(
    access: mcp_access.GraphAccess, index: int, clarification: Clarification, graph: str
) -> Answer:
    async with access.open_graph(mcp_access.resolve_graph_name(access, graph)) as open_graph:
        return await answer_option(
            clarification.options[index],
            clarification,
            open_graph,
            timeout=access.query_timeout,
            limit=1_000,
        )


def to_result(
    outcome: Outcome,
    limit: int,
    *,
    detail: bool = False,
    has_card: bool = False,
    following: Sequence[str] = (),
) -> CallToolResult:
    """Return an outcome as text, and all of it for programs and the card that want it."""
    result = mcp_access.to_tool_result(format_outcome(outcome, limit))
    content = build_content(outcome, max(limit, _DETAIL_ROWS), following)
    if detail:
        result.structured_content = content
    elif has_card:
        result.meta = {CARD_KEY: content}
    return result


def build_content(outcome: Outcome, limit: int, following: Sequence[str] = ()) -> dict[str, Any]:
    """Return an outcome as JSON, as `askgraph ask --json` writes it, with bounded rows."""
    best = get_attempt(outcome)
    rows = mcp_access.format_rows(best.result.rows, limit) if best else []
    content = to_json_object(outcome, limit=len(rows))
    if best and best.boolean is None:
        content["rows"] = rows
    evidence = content["evidence"]
    assert isinstance(evidence, list)
    return {
        **content,
        "message": clip_line(_format_message(outcome), _MAX_MESSAGE_CHARACTERS),
        "evidence": evidence[:_DETAIL_EVIDENCE_ROWS],
        "total": len(best.result.rows) if best else 0,
        "next": list(following),
    }


def format_outcome(outcome: Outcome, limit: int) -> str:
    """Return an outcome as text, with at most `limit` rows; its texts are on one line each."""
    lines = [quote(_format_message(outcome), _MAX_SENTENCE_CHARACTERS)]
    best = get_attempt(outcome)
    if isinstance(outcome, Clarification) and outcome.options:
        lines.append("To choose, ask again with `reading`:")
        lines += [
            f"- {quote(option.words, _MAX_LINE_CHARACTERS)} "
            f"({option.count:,} row{'s' * (option.count != 1)})"
            for option in outcome.options
        ]
    if not isinstance(outcome, Answer):
        for item in outcome.missing:
            names = ", ".join(quote(name, _MAX_LABEL_CHARACTERS) for name in item.names)
            lines.append(
                f"not in the graph: {quote(item.words, _MAX_LABEL_CHARACTERS)}"
                f"{f'; near: {names}' if names else ''}"
            )
        if best and best.query and not isinstance(outcome, Clarification):
            lines += ["The best attempt:", *_format_attempt(best, min(limit, 3))]
    elif best:
        lines += _format_attempt(best, limit)
    if outcome.other_graphs:
        lines.append(f"Graphs that know these words better: {', '.join(outcome.other_graphs)}")
    if answerer := describe_answerer(outcome):
        lines.append(f"Answered by: {answerer}")
    return "\n".join(lines)


def _format_attempt(answer: Answer, limit: int) -> Iterator[str]:
    confidence = (
        "chosen from the readings" if answer.chosen else describe_confidence(answer.confidence)
    )
    yield f"Read as: {quote(answer.words, _MAX_LINE_CHARACTERS)}; confidence: {confidence}"
    remarks = {
        "Not used": ", ".join(answer.unused_words),
        "Confirmed as the answer to": answer.confirmed.question if answer.confirmed else "",
        "Comment of a model": answer.interpretation,
        "Why empty": answer.why_empty,
        "Best answer so far": answer.cut_short,
        "Cut off": answer.result.truncated and answer.result.truncated.reason,
    }
    for name, remark in remarks.items():
        if remark:
            yield f"{name}: {clip_line(remark, _MAX_LINE_CHARACTERS)}"
    prefixes = PrefixMap(dict(_PREFIX.findall(answer.query)))
    number, rows = len(answer.result.rows), answer.result.rows[:limit]
    lines: list[str] = []
    for row in rows:
        line = " | ".join(_format_cell(term, answer.labels, prefixes) for term in row)
        if lines and len(line) + sum(map(len, lines)) > _CHARACTERS_PER_ROW * limit:
            break
        lines.append(line)
    if lines:
        of_all = f"{len(lines):,} of {number:,} rows" if len(lines) < number else "Rows"
        signs = {name: f" in {unit}" for name, unit in answer.units.items()}
        heads = [name + signs.get(name, "") for name in answer.result.variables]
        yield f"{of_all} ({', '.join(heads)}):"
        yield from lines
    yield f"Query on {answer.graph}:\n{answer.query.strip()}"


def _format_cell(term: Term | None, labels: Mapping[str, str], prefixes: PrefixMap) -> str:
    if not isinstance(term, NamedNode):
        value = to_cell_value(term)
        return quote(value, _MAX_LINE_CHARACTERS) if isinstance(value, str) else json.dumps(value)
    short, label = prefixes.shorten(term.value), labels.get(term.value, "")
    is_needed = label and is_informative_label(label, (term.value,))
    return f"{short} {quote(label, _MAX_LABEL_CHARACTERS)}" if is_needed else short


def _format_message(outcome: Outcome) -> str:
    match outcome:
        case Refusal(reason=text) | Clarification(question=text):
            return text
        case Answer(sentence=text) if text:
            return text
        case Answer(boolean=bool() as holds):
            return "yes" if holds else "no"
        case _:
            return outcome.why_empty or f"{len(outcome.result.rows):,} rows"


def _find_reading(clarification: Clarification, reading: str) -> int:
    """Return the index of the reading with these words, or this number from 1."""
    words = [" ".join(option.words.split()).casefold() for option in clarification.options]
    numbers = [str(number) for number in range(1, len(words) + 1)]
    text = " ".join(reading.split()).casefold()
    for texts in (words, numbers):
        if text in texts:
            return texts.index(text)
    listed = "; ".join(quote(option.words, 200) for option in clarification.options)
    raise QueryError(f"no reading {reading[:200]!r}; available: {listed}")


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
    texts, message = _format_readings(clarification), clarification.question
    reading = {"type": "string", "title": "Reading", "enum": texts}
    properties, required = {_READING_KEY: reading}, [_READING_KEY]
    schema = {"type": "object", "properties": properties, "required": required}
    if is_version_at_least(context.protocol_version or "", _STATELESS_VERSION):
        options = [to_json_value(option, Option) for option in clarification.options]
        state = json.dumps({"question": message, "options": options, "graph": graph})
        form = ElicitRequestFormParams(message=message, requested_schema=schema)
        return InputRequiredResult(
            input_requests={_READING_KEY: ElicitRequest(params=form)}, request_state=state
        )
    try:
        request = context.request_id
        reply = await context.session.elicit_form(message, schema, related_request_id=request)
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
    return [
        clip_line(f"{number}. {option.words}", _MAX_READING_CHARACTERS)
        for number, option in enumerate(clarification.options, 1)
    ]


def _find_choice(reply: ElicitResult, texts: list[str]) -> int | None:
    chosen = (reply.content or {}).get(_READING_KEY) if reply.action == "accept" else None
    return texts.index(chosen) if isinstance(chosen, str) and chosen in texts else None
