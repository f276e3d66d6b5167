"""A conversation as a question, and its outcome as a message in Markdown.

Earlier queries are read from our own messages as the client sends them back, so anybody may have
written them: queries that are too long or do more than read are ignored.

Texts of a graph stay plain text: no label can create a link, an image, an emphasis, a formula,
HTML, or another row of a table.
"""

import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import pairwise

from pyoxigraph import NamedNode

from askgraph.answers.verbalize import describe_answerer, describe_confidence
from askgraph.errors import AskgraphError, QueryError, SetupError
from askgraph.server import openai
from askgraph.server.problems import to_problem
from askgraph.server.runs import to_answer_view
from askgraph.server.runs.events import describe_step
from askgraph.sparql.judge import admit_query
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import Term, to_plain_value
from askgraph.trace import Answer, Clarification, Outcome, PreviousQuestion, Refusal, Step, Usage

_MAX_ROWS, _MAX_COLUMNS = 20, 8
_MAX_EVIDENCE_ROWS, _MAX_EVIDENCE_LINES = 3, 4
_MAX_TEXT_CHARACTERS = 1_000
_MARKDOWN_CHARACTERS = re.compile(r"([\\`*_\[\]<>|~&$#^{}])")
_AUTOLINK = re.compile(r"(?<=\w)@(?=\w)|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BLOCK_START = re.compile(r"^(\d{1,9})([.)])|^([-+=!:])")
_MAX_LABEL_CHARACTERS = 200


FollowingSuggester = Callable[[Outcome], Awaitable[Sequence[str]]]
"""Returns follow-up questions to an outcome."""


def format_message(outcome: Outcome, following: Sequence[str] = ()) -> list[str]:
    """Return the paragraphs of a message, in Markdown; the questions `following` come last."""
    text = escape_markdown(describe_answerer(outcome), _MAX_TEXT_CHARACTERS)
    graphs = ", ".join(map(escape_markdown, outcome.other_graphs))
    answerer = [f"**Graphs that know these words better:** {graphs}"] if graphs else []
    answerer += [f"**Answered by:** {text}"] if text else []
    match outcome:
        case Answer():
            lines = "\n".join(
                f"- {escape_markdown(line, _MAX_TEXT_CHARACTERS)}" for line in following
            )
            next_part = [f"**Ask next:**\n\n{lines}"] if lines else []
            return [*_format_answer(outcome), *answerer, *next_part]
        case Clarification(question=question, options=options):
            readings = [
                f"{number}. {escape_markdown(option.words, _MAX_TEXT_CHARACTERS)} "
                f"({'1 row' if option.count == 1 else f'{option.count:,} rows'})"
                for number, option in enumerate(options, 1)
            ]
            return [
                escape_markdown(question, _MAX_TEXT_CHARACTERS),
                "\n".join(readings),
                *_format_missing(outcome),
                *answerer,
                "Answer with a number, or rephrase the question.",
            ]
        case Refusal(reason=reason, best=best):
            return [
                f"No answer. {escape_markdown(reason, _MAX_TEXT_CHARACTERS)}",
                *_format_missing(outcome),
                *(["The best attempt:", *_format_answer(best)] if best is not None else []),
                *answerer,
            ]


def _format_missing(outcome: Clarification | Refusal) -> Iterator[str]:
    """Yield suggestions of names for the words that match no name of the graph."""
    for missing in outcome.missing:
        word, names = escape_markdown(missing.words), ", ".join(map(escape_markdown, missing.names))
        yield f"Instead of “{word}”: {names}" if names else f"Unknown: “{word}”"


def _format_answer(answer: Answer) -> Iterator[str]:
    if answer.sentence:
        yield f"**{escape_markdown(answer.sentence, _MAX_TEXT_CHARACTERS)}**"
    yield from _format_rows(answer)
    if answer.why_empty:
        yield escape_markdown(answer.why_empty, _MAX_TEXT_CHARACTERS)
    if answer.result.truncated:
        yield f"Cut off: {escape_markdown(answer.result.truncated.reason, _MAX_TEXT_CHARACTERS)}"
    if answer.interpretation:
        yield escape_markdown(answer.interpretation, _MAX_TEXT_CHARACTERS)
    if answer.cut_short:
        yield (
            f"**Cut short:** {escape_markdown(answer.cut_short, _MAX_TEXT_CHARACTERS)}; "
            "this is the best answer so far."
        )
    if answer.words:
        yield f"**Read as:** {escape_markdown(answer.words, _MAX_TEXT_CHARACTERS)}"
    if answer.unused_words:
        yield (
            f"**Not used:** {escape_markdown(', '.join(answer.unused_words), _MAX_TEXT_CHARACTERS)}"
        )
    if answer.confirmed:
        yield (
            "**Confirmed** as the answer to: "
            f"{escape_markdown(answer.confirmed.question, _MAX_TEXT_CHARACTERS)}"
        )
    confidence = "chosen by you" if answer.chosen else describe_confidence(answer.confidence)
    yield f"**Confidence:** {confidence}"
    yield (
        f"**Query** on {escape_markdown(answer.graph)}:\n\n"
        f"{format_code_block(answer.query, 'sparql')}"
    )
    evidence = [
        f"- row {piece.row + 1}: {escape_markdown(line)}"
        for piece in answer.evidence[:_MAX_EVIDENCE_ROWS]
        for line in piece.words[:_MAX_EVIDENCE_LINES]
    ]
    if evidence:
        yield "**Evidence:**\n\n" + "\n".join(evidence)


def _format_rows(answer: Answer) -> Iterator[str]:
    """Yield everything that the sentence lacks: all values, a table, or the IRI of an entity."""
    rows = answer.result.rows
    variables = answer.result.variables
    has_sentence = bool(answer.sentence)
    if answer.boolean is not None:
        yield from () if has_sentence else ("**Yes**" if answer.boolean else "**No**",)
    elif not rows:
        yield from () if has_sentence else ("Nothing was found.",)
    elif len(rows) == 1 and len(variables) == 1:
        if not has_sentence or isinstance(rows[0][0], NamedNode):
            yield f"**{_format_cell(rows[0][0], answer)}**"
    else:
        columns = [escape_markdown(name.replace("_", " ")) for name in variables[:_MAX_COLUMNS]]
        cells = [
            [_format_cell(term, answer) for term in row[:_MAX_COLUMNS]] for row in rows[:_MAX_ROWS]
        ]
        yield format_table(columns, cells)
        if len(rows) > _MAX_ROWS:
            yield f"… and {len(rows) - _MAX_ROWS:,} more rows."
        if len(variables) > _MAX_COLUMNS:
            yield f"… and {len(variables) - _MAX_COLUMNS} more columns."


def _format_cell(term: Term | None, answer: Answer) -> str:
    if isinstance(term, NamedNode):
        label = answer.labels.get(term.value) or split_local_name(term.value) or term.value
        return format_link(label, term.value)
    return escape_markdown(to_plain_value(term) or "")


def escape_markdown(text: str, limit: int = _MAX_LABEL_CHARACTERS) -> str:
    """Return a text on one line that Markdown shows verbatim, of at most `limit` characters."""
    line = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(line.split())
    if len(line) > limit:
        line = f"{line[: limit - 1]}…"
    line = _MARKDOWN_CHARACTERS.sub(r"\\\1", line)
    line = _AUTOLINK.sub(lambda character: f"\\{character[0]}", line)
    return _BLOCK_START.sub(lambda match: f"{match[1] or ''}\\{match[2] or match[3]}", line)


def format_link(text: str, iri: str) -> str:
    """Return a link for a web address, or else only the text."""
    if not re.fullmatch(r"https?://[^\s<>\\|`]+", iri, re.IGNORECASE):
        return escape_markdown(text)
    return f"[{escape_markdown(text)}](<{iri}>)"


def format_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are already Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *rows])


def format_code_block(text: str, language: str) -> str:
    """Return a code block with a fence that is longer than any within the text."""
    max_backticks = max((len(backticks) for backticks in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, max_backticks + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


_MAX_VIEW_ROWS = 100  # in what programs get of an answer


def create_chat_answer(run: str, outcome: Outcome, following: Sequence[str]) -> openai.ChatAnswer:
    """Return the machine-readable part of an answer."""
    answer = to_answer_view(outcome, limit=_MAX_VIEW_ROWS)
    return openai.ChatAnswer(run=run, answer=answer, next=list(following))


async def read_to_end(steps: AsyncGenerator[Step, None]) -> tuple[Outcome, list[str]]:
    """Read all steps and return the outcome, and a line for each step before it."""
    lines: list[str] = []
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, Answer | Clarification | Refusal):
                return step, lines
            lines.append(describe_step(step))
    raise AssertionError("steps end with an outcome")


@dataclass(frozen=True)
class ChatReplyBuilder:
    """The reply to one chat request."""

    run: str
    model: str
    suggest_following: FollowingSuggester
    usage: bool = False  # whether a stream ends with the token usage
    created: int = field(default_factory=lambda: int(time.time()))  # seconds since 1970

    async def build_completion(self, steps: AsyncGenerator[Step, None]) -> openai.ChatCompletion:
        """Read all steps and return the reply."""
        outcome, lines = await read_to_end(steps)
        following = await self.suggest_following(outcome)
        message = openai.ChatReply(
            role="assistant",
            content="\n\n".join(format_message(outcome, following)),
            reasoning_content="\n".join(lines) or None,
            askgraph=create_chat_answer(self.run, outcome, following),
        )
        choice = openai.ChatChoice(message=message, finish_reason="stop")
        view = self._build_view([choice], _to_chat_usage(outcome.usage))
        return view.model_copy(update={"object": "chat.completion"})

    async def stream_chunks(self, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[str, None]:
        """Yield the reply as server-sent events, step by step; errors become events, too."""
        yield self._build_chunk(openai.ChatReply(role="assistant", content=""))
        try:
            async with aclosing(steps):
                async for step in steps:
                    if isinstance(step, Answer | Clarification | Refusal):
                        parts = format_message(step)
                        for number, part in enumerate(parts):
                            yield self._build_chunk(
                                openai.ChatReply(content=f"\n\n{part}" if number else part)
                            )
                        following = await self.suggest_following(step)
                        for part in format_message(step, following)[len(parts) :]:
                            yield self._build_chunk(openai.ChatReply(content=f"\n\n{part}"))
                        answer = create_chat_answer(self.run, step, following)
                        yield self._build_chunk(openai.ChatReply(askgraph=answer))
                        yield self._build_chunk(openai.ChatReply(), is_last=True)
                        if self.usage:
                            yield _format_event(
                                self._build_view([], _to_chat_usage(step.usage)).model_dump_json()
                            )
                    else:
                        yield self._build_chunk(
                            openai.ChatReply(reasoning_content=f"{describe_step(step)}\n")
                        )
        except AskgraphError as error:
            yield _format_event(openai.to_chat_error(to_problem(error)).model_dump_json())
        yield _format_event("[DONE]")

    def _build_chunk(self, delta: openai.ChatReply, *, is_last: bool = False) -> str:
        choice = openai.ChatChoice(delta=delta, finish_reason="stop" if is_last else None)
        view = self._build_view([choice], None).model_dump(mode="json")
        [choice_object] = view["choices"]
        del choice_object["message"]
        choice_object["delta"] = delta.model_dump(mode="json", exclude_none=True)
        if delta.askgraph is not None:
            choice_object["delta"]["askgraph"] = delta.askgraph.model_dump(mode="json")
        return _format_event(json.dumps(view, ensure_ascii=False))

    def _build_view(
        self, choices: list[openai.ChatChoice], usage: openai.ChatUsage | None
    ) -> openai.ChatCompletion:
        return openai.ChatCompletion(
            id=f"chatcmpl-{self.run}",
            object="chat.completion.chunk",
            created=self.created,
            model=self.model,
            choices=choices,
            usage=usage,
        )


def _to_chat_usage(usage: Usage) -> openai.ChatUsage:
    return openai.ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        prompt_tokens_details=openai.InputTokenDetails(cached_tokens=usage.cached_tokens),
    )


def _format_event(data: str) -> str:
    return f"data: {data}\n\n"


_FENCED_QUERY = re.compile(r"^(`{3,})sparql[ \t]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CHOICE_NUMBER = re.compile(r"\s*#?(\d{1,2})[.)]?\s*")
_MAX_MESSAGE_CHARACTERS = 100_000
_MAX_QUERY_CHARACTERS = 20_000
_MAX_EARLIER_QUESTIONS = 10


@dataclass(frozen=True)
class ParsedConversation:
    """The current question of a conversation, and the earlier ones."""

    question: str
    before: tuple[PreviousQuestion, ...] = ()
    choice: int | None = None  # the number of a reading, from 1, if the message is only a number
    previous_question: str = ""
    previous_reply: str = ""  # our reply to it, which may offer readings


def parse_conversation(messages: Sequence[openai.ChatMessage]) -> ParsedConversation:
    """Return the question of a conversation; system messages are ignored.

    Raises:
        SetupError: the last message is not a question of the user.
    """
    dialogue = [message for message in messages if message.role in ("user", "assistant")]
    last = dialogue[-1] if dialogue else None
    if last is None or last.role != "user" or not last.text.strip():
        raise SetupError("the last message must be the user's question as text")
    previous_question, previous_reply = dialogue[-3:-1] if len(dialogue) > 2 else (None, None)
    choice = _CHOICE_NUMBER.fullmatch(last.text)
    return ParsedConversation(
        _normalize_spaces(last.text),
        tuple(_find_earlier(dialogue[:-1]))[-_MAX_EARLIER_QUESTIONS:],
        int(choice[1]) if choice else None,
        _normalize_spaces(previous_question.text) if previous_question else "",
        _normalize_spaces(previous_reply.text[:_MAX_MESSAGE_CHARACTERS]) if previous_reply else "",
    )


def is_clarification_reply(outcome: Outcome, reply: str) -> bool:
    """Return whether a message, on one line, is the clarification of `outcome`."""
    return (
        isinstance(outcome, Clarification)
        and _normalize_spaces("\n".join(format_message(outcome))) == reply
    )


def _normalize_spaces(text: str) -> str:
    return " ".join(text.split())


def _find_earlier(messages: Sequence[openai.ChatMessage]) -> list[PreviousQuestion]:
    earlier = []
    for user_message, reply in pairwise(messages):
        if user_message.role == "user" and reply.role == "assistant":
            query = _find_query(reply.text[:_MAX_MESSAGE_CHARACTERS])
            if query is not None:
                earlier.append(
                    PreviousQuestion(_normalize_spaces(user_message.text)[:4_000], query)
                )
    return earlier


def _find_query(text: str) -> str | None:
    """Return the last query in a message if it only reads, or else None."""
    matches = _FENCED_QUERY.findall(text)
    query = matches[-1][1].strip() if matches else ""
    if not query or len(query) > _MAX_QUERY_CHARACTERS:
        return None
    try:
        admit_query(query)
    except QueryError:
        return None
    return query
