"""A question, the steps of a method, and the outcome: an answer, a refusal or a clarification.

A `Trace` is the only state of a run: one JSON line per step, the same bytes for log, stream, report
and page. A method that is not an agent queries its graphs through `record_or_replay`: their
responses are recorded with the run and returned again in a replay.

What lives here: these types and their JSON (`codec`). May import: `llm`, `sparql` and the modules
below them. Start reading at `Trace`.
"""

import operator
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal, TypeVar

from askgraph import errors
from askgraph.errors import BudgetSpent, QueryError, ServiceError, SetupError
from askgraph.llm import Choice, Message, ToolSchema
from askgraph.sparql.results import SelectResult

Said = TypeVar("Said")


@dataclass(frozen=True)
class PreviousQuestion:
    """An earlier question of the same conversation, and the query that answered it."""

    question: str
    query: str


@dataclass(frozen=True)
class Question:
    """A question in natural language; `language` is a BCP 47 tag, or None to detect it.

    `before` are the earlier questions of the same conversation, oldest first. `given` are IRIs of
    known topics, for methods that do not link by themselves; None if they are unknown.
    """

    text: str
    language: str | None = None
    before: tuple[PreviousQuestion, ...] = ()
    given: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Usage:
    """The cost of a run: wall seconds, SPARQL requests, language-model calls, tokens, and money.

    `money` is in the currency of the price table. Two costs can be added.
    """

    seconds: float = 0.0
    requests: int = 0
    llm_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum of both costs."""
        return Usage(*map(operator.add, vars(self).values(), vars(other).values()))

    def __sub__(self, other: "Usage") -> "Usage":
        """Return the additional cost over another one."""
        return Usage(*map(operator.sub, vars(self).values(), vars(other).values()))


@dataclass(frozen=True)
class Mention:
    """Words of the question and the element of the graph that they refer to."""

    words: str
    kind: str  # entity, class, predicate, value, operator
    target: str  # IRI, literal text or operator name
    label: str
    score: float


@dataclass(frozen=True)
class Thought:
    """Free text of a method during a run, and its cost.

    `sent` is the message to a language model that the text stands for, if any. The usage of the
    outcome includes all steps; that of thoughts gives the cost of runs without an outcome.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    sent: str = ""


@dataclass(frozen=True)
class Prompt:
    """The first messages to a language model in a conversation; `purpose` describes their use."""

    purpose: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()


@dataclass(frozen=True)
class ModelTurn:
    """The reply of a language model in one call, and its cost."""

    choice: Choice
    usage: Usage
    model: str = ""


@dataclass(frozen=True)
class Findings:
    """The meanings that a method found for the words of the question."""

    mentions: tuple[Mention, ...]
    unused_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A query that a method considered, with its score and its description in words."""

    query: str
    score: float
    words: str = ""


@dataclass(frozen=True)
class Evidence:
    """The triples behind one row of a result: (subject, predicate, object) with labels."""

    row: int
    triples: tuple[tuple[str, str, str], ...]  # N-Triples terms
    words: tuple[str, ...] = ()  # the same triples in words


@dataclass(frozen=True)
class ConfirmedQuestion:
    """An earlier confirmation of an answer's query for the same question.

    Attributes:
        question: the wording at that time. when: the time, in ISO 8601. by: the person who
        confirmed it, if known. example: the IRI of the stored example. change: how the result
        differs from the confirmed one; None if it is equal or not comparable.
    """

    question: str
    when: str
    by: str | None = None
    example: str | None = None
    change: str | None = None


@dataclass(frozen=True)
class Answerer:
    """The method that answered, and its language model.

    With `failed`, the model was asked in vain.
    """

    method: str
    model: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Answer:
    """A query, its result, and the information that a person needs to trust it.

    `answer_columns` are the variables that answer the question; the others are context. An ASK
    query has `boolean` set and an empty `result`. `confidence`, between 0 and 1, is the
    expected share of right answers among those with this confidence. `cut_short` is the reason
    if the run ended before the method was done; then this is the best attempt. `confirmed` is
    set if the query was confirmed for the same question before. `words` describe the query,
    `sentence` states the result with the decisive values; `interpretation` is a language
    model's comment on the result, if requested. `unused_words` are words of the question that
    the query leaves out, if known. A query that a person has `chosen` or written counts as
    right, whatever its confidence. `answered_by` is set if the method chose among others;
    `other_graphs`, which were not asked, know the words of a question better. `context` has the
    values that decided on each row of the result, which has no column for them.
    """

    query: str
    graph: str
    result: SelectResult
    answer_columns: tuple[str, ...]
    words: str
    confidence: float
    boolean: bool | None = None
    ordered: bool = False
    labels: dict[str, str] = field(default_factory=dict)  # IRI -> label in the asker's language
    evidence: tuple[Evidence, ...] = ()
    why_empty: str | None = None
    usage: Usage = field(default_factory=Usage)
    cut_short: str | None = None
    confirmed: ConfirmedQuestion | None = None
    interpretation: str = ""
    unused_words: tuple[str, ...] = ()
    sentence: str = ""
    chosen: bool = False
    answered_by: Answerer | None = None
    other_graphs: tuple[str, ...] = ()
    context: SelectResult = field(default=SelectResult((), ()))
    units: dict[str, str] = field(default_factory=dict)  # variable -> unit of its numbers, as km

    @property
    def table(self) -> SelectResult:
        """The result with the columns of its `context`, for readers."""
        shown, context = self.result, self.context
        if len(context.rows) != len(shown.rows) or {*context.variables} & {*shown.variables}:
            return shown
        rows = tuple(row + more for row, more in zip(shown.rows, context.rows, strict=True))
        return replace(shown, variables=shown.variables + context.variables, rows=rows)

    @property
    def is_empty(self) -> bool:
        """Whether the result has no row; a boolean result is never empty."""
        return self.boolean is None and not self.result.rows


@dataclass(frozen=True)
class Observation:
    """The result of a tool call on a graph; `text` is the part that a language model sees.

    `seen` are the full IRIs in the text. `query` is the query that ran, and `rows` the number
    of its rows (1 for ASK). `ends` is "answer" or "cancel" if the call ends the run, with its
    `answer` or the best attempt.
    """

    text: str
    seen: tuple[str, ...] = ()
    failed: bool = False
    query: str | None = None
    rows: int | None = None
    ends: Literal["", "answer", "cancel"] = ""
    answer: Answer | None = None


@dataclass(frozen=True)
class ToolUse:
    """A call of a tool, with the id from the language model, and its result."""

    tool: str
    arguments: dict[str, object]
    observation: Observation
    seconds: float = 0.0
    call: str = ""


@dataclass(frozen=True)
class Option:
    """An interpretation of an ambiguous question: in words, with its number of rows."""

    words: str
    count: int
    query: str


@dataclass(frozen=True)
class UnmatchedWords:
    """Words of a question that match nothing in the graph, and names to suggest instead."""

    words: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clarification:
    """A question back to the user: the interpretations to choose between, and unknown words."""

    question: str
    options: tuple[Option, ...]
    best: Answer | None
    usage: Usage = field(default_factory=Usage)
    missing: tuple[UnmatchedWords, ...] = ()
    answered_by: Answerer | None = None
    other_graphs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """No answer: the reason, the best attempt if there was one, and unknown words."""

    reason: str
    best: Answer | None = None
    usage: Usage = field(default_factory=Usage)
    missing: tuple[UnmatchedWords, ...] = ()
    answered_by: Answerer | None = None
    other_graphs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heard:
    """The responses of the graphs in a run, by request: all that a replay needs of them.

    Only a run that is recorded for a replay has it, just before its outcome.
    """

    said: dict[str, tuple[object, ...]]


Outcome = Answer | Clarification | Refusal
Step = Thought | Prompt | ModelTurn | ToolUse | Findings | Draft | Heard | Outcome


@dataclass(frozen=True)
class Trace:
    """The steps of one run, in order; the last one is the outcome."""

    question: Question
    method: str
    steps: tuple[Step, ...]

    @property
    def outcome(self) -> Outcome:
        """The last step; ValueError if the run ended without one."""
        last_step = self.steps[-1] if self.steps else None
        if not isinstance(last_step, Answer | Clarification | Refusal):
            raise ValueError("the run ended without an answer, a refusal or a question back")
        return last_step


def compute_usage(steps: Sequence[Step]) -> Usage:
    """Return the cost of a run: of its outcome, or else the sum of its thoughts and turns."""
    outcomes = [step for step in steps if isinstance(step, Outcome)]
    if outcomes:
        return outcomes[-1].usage
    return sum((step.usage for step in steps if isinstance(step, Thought | ModelTurn)), Usage())


def get_attempt(outcome: Outcome) -> Answer | None:
    """Return the answer, or the best attempt of a refusal or clarification, if any."""
    return outcome if isinstance(outcome, Answer) else outcome.best


def build_follow_up(
    text: str, earlier: Question, outcome: Outcome, *, language: str | None = None
) -> Question:
    """Return a question that follows another one with its `outcome`.

    The earlier questions of that one are kept. An outcome without a query is skipped: then the
    question refers to those before, or stands alone.
    """
    attempt = get_attempt(outcome)
    if attempt is None:
        return Question(text, language, earlier.before)
    before = (*earlier.before, PreviousQuestion(earlier.text, attempt.query))
    return Question(text, language, before)


@dataclass(eq=False)
class ResponseRecorder:
    """Records the responses of graphs in a run by request, or replays them in the same order.

    `tell` and `read` write and read a value of a type, as `askgraph.trace.codec` does.
    """

    responses: dict[str, list[object]]
    encode: Callable[[Any, Any], object]
    decode: Callable[[Any, Any], Any]
    is_replay: bool = False

    def get_prefixes(self, graph: str) -> dict[str, str]:
        """Return the prefixes of a graph of the run."""
        match self.responses.get(build_prefixes_key(graph)):
            case [dict() as prefixes, *_]:
                return {str(name): str(iri) for name, iri in prefixes.items()}
            case _:
                return {}

    def take_next(self, key: str) -> object:
        """Return the next recorded response; `SetupError` without one."""
        replies = self.responses.get(key)
        if not replies:
            raise SetupError(
                f"the run differs from its trace: it now requests {key!r} from its graphs, "
                "which the trace does not contain; traces of 'askgraph ask --trace FILE' "
                "contain the replies of graphs"
            )
        return replies.pop(0)

    def replay(self, key: str, hint: Any) -> Any:
        """Return the next response, decoded to a type, or raise its error; see `take_next`."""
        reply = self.take_next(key)
        try:
            match reply:
                case {"failed": str(name), "why": str(message)} if name in errors.__all__:
                    raise getattr(errors, name)(message)
                case {"gave": value}:
                    return self.decode(value, hint)
        except (KeyError, TypeError, ValueError) as error:
            raise SetupError(f"the trace is damaged at a reply of a graph: {error!r}") from error
        raise SetupError(f"the trace is damaged at a reply of a graph: {reply!r}")


_KEY_DIGEST_DIGITS = 12  # digits of the hash of a question and its graphs
_RecordedSteps = tuple[tuple[Step, ...], str]  # steps; why they did not finish
_CURRENT_RECORDER: ContextVar[ResponseRecorder | None] = ContextVar("hearing", default=None)


def build_prefixes_key(graph: str) -> str:
    """Return the key of a graph's recorded prefixes."""
    return f"prefixes of {graph}"


@contextmanager
def use_recorder(recorder: ResponseRecorder | None) -> Iterator[None]:
    """Record or replay responses within a block; None records nothing."""
    token = _CURRENT_RECORDER.set(recorder)
    try:
        yield
    finally:
        _CURRENT_RECORDER.reset(token)


async def record_or_replay(
    request_name: str, hint: Any, ask: Callable[[], Awaitable[Said]], *arguments: object
) -> Said:
    """Return the response of the graphs, or the recorded one in a replay.

    Raises the errors of `ask`, when recorded and in a replay.

    Args:
        request_name: the kind of request, in a word or two.
        hint: the type of the response, which the codec of traces supports.
        arguments: the values of the request, which are part of the key.
    """
    recorder = _CURRENT_RECORDER.get()
    if recorder is None:
        return await ask()
    key = (
        f"{request_name} {sha256(repr(arguments).encode()).hexdigest()[:_KEY_DIGEST_DIGITS]}"
        if arguments
        else request_name
    )
    if recorder.is_replay:
        replayed: Said = recorder.replay(key, hint)
        return replayed
    replies = recorder.responses.setdefault(key, [])
    try:
        value = await ask()
    except (QueryError, ServiceError) as problem:
        replies.append({"failed": type(problem).__name__, "why": str(problem)})
        raise
    replies.append({"gave": recorder.encode(value, hint)})
    return value


async def record_or_replay_steps(
    key: str, ask: Callable[[], AsyncIterator[Step]]
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a consulted method, or the recorded ones in a replay."""
    recorder = _CURRENT_RECORDER.get()
    if recorder is not None and recorder.is_replay:
        steps_so_far, problem = recorder.replay(key, _RecordedSteps)
        for step in steps_so_far:
            yield step
        if problem:
            raise ServiceError(problem)
        return
    async with aclosing(_record_steps(key, ask, recorder)) as steps:
        async for step in steps:
            yield step


async def _record_steps(
    key: str, ask: Callable[[], AsyncIterator[Step]], recorder: ResponseRecorder | None
) -> AsyncGenerator[Step, None]:
    stream, recorded_steps = ask(), list[Step]()

    def save(problem: str = "") -> None:
        if recorder is not None:
            encoded = recorder.encode((tuple(recorded_steps), problem), _RecordedSteps)
            recorder.responses.setdefault(key, []).append({"gave": encoded})

    try:
        while True:
            with use_recorder(None):
                step = await anext(stream, None)
            if step is None:
                return
            recorded_steps.append(step)
            if isinstance(step, Outcome):
                save()
            yield step
    except (BudgetSpent, ServiceError) as error:
        save(str(error))
        raise
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def is_replaying() -> bool:
    """Return whether a run is being replayed: then no graph and no file of it may be read."""
    recorder = _CURRENT_RECORDER.get()
    return recorder is not None and recorder.is_replay
