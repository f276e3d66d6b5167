"""The right answer of a question as a table, and the answer that was given as one."""

from collections.abc import Mapping
from dataclasses import replace

from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, QueryError, SetupError, Unauthorised, Unreachable
from askgraph.evaluation import Table
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.judge import admitted
from askgraph.sparql.read import read
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer

Prefixes = Mapping[str, str] | None


async def gold_table(
    question: GoldQuestion, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> Table:
    """Return the gold result of a question: its query's on this endpoint, else the stored one.

    Raises what the endpoint raises, and `SetupError` if there is neither.
    """
    if question.sparql is not None:
        return await query_table(question.sparql, endpoint, prefixes=prefixes, timeout=timeout)
    if question.answers is not None:
        return question.answers
    raise SetupError(f"question {question.id!r} has no gold to score against")


async def gold_or_reason(
    question: GoldQuestion,
    endpoint: Endpoint | None,
    *,
    stored: bool = False,
    prefixes: Prefixes = None,
    timeout: float | None,
) -> tuple[Table | None, str | None]:
    """Return the gold result and None, or what there is of it and why its query gave none.

    A stored result stands in for a query that fails; with `stored`, or without an endpoint, only
    that counts. Raises `SetupError`, and, if nothing is stored, `Unreachable` and
    `Unauthorised`: if the endpoint is gone, nothing can be said about any answer.
    """
    if stored or endpoint is None:
        missing = None if question.answers else "no gold result is stored for this question"
        return question.answers, missing
    try:
        return await gold_table(question, endpoint, prefixes=prefixes, timeout=timeout), None
    except SetupError:
        raise
    except AskgraphError as failure:
        if question.answers is None and isinstance(failure, Unreachable | Unauthorised):
            raise
        return question.answers, f"{type(failure).__name__}: {failure}"


async def answer_table(answer: Answer, endpoint: Endpoint, *, timeout: float | None) -> Table:
    """Return an answer's result; if it was cut off, that of its query, run again in full.

    It knows which of its columns answer.
    """
    if answer.boolean is not None:
        return Table.of_boolean(answer.boolean)
    if answer.result.truncated:
        table = await query_table(answer.query, endpoint, timeout=timeout)
    else:
        table = _table(answer.query, answer.result)
    return replace(table, answering=answer.answer_columns)


async def query_table(
    query: str, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> Table:
    """Return the result of a SELECT or ASK query; `prefixes` need not be declared in it.

    Raises `QueryError` for another form and for a result that was cut off, and what the endpoint
    raises.
    """
    admissible = admitted(query, prefixes=prefixes)
    match admissible.form:
        case "SELECT":
            result = await endpoint.select(admissible.text, timeout=timeout)
            if result.truncated:
                raise QueryError(f"the result was cut off: {result.truncated.reason}")
            return _table(query, result)
        case "ASK":
            return Table.of_boolean(await endpoint.ask(admissible.text, timeout=timeout))
        case form:
            raise QueryError(f"a {form} query cannot be scored, only SELECT and ASK")


def _table(query: str, result: SelectResult) -> Table:
    """Return a result as a table; rows without an order come in the order of their terms.

    So no figure depends on which row an engine happens to give first.
    """
    try:
        ordered = bool(read(query).order)
    except QueryError:
        ordered = True
    return Table.of_result(result if ordered else result.sorted())
