"""`askgraph finetune`: train models to write queries, and see how well they do."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.bundles import Commands
from askgraph.cli.finetune_writer import writer
from askgraph.cli.options import (
    Common,
    FormatOption,
    GraphOption,
    JsonOption,
    LangOption,
    ModelOption,
)
from askgraph.cli.progress import progress_bar
from askgraph.cli.tables import print_json
from askgraph.training.evaluate import evaluated
from askgraph.training.pairs import read_pairs
from askgraph.training.settings import preset as settings_of
from askgraph.workspace.local import local_module
from askgraph.workspace.pairs import make_pairs
from askgraph.workspace.running import result_of

__all__ = ["finetune"]

finetune = Commands()
finetune.command("writer")(writer)

PairsArgument = Annotated[
    list[Path], typer.Argument(metavar="PAIRS...", help="Files that 'finetune pairs' wrote.")
]
DownloadOption = Annotated[
    bool, typer.Option("--download", help="Fetch the model from its hub where it is not here.")
]


@finetune.command("pairs")
def pairs(
    common: Common,
    questions: Annotated[
        Path | None,
        typer.Argument(help="A benchmark's file; without it, the examples kept for the graph."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the pairs go.")
    ] = Path("pairs.jsonl"),
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only questions of this split.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the wrong candidates and their order.")] = 42,
    once: Annotated[
        bool, typer.Option("--once", help="One pair a question, in place of one to three.")
    ] = False,
    graph: GraphOption = None,
    format: FormatOption = None,
    lang: LangOption = None,
    json: JsonOption = False,
) -> None:
    """Make pairs of a question with candidates, right and wrong, and the query it means.

    The wrong candidates are those of the graph that come nearest to the right ones by BM25.
    """

    with progress_bar() as progress:
        made = make_pairs(
            common.workspace, questions, output, graph=graph, format=format, language=lang,
            split=split, seed=seed, copies=not once, progress=progress,
        )  # fmt: skip
    if json:
        left_out = [{"id": one.id, "reason": one.reason} for one in made.left_out]
        counts = {"questions": made.questions, "pairs": made.pairs, "left_out": left_out}
        print_json({**counts, "file": str(output)})
        return
    typer.echo(f"{made.pairs} pairs of {made.questions} questions, in {output}")
    for one in made.left_out[:5]:
        typer.echo(f"  left out: {one.id}: {one.reason}", err=True)
    if len(made.left_out) > 5:
        typer.echo(f"  … and {len(made.left_out) - 5} more (--json lists them)", err=True)


@finetune.command("train")
def train(
    common: Common,
    model: Annotated[str, typer.Argument(help="The folder of a model, or its name on a hub.")],
    pairs: PairsArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the model goes.")
    ],
    measure: Annotated[
        list[Path] | None,
        typer.Option(metavar="PAIRS", help="Other pairs, to measure while training; repeatable."),
    ] = None,
    preset: Annotated[
        str, typer.Option(metavar="NAME", help="Settings: paper, paper-lora or quick.")
    ] = "paper",
    lora: Annotated[bool, typer.Option("--lora", help="Train adapters (LoRA) only.")] = False,
    epochs: Annotated[float | None, typer.Option(help="Rounds over all pairs.")] = None,
    batch: Annotated[int | None, typer.Option(help="Pairs at once, on each device.")] = None,
    gather: Annotated[int | None, typer.Option(help="Batches that make one step.")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps until the full rate.")] = None,
    length: Annotated[int | None, typer.Option(help="Tokens of a pair at most.")] = None,
    evaluations: Annotated[int | None, typer.Option(help="Checkpoints in an epoch.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of all that is left to chance.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32 or bfloat16.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, to leave a GPU alone.")] = None,
    download: DownloadOption = False,
    json: JsonOption = False,
) -> None:
    """Train a model on pairs; the same command goes on with a training that was stopped.

    On several GPUs: accelerate launch -m askgraph finetune train ...
    """

    settings = settings_of(
        preset, lora=lora or None, epochs=epochs, batch=batch, gather=gather, rate=rate,
        warmup=warmup, length=length, evaluations=evaluations, seed=seed, dtype=dtype,
    )  # fmt: skip
    given, data = read_pairs(pairs)
    others = read_pairs(measure)[0] if measure else ()
    training = local_module("askgraph.training.train")
    with progress_bar() as progress:
        made = training.train(
            model, given, output, settings=settings, data=data, others=others, device=device,
            download=download, progress=progress,
        )  # fmt: skip
    if json:
        print_json(training.result_object(made))
        return
    if made.ended:
        typer.echo(f"this training had come to its end: nothing is trained again in {made.folder}")
    again = ", resumed from a checkpoint" if made.resumed else ""
    typer.echo(f"trained on {made.pairs} pairs in {made.steps} steps{again}: loss {made.loss:.3f}")
    if made.too_long:
        typer.echo(f"  {made.too_long} pairs were longer than {settings.length} tokens", err=True)
    typer.echo(f"the model is in {made.folder}; ask it with --model transformers/{made.folder}")


@finetune.command("merge")
def merge(
    common: Common,
    adapters: Annotated[Path, typer.Argument(help="The folder of adapters.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the model goes.")
    ],
    download: DownloadOption = False,
    json: JsonOption = False,
) -> None:
    """Put trained adapters into their model, and save it whole."""

    local_module("askgraph.training.train").merge(adapters, output, download=download)
    if json:
        print_json({"folder": str(output)})
        return
    typer.echo(f"merged into {output}")


@finetune.command("evaluate")
def evaluate(
    common: Common,
    pairs: PairsArgument,
    model: ModelOption = None,
    n: Annotated[int, typer.Option("--hypotheses", "-n", min=1, help="Queries a question.")] = 1,
    beams: Annotated[bool, typer.Option("--beams", help="By beam search, not samples.")] = False,
    free: Annotated[bool, typer.Option("--free", help="Without a grammar.")] = False,
    json: JsonOption = False,
) -> None:
    """Ask a model for the queries of pairs and count those that are the gold query.

    Nothing is run: another query with the same result counts as wrong.
    """

    given, _ = read_pairs(pairs)
    asked = common.workspace.model(model)
    with progress_bar() as progress:
        found = result_of(
            evaluated(asked, given, n=n, beams=beams, constrained=not free, progress=progress)
        )
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"{found.first} of {found.pairs} right at first, {found.among} among all hypotheses")
    typer.echo(f"{found.sound} of {found.hypotheses} hypotheses parse and name only what is listed")
