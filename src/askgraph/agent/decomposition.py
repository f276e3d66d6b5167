"""A question split by a model into what has to be found, and what it is about.

The first step of SPARQL-LLM (arXiv 2512.14277, section 3.2.2): sub-questions, classes, entities and
intent, which is whether it asks for content of a graph or for facts about the data set itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from askgraph.llm import Choice
from askgraph.llm.structured import Structured, read_structured

__all__ = ["DECOMPOSE", "SCHEMA", "Split", "split_in"]

DECOMPOSE = """\
Split a question to an RDF graph into what has to be found. Reply with a JSON object: `steps`, short
questions that together answer it, one where it is simple; `classes`, what sorts of things it is
about; `entities`, what it names; `intent`, "resource" where it asks about the data set itself (who
publishes it, its licence, its version), else "content"."""

_LISTS = ("steps", "classes", "entities")

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        **{name: {"type": "array", "items": {"type": "string"}} for name in _LISTS},
        "intent": {"type": "string", "enum": ["content", "resource"]},
    },
    "required": [*_LISTS, "intent"],
}
"""What the model's reply has to fulfil."""

_MOST = 5  # of each list
_LONGEST = 200


@dataclass(frozen=True)
class Split:
    """What has to be found, in words; `steps` come before names of classes and entities."""

    parts: tuple[str, ...] = ()
    about_resource: bool = False
    problem: str = ""


def split_in(choice: Choice) -> Split:
    """Return the split in a model's reply; where it holds none, nothing but what is wrong."""
    match read_structured(choice, SCHEMA):
        case Structured(value):
            listed = [value[name] for name in _LISTS]
            texts = [str(one)[:_LONGEST] for part in listed for one in _few(part) if str(one)]
            return Split(tuple(dict.fromkeys(texts)), value["intent"] == "resource")
        case unfit:
            return Split(problem=unfit.feedback)


def _few(part: object) -> list[object]:
    return part[:_MOST] if isinstance(part, list) else []
