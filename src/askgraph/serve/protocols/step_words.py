"""Steps of a run in a short line each, to show progress."""

import json

from askgraph.trace import Draft, Findings, ModelTurn, Prompt, Step, Thought, ToolUse

_LONGEST = 160
_MENTIONS = 6


def words_of(step: Step) -> str:
    """Return a step in one line, clipped; empty for an outcome."""
    match step:
        case Findings(mentions=mentions):
            read = [f"{m.words!r} is the {m.kind} {m.label or m.target!r}" for m in mentions]
            more = ["…"] if len(read) > _MENTIONS else []
            return one_line("; ".join([*read[:_MENTIONS], *more]) or "no word of it is known")
        case Draft(query=query, words=words):
            return one_line(f"considers: {words or _body(query)}")
        case Thought(text=text):
            return one_line(text)
        case Prompt(purpose=purpose):
            return one_line(f"tells a model ({purpose})")
        case ModelTurn(choice=choice):
            calls = [call.name for call in choice.calls]
            said = f"calls {', '.join(calls)}" if calls else choice.text or choice.refusal
            return one_line(f"the model: {said}")
        case ToolUse(tool=tool, arguments=arguments, observation=seen):
            given = ", ".join(json.dumps(one, ensure_ascii=False) for one in arguments.values())
            return one_line(f"{tool}({given}): {seen.text}")
        case _:
            return ""


def _body(query: str) -> str:
    """A query without its PREFIX lines."""
    return " ".join(line for line in query.splitlines() if not line.startswith("PREFIX "))


def one_line(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line of at most `most` characters, without control characters."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * most])
    words = " ".join(plain.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
