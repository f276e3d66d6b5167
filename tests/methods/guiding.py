"""Guided runs over the sample graph with a model whose replies are written in the test."""

import json
from collections.abc import Callable, Sequence

from askgraph.graph import KnowledgeGraph
from askgraph.llm import Request
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.guided import Guided
from askgraph.trace import ModelTurn, Outcome, Prompt, Question, Step

__all__ = ["guided", "outcome", "prompt_text", "reply", "turns"]


def reply(
    *,
    choose: int = 0,
    query: str = "",
    answer: Sequence[str] = (),
    sure: float = 0.9,
    ask: str = "",
    between: Sequence[int] = (),
    thought: str = "It fits.",
) -> str:
    """Return a reply in the form that the method asks for."""
    return json.dumps(
        {
            "thought": thought,
            "choose": choose,
            "query": query,
            "answer": list(answer),
            "sure": sure,
            "ask": ask,
            "between": list(between),
        }
    )


async def guided(
    graph: KnowledgeGraph,
    question: str,
    replies: Sequence[ScriptedReply] | Callable[[Request], ScriptedReply],
    **settings: object,
) -> tuple[list[Step], ScriptedModel]:
    """Ask a question; return the steps, and the model with what it was asked."""
    model = ScriptedModel(replies)
    method = Guided(model, **settings)  # type: ignore[arg-type]
    steps = [step async for step in method.answer(Question(question), [graph])]
    return steps, model


def outcome(steps: Sequence[Step]) -> Outcome:
    """Return the last step."""
    last = steps[-1]
    assert isinstance(last, Outcome)
    return last


def prompt_text(steps: Sequence[Step]) -> str:
    """Return all that the model was told first."""
    prompt = next(step for step in steps if isinstance(step, Prompt))
    return "\n".join(getattr(message, "text", "") for message in prompt.messages)


def turns(steps: Sequence[Step]) -> int:
    """Return how often the model spoke."""
    return sum(isinstance(step, ModelTurn) for step in steps)
