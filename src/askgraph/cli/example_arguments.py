"""What the options of `askgraph examples` say: an example to keep, and who words generated ones."""

import re
from dataclasses import replace
from pathlib import Path

from askgraph.cli.query import text_of_argument
from askgraph.errors import SetupError
from askgraph.evaluation.runs.run import Budget as Bounds
from askgraph.metadata.examples import QueryExample, Wording
from askgraph.workspace import Workspace
from askgraph.workspace.examples import traced_example
from askgraph.workspace.wording import Worder, worder_of

__all__ = ["asked_example", "with_more", "worder"]


def asked_example(
    question: str, query: str | None, trace: Path | None, language: str | None
) -> tuple[QueryExample, str | None]:
    """Return the question with its query, and the graph that a trace names."""

    if (query is None) == (trace is None):
        raise SetupError("give either the query, with --query, or a kept run, with --trace")
    if trace is not None:
        example, graph = traced_example(trace)
        return _reworded(example, question, language), graph
    if not question:
        raise SetupError("give the question that the query answers")
    return QueryExample(question, text_of_argument(query or ""), language), None


def with_more(example: QueryExample, also: list[str], keywords: list[str]) -> QueryExample:
    """Return the example with further wordings, as `de:Welche Monde …`, and with keywords."""

    others = []
    for text in also:
        tagged = re.match(r"([a-z]{2,3}(?:-[A-Za-z0-9]+)*):(.*)", text, re.DOTALL)
        tag, words = tagged.groups() if tagged else (None, text)
        if not words.strip():
            raise SetupError(f"--also {text!r} has no words: write it as 'de:Welche Monde …'")
        others.append(Wording(words.strip(), tag))
    return replace(example, others=tuple(others), keywords=tuple(keywords))


def worder(
    place: Workspace,
    model: str | None,
    base_url: str | None,
    languages: list[str],
    budget: list[str],
) -> Worder | None:
    """Return who words the questions; the templates alone where no model is named."""

    if model is None:
        given = {"--base-url": base_url, "--lang": languages, "--budget": budget}
        if idle := [name for name, value in given.items() if value]:
            raise SetupError(f"{' and '.join(idle)}: for a model that words the questions; --model")
        return None
    return worder_of(
        place,
        model,
        base_url=base_url,
        languages=languages or ["en"],
        budget=Bounds.of(budget).of_models(),
    )


def _reworded(example: QueryExample, question: str, language: str | None) -> QueryExample:

    return replace(
        example,
        question=question or example.question,
        language=language or example.language,
    )
