"""Training of a model on pairs: full or with adapters, on a CPU or many GPUs, resumable.

    askgraph finetune train models/qwen pairs.jsonl --output models/ours
    accelerate launch -m askgraph finetune train …      # several GPUs

The output folder holds `checkpoints/`, from which an interrupted training resumes, the loss curve
(`log.jsonl`, and `loss.svg` if altair is installed), `training.json` and, at the end, the model
with its card.
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

from askgraph.atomic_files import make_temporary_path
from askgraph.errors import SetupError
from askgraph.evaluation.files import format_json_line, replace_file
from askgraph.llm import pretrained
from askgraph.methods.writing.model_writer import build_messages
from askgraph.training import TrainSettings, find_last_checkpoint, load_result
from askgraph.training.pairs import TrainingPair

Progress = Callable[[str, int, int | None], None]
_IGNORED_LABEL = -100  # a label that the loss ignores


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training: its steps, last losses, and the number of pairs that were too long.

    `ended` means that it had finished before and that this call trained nothing.
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
    pairs: Sequence[TrainingPair],
    folder: Path,
    *,
    settings: TrainSettings,
    data: str,
    evaluation_pairs: Sequence[TrainingPair] = (),
    device: str | None = None,
    download: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> TrainingResult:
    """Train a model and save it to a folder.

    If the folder holds an interrupted training with the same settings and data, it resumes from the
    last complete checkpoint; if that training had finished, its result is returned.

    Args:
        model: A folder, or the name of a model on this machine.
        folder: The output folder.
        data: Hash of the pairs.
        evaluation_pairs: Pairs to measure the loss on during training.
        device: A torch device, or None.
        download: Whether the model may be downloaded.
        progress: Called with the phase, and the number of finished and of all steps.

    Raises:
        SetupError: The folder holds other files, the model cannot be loaded, or no pair fits.
    """
    plan = {"model": model, "settings": asdict(settings), "data": data}
    pretrained.get_torch_device(device)
    if previous_result := load_result(folder, plan):
        return TrainingResult(folder, **previous_result, resumed=False, ended=True)
    torch.manual_seed(settings.seed)
    model_path = str(Path(model).resolve()) if Path(model).exists() else model
    tokenizer, trained_model = _load_model(model_path, settings, download=download)
    is_encoder_decoder = trained_model.config.is_encoder_decoder
    examples, too_long_count = encode_pairs(
        pairs, tokenizer, max_tokens=settings.length, encoder_decoder=is_encoder_decoder
    )
    evaluation_examples, _ = encode_pairs(
        evaluation_pairs, tokenizer, max_tokens=settings.length, encoder_decoder=is_encoder_decoder
    )
    if not examples:
        raise SetupError(
            f"all {too_long_count} pairs are longer than {settings.length} tokens: raise the "
            "setting `length`"
        )
    if int(os.environ.get("RANK", "0")) == 0:  # of several processes, the first
        folder.mkdir(parents=True, exist_ok=True)
        _write_json(folder / "training.json", plan)
    curve = LossCurve(folder / "log.jsonl", progress)
    # trl trains no encoder-decoder models.
    trainer_class = Trainer if is_encoder_decoder else SFTTrainer
    trainer = trainer_class(
        model=trained_model,
        args=_build_arguments(folder, settings, len(examples), bool(evaluation_examples), device),
        train_dataset=Dataset.from_list(examples),
        eval_dataset=Dataset.from_list(evaluation_examples) if evaluation_examples else None,
        processing_class=tokenizer,
        data_collator=DataCollatorForSeq2Seq(tokenizer),
        callbacks=[curve],
    )
    trainer.remove_callback(PrinterCallback)
    checkpoint = find_last_checkpoint(folder / "checkpoints")
    output = trainer.train(resume_from_checkpoint=checkpoint)
    evaluation = _evaluate_model(trainer) if evaluation_examples else {}
    trainer.model.to(pretrained.get_torch_dtype(settings.dtype))
    trainer.save_model(str(folder))
    tokenizer.save_pretrained(str(folder))
    (folder / "training_args.bin").unlink(missing_ok=True)  # no one's but the trainer's
    steps = int(output.global_step)
    loss = compute_mean_loss(folder / "log.jsonl") if checkpoint else float(output.training_loss)
    result = TrainingResult(
        folder, steps, loss, evaluation, len(examples), too_long_count, checkpoint is not None
    )
    if trainer.is_world_process_zero():
        curve.draw(folder / "loss.svg")
        _write_json(folder / "training.json", {**plan, "result": to_result_object(result)})
        write_card(folder / "README.md", plan, to_result_object(result))
    return result


def _load_model(model: str, settings: TrainSettings, *, download: bool) -> tuple[Any, Any]:
    """Return the tokenizer and the model to train, stored in float32 since steps are small."""
    dtype = settings.dtype if settings.lora else "float32"
    loaded = pretrained.load_pretrained(model, dtype=dtype, download=download)
    if loaded.tokenizer.eos_token_id is None:
        raise SetupError(f"the tokenizer of {model!r} has no end token: set its eos_token")
    if settings.lora:
        from peft import LoraConfig, TaskType, get_peft_model

        task = (
            TaskType.SEQ_2_SEQ_LM if loaded.model.config.is_encoder_decoder else TaskType.CAUSAL_LM
        )
        config = LoraConfig(
            task_type=task,
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules="all-linear",
        )
        trained_model = get_peft_model(loaded.model, config)
    else:
        trained_model = loaded.model
    return loaded.tokenizer, trained_model


def _build_arguments(
    folder: Path, settings: TrainSettings, examples: int, has_evaluation: bool, device: str | None
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
        eval_strategy="steps" if has_evaluation else "no",
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


def _evaluate_model(trainer: Any) -> dict[str, float]:
    """Return the loss after the last step and the share of fully correct replies."""
    step = trainer.state.global_step
    logged = [
        entry
        for entry in trainer.state.log_history
        if "eval_loss" in entry and entry["step"] == step
    ]
    loss = (logged[-1] if logged else trainer.evaluate())["eval_loss"]
    match_parts, model = [], trainer.model.eval()
    for batch in trainer.get_eval_dataloader():
        with torch.no_grad():
            predictions = model(**batch).logits.argmax(dim=-1)
        labels = batch["labels"]
        if not model.config.is_encoder_decoder:
            predictions, labels = predictions[:, :-1], labels[:, 1:]
        matches = ((predictions == labels) | (labels == _IGNORED_LABEL)).all(dim=1)
        match_parts.append(trainer.accelerator.gather_for_metrics(matches).float())
    return {"loss": round(float(loss), 4), "whole": round(float(torch.cat(match_parts).mean()), 4)}


def to_result_object(trained: TrainingResult) -> dict[str, object]:
    """Return the result of a training as JSON."""
    return {
        "steps": trained.steps,
        "loss": round(trained.loss, 4),
        "evaluation": dict(trained.evaluation),
        "pairs": trained.pairs,
        "too_long": trained.too_long,
    }


def _write_json(path: Path, value: Mapping[str, object]) -> None:
    with replace_file(path) as file:
        file.write((json.dumps(value, indent=2) + "\n").encode())


_LOGGED_KEYS = ("loss", "eval_loss", "learning_rate", "grad_norm")


class LossCurve(TrainerCallback):  # type: ignore[misc]
    """Logs the losses that a trainer of transformers reports, and its progress."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self._path = path
        self._progress = progress

    def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Write the measurements of a step to the log."""
        logs = more.get("logs") or {}
        values = {key: float(logs[key]) for key in _LOGGED_KEYS if key in logs}
        if values and state.is_world_process_zero:
            with self._path.open("ab") as file:
                file.write(format_json_line({"step": state.global_step, **values}))

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Report the progress of the training."""
        self._progress("training", state.global_step, state.max_steps)

    def draw(self, path: Path) -> None:
        """Draw the curve as SVG, if altair is installed."""
        try:
            import altair as alt
            import vl_convert  # noqa: F401
        except ModuleNotFoundError:
            return
        points = [
            {"step": line["step"], "loss": line[key], "of": name}
            for line in [json.loads(line) for line in self._path.read_text("utf-8").splitlines()]
            for key, name in (("loss", "training"), ("eval_loss", "other pairs"))
            if key in line
        ]
        chart = alt.Chart(alt.InlineData(points)).mark_line().encode(
            x=alt.X("step:Q"), y=alt.Y("loss:Q"), color=alt.Color("of:N", title=None)
        )  # fmt: skip
        chart.properties(width=500, height=250).save(str(path))


def compute_mean_loss(path: Path) -> float:
    """Return the mean loss per step over all runs of a training, from its log.

    A line holds the mean since the line before; for steps repeated after an interruption, the last
    line counts.
    """
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    losses = {line["step"]: line["loss"] for line in lines if "loss" in line}
    total, last_step = 0.0, 0
    for step in sorted(losses):
        total += losses[step] * (step - last_step)
        last_step = step
    return total / last_step if last_step else 0.0


def write_card(path: Path, plan: Mapping[str, object], result: Mapping[str, object]) -> None:
    """Write the model card from a training's plan and result."""
    settings = plan["settings"]
    assert isinstance(settings, Mapping)
    evaluation_text = "No other pairs were measured while it was trained."
    if isinstance(evaluation := result["evaluation"], Mapping) and evaluation:
        evaluation_text = (
            f"On other pairs: loss {evaluation['loss']}; {evaluation['whole']} of the replies are "
            "right in every token, each token after the right ones before it."
        )
    card = files("askgraph.training").joinpath("card.md").read_text("utf-8")
    text = card.format(
        model=plan["model"],
        version=version("askgraph"),
        folder=path.parent.name,
        data=plan["data"],
        settings="\n".join(f"| `{name}` | {value} |" for name, value in settings.items()),
        evaluation=evaluation_text,
        **{key: result[key] for key in ("pairs", "too_long", "steps", "loss")},
    )
    with replace_file(path) as file:
        file.write(text.encode())


def merge_adapters(adapters: Path, folder: Path, *, download: bool = False) -> None:
    """Merge adapters into their model and save it to an empty folder, atomically.

    A GGUF file instead of adapters is saved with its weights dequantised.

    Raises:
        SetupError: `adapters` is neither, the base model is not on this machine (and `download` is
            false), or the folder is not empty.
    """
    if not pretrained.is_gguf(str(adapters)) and not (adapters / "adapter_config.json").is_file():
        raise SetupError(
            f"{adapters} is neither a GGUF file nor a folder with adapters: create "
            "adapters by training with --lora"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError(f"the folder {folder} is not empty: name another one")
    loaded = pretrained.load_pretrained(str(adapters), download=download)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary_folder = make_temporary_path(folder)
    temporary_folder.mkdir()
    try:
        loaded.model.save_pretrained(temporary_folder)
        loaded.tokenizer.save_pretrained(temporary_folder)
        if folder.exists():
            folder.rmdir()
        temporary_folder.rename(folder)
    finally:
        shutil.rmtree(temporary_folder, ignore_errors=True)


def encode_pairs(
    pairs: Iterable[TrainingPair], tokenizer: Any, *, max_tokens: int, encoder_decoder: bool
) -> tuple[list[dict[str, list[int]]], int]:
    """Return the examples that fit into `max_tokens`, and the number of pairs that do not.

    Only the reply and its end token have a loss; the prompt equals the prompt at inference.

    Raises:
        SetupError: A prompt encodes to no tokens.
    """
    examples: list[dict[str, list[int]]] = []
    too_long_count = 0
    has_no_template = not tokenizer.chat_template
    for pair in pairs:
        text = pretrained.build_chat_prompt(build_messages(pair.question, pair.names), tokenizer)
        prompt = tokenizer(text, add_special_tokens=has_no_template)["input_ids"]
        if not prompt:
            raise SetupError(
                "the tokenizer renders the prompt as nothing: its chat template is empty"
            )
        reply = tokenizer(pair.target, add_special_tokens=False)["input_ids"]
        reply = [*reply, tokenizer.eos_token_id]
        if len(prompt) + len(reply) > max_tokens:
            too_long_count += 1
        elif encoder_decoder:
            examples.append({"input_ids": prompt, "labels": reply})
        else:
            labels = [_IGNORED_LABEL] * len(prompt) + reply
            examples.append({"input_ids": [*prompt, *reply], "labels": labels})
    return examples, too_long_count
