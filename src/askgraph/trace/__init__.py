"""A question, the steps a method takes on it, and the answer, refusal or question back it ends in.

A `Trace` is the only state of a run: one JSON line a step, the same bytes for log, stream, report
and page. A method that is no agent asks its graphs through `heard`: what they say is kept with a
run that `askgraph.methods.tools.replay.record_graph_responses` reads, and given again in a replay.

What lives here: these types and their JSON (`codec`). May import: `llm`, `sparql` and the modules
below them. Start reading at `Trace`.
"""

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Literal, TypeVar

from askgraph import errors
from askgraph.errors import BudgetSpent, QueryError, ServiceError, SetupError
from askgraph.llm import Choice, Message, ToolSchema
from askgraph.sparql.results import SelectResult

Said = TypeVar("Said")


@dataclass(frozen=True)
class Earlier:
    """A question of the same conversation that was answered before, and the query that did it."""

    question: str
    query: str


@dataclass(frozen=True)
class Question:
    """A question in natural language; `language` is a BCP 47 tag, or None to detect it.

    `before` is what was asked before it in the same conversation, oldest first. `given` are IRIs
    that it is known to be about, for methods that do not link by themselves; None if nobody
    says.
    """

    text: str
    language: str | None = None
    before: tuple[Earlier, ...] = ()
    given: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Usage:
    """What a run cost: wall seconds, SPARQL requests, language-model calls and tokens, and money.

    `money` is in the currency of the price table. Two costs add up: `one + other`.
    """

    seconds: float = 0.0
    requests: int = 0
    llm_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Return what both cost together."""
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))

    def __sub__(self, other: "Usage") -> "Usage":
        """Return what came on top of another cost."""
        return Usage(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(Usage)))


@dataclass(frozen=True)
class Mention:
    """Words of the question and the thing in the graph that they were taken to mean."""

    words: str
    kind: str  # entity, class, predicate, value, operator
    target: str  # IRI, literal text or operator name
    label: str
    score: float


@dataclass(frozen=True)
class Thought:
    """Free text of a method on its way, and what it cost to come by.

    The outcome's usage counts all of a run; that of the thoughts before it says what was spent
    if no outcome came.
    """

    text: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Prompt:
    """What a language model is told at the start of a conversation; `purpose` says what for."""

    purpose: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()


@dataclass(frozen=True)
class ModelTurn:
    """What a language model said in one call, and what the call cost; never empty of both."""

    choice: Choice
    usage: Usage
    model: str = ""


@dataclass(frozen=True)
class Findings:
    """What the words of the question were found to mean."""

    mentions: tuple[Mention, ...]
    unused_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A query that was considered, with its score and its reading in words."""

    query: str
    score: float
    words: str = ""


@dataclass(frozen=True)
class Evidence:
    """The triples behind one row of a result: (subject, predicate, object) with labels."""

    row: int
    triples: tuple[tuple[str, str, str], ...]  # N-Triples terms
    words: tuple[str, ...] = ()  # the same triples, read out by label


@dataclass(frozen=True)
class Confirmed:
    """That an answer's query was confirmed for the same question before.

    `question` is how it was asked then, `when` a time in ISO 8601, `by` who confirmed it, if
    that was said, `example` the IRI under which it is kept. `change` says how the result differs
    from the one that was confirmed, None if it is the same or cannot be compared.
    """

    question: str
    when: str
    by: str | None = None
    example: str | None = None
    change: str | None = None


@dataclass(frozen=True)
class Answer:
    """A query, its result, and what a person needs to trust it.

    `answer_columns` are the variables that answer the question; the others are context. An ASK
    query has `boolean` set and an empty `result`. `confidence` is between 0 and 1: the share of
    answers given with this confidence that are expected to be right. `cut_short` says why the run
    ended before the method was done, if it did; then this is the best attempt. `confirmed` is
    set if the query was not found by a method, but confirmed for the same question before.
    `words` read the query, `sentence` says the result, with the values that decided;
    `interpretation` is what a language model says of the result, if it was asked to. `unused_words`
    are those of the question that the query leaves out, if the method knows. A query that a person
    has `chosen`, or written, is right by this: its confidence says nothing.
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
    confirmed: Confirmed | None = None
    interpretation: str = ""
    unused_words: tuple[str, ...] = ()
    sentence: str = ""
    chosen: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it has no row; a yes or no is never empty."""
        return self.boolean is None and not self.result.rows


@dataclass(frozen=True)
class Observation:
    """What a tool call on a graph gave: `text` is what a language model is told.

    `seen` are the IRIs that the text shows, in full. `query` is the query that was run for it, as
    it was run, and `rows` the number of its rows (1 for ASK). `ends` is "answer" or "cancel" if
    the call ends the run, with the `answer` that it gave, or the best attempt.
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
    """A call of a tool, with the id that a language model gave it, and what came of it."""

    tool: str
    arguments: dict[str, object]
    observation: Observation
    seconds: float = 0.0
    call: str = ""


@dataclass(frozen=True)
class Option:
    """One reading of an ambiguous question: in words, with the number of its rows."""

    words: str
    count: int
    query: str


@dataclass(frozen=True)
class Missing:
    """Words of a question that the graph knows nothing by, and names to put in their place."""

    words: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clarification:
    """A question back: the readings between which the method cannot decide, and what they lack."""

    question: str
    options: tuple[Option, ...]
    best: Answer | None
    usage: Usage = field(default_factory=Usage)
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """No answer: the reason, the best attempt if there was one, and words that are not known."""

    reason: str
    best: Answer | None = None
    usage: Usage = field(default_factory=Usage)
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True)
class Heard:
    """What the graphs said in a run, by what they were asked: all that a replay needs of them.

    Only a run that is kept for a replay has it, just before its outcome.
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
        last = self.steps[-1] if self.steps else None
        if not isinstance(last, Answer | Clarification | Refusal):
            raise ValueError("the run ended without an answer, a refusal or a question back")
        return last


def spent(steps: Sequence[Step]) -> Usage:
    """Return what a run cost: its outcome says so; without one, its thoughts and turns do."""
    outcomes = [step for step in steps if isinstance(step, Outcome)]
    if outcomes:
        return outcomes[-1].usage
    return sum((step.usage for step in steps if isinstance(step, Thought | ModelTurn)), Usage())


def attempt_of(outcome: Outcome) -> Answer | None:
    """Return the answer, or the best attempt of a refusal or question back that has one."""
    return outcome if isinstance(outcome, Answer) else outcome.best


def follow_up(
    text: str, earlier: Question, outcome: Outcome, *, language: str | None = None
) -> Question:
    """Return a question that comes after another one, of which `outcome` came.

    What was asked before that one comes before it, too. An outcome without a query is passed over:
    then the question refers to those before, or stands alone.
    """
    attempt = attempt_of(outcome)
    if attempt is None:
        return Question(text, language, earlier.before)
    before = (*earlier.before, Earlier(earlier.text, attempt.query))
    return Question(text, language, before)


@dataclass(eq=False)
class Hearing:
    """What graphs say in a run, by what they are asked: kept, or `again` given in that order.

    `tell` and `read` write and read a value of a type, as `askgraph.trace.codec` does.
    """

    said: dict[str, list[object]]
    tell: Callable[[Any, Any], object]
    read: Callable[[Any, Any], Any]
    again: bool = False

    def prefixes(self, graph: str) -> dict[str, str]:
        """Return the prefixes of a graph of the run."""
        match self.said.get(prefixes_of(graph)):
            case [dict() as known, *_]:
                return {str(name): str(iri) for name, iri in known.items()}
            case _:
                return {}

    def next(self, what: str) -> object:
        """Give what was said next; `SetupError` if it was not asked then."""
        replies = self.said.get(what)
        if not replies:
            raise SetupError(
                f"the run differs from its trace: its graphs are asked for {what!r} now, of which "
                "the trace says nothing; one of 'askgraph ask --trace FILE' keeps what they say"
            )
        return replies.pop(0)

    def given(self, what: str, hint: Any) -> Any:
        """Give what was said next, of a type, or raise what was raised; see `next`."""
        reply = self.next(what)
        try:
            match reply:
                case {"failed": str(name), "why": str(why)} if name in errors.__all__:
                    raise getattr(errors, name)(why)
                case {"gave": value}:
                    return self.read(value, hint)
        except (KeyError, TypeError, ValueError) as error:
            raise SetupError(f"what the graphs said is damaged in the trace: {error!r}") from error
        raise SetupError(f"what the graphs said is damaged in the trace: {reply!r}")


_ABOUT = 12  # digits that tell one question to a graph from another
_CAME = tuple[tuple[Step, ...], str]  # the steps of a method, and why they came to no end
_HEARING: ContextVar[Hearing | None] = ContextVar("hearing", default=None)


def prefixes_of(graph: str) -> str:
    """Return what a graph's prefixes are kept by."""
    return f"prefixes of {graph}"


@contextmanager
def hearing(kept: Hearing | None) -> Iterator[None]:
    """Keep, or give again, what is `heard` inside; None keeps nothing."""
    token = _HEARING.set(kept)
    try:
        yield
    finally:
        _HEARING.reset(token)


async def heard(what: str, hint: Any, ask: Callable[[], Awaitable[Said]], *about: object) -> Said:
    """Return what the graphs say, or said in the run that is replayed.

    `what` is asked for, in a word or two, and `about` which values; `hint` is the type of the
    reply, which the codec of traces can write. Raises what asking raises, then and again.
    """
    kept = _HEARING.get()
    if kept is None:
        return await ask()
    key = f"{what} {sha256(repr(about).encode()).hexdigest()[:_ABOUT]}" if about else what
    if kept.again:
        again: Said = kept.given(key, hint)
        return again
    replies = kept.said.setdefault(key, [])
    try:
        value = await ask()
    except (QueryError, ServiceError) as problem:
        replies.append({"failed": type(problem).__name__, "why": str(problem)})
        raise
    replies.append({"gave": kept.tell(value, hint)})
    return value


async def heard_steps(
    what: str, ask: Callable[[], AsyncIterator[Step]]
) -> AsyncGenerator[Step, None]:
    """Give the steps of a method that another one consults; in a replay those that came then."""
    kept = _HEARING.get()
    if kept is not None and kept.again:
        came, problem = kept.given(what, _CAME)
        for step in came:
            yield step
        if problem:
            raise ServiceError(problem)
        return
    async with aclosing(_kept_steps(what, ask, kept)) as steps:
        async for step in steps:
            yield step


async def _kept_steps(
    what: str, ask: Callable[[], AsyncIterator[Step]], kept: Hearing | None
) -> AsyncGenerator[Step, None]:
    stream, seen = ask(), list[Step]()

    def keep(problem: str = "") -> None:
        if kept is not None:
            gave = kept.tell((tuple(seen), problem), _CAME)
            kept.said.setdefault(what, []).append({"gave": gave})

    try:
        while True:
            with hearing(None):
                step = await anext(stream, None)
            if step is None:
                return
            seen.append(step)
            if isinstance(step, Outcome):
                keep()
            yield step
    except (BudgetSpent, ServiceError) as failed:
        keep(str(failed))
        raise
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def replays() -> bool:
    """Whether a run is being replayed: then no graph and no file beside it may be read."""
    kept = _HEARING.get()
    return kept is not None and kept.again
