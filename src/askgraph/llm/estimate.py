"""An estimate of a text's tokens, if no server counts them: one for four bytes of UTF-8."""

import json

from askgraph import llm

_EACH = 4  # tokens around a message or a tool


def estimated_tokens(text: str) -> int:
    """Guess the tokens of a text."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def estimated_input(request: llm.Request) -> int:
    """Guess the tokens of a request's messages, tools and schema."""
    texts = [_text(message) for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    tools = sum(map(estimated_tool, request.tools))
    return tools + sum(estimated_tokens(text) + _EACH for text in texts)


def estimated_tool(tool: llm.ToolSchema) -> int:
    """Guess the tokens of a tool's schema."""
    parameters = json.dumps(tool.parameters)
    return estimated_tokens(f"{tool.name} {tool.description} {parameters}") + _EACH


def estimated_usage(request: llm.Request, choices: tuple[llm.Choice, ...]) -> llm.TokenUsage:
    """Guess the tokens of a request and its choices."""
    output = sum(
        estimated_tokens(choice.text + choice.reasoning + choice.refusal + _calls(choice.calls))
        for choice in choices
    )
    return llm.TokenUsage(input=estimated_input(request), output=output, estimated=True)


def _text(message: llm.Message) -> str:
    match message:
        case llm.Assistant(text, calls, reasoning):
            return text + reasoning + _calls(calls)
        case llm.ToolResult(_, tool, text):
            return tool + text
        case _:
            return message.text


def _calls(calls: tuple[llm.ToolCall, ...]) -> str:
    return "".join(call.name + call.arguments for call in calls)
