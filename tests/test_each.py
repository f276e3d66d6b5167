"""A test of many rows fails for each row that fails, and says which."""

import asyncio
from pathlib import Path

import pytest
from tests.each import for_each


def test_every_row_that_fails_is_reported() -> None:
    seen = []

    @for_each(("number", "square"), (2, 4), (3, 8), (4, 15))
    def squares(number: int, square: int) -> None:
        seen.append(number)
        assert number**2 == square

    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows fail") as caught:
        squares()
    assert seen == [2, 3, 4]
    notes = [error.__notes__ for error in caught.value.exceptions]
    assert notes == [["row 1: number='3', square='8'"], ["row 2: number='4', square='15'"]]


def test_an_error_ends_the_test_at_its_row() -> None:
    @for_each("text", ["1", "one", "2"])
    def parse(text: str) -> None:
        int(text)

    with pytest.raises(ValueError) as caught:
        parse()
    assert caught.value.__notes__ == ["row 1: text='one'"]


def test_asynchronous_tests_fail_too() -> None:
    @for_each("number", [1, 2])
    async def is_one(number: int) -> None:
        await asyncio.sleep(0)
        assert number == 1

    with pytest.raises(AssertionError):
        asyncio.run(is_one())


@for_each("name", ["a", "b"])
def test_each_row_has_a_folder_and_patches_of_its_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not list(tmp_path.iterdir()) and not hasattr(pytest, "of_a_row")
    (tmp_path / name).touch()
    monkeypatch.setattr(pytest, "of_a_row", name, raising=False)


def test_no_rows_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no rows of name"):
        for_each("name", [])
