"""Language models on this machine: any causal or encoder-decoder model of transformers.

Samples or beams are held to a grammar while they are written, and come with their probabilities.
"""

import asyncio
import inspect
import json
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Unpack

import torch
import xgrammar
from jinja2 import TemplateError
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

from askgraph import llm
from askgraph.errors import ErrorReply, PromptTooLong, SetupError
from askgraph.llm import Choice, Completion, Finish, Request, TokenLogprob, TokenUsage
from askgraph.llm.pretrained import calls_in, chat_text, pretrained, told_tools, torch_device

__all__ = ["TransformersModel"]


class Grammars:
    """Compiles grammars for the vocabulary of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int, stops: Sequence[int]) -> None:
        info = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=vocabulary, stop_token_ids=list(stops)
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=2, cache_limit_bytes=2**26)
        self._vocabulary = vocabulary

    def holding(self, request: Request, prompt: int) -> "HeldToGrammar | None":
        """Return the processor that holds a request to its grammar or schema; None if it has none.

        `prompt` is how many tokens stand before what is written. `SetupError` for a grammar that
        cannot be read.
        """
        if request.grammar is None and request.schema is None:
            return None
        try:
            if request.grammar is not None:
                grammar = xgrammar.Grammar.from_ebnf(request.grammar)
            else:
                grammar = xgrammar.Grammar.from_json_schema(
                    json.dumps(dict(request.schema or {})), any_whitespace=False
                )
            compiled = self._compiler.compile_grammar(grammar)
        except RuntimeError as problem:
            raise SetupError(f"the grammar cannot be read: {problem}") from problem
        return HeldToGrammar(compiled, prompt, self._vocabulary)


class HeldToGrammar:
    """A logits processor: tokens that the grammar does not admit next get no probability.

    Rows are told apart by what was written in them and not by their place, so that a beam search
    may put them in any order, drop them and go on from one several times.
    """

    def __init__(self, grammar: Any, prompt: int, vocabulary: int) -> None:
        self._grammar = grammar
        self._prompt = prompt
        self._bits = xgrammar.allocate_token_bitmask(1, vocabulary)
        self._known: dict[tuple[int, ...], Any] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, minus infinity if a token is not admitted."""
        written = [tuple(row[self._prompt :]) for row in input_ids.tolist()]
        self._known = {row: self._matcher(row) for row in dict.fromkeys(written)}
        for at, row in enumerate(written):
            matcher = self._known[row]
            if matcher is not None and not matcher.is_terminated():
                matcher.fill_next_token_bitmask(self._bits)
                bits = self._bits.to(scores.device)
                xgrammar.apply_token_bitmask_inplace(scores[at : at + 1], bits)
        return scores

    def admits(self, row: Sequence[int]) -> bool:
        """Return whether the grammar admits a row as far as it goes: some beams are none."""
        matcher = xgrammar.GrammarMatcher(self._grammar)
        return all(matcher.accept_token(token) for token in row)

    def _matcher(self, row: tuple[int, ...]) -> Any:
        """Return a row's place in the grammar; None for one that has left it.

        A beam search goes on from such rows if it has no others; they are as unlikely as can be.
        """
        if not row:
            return xgrammar.GrammarMatcher(self._grammar)
        before = self._known.get(row[:-1])
        if before is None or before.is_terminated():
            return before
        here = before.fork()
        return here if here.accept_token(row[-1]) else None


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
        """The tokens that fit, of prompt and reply together, as far as the model's settings go."""
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
        """The compiler of grammars for its vocabulary."""
        vocabulary = self.model.get_output_embeddings().weight.shape[0]
        return Grammars(self.tokenizer, vocabulary, self.stops)


def loaded(model: str, *, device: str | None, dtype: str | None, download: bool) -> Loaded:
    """Load a model to write with; see `pretrained`, `torch_device` and `torch_dtype`.

    Raises `SetupError` if it is not there or cannot be loaded.
    """
    where = torch_device(device)
    found = pretrained(model, dtype=dtype, download=download)
    whole = found.model.to(where)
    own = whole.generation_config
    whole.generation_config = GenerationConfig(
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
        pad_token_id=found.tokenizer.pad_token_id,
        decoder_start_token_id=own.decoder_start_token_id,
    )
    return Loaded(found.tokenizer, whole.eval())


Told = Callable[[str], bool]
"""Takes more of the text of a single reply; returns whether the rest is still wanted."""

_LONG = 1_024  # tokens of a reply that sets no limit


def completion(
    local: Loaded, prompt: str, request: Request, told: Told, *, name: str
) -> Completion:
    """Write the replies to a prompt; `told` hears the text of a single one as it comes.

    Beams come best first, each text once, and those under a grammar as many as there are. Without a
    temperature one reply is the likeliest token by token, and several are samples. Raises
    `PromptTooLong` if nothing more fits, `SetupError` for a grammar that cannot be read.
    """
    own = bool(local.tokenizer.chat_template)
    read = local.tokenizer(prompt, return_tensors="pt", add_special_tokens=not own)
    read = {key: read[key].to(local.model.device) for key in ("input_ids", "attention_mask")}
    length = _length(local, read["input_ids"].shape[1], request)
    start = 1 if local.is_encoder_decoder else read["input_ids"].shape[1]
    held = local.grammars.holding(request, start)
    watch = _Watch(local.tokenizer, start, told, request)
    with torch.inference_mode(), _seeded(request.seed):
        output = local.model.generate(
            **read,
            **_search(request),
            max_new_tokens=length,
            logits_processor=LogitsProcessorList([held] if held else []),
            stopping_criteria=StoppingCriteriaList([watch]),
            return_dict_in_generate=True,
        )
        rows = _rows(output, start, local.stops, request)
        rows = [row for row in rows if held is None or held.admits(row)]
        beliefs = [
            _logprobs(local, read["input_ids"], row) if request.logprobs or request.beams else ()
            for row in rows
        ]
    choices = [
        _choice(local, row, belief, request, length)
        for row, belief in zip(rows, beliefs, strict=True)
    ]
    usage = TokenUsage(input=read["input_ids"].shape[1], output=sum(map(len, rows)))
    return Completion(tuple(_different(choices, request)), usage, name)


@dataclass
class _Watch:
    """Hears each token; ends what has come to a stop text, and all if no more is wanted."""

    tokenizer: Any
    start: int
    told: Told
    request: Request
    heard: int = 0

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Return which rows are to end."""
        goes_on = self.told(self.news(input_ids[0]) if self.alone else "")
        ended = [not goes_on or self.at_stop(row) for row in input_ids]
        return torch.tensor(ended, device=input_ids.device)

    @property
    def alone(self) -> bool:
        return self.request.n == 1 and not self.request.beams and not self.request.tools

    def text(self, row: Any) -> str:
        text: str = self.tokenizer.decode(row[self.start :], skip_special_tokens=True)
        return text

    def news(self, row: Any) -> str:
        """Return more of the text, without an unfinished letter or the start of a stop text."""
        text = _cut(self.text(row), self.request.stop).rstrip("\ufffd")
        longest = max((len(stop) for stop in self.request.stop), default=1) - 1
        settled = text[: max(self.heard, len(text) - longest)]
        new, self.heard = settled[self.heard :], max(self.heard, len(settled))
        return new

    def at_stop(self, row: Any) -> bool:
        return bool(self.request.stop) and _stops(self.text(row), self.request.stop)


def _length(local: Loaded, prompt: int, request: Request) -> int:
    """Return how many tokens a reply may have."""
    room = local.room if local.is_encoder_decoder else local.room - prompt
    if room < 1:
        raise PromptTooLong(f"the prompt has {prompt:,} tokens; the model takes {local.room:,}")
    return min(room, request.max_tokens or _LONG)


@contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    """Chance that is the same each time, and leaves that of others alone."""
    if seed is None:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _search(request: Request) -> dict[str, Any]:
    if request.beams:
        return {
            "do_sample": False,
            "num_beams": request.n,
            "num_return_sequences": request.n,
            "length_penalty": 0.0,  # the sum of log-probabilities decides
        }
    warm = request.temperature if request.temperature is not None else float(request.n > 1)
    if not warm:
        return {"do_sample": False}
    return {
        "do_sample": True,
        "num_return_sequences": request.n,
        "temperature": warm,
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "top_k": 0,
    }


def _rows(output: Any, start: int, stops: Sequence[int], request: Request) -> list[list[int]]:
    """Return the tokens of each reply up to its end; of beams those that came to an end."""
    rows = [_ended(row[start:], stops) for row in output.sequences.tolist()]
    if not request.beams:
        return rows * (request.n // len(rows))
    return [row for row in rows if row and row[-1] in stops] or rows[:1]


def _ended(row: list[int], stops: Sequence[int]) -> list[int]:
    end = next((at for at, token in enumerate(row) if token in stops), len(row) - 1)
    return row[: end + 1]


def _logprobs(local: Loaded, prompt: Any, row: Sequence[int]) -> tuple[TokenLogprob, ...]:
    """Return the model's own probability of each token, whatever held it while it wrote."""
    if not row:
        return ()
    reply = torch.tensor([row], device=prompt.device)
    if local.is_encoder_decoder:
        first = torch.full((1, 1), local.model.config.decoder_start_token_id, device=prompt.device)
        before = torch.cat([first, reply[:, :-1]], dim=1)
        logits = local.model(input_ids=prompt, decoder_input_ids=before).logits[0]
    else:
        whole = torch.cat([prompt, reply], dim=1)
        sparing = "logits_to_keep" in inspect.signature(local.model.forward).parameters
        options = {"logits_to_keep": len(row) + 1} if sparing else {}
        logits = local.model(whole, **options).logits[0, -len(row) - 1 : -1]
    chosen = torch.log_softmax(logits.float(), dim=-1).gather(1, reply[0][:, None])[:, 0]
    texts = [local.tokenizer.decode([token], skip_special_tokens=True) for token in row]
    return tuple(map(TokenLogprob, texts, chosen.tolist()))


def _choice(
    local: Loaded,
    row: Sequence[int],
    belief: tuple[TokenLogprob, ...],
    request: Request,
    length: int,
) -> Choice:
    whole = local.tokenizer.decode(row, skip_special_tokens=True)
    text = _cut(whole, request.stop)
    ended = row[-1:] and row[-1] in local.stops
    cut = len(row) >= length and not ended and not _stops(whole, request.stop)
    if request.tools and (found := calls_in(text)).calls:
        return Choice(found.text, found.calls, Finish.CALLS, logprobs=belief)
    return Choice(text, finish=Finish.LENGTH if cut else Finish.STOP, logprobs=belief)


def _different(choices: Sequence[Choice], request: Request) -> Sequence[Choice]:
    """Of beams with the same text, in other tokens, the first."""
    if not request.beams:
        return choices
    found: dict[str, Choice] = {}
    for choice in choices:
        found.setdefault(choice.text, choice)
    return list(found.values())


def _stops(text: str, stop: Sequence[str]) -> bool:
    return any(each in text for each in stop)


def _cut(text: str, stop: Sequence[str]) -> str:
    ends = [text.index(each) for each in stop if each in text]
    return text[: min(ends)] if ends else text


class TransformersModel:
    """Completes with a model from a folder or a GGUF file, or of a name kept on this machine.

    `download` allows it to be fetched from its hub; without it nothing is. `device` and `dtype` are
    those of torch (a GPU if there is one, and the type that was saved). The folder may hold
    adapters (LoRA). It is loaded with the first request, in a thread of its own, which writes one
    completion after the other. Replies come piece by piece if one is wanted. It has beams,
    grammars, schemas and log-probabilities; tools are told and called in words. Raises `SetupError`
    if it cannot be loaded, `PromptTooLong`, and `ErrorReply` if torch (out of
    memory) or the chat template fails.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        download: bool = False,
    ) -> None:
        settings = json.dumps({"dtype": dtype, "files": _files(Path(model))})
        self._identity = llm.Identity("transformers", model, settings=settings, grammar=True)
        self._load = partial(loaded, model, device=device, dtype=dtype, download=download)
        self._loaded: Loaded | None = None
        self._thread: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return f"TransformersModel({self._identity.model!r})"

    @property
    def identity(self) -> llm.Identity:
        """The model that answers."""
        return self._identity

    @property
    def context(self) -> int | None:
        """The tokens of prompt and reply together; None before the first request."""
        return self._loaded.room if self._loaded else None

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Write the reply and stream it."""
        request = _with_tools(llm.Request.of(messages, options))
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[str | None] = asyncio.Queue()
        enough = threading.Event()

        def told(text: str) -> bool:
            if text:
                loop.call_soon_threadsafe(parts.put_nowait, text)
            return not enough.is_set()

        work = loop.run_in_executor(self._worker, self._written, request, told)
        work.add_done_callback(lambda _: parts.put_nowait(None))
        heard = ""
        try:
            while (part := await parts.get()) is not None:
                heard += part
                yield llm.TextPart(part)
            whole = await work
        finally:
            enough.set()
        for number, choice in enumerate(whole.choices):
            rest = choice.text[len(heard) :] if number == 0 else choice.text
            if rest:
                yield llm.TextPart(rest, number)
            for call in choice.calls:
                yield llm.CallPart(call, number)
        yield whole

    async def close(self) -> None:
        """Forget the model; the next request loads it again."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        self._thread = self._loaded = None

    @property
    def _worker(self) -> ThreadPoolExecutor:
        self._thread = self._thread or ThreadPoolExecutor(1, "transformers")
        return self._thread

    def _written(self, request: llm.Request, told: Told) -> llm.Completion:
        with self._ready(request.messages) as (local, prompt):
            return completion(local, prompt, request, told, name=self._identity.model)

    @contextmanager
    def _ready(self, messages: Sequence[llm.Message]) -> Iterator[tuple[Loaded, str]]:
        """The loaded model and the text that it goes on with; what torch raises is `ErrorReply`."""
        try:
            local = self._loaded = self._loaded or self._load()
            yield local, chat_text(messages, local.tokenizer)
        except (torch.OutOfMemoryError, RuntimeError, IndexError, TemplateError) as problem:
            first = str(problem).strip().partition("\n")[0]
            raise ErrorReply(f"the model {self._identity.model!r} failed: {first}") from problem


def _files(place: Path) -> list[list[object]]:
    """Return a fingerprint of the weights in a folder, or of a file, which may change later."""
    found = sorted(place.glob("*.safetensors")) if place.is_dir() else [place]
    found = [file for file in found if file.is_file()]
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in found]


def _with_tools(request: llm.Request) -> llm.Request:
    """Return the request with its tools, and the calls of earlier turns, in words."""
    if not request.tools:
        return request
    messages = [_spoken(message) for message in request.messages]
    told = told_tools(request.tools)
    if isinstance(messages[0], llm.System):
        messages[0] = llm.System(f"{messages[0].text}\n\n{told}")
    else:
        messages.insert(0, llm.System(told))
    return replace(request, messages=tuple(messages))


def _spoken(message: llm.Message) -> llm.Message:
    if not isinstance(message, llm.Assistant) or not message.calls:
        return message
    calls = [
        f'<tool_call>{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}</tool_call>'
        for call in message.calls
    ]
    return llm.Assistant("\n".join([message.text, *calls]).strip())
