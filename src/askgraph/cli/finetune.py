"""`askgraph finetune`: train models to write queries, and see how well they do."""

import sys
import time
from dataclasses import asdict, astuple, dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import typer

from askgraph.cli import Commands
from askgraph.cli.figures import Form, Reading
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar
from askgraph.errors import SetupError
from askgraph.evaluation.studies.stages import cross_sheet
from askgraph.methods.writing.references import NAMES, PLAIN, REFERENCES
from askgraph.training.pairs import evaluated, read_pairs
from askgraph.training.settings import preset as settings_of
from askgraph.workspace.pairs import Chosen, PairForm, make_pairs
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import benchmark_name
from askgraph.workspace.settings import named_setting
from askgraph.workspace.stages import Cross, DataSet, crossed

if TYPE_CHECKING:
    from askgraph.answers.ranker import Say
    from askgraph.evaluation.reports.statistics import Difference


def writer(
    common: Common,
    out: Path,
    questions: int = 2_000,
    benchmark: list[str] | None = None,
    tag: list[str] | None = None,
    number: int | None = None,
    without: list[str] | None = None,
    folds: int = 0,
    start: Path | None = None,
    ranking: Path | None = None,
    seed: int = 42,
    json: bool = False,
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
        from askgraph.workspace.writer import Wished, train_folds, train_writer
    except ModuleNotFoundError as missing:
        raise SetupError(
            f"'finetune' needs {missing.name}: pip install 'askgraph[local]'"
        ) from missing
    asked = tuple(_asked(one) for one in benchmark or ())
    left_out, tags = tuple(without or ()), tuple(tag or ())
    wished = Wished(questions, asked, start, left_out, str(ranking or ""), seed, tags, number)
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


finetune = Commands()
finetune.command("writer")(writer)


@finetune.command("ranker")
def ranker(
    common: Common,
    base: Path,
    out: Path,
    benchmark: list[str],
    folds: int = 0,
    by: str = "",
    without: list[str] | None = None,
    tag: list[str] | None = None,
    questions: int | None = None,
    ranking: Path | None = None,
    layers: int = 3,
    epochs: int = 2,
    batch: int = 16,
    rate: float = 1e-4,
    dtype: str = "float32",
    seed: int = 42,
    json: bool = False,
) -> None:
    """Train a ranker: a small encoder that reads unsure candidates beside the question.

    BASE is the folder of a BERT, such as MiniLM; a language model that writes queries is only given
    a say. The same command goes on with a training that was stopped. Folds tell what a ranker is
    worth on graphs that it never saw:

    \b
      askgraph finetune ranker models/minilm --benchmark q.jsonl --folds 3 --by style: --out rankers

    Graph search listens to what its setting 'ranker' names. Training needs the extra 'local'; using
    a ranker needs 'semantic'.
    """
    operations = local_module("askgraph.workspace.ranker")
    plan = local_module("askgraph.training.ranker").Plan(
        layers=layers, epochs=epochs, batch=batch, rate=rate, dtype=dtype, seed=seed
    )
    wished = operations.Wished(
        base, tuple(map(_asked, benchmark)), folds, by, tuple(without or ()), questions,
        str(ranking or ""), tuple(tag or ()), plan,
    )  # fmt: skip
    spent = Spent()
    with progress_bar() as progress:
        made = operations.train_ranker(common.workspace, wished, out, progress=progress)
    typer.echo(spent.told(), err=True)
    if json:
        print_json([one.record() for one in made])
        return
    for one in made:
        typer.echo(f"{one.path}: {one.lessons} questions, loss {one.loss:.3f}, {_say(one.say)}")
        if one.gain is not None:
            typer.echo(f"  {len(one.held)} graphs left out, {_gained(one.gain)}")


def _gained(found: "Difference") -> str:
    """What a ranker changes, in words."""
    mean, low, high = (100 * x for x in astuple(found.difference))
    return (
        f"{found.n} questions: F1 {100 * found.a:.1f} to {100 * found.b:.1f}, {mean:+.1f} "
        f"[{low:+.1f}, {high:+.1f}], better {found.better}, worse {found.worse}"
    )


def _say(say: "Say") -> str:
    """How much of a say a ranker has, in words."""
    if not say.weight:
        return "no say: it gained nothing on graphs left out"
    return f"weight {say.weight:g} below a confidence of {say.below:g}"


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
    training = local_module("askgraph.training.train")
    with progress_bar() as progress:
        rows, formats = crossed(common.workspace, study, training.train, progress=progress)
    sheet = cross_sheet(rows, formats)
    form.give(lambda: [sheet], lambda: sheet.json())


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
    local_module("askgraph.training.train").merge(adapters, output, download=download)
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
            evaluated(asked, given, n=n, beams=beams, constrained=not free, progress=progress)
        )
    if json:
        print_json(asdict(found))
        return
    typer.echo(f"{found.first} of {found.pairs} right at first, {found.among} among all hypotheses")
    typer.echo(f"{found.sound} of {found.hypotheses} hypotheses parse and name only what is listed")


_LIBRARIES = frozenset(["accelerate", "peft", "tokenizers", "torch", "transformers", "xgrammar"])


def local_module(name: str) -> ModuleType:
    """Import a module that needs the extra `local`; `SetupError` if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        library = (problem.name or "").partition(".")[0]
        if library not in _LIBRARIES:
            raise
        raise SetupError(
            f"this needs {library}, which is not installed: pip install 'askgraph[local]'"
        ) from problem


_MIB = 1024 * 1024


@dataclass(frozen=True)
class Spent:
    """A stopwatch that runs from when it is made; memory is that of this process alone."""

    clock: float = field(default_factory=time.perf_counter)
    core: float = field(default_factory=time.process_time)

    def told(self) -> str:
        """Return it in words, as in "12:04 min, 19:30 min of a core, 760 MiB at most"."""
        clock = _minutes(time.perf_counter() - self.clock)
        core = _minutes(time.process_time() - self.core)
        peak = _peak()
        return f"{clock} min, {core} min of a core" + (f", {peak} MiB at most" if peak else "")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _peak() -> int | None:
    """The most memory this process has held, in MiB; None if the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // _MIB if sys.platform == "darwin" else most // 1024
