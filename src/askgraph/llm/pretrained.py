"""Models on this machine, whole or as adapters; code that lies beside them is never run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from askgraph.errors import SetupError

_ADAPTER = "adapter_config.json"
_TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.tiktoken", "tekken*")
_FAILURES = (
    OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError,
    SafetensorError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A tokenizer, with something to fill up with, and its model as it was saved."""

    tokenizer: Any
    model: Any


def pretrained(model: str, *, dtype: str | None = None, download: bool = False) -> Pretrained:
    """Read a model by its folder, or by the name under which it is kept on this machine.

    Only `download` allows a name's hub to be asked. A folder of adapters (LoRA) names the model
    below, into which they are merged. Code that comes with a model is never run. Raises
    `SetupError` if it is not there, damaged, of an unknown kind, or without its tokenizer.
    """
    kind = torch_dtype(dtype)
    disable_progress_bar()
    folder = Path(model)
    if folder.is_dir() and not any(found for name in _TOKENIZERS for found in folder.glob(name)):
        raise SetupError(f"the folder {model!r} holds no tokenizer: copy its files there too")
    options = {"local_files_only": not download}
    try:
        adapters = (folder / _ADAPTER).is_file()
        made = _merged(model, kind, options) if adapters else _whole(model, kind, options)
        tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False, **options)
        readable = bool(tokenizer("SELECT", add_special_tokens=False)["input_ids"])
    except _FAILURES as problem:
        raise SetupError(_not_read(model, problem, download=download)) from problem
    if not readable:
        raise SetupError(f"the tokenizer of {model!r} knows no words: copy its files there too")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = tokenizer.eos_token_id
    return Pretrained(tokenizer, made)


def torch_dtype(name: str | None) -> Any:
    """Return a type of torch by its name; without one, "auto": as saved. Or `SetupError`."""
    if name is None:
        return "auto"
    kind = getattr(torch, name, None)
    if not isinstance(kind, torch.dtype) or not kind.is_floating_point:
        raise SetupError(f"torch has no type {name!r} of weights; take float32, bfloat16, float16")
    return kind


def torch_device(name: str | None) -> str:
    """Return a device of torch, by default a GPU if there is one; `SetupError` for others."""
    if name is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(name)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise SetupError(
            f"this machine has no device {name!r} for torch; take cpu, or cuda where there is a GPU"
        ) from problem
    if place.type == "meta":
        raise SetupError("the device 'meta' holds no weights; take cpu, or cuda")
    return name


def _whole(model: str, dtype: Any, options: dict[str, Any]) -> Any:
    config = AutoConfig.from_pretrained(model, trust_remote_code=False, **options)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    return kind.from_pretrained(model, dtype=dtype, trust_remote_code=False, **options)


def _merged(model: str, dtype: Any, options: dict[str, Any]) -> Any:
    from peft import PeftConfig, PeftModel

    below = PeftConfig.from_pretrained(model, **options).base_model_name_or_path
    if not below:
        raise ValueError("its adapters do not name the model that they are of")
    whole = _whole(below, dtype, options)
    return PeftModel.from_pretrained(whole, model, **options).merge_and_unload()


def _not_read(model: str, problem: Exception, *, download: bool) -> str:
    first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
    if Path(model).exists() or download:
        return f"the model {model!r} cannot be loaded: {first}"
    return (
        f"the model {model!r} is neither a folder nor kept on this machine. Name the folder of a "
        "model, or let it be fetched from its hub: --download, or `download = true` in the settings"
    )
