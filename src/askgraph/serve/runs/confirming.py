"""Answers that people confirm: the query is run once more, and kept with what it gave."""

from askgraph.errors import SetupError
from askgraph.metadata.examples.outcome import outcome_of, run
from askgraph.serve.hub import Hub
from askgraph.serve.identity.principal import Principal
from askgraph.serve.store import RunRow, Verified, new_id
from askgraph.sparql.lexer import with_declared

__all__ = ["confirmed", "withdrawn"]


async def confirmed(hub: Hub, id: str, query: str | None, caller: Principal) -> Verified:
    """Keep a query, by default the run's own, as the one that answers the run's question.

    It takes the place of what the caller confirmed for the same question before. Raises
    `SetupError` where there is nothing to confirm, `NotAllowed` where the query is the caller's and
    they may run none, `QueryError` and `ServiceError` where the query fails.
    """
    row = await hub.kept.row(id, caller)
    graph, own = _attempt(row)
    if row.after is not None:
        raise SetupError(
            f"{row.question!r} goes on from an earlier question: ask it in words that stand alone, "
            "then confirm that answer"
        )
    wanted = query or own
    if wanted is None:
        raise SetupError(f"{row.question!r} came to no query: there is nothing to confirm")
    if wanted != own:
        caller.check("query")
    async with hub.graphs.lease(graph, caller) as opened, hub.queries.turn(graph):
        text = with_declared(wanted.strip(), opened.prefixes.namespaces)
        result = await run(
            opened.endpoint,
            text,
            timeout=hub.settings.query_timeout,
            limit=hub.settings.max_rows,
        )
        outcome = outcome_of(result)
        verified = Verified(
            new_id(),
            graph,
            " ".join(row.question.split()),
            text,
            caller.id,
            outcome.rows,
            language=row.language,
            snapshot=opened.snapshot,
            digest=outcome.digest,
            by=caller.name,
            run=row.id,
        )
    await hub.store.put_verified(verified)
    return verified


async def withdrawn(hub: Hub, id: str, caller: Principal) -> None:
    """Withdraw what was confirmed for the question of a run; an `admin`, what anybody confirmed."""
    row = await hub.kept.row(id, caller)
    owner = None if caller.may("admin") else caller.id
    if not await hub.store.withdraw_run(row.id, owner):
        raise SetupError(f"you confirmed nothing for {row.question!r}")


def _attempt(row: RunRow) -> tuple[str, str | None]:
    """The graph and the query of a run's answer, or of its best attempt."""
    answer = row.answer or {}
    graph, query = answer.get("graph"), answer.get("sparql")
    return (
        graph if isinstance(graph, str) else row.graphs[0],
        query if isinstance(query, str) else None,
    )
