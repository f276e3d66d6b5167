"""A conversation as a question, and its outcome as a message in Markdown.

Earlier queries are read from our own messages as the client sends them back, so anybody may have
written them: a query that does more than read, or is overlong, is ignored.

Whatever the texts of a graph say, they stay text: no label can make a link, an image, an emphasis,
a formula, HTML, or another row of a table.
"""

import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import pairwise

from pyoxigraph import NamedNode

from askgraph.answers.verbalize import confidence_in_words
from askgraph.errors import AskgraphError, QueryError, SetupError
from askgraph.server.openai import (
    ChatAnswer,
    ChatChoice,
    ChatCompletion,
    ChatMessage,
    ChatReply,
    ChatUsage,
    InputDetails,
    error_of,
)
from askgraph.server.problems import problem_of
from askgraph.server.runs import answer_view
from askgraph.server.runs.events import words_of
from askgraph.sparql.judge import admitted
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import Term, value_of
from askgraph.trace import Answer, Clarification, Earlier, Outcome, Refusal, Step, Usage

_ROWS, _COLUMNS = 20, 8
_EVIDENCE, _LINES = 3, 4
_WORDS = 1_000
_SIGNS = re.compile(r"([\\`*_\[\]<>|~&$#^{}])")
_ADDRESS = re.compile(r"(?<=\w)@(?=\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
_START = re.compile(r"^(\d{1,9})([.)])|^([-+=!:])")
_LONGEST = 200


Follows = Callable[[Outcome], Awaitable[Sequence[str]]]
"""Gives the questions that may follow an outcome."""


def message_parts(outcome: Outcome, following: Sequence[str] = ()) -> list[str]:
    """Return the paragraphs of a message, in Markdown; the last are the questions `following`."""
    match outcome:
        case Answer():
            lines = "\n".join(f"- {plain(line, _WORDS)}" for line in following)
            return [*_answer(outcome), *([f"**Ask next:**\n\n{lines}"] if lines else [])]
        case Clarification(question=question, options=options):
            readings = [
                f"{number}. {plain(one.words, _WORDS)} "
                f"({'1 row' if one.count == 1 else f'{one.count:,} rows'})"
                for number, one in enumerate(options, 1)
            ]
            last = "Answer with a number, or ask in other words."
            return [plain(question, _WORDS), "\n".join(readings), *_instead(outcome), last]
        case Refusal(reason=reason, best=best):
            attempt = ["The best attempt:", *_answer(best)] if best is not None else []
            return [f"No answer. {plain(reason, _WORDS)}", *_instead(outcome), *attempt]


def _instead(outcome: Clarification | Refusal) -> Iterator[str]:
    """The names to put in the place of words that the graph knows nothing by."""
    for one in outcome.missing:
        word, names = plain(one.words), ", ".join(map(plain, one.names))
        yield f"Instead of “{word}”: {names}" if names else f"Not known: “{word}”"


def _answer(answer: Answer) -> Iterator[str]:
    if answer.sentence:
        yield f"**{plain(answer.sentence, _WORDS)}**"
    yield from _rows(answer)
    if answer.why_empty:
        yield plain(answer.why_empty, _WORDS)
    if answer.result.truncated:
        yield f"Cut off: {plain(answer.result.truncated.reason, _WORDS)}"
    if answer.interpretation:
        yield plain(answer.interpretation, _WORDS)
    if answer.cut_short:
        yield f"**Cut short:** {plain(answer.cut_short, _WORDS)}; this is the best so far."
    if answer.words:
        yield f"**Read as:** {plain(answer.words, _WORDS)}"
    if answer.unused_words:
        yield f"**Not used:** {plain(', '.join(answer.unused_words), _WORDS)}"
    if answer.confirmed:
        yield f"**Confirmed** as the answer to: {plain(answer.confirmed.question, _WORDS)}"
    sure = "you chose this" if answer.chosen else confidence_in_words(answer.confidence)
    yield f"**Confidence:** {sure}"
    yield f"**Query** on {plain(answer.graph)}:\n\n{code_block(answer.query, 'sparql')}"
    evidence = [
        f"- row {piece.row + 1}: {plain(line)}"
        for piece in answer.evidence[:_EVIDENCE]
        for line in piece.words[:_LINES]
    ]
    if evidence:
        yield "**Evidence:**\n\n" + "\n".join(evidence)


def _rows(answer: Answer) -> Iterator[str]:
    """What the sentence leaves to say: all if there is none, else a table, or a thing's address."""
    rows, variables, is_said = answer.result.rows, answer.result.variables, bool(answer.sentence)
    if answer.boolean is not None:
        yield from () if is_said else ("**Yes**" if answer.boolean else "**No**",)
    elif not rows:
        yield from () if is_said else ("Nothing was found.",)
    elif len(rows) == 1 and len(variables) == 1:
        if not is_said or isinstance(rows[0][0], NamedNode):
            yield f"**{_cell(rows[0][0], answer)}**"
    else:
        columns = [plain(name.replace("_", " ")) for name in variables[:_COLUMNS]]
        cells = [[_cell(term, answer) for term in row[:_COLUMNS]] for row in rows[:_ROWS]]
        yield table(columns, cells)
        if len(rows) > _ROWS:
            yield f"… and {len(rows) - _ROWS:,} more rows."
        if len(variables) > _COLUMNS:
            yield f"… and {len(variables) - _COLUMNS} more columns."


def _cell(term: Term | None, answer: Answer) -> str:
    if isinstance(term, NamedNode):
        label = answer.labels.get(term.value) or words_of_local_name(term.value) or term.value
        return link(label, term.value)
    return plain(value_of(term) or "")


def plain(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line that Markdown shows as it is, of at most `most` characters."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    if len(line) > most:
        line = f"{line[: most - 1]}…"
    line = _SIGNS.sub(r"\\\1", line)
    line = _ADDRESS.sub(lambda sign: f"\\{sign[0]}", line)
    return _START.sub(lambda start: f"{start[1] or ''}\\{start[2] or start[3]}", line)


def link(text: str, iri: str) -> str:
    """Return a link, for an address of the web; else the text alone."""
    if not re.fullmatch(r"https?://[^\s<>\\|`]+", iri, re.IGNORECASE):
        return plain(text)
    return f"[{plain(text)}](<{iri}>)"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code_block(text: str, language: str) -> str:
    """Return a block of code that nothing within it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


_VIEW_ROWS = 100  # in what programs get of an answer


def chat_answer(run: str, outcome: Outcome, following: Sequence[str]) -> ChatAnswer:
    """Return what programs get of an answer."""
    answer = answer_view(outcome, limit=_VIEW_ROWS)
    return ChatAnswer(run=run, answer=answer, next=list(following))


async def read_to_end(steps: AsyncGenerator[Step, None]) -> tuple[Outcome, list[str]]:
    """Return the outcome of some steps, and the steps before it in words."""
    lines: list[str] = []
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, Answer | Clarification | Refusal):
                return step, lines
            lines.append(words_of(step))
    raise AssertionError("steps end with an outcome")


@dataclass(frozen=True)
class Completion:
    """The reply to one request: its run, model and time."""

    run: str
    model: str
    follows: Follows
    usage: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self, steps: AsyncGenerator[Step, None]) -> ChatCompletion:
        """Read the steps to the end and return the reply."""
        outcome, lines = await read_to_end(steps)
        following = await self.follows(outcome)
        message = ChatReply(
            role="assistant",
            content="\n\n".join(message_parts(outcome, following)),
            reasoning_content="\n".join(lines) or None,
            askgraph=chat_answer(self.run, outcome, following),
        )
        choice = ChatChoice(message=message, finish_reason="stop")
        view = self._view([choice], _usage(outcome.usage))
        return view.model_copy(update={"object": "chat.completion"})

    async def chunks(self, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[str, None]:
        """Yield the reply as server-sent events, step by step; errors are said within."""
        yield self._chunk(ChatReply(role="assistant", content=""))
        try:
            async with aclosing(steps):
                async for step in steps:
                    if isinstance(step, Answer | Clarification | Refusal):
                        said = message_parts(step)
                        for at, part in enumerate(said):
                            yield self._chunk(ChatReply(content=f"\n\n{part}" if at else part))
                        following = await self.follows(step)
                        for part in message_parts(step, following)[len(said) :]:
                            yield self._chunk(ChatReply(content=f"\n\n{part}"))
                        answer = chat_answer(self.run, step, following)
                        yield self._chunk(ChatReply(askgraph=answer))
                        yield self._chunk(ChatReply(), finished=True)
                        if self.usage:
                            yield _event(self._view([], _usage(step.usage)).model_dump_json())
                    else:
                        yield self._chunk(ChatReply(reasoning_content=f"{words_of(step)}\n"))
        except AskgraphError as error:
            yield _event(error_of(problem_of(error)).model_dump_json())
        yield _event("[DONE]")

    def _chunk(self, delta: ChatReply, *, finished: bool = False) -> str:
        choice = ChatChoice(delta=delta, finish_reason="stop" if finished else None)
        view = self._view([choice], None).model_dump(mode="json")
        [told] = view["choices"]
        del told["message"]
        told["delta"] = delta.model_dump(mode="json", exclude_none=True)
        if delta.askgraph is not None:
            told["delta"]["askgraph"] = delta.askgraph.model_dump(mode="json")
        return _event(json.dumps(view, ensure_ascii=False))

    def _view(self, choices: list[ChatChoice], usage: ChatUsage | None) -> ChatCompletion:
        return ChatCompletion(
            id=f"chatcmpl-{self.run}",
            object="chat.completion.chunk",
            created=self.created,
            model=self.model,
            choices=choices,
            usage=usage,
        )


def _usage(usage: Usage) -> ChatUsage:
    return ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        prompt_tokens_details=InputDetails(cached_tokens=usage.cached_tokens),
    )


def _event(data: str) -> str:
    return f"data: {data}\n\n"


_FENCED = re.compile(r"^(`{3,})sparql[ \t]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CHOICE = re.compile(r"\s*#?(\d{1,2})[.)]?\s*")
_LONGEST_MESSAGE = 100_000
_LONGEST_QUERY = 20_000
_MOST_EARLIER = 10


@dataclass(frozen=True)
class Talk:
    """The present question, and those before it.

    `choice` is the number of a reading, from 1, if the message is only that; `asked` and `said` are
    the question before and our message, which may offer readings.
    """

    question: str
    before: tuple[Earlier, ...] = ()
    choice: int | None = None
    asked: str = ""
    said: str = ""


def parse_talk(messages: Sequence[ChatMessage]) -> Talk:
    """Return the question of a conversation.

    Messages of the system are not for a graph and are passed over. Raises `SetupError` if the
    last message is no question of the user's.
    """
    spoken = [one for one in messages if one.role in ("user", "assistant")]
    last = spoken[-1] if spoken else None
    if last is None or last.role != "user" or not last.text.strip():
        raise SetupError("the last message has to be the user's question, as text")
    asked, said = spoken[-3:-1] if len(spoken) > 2 else (None, None)
    chosen = _CHOICE.fullmatch(last.text)
    return Talk(
        _line(last.text),
        tuple(_find_earlier(spoken[:-1]))[-_MOST_EARLIER:],
        int(chosen[1]) if chosen else None,
        _line(asked.text) if asked else "",
        _line(said.text[:_LONGEST_MESSAGE]) if said else "",
    )


def offers(outcome: Outcome, said: str) -> bool:
    """Whether a message, on one line, is the one that asks back as `outcome` does."""
    return isinstance(outcome, Clarification) and _line("\n".join(message_parts(outcome))) == said


def _line(text: str) -> str:
    return " ".join(text.split())


def _find_earlier(messages: Sequence[ChatMessage]) -> list[Earlier]:
    """The questions that we answered with a query, each followed by our message."""
    found = []
    for asked, answered in pairwise(messages):
        if asked.role == "user" and answered.role == "assistant":
            query = _find_query(answered.text[:_LONGEST_MESSAGE])
            if query is not None:
                found.append(Earlier(_line(asked.text)[:4_000], query))
    return found


def _find_query(text: str) -> str | None:
    """The last query in a message, if it only reads."""
    fenced = _FENCED.findall(text)
    query = fenced[-1][1].strip() if fenced else ""
    if not query or len(query) > _LONGEST_QUERY:
        return None
    try:
        admitted(query)
    except QueryError:
        return None
    return query
