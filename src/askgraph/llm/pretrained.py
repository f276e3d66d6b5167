"""Models on this machine: their weights, whole, as adapters or GGUF, and the text they go on with.

Code that lies beside weights is never run. Training and asking go through here, so that both use
the same weights and the same text.
"""

import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GgufConfig,
    modeling_gguf_pytorch_utils,
)
from transformers.utils.logging import disable_progress_bar

from askgraph.errors import SetupError
from askgraph.llm import Assistant, Message, System, ToolCall, ToolResult, ToolSchema, User

_ADAPTER = "adapter_config.json"
_GGUF = ".gguf"
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.tiktoken", "tekken*")
_FAILURES = (
    OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, ImportError,
    ArithmeticError, MemoryError, struct.error, SafetensorError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A tokenizer, with something to fill up with, and its model as it was saved."""

    tokenizer: Any
    model: Any


def pretrained(model: str, *, dtype: str | None = None, download: bool = False) -> Pretrained:
    """Read a model by its folder or GGUF file, or by the name under which it is kept here.

    Only `download` allows a name's hub to be asked. A folder of adapters (LoRA) names the model
    below, into which they are merged. The weights of a GGUF file are dequantised. Code that comes
    with a model is never run. Raises `SetupError` if it is not there, damaged, of an unknown kind,
    or without its tokenizer.
    """
    kind = torch_dtype(dtype)
    disable_progress_bar()
    modeling_gguf_pytorch_utils.tqdm = lambda tensors, **_: tensors
    folder = Path(model)
    if is_gguf(model):
        _check_gguf(folder)
    if folder.is_dir() and not any(found for name in _TOKENIZERS for found in folder.glob(name)):
        raise SetupError(f"the folder {model!r} holds no tokenizer: copy its files there too")
    options = {"local_files_only": not download}
    try:
        adapters = (folder / _ADAPTER).is_file()
        if adapters:
            from peft import PeftConfig, PeftModel

            below = PeftConfig.from_pretrained(model, **options).base_model_name_or_path
            if not below:
                raise ValueError("its adapters do not name the model that they are of")
            whole = _whole(below, kind, options)
            made = PeftModel.from_pretrained(whole, model, **options).merge_and_unload()
        else:
            made = _whole(model, kind, options)
        place, of_file = _found(model, options)
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False, **of_file)
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


def is_gguf(model: str) -> bool:
    """Return whether the name of a model is that of a GGUF file."""
    return Path(model).suffix.lower() == _GGUF


def _check_gguf(file: Path) -> None:
    """Raise `SetupError` for a file that cannot be a whole model, before it is read."""
    if not file.is_file():
        raise SetupError(f"there is no file {str(file)!r}: name a GGUF file on this machine")
    if _PART.search(file.stem):
        raise SetupError(
            f"{str(file)!r} is one part of several: join them with `llama-gguf-split --merge`"
        )
    with file.open("rb") as opened:
        if opened.read(4) != b"GGUF":
            raise SetupError(f"{str(file)!r} is no GGUF file, or was not fetched to its end")
    if find_spec("gguf") is None:
        raise SetupError("GGUF files need gguf, which is missing: pip install 'askgraph[local]'")


def _found(model: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and options by which transformers reads a model: of GGUF, folder and file."""
    if not is_gguf(model):
        return model, options
    file = Path(model)
    return str(file.parent), {**options, "gguf_file": file.name}


def _whole(model: str, dtype: Any, options: dict[str, Any]) -> Any:
    place, options = _found(model, options)
    config = AutoConfig.from_pretrained(place, trust_remote_code=False, **options)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    if is_gguf(model):
        options = {**options, "quantization_config": GgufConfig(dequantize=True)}
    made = kind.from_pretrained(
        place, config=config, dtype=dtype, trust_remote_code=False, **options
    )
    made.name_or_path = model  # adapters name the model below by it
    if is_gguf(model):
        made.is_quantized = False
        for holder, name in ((made, "hf_quantizer"), (made.config, "quantization_config")):
            if hasattr(holder, name):
                delattr(holder, name)
    return made


def _not_read(model: str, problem: Exception, *, download: bool) -> str:
    first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
    if Path(model).exists() or download:
        return f"the model {model!r} cannot be loaded: {first}"
    return (
        f"the model {model!r} is neither a folder nor kept on this machine. Name the folder or "
        "GGUF file of a model, or let it be fetched from its hub: --download, or `download = true` "
        "in the settings"
    )


class ChatTokenizer(Protocol):
    """The needed part of a tokenizer of transformers."""

    chat_template: str | None

    def apply_chat_template(
        self, conversation: list[dict[str, str]], **options: Any
    ) -> str:  # `tokenize=False` is always given
        """Return the conversation as one text."""
        ...


def chat_text(messages: Sequence[Message], tokenizer: ChatTokenizer) -> str:
    """Return the text that ends where the model's reply begins.

    A model without a template of its own is shown the messages one after the other, each ended by
    an empty line, and `Reply:` at the end. Templates that know no system message get it as part of
    the first message.
    """
    turns = [_turn(message) for message in messages]
    if not tokenizer.chat_template:
        return "\n\n".join([*(turn["content"] for turn in turns), "Reply:\n"])
    if turns[0]["role"] == "system" and "system" not in tokenizer.chat_template:
        first, *rest = turns[1:] or [{"role": "user", "content": ""}]
        turns = [{**first, "content": f"{turns[0]['content']}\n\n{first['content']}"}, *rest]
    options: Mapping[str, object] = {"tokenize": False, "add_generation_prompt": True}
    if "enable_thinking" in tokenizer.chat_template:
        options = {**options, "enable_thinking": False}
    return tokenizer.apply_chat_template(turns, **options)


def _turn(message: Message) -> dict[str, str]:
    match message:
        case System(text=text):
            return {"role": "system", "content": text}
        case Assistant(text=text):
            return {"role": "assistant", "content": text}
        case ToolResult(tool=tool, text=text):
            return {"role": "user", "content": f"{tool} gave:\n{text}"}
        case User(text=text):
            return {"role": "user", "content": text}


_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)

_TOLD = """\
You can call tools. To call one, write an object in JSON between tags, and nothing behind it:
<tool_call>{"name": "NAME", "arguments": {…}}</tool_call>
The tools:"""


@dataclass(frozen=True)
class Called:
    """The words of a reply, and the calls among them."""

    text: str
    calls: tuple[ToolCall, ...]


def told_tools(tools: Sequence[ToolSchema]) -> str:
    """Return the description of tools for a model, in the form that most models know."""
    lines = [
        json.dumps({"name": t.name, "description": t.description, "parameters": dict(t.parameters)})
        for t in tools
    ]
    return "\n".join([_TOLD, *lines])


def calls_in(text: str) -> Called:
    """Return the calls that a reply makes; arguments are kept as written if they are no JSON."""
    calls = [_call(found[1], number) for number, found in enumerate(_CALL.finditer(text))]
    return Called(_CALL.sub("", text).strip(), tuple(calls))


def _call(written: str, number: int) -> ToolCall:
    try:
        given = json.loads(written)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return ToolCall(f"call-{number}", "", written)
    arguments = given.get("arguments", {})
    return ToolCall(f"call-{number}", str(given.get("name", "")), json.dumps(arguments))
