"""`askgraph finetune`: train models to write queries, and see how well they do."""

from dataclasses import asdict
from pathlib import Path

import typer

from askgraph.cli import Commands
from askgraph.cli.figures import Form, Reading
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar
from askgraph.evaluation.studies.stages import build_transfer_sheet
from askgraph.methods.writing.references import NAMES, PLAIN, REFERENCES
from askgraph.training.pairs import evaluate_pairs, read_pairs
from askgraph.training.settings import build_settings as settings_of
from askgraph.workspace.pairs import Chosen, PairForm, make_pairs
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import benchmark_name
from askgraph.workspace.settings import named_setting
from askgraph.workspace.stages import Cross, DataSet, crossed

finetune = Commands()


@finetune.command("pairs")
def pairs(
    common: Common,
    reading: Reading,
    questions: Path | None = None,
    output: Path = Path("pairs.jsonl"),
    split: str | None = None,
    tag: list[str] | None = None,
    graphs: int | None = None,
    number: int | None = None,
    seed: int = 42,
    once: bool = False,
    plain: bool = False,
    proposed: bool = False,
    graph: str | None = None,
    json: bool = False,
) -> None:
    """Make pairs of a question with candidates, right and wrong, and the query it means.

    The wrong candidates are those of the graph that come nearest to the right ones by BM25; with
    --proposed they are what graph search's best queries name, and the reply has their labels in
    place of references. Questions may ask several graphs.
    """
    chosen = None
    if questions is not None:
        chosen = Chosen(
            ((questions, graph),), number, tuple(tag or ()), split, reading.format, reading.lang,
            graphs, seed,
        )  # fmt: skip
    written = PLAIN if plain else NAMES if proposed else REFERENCES
    form = PairForm(written, not once, proposed, seed)
    with progress_bar() as progress:
        made = make_pairs(
            common.workspace, chosen, output, graph=graph, form=form, progress=progress
        )
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
    model: str,
    pairs: list[Path],
    output: Path,
    measure: list[Path] | None = None,
    preset: str = "paper",
    lora: bool = False,
    epochs: float | None = None,
    batch: int | None = None,
    gather: int | None = None,
    rate: float | None = None,
    warmup: int | None = None,
    length: int | None = None,
    evaluations: int | None = None,
    seed: int | None = None,
    dtype: str | None = None,
    device: str | None = None,
    download: bool = False,
    json: bool = False,
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
    from askgraph.training import train as training

    with progress_bar() as progress:
        made = training.train(
            model, given, output, settings=settings, data=data, evaluation_pairs=others,
            device=device,
            download=download, progress=progress,
        )  # fmt: skip
    if json:
        print_json(training.to_result_object(made))
        return
    if made.ended:
        typer.echo(f"this training had come to its end: nothing is trained again in {made.folder}")
    again = ", resumed from a checkpoint" if made.resumed else ""
    typer.echo(f"trained on {made.pairs} pairs in {made.steps} steps{again}: loss {made.loss:.3f}")
    if made.too_long:
        typer.echo(f"  {made.too_long} pairs were longer than {settings.length} tokens", err=True)
    typer.echo(f"the model is in {made.folder}; ask it with --model transformers/{made.folder}")


@finetune.command("cross")
def cross(
    common: Common,
    form: Form,
    model: str,
    sets: list[str],
    out: Path,
    others: bool = False,
    questions: list[int] | None = None,
    plain: bool = False,
    setting: list[str] | None = None,
    metric: str = "best_column",
    preset: str = "paper",
    lora: bool = False,
    epochs: float | None = None,
    batch: int | None = None,
    rate: float | None = None,
    warmup: int | None = None,
    length: int | None = None,
    seed: int | None = None,
    device: str | None = None,
    download: bool = False,
) -> None:
    """Train a model on each data set, ask each model about all of them, and print one table.

    With --others it is trained on all but each, as Alekseev et al. (2025) have it, whose figures
    stand beside. Stopped, the same call goes on.
    """
    settings = settings_of(
        preset, lora=lora or None, epochs=epochs, batch=batch, rate=rate, warmup=warmup,
        length=length, seed=seed,
    )  # fmt: skip
    study = Cross(
        model, tuple(map(_data_set, sets)), out, settings, others, plain,
        tuple(questions or ()), dict(map(named_setting, setting or [])), metric, device, download,
    )  # fmt: skip
    from askgraph.training.train import train

    with progress_bar() as progress:
        rows, formats = crossed(common.workspace, study, train, progress=progress)
    sheet = build_transfer_sheet(rows, formats)
    form.give(lambda: [sheet], lambda: sheet.to_json())


def _data_set(text: str) -> DataSet:
    """Read [NAME=]FILE[,TEST][@GRAPH]."""
    name, sign, files = text.rpartition("=")
    files, _, graph = files.partition("@")
    train, _, test = files.partition(",")
    tested = Path(test or train)
    return DataSet(name if sign else benchmark_name(tested), Path(train), tested, graph or None)


@finetune.command("merge")
def merge(
    common: Common, adapters: Path, output: Path, download: bool = False, json: bool = False
) -> None:
    """Put trained adapters into their model, and save it whole; or a GGUF file, dequantised.

    A folder is loaded in a fraction of the time that a GGUF file takes.
    """
    from askgraph.training.train import merge_adapters as merge_adapters

    merge_adapters(adapters, output, download=download)
    if json:
        print_json({"folder": str(output)})
        return
    typer.echo(f"merged into {output}")


@finetune.command("evaluate")
def evaluate(
    common: Common,
    pairs: list[Path],
    model: str | None = None,
    n: int = 1,
    beams: bool = False,
    free: bool = False,
    json: bool = False,
) -> None:
    """Ask a model for the queries of pairs and count those that are the gold query.

    Nothing is run: another query with the same result counts as wrong.
    """
    given, _ = read_pairs(pairs)
    asked = common.workspace.model(model)
    with progress_bar() as progress:
        found = result_of(
            evaluate_pairs(asked, given, n=n, beams=beams, constrained=not free, progress=progress)
        )
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"{found.first} of {found.pairs} right at first, {found.among} among all hypotheses")
    typer.echo(f"{found.sound} of {found.hypotheses} hypotheses parse and name only what is listed")
