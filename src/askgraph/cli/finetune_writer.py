"""`askgraph finetune writer`: the small writer's weights, from made-up and from asked questions."""

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import Common, JsonOption
from askgraph.cli.progress import progress_bar
from askgraph.cli.spent import Spent
from askgraph.cli.tables import print_json
from askgraph.errors import SetupError

__all__ = ["writer"]


def writer(
    common: Common,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The weights; a folder of --folds.")
    ],
    questions: Annotated[
        int, typer.Option(min=0, metavar="N", help="Made-up questions to learn from first.")
    ] = 2_000,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[GRAPH=]FILE", help="Questions that people asked, learned last; repeatable."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="GRAPH", help="Leave a graph and its questions out; repeatable."),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(metavar="K", help="Train K times; each graph gets weights that never saw it."),
    ] = 0,
    start: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Go on from these weights, without made-up questions."),
    ] = None,
    ranking: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Score by these weights; the package's without."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The same one, the same weights.")] = 42,
    json: JsonOption = False,
) -> None:
    """Train the pointer writer: a small network that graph search can listen to.

    It learns from questions made up over made-up graphs, then from those of --benchmark, and needs
    no pretrained weights. Training needs the extra 'local'; using the weights does not:

    \b
      askgraph finetune writer --out writer.npz
      askgraph finetune writer --start writer.npz --benchmark q.jsonl --folds 5 --out weights

    Graph search listens to the weights that its setting 'writer' names.
    """

    try:
        from askgraph.workspace.writer_training import Wished, train_folds, train_writer
    except ModuleNotFoundError as missing:
        raise SetupError(
            f"'finetune' needs {missing.name}: pip install 'askgraph[local]'"
        ) from missing
    asked = tuple(_asked(one) for one in benchmark or ())
    wished = Wished(questions, asked, start, tuple(without or ()), str(ranking or ""), seed)
    spent = Spent()
    with progress_bar() as progress:
        place = common.workspace
        if folds:
            made = train_folds(place, wished, out, folds=folds, progress=progress)
        else:
            made = [train_writer(place, wished, out, progress=progress)]
    typer.echo(spent.told(), err=True)
    if json:
        print_json([{"path": str(m.path), "lessons": m.lessons, "loss": m.loss} for m in made])
        return
    for one in made:
        typer.echo(f"{one.path}: {one.lessons} questions that people asked, loss {one.loss:.3f}")


def _asked(text: str) -> tuple[Path, str | None]:
    """A file of questions, and the graph that it is said to ask."""
    graph, sign, path = text.partition("=")
    return (Path(path), graph) if sign else (Path(text), None)
