"""`askgraph batch`: a file of questions in, a file of answers out."""

from pathlib import Path

import typer

from askgraph.cli.options import Asking, Common
from askgraph.cli.output import progress_bar
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.runs.batch import answer_all, answerer
from askgraph.methods import closed
from askgraph.workspace.graphs import ready_graphs
from askgraph.workspace.run_sync import result_of

FAILED = 4


def batch(common: Common, asking: Asking, questions: Path, out: Path, concurrency: int = 4) -> None:
    """Answer a file of questions.

    Each line of the output is {"id": …} together with what `ask --json` prints.
    Stopped at any moment and started again, it goes on where it was; the answers stand in the order
    of the questions. A question that fails becomes a refusal with an "error" (exit code 4), and is
    tried again by the next call.
    """
    asked = read_questions(questions)
    place = common.workspace
    name, chosen = asking.chosen(place)

    with progress_bar() as tell:
        ready = ready_graphs(
            asking.graph or [None],
            lambda one: place.graph(one, progress=tell),
            chosen,
            progress=tell,
        )

        async def run() -> int:
            try:
                return await answer_all(
                    asked,
                    answerer(chosen, name, ready.graphs, language=asking.lang),
                    out,
                    concurrency=concurrency,
                    timeout=asking.timeout,
                    limit=asking.limit,
                    progress=lambda done, total: tell("answering", done, total),
                )
            finally:
                await closed(chosen)
                await ready.close()

        failed = result_of(run())
    typer.echo(f"{len(asked)} answers in {out}, {failed} failed", err=True)
    if failed:
        raise typer.Exit(FAILED)
