"""Whatever the OpenAPI description allows, and what it does not, gives no failure of the server."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis.specs.openapi.schemas  # no server's thread runs: a race of Python 3.11's `ast`
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

Operation = APIOperation[Any, Any, Any, Any]
_SETTINGS = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def operations(served: str) -> list[Operation]:
    described = schemathesis.openapi.from_url(f"{served}/api/v1/openapi.json")
    found = list(described.get_all_operations())
    assert all(isinstance(one, Ok) for one in found)
    return [one.ok() for one in found if isinstance(one, Ok)]


def can_be_wrong(operation: Operation) -> bool:
    """Return whether it takes more than parts of its path that may be any text."""
    return "requestBody" in operation.definition.raw or any(
        one["in"] != "path" or one["schema"].keys() > {"type", "title"}
        for one in operation.definition.raw.get("parameters", [])
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_the_server_fail(
    operations: list[Operation], mode: GenerationMode
) -> None:
    tried = [one for one in operations if mode is GenerationMode.POSITIVE or can_be_wrong(one)]
    assert len(tried) > 20
    for operation in tried:

        @_SETTINGS
        @given(case=operation.as_strategy(generation_mode=mode))
        def holds(case: schemathesis.Case[Any]) -> None:
            response = case.call(headers={"Accept": "application/json"}, timeout=600)
            case.validate_response(response, checks=[not_a_server_error])
            if response.status_code >= 400:
                kind = response.headers["content-type"][0]
                as_openai = case.operation.path.startswith("/v1/") and "error" in response.json()
                told = as_openai or kind.startswith("application/problem+json")
                assert told, case.as_curl_command()

        holds()


def test_the_description_in_the_docs_is_that_of_the_server(client: httpx2.Client) -> None:
    written = (Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8")
    described = client.get("/api/v1/openapi.json").json()
    assert json.loads(written) == described, "run: python tools/openapi.py"


def test_every_operation_is_described(operations: list[Operation]) -> None:
    assert len(operations) > 10
    for operation in operations:
        assert operation.definition.raw.get("description"), operation.label
