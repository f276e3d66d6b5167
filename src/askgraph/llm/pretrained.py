"""Models on this machine: load their weights (plain, adapters or GGUF), and build their prompts.

Code that comes with weights never runs. Training and inference both use this module, so that they
share the same weights and the same text.
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

_ADAPTER_CONFIG_NAME = "adapter_config.json"
_GGUF_SUFFIX = ".gguf"
_GGUF_PART_SUFFIX = re.compile(r"-\d{5}-of-\d{5}$")
_TOKENIZER_FILE_PATTERNS = ("tokenizer*", "vocab*", "*.model", "*.tiktoken", "tekken*")
_LOADING_ERRORS = (
    OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, ImportError,
    ArithmeticError, MemoryError, struct.error, SafetensorError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PretrainedModel:
    """A tokenizer with a padding token, and its model as it was saved."""

    tokenizer: Any
    model: Any


def load_pretrained(
    model: str, *, dtype: str | None = None, download: bool = False
) -> PretrainedModel:
    """Load a model from a folder or GGUF file, or by name from the local cache.

    A folder of adapters (LoRA) names its base model, into which they are merged. The weights of a
    GGUF file are dequantised. Code that comes with a model never runs.

    Args:
        download: allow to download a named model from its hub.

    Raises:
        SetupError: it is missing, damaged, of an unknown kind, or without its tokenizer.
    """
    weight_type = get_torch_dtype(dtype)
    disable_progress_bar()
    modeling_gguf_pytorch_utils.tqdm = lambda tensors, **_: tensors
    folder = Path(model)
    if is_gguf(model):
        _check_gguf(folder)
    if folder.is_dir() and not any(
        path for name in _TOKENIZER_FILE_PATTERNS for path in folder.glob(name)
    ):
        raise SetupError(f"the folder {model!r} contains no tokenizer: copy its files there too")
    options = {"local_files_only": not download}
    try:
        if (folder / _ADAPTER_CONFIG_NAME).is_file():
            from peft import PeftConfig, PeftModel

            base_model = PeftConfig.from_pretrained(model, **options).base_model_name_or_path
            if not base_model:
                raise ValueError("its adapters do not name their base model")
            base = _load_weights(base_model, weight_type, options)
            loaded_model = PeftModel.from_pretrained(base, model, **options).merge_and_unload()
        else:
            loaded_model = _load_weights(model, weight_type, options)
        source, file_options = _get_source(model, options)
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False, **file_options)
        readable = bool(tokenizer("SELECT", add_special_tokens=False)["input_ids"])
    except _LOADING_ERRORS as problem:
        raise SetupError(_build_loading_message(model, problem, download=download)) from problem
    if not readable:
        raise SetupError(f"the tokenizer of {model!r} has no vocabulary: copy its files there too")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = tokenizer.eos_token_id
    return PretrainedModel(tokenizer, loaded_model)


def get_torch_dtype(name: str | None) -> Any:
    """Return a type of torch, "auto" without a name; raise `SetupError` if it is unknown."""
    if name is None:
        return "auto"
    weight_type = getattr(torch, name, None)
    if not isinstance(weight_type, torch.dtype) or not weight_type.is_floating_point:
        raise SetupError(f"torch has no weight type {name!r}; choose float32, bfloat16 or float16")
    return weight_type


def get_torch_device(name: str | None) -> str:
    """Return a torch device, by default a GPU; raise `SetupError` if the machine lacks it."""
    if name is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise SetupError(
            f"this machine has no device {name!r} for torch; choose cpu, or cuda on a "
            "machine with a GPU"
        ) from problem
    if device.type == "meta":
        raise SetupError("the device 'meta' cannot hold weights; choose cpu or cuda")
    return name


def is_gguf(model: str) -> bool:
    """Return whether a model name is the path of a GGUF file."""
    return Path(model).suffix.lower() == _GGUF_SUFFIX


def _check_gguf(file: Path) -> None:
    """Raise `SetupError` for a file that cannot be a complete model, before it is loaded."""
    if not file.is_file():
        raise SetupError(f"there is no file {str(file)!r}: name a GGUF file on this machine")
    if _GGUF_PART_SUFFIX.search(file.stem):
        raise SetupError(
            f"{str(file)!r} is one of several parts: join them with `llama-gguf-split --merge`"
        )
    with file.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise SetupError(f"{str(file)!r} is not a GGUF file, or its download is incomplete")
    if find_spec("gguf") is None:
        raise SetupError("GGUF files need gguf, which is missing: pip install 'askgraph[local]'")


def _get_source(model: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and options to load a model by: for GGUF, folder and file."""
    if not is_gguf(model):
        return model, options
    file = Path(model)
    return str(file.parent), {**options, "gguf_file": file.name}


def _load_weights(model: str, dtype: Any, options: dict[str, Any]) -> Any:
    source, options = _get_source(model, options)
    config = AutoConfig.from_pretrained(source, trust_remote_code=False, **options)
    model_class = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    if is_gguf(model):
        options = {**options, "quantization_config": GgufConfig(dequantize=True)}
    loaded_model = model_class.from_pretrained(
        source, config=config, dtype=dtype, trust_remote_code=False, **options
    )
    loaded_model.name_or_path = model  # adapters name the model below by it
    if is_gguf(model):
        loaded_model.is_quantized = False
        for holder, name in (
            (loaded_model, "hf_quantizer"),
            (loaded_model.config, "quantization_config"),
        ):
            if hasattr(holder, name):
                delattr(holder, name)
    return loaded_model


def _build_loading_message(model: str, problem: Exception, *, download: bool) -> str:
    first_line = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
    if Path(model).exists() or download:
        return f"the model {model!r} cannot be loaded: {first_line}"
    return (
        f"the model {model!r} is neither a folder nor cached on this machine. Name the "
        "folder or GGUF file of a model, or allow its download from the hub with "
        "--download, or `download = true` in the settings"
    )


class ChatTokenizer(Protocol):
    """The required part of a tokenizer of transformers."""

    chat_template: str | None

    def apply_chat_template(
        self, conversation: list[dict[str, str]], **options: Any
    ) -> str:  # `tokenize=False` is always passed
        """Return the conversation as a single text."""


def build_chat_prompt(messages: Sequence[Message], tokenizer: ChatTokenizer) -> str:
    """Return the prompt, which ends where the model's reply begins.

    Without a chat template, the messages follow each other, each ended by an empty line, with
    `Reply:` at the end. Templates without system messages get it as part of the first message.
    """
    turns = [_to_turn(message) for message in messages]
    if not tokenizer.chat_template:
        return "\n\n".join([*(turn["content"] for turn in turns), "Reply:\n"])
    if turns[0]["role"] == "system" and "system" not in tokenizer.chat_template:
        first_turn, *further_turns = turns[1:] or [{"role": "user", "content": ""}]
        turns = [
            {**first_turn, "content": f"{turns[0]['content']}\n\n{first_turn['content']}"},
            *further_turns,
        ]
    options: Mapping[str, object] = {"tokenize": False, "add_generation_prompt": True}
    if "enable_thinking" in tokenizer.chat_template:
        options = {**options, "enable_thinking": False}
    return tokenizer.apply_chat_template(turns, **options)


def _to_turn(message: Message) -> dict[str, str]:
    match message:
        case System(text=text):
            return {"role": "system", "content": text}
        case Assistant(text=text):
            return {"role": "assistant", "content": text}
        case ToolResult(tool=tool, text=text):
            return {"role": "user", "content": f"{tool} gave:\n{text}"}
        case User(text=text):
            return {"role": "user", "content": text}


_TOOL_CALL_PATTERN = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)

_TOOLS_INSTRUCTION = """\
You can call tools. To call one, write an object in JSON between tags, and nothing behind it:
<tool_call>{"name": "NAME", "arguments": {…}}</tool_call>
The tools:"""


@dataclass(frozen=True)
class ReplyWithCalls:
    """The text of a reply, and the tool calls in it."""

    text: str
    calls: tuple[ToolCall, ...]


def describe_tools(tools: Sequence[ToolSchema]) -> str:
    """Return the description of tools for a model, in the most common format."""
    lines = [
        json.dumps(
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            }
        )
        for tool in tools
    ]
    return "\n".join([_TOOLS_INSTRUCTION, *lines])


def parse_tool_calls(text: str) -> ReplyWithCalls:
    """Return the tool calls of a reply; invalid JSON arguments are kept as written."""
    calls = [
        _parse_call(match[1], number)
        for number, match in enumerate(_TOOL_CALL_PATTERN.finditer(text))
    ]
    return ReplyWithCalls(_TOOL_CALL_PATTERN.sub("", text).strip(), tuple(calls))


def _parse_call(call_text: str, number: int) -> ToolCall:
    try:
        call = json.loads(call_text)
    except ValueError:
        call = None
    if not isinstance(call, dict):
        return ToolCall(f"call-{number}", "", call_text)
    arguments = call.get("arguments", {})
    return ToolCall(f"call-{number}", str(call.get("name", "")), json.dumps(arguments))
