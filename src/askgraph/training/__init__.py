"""Fine-tuning of language models that write queries; the settings of a training.

What lives here: training pairs and the training itself. May import: `evaluation` and the rooms
below it. Start reading at `pairs.py`.
"""

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError


@dataclass(frozen=True)
class TrainSettings:
    """Settings of a training; defaults are those of query-based KGQA (NLDB 2025, appendix C)."""

    length: int = 1024  # maximum tokens of prompt and reply; longer pairs are skipped
    epochs: float = 3  # number of epochs
    batch: int = 8  # batch size per device
    gather: int = 1  # batches per step
    rate: float = 2e-5  # learning rate after warm-up; it decreases linearly to 0
    warmup: int = 500  # warm-up steps
    decay: float = 0.01  # weight decay
    seed: int = 42  # random seed
    lora: bool = False  # train adapters on all linear layers and leave the model unchanged
    rank: int = 16  # rank of the adapters
    alpha: int = 16  # scale of the adapters
    dropout: float = 0.1  # dropout of the adapters
    evaluations: int = 1  # evaluations on held-out pairs, and checkpoints, per epoch
    dtype: str = "float32"  # a torch type

    def __post_init__(self) -> None:
        """Validate the values; raise `SetupError` if one is out of range."""
        for name in ("length", "epochs", "batch", "gather", "rate", "rank", "alpha", "evaluations"):
            if not getattr(self, name) > 0:
                raise SetupError(f"{name} must be more than 0, not {getattr(self, name)}")
        for name in ("warmup", "decay", "dropout"):
            if not getattr(self, name) >= 0:
                raise SetupError(f"{name} must be 0 or more, not {getattr(self, name)}")


PRESETS = {
    "paper": TrainSettings(),
    "paper-lora": TrainSettings(lora=True),
    "quick": TrainSettings(epochs=30, rate=3e-3, warmup=10, length=512),
}
"""Settings by name: the paper's, full and with adapters, and settings for a tiny model."""


def build_settings(name: str, **changes: Any) -> TrainSettings:
    """Return a preset with changes (None keeps a setting); raise `SetupError` for unknown names."""
    if name not in PRESETS:
        raise SetupError(f"no preset {name!r}; available: {', '.join(PRESETS)}")
    overrides = {key: value for key, value in changes.items() if value is not None}
    if unknown := overrides.keys() - {field.name for field in fields(TrainSettings)}:
        raise SetupError(f"unknown training settings: {', '.join(sorted(unknown))}")
    return TrainSettings(**{**asdict(PRESETS[name]), **overrides})


_CHECKPOINT_FILES = ("optimizer.pt", "scheduler.pt")


def load_result(folder: Path, plan: Mapping[str, object]) -> Mapping[str, Any] | None:
    """Return a finished result of this plan, else None; raise `SetupError` for other folders."""
    file = folder / "training.json"
    if not file.exists():
        # Other processes may see its unfinished files.
        is_first_process = int(os.environ.get("RANK", "0")) == 0
        if is_first_process and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SetupError(f"the folder {folder} contains other files: name an empty one")
        return None
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SetupError(f"{file} cannot be read ({error}): name another folder") from error
    if not isinstance(content, dict):
        raise SetupError(f"{file} does not describe a training: name another folder")
    if changed_keys := [key for key in plan if content.get(key) != plan[key]]:
        raise SetupError(
            f"{folder} contains a training with another {' and '.join(changed_keys)}: name "
            "another folder, or use the settings in its training.json"
        )
    result: Mapping[str, Any] | None = content.get("result")
    return result


def find_last_checkpoint(folder: Path) -> str | None:
    """Return the newest complete checkpoint; None without one."""
    checkpoints = [
        (int(number), path)
        for path in folder.glob("checkpoint-*")
        if (number := path.name.rpartition("-")[2]).isdigit()
    ]
    return next(
        (str(path) for _, path in sorted(checkpoints, reverse=True) if _is_complete(path)), None
    )


def _is_complete(checkpoint: Path) -> bool:
    from safetensors import SafetensorError, safe_open  # of the extra `local`

    weights = list(checkpoint.glob("*.safetensors"))
    if not weights or not all(zipfile.is_zipfile(checkpoint / name) for name in _CHECKPOINT_FILES):
        return False
    try:
        json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
        for file in weights:
            with safe_open(file, framework="pt"):
                pass
    except (OSError, ValueError, SafetensorError):
        return False
    return True
