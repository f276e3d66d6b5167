"""Options of the commands that ask benchmarks: selected questions, processes, the run's folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from askgraph.cli.bundles import Bundle
from askgraph.cli.options import FormatOption, GraphOption, LangOption
from askgraph.operations.evaluation import Crew
from askgraph.operations.selection import Selection

OutRunOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="RUN", help="Folder to keep the run in; it goes on where it stopped."
    ),
]


@dataclass(frozen=True)
class Selected(Bundle):
    """The options that select questions of benchmarks."""

    graph: GraphOption = None
    format: FormatOption = None
    lang: LangOption = None
    kg: Annotated[
        str | None,
        typer.Option("--kg", metavar="KG", help="Only questions with this 'kg', as 'cars.ttl'."),
    ] = None
    split: Annotated[
        str | None, typer.Option("--split", metavar="SPLIT", help="Only questions of this split.")
    ] = None
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Only the first N of each benchmark."),
    ] = None

    def selection(self, **more: Any) -> Selection:
        """Return the selection, with what else the command selects by."""
        return Selection(
            graph=self.graph, format=self.format, language=self.lang,
            kg=self.kg, split=self.split, limit=self.limit, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class Workers(Bundle):
    """The options that say which processes answer."""

    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, metavar="N", help="Questions at once.")
    ] = None
    on: Annotated[
        str,
        typer.Option("--on", metavar="WHERE", help="'local', 'processes', 'dask' or 'ray'."),
    ] = "local"
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, metavar="N", help="Processes, if not local.")
    ] = None
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="Of a running cluster.")
    ] = None

    @property
    def crew(self) -> Crew:
        """The crew that answers."""
        return Crew(self.on, self.workers, self.address, self.concurrency)
