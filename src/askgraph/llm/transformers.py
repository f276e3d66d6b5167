"""Language models on this machine: any causal or encoder-decoder model of transformers.

Grammars constrain samples or beams during generation, which come with their probabilities.
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
from askgraph.llm.pretrained import (
    build_chat_prompt,
    describe_tools,
    get_torch_device,
    load_pretrained,
    parse_tool_calls,
)

__all__ = ["TransformersModel"]


class GrammarCompiler:
    """Compiles grammars for the vocabulary of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int, stops: Sequence[int]) -> None:
        info = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=vocabulary, stop_token_ids=list(stops)
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=2, cache_limit_bytes=2**26)
        self._vocabulary = vocabulary

    def create_processor(
        self, request: Request, prompt_length: int
    ) -> "GrammarLogitsProcessor | None":
        """Return a processor for the grammar or schema of a request; None without one.

        Args:
            prompt_length: number of tokens before the generated ones.

        Raises:
            SetupError: the grammar cannot be parsed.
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
        return GrammarLogitsProcessor(compiled, prompt_length, self._vocabulary)


class GrammarLogitsProcessor:
    """A logits processor that gives no probability to tokens outside the grammar.

    Rows are identified by their tokens and not by their index, so that a beam search may reorder
    them, drop them and continue one several times.
    """

    def __init__(self, grammar: Any, prompt_length: int, vocabulary: int) -> None:
        self._grammar = grammar
        self._prompt = prompt_length
        self._bits = xgrammar.allocate_token_bitmask(1, vocabulary)
        self._matcher_by_row: dict[tuple[int, ...], Any] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, with minus infinity for tokens outside the grammar."""
        generated_rows = [tuple(row[self._prompt :]) for row in input_ids.tolist()]
        self._matcher_by_row = {
            row: self._get_matcher(row) for row in dict.fromkeys(generated_rows)
        }
        for index, row in enumerate(generated_rows):
            matcher = self._matcher_by_row[row]
            if matcher is not None and not matcher.is_terminated():
                matcher.fill_next_token_bitmask(self._bits)
                bits = self._bits.to(scores.device)
                xgrammar.apply_token_bitmask_inplace(scores[index : index + 1], bits)
        return scores

    def is_valid_prefix(self, row: Sequence[int]) -> bool:
        """Return whether the grammar admits a row as a prefix, which some beams are not."""
        matcher = xgrammar.GrammarMatcher(self._grammar)
        return all(matcher.accept_token(token) for token in row)

    def _get_matcher(self, row: tuple[int, ...]) -> Any:
        """Return the matcher after a row's tokens; None for a row outside the grammar."""
        # A beam search continues such rows if it has no others; their probability is minimal.
        if not row:
            return xgrammar.GrammarMatcher(self._grammar)
        previous = self._matcher_by_row.get(row[:-1])
        if previous is None or previous.is_terminated():
            return previous
        matcher = previous.fork()
        return matcher if matcher.accept_token(row[-1]) else None


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A tokenizer and its model, ready to generate."""

    tokenizer: Any
    model: Any

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether the output is separate from the prompt."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def max_tokens(self) -> int:
        """The maximum tokens of prompt and reply together, according to the model's settings."""
        config = self.model.config.get_text_config()
        configured_limit = (
            getattr(config, "max_position_embeddings", None) or self.tokenizer.model_max_length
        )
        return min(int(configured_limit), 1_000_000)

    @cached_property
    def stop_tokens(self) -> tuple[int, ...]:
        """The tokens that end a reply."""
        configured = self.model.generation_config.eos_token_id
        configured_tokens = configured if isinstance(configured, list) else [configured]
        all_tokens = [*configured_tokens, self.tokenizer.eos_token_id]
        return tuple(dict.fromkeys(token for token in all_tokens if token is not None))

    @cached_property
    def grammar_compiler(self) -> GrammarCompiler:
        """The compiler of grammars for its vocabulary."""
        vocabulary = self.model.get_output_embeddings().weight.shape[0]
        return GrammarCompiler(self.tokenizer, vocabulary, self.stop_tokens)


def load_model(model: str, *, device: str | None, dtype: str | None, download: bool) -> LoadedModel:
    """Load a model for generation; raise `SetupError` if it is missing or cannot be loaded."""
    torch_device_name = get_torch_device(device)
    pretrained = load_pretrained(model, dtype=dtype, download=download)
    moved_model = pretrained.model.to(torch_device_name)
    model_config = moved_model.generation_config
    moved_model.generation_config = GenerationConfig(
        bos_token_id=model_config.bos_token_id,
        eos_token_id=model_config.eos_token_id,
        pad_token_id=pretrained.tokenizer.pad_token_id,
        decoder_start_token_id=model_config.decoder_start_token_id,
    )
    return LoadedModel(pretrained.tokenizer, moved_model.eval())


TextCallback = Callable[[str], bool]
"""Receives more text of a single reply; returns whether generation should continue."""

_DEFAULT_MAX_TOKENS = 1_024  # tokens of a reply that sets no limit


@dataclass
class _StreamingCriteria:
    """Receives each token; ends rows at a stop text, and all if the reader stops."""

    tokenizer: Any
    start: int
    on_text: TextCallback
    request: Request
    sent_length: int = 0

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Return which rows are to end."""
        should_continue = self.on_text(
            self.take_new_text(input_ids[0]) if self.is_streaming else ""
        )
        stops = self.request.stop
        finished = [
            not should_continue or (bool(stops) and _has_stop_text(self.decode_row(row), stops))
            for row in input_ids
        ]
        return torch.tensor(finished, device=input_ids.device)

    @property
    def is_streaming(self) -> bool:
        return self.request.n == 1 and not self.request.beams and not self.request.tools

    def decode_row(self, row: Any) -> str:
        text: str = self.tokenizer.decode(row[self.start :], skip_special_tokens=True)
        return text

    def take_new_text(self, row: Any) -> str:
        """Return new text, without an unfinished character or the start of a stop text."""
        text = _cut_at_stop(self.decode_row(row), self.request.stop).rstrip("\ufffd")
        longest = max((len(stop) for stop in self.request.stop), default=1) - 1
        stable_text = text[: max(self.sent_length, len(text) - longest)]
        new_text = stable_text[self.sent_length :]
        self.sent_length = max(self.sent_length, len(stable_text))
        return new_text


def _compute_max_length(local: LoadedModel, prompt: int, request: Request) -> int:
    """Return the maximum number of tokens of a reply."""
    free_tokens = local.max_tokens if local.is_encoder_decoder else local.max_tokens - prompt
    if free_tokens < 1:
        raise PromptTooLong(
            f"the prompt has {prompt:,} tokens; the model accepts at most {local.max_tokens:,}"
        )
    return min(free_tokens, request.max_tokens or _DEFAULT_MAX_TOKENS)


@contextmanager
def _use_seed(seed: int | None) -> Iterator[None]:
    """Seed the random numbers within a block, without effect outside."""
    if seed is None:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _build_search_options(request: Request) -> dict[str, Any]:
    if request.beams:
        return {
            "do_sample": False,
            "num_beams": request.n,
            "num_return_sequences": request.n,
            "length_penalty": 0.0,  # the sum of log-probabilities decides
        }
    temperature = request.temperature if request.temperature is not None else float(request.n > 1)
    if not temperature:
        return {"do_sample": False}
    return {
        "do_sample": True,
        "num_return_sequences": request.n,
        "temperature": temperature,
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "top_k": 0,
    }


def _extract_rows(
    output: Any, start: int, stops: Sequence[int], request: Request
) -> list[list[int]]:
    """Return the tokens of each reply up to its end; of beams only the complete ones."""
    rows = [_cut_at_end(row[start:], stops) for row in output.sequences.tolist()]
    if not request.beams:
        return rows * (request.n // len(rows))
    return [row for row in rows if row and row[-1] in stops] or rows[:1]


def _cut_at_end(row: list[int], stops: Sequence[int]) -> list[int]:
    end = next((index for index, token in enumerate(row) if token in stops), len(row) - 1)
    return row[: end + 1]


def _compute_logprobs(
    local: LoadedModel, prompt: Any, row: Sequence[int]
) -> tuple[TokenLogprob, ...]:
    """Return the model's own log-probability of each token, ignoring grammar and sampling."""
    if not row:
        return ()
    reply = torch.tensor([row], device=prompt.device)
    if local.is_encoder_decoder:
        start_token = torch.full(
            (1, 1), local.model.config.decoder_start_token_id, device=prompt.device
        )
        decoder_input = torch.cat([start_token, reply[:, :-1]], dim=1)
        logits = local.model(input_ids=prompt, decoder_input_ids=decoder_input).logits[0]
    else:
        sequence = torch.cat([prompt, reply], dim=1)
        can_limit_logits = "logits_to_keep" in inspect.signature(local.model.forward).parameters
        options = {"logits_to_keep": len(row) + 1} if can_limit_logits else {}
        logits = local.model(sequence, **options).logits[0, -len(row) - 1 : -1]
    chosen = torch.log_softmax(logits.float(), dim=-1).gather(1, reply[0][:, None])[:, 0]
    texts = [local.tokenizer.decode([token], skip_special_tokens=True) for token in row]
    return tuple(map(TokenLogprob, texts, chosen.tolist()))


def _build_choice(
    local: LoadedModel,
    row: Sequence[int],
    logprobs: tuple[TokenLogprob, ...],
    request: Request,
    length: int,
) -> Choice:
    full_text = local.tokenizer.decode(row, skip_special_tokens=True)
    text = _cut_at_stop(full_text, request.stop)
    is_ended = row[-1:] and row[-1] in local.stop_tokens
    is_cut = len(row) >= length and not is_ended and not _has_stop_text(full_text, request.stop)
    if request.tools and (reply := parse_tool_calls(text)).calls:
        return Choice(reply.text, reply.calls, Finish.CALLS, logprobs=logprobs)
    return Choice(text, finish=Finish.LENGTH if is_cut else Finish.STOP, logprobs=logprobs)


def _remove_duplicate_beams(choices: Sequence[Choice], request: Request) -> Sequence[Choice]:
    """Return the beams without later ones of the same text."""
    if not request.beams:
        return choices
    choice_by_text: dict[str, Choice] = {}
    for choice in choices:
        choice_by_text.setdefault(choice.text, choice)
    return list(choice_by_text.values())


def _has_stop_text(text: str, stop: Sequence[str]) -> bool:
    return any(stop_text in text for stop_text in stop)


def _cut_at_stop(text: str, stop: Sequence[str]) -> str:
    ends = [text.index(stop_text) for stop_text in stop if stop_text in text]
    return text[: min(ends)] if ends else text


class TransformersModel:
    """Completes with a model from a folder or a GGUF file, or by name from the local cache.

    `download` allows to fetch it from its hub. `device` and `dtype` are torch's (default: a GPU
    if there is one, and the saved type). The folder may contain adapters (LoRA). The model is
    loaded with the first request, in its own thread, which generates one completion after the
    other. A single reply is streamed. Beams, grammars, schemas and log-probabilities are
    supported; tools are described and called in words.

    Raises:
        SetupError: the model cannot be loaded.
        PromptTooLong: no token of a reply fits.
        ErrorReply: torch (out of memory) or the chat template fails.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        download: bool = False,
    ) -> None:
        path = Path(model)
        files = [  # the weights, which may change later
            (file.name, file.stat().st_size, file.stat().st_mtime_ns)
            for file in (sorted(path.glob("*.safetensors")) if path.is_dir() else [path])
            if file.is_file()
        ]
        settings = json.dumps({"dtype": dtype, "files": files})
        self.identity = llm.Identity("transformers", model, settings=settings, grammar=True)
        self._load = partial(load_model, model, device=device, dtype=dtype, download=download)
        self._loaded: LoadedModel | None = None
        self._thread: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return f"TransformersModel({self.identity.model!r})"

    @property
    def context(self) -> int | None:
        """The maximum tokens of prompt and reply together; None before the first request."""
        return self._loaded.max_tokens if self._loaded else None

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Generate the reply and stream it."""
        request = _describe_tools(llm.Request.from_options(messages, options))
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[str | None] = asyncio.Queue()
        stop_event = threading.Event()

        def send_text(text: str) -> bool:
            if text:
                loop.call_soon_threadsafe(parts.put_nowait, text)
            return not stop_event.is_set()

        work = loop.run_in_executor(self._worker, self._generate, request, send_text)
        work.add_done_callback(lambda _: parts.put_nowait(None))
        sent_text = ""
        try:
            while (part := await parts.get()) is not None:
                sent_text += part
                yield llm.TextPart(part)
            completion_event = await work
        finally:
            stop_event.set()
        for number, choice in enumerate(completion_event.choices):
            remaining_text = choice.text[len(sent_text) :] if number == 0 else choice.text
            if remaining_text:
                yield llm.TextPart(remaining_text, number)
            for call in choice.calls:
                yield llm.CallPart(call, number)
        yield completion_event

    async def close(self) -> None:
        """Release the model; the next request loads it again."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        self._thread = self._loaded = None

    @property
    def _worker(self) -> ThreadPoolExecutor:
        self._thread = self._thread or ThreadPoolExecutor(1, "transformers")
        return self._thread

    def _generate(self, request: llm.Request, on_text: TextCallback) -> llm.Completion:
        with self._use_model(request.messages) as (local, prompt):
            has_template = bool(local.tokenizer.chat_template)
            inputs = local.tokenizer(
                prompt, return_tensors="pt", add_special_tokens=not has_template
            )
            inputs = {
                key: inputs[key].to(local.model.device) for key in ("input_ids", "attention_mask")
            }
            length = _compute_max_length(local, inputs["input_ids"].shape[1], request)
            start = 1 if local.is_encoder_decoder else inputs["input_ids"].shape[1]
            processor = local.grammar_compiler.create_processor(request, start)
            criteria = _StreamingCriteria(local.tokenizer, start, on_text, request)
            with torch.inference_mode(), _use_seed(request.seed):
                output = local.model.generate(
                    **inputs,
                    **_build_search_options(request),
                    max_new_tokens=length,
                    logits_processor=LogitsProcessorList([processor] if processor else []),
                    stopping_criteria=StoppingCriteriaList([criteria]),
                    return_dict_in_generate=True,
                )
                rows = _extract_rows(output, start, local.stop_tokens, request)
                rows = [row for row in rows if processor is None or processor.is_valid_prefix(row)]
                logprobs_by_row = [
                    _compute_logprobs(local, inputs["input_ids"], row)
                    if request.logprobs or request.beams
                    else ()
                    for row in rows
                ]
            choices = [
                _build_choice(local, row, logprobs, request, length)
                for row, logprobs in zip(rows, logprobs_by_row, strict=True)
            ]
            usage = TokenUsage(input=inputs["input_ids"].shape[1], output=sum(map(len, rows)))
            return Completion(
                tuple(_remove_duplicate_beams(choices, request)), usage, self.identity.model
            )

    @contextmanager
    def _use_model(self, messages: Sequence[llm.Message]) -> Iterator[tuple[LoadedModel, str]]:
        """Provide the loaded model and the prompt; convert errors of torch to `ErrorReply`."""
        try:
            local = self._loaded = self._loaded or self._load()
            yield local, build_chat_prompt(messages, local.tokenizer)
        except (torch.OutOfMemoryError, RuntimeError, IndexError, TemplateError) as problem:
            first = str(problem).strip().partition("\n")[0]
            raise ErrorReply(f"the model {self.identity.model!r} failed: {first}") from problem


def _describe_tools(request: llm.Request) -> llm.Request:
    """Return the request with its tools, and the calls of earlier turns, in words."""
    if not request.tools:
        return request
    messages = [_write_calls(message) for message in request.messages]
    description = describe_tools(request.tools)
    if isinstance(messages[0], llm.System):
        messages[0] = llm.System(f"{messages[0].text}\n\n{description}")
    else:
        messages.insert(0, llm.System(description))
    return replace(request, messages=tuple(messages))


def _write_calls(message: llm.Message) -> llm.Message:
    if not isinstance(message, llm.Assistant) or not message.calls:
        return message
    calls = [
        f'<tool_call>{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}</tool_call>'
        for call in message.calls
    ]
    return llm.Assistant("\n".join([message.text, *calls]).strip())
