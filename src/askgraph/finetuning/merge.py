"""Put trained adapters into the model that they were trained on, and save it whole."""

from pathlib import Path
from typing import Any

from peft import PeftConfig, PeftModel
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from askgraph.errors import SetupError

__all__ = ["merge"]


def merge(adapters: Path, folder: Path, *, download: bool = False) -> None:
    """Save the model with its adapters merged in into an empty folder.

    Raises `SetupError` where there are no adapters, where the model below them is not on this
    machine (and `download` does not allow it to be fetched), and for a folder that is not empty.
    """
    if not (adapters / "adapter_config.json").is_file():
        raise SetupError(f"{adapters} holds no adapters: a training with --lora makes them")
    if folder.exists() and any(folder.iterdir()):
        raise SetupError(f"the folder {folder} is not empty: name another one")
    disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": not download}
    try:
        below = PeftConfig.from_pretrained(adapters).base_model_name_or_path
        config = AutoConfig.from_pretrained(below, **options)
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        whole = kind.from_pretrained(below, dtype="auto", **options)
        whole = PeftModel.from_pretrained(whole, adapters).merge_and_unload()
        tokenizer = AutoTokenizer.from_pretrained(adapters)
    except (OSError, ValueError) as problem:
        first = (str(problem).splitlines() or [""])[0]
        raise SetupError(f"the adapters in {adapters} cannot be loaded: {first}") from problem
    whole.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
