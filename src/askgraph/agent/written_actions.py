"""Actions that a model writes into its text: `search('a') | deref('http://…') | query('…')`.

For models and servers without tool calls. What a model writes after its own actions, such as an
observation that it made up, is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Action", "actions_in"]

_QUOTES = ('"""', "'''", "```", '"', "'", "`")
_CLOSING = {"“": "”", "‘": "’", "„": "“", "«": "»"}
_OBSERVED = re.compile(r"^\W*(?:observe|observation|system)\W*:", re.IGNORECASE | re.MULTILINE)
_ACT = re.compile(r"^\W*act\W*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Action:
    """An action by name with its one argument; quotes around it are gone."""

    name: str
    argument: str


def actions_in(text: str, names: tuple[str, ...]) -> tuple[Action, ...]:
    """Return the actions of these names in a reply, in order, each once.

    They are looked for after the last `Act:` where there is one. An argument may stand in any
    quotes or in none, and may hold the same quotes, brackets and `|` itself.
    """
    acts = list(_ACT.finditer(text))
    whole = text[acts[-1].end() :] if acts else text
    observed = _OBSERVED.search(whole)
    part = whole[: observed.start()] if observed else whole
    return tuple(dict.fromkeys(_actions(part, names)))


def _actions(text: str, names: tuple[str, ...]) -> Iterator[Action]:
    opening = re.compile(rf"(?<!\w)({'|'.join(names)})\s*\(\s*", re.IGNORECASE)
    at = 0
    while found := opening.search(text, at):
        argument, at = _argument(text, found.end(), opening)
        yield Action(found[1].lower(), argument)


def _argument(text: str, start: int, opening: re.Pattern[str]) -> tuple[str, int]:
    """The argument that begins at `start`, and where the action ends."""
    quote = next((q for q in (*_QUOTES, *_CLOSING) if text.startswith(q, start)), "")
    begin = start + len(quote)
    if quote:
        closing = re.escape(_CLOSING.get(quote, quote))
        end = re.compile(rf"{closing}\s*\)(?=[\s`|;.]*(?:\Z|{opening.pattern}))", re.IGNORECASE)
        found = end.search(text, begin) or re.compile(rf"{closing}\s*\)").search(text, begin)
        if found:
            return text[begin : found.start()].strip(), found.end()
    return _bracketed(text, start)


def _bracketed(text: str, start: int) -> tuple[str, int]:
    """What stands before the bracket that closes the one before `start`, or the whole rest."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start:at].strip(), at + 1
    return text[start:].strip(), len(text)
