"""The card of a model that was trained here: from what, on what, how, and how well it went."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from askgraph.evaluation.files import replaced

__all__ = ["written_card"]

_CARD = """\
---
base_model: {model}
tags: [text-to-sparql, askgraph]
---

# A writer of SPARQL queries

Trained from `{model}` by askgraph {version} to write a query from a question and the terms that it
may name, each under a short reference. It is asked with

    [models.writer]
    provider = "transformers"
    model = "{folder}"

## Data

{pairs} pairs ({too_long} more were too long), SHA-256 of their files:
`{data}`

## Settings

| setting | |
|---|---|
{settings}

## Results

{steps} steps; mean loss of the training {loss}.
{evaluation}
"""


def written_card(path: Path, plan: Mapping[str, object], result: Mapping[str, object]) -> None:
    """Write the card of a training's plan and its result."""
    settings = plan["settings"]
    assert isinstance(settings, Mapping)
    measured = result["evaluation"]
    assert isinstance(measured, Mapping)
    text = _CARD.format(
        model=plan["model"],
        version=version("askgraph"),
        folder=path.parent.name,
        data=plan["data"],
        settings="\n".join(f"| `{name}` | {value} |" for name, value in settings.items()),
        evaluation=_evaluation(measured),
        **{key: result[key] for key in ("pairs", "too_long", "steps", "loss")},
    )
    with replaced(path) as file:
        file.write(text.encode())


def _evaluation(measured: Mapping[str, object]) -> str:
    if not measured:
        return "No other pairs were measured while it was trained."
    return (
        f"On other pairs: loss {measured['loss']}; {measured['whole']} of the replies are right in "
        "every token, each token after the right ones before it."
    )
