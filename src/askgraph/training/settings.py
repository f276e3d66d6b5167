"""The settings of a training, and those that the paper gives."""

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
    """Settings of a training; the defaults are those of query-based KGQA (NLDB 2025, appendix C).

    `length` is in tokens, prompt and reply together: what is longer is left out. `batch` is of one
    device, and `gather` batches make one step. `rate` is of learning, after `warmup` steps; it
    falls linearly to 0. `lora` trains adapters of `rank`, `alpha` and `dropout` on all linear
    layers and leaves the model as it is. `evaluations` is how often in an epoch the loss on other
    pairs is measured and a checkpoint saved. `dtype` is a type of torch.
    """

    length: int = 1024
    epochs: float = 3
    batch: int = 8
    gather: int = 1
    rate: float = 2e-5
    warmup: int = 500
    decay: float = 0.01
    seed: int = 42
    lora: bool = False
    rank: int = 16
    alpha: int = 16
    dropout: float = 0.1
    evaluations: int = 1
    dtype: str = "float32"

    def __post_init__(self) -> None:
        """Refuse values that cannot be: `SetupError`."""
        for name in ("length", "epochs", "batch", "gather", "rate", "rank", "alpha", "evaluations"):
            if not getattr(self, name) > 0:
                raise SetupError(f"{name} is {getattr(self, name)}; it must be more than 0")
        for name in ("warmup", "decay", "dropout"):
            if not getattr(self, name) >= 0:
                raise SetupError(f"{name} is {getattr(self, name)}; it must be 0 or more")


PRESETS = {
    "paper": TrainSettings(),
    "paper-lora": TrainSettings(lora=True),
    "quick": TrainSettings(epochs=30, rate=3e-3, warmup=10, length=512),
}
"""Settings by name: the paper's, whole and with adapters, and those of a tiny model."""


def preset(name: str, **changes: Any) -> TrainSettings:
    """Return the settings of a name, with what is given in place of theirs; None changes nothing.

    Raises `SetupError` for a name or setting that there is not.
    """
    if name not in PRESETS:
        raise SetupError(f"no preset {name!r}; there are {', '.join(PRESETS)}")
    given = {key: value for key, value in changes.items() if value is not None}
    if unknown := given.keys() - {field.name for field in fields(TrainSettings)}:
        raise SetupError(f"no setting {', '.join(sorted(unknown))} of a training")
    return TrainSettings(**{**asdict(PRESETS[name]), **given})


_PARTS = ("optimizer.pt", "scheduler.pt")


def begun(folder: Path, plan: Mapping[str, object]) -> Mapping[str, Any] | None:
    """Return the result of a training of this plan, None if it has none yet.

    Raises `SetupError` if the folder holds another training, or something else.
    """
    file = folder / "training.json"
    if not file.exists():
        first = int(os.environ.get("RANK", "0")) == 0  # the others may meet what it begins
        if first and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SetupError(f"the folder {folder} holds something else: name an empty one")
        return None
    try:
        there = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise SetupError(f"{file} cannot be read ({problem}): name another folder") from problem
    if not isinstance(there, dict):
        raise SetupError(f"{file} is of no training: name another folder")
    if different := [key for key in plan if there.get(key) != plan[key]]:
        raise SetupError(
            f"{folder} holds a training with another {' and '.join(different)}: name another "
            "folder, or train with what training.json says"
        )
    result: Mapping[str, Any] | None = there.get("result")
    return result


def last_whole_checkpoint(folder: Path) -> str | None:
    """Return the newest checkpoint that was written to its end; None if there is none."""
    found = [
        (int(number), path)
        for path in folder.glob("checkpoint-*")
        if (number := path.name.rpartition("-")[2]).isdigit()
    ]
    return next((str(path) for _, path in sorted(found, reverse=True) if _is_whole(path)), None)


def _is_whole(checkpoint: Path) -> bool:
    from safetensors import SafetensorError, safe_open  # of the extra `local`: settings need none

    weights = list(checkpoint.glob("*.safetensors"))
    if not weights or not all(zipfile.is_zipfile(checkpoint / part) for part in _PARTS):
        return False
    try:
        json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
        for file in weights:
            with safe_open(file, framework="pt"):
                pass
    except (OSError, ValueError, SafetensorError):
        return False
    return True
