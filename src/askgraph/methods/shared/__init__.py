"""Conversations with a language model, and other code that several methods share.

A conversation goes turn by turn, within a budget and a maximum length. Several kinds of text share
the tokens of a prompt: a kind may use what another kind leaves, and a text that is too long is
shortened before it is left out.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol, Unpack

from askgraph.errors import BudgetSpent, PromptTooLong, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import (
    Assistant,
    Choice,
    Completion,
    Event,
    LanguageModel,
    Message,
    ModelWrapper,
    Options,
    System,
    ToolResult,
    ToolSchema,
    User,
    estimate_tokens,
    read_completion,
)
from askgraph.llm.budget import BudgetAccount, ModelBudget, charge_model
from askgraph.llm.structured import detect_loop, find_reply_problem
from askgraph.methods.settings import load_texts
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.rendering import clip_text, render_table
from askgraph.sparql.results import get_result_format, serialize_result
from askgraph.trace import (
    Answer,
    Clarification,
    ModelTurn,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Usage,
    record_or_replay,
    record_or_replay_steps,
)

_MAX_SHORTENED_CHARACTERS = 240  # characters that a shortened result keeps
# Share of the limit: shortening at every turn would invalidate the prompt cache.
_SHORTENED_TOKENS_SHARE = 0.75


def build_columns_rule(*, naming: str = "", column_example: str = "") -> str:
    """Return the rule on the columns of a query, which all methods share.

    Args:
        naming: text after "context", on how the context columns are marked.
        column_example: the example query, with `{query}` in it, in place of the default.
    """
    query = "SELECT DISTINCT ?shop ?report ?sales"
    example = column_example.format(query=query) if column_example else query
    rule: str = load_texts("shared")["columns_rule"]
    return rule.format(naming=naming, example=example)


@dataclass(frozen=True)
class CheckedTurn:
    """A turn of the model, and the problem with the turn as a whole."""

    step: ModelTurn
    problem: str | None = None

    @property
    def choice(self) -> Choice:
        """The reply of the model."""
        return self.step.choice


@dataclass(eq=False)
class Conversation:
    """Messages with a model.

    Attributes:
        account: the account that `model` is charged to; what a turn adds is the cost of the turn.
        max_tokens: tokens of the messages, above which old results are shortened.
        _result_positions: indices of results that are written as plain text.
    """

    model: LanguageModel
    account: BudgetAccount
    messages: list[Message]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int = 12_000
    options: Options = field(default_factory=Options)
    choices: list[Choice] = field(default_factory=list)
    # Positions of calls written as plain text.
    _result_positions: set[int] = field(default_factory=set)

    def to_prompt(self, purpose: str) -> Prompt:
        """Return the first messages and the tools as a step."""
        return Prompt(purpose, tuple(self.messages), self.tools)

    async def take_turn(self) -> CheckedTurn:
        """Ask the model for its next reply, and append the reply to the messages.

        If the server finds the messages too long, they are halved and sent once more.

        Raises:
            BudgetSpent: the budget is used up.
            ServiceError: the model fails.
        """
        self.messages = shorten_results(
            self.messages, self.max_tokens, results=self._result_positions
        )
        before = get_usage(self.account)
        try:
            completion = await self._complete()
        except PromptTooLong:
            self.messages = shorten_results(
                self.messages, self.max_tokens // 2, results=self._result_positions
            )
            completion = await self._complete()
        choice = completion.first
        self.choices.append(choice)
        self.messages.append(choice.message)
        step = ModelTurn(choice, get_usage(self.account) - before, completion.model)
        return CheckedTurn(step, find_reply_problem(choice))

    async def sample_replies(self, n: int) -> tuple[ModelTurn, ...]:
        """Ask for `n` replies to the current messages without appending any of them.

        The first reply carries the cost.

        Raises:
            BudgetSpent: the budget is used up.
            ServiceError: the model fails.
        """
        before = get_usage(self.account)
        options: Options = {**self.options, "n": n}
        completion = await read_completion(self.model.complete(self.messages, **options))
        return to_model_turns(completion, get_usage(self.account) - before)

    def send_text(self, text: str) -> None:
        """Append a message of the method; open calls count as not run, as servers want results."""
        assistant_positions = [
            position
            for position, message in enumerate(self.messages)
            if isinstance(message, Assistant)
        ]
        # Ids may repeat in later turns.
        last_messages = self.messages[assistant_positions[-1] :] if assistant_positions else ()
        answered_ids = {m.call for m in last_messages if isinstance(m, ToolResult)}
        calls = self.choices[-1].calls if self.choices else ()
        self.messages += [
            ToolResult(c.id, c.name, "not run") for c in calls if c.id not in answered_ids
        ]
        self.messages.append(User(text))

    def send_results(self, text: str) -> None:
        """Append results of what the model wrote as plain text, without a tool call."""
        self._result_positions.add(len(self.messages))
        self.messages.append(User(text))

    def send_observations(self, uses: Sequence[ToolUse]) -> None:
        """Append the results of the model's calls."""
        self.messages += [ToolResult(use.call, use.tool, use.observation.text) for use in uses]

    async def _complete(self) -> Completion:
        options: Options = {**self.options, "tools": self.tools}
        return await read_completion(self.model.complete(self.messages, **options))


def to_model_turns(completion: Completion, cost: Usage) -> tuple[ModelTurn, ...]:
    """Convert the replies to one call into turns; the first turn carries the cost."""
    costs = [cost, *[Usage()] * (len(completion.choices) - 1)]
    choices_and_costs = zip(completion.choices, costs, strict=True)
    return tuple(ModelTurn(choice, cost, completion.model) for choice, cost in choices_and_costs)


class CompletionRecorder(ModelWrapper):
    """A model that passes calls on to `inner` and keeps its last completion.

    It serves writers that return only their queries.
    """

    last_completion: Completion | None = None

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Pass the messages on, and stream the reply."""
        async with aclosing(self._inner.complete(messages, **options)) as stream:
            async for event in stream:
                if isinstance(event, Completion):
                    self.last_completion = event
                yield event


def find_repetition(conversation: Conversation, *, answers: bool) -> str | None:
    """Return a message if the last turns repeat.

    With `answers`, the same answer may be given twice: the model insists on it.
    """
    loop = detect_loop(conversation.choices)
    return detect_loop(conversation.choices[:-1]) if loop and answers else loop


def get_usage(account: BudgetAccount, *, seconds: float = 0.0, requests: int = 0) -> Usage:
    """Return the charges of an account as the usage of a run."""
    tokens = account.usage
    return Usage(
        seconds, requests, account.calls, tokens.input, tokens.cached, tokens.output, account.money
    )


def estimate_message_tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of messages."""
    return sum(estimate_tokens(str(message)) for message in messages)


def shorten_results(
    messages: Sequence[Message], max_tokens: int, *, results: Collection[int] = ()
) -> list[Message]:
    """Return the messages in at most `max_tokens` tokens, as far as shortening old results allows.

    The oldest results are shortened first. Results of the last turn and all other messages stay
    unchanged. Messages that fit are returned unchanged.

    Args:
        results: indices of messages that hold results without being a `ToolResult`.
    """
    shortened_messages = list(messages)
    total = estimate_message_tokens(shortened_messages)
    if total <= max_tokens:
        return shortened_messages
    last_position = max(
        (
            position
            for position, message in enumerate(shortened_messages)
            if isinstance(message, Assistant)
        ),
        default=0,
    )
    for position, message in enumerate(shortened_messages[:last_position]):
        if total <= max_tokens * _SHORTENED_TOKENS_SHARE:
            break
        is_result = isinstance(message, ToolResult) or (
            isinstance(message, User) and position in results
        )
        if is_result and len(message.text) > _MAX_SHORTENED_CHARACTERS:
            # Whole lines: a text of the graph that is cut loses the quote at its end.
            end = message.text.rfind("\n", 0, _MAX_SHORTENED_CHARACTERS)
            text = f"{message.text[: end + 1]}… (shortened; ask again to see all)"
            shortened_messages[position] = replace(message, text=text)
            total -= estimate_tokens(message.text) - estimate_tokens(text)
    return shortened_messages


class QuestionRun(Protocol):
    """The processing of one question: its steps, and its outcome after them."""

    @property
    def account(self) -> BudgetAccount:
        """The account that the model is charged to."""
        ...

    @property
    def outcome(self) -> Answer | Clarification | Refusal:
        """The answer, or the reason for its absence."""
        ...

    def run_steps(self) -> AsyncGenerator[Step, None]:
        """Yield all steps except the outcome."""
        ...


async def run_with_usage(
    run: QuestionRun,
    requests: Callable[[], int],
    *,
    verbalize: Callable[[Answer], AsyncGenerator[Step, None]] | None = None,
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run, then its outcome with its usage; a spent budget is a refusal.

    Args:
        requests: counts the SPARQL requests; it is called at the end of the run.
        verbalize: yields the steps that put a non-empty answer in words; the last turn is the text.
    """
    start_time = time.perf_counter()
    outcome: Answer | Clarification | Refusal
    try:
        async with aclosing(run.run_steps()) as steps:
            async for step in steps:
                yield step
        outcome = run.outcome
        if verbalize is not None and isinstance(outcome, Answer) and not outcome.is_empty:
            async with aclosing(verbalize(outcome)) as verbalization_steps:
                async for step in verbalization_steps:
                    yield step
                    if isinstance(step, ModelTurn):
                        text = " ".join(step.choice.text.split())
                        outcome = replace(outcome, interpretation=text)
    except BudgetSpent as problem:
        outcome = Refusal(f"No answer was found: {problem}.")
    usage = get_usage(run.account, seconds=time.perf_counter() - start_time, requests=requests())
    yield replace(outcome, usage=usage)


@dataclass(frozen=True)
class TextVariants:
    """A text in several lengths, from the full text to the shortest."""

    texts: tuple[str, ...]


def fit_texts(
    kinds: Mapping[str, Sequence[TextVariants]],
    shares: Mapping[str, float],
    *,
    max_tokens: int,
    prefix_kinds: Collection[str] = (),
) -> dict[str, list[str]]:
    """Return the texts of each kind that fit in `max_tokens` tokens together, in their order.

    Each kind first fits as many texts as it can into its share, at their shortest, and then
    lengthens them from the first on. The remaining tokens go to missing or short texts, kind by
    kind.

    Args:
        shares: by kind, its share of `max_tokens`, 0 to 1.
        prefix_kinds: kinds whose texts stop at the first one that does not fit.
    """
    selections = {
        name: _VariantSelection(variants, is_prefix=name in prefix_kinds)
        for name, variants in kinds.items()
    }
    tokens_left = max_tokens
    for name, selection in selections.items():
        tokens_left -= selection.fill(int(max_tokens * shares[name]))
    for selection in selections.values():
        tokens_left -= selection.fill(tokens_left)
    return {name: selection.get_texts() for name, selection in selections.items()}


class _VariantSelection:
    """The selected length of each text of one kind; -1 if the text is left out."""

    def __init__(self, variants: Sequence[TextVariants], *, is_prefix: bool) -> None:
        self._variants = [variant for variant in variants if variant.texts]
        self._costs = [
            [estimate_tokens(text) + 1 for text in variant.texts] for variant in self._variants
        ]
        self._lengths = [-1] * len(self._variants)
        self._is_prefix = is_prefix

    def fill(self, max_tokens: int) -> int:
        """Select what fits, and return the tokens that this adds."""
        tokens_left = max_tokens
        for position, costs in enumerate(self._costs):
            if self._lengths[position] >= 0:
                continue
            if costs[-1] <= tokens_left:
                self._lengths[position] = len(costs) - 1
                tokens_left -= costs[-1]
            elif self._is_prefix:
                break
        for position, costs in enumerate(self._costs):
            current_length = self._lengths[position]
            fitting_lengths = (
                length
                for length in range(max(current_length, 0))
                if costs[length] - costs[current_length] <= tokens_left
            )
            new_length = next(fitting_lengths, current_length)
            self._lengths[position] = new_length
            tokens_left -= costs[new_length] - costs[current_length] if current_length >= 0 else 0
        return max_tokens - tokens_left

    def get_texts(self) -> list[str]:
        """Return the selected texts."""
        variants_and_lengths = zip(self._variants, self._lengths, strict=True)
        return [variant.texts[length] for variant, length in variants_and_lengths if length >= 0]


def format_earlier_questions(question: Question, *, queries: bool = True) -> str:
    """Return the earlier questions of a conversation as text, with their `queries`.

    The text is empty if there are no earlier questions.
    """
    if not question.before:
        return ""
    query_texts = (f"\n{earlier.query}" if queries else "" for earlier in question.before)
    lines = [
        f"- {earlier.question}{query}"
        for earlier, query in zip(question.before, query_texts, strict=True)
    ]
    return "\n".join(["Asked before in this conversation, which may be referred to:", *lines])


_TEXTS = load_texts("shared")
INTERPRETATION_INSTRUCTION: str = _TEXTS["interpretation_instruction"]
_MAX_RAW_ROWS = 1_000
_PREVIEW_LIMITS = ToolLimits(rows=5, columns=4, clip=30)
_MAX_QUESTION_CHARACTERS, _MAX_WORDS_CHARACTERS, _MAX_ROWS_CHARACTERS = 240, 160, 380  # characters


async def verbalize_answer(
    context_of: Callable[[Answer], Context],
    model: LanguageModel,
    account: BudgetAccount,
    options: Options,
    answer: Answer,
    *,
    raw: bool = False,
) -> AsyncGenerator[Step, None]:
    """Ask a model to put an answer in words; a failure of the model is a thought.

    This is the last step of SPARQL-LLM (Smeros et al., arXiv 2512.14277, section 3.2.4), for any
    method: one short call with the first rows of the result, or with the `raw` result.
    """
    context = context_of(answer)
    try:
        messages = await record_or_replay(
            "words",
            tuple[Message, ...],
            lambda: build_interpretation_messages(context, answer, raw=raw),
        )
        conversation = Conversation(model, account, [*messages], options=options)
        yield conversation.to_prompt("interpretation")
        yield (await conversation.take_turn()).step
    except (BudgetSpent, ServiceError) as problem:
        yield Thought(f"The answer is not said in words: {problem}")


async def answer_in_words(
    ask: Callable[[], AsyncIterator[Step]],
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    model: LanguageModel,
    *,
    timeout: float,
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a method without a model, and let `model` put its answer in words."""
    account = BudgetAccount(ModelBudget())
    charged_model = charge_model(model, account)

    def build_context(answer: Answer) -> Context:
        graph = next(candidate for candidate in graphs if candidate.name == answer.graph)
        return Context(graph, question, ToolLimits(timeout=timeout))

    async with aclosing(record_or_replay_steps("answered", ask)) as steps:
        async for step in steps:
            if not isinstance(step, Answer) or step.is_empty:
                yield step
                continue
            text = ""
            async with aclosing(
                verbalize_answer(build_context, charged_model, account, Options(), step)
            ) as verbalization_steps:
                async for new_step in verbalization_steps:
                    yield new_step
                    text = new_step.choice.text if isinstance(new_step, ModelTurn) else text
            usage = step.usage + get_usage(account)
            yield replace(step, interpretation=" ".join(text.split()), usage=usage)


async def build_interpretation_messages(
    context: Context, answer: Answer, *, raw: bool = False
) -> list[System | User]:
    """Build the messages that ask for an answer in words, in at most about 300 tokens.

    With `raw`, they hold the query and its result as tab-separated values, at most 1,000 rows.

    Raises:
        ServiceError: labels are needed and the graph is down.
    """
    if raw:
        rows = replace(answer.result, rows=answer.result.rows[:_MAX_RAW_ROWS])
        result = rows if answer.boolean is None else answer.boolean
        table = serialize_result(result, get_result_format("tsv", result))
        parts = [context.question.text, f"Query:\n{answer.query}", f"Result:\n{table.decode()}"]
        return [System(INTERPRETATION_INSTRUCTION), User("\n\n".join(parts))]
    if answer.boolean is not None:
        rows_text = "yes" if answer.boolean else "no"
    else:
        preview = replace(context, limits=replace(_PREVIEW_LIMITS, timeout=context.limits.timeout))
        rows_text = (await render_table(preview, answer.result)).text
    parts = [
        f"Question: {clip_text(context.question.text, _MAX_QUESTION_CHARACTERS)}",
        f"The query gives: {clip_text(answer.words, _MAX_WORDS_CHARACTERS)}",
        f"Result: {rows_text[:_MAX_ROWS_CHARACTERS]}",
    ]
    return [System(INTERPRETATION_INSTRUCTION), User("\n".join(parts))]
