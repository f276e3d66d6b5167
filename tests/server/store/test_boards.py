"""Boards and their pins: kept in an order, moved, brought up to date, deleted together."""

from dataclasses import replace

from askgraph.server.store import Store
from askgraph.server.store.tables import BoardRow, PinRow, generate_id

MOONS = PinRow(
    "", "b1", "Which moons does Jupiter have?", "space",
    "SELECT ?moon WHERE { ?moon ?orbits ?jupiter }",
    {"cells": [[{"type": "iri", "value": "e:Ío"}]], "total": 1}, language="en", run="r1",
    shown={"view": "chart"},
)  # fmt: skip


async def board_of(store: Store, *questions: str) -> list[PinRow]:
    """A board of Ann's with a pin for each question."""
    assert await store.add_board(BoardRow("b1", "user:ann", "Moons"), limit=3)
    for question in questions:
        assert await store.add_pin(replace(MOONS, id=generate_id(), question=question), limit=4)
    return await store.list_pins("b1")


async def order(store: Store) -> str:
    return "".join(pin.question for pin in await store.list_pins("b1"))


async def test_the_latest_result_is_beside_what_was_seen_until_it_is_accepted(store: Store) -> None:
    (pin,) = await board_of(store, "A")
    assert await store.accept_latest("b1") == 0
    assert await store.put_latest(pin.id, {"total": 2}, "2026-02-02")
    (now,) = await store.list_pins("b1")
    assert (now.base, now.seen, now.latest, now.checked) == (
        MOONS.base, pin.seen, {"total": 2}, "2026-02-02",
    )  # fmt: skip
    assert await store.accept_latest("b1") == 1
    (now,) = await store.list_pins("b1")
    assert (now.base, now.seen, now.latest, now.checked) == ({"total": 2}, "2026-02-02", None, None)
    assert not await store.put_latest("another", {}, "2026-02-02")


async def test_a_pin_is_read_back_as_it_was_kept(store: Store) -> None:
    (pin,) = await board_of(store, MOONS.question)
    assert pin == replace(MOONS, id=pin.id, seen=pin.seen, created=pin.created)


async def test_pins_are_moved_and_removed_and_the_others_close_up(store: Store) -> None:
    a, b, c, _ = await board_of(store, "A", "B", "C", "D")
    assert await store.move_pin("b1", a.id, 2) and await order(store) == "BCAD"
    assert await store.move_pin("b1", c.id, 0) and await order(store) == "CBAD"
    assert await store.move_pin("b1", c.id, 99) and await order(store) == "BADC"
    assert await store.delete_pin("b1", b.id) and not await store.delete_pin("b1", b.id)
    assert [pin.place for pin in await store.list_pins("b1")] == [0, 1, 2]
    assert not await store.move_pin("b2", a.id, 0) and not await store.delete_pin("b2", a.id)
    assert await order(store) == "ADC"


async def test_no_more_boards_and_pins_are_kept_than_may_be(store: Store) -> None:
    await board_of(store, "A", "B", "C", "D")
    assert not await store.add_pin(replace(MOONS, id="p5"), limit=4)
    assert not await store.add_pin(replace(MOONS, id="p6", board="b9"), limit=4)
    for id, kept in (("b2", True), ("b3", True), ("b4", False)):
        assert await store.add_board(BoardRow(id, "user:ann", id), limit=3) is kept
    assert await store.add_board(BoardRow("b5", "user:bob", "His"), limit=3)


async def test_what_is_shown_of_a_pin_is_changed_on_its_own_board_only(store: Store) -> None:
    (pin,) = await board_of(store, "A")
    assert await store.update_pin("b1", pin.id, title="All moons", shown={"view": "map"})
    assert not await store.update_pin("b2", pin.id, title="taken")
    (now,) = await store.list_pins("b1")
    assert (now.title, now.shown) == ("All moons", {"view": "map"})
