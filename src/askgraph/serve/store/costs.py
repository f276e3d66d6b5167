"""What questions have cost with each method, of the latest ones."""

from dataclasses import dataclass

from sqlalchemy import func, select

from askgraph.serve.store.area import Area
from askgraph.serve.store.tables import runs

__all__ = ["Cost", "Costs"]

_LATEST = 200


@dataclass(frozen=True)
class Cost:
    """Averages a question: seconds, tokens and money, over so many `questions`."""

    questions: int
    seconds: float
    tokens: float
    money: float


class Costs(Area):
    """Costs by method."""

    async def costs(self) -> dict[str, Cost]:
        """Return what a question cost on average, by method, of the latest that were answered."""
        latest = (
            select(runs.c.method, runs.c.seconds, runs.c.tokens, runs.c.money)
            .where(runs.c.state == "done", runs.c.seconds.is_not(None))
            .order_by(runs.c.created.desc())
            .limit(_LATEST)
            .subquery()
        )
        wanted = select(
            latest.c.method,
            func.count().label("questions"),
            func.avg(latest.c.seconds).label("seconds"),
            func.avg(latest.c.tokens).label("tokens"),
            func.avg(latest.c.money).label("money"),
        ).group_by(latest.c.method)
        return {
            row.method: Cost(row.questions, float(row.seconds), float(row.tokens), float(row.money))
            for row in await self._rows(wanted)
        }
