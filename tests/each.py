"""A test of many rows that is one case: what is costly is set up once, every failure is told."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

Test = Callable[..., Any]


def for_each(
    names: str | Sequence[str], *rows: Any, share_folder: bool = False
) -> Callable[[Test], Test]:
    """Run the test with each row in turn and report every row that fails.

    `names` and `rows` are those of `pytest.mark.parametrize`; a single row holds all. A failed
    assertion lets the other rows run; any other error ends the test. Each row has its own patches
    as `monkeypatch`, and its own folder as `tmp_path`, but with `share_folder` that of the test.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if len(keys) > 1 else (row,) for row in (rows if len(rows) > 1 else rows[0])]
    assert table, f"no rows of {names}"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(*self: Any, **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for at, row in enumerate(table):
                case = dict(zip(keys, row, strict=True))
                with _row_of(fixtures, failures, at, case, share_folder) as given:
                    test(*self, **given)
            _report(failures, len(table))

        @wraps(test)
        async def run_async(*self: Any, **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for at, row in enumerate(table):
                case = dict(zip(keys, row, strict=True))
                with _row_of(fixtures, failures, at, case, share_folder) as given:
                    await test(*self, **given)
            _report(failures, len(table))

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in keys]
        wrapper: Any = run_async if inspect.iscoroutinefunction(test) else run
        number = wrapper.number_of_rows = len(table) * getattr(test, "number_of_rows", 1)
        wrapper.pytestmark = [
            *(mark for mark in getattr(test, "pytestmark", ()) if mark.name != "timeout"),
            pytest.mark.timeout(300 + 5 * number).mark,
        ]
        wrapper.__signature__ = signature.replace(parameters=left)
        return wrapper  # type: ignore[no-any-return]

    return decorate


@contextmanager
def _row_of(
    fixtures: dict[str, Any],
    failures: list[BaseException],
    at: int,
    row: dict[str, Any],
    shared: bool,
) -> Iterator[dict[str, Any]]:
    """Give the arguments of one row; keep its failed assertion, name the row in any error."""
    given = {**fixtures, **row}
    patch = pytest.MonkeyPatch()
    if not shared and isinstance(folder := fixtures.get("tmp_path"), Path):
        given["tmp_path"] = folder / str(at)
        given["tmp_path"].mkdir()
    if "monkeypatch" in fixtures:
        given["monkeypatch"] = patch
    try:
        yield given
    except (AssertionError, pytest.fail.Exception) as failure:
        failure.add_note(f"row {at}: {_shortened(row)}")
        failures.append(failure)
    except BaseException as error:
        error.add_note(f"row {at}: {_shortened(row)}")
        raise
    finally:
        patch.undo()


def _shortened(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={str(value)[:200]!r}" for name, value in row.items())


def _report(failures: list[BaseException], number: int) -> None:
    match failures:
        case []:
            return
        case [failure]:
            raise failure
    raise BaseExceptionGroup(f"{len(failures)} of {number} rows fail", failures)
