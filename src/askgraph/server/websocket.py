"""Sessions over a WebSocket: questions in, events out, several at a time on one connection.

The client sends JSON objects: `{"type": "ask", "question": "…", …}` (the fields of `POST /ask`),
`{"type": "cancel", "id": "…"}`, `{"type": "listen", "id": "…", "after": 3}` after a broken
connection, `{"type": "choose", "id": "…", "option": 0}`; a client that cannot send headers may
begin with `{"type": "hello", "key": "askgraph_…"}`. The server sends the events of each question
(see `askgraph.server.runs.events`), and `{"event": "problem", …}` for what it cannot do.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from askgraph.errors import AskgraphError, SetupError
from askgraph.server.auth import Principal
from askgraph.server.auth.identify import credentials_of
from askgraph.server.hub import Hub
from askgraph.server.problems import Problem, faults_in_words, problem_of
from askgraph.server.runs import AskBody, ChooseBody
from askgraph.server.runs.events import Event
from askgraph.server.runs.replies import chosen

router = APIRouter(prefix="/api/v1")
_LARGEST = 256 * 1024  # characters of a message
_AT_ONCE = 32  # questions of one connection


@router.websocket("/socket")
async def socket(connection: WebSocket) -> None:
    """Hold a conversation; each question begins a session, unless it names one."""
    await _Conversation(connection, None).hold()


@router.websocket("/sessions/{id}/socket")
async def session_socket(connection: WebSocket, id: str) -> None:
    """Hold a conversation in a session."""
    await _Conversation(connection, id).hold()


@dataclass(eq=False)
class _Conversation:
    connection: WebSocket
    session: str | None
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    key: str | None = None

    @property
    def hub(self) -> Hub:
        hub: Hub = self.connection.app.state.hub
        return hub

    async def hold(self) -> None:
        """Answer messages until the client goes; then nobody listens to its questions any more."""
        await self.connection.accept()
        try:
            while (sent := await self.connection.receive())["type"] != "websocket.disconnect":
                try:
                    await self._answer(_message(sent.get("text") or sent.get("bytes") or ""))
                except AskgraphError as error:
                    await self._say_problem(problem_of(error))
        except WebSocketDisconnect:
            pass
        finally:
            for task in self.tasks:
                task.cancel()
            if self.tasks:
                await asyncio.wait(self.tasks)

    async def _answer(self, message: Mapping[str, Any]) -> None:
        kind, content = message["type"], {k: v for k, v in message.items() if k != "type"}
        if kind == "hello":
            self.key = str(content.get("key", ""))
            caller = await self._known()
            await self.connection.send_json({"event": "hello", "name": caller.name})
            return
        caller = await self._known()
        caller.check("ask")
        match kind:
            case "ask":
                self._check_room()
                given = {"session": self.session, **content} if self.session else content
                run = await self.hub.ask(_body(AskBody, given), caller)
                self._begin(self._tell(self.hub.runs.read(run)))
            case "cancel":
                await self.hub.records.own(_id(content), caller)
                await self.hub.runs.cancel(_id(content))
            case "listen":
                self._check_room()
                await self.hub.records.row(_id(content), caller)
                after = content.get("after", -1)
                follow = self.hub.runs.follow(
                    _id(content), caller, after if isinstance(after, int) else -1
                )
                self._begin(self._tell(follow))
            case "choose":
                body = _body(ChooseBody, {"option": content.get("option")})
                view = await chosen(self.hub, _id(content), body.option, caller)
                await self.connection.send_json(
                    {"event": "outcome", "id": view.id, "seq": 0, "run": view.model_dump()}
                )
            case _:
                raise SetupError(
                    f"there is no message of type {kind!r}: send hello, ask, cancel, listen or "
                    "choose"
                )

    def _check_room(self) -> None:
        if len(self.tasks) >= _AT_ONCE:
            raise SetupError(f"this connection has {_AT_ONCE} questions under way already")

    def _begin(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _tell(self, events: AsyncGenerator[Event, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    await self.connection.send_json(event)
        except AskgraphError as error:
            await self._say_problem(problem_of(error))
        except (WebSocketDisconnect, RuntimeError):
            return  # the client went; `hold` ends the rest

    async def _say_problem(self, problem: Problem) -> None:
        await self.connection.send_json(
            {"event": "problem", "problem": problem.model_dump(exclude_none=True)}
        )

    async def _known(self) -> Principal:
        """The caller; looked up for each message, which counts, since a key may be revoked."""
        caller = await self.hub.accounts.identify(credentials_of(self.connection, key=self.key))
        await self.hub.accounts.admit(caller)
        return caller


def _message(text: str | bytes) -> Mapping[str, Any]:
    if len(text) > _LARGEST:
        raise SetupError(f"the message has {len(text):,} characters; {_LARGEST:,} are the most")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SetupError(f"the message is no JSON, or too deep: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise SetupError(
            'a message is an object with a "type", as {"type": "ask", "question": "…"}'
        )
    return message


def _body(kind: Any, content: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise SetupError(faults_in_words(error, list(kind.model_fields))) from error


def _id(content: Mapping[str, Any]) -> str:
    id = content.get("id")
    if not isinstance(id, str) or not id.isascii() or not id.isprintable():
        raise SetupError('the message needs an "id": that of a question')
    return id
