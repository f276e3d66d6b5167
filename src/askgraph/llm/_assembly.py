"""Choices put together from the pieces in which a server sends them."""

import json
from collections.abc import Hashable
from dataclasses import dataclass, field

from askgraph.llm import (
    CallPart,
    Choice,
    Completion,
    Finish,
    ReasoningPart,
    Request,
    TextPart,
    TokenLogprob,
    TokenUsage,
    ToolCall,
)
from askgraph.llm.estimate import estimated_usage

MAX_CHARACTERS = 400_000  # of all choices; more is a model that does not stop


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class _Draft:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[Hashable, _Call] = field(default_factory=dict)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: Finish | None = None
    opaque: str = ""


class Assembly:
    """Collects the pieces of all choices of one reply.

    `full` becomes true at the cap on a reply's length: the reader stops there, and the choices
    count as cut off. `model`, `id` and `usage` are set as the server tells them.
    """

    def __init__(self, request: Request, *, model: str) -> None:
        self.model = model
        self.id = ""
        self.usage: TokenUsage | None = None
        self._request = request
        self._drafts: dict[int, _Draft] = {}
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether no more is to be read."""
        return self._size > MAX_CHARACTERS

    @property
    def ended(self) -> bool:
        """Whether every choice is known to have ended; false as long as there is none."""
        drafts = self._drafts.values()
        return bool(drafts) and all(draft.finish is not None for draft in drafts)

    def text(self, text: str, choice: int = 0) -> TextPart:
        """Add text."""
        self._draft(choice, text).text.append(text)
        return TextPart(text, choice)

    def reasoning(self, text: str, choice: int = 0) -> ReasoningPart:
        """Add reasoning."""
        self._draft(choice, text).reasoning.append(text)
        return ReasoningPart(text, choice)

    def refusal(self, text: str, choice: int = 0) -> None:
        """Add words of refusal."""
        self._draft(choice, text).refusal.append(text)

    def call(
        self, key: Hashable, *, id: str = "", name: str = "", arguments: str = "", choice: int = 0
    ) -> None:
        """Add to the tool call with this key.

        A new id under a known key is a new call: some servers number all their calls 0.
        """
        calls = self._draft(choice, arguments).calls
        while (known := calls.get(key)) and id and known.id and known.id != id:
            key = ("after", key)
        call = calls.setdefault(key, _Call())
        call.id = call.id or id
        call.name = call.name or name
        call.arguments.append(arguments)

    def logprob(self, token: str, logprob: float, choice: int = 0) -> None:
        """Add a token's log-probability."""
        self._draft(choice, "").logprobs.append(TokenLogprob(token, logprob))

    def opaque(self, text: str, choice: int = 0) -> None:
        """Set the text that the provider wants back."""
        self._draft(choice, text).opaque = text

    def sign(self, call: str, signature: str, choice: int = 0) -> None:
        """Add a call's signature to the text that the provider wants back."""
        draft = self._draft(choice, signature)
        known = json.loads(draft.opaque) if draft.opaque else {}
        draft.opaque = json.dumps(known | {call: signature})

    def finish(self, finish: Finish, choice: int = 0) -> None:
        """Set why a choice ended."""
        self._draft(choice, "").finish = finish

    def calls(self) -> list[CallPart]:
        """Return all tool calls, complete once the reply has ended."""
        return [
            CallPart(call, number)
            for number in sorted(self._drafts)
            for call in self._calls(number)
        ]

    def completion(self) -> Completion:
        """Return the reply as a whole."""
        choices = tuple(self._choice(number) for number in sorted(self._drafts))
        usage = self.usage or estimated_usage(self._request, choices)
        return Completion(choices, usage, self.model, self.id)

    def _draft(self, choice: int, text: str) -> _Draft:
        self._size += len(text)
        return self._drafts.setdefault(choice, _Draft())

    def _calls(self, number: int) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(call.id or f"call_{number}_{at}", call.name, "".join(call.arguments))
            for at, call in enumerate(self._drafts[number].calls.values())
        )

    def _choice(self, number: int) -> Choice:
        draft = self._drafts[number]
        calls = self._calls(number)
        finish = draft.finish or Finish.LENGTH
        if calls and finish in (Finish.STOP, Finish.OTHER):
            finish = Finish.CALLS
        if finish is Finish.STOP and draft.refusal:
            finish = Finish.REFUSED
        return Choice(
            "".join(draft.text),
            calls,
            finish,
            "".join(draft.reasoning),
            "".join(draft.refusal),
            tuple(draft.logprobs),
            draft.opaque,
        )
