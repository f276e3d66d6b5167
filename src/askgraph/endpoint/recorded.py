"""An endpoint that records the answers of another one, and replays them without it."""

import json
from pathlib import Path
from typing import Any

from askgraph import errors
from askgraph.endpoint import Delegating, Endpoint, Kind, Run
from askgraph.errors import AskgraphError, SetupError
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.results import Result, from_json, to_json

__all__ = ["RecordedEndpoint"]

_ERRORS = {name: getattr(errors, name) for name in errors.__all__}


class RecordedEndpoint(Delegating):
    """With `inner`, asks it and adds each answer or error to the file; without, answers from it.

    The file has one JSON line for the address and one an answer: queries, results and errors, and
    no credentials. A query asked twice is answered in the order recorded, the last answer stays.
    """

    def __init__(self, path: Path | str, inner: Endpoint | None = None) -> None:
        self._path = Path(path)
        self._asked = inner
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

    async def close(self) -> None:
        """Close the endpoint that is asked."""
        if self._asked:
            await self._asked.close()

    async def _run(self, asked: EndpointRequest, kind: type[Kind], run: Run[Kind]) -> Kind:
        entry = {"form": asked.form, "query": asked.query, "limit": asked.limit}
        if self._asked is None:
            result = self._repeated(entry)
            if not isinstance(result, kind):
                raise SetupError(f"the recording {self._path} is damaged")
            return result
        try:
            result = await run(self._asked, asked.query, asked.timeout)
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
