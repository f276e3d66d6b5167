"""Training of a model on pairs: whole or by adapters, on a processor or many GPUs, resumable.

    askgraph finetune train models/qwen pairs.jsonl --output models/ours
    accelerate launch -m askgraph finetune train …      # several GPUs

The folder of the output holds `checkpoints/`, from which a training goes on that was stopped, the
curve of the loss (`log.jsonl`, and `loss.svg` if altair is installed), `training.json` and, at
the end, the model with its card.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import DataCollatorForSeq2Seq, PrinterCallback, Trainer, TrainerCallback
from trl import SFTConfig, SFTTrainer

from askgraph.atomic_files import fresh
from askgraph.errors import SetupError
from askgraph.evaluation.files import json_line, replaced
from askgraph.llm.pretrained import chat_text, is_gguf, pretrained, torch_device, torch_dtype
from askgraph.methods.writing.prompt import messages
from askgraph.training.pairs import Pair
from askgraph.training.settings import TrainSettings, begun, last_whole_checkpoint

Progress = Callable[[str, int, int | None], None]
_IGNORED = -100  # a label that no loss is taken of


@dataclass(frozen=True)
class Trained:
    """The result of a training: its steps, the last losses, and the pairs too long for it.

    `ended` says that it had come to its end before, and that nothing was trained now.
    """

    folder: Path
    steps: int
    loss: float
    evaluation: Mapping[str, float]
    pairs: int
    too_long: int
    resumed: bool
    ended: bool = False


def train(
    model: str,
    pairs: Sequence[Pair],
    folder: Path,
    *,
    settings: TrainSettings,
    data: str,
    others: Sequence[Pair] = (),
    device: str | None = None,
    download: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Trained:
    """Train a model (a folder, or a name kept on this machine) and save it into a folder.

    `data` is the hash of the pairs; `others` are pairs to measure the loss on while training. If
    the folder holds a training with the same settings and data that was stopped, it goes on from
    its last whole checkpoint; if that has come to its end, what it gave is returned, and
    nothing is trained. Raises `SetupError` for a folder with anything else, a model that cannot be
    loaded, and pairs of which none fits.
    """
    plan = {"model": model, "settings": asdict(settings), "data": data}
    torch_device(device)
    if there := begun(folder, plan):
        return Trained(
            folder, there["steps"], there["loss"], there["evaluation"], there["pairs"],
            there["too_long"], resumed=False, ended=True,
        )  # fmt: skip
    torch.manual_seed(settings.seed)
    place = str(Path(model).resolve()) if Path(model).exists() else model
    tokenizer, made = _loaded(place, settings, download=download)
    whole = made.config.is_encoder_decoder
    examples, long = encoded(pairs, tokenizer, length=settings.length, encoder_decoder=whole)
    held, _ = encoded(others, tokenizer, length=settings.length, encoder_decoder=whole)
    if not examples:
        raise SetupError(f"all {long} pairs are longer than {settings.length} tokens")
    if int(os.environ.get("RANK", "0")) == 0:  # of several processes, the first
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "training.json", plan)
    curve = Curve(folder / "log.jsonl", progress)
    kind = Trainer if whole else SFTTrainer  # trl trains no encoder-decoder models
    trainer = kind(
        model=made,
        args=_arguments(folder, settings, len(examples), bool(held), device),
        train_dataset=Dataset.from_list(examples),
        eval_dataset=Dataset.from_list(held) if held else None,
        processing_class=tokenizer,
        data_collator=DataCollatorForSeq2Seq(tokenizer),
        callbacks=[curve.callback],
    )
    trainer.remove_callback(PrinterCallback)
    last = last_whole_checkpoint(folder / "checkpoints")
    output = trainer.train(resume_from_checkpoint=last)
    measured = _measured(trainer) if held else {}
    trainer.model.to(torch_dtype(settings.dtype))
    trainer.save_model(str(folder))
    tokenizer.save_pretrained(str(folder))
    (folder / "training_args.bin").unlink(missing_ok=True)  # no one's but the trainer's
    steps = int(output.global_step)
    loss = mean_loss(folder / "log.jsonl") if last else float(output.training_loss)
    result = Trained(folder, steps, loss, measured, len(examples), long, last is not None)
    if trainer.is_world_process_zero():
        curve.draw(folder / "loss.svg")
        _write(folder / "training.json", {**plan, "result": result_object(result)})
        written_card(folder / "README.md", plan, result_object(result))
    return result


def _loaded(model: str, settings: TrainSettings, *, download: bool) -> tuple[Any, Any]:
    """The tokenizer, and the model to train.

    Weights that learn are kept in float32 and calculated with in the type of the settings: the
    steps of a training are too small for half of the digits.
    """
    dtype = settings.dtype if settings.lora else "float32"
    found = pretrained(model, dtype=dtype, download=download)
    if found.tokenizer.eos_token_id is None:
        raise SetupError(f"the tokenizer of {model!r} has no end: set its eos_token")
    if settings.lora:
        from peft import LoraConfig, TaskType, get_peft_model

        task = (
            TaskType.SEQ_2_SEQ_LM if found.model.config.is_encoder_decoder else TaskType.CAUSAL_LM
        )
        config = LoraConfig(
            task_type=task,
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules="all-linear",
        )
        made = get_peft_model(found.model, config)
    else:
        made = found.model
    return found.tokenizer, made


def _arguments(
    folder: Path, settings: TrainSettings, examples: int, measures: bool, device: str | None
) -> Any:
    steps = max(1, examples // (settings.batch * settings.gather) // settings.evaluations)
    return SFTConfig(
        output_dir=str(folder / "checkpoints"),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        gradient_accumulation_steps=settings.gather,
        learning_rate=settings.rate,
        warmup_steps=settings.warmup,
        weight_decay=settings.decay,
        seed=settings.seed,
        data_seed=settings.seed,
        logging_steps=max(1, steps // 10),
        logging_first_step=True,
        eval_strategy="steps" if measures else "no",
        eval_steps=steps,
        save_strategy="steps",
        save_steps=steps,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        activation_checkpointing=False,
        dataloader_pin_memory=False,
        use_cpu=device == "cpu",
        bf16=settings.dtype == "bfloat16",
    )


def _measured(trainer: Any) -> dict[str, float]:
    """Measure the loss after the last step, unless it is known, and the share of whole replies."""
    step = trainer.state.global_step
    known = [one for one in trainer.state.log_history if "eval_loss" in one and one["step"] == step]
    loss = (known[-1] if known else trainer.evaluate())["eval_loss"]
    right, model = [], trainer.model.eval()
    for batch in trainer.get_eval_dataloader():
        with torch.no_grad():
            likeliest = model(**batch).logits.argmax(dim=-1)
        labels = batch["labels"]
        if not model.config.is_encoder_decoder:
            likeliest, labels = likeliest[:, :-1], labels[:, 1:]
        hits = ((likeliest == labels) | (labels == _IGNORED)).all(dim=1)
        right.append(trainer.accelerator.gather_for_metrics(hits).float())
    whole = float(torch.cat(right).mean())
    return {"loss": round(float(loss), 4), "whole": round(whole, 4)}


def result_object(trained: Trained) -> dict[str, object]:
    """Return the result of a training as JSON has it."""
    return {
        "steps": trained.steps,
        "loss": round(trained.loss, 4),
        "evaluation": dict(trained.evaluation),
        "pairs": trained.pairs,
        "too_long": trained.too_long,
    }


def _write(path: Path, value: Mapping[str, object]) -> None:
    with replaced(path) as file:
        file.write((json.dumps(value, indent=2) + "\n").encode())


_KEPT = ("loss", "eval_loss", "learning_rate", "grad_norm")


class Curve:
    """Hears a trainer through `callback`, writes its log and tells its progress."""

    def __init__(self, path: Path, progress: Callable[[str, int, int | None], None]) -> None:
        self._path = path
        self._progress = progress
        self.callback = _callback(self)

    def hear(self, step: int, steps: int, news: dict[str, Any]) -> None:
        """Write what was measured at a step."""
        kept = {key: float(news[key]) for key in _KEPT if key in news}
        if kept:
            with self._path.open("ab") as file:
                file.write(json_line({"step": step, **kept}))
        self.tell(step, steps)

    def tell(self, step: int, steps: int) -> None:
        """Report the progress of the training."""
        self._progress("training", step, steps)

    def draw(self, path: Path) -> None:
        """Draw the curve as SVG, if altair is installed."""
        try:
            import altair as alt
            import vl_convert  # noqa: F401
        except ModuleNotFoundError:
            return
        lines = [json.loads(line) for line in self._path.read_text("utf-8").splitlines()]
        points = [
            {"step": line["step"], "loss": line[key], "of": name}
            for line in lines
            for key, name in (("loss", "training"), ("eval_loss", "other pairs"))
            if key in line
        ]
        chart = alt.Chart(alt.InlineData(points)).mark_line().encode(
            x=alt.X("step:Q"), y=alt.Y("loss:Q"), color=alt.Color("of:N", title=None)
        )  # fmt: skip
        chart.properties(width=500, height=250).save(str(path))


def mean_loss(path: Path) -> float:
    """Return the mean loss of a step over all runs of a training, as its log has it.

    A line tells the mean of the steps since the one before; of steps that were done again after a
    stop, the last line counts.
    """
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    losses = {line["step"]: line["loss"] for line in lines if "loss" in line}
    total, before = 0.0, 0
    for step in sorted(losses):
        total += losses[step] * (step - before)
        before = step
    return total / before if before else 0.0


def _callback(curve: Curve) -> Any:
    """Return an object of the class that transformers wants."""

    class Heard(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if state.is_world_process_zero:
                curve.hear(state.global_step, state.max_steps, more.get("logs") or {})

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            curve.tell(state.global_step, state.max_steps)

    return Heard()


def written_card(path: Path, plan: Mapping[str, object], result: Mapping[str, object]) -> None:
    """Write the card of a training's plan and its result."""
    settings = plan["settings"]
    assert isinstance(settings, Mapping)
    measured = result["evaluation"]
    assert isinstance(measured, Mapping)
    card = files("askgraph.training").joinpath("card.md").read_text("utf-8")
    text = card.format(
        model=plan["model"],
        version=version("askgraph"),
        folder=path.parent.name,
        data=plan["data"],
        settings="\n".join(f"| `{name}` | {value} |" for name, value in settings.items()),
        evaluation=_evaluation(measured),
        **{key: result[key] for key in ("pairs", "too_long", "steps", "loss")},
    )
    with replaced(path) as file:
        file.write(text.encode())


def _evaluation(measured: Mapping[str, object]) -> str:
    if not measured:
        return "No other pairs were measured while it was trained."
    return (
        f"On other pairs: loss {measured['loss']}; {measured['whole']} of the replies are right in "
        "every token, each token after the right ones before it."
    )


def merge(adapters: Path, folder: Path, *, download: bool = False) -> None:
    """Save the model with its adapters merged in into an empty folder; it appears whole or not.

    A GGUF file in the place of adapters is saved with its weights dequantised. Raises `SetupError`
    if it is neither, if the model below adapters is not on this machine (and `download` does not
    allow it to be fetched), and for a folder that is not empty.
    """
    if not is_gguf(str(adapters)) and not (adapters / "adapter_config.json").is_file():
        raise SetupError(
            f"{adapters} is no GGUF file and holds no adapters: a training with --lora makes them"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError(f"the folder {folder} is not empty: name another one")
    found = pretrained(str(adapters), download=download)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = fresh(folder)
    beside.mkdir()
    try:
        found.model.save_pretrained(beside)
        found.tokenizer.save_pretrained(beside)
        if folder.exists():
            folder.rmdir()
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def encoded(
    pairs: Iterable[Pair], tokenizer: Any, *, length: int, encoder_decoder: bool
) -> tuple[list[dict[str, list[int]]], int]:
    """Return the examples that fit into `length` tokens, and how many do not.

    The loss is of the reply and its end alone; the prompt is the very text that asks. Raises
    `SetupError` if nothing is left of a prompt.
    """
    found: list[dict[str, list[int]]] = []
    long = 0
    plain = not tokenizer.chat_template
    for pair in pairs:
        text = chat_text(messages(pair.question, pair.references), tokenizer)
        prompt = tokenizer(text, add_special_tokens=plain)["input_ids"]
        if not prompt:
            raise SetupError("the tokenizer makes nothing of the prompt: its template is empty")
        reply = tokenizer(pair.target, add_special_tokens=False)["input_ids"]
        reply = [*reply, tokenizer.eos_token_id]
        if len(prompt) + len(reply) > length:
            long += 1
        elif encoder_decoder:
            found.append({"input_ids": prompt, "labels": reply})
        else:
            labels = [_IGNORED] * len(prompt) + reply
            found.append({"input_ids": [*prompt, *reply], "labels": labels})
    return found, long
