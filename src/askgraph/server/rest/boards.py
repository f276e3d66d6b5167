"""Boards: pinned answers, refreshed by their queries, compared, and shared read-only."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from askgraph import sample
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.errors import AskgraphError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import select_largest_classes
from askgraph.server.auth import Principal
from askgraph.server.hub import Asker, Hub, HubDep, Manager
from askgraph.server.problems import NotFound, Problem, to_problem
from askgraph.server.rest import IndexedGraph, LanguageQueryParameter
from askgraph.server.rest.graphs import (
    StarterAnswers,
    answer_starters,
    get_starters_key,
    list_questions,
)
from askgraph.server.rest.profile import DiagramClassView, build_diagram_view
from askgraph.server.runs import (
    AnswerView,
    CellView,
    Language,
    RequestBody,
    ShareBody,
    to_answer_view,
)
from askgraph.server.runs.replies import answer_query
from askgraph.server.store.tables import BoardRow, PinRow, generate_id, get_timestamp
from askgraph.server.store.tables import boards as boards_table
from askgraph.workspace import Workspace

_RowCells = Sequence[CellView | None]


class RowChange(BaseModel):
    """A new row, or a row with changed values."""

    row: int = Field(description="Its position in the answer, from 0.")
    was: list[CellView | None] | None = Field(description="Its cells before; null if it is new.")


class ChangesView(BaseModel):
    """The differences between an answer and the one that its owner saw last."""

    added: int = Field(description="Rows that are new.")
    gone: int = Field(description="Rows that are gone.")
    changed: int = Field(description="Rows of the same thing with other values.")
    total: int = Field(description="The number of rows before.")
    rows: list[RowChange] = Field(description="The rows that are new, or changed.")
    lost: list[list[CellView | None]] = Field(description="The rows that are gone.")
    boolean: bool | None = Field(None, description="The yes or no before.")
    partly: bool = Field(False, description="Whether only the stored rows were compared, not all.")


def compare_answers(before: AnswerView, after: AnswerView) -> ChangesView:
    """Compare an answer with an earlier one of the same query.

    Moved rows are unchanged. A row counts as changed, not as lost and new, if it has the same value
    in the key column: a column without repeated values, IRIs before literals.
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
    lost_indices = _find_missing(before.cells, after.cells)
    new_indices = _find_missing(after.cells, before.cells)
    old_by_new = _match_changed(before, after, lost_indices, new_indices)
    changed = set(old_by_new.values())
    return ChangesView(
        added=len(new_indices) - len(old_by_new),
        gone=len(lost_indices) - len(old_by_new),
        changed=len(old_by_new),
        total=before.total,
        rows=[
            RowChange(
                row=index,
                was=list(before.cells[old_by_new[index]]) if index in old_by_new else None,
            )
            for index in new_indices
        ],
        lost=[list(before.cells[index]) for index in lost_indices if index not in changed],
        partly=any(answer.total > len(answer.cells) for answer in (before, after)),
    )


def _find_missing(rows: Sequence[_RowCells], other_rows: Sequence[_RowCells]) -> list[int]:
    """Return the indices of rows that are not in `other_rows`, with multiplicity."""
    counts = Counter(tuple(map(_to_key, row)) for row in other_rows)
    indices = []
    for index, row in enumerate(rows):
        key = tuple(map(_to_key, row))
        if counts[key]:
            counts[key] -= 1
        else:
            indices.append(index)
    return indices


def _match_changed(
    before: AnswerView, after: AnswerView, lost_indices: Sequence[int], new_indices: Sequence[int]
) -> dict[int, int]:
    """Map the indices of new rows to the indices of the old rows with the same key."""
    if before.columns != after.columns:
        return {}
    if before.total == after.total == len(lost_indices) == len(new_indices) == 1:
        return {new_indices[0]: lost_indices[0]}
    # The index of the column that identifies rows: no value repeats; None if none does.
    width = len(before.cells[0]) if before.cells and after.cells else 0

    def is_key(column: int) -> bool:
        return all(
            all(row[column] for row in rows)
            and len({_to_key(row[column]) for row in rows}) == len(rows)
            for rows in (before.cells, after.cells)
        )

    def has_literal(column: int) -> bool:
        return any(
            cell is not None and cell.type != "iri"
            for cell in (before.cells[0][column], after.cells[0][column])
        )

    key_column = next(
        (column for column in sorted(range(width), key=has_literal) if is_key(column)), None
    )
    if key_column is None:
        return {}
    old_by_key = defaultdict(list)
    for index in reversed(lost_indices):
        old_by_key[_to_key(before.cells[index][key_column])].append(index)
    matches = {}
    for index in new_indices:
        if candidates := old_by_key[_to_key(after.cells[index][key_column])]:
            matches[index] = candidates.pop()
    return matches


def _to_key(cell: CellView | None) -> tuple[object, ...] | None:
    """Return a key that is equal for equal terms; labels of blank nodes differ between results."""
    if cell is None:
        return None
    if cell.type == "blank":
        return ("blank",)
    return (cell.type, cell.value, cell.datatype, cell.language)


router = APIRouter(prefix="/api/v1", tags=["boards"])

_MAX_BOARDS = 100  # of one caller
_MAX_PINS = 50  # of one board
_MAX_ROWS = 500  # rows of an answer that are stored and compared
_MAX_PARALLEL_REFRESHES = 4  # pins that are brought up to date at once
_MAX_TILES = 4  # questions on the board of a graph, besides those of a map and of a line of time
_PICTURE_VIEWS = {"start map": "map", "start year": "chart"}
"""Kinds of questions that are shown in one view, with that view."""


class BoardBody(RequestBody):
    """The title of a board."""

    title: str = Field(min_length=1, max_length=200)


class NewBoardBody(BoardBody):
    """A new board: empty, or made of a graph."""

    graph: str = Field("", max_length=200, description="The graph whose board it becomes.")
    language: Language = "en"


class AnswerDisplay(RequestBody):
    """How the page displays an answer."""

    view: Literal["card", "table", "chart", "map", "graph"] | None = Field(
        None, description="Null: the most informative one."
    )
    chart: str | None = Field(None, max_length=1000, description="Which chart, by its columns.")


class PinBody(RequestBody):
    """The answer of a run, to be pinned."""

    run: str = Field(min_length=1, max_length=64)
    title: str = Field("", max_length=400, description="Its heading; empty: the question.")
    shown: AnswerDisplay = Field(default_factory=AnswerDisplay)


class PinChangeBody(RequestBody):
    """Another title, view or position of a pin; omitted fields stay unchanged."""

    title: str | None = Field(None, max_length=400)
    shown: AnswerDisplay | None = None
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
    run: str | None = Field(description="The caller's run that it was pinned from, if it exists.")
    shown: AnswerDisplay
    answer: AnswerView = Field(description="The latest known answer.")
    checked: str = Field(description="When its query returned that answer (ISO 8601, UTC).")
    seen: str = Field(description="The time of the answer that the owner saw last.")
    changes: ChangesView | None = Field(description="What changed since; null if nothing did.")
    problem: Problem | None = Field(None, description="Why the last update failed.")


class BoardView(BoardSummary):
    """A board with its pins, in their order."""

    mine: bool = Field(description="Whether it is the caller's, who alone may change it.")
    hidden: int = Field(description="Pins of graphs that the caller may not ask.")
    content: list[PinView]


class GraphBoardView(BoardView):
    """A board made of a graph; it has no id, for it is not stored."""

    classes: list[DiagramClassView] = Field(description="The largest classes.")
    total_classes: int
    questions: list[str] = Field(description="Further questions to start with.")


@router.get("/graphs/{graph}/board")
async def get_graph_board(
    opened: IndexedGraph, hub: HubDep, caller: Asker, language: LanguageQueryParameter = "en"
) -> GraphBoardView:
    """Return a board of a graph's first questions with their answers; nothing is stored."""
    has_older_answers = get_starters_key(opened, language) in hub.starters
    return await _build_graph_board(hub, opened, caller, language, refresh=has_older_answers)


@router.get("/sample/board")
async def get_sample_board(
    hub: HubDep, caller: Manager, language: LanguageQueryParameter = "en"
) -> GraphBoardView:
    """Return the board of the sample graph, which the caller may add; nothing is stored.

    A temporary workspace answers its questions once; the graph is not added.
    """
    language = load_phrases(language).language
    async with hub.sample_lock:
        board = hub.sample_boards.get(language)
        if board is None:
            with TemporaryDirectory(prefix="askgraph-sample-") as folder:
                view = await _build_sample_board(hub, Path(folder), caller, language)
            board = hub.sample_boards[language] = view.model_dump()
    return GraphBoardView.model_validate(board)


async def _build_sample_board(
    hub: Hub, folder: Path, caller: Principal, language: str
) -> GraphBoardView:
    workspace = Workspace(folder)
    await asyncio.to_thread(workspace.add, "space", [sample.graph_path()])
    graph = await asyncio.to_thread(workspace.graph, "space")
    try:
        return await _build_graph_board(hub, graph, caller, language)
    finally:
        await graph.endpoint.close()


@router.get("/boards")
async def list_boards(hub: HubDep, caller: Asker) -> BoardsView:
    """Return the caller's boards, latest change first; none without a key or cookie."""
    rows = await hub.store.list_boards(caller.id) if caller.has_history else []
    return BoardsView(boards=[BoardSummary.model_validate(vars(row)) for row in rows])


@router.post("/boards", status_code=201)
async def create_board(body: NewBoardBody, hub: HubDep, caller: Asker) -> BoardView:
    """Create a board, with `graph` one that has its first questions."""
    if not caller.has_history:
        raise SetupError("a board needs an owner: send an API key, or the web page's cookie")
    row = BoardRow(generate_id(), caller.id, body.title)
    pins: Sequence[PinRow] = ()
    if body.graph:
        async with hub.graphs.lease(body.graph, caller, with_indices=True) as graph:
            starters = await answer_starters(hub, graph, body.language)
        pins = await asyncio.to_thread(_create_pins, starters, row.id, body.graph, body.language)
    if not await hub.store.add_board(row, limit=_MAX_BOARDS):
        raise SetupError(f"you have {_MAX_BOARDS} boards, the most allowed: delete one first")
    for pin in pins:
        await hub.store.add_pin(pin, limit=_MAX_PINS)
    return await _load_board_view(hub, row.id, caller)


@router.get("/boards/{id}")
async def get_board(id: str, hub: HubDep, caller: Asker) -> BoardView:
    """Return a board with its latest stored answers; no query runs."""
    return await _load_board_view(hub, id, caller)


@router.patch("/boards/{id}")
async def rename_board(id: str, body: BoardBody, hub: HubDep, caller: Asker) -> BoardView:
    """Change the title of a board."""
    await _load_board(hub, id, caller, must_own=True)
    await hub.store.update_row(boards_table, id, title=body.title)
    return await _load_board_view(hub, id, caller)


@router.delete("/boards/{id}", status_code=204)
async def delete_board(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a board with its pins."""
    await _load_board(hub, id, caller, must_own=True)
    await hub.store.delete_row(boards_table, id)


@router.post("/boards/{id}/share")
async def share_board(id: str, body: ShareBody, hub: HubDep, caller: Asker) -> BoardView:
    """Share a board by its address, or stop sharing it; readers see only graphs they may ask."""
    await _load_board(hub, id, caller, must_own=True)
    await hub.store.update_row(boards_table, id, shared=body.shared)
    return await _load_board_view(hub, id, caller)


@router.post("/boards/{id}/refresh")
async def refresh_board(id: str, hub: HubDep, caller: Asker) -> BoardView:
    """Run the queries of a board again, and return it with the changes since its owner saw it.

    Each query has the server's limits, counts as a request, and may fail on its own. The results of
    a reader's refresh are not stored.
    """
    board = await _load_board(hub, id, caller)
    refreshed = await _refresh_pins(hub, await _load_pins(hub, board, caller), caller)
    for pin, problem in refreshed:
        if problem is None and board.owner == caller.id:
            await hub.store.put_latest(pin.id, pin.latest or {}, pin.checked or "")
    problems = {pin.id: problem for pin, problem in refreshed if problem}
    return await _to_board_view(hub, board, [pin for pin, _ in refreshed], caller, problems)


@router.post("/boards/{id}/seen")
async def mark_board_seen(id: str, hub: HubDep, caller: Asker) -> BoardView:
    """Mark the latest answers of a board as seen; later answers are compared with them."""
    await _load_board(hub, id, caller, must_own=True)
    await hub.store.accept_latest(id)
    return await _load_board_view(hub, id, caller)


@router.post("/boards/{id}/pins", status_code=201)
async def create_pin(id: str, body: PinBody, hub: HubDep, caller: Asker) -> BoardView:
    """Pin the answer of a run to the end of a board."""
    await _load_board(hub, id, caller, must_own=True)
    run = await hub.records.load_run(body.run, caller)
    answer = run.answer or {}
    graph, query = answer.get("graph"), answer.get("sparql")
    if not isinstance(graph, str) or not isinstance(query, str):
        raise SetupError(f"{run.question!r} has no query: there is nothing to pin")
    lists = {name: answer.get(name) for name in ("rows", "cells")}
    cut_lists = {name: rows[:_MAX_ROWS] for name, rows in lists.items() if isinstance(rows, list)}
    row = PinRow(
        generate_id(),
        id,
        run.question,
        graph,
        query,
        {**answer, **cut_lists},
        title=body.title,
        language=run.language,
        run=run.id,
        shown=body.shown.model_dump(exclude_none=True),
        seen=run.finished or get_timestamp(),
    )
    if not await hub.store.add_pin(row, limit=_MAX_PINS):
        raise SetupError(
            f"a board can have {_MAX_PINS} answers: remove one, or create another board"
        )
    return await _load_board_view(hub, id, caller)


@router.patch("/boards/{id}/pins/{pin}")
async def change_pin(
    id: str, pin: str, body: PinChangeBody, hub: HubDep, caller: Asker
) -> BoardView:
    """Change the title, view or position of a pin."""
    await _load_board(hub, id, caller, must_own=True)
    values = body.model_dump(include={"title", "shown"}, exclude_none=True)
    is_found = not values or await hub.store.update_pin(id, pin, **values)
    if is_found and body.place is not None:
        is_found = await hub.store.move_pin(id, pin, body.place)
    if not is_found:
        raise _build_missing_pin_error(pin)
    return await _load_board_view(hub, id, caller)


@router.delete("/boards/{id}/pins/{pin}", status_code=204)
async def delete_pin(id: str, pin: str, hub: HubDep, caller: Asker) -> None:
    """Remove a pin from a board."""
    await _load_board(hub, id, caller, must_own=True)
    if not await hub.store.delete_pin(id, pin):
        raise _build_missing_pin_error(pin)


async def _refresh_pins(
    hub: Hub, pins: Sequence[PinRow], caller: Principal
) -> list[tuple[PinRow, Problem | None]]:
    turns = asyncio.Semaphore(_MAX_PARALLEL_REFRESHES)

    async def refresh_pin(pin: PinRow) -> tuple[PinRow, Problem | None]:
        async with turns:
            columns = pin.base.get("answer_columns")
            try:
                await hub.accounts.admit(caller)
                async with hub.graphs.lease(pin.graph, caller) as open_graph:
                    answer = await answer_query(
                        hub,
                        pin.query,
                        open_graph,
                        languages=[pin.language or "en"],
                        columns=columns if isinstance(columns, list) else (),
                    )
            except AskgraphError as error:
                return pin, to_problem(error)
            view = await asyncio.to_thread(to_answer_view, answer, limit=_MAX_ROWS)
            return replace(pin, latest=view.model_dump(), checked=get_timestamp()), None

    return await asyncio.gather(*map(refresh_pin, pins))


def _create_pins(starters: StarterAnswers, board: str, graph: str, language: str) -> list[PinRow]:
    """Create the pins of a graph's board: four questions, then one map and one line of time."""
    pictures = {starter.kind: (starter, answer) for starter, answer in reversed(starters)}
    tiles = [pair for pair in starters if pair[0].kind not in _PICTURE_VIEWS][:_MAX_TILES]
    tiles += [pictures[kind] for kind in _PICTURE_VIEWS if kind in pictures]
    return [
        PinRow(
            generate_id(),
            board,
            starter.text,
            graph,
            answer.query,
            to_answer_view(answer, limit=_MAX_ROWS).model_dump(),
            language=language,
            shown={"view": _PICTURE_VIEWS[starter.kind]} if starter.kind in _PICTURE_VIEWS else {},
        )
        for starter, answer in tiles
    ]


async def _build_graph_board(
    hub: Hub, graph: KnowledgeGraph, caller: Principal, language: str, *, refresh: bool = False
) -> GraphBoardView:
    starters = await answer_starters(hub, graph, language)
    pins = _create_pins(starters, "", graph.name, language)
    refreshed = await _refresh_pins(hub, pins, caller) if refresh else [(pin, None) for pin in pins]
    pins = [
        replace(pin, base=pin.latest or pin.base, latest=None, seen=pin.checked or pin.seen)
        for pin, _ in refreshed
    ]
    problems = {pin.id: problem for pin, problem in refreshed if problem}
    row = BoardRow("", "", graph.name, pins=len(pins))
    board = await _to_board_view(hub, row, pins, caller, problems)
    on_board = {pin.question for pin in pins}
    questions = list_questions(graph, language, starters)
    return GraphBoardView(
        **vars(board),
        classes=build_diagram_view(graph.profile, language).classes,
        total_classes=len(select_largest_classes(graph.profile)),
        questions=[question for question in questions if question not in on_board],
    )


async def _load_board_view(hub: Hub, id: str, caller: Principal) -> BoardView:
    board = await _load_board(hub, id, caller)
    return await _to_board_view(hub, board, await _load_pins(hub, board, caller), caller, {})


async def _to_board_view(
    hub: Hub,
    board: BoardRow,
    pins: Sequence[PinRow],
    caller: Principal,
    problems: Mapping[str, Problem],
) -> BoardView:
    """Convert a board for a caller; runs of others are left out."""
    runs = await hub.store.get_questions([pin.run for pin in pins if pin.run], caller.id)

    def to_pin_view(pin: PinRow) -> PinView:
        last_seen = AnswerView.model_validate(pin.base)
        answer = AnswerView.model_validate(pin.latest) if pin.latest else last_seen
        changes = compare_answers(last_seen, answer)
        return PinView.model_validate(
            {
                **vars(pin),
                "run": pin.run if pin.run in runs else None,
                "answer": answer,
                "checked": pin.checked or pin.seen,
                "changes": changes if changes.added or changes.gone or changes.changed else None,
                "problem": problems.get(pin.id),
            }
        )

    views = await asyncio.to_thread(lambda: [to_pin_view(pin) for pin in pins])
    counts = {"hidden": board.pins - len(pins), "mine": board.owner == caller.id}
    return BoardView.model_validate({**vars(board), **counts, "content": views})


async def _load_board(hub: Hub, id: str, caller: Principal, *, must_own: bool = False) -> BoardRow:
    """Load a board that the caller may read or, with `must_own`, change."""
    board = await hub.store.get_board(id)
    if board is not None:
        may_read = board.shared or caller.has_scope("admin")
        if board.owner == caller.id or (may_read and not must_own):
            return board
    raise NotFound(f"There is no board {id!r} to open. It may be private, or of another browser.")


async def _load_pins(hub: Hub, board: BoardRow, caller: Principal) -> list[PinRow]:
    return [pin for pin in await hub.store.list_pins(board.id) if caller.can_see(pin.graph)]


def _build_missing_pin_error(id: str) -> NotFound:
    return NotFound(f"there is no pin {id!r} on this board")
