"""A small graph on space exploration, with questions: to try askgraph on, and to test it with.

- `space.ttl`: well-known facts on bodies, missions, rockets, agencies, places and people;
- `questions.ttl`: questions with their queries, as SHACL examples;
- `questions.jsonl`: the same questions with their answers, one JSON object a line.
"""

from importlib.resources import files
from pathlib import Path


def graph_path() -> Path:
    """The file of the sample graph, in Turtle."""
    return Path(str(files(__name__) / "space.ttl"))


def questions_path() -> Path:
    """The file of questions and queries on the sample graph, in Turtle."""
    return Path(str(files(__name__) / "questions.ttl"))
