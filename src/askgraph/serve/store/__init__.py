"""Everything the server remembers, in SQLite or PostgreSQL: what was answered for is on disk.

    store = await Store.open("serve.db")
    await store.begin_run(RunRow(new_id(), "anonymous", "Which moons …?", ("space",), "grasp"))

Each method is one transaction. All of them raise `DatabaseFailed` where the database does not do
its part.
"""

from askgraph.errors import AskgraphError
from askgraph.serve.store.clock import new_id, now, time_text
from askgraph.serve.store.confirmed import Confirmed
from askgraph.serve.store.costs import Cost, Costs
from askgraph.serve.store.database import DatabaseFailed
from askgraph.serve.store.jobs import Jobs
from askgraph.serve.store.keys import Keys
from askgraph.serve.store.migrating import migrate
from askgraph.serve.store.opened import open_database
from askgraph.serve.store.opinions import Opinions
from askgraph.serve.store.processes import SILENT, HandedBack, Processes
from askgraph.serve.store.rows import (
    ENDED,
    UNDER_WAY,
    Feedback,
    JobRow,
    JobState,
    Json,
    KeyRow,
    RunRow,
    RunState,
    SessionRow,
    Used,
    Verdict,
    Verified,
)
from askgraph.serve.store.runs import Runs
from askgraph.serve.store.sessions import Sessions
from askgraph.serve.store.used import Usage

__all__ = [
    "ENDED",
    "SILENT",
    "UNDER_WAY",
    "Cost",
    "DatabaseFailed",
    "Feedback",
    "HandedBack",
    "JobRow",
    "JobState",
    "Json",
    "KeyRow",
    "RunRow",
    "RunState",
    "SessionRow",
    "Store",
    "Used",
    "Verdict",
    "Verified",
    "new_id",
    "now",
    "time_text",
]


class Store(Sessions, Runs, Costs, Opinions, Confirmed, Keys, Usage, Processes, Jobs):
    """Sessions, runs, feedback, verified answers, keys, usage, processes and jobs."""

    @classmethod
    async def open(cls, url: str) -> "Store":
        """Open the database at a URL or a file's path, and bring its tables up to date.

        Raises `SetupError` where the address is no good, `DatabaseFailed` where there is nothing.
        """
        database = await open_database(url)
        try:
            await migrate(database)
        except AskgraphError:
            await database.close()
            raise
        return cls(database)

    async def close(self) -> None:
        """Close all connections."""
        await self._database.close()
