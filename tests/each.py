"""One test over a table: all its rows are tried, and each row that fails is reported."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

__all__ = ["each"]

Test = Callable[..., Any]


def each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Give a test one row of a table after the other; its fixtures serve them all.

    This is `pytest.mark.parametrize` without a set-up, a tear-down and a case for each row.
    Decorators above one another try all their combinations.
    """
    keys = names.replace(",", " ").split() if isinstance(names, str) else names
    table = [dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)) for row in rows]
    assert table, "a test without rows cannot fail"

    def decorate(test: Test) -> Test:
        function, below = getattr(test, "unrolled", (test, [{}]))
        cases = [{**row, **more} for row in table for more in below]
        parameters = inspect.signature(function).parameters
        fixtures = [item for name, item in parameters.items() if name not in cases[0]]

        async def run_async(*self: Any, subtests: pytest.Subtests, **given: Any) -> None:
            for case in cases:
                with subtests.test(**case):
                    await function(*self, **given, **case)

        def run(*self: Any, subtests: pytest.Subtests, **given: Any) -> None:
            for case in cases:
                with subtests.test(**case):
                    function(*self, **given, **case)

        runner: Any = run_async if inspect.iscoroutinefunction(function) else run
        subtests = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        runner.__signature__ = inspect.Signature([*fixtures, subtests])
        runner.__name__, runner.__doc__ = function.__name__, function.__doc__
        runner.__module__, runner.__qualname__ = function.__module__, function.__qualname__
        runner.pytestmark = getattr(function, "pytestmark", [])
        runner.unrolled = (function, cases)
        return runner  # type: ignore[no-any-return]

    return decorate
