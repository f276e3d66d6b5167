"""An endpoint that writes down what another one answers, and gives the same again without it."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from askgraph import errors
from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, SetupError
from askgraph.sparql.result_formats import Result, from_json, to_json
from askgraph.sparql.results import GraphResult, SelectResult

__all__ = ["RecordedEndpoint"]

Kind = TypeVar("Kind", SelectResult, GraphResult, bool)
_ERRORS = {name: getattr(errors, name) for name in errors.__all__}


class RecordedEndpoint:
    """With `inner`, asks it and adds each answer or error to the file; without, answers from it.

    The file has one JSON line for the address and one an answer: queries, results and errors, and
    no credentials. A query asked twice is answered in the order recorded, the last answer stays.
    """

    def __init__(self, path: Path | str, inner: Endpoint | None = None) -> None:
        self._path = Path(path)
        self._inner = inner
        self._answers: dict[str, list[dict[str, Any]]] = {}
        if inner:
            self._address = inner.address
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if not self._path.exists():
                self._add({"address": inner.address})
        else:
            self._address = self._load()

    @property
    def address(self) -> str:
        """The address of the endpoint that was asked."""
        return self._address

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query, or repeat its answer."""
        return await self._answer(
            "SELECT",
            query,
            limit,
            SelectResult,
            lambda inner: inner.select(query, timeout=timeout, limit=limit),
        )

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query, or repeat its answer."""
        return await self._answer(
            "ASK", query, None, bool, lambda inner: inner.ask(query, timeout=timeout)
        )

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query, or repeat its answer."""
        return await self._answer(
            "CONSTRUCT",
            query,
            limit,
            GraphResult,
            lambda inner: inner.construct(query, timeout=timeout, limit=limit),
        )

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query, or repeat its answer."""
        return await self._answer(
            "DESCRIBE",
            query,
            limit,
            GraphResult,
            lambda inner: inner.describe(query, timeout=timeout, limit=limit),
        )

    async def close(self) -> None:
        """Close the endpoint that is asked."""
        if self._inner:
            await self._inner.close()

    async def _answer(
        self,
        form: str,
        query: str,
        limit: int | None,
        kind: type[Kind],
        ask: Callable[[Endpoint], Awaitable[Kind]],
    ) -> Kind:
        entry = {"form": form, "query": query, "limit": limit}
        if self._inner is None:
            result = self._repeated(entry)
            if not isinstance(result, kind):
                raise SetupError(f"the recording {self._path} is damaged")
            return result
        try:
            result = await ask(self._inner)
        except AskgraphError as problem:
            self._add({**entry, "error": type(problem).__name__, "message": str(problem)})
            raise
        self._add({**entry, "result": to_json(result)})
        return result

    def _repeated(self, entry: dict[str, Any]) -> Result:
        answers = self._answers.get(_key(entry))
        if not answers:
            query = " ".join(entry["query"].split())
            raise SetupError(
                f"the recording {self._path} has no answer to this {entry['form']} query: record it"
                f" again ({query[:200]})"
            )
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if "error" in answer:
            error: AskgraphError = _ERRORS[answer["error"]](answer["message"])
            raise error
        return from_json(answer["result"])

    def _add(self, entry: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as to:
            to.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def _load(self) -> str:
        """Read the file; return the address that it is of."""
        address = ""
        try:
            lines = self._path.read_text(encoding="utf-8").strip().split("\n")
        except (OSError, ValueError) as problem:
            raise SetupError(f"the recording {self._path} cannot be read: {problem}") from problem
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if "address" in entry:
                    address = entry["address"]
                else:
                    self._answers.setdefault(_key(entry), []).append(entry)
            except (ValueError, KeyError, TypeError) as problem:
                place = f"{self._path}, line {number}"
                raise SetupError(f"the recording is damaged: {place}") from problem
        return address


def _key(entry: dict[str, Any]) -> str:
    return json.dumps([entry["form"], entry["query"].strip(), entry["limit"]])
