"""Replies of the guided method's model, read whatever they look like.

A reply is a JSON object: a candidate, an edit of one, a query of its own, or a question back. One
that is not, but has a query in it, is taken as that query.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from askgraph.agent.trials import Written, written_query
from askgraph.llm import Choice
from askgraph.llm.structured import Unfit, read_structured

REPLY: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "thought": {"type": "string"},
        "choose": {"type": "integer"},
        "query": {"type": "string"},
        "answer": {"type": "array", "items": {"type": "string"}},
        "sure": {"type": "number"},
        "ask": {"type": "string"},
        "between": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["thought", "choose", "query", "answer", "sure", "ask", "between"],
    "additionalProperties": False,
}

CHOICE: Mapping[str, object] = {
    "type": "object",
    "properties": {"choose": {"type": "integer"}, "query": {"type": "string"}},
    "required": ["choose"],
}
"""What a reply to a brief prompt has to fulfil."""

_FORGIVING: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "thought": {"type": ["string", "null"]},
        "choose": {"type": ["number", "null"]},
        "query": {"type": ["string", "null"]},
        "answer": {"type": ["array", "string", "null"], "items": {"type": "string"}},
        "sure": {"type": ["number", "null"]},
        "ask": {"type": ["string", "null"]},
        "between": {"type": ["array", "null"], "items": {"type": "number"}},
    },
}
_VARIABLE = re.compile(r"[?$]?(\w+)\Z")
_SAME = "same"  # the reply of a model that keeps to what it said


@dataclass(frozen=True)
class Reply:
    """A reply as it was meant; `problem` says what is wrong with it, for the model.

    `chosen` is the number of a candidate, 0 for none; `written` a query, None if the candidate
    stands as it is. `columns` are the variables that answer. `sure` is between 0 and 1, None where
    it was not said. `ask` is a question back `between` candidates. One that says the `same` keeps
    to the reply before it. One with nothing but a thought says that there is no answer.
    """

    chosen: int = 0
    written: Written | None = None
    columns: tuple[str, ...] = ()
    sure: float | None = None
    ask: str = ""
    between: tuple[int, ...] = ()
    thought: str = ""
    problem: str = ""
    same: bool = False


def read_reply(choice: Choice, candidates: int) -> Reply:
    """Read a reply to a prompt that showed so many candidates."""
    if _is_same(choice.text):
        return Reply(same=True)
    read = read_structured(choice, _FORGIVING)
    if isinstance(read, Unfit):
        return _unfit(choice.text, read.feedback)
    if _is_same(str(read.value.get("query") or "")):
        return Reply(same=True)
    found = _read(read.value)
    if found.chosen and not 1 <= found.chosen <= candidates:
        return Reply(problem=f"There is no candidate {found.chosen}: there are {candidates}.")
    found = replace(found, between=tuple(n for n in found.between if 1 <= n <= candidates))
    if (
        found.chosen
        or found.written
        or found.ask
        or (found.thought and not read.value.get("query"))
    ):
        return found
    return Reply(problem="Your reply neither chooses a candidate nor has a SELECT or ASK query.")


def _is_same(text: str) -> bool:
    return text.strip(" \n.\"'`").lower() == _SAME


def _read(value: Mapping[str, object]) -> Reply:
    text = str(value.get("query") or "").strip()
    chosen, sure, between = (value.get(name) for name in ("choose", "sure", "between"))
    return Reply(
        chosen=_number(chosen),
        written=written_query(text) if text else None,
        columns=_columns(value.get("answer")),
        sure=_share(sure) if isinstance(sure, int | float) else None,
        ask=str(value.get("ask") or "").strip(),
        between=_numbers(between),
        thought=str(value.get("thought") or "").strip(),
    )


def _number(value: object) -> int:
    """A whole number; 0 for anything else."""
    return int(value) if isinstance(value, int | float) and value == value // 1 else 0


def _numbers(values: object) -> tuple[int, ...]:
    found = map(_number, values) if isinstance(values, list) else ()
    return tuple(dict.fromkeys(number for number in found if number))


def _share(sure: float) -> float:
    """What is said in parts of 1, or in percent."""
    return max(0.0, min(sure, 100) / 100 if sure > 1 else sure)


def _columns(names: object) -> tuple[str, ...]:
    listed = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    found = (_VARIABLE.match(str(name).strip()) for name in listed)
    return tuple(dict.fromkeys(one[1] for one in found if one))


def _unfit(text: str, feedback: str) -> Reply:
    """A query outside of any object, and which of its columns its first line says; else a fault."""
    written = written_query(text)
    if written is None:
        return Reply(problem=feedback)
    return Reply(written=written, columns=written.columns)
