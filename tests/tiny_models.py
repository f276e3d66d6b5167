"""Language models of a few thousand weights, made on the spot: for tests of what runs real ones."""

import json
from collections.abc import Iterable
from pathlib import Path

import gguf
import numpy as np
from tests.late import torch, transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

__all__ = ["tiny_gguf", "tiny_qwen", "tiny_t5"]

_TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def tiny_qwen(folder: Path, texts: Iterable[str], *, width: int = 32, room: int = 1024) -> Path:
    """Save a Qwen2 with random weights, a tokenizer of these texts, and a chat template."""
    tokenizer = _tokenizer(texts)
    tokenizer.chat_template = _TEMPLATE
    torch.manual_seed(0)
    config = transformers.Qwen2Config(
        hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=room, **_tokens(tokenizer),
    )  # fmt: skip
    transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tiny_t5(folder: Path, texts: Iterable[str]) -> Path:
    """Save an encoder-decoder with random weights and no template."""
    tokenizer = _tokenizer(texts)
    torch.manual_seed(0)
    start = {"decoder_start_token_id": tokenizer.pad_token_id}
    sizes = {"d_model": 32, "d_ff": 64, "d_kv": 8, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(**sizes, **start, **_tokens(tokenizer))
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokens(tokenizer: "transformers.PreTrainedTokenizerFast") -> dict[str, int]:
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    return {"vocab_size": len(tokenizer), **ends}


def tiny_gguf(file: Path, texts: Iterable[str], *, architecture: str = "llama") -> Path:
    """Save a Llama with random weights, its tokenizer and chat template as one GGUF file."""
    width, blocks, heads = 32, 2, 4
    tokenizer = _tokenizer(texts)
    words = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    writer = gguf.GGUFWriter(file, architecture)
    writer.add_name("tiny")
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_block_count(blocks)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokenizer))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(sorted(words["vocab"], key=words["vocab"].get))
    writer.add_token_merges([" ".join(pair) for pair in words["merges"]])
    writer.add_token_types([3 if word.startswith("<|") else 1 for word in words["vocab"]])
    writer.add_bos_token_id(tokenizer.pad_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_unk_token_id(tokenizer.pad_token_id)
    writer.add_chat_template(_TEMPLATE)
    chance = np.random.default_rng(0)
    square, wide = (width, width), (2 * width, width)
    shapes = {"token_embd": (len(tokenizer), width), "output_norm": (width,)}
    for block in (f"blk.{number}." for number in range(blocks)):
        shapes |= {f"{block}{norm}": (width,) for norm in ("attn_norm", "ffn_norm")}
        shapes |= {f"{block}attn_{part}": square for part in ("q", "k", "v", "output")}
        shapes |= {f"{block}ffn_{part}": wide for part in ("gate", "up")}
        shapes[f"{block}ffn_down"] = wide[::-1]
    for name, shape in shapes.items():
        weights = chance.normal(0, 0.02, shape).astype(np.float32)
        writer.add_tensor(f"{name}.weight", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _tokenizer(texts: Iterable[str]) -> "transformers.PreTrainedTokenizerFast":
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|pad|>", "<|start|>", "<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    transformers.utils.logging.disable_progress_bar()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|pad|>", eos_token="<|end|>", model_max_length=1024
    )
