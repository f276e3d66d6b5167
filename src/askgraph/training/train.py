"""Train a model on pairs: whole or by adapters, on a processor or many GPUs, resumed where it was.

    askgraph finetune train models/qwen pairs.jsonl --output models/ours
    accelerate launch -m askgraph finetune train …      # several GPUs

The folder of the output holds `checkpoints/`, from which a training goes on that was stopped, the
curve of the loss (`log.jsonl`, and `loss.svg` where altair is installed), `training.json` and, at
the end, the model with its card.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, Trainer, TrainingArguments

from askgraph.errors import SetupError
from askgraph.evaluation.files import replaced
from askgraph.llm.pretrained import pretrained, torch_device
from askgraph.training._curve import Curve, mean_loss
from askgraph.training._encoding import Collated, encoded
from askgraph.training.begun import begun, last_whole_checkpoint
from askgraph.training.card import written_card
from askgraph.training.pairs import Pair
from askgraph.training.settings import TrainSettings

__all__ = ["Trained", "result_object", "train"]

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Trained:
    """What a training gave: its steps, the last losses, and what was left out for its length.

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

    `data` is the hash of the pairs; `others` are pairs to measure the loss on while training. Where
    the folder holds a training with the same settings and data that was stopped, it goes on from
    its last whole checkpoint; where that has come to its end, what it gave is returned, and
    nothing is trained. Raises `SetupError` for a folder with anything else, a model that cannot be
    loaded, and pairs of which none fits.
    """
    plan = {"model": model, "settings": asdict(settings), "data": data}
    torch_device(device)
    if there := begun(folder, plan):
        return _ended(folder, there)
    torch.manual_seed(settings.seed)
    place = str(Path(model).resolve()) if Path(model).is_dir() else model
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
    trainer = Trainer(
        model=made,
        args=_arguments(folder, settings, len(examples), bool(held), device),
        train_dataset=examples,
        eval_dataset=held or None,
        data_collator=Collated(tokenizer.pad_token_id),
        callbacks=[curve.callback],
        compute_metrics=_whole_replies,
        preprocess_logits_for_metrics=_likeliest,
    )
    trainer.remove_callback(PrinterCallback)
    last = last_whole_checkpoint(folder / "checkpoints")
    output = trainer.train(resume_from_checkpoint=last)
    measured = _plain(trainer.evaluate()) if held else {}
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


def _ended(folder: Path, result: Mapping[str, Any]) -> Trained:
    return Trained(
        folder, result["steps"], result["loss"], result["evaluation"], result["pairs"],
        result["too_long"], resumed=False, ended=True,
    )  # fmt: skip


def _loaded(model: str, settings: TrainSettings, *, download: bool) -> tuple[Any, Any]:
    found = pretrained(model, dtype=settings.dtype, download=download)
    if found.tokenizer.eos_token_id is None:
        raise SetupError(f"the tokenizer of {model!r} has no end: set its eos_token")
    made = _with_adapters(found.model, settings) if settings.lora else found.model
    return found.tokenizer, made


def _with_adapters(made: Any, settings: TrainSettings) -> Any:
    from peft import LoraConfig, TaskType, get_peft_model

    task = TaskType.SEQ_2_SEQ_LM if made.config.is_encoder_decoder else TaskType.CAUSAL_LM
    config = LoraConfig(
        task_type=task,
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
    )
    return get_peft_model(made, config)


def _arguments(
    folder: Path, settings: TrainSettings, examples: int, measures: bool, device: str | None
) -> Any:
    steps = max(1, examples // (settings.batch * settings.gather) // settings.evaluations)
    return TrainingArguments(
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
        dataloader_pin_memory=False,
        use_cpu=device == "cpu",
        bf16=settings.dtype == "bfloat16",
    )


def _likeliest(logits: Any, labels: Any) -> Any:
    return (logits[0] if isinstance(logits, tuple) else logits).argmax(dim=-1)


def _whole_replies(predicted: Any) -> dict[str, float]:
    """The share of replies whose every token is the likeliest one after the right ones."""
    told, labels = torch.tensor(predicted.predictions), torch.tensor(predicted.label_ids)
    if told.shape == labels.shape and not (labels[:, 0] != -100).any():
        told, labels = told[:, :-1], labels[:, 1:]  # of a causal model, the next token
    right = (told == labels) | (labels == -100)
    return {"whole": float(right.all(dim=1).float().mean())}


def _plain(measured: Mapping[str, object]) -> dict[str, float]:
    wanted = {"eval_loss": "loss", "eval_whole": "whole"}
    return {name: round(float(str(measured[key])), 4) for key, name in wanted.items()}


def result_object(trained: Trained) -> dict[str, object]:
    """Return what a training gave as JSON has it."""
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
