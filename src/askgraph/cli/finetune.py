"""`askgraph finetune`: train models to write queries, and evaluate them."""

from dataclasses import asdict
from pathlib import Path

import typer

from askgraph.cli import CommandGroup
from askgraph.cli.figures import OutputFormat, ReadOptions
from askgraph.cli.output import CommonOptions, print_json, show_progress
from askgraph.evaluation.studies.stages import build_transfer_sheet
from askgraph.methods.writing.term_names import NAMES, PLAIN
from askgraph.training import build_settings as settings_of
from askgraph.training.pairs import evaluate_pairs, read_pairs
from askgraph.workspace.pairs import PairForm, QuestionSelection, make_pairs
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import get_benchmark_name
from askgraph.workspace.settings import parse_setting
from askgraph.workspace.stages import CrossTrainingStudy, DataSet, run_cross_training

finetune = CommandGroup()


@finetune.command("pairs")
def write_pairs(
    common: CommonOptions,
    reading: ReadOptions,
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
    """Make training pairs of a question with right and wrong candidates, and its query."""
    chosen = None
    if questions is not None:
        chosen = QuestionSelection(
            ((questions, graph),), number, tuple(tag or ()), split, reading.format, reading.lang,
            graphs, seed,
        )  # fmt: skip
    pair_form = PairForm(PLAIN if plain else NAMES, not once, proposed, seed)
    with show_progress() as progress:
        pair_counts = make_pairs(
            common.workspace, chosen, output, graph=graph, form=pair_form, progress=progress
        )
    if json:
        print_json({**asdict(pair_counts), "file": str(output)})
        return
    typer.echo(f"{pair_counts.pairs} pairs of {pair_counts.questions} questions, in {output}")
    for skipped in pair_counts.left_out[:5]:
        typer.echo(f"  left out: {skipped.id}: {skipped.reason}", err=True)
    if len(pair_counts.left_out) > 5:
        typer.echo(f"  … and {len(pair_counts.left_out) - 5} more (--json lists them)", err=True)


@finetune.command("train")
def train(
    common: CommonOptions,
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
    """Train a model on pairs; the same command resumes an interrupted training."""
    settings = settings_of(
        preset, lora=lora or None, epochs=epochs, batch=batch, gather=gather, rate=rate,
        warmup=warmup, length=length, evaluations=evaluations, seed=seed, dtype=dtype,
    )  # fmt: skip
    training_pairs, data = read_pairs(pairs)
    measured_pairs = read_pairs(measure)[0] if measure else ()
    from askgraph.training import train as training

    with show_progress() as progress:
        result = training.train(
            model, training_pairs, output, settings=settings, data=data,
            evaluation_pairs=measured_pairs,
            device=device,
            download=download, progress=progress,
        )  # fmt: skip
    if json:
        print_json(training.to_result_object(result))
        return
    if result.ended:
        typer.echo(f"the training is already complete in {result.folder}")
    resumed_note = ", resumed from a checkpoint" if result.resumed else ""
    typer.echo(
        f"trained on {result.pairs} pairs in {result.steps} steps"
        f"{resumed_note}: loss {result.loss:.3f}"
    )
    if result.too_long:
        typer.echo(f"  {result.too_long} pairs were longer than {settings.length} tokens", err=True)
    typer.echo(f"the model is in {result.folder}; use it with --model transformers/{result.folder}")


@finetune.command("cross")
def train_across(
    common: CommonOptions,
    form: OutputFormat,
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
    """Train a model on each data set, ask each model about all of them, and print one table."""
    settings = settings_of(
        preset, lora=lora or None, epochs=epochs, batch=batch, rate=rate, warmup=warmup,
        length=length, seed=seed,
    )  # fmt: skip
    study = CrossTrainingStudy(
        model, tuple(map(_parse_data_set, sets)), out, settings, others, plain,
        tuple(questions or ()), dict(map(parse_setting, setting or [])), metric, device, download,
    )  # fmt: skip
    from askgraph.training.train import train

    with show_progress() as progress:
        rows, formats = run_cross_training(common.workspace, study, train, progress=progress)
    sheet = build_transfer_sheet(rows, formats)
    form.write(lambda: [sheet], lambda: sheet.to_json())


def _parse_data_set(text: str) -> DataSet:
    """Parse [NAME=]FILE[,TEST][@GRAPH]."""
    name, separator, files = text.rpartition("=")
    files, _, graph = files.partition("@")
    train, _, test = files.partition(",")
    test_path = Path(test or train)
    return DataSet(
        name if separator else get_benchmark_name(test_path), Path(train), test_path, graph or None
    )


@finetune.command("merge")
def merge(
    common: CommonOptions, adapters: Path, output: Path, download: bool = False, json: bool = False
) -> None:
    """Merge trained adapters into their model, and save it; or dequantise a GGUF file."""
    from askgraph.training.train import merge_adapters as merge_adapters

    merge_adapters(adapters, output, download=download)
    if json:
        print_json({"folder": str(output)})
        return
    typer.echo(f"merged into {output}")


@finetune.command("evaluate")
def evaluate(
    common: CommonOptions,
    pairs: list[Path],
    model: str | None = None,
    n: int = 1,
    beams: bool = False,
    free: bool = False,
    json: bool = False,
) -> None:
    """Ask a model for the queries of pairs, and count those that equal the gold query."""
    test_pairs, _ = read_pairs(pairs)
    language_model = common.workspace.model(model)
    with show_progress() as progress:
        evaluation = run_coroutine(
            evaluate_pairs(
                language_model,
                test_pairs,
                n=n,
                beams=beams,
                constrained=not free,
                progress=progress,
            )
        )
    if json:
        print_json(asdict(evaluation))
        return
    typer.echo(
        f"{evaluation.first} of {evaluation.pairs} right at first, {evaluation.among} among "
        "all hypotheses"
    )
    typer.echo(
        f"{evaluation.sound} of {evaluation.hypotheses} hypotheses parse and name only what "
        "is listed"
    )
