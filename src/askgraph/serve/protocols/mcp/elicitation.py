"""A question back to the user, by elicitation: the reading that is meant.

From protocol version 2026-07-28 on the call ends with what has to be asked, and comes again with
the answer and the state that went out; before, the client is asked while the call goes on. The
state that comes back is not trusted: its queries are checked like any other.
"""

import base64
import json
from dataclasses import dataclass

from mcp.server.mcpserver import Context
from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import NoBackChannelError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least

from askgraph.errors import QueryError
from askgraph.serve.protocols.step_words import one_line
from askgraph.trace import Clarification, Option
from askgraph.trace.codec import read, told

_KEY = "reading"
_MODERN = "2026-07-28"
_WORDS = 200
_MOST = 20  # readings in a state that comes back


@dataclass(frozen=True)
class Given:
    """The reading that the user chose, by its place, of what was asked back about a graph."""

    reading: int
    asked_back: Clarification
    graph: str


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
        form = ElicitRequestFormParams(message=asked.question, requested_schema=_schema(words))
        return InputRequiredResult(
            input_requests={_KEY: ElicitRequest(params=form)}, request_state=_state(asked, graph)
        )
    try:
        reply = await context.session.elicit_form(
            asked.question, _schema(words), related_request_id=context.request_id
        )
    except NoBackChannelError:
        return None
    return _place(reply, words)


def answer_given(context: Context) -> Given | None:
    """Return the reading that the user chose when the call was made before; None at its start.

    A user who does not choose is not asked again. Raises `QueryError` for a state that is damaged.
    """
    responses, state = context.input_responses, context.request_state
    if not responses or state is None:
        return None
    reply = responses.get(_KEY)
    asked, graph = _asked(state)
    if not isinstance(reply, ElicitResult):
        return None
    place = _place(reply, _words(asked))
    if place is None:
        raise QueryError("no reading was chosen: ask again, in words that leave only one")
    return Given(place, asked, graph)


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


def _state(asked: Clarification, graph: str) -> str:
    options = [told(option, Option) for option in asked.options]
    return json.dumps({"question": asked.question, "options": options, "graph": graph})


def _asked(state: str) -> tuple[Clarification, str]:
    try:
        content = json.loads(state)
        options = tuple(read(one, Option) for one in content["options"][:_MOST])
        question, graph = read(content["question"], str), read(content["graph"], str)
    except (ValueError, KeyError, TypeError) as error:
        raise QueryError("the state of this call is damaged: ask anew") from error
    return Clarification(question, options, None), graph
