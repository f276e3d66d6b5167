"""The settings of a training, and those that the paper gives."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from askgraph.errors import SetupError

__all__ = ["PRESETS", "TrainSettings", "preset"]


@dataclass(frozen=True)
class TrainSettings:
    """How a model is trained; the defaults are those of query-based KGQA (NLDB 2025, appendix C).

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
        """Refuse what cannot be: `SetupError`."""
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
