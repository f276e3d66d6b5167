"""Training of the ranker with torch: an encoder learns to prefer the candidates that are right.

The encoder is any that transformers knows as BERT, cut to its first layers (MiniLM of
sentence-transformers is one). A question's candidates are weighed against each other: the loss is
the logarithm of the worth that a draw by their scores may expect (listwise, as in Cao et al.,
"Learning to rank: from pairwise approach to listwise approach", 2007, with worths for labels).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Encoding
from torch import Tensor
from transformers import AutoConfig, AutoTokenizer, BertModel
from transformers.utils import logging

from askgraph.answers.encoder import LONGEST, Sizes, encoded, tokenizer_of
from askgraph.atomic_files import replaced
from askgraph.errors import SetupError
from askgraph.llm.pretrained import is_gguf
from askgraph.training.pairs import Lesson

Floats = NDArray[np.float32]
Told = Callable[[int, int, float], None]

_KEEP = 25  # steps after which what was learned is kept
_LAST = 20  # losses whose mean is told
_SCORE = 2.0  # what graph search's own score is multiplied by, to begin with
_VERDICT = 10.0  # the new output learns so many times as fast


@dataclass(frozen=True)
class Plan:
    """How to train: `offers` candidates of each of a `batch` of questions are compared.

    The encoder keeps its first `layers`; `dtype` is what it calculates in. Raises `SetupError` for
    another one than float32 and bfloat16.
    """

    layers: int = 3
    epochs: int = 2
    batch: int = 16
    rate: float = 1e-4
    offers: int = 5
    decay: float = 0.01
    dtype: str = "float32"
    seed: int = 42

    def __post_init__(self) -> None:
        if self.dtype not in ("float32", "bfloat16"):
            raise SetupError(f"dtype {self.dtype!r} is none of float32, bfloat16")


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training gave: weights and their sizes, the tokenizer, the mean of the last losses."""

    weights: Mapping[str, Floats]
    sizes: Sizes
    tokenizer: str
    loss: float


@dataclass(frozen=True, eq=False)
class _Encoder:
    """The encoder with one output, and the weight of graph search's own score."""

    bert: BertModel
    verdict: Tensor
    score: Tensor

    @classmethod
    def of(cls, base: Path, layers: int) -> Self:
        bert = _loaded(base, layers)
        bert.embeddings.word_embeddings.weight.requires_grad_(False)
        verdict = torch.zeros(bert.config.hidden_size, 1, requires_grad=True)
        return cls(bert, verdict, torch.tensor(_SCORE, requires_grad=True))

    @property
    def own(self) -> list[Tensor]:
        """The encoder's weights that learn."""
        return [one for one in self.bert.parameters() if one.requires_grad]

    def __call__(self, found: Sequence[Encoding]) -> Tensor:
        """How well each candidate fits its question."""
        length = max(len(one.ids) for one in found)

        def padded(name: str) -> Tensor:
            rows = [[*getattr(one, name), *[0] * (length - len(one.ids))] for one in found]
            return torch.tensor(rows, dtype=torch.long)

        mask = padded("attention_mask")
        vectors = self.bert(
            input_ids=padded("ids"), token_type_ids=padded("type_ids"), attention_mask=mask
        ).last_hidden_state
        there = mask[..., None].to(vectors.dtype)
        mean = (vectors * there).sum(1) / there.sum(1)
        given: Tensor = (mean @ self.verdict)[:, 0]
        return given.float()


def _loaded(base: Path, layers: int) -> BertModel:
    """The first layers of an encoder, with what the ranker's arithmetic has in its place."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        config = AutoConfig.from_pretrained(str(base), local_files_only=True)
        if config.max_position_embeddings < LONGEST:
            raise SetupError(f"{base} reads fewer than {LONGEST} tokens: name another model")
        config.num_hidden_layers = min(layers, config.num_hidden_layers)
        config.hidden_act, config.layer_norm_eps = "gelu_new", 1e-12
        return BertModel.from_pretrained(
            str(base), config=config, add_pooling_layer=False, local_files_only=True,
            dtype=torch.float32,
        )  # fmt: skip
    except (OSError, ValueError) as problem:
        raise SetupError(_no_model(base, problem)) from problem


def is_encoder(base: Path) -> bool:
    """Return whether a folder holds a BERT; a language model is none, nor is a GGUF file.

    Raises `SetupError` if there is no model that can be read.
    """
    if is_gguf(str(base)):
        return False
    if not base.is_dir():
        raise SetupError(_no_model(base, "there is no such folder"))
    try:
        config = AutoConfig.from_pretrained(str(base), local_files_only=True)
    except (OSError, ValueError) as problem:
        raise SetupError(_no_model(base, problem)) from problem
    tokenizer_in(base)
    return bool(config.model_type == "bert")


def _no_model(base: Path, problem: object) -> str:
    return (
        f"{base} holds no encoder ({problem}): name a folder with config.json, the weights and the "
        "tokenizer of a BERT, as MiniLM of sentence-transformers is published, or of a language "
        "model that writes queries"
    )


def tokenizer_in(base: Path) -> str:
    """Return the tokenizer of a model's folder as text; raises `SetupError` if it has none."""
    try:
        found = AutoTokenizer.from_pretrained(str(base), local_files_only=True)
        return str(found.backend_tokenizer.to_str())
    except (OSError, ValueError, AttributeError) as problem:
        raise SetupError(f"{base} holds no tokenizer that can be read: {problem}") from problem


def trained(
    base: Path, lessons: Sequence[Lesson], plan: Plan, kept: Path,
    *, told: Told = lambda done, planned, loss: None,
) -> Trained:  # fmt: skip
    """Return an encoder that has learned from lessons; the same seed gives the same weights.

    `kept` is a file that it is kept in on the way: a training that was stopped goes on from there,
    and gives what it would have given. `told` is called after each batch. Raises `SetupError` for a
    folder `base` that holds no BERT, and if no lesson teaches.
    """
    chosen = [one for one in lessons if one.teaches]
    if not chosen:
        raise SetupError("there is nothing to learn from: no question has unlike candidates")
    text = tokenizer_in(base)
    tokenizer = tokenizer_of(text)
    seen = [encoded(tokenizer, one.text, [r.words for r in one.readings]) for one in chosen]
    torch.manual_seed(plan.seed)
    model = _Encoder.of(base, plan.layers)
    optimizer = _optimizer(model, plan)
    planned = plan.epochs * -(-len(chosen) // plan.batch)
    done, recent = _resumed(kept, model, optimizer)
    model.bert.train()
    for step, batch in enumerate(_batches(seen, plan)):
        if step < done:
            continue
        torch.manual_seed(plan.seed * 1_000_003 + step)
        pace = min(1.0, (step + 1) / (0.1 * planned)) * max(0.02, 1 - step / planned)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * pace
        loss = _loss(model, [chosen[at] for at in batch], [seen[at] for at in batch], plan, step)
        optimizer.zero_grad()
        torch.autograd.backward([loss])
        torch.nn.utils.clip_grad_norm_([*model.own, model.verdict, model.score], 1.0)
        optimizer.step()
        recent.append(float(loss.detach()))
        if (step + 1) % _KEEP == 0:
            _keep(kept, model, optimizer, step + 1, recent)
        told(step + 1, planned, recent[-1])
    last = recent[-_LAST:]
    weights, sizes = _arrays(model, len(text.encode("utf-8")))
    return Trained(weights, sizes, text, sum(last) / max(1, len(last)))


def _optimizer(model: _Encoder, plan: Plan) -> torch.optim.AdamW:
    fast = plan.rate * _VERDICT
    groups = [
        {"params": model.own, "rate": plan.rate, "lr": plan.rate},
        {"params": [model.verdict, model.score], "rate": fast, "lr": fast},
    ]
    return torch.optim.AdamW(groups, weight_decay=plan.decay)


def _resumed(kept: Path, model: _Encoder, optimizer: torch.optim.AdamW) -> tuple[int, list[float]]:
    """The steps that were done before, and their losses; the weights are put in place."""
    if not kept.is_file():
        return 0, []
    found = torch.load(kept, weights_only=True)
    model.bert.load_state_dict(found["bert"])
    with torch.no_grad():
        model.verdict.copy_(found["verdict"])
        model.score.copy_(found["score"])
    optimizer.load_state_dict(found["optimizer"])
    return int(found["done"]), list(found["losses"])


def _keep(
    kept: Path, model: _Encoder, optimizer: torch.optim.AdamW, done: int, losses: list[float]
) -> None:
    state = {
        "bert": model.bert.state_dict(),
        "verdict": model.verdict.detach(),
        "score": model.score.detach(),
        "optimizer": optimizer.state_dict(),
        "done": done,
        "losses": losses[-_LAST:],
    }
    with replaced(kept) as file:
        torch.save(state, file)


def _batches(seen: Sequence[Sequence[Encoding]], plan: Plan) -> Iterator[list[int]]:
    """Batches of questions of about the same length, in another order each epoch."""
    sizes = np.array([max(len(one.ids) for one in found) for found in seen])
    for epoch in range(plan.epochs):
        random = np.random.default_rng([plan.seed, epoch])
        order = np.argsort(sizes + random.uniform(0, 10, len(seen)), kind="stable")
        starts = np.arange(0, len(order), plan.batch)
        for start in random.permutation(starts):
            yield order[start : start + plan.batch].tolist()


def _loss(
    model: _Encoder, lessons: Sequence[Lesson], seen: Sequence[Sequence[Encoding]], plan: Plan,
    step: int,
) -> Tensor:  # fmt: skip
    """The mean over questions of how far what a draw may expect stays behind the best."""
    random = np.random.default_rng([plan.seed, 1, step])
    offered = [_offered(one, plan.offers, random) for one in lessons]
    given = [found[at] for found, places in zip(seen, offered, strict=True) for at in places]
    half = torch.autocast("cpu", torch.bfloat16) if plan.dtype == "bfloat16" else nullcontext()
    with half:
        liked = model(given)
    losses, start = [], 0
    for lesson, places in zip(lessons, offered, strict=True):
        readings = [lesson.readings[at] for at in places]
        scores = torch.tensor([one.score for one in readings])
        worths = torch.tensor([one.worth for one in readings])
        own = liked[start : start + len(places)] + model.score * scores
        expected = (own.softmax(-1) * worths).sum() / worths.max()
        losses.append(-torch.log(expected + 1e-4))
        start += len(places)
    return torch.stack(losses).mean()


def _offered(lesson: Lesson, most: int, random: np.random.Generator) -> list[int]:
    """The first candidate, the best one, and some others by chance."""
    worths = [one.worth for one in lesson.readings]
    kept = {0, worths.index(max(worths))}
    others = [at for at in range(len(worths)) if at not in kept]
    more = random.permutation(others)[: max(0, most - len(kept))].tolist()
    return sorted({*kept, *map(int, more)})


def _arrays(model: _Encoder, tokenizer: int) -> tuple[dict[str, Floats], Sizes]:
    """The weights as the ranker's arithmetic has them: matrices from inputs to outputs."""
    state = {name: value.float().numpy() for name, value in model.bert.state_dict().items()}
    config = model.bert.config

    def normed(name: str) -> Floats:
        return np.stack([state[f"{name}.weight"], state[f"{name}.bias"]])

    def linear(*names: str) -> tuple[Floats, Floats]:
        matrix = np.concatenate([state[f"{name}.weight"].T for name in names], axis=1)
        return matrix, np.concatenate([state[f"{name}.bias"] for name in names])

    found: dict[str, Floats] = {
        "words": state["embeddings.word_embeddings.weight"],
        "places": state["embeddings.position_embeddings.weight"],
        "kinds": state["embeddings.token_type_embeddings.weight"][:2],
        "norm": normed("embeddings.LayerNorm"),
        "verdict": model.verdict.detach().numpy(),
    }
    for layer in range(config.num_hidden_layers):
        old, new = f"encoder.layer.{layer}", f"layer{layer}"
        own = f"{old}.attention.self"
        parts = {
            "attend": linear(f"{own}.query", f"{own}.key", f"{own}.value"),
            "out": linear(f"{old}.attention.output.dense"),
            "up": linear(f"{old}.intermediate.dense"),
            "down": linear(f"{old}.output.dense"),
        }
        for part, (matrix, bias) in parts.items():
            found |= {f"{new}.{part}": matrix, f"{new}.{part}.bias": bias}
        found[f"{new}.norm"] = normed(f"{old}.attention.output.LayerNorm")
        found[f"{new}.last"] = normed(f"{old}.output.LayerNorm")
    vocabulary, places = len(found["words"]), len(found["places"])
    sizes = Sizes(
        vocabulary, places, config.hidden_size, config.intermediate_size,
        config.num_attention_heads, config.num_hidden_layers, tokenizer,
    )  # fmt: skip
    return found, sizes
