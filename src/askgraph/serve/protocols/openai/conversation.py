"""A conversation as a question: its last message, and the questions and answers before it.

Earlier queries are read from our own messages as the client sends them back, so anybody may have
written them: a query that does more than read, or is overlong, is ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from askgraph.errors import QueryError, SetupError
from askgraph.serve.protocols.openai.views import ChatMessage
from askgraph.sparql.judge import admitted
from askgraph.trace import Earlier

_FENCED = re.compile(r"^(`{3,})sparql[ \t]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^\[askgraph\]: # \(([A-Za-z0-9_-]{8,64})\)\s*$", re.MULTILINE)
_CHOICE = re.compile(r"\s*#?(\d{1,2})[.)]?\s*")
_LONGEST_MESSAGE = 100_000
_LONGEST_QUERY = 20_000
_MOST_EARLIER = 10


@dataclass(frozen=True)
class Talk:
    """The present question, and those before it.

    `choice` is the number of a reading, from 1, if the message is only that; `run` is the run that
    our last message marks, to which it may belong.
    """

    question: str
    before: tuple[Earlier, ...] = ()
    choice: int | None = None
    run: str | None = None


def talk_of(messages: Sequence[ChatMessage]) -> Talk:
    """Return the question of a conversation.

    Messages of the system are not for a graph and are passed over. Raises `SetupError` if the
    last message is no question of the user's.
    """
    spoken = [one for one in messages if one.role in ("user", "assistant")]
    last = spoken[-1] if spoken else None
    if last is None or last.role != "user" or not last.text.strip():
        raise SetupError("the last message has to be the user's question, as text")
    question = " ".join(last.text.split())
    ours = spoken[-2].text[:_LONGEST_MESSAGE] if len(spoken) > 1 else ""
    marked = _MARKER.findall(ours)
    chosen = _CHOICE.fullmatch(last.text)
    return Talk(
        question,
        tuple(_earlier(spoken[:-1]))[-_MOST_EARLIER:],
        int(chosen[1]) if chosen else None,
        marked[-1] if marked else None,
    )


def marker(run: str) -> str:
    """Return the line that marks a message as the answer of a run; Markdown shows nothing of it."""
    return f"[askgraph]: # ({run})"


def _earlier(messages: Sequence[ChatMessage]) -> list[Earlier]:
    """The questions that we answered with a query, each followed by our message."""
    found = []
    for asked, answered in pairwise(messages):
        if asked.role == "user" and answered.role == "assistant":
            query = _query(answered.text[:_LONGEST_MESSAGE])
            if query is not None:
                found.append(Earlier(" ".join(asked.text.split())[:4_000], query))
    return found


def _query(text: str) -> str | None:
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
