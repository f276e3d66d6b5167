"""An endpoint that records the answers of another one, and replays them without it."""

import json
from pathlib import Path
from typing import Any

from askgraph import errors
from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.errors import AskgraphError, SetupError
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.results import Result, from_json, to_json

__all__ = ["RecordedEndpoint"]

_ERRORS = {name: getattr(errors, name) for name in errors.__all__}


class RecordedEndpoint(EndpointWrapper):
    """With `inner`, adds each of its answers and errors to the file; without, replays the file.

    The file has one JSON line for the address and one for each answer: queries, results and errors,
    without credentials. A repeated query gets its answers in the recorded order; the last answer is
    repeated.
    """

    def __init__(self, path: Path | str, inner: Endpoint | None = None) -> None:
        self._path = Path(path)
        self._recorded_endpoint = inner
        self._answers: dict[str, list[dict[str, Any]]] = {}
        if inner:
            self._address = inner.address
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if not self._path.exists():
                self._append_entry({"address": inner.address})
        else:
            self._address = ""
            try:
                lines = self._path.read_text(encoding="utf-8").strip().split("\n")
            except (OSError, ValueError) as problem:
                raise SetupError(
                    f"the recording {self._path} cannot be read: {problem}"
                ) from problem
            for number, line in enumerate(lines, 1):
                try:
                    entry = json.loads(line)
                    if "address" in entry:
                        self._address = entry["address"]
                    else:
                        self._answers.setdefault(_build_key(entry), []).append(entry)
                except (ValueError, KeyError, TypeError) as problem:
                    position = f"{self._path}, line {number}"
                    raise SetupError(f"the recording is damaged: {position}") from problem

    @property
    def address(self) -> str:
        """The address of the recorded endpoint."""
        return self._address

    async def close(self) -> None:
        """Close the recorded endpoint."""
        if self._recorded_endpoint:
            await self._recorded_endpoint.close()

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        entry = {"form": request.form, "query": request.query, "limit": request.limit}
        if self._recorded_endpoint is None:
            result = self._replay(entry)
            if not isinstance(result, kind):
                raise SetupError(f"the recording {self._path} is damaged: record it again")
            return result
        try:
            result = await run(self._recorded_endpoint, request.query, request.timeout)
        except AskgraphError as problem:
            self._append_entry({**entry, "error": type(problem).__name__, "message": str(problem)})
            raise
        self._append_entry({**entry, "result": to_json(result)})
        return result

    def _replay(self, entry: dict[str, Any]) -> Result:
        answers = self._answers.get(_build_key(entry))
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

    def _append_entry(self, entry: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _build_key(entry: dict[str, Any]) -> str:
    return json.dumps([entry["form"], entry["query"].strip(), entry["limit"]])
