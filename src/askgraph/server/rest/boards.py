"""Boards: pinned answers, brought up to date by their queries, compared, shared to be read."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from askgraph.errors import AskgraphError, SetupError
from askgraph.server.auth import Principal
from askgraph.server.hub import Asker, Hub, HubDep
from askgraph.server.problems import Missing, Problem, problem_of
from askgraph.server.runs import AnswerView, Body, Cell, ShareBody, answer_view
from askgraph.server.runs.replies import answer_query
from askgraph.server.store.tables import BoardRow, PinRow, new_id, now
from askgraph.server.store.tables import boards as boards_table

_Row = Sequence[Cell | None]


class RowChange(BaseModel):
    """A row that is new, or has other values than before."""

    row: int = Field(description="Its place in the answer, from 0.")
    was: list[Cell | None] | None = Field(description="Its cells before; null if it is new.")


class ChangesView(BaseModel):
    """What differs between an answer and the one that its owner saw last."""

    added: int = Field(description="Rows that are new.")
    gone: int = Field(description="Rows that are no more.")
    changed: int = Field(description="Rows of the same thing with other values.")
    total: int = Field(description="The number of rows before.")
    rows: list[RowChange] = Field(description="The rows that are new, or changed.")
    lost: list[list[Cell | None]] = Field(description="The rows that are no more.")
    boolean: bool | None = Field(None, description="The yes or no before.")
    partly: bool = Field(
        False, description="Whether only the rows that were kept were compared, not all."
    )


def changes_of(before: AnswerView, after: AnswerView) -> ChangesView:
    """Return what differs between an answer and an earlier one of the same query.

    Rows that only moved are the same. A row is the same with other values if what names it is: the
    column of which each row has another value, things before texts and numbers.
    """
    if after.boolean is not None or before.boolean is not None:
        return ChangesView(
            added=0,
            gone=0,
            changed=int(after.boolean != before.boolean),
            total=before.total,
            rows=[],
            lost=[],
            boolean=before.boolean,
        )
    lost = _find_missing(before.cells, after.cells)
    new = _find_missing(after.cells, before.cells)
    was = _match_changed(before, after, lost, new)
    changed = set(was.values())
    return ChangesView(
        added=len(new) - len(was),
        gone=len(lost) - len(was),
        changed=len(was),
        total=before.total,
        rows=[
            RowChange(row=at, was=list(before.cells[was[at]]) if at in was else None) for at in new
        ],
        lost=[list(before.cells[at]) for at in lost if at not in changed],
        partly=any(one.total > len(one.cells) for one in (before, after)),
    )


def _find_missing(rows: Sequence[_Row], others: Sequence[_Row]) -> list[int]:
    """The places of the rows that are not among others, as often as they are there."""
    there = Counter(tuple(map(_to_key, row)) for row in others)
    found = []
    for at, row in enumerate(rows):
        key = tuple(map(_to_key, row))
        if there[key]:
            there[key] -= 1
        else:
            found.append(at)
    return found


def _match_changed(
    before: AnswerView, after: AnswerView, lost: Sequence[int], new: Sequence[int]
) -> dict[int, int]:
    """For each new row that was there with other values, its place before."""
    if before.columns != after.columns:
        return {}
    if before.total == after.total == len(lost) == len(new) == 1:
        return {new[0]: lost[0]}
    naming = _find_naming(before.cells, after.cells)
    if naming is None:
        return {}
    named = defaultdict(list)
    for at in reversed(lost):
        named[_to_key(before.cells[at][naming])].append(at)
    found = {}
    for at in new:
        if same := named[_to_key(after.cells[at][naming])]:
            found[at] = same.pop()
    return found


def _find_naming(before: Sequence[_Row], after: Sequence[_Row]) -> int | None:
    """The column that names the rows: each of them has another value there."""
    width = len(before[0]) if before and after else 0

    def names(at: int) -> bool:
        return all(
            all(row[at] for row in rows) and len({_to_key(row[at]) for row in rows}) == len(rows)
            for rows in (before, after)
        )

    def rank(at: int) -> bool:
        return any(
            cell is not None and cell.type != "iri" for cell in (before[0][at], after[0][at])
        )

    return next((at for at in sorted(range(width), key=rank) if names(at)), None)


def _to_key(cell: Cell | None) -> tuple[object, ...] | None:
    """What makes a term the same; names of blank nodes are others each time."""
    if cell is None:
        return None
    if cell.type == "blank":
        return ("blank",)
    return (cell.type, cell.value, cell.datatype, cell.language)


router = APIRouter(prefix="/api/v1", tags=["boards"])

_BOARDS = 100  # of one caller
_PINS = 50  # of one board
_ROWS = 500  # of an answer that are kept, and compared
_TOGETHER = 4  # pins that are brought up to date at once


class BoardBody(Body):
    """The title of a board."""

    title: str = Field(min_length=1, max_length=200)


class Shown(Body):
    """How the page shows an answer."""

    view: Literal["card", "table", "chart", "map", "graph"] | None = Field(
        None, description="Null: the one that says most."
    )
    chart: str | None = Field(None, max_length=1000, description="Which chart, by its columns.")


class PinBody(Body):
    """The answer of a run, to be pinned."""

    run: str = Field(min_length=1, max_length=64)
    title: str = Field("", max_length=400, description="Its heading; empty: the question.")
    shown: Shown = Field(default_factory=Shown)


class PinChange(Body):
    """Another heading, view or place of a pin; what is left out stays as it is."""

    title: str | None = Field(None, max_length=400)
    shown: Shown | None = None
    place: int | None = Field(None, ge=0, le=1000, description="From 0.")


class BoardSummary(BaseModel):
    """A board."""

    id: str
    title: str
    shared: bool = Field(description="Whether others who have its address may read it.")
    created: str = Field(description="A time in UTC (ISO 8601).")
    changed: str
    pins: int = Field(description="How many answers are pinned to it.")


class BoardsView(BaseModel):
    """The caller's boards, the one changed last first."""

    boards: list[BoardSummary]


class PinView(BaseModel):
    """An answer on a board."""

    id: str
    title: str
    question: str
    graph: str
    query: str
    language: str | None
    run: str | None = Field(description="The caller's run that it was pinned from, if there still.")
    shown: Shown
    answer: AnswerView = Field(description="The latest that is known.")
    checked: str = Field(description="When its query gave that (ISO 8601, UTC).")
    seen: str = Field(description="The time of the answer that the owner saw last.")
    changes: ChangesView | None = Field(description="What changed since; null if nothing did.")
    problem: Problem | None = Field(None, description="Why it could not be brought up to date.")


class BoardView(BoardSummary):
    """A board with its pins, in their order."""

    mine: bool = Field(description="Whether it is the caller's, who alone may change it.")
    hidden: int = Field(description="Pins of graphs that the caller may not ask.")
    content: list[PinView]


@router.get("/boards")
async def boards(hub: HubDep, caller: Asker) -> BoardsView:
    """Return the caller's boards, the one changed last first; none without key and cookie."""
    rows = await hub.store.boards(caller.id) if caller.has_history else []
    return BoardsView(boards=[BoardSummary.model_validate(vars(row)) for row in rows])


@router.post("/boards", status_code=201)
async def begin(body: BoardBody, hub: HubDep, caller: Asker) -> BoardView:
    """Begin a board."""
    if not caller.has_history:
        raise SetupError("a board is its owner's: send an API key, or the cookie that the page has")
    row = BoardRow(new_id(), caller.id, body.title)
    if not await hub.store.add_board(row, at_most=_BOARDS):
        raise SetupError(f"you have {_BOARDS} boards, and no more may be: delete one first")
    return await _load_view(hub, row.id, caller)


@router.get("/boards/{id}")
async def one(id: str, hub: HubDep, caller: Asker) -> BoardView:
    """Return a board as it was last; no query is run."""
    return await _load_view(hub, id, caller)


@router.patch("/boards/{id}")
async def rename(id: str, body: BoardBody, hub: HubDep, caller: Asker) -> BoardView:
    """Give a board another title."""
    await _load_board(hub, id, caller, own=True)
    await hub.store.change(boards_table, id, title=body.title)
    return await _load_view(hub, id, caller)


@router.delete("/boards/{id}", status_code=204)
async def delete(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a board with its pins."""
    await _load_board(hub, id, caller, own=True)
    await hub.store.delete(boards_table, id)


@router.post("/boards/{id}/share")
async def share(id: str, body: ShareBody, hub: HubDep, caller: Asker) -> BoardView:
    """Let others read a board by its address, without what graphs hide from them; or no longer."""
    await _load_board(hub, id, caller, own=True)
    await hub.store.change(boards_table, id, shared=body.shared)
    return await _load_view(hub, id, caller)


@router.post("/boards/{id}/refresh")
async def refresh(id: str, hub: HubDep, caller: Asker) -> BoardView:
    """Run the queries of a board again, and return it with what changed since its owner saw it.

    Each query has the server's limits, counts as a request, and may fail without the others. What
    a reader's refresh gives is not kept.
    """
    board = await _load_board(hub, id, caller)
    pins = await _load_pins(hub, board, caller)
    turns = asyncio.Semaphore(_TOGETHER)

    async def refresh_pin(pin: PinRow) -> tuple[PinRow, Problem | None]:
        async with turns:
            columns = pin.base.get("answer_columns")
            try:
                await hub.accounts.admit(caller)
                async with hub.graphs.lease(pin.graph, caller) as opened:
                    answer = await answer_query(
                        hub,
                        pin.query,
                        opened,
                        languages=[pin.language or "en"],
                        columns=columns if isinstance(columns, list) else (),
                    )
            except AskgraphError as error:
                return pin, problem_of(error)
            view = await asyncio.to_thread(answer_view, answer, limit=_ROWS)
            return replace(pin, latest=view.model_dump(), checked=now()), None

    refreshed = await asyncio.gather(*map(refresh_pin, pins))
    for pin, problem in refreshed:
        if problem is None and board.owner == caller.id:
            await hub.store.put_latest(pin.id, pin.latest or {}, pin.checked or "")
    problems = {pin.id: problem for pin, problem in refreshed if problem}
    return await _to_view(hub, board, [pin for pin, _ in refreshed], caller, problems)


@router.post("/boards/{id}/seen")
async def seen(id: str, hub: HubDep, caller: Asker) -> BoardView:
    """Take the latest answers of a board as seen: later ones are compared with them."""
    await _load_board(hub, id, caller, own=True)
    await hub.store.accept_latest(id)
    return await _load_view(hub, id, caller)


@router.post("/boards/{id}/pins", status_code=201)
async def pin(id: str, body: PinBody, hub: HubDep, caller: Asker) -> BoardView:
    """Pin the answer of a run to the end of a board."""
    await _load_board(hub, id, caller, own=True)
    run = await hub.records.row(body.run, caller)
    answer = run.answer or {}
    graph, query = answer.get("graph"), answer.get("sparql")
    if not isinstance(graph, str) or not isinstance(query, str):
        raise SetupError(f"{run.question!r} came to no query: there is nothing to pin")
    lists = {name: answer.get(name) for name in ("rows", "cells")}
    kept = {name: rows[:_ROWS] for name, rows in lists.items() if isinstance(rows, list)}
    row = PinRow(
        new_id(),
        id,
        run.question,
        graph,
        query,
        {**answer, **kept},  # as many rows as a board keeps
        title=body.title,
        language=run.language,
        run=run.id,
        shown=body.shown.model_dump(exclude_none=True),
        seen=run.finished or now(),
    )
    if not await hub.store.add_pin(row, at_most=_PINS):
        raise SetupError(f"a board holds {_PINS} answers: remove one, or begin another board")
    return await _load_view(hub, id, caller)


@router.patch("/boards/{id}/pins/{pin}")
async def change(id: str, pin: str, body: PinChange, hub: HubDep, caller: Asker) -> BoardView:
    """Give a pin another heading, view or place."""
    await _load_board(hub, id, caller, own=True)
    values: dict[str, object] = {}
    if body.title is not None:
        values["title"] = body.title
    if body.shown is not None:
        values["shown"] = body.shown.model_dump(exclude_none=True)
    there = not values or await hub.store.change_pin(id, pin, **values)
    if there and body.place is not None:
        there = await hub.store.move_pin(id, pin, body.place)
    if not there:
        raise _no_pin(pin)
    return await _load_view(hub, id, caller)


@router.delete("/boards/{id}/pins/{pin}", status_code=204)
async def unpin(id: str, pin: str, hub: HubDep, caller: Asker) -> None:
    """Remove a pin from a board."""
    await _load_board(hub, id, caller, own=True)
    if not await hub.store.delete_pin(id, pin):
        raise _no_pin(pin)


async def _load_view(hub: Hub, id: str, caller: Principal) -> BoardView:
    board = await _load_board(hub, id, caller)
    return await _to_view(hub, board, await _load_pins(hub, board, caller), caller, {})


async def _to_view(
    hub: Hub,
    board: BoardRow,
    pins: Sequence[PinRow],
    caller: Principal,
    failed: Mapping[str, Problem],
) -> BoardView:
    """A board for a caller: without runs that are not theirs."""
    runs = await hub.store.questions([pin.run for pin in pins if pin.run], caller.id)

    def view(pin: PinRow) -> PinView:
        seen = AnswerView.model_validate(pin.base)
        answer = AnswerView.model_validate(pin.latest) if pin.latest else seen
        changes = changes_of(seen, answer)
        return PinView.model_validate(
            {
                **vars(pin),
                "run": pin.run if pin.run in runs else None,
                "answer": answer,
                "checked": pin.checked or pin.seen,
                "changes": changes if changes.added or changes.gone or changes.changed else None,
                "problem": failed.get(pin.id),
            }
        )

    views = await asyncio.to_thread(lambda: [view(pin) for pin in pins])
    about = {**vars(board), "hidden": board.pins - len(pins), "mine": board.owner == caller.id}
    return BoardView.model_validate({**about, "content": views})


async def _load_board(hub: Hub, id: str, caller: Principal, *, own: bool = False) -> BoardRow:
    """A board that the caller may read or, if it has to be their own, change."""
    board = await hub.store.board(id)
    if board is not None:
        may_read = board.shared or caller.may("admin")
        if board.owner == caller.id or (may_read and not own):
            return board
    raise Missing(f"there is no board {id!r}, or it is not yours")


async def _load_pins(hub: Hub, board: BoardRow, caller: Principal) -> list[PinRow]:
    """The pins of a board that are of graphs which the caller sees."""
    return [pin for pin in await hub.store.pins(board.id) if caller.sees(pin.graph)]


def _no_pin(id: str) -> Missing:
    return Missing(f"there is no pin {id!r} on this board")
