"""Put trained adapters into the model that they were trained on, and save it whole."""

import shutil
import tempfile
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.llm.pretrained import pretrained

__all__ = ["merge"]


def merge(adapters: Path, folder: Path, *, download: bool = False) -> None:
    """Save the model with its adapters merged in into an empty folder; it appears whole or not.

    Raises `SetupError` where there are no adapters, where the model below them is not on this
    machine (and `download` does not allow it to be fetched), and for a folder that is not empty.
    """
    if not (adapters / "adapter_config.json").is_file():
        raise SetupError(f"{adapters} holds no adapters: a training with --lora makes them")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError(f"the folder {folder} is not empty: name another one")
    found = pretrained(str(adapters), download=download)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        found.model.save_pretrained(beside)
        found.tokenizer.save_pretrained(beside)
        beside.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
