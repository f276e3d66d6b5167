"""Load a model of transformers from this machine: whole, or as adapters on another one."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
)
from transformers.utils.logging import disable_progress_bar

from askgraph.errors import SetupError
from askgraph.llm._by_grammar import Grammars

__all__ = ["Loaded", "loaded"]

_ADAPTER = "adapter_config.json"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A tokenizer and its model, ready to write."""

    tokenizer: Any
    model: Any

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether what is written stands apart from what is read."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def room(self) -> int:
        """How many tokens fit, of prompt and reply together, as far as the model says."""
        config = self.model.config.get_text_config()
        said = getattr(config, "max_position_embeddings", None) or self.tokenizer.model_max_length
        return min(int(said), 1_000_000)

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """The tokens that end a reply."""
        said = self.model.generation_config.eos_token_id
        listed = said if isinstance(said, list) else [said]
        every = [*listed, self.tokenizer.eos_token_id]
        return tuple(dict.fromkeys(token for token in every if token is not None))

    @cached_property
    def grammars(self) -> Grammars:
        """What compiles grammars for its vocabulary."""
        vocabulary = self.model.get_output_embeddings().weight.shape[0]
        return Grammars(self.tokenizer, vocabulary, self.stops)


def loaded(model: str, *, device: str | None, dtype: str | None, download: bool) -> Loaded:
    """Load a model by its folder or its name on a hub.

    A name is looked for in the local cache alone, unless `download` allows the hub to be asked. A
    folder of adapters (LoRA) names the model that they are put on. `device` is that of torch, by
    default a GPU where there is one; `dtype` is a type of torch, by default the one saved. Raises
    `SetupError` for what is not there or cannot be loaded.
    """
    options: dict[str, Any] = {"local_files_only": not download}
    disable_progress_bar()
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    kind = _dtype(dtype)
    try:
        adapters = (Path(model) / _ADAPTER).is_file()
        whole = _with_adapters(model, kind, options) if adapters else _whole(model, kind, options)
        tokenizer = AutoTokenizer.from_pretrained(model, **options)
        whole = whole.to(where)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as problem:
        raise SetupError(_not_loaded(model, problem, download=download)) from problem
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = tokenizer.eos_token_id
    whole.generation_config = _plain(whole, tokenizer)
    return Loaded(tokenizer, whole.eval())


def _whole(model: str, dtype: Any, options: dict[str, Any]) -> Any:
    config = AutoConfig.from_pretrained(model, **options)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    return kind.from_pretrained(model, dtype=dtype, **options)


def _with_adapters(model: str, dtype: Any, options: dict[str, Any]) -> Any:
    from peft import PeftConfig, PeftModel

    below = PeftConfig.from_pretrained(model).base_model_name_or_path
    return PeftModel.from_pretrained(_whole(below, dtype, options), model).merge_and_unload()


def _dtype(name: str | None) -> Any:
    if name is None:
        return "auto"
    kind = getattr(torch, name, None)
    if not isinstance(kind, torch.dtype):
        raise SetupError(f"torch has no type {name!r}; take float32, bfloat16 or float16")
    return kind


def _plain(model: Any, tokenizer: Any) -> Any:
    """The model's own settings without those of sampling: these come with each request."""
    own = model.generation_config
    return GenerationConfig(
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        decoder_start_token_id=own.decoder_start_token_id,
    )


def _not_loaded(model: str, problem: Exception, *, download: bool) -> str:
    first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
    if Path(model).exists() or download:
        return f"the model {model!r} cannot be loaded: {first}"
    return (
        f"the model {model!r} is neither a folder nor kept on this machine. Name the folder of a "
        "model, or let it be fetched from its hub with the model's setting `download = true`"
    )
