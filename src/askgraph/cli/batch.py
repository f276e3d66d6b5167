"""`askgraph batch`: a file of questions in, a file of answers out."""

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import (
    AnewOption,
    BaseUrlOption,
    Common,
    GraphsOption,
    LangOption,
    LimitOption,
    MethodOption,
    ModelOption,
    SentOption,
    TimeoutOption,
    model_choice,
)
from askgraph.cli.progress import progress_bar
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.runs.batch import answer_all, answerer
from askgraph.methods import closed
from askgraph.workspace import DEFAULT_METHOD
from askgraph.workspace.method_specs import method_spec
from askgraph.workspace.ready import ready_graphs
from askgraph.workspace.running import result_of

__all__ = ["batch"]

FAILED = 4


def batch(
    common: Common,
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.jsonl", help='Lines {"id": …, "question": …}.')
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="PREDICTIONS.jsonl", help="Where the answers go.")
    ],
    graph: GraphsOption = None,
    method: MethodOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    sent: SentOption = None,
    lang: LangOption = None,
    limit: LimitOption = None,
    timeout: TimeoutOption = None,
    anew: AnewOption = False,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, metavar="N", help="Questions under way at once.")
    ] = 4,
) -> None:
    """Answer a file of questions.

    Each line of the output is {"id": …} together with what `ask --json` prints.
    Stopped at any moment and started again, it goes on where it was; the answers stand in the order
    of the questions. A question that fails becomes a refusal with an "error" (exit code 4), and is
    tried again by the next call.
    """

    asked = read_questions(questions)
    place = common.workspace
    name, own = method_spec(method or DEFAULT_METHOD)
    chosen = place.method(name, own | model_choice(model, base_url, sent), confirmed=not anew)

    with progress_bar() as tell:
        ready = ready_graphs(
            graph or [None], lambda one: place.graph(one, progress=tell), chosen, progress=tell
        )

        async def run() -> int:
            try:
                return await answer_all(
                    asked,
                    answerer(chosen, name, ready.graphs, language=lang),
                    out,
                    concurrency=concurrency,
                    timeout=timeout,
                    limit=limit,
                    progress=lambda done, total: tell("answering", done, total),
                )
            finally:
                await closed(chosen)
                await ready.close()

        failed = result_of(run())
    typer.echo(f"{len(asked)} answers in {out}, {failed} failed", err=True)
    if failed:
        raise typer.Exit(FAILED)
