"""A model of transformers from this machine, ready to write."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from transformers import GenerationConfig

from askgraph.llm._by_grammar import Grammars
from askgraph.llm.pretrained import pretrained, torch_device

__all__ = ["Loaded", "loaded"]


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
    """Load a model to write with; see `pretrained`, `torch_device` and `torch_dtype`.

    Raises `SetupError` for what is not there or cannot be loaded.
    """
    where = torch_device(device)
    found = pretrained(model, dtype=dtype, download=download)
    whole = found.model.to(where)
    whole.generation_config = _plain(whole, found.tokenizer)
    return Loaded(found.tokenizer, whole.eval())


def _plain(model: Any, tokenizer: Any) -> Any:
    """The model's own settings without those of sampling: these come with each request."""
    own = model.generation_config
    return GenerationConfig(
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        decoder_start_token_id=own.decoder_start_token_id,
    )
