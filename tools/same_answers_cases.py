"""Questions that the program is asked before and after a change, of every set that lies here."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askgraph import sample
from askgraph.llm.scripted import Reply

__all__ = [
    "SAMPLE_QUESTIONS",
    "TODAY",
    "Case",
    "data_folder",
    "graph_files",
    "lines_of",
    "searched",
]

TODAY = "2024-06-30"
ROOT = Path(__file__).parents[1]
TEMPORAL = ROOT / "tests" / "temporal"
SAMPLE_QUESTIONS = sample.questions_path().with_suffix(".jsonl")
SUPPLY = ("default", "inverse-and-shortcut")
QUICK_SPIDER, QUICK_SUPPLY = 60, 20
ENRICHED = "-enriched"
"""Ends the name of a graph to which inverse properties and shortcuts are added virtually."""

FOLLOWING = (
    ("Which moons has Mars?", "And Saturn?", "Which of them are larger than 1000 km?"),
    ("Who discovered Titan?", "When was it discovered?", "And Pluto?"),
    ("Wer entdeckte Titan?", "Und Europa?"),
    ("How many moons does Jupiter have?", "And Uranus?", "What is its diameter?"),
)
"""Conversations over the sample graph: each question follows the one before it."""

AMONG = (
    "Which moons orbit Jupiter?",
    "How many singers do we have?",
    "Which pets are older than 1?",
    "What is the population of Mars?",
)
"""Questions of several graphs at once, of which one answers."""


@dataclass(frozen=True)
class Case:
    """A question as it is asked of a method; `quick` marks those of the small selection.

    A `public` one is asked by `askgraph.ask`, which shows no steps.

    `graphs` are names that `graph_files` knows. `before` are earlier questions of a conversation,
    `replies` those of the scripted model, `given` the IRIs that the question is known to be about.
    """

    set: str
    id: str
    question: str
    graphs: tuple[str, ...]
    language: str | None = None
    method: str = "graph-search"
    settings: Mapping[str, Any] = field(default_factory=dict)
    replies: tuple[Reply, ...] | None = None
    given: tuple[str, ...] | None = None
    before: tuple[str, ...] = ()
    quick: bool = True
    public: bool = False


def data_folder() -> Path:
    """Return the folder of the benchmark data."""
    return Path(os.environ.get("ASKGRAPH_DATA") or ROOT.parent / "shared" / "data")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def graph_files(name: str) -> list[Path]:
    """Return the files of a graph by its name."""
    data, name = data_folder(), name.removesuffix(ENRICHED)
    if name == "space":
        return [Path(sample.graph_path())]
    if name in SUPPLY:
        return [data / "supply-kgrep" / "kg" / f"{box}-box-{name}.ttl" for box in "at"]
    own = TEMPORAL / f"{name}.ttl"
    return [own if own.is_file() else data / "spider4sparql" / "kg" / f"{name}.ttl"]


def searched() -> Iterator[Case]:
    """Give the questions that graph search is asked."""
    for line in lines_of(SAMPLE_QUESTIONS):
        yield _case("sample", line, "space")
    for name in SUPPLY:
        yield from _spread(_supply(name), QUICK_SUPPLY if name == "default" else 0)
    yield from _spread(_spider(), QUICK_SPIDER)
    for file in sorted(TEMPORAL.glob("*.jsonl")):
        for number, line in enumerate(lines_of(file), start=1):
            key = f"{file.stem}-{number:03}"
            yield _case("temporal", {**line, "id": key, "lang": line["language"]}, line["graph"])
    yield from _conversations()
    for number, question in enumerate(AMONG):
        graphs = ("space", "concert_singer", "pets_1")
        yield Case("among", str(number), question, graphs, settings={"today": TODAY})
    for case in [_case("", line, "space") for line in lines_of(SAMPLE_QUESTIONS)]:
        yield _enriched(case)
    for case in _supply("default"):
        yield replace(_enriched(case), quick=False)


def _enriched(case: Case) -> Case:
    return replace(case, set="enriched", graphs=(f"{case.graphs[0]}{ENRICHED}",), public=True)


def _conversations() -> Iterator[Case]:
    for talk, questions in enumerate(FOLLOWING, start=1):
        for turn, question in enumerate(questions):
            line = {"id": f"{talk}-{turn}", "question": question}
            yield replace(_case("following", line, "space"), before=questions[:turn])


def _supply(name: str) -> list[Case]:
    path = data_folder() / "supply-kgrep" / "questions.jsonl"
    return [_case(name, line, name) for line in lines_of(path)] if path.is_file() else []


def _spider() -> list[Case]:
    path = data_folder() / "spider4sparql" / "questions.jsonl"
    lines = lines_of(path) if path.is_file() else []
    return [_case("spider", line, Path(line["kg"]).stem) for line in lines]


def _case(set: str, line: Mapping[str, Any], graph: str) -> Case:
    asked = (line["id"], line["question"], (graph,), line.get("lang"))
    return Case(set, *asked, settings={"today": TODAY})


def _spread(cases: Sequence[Case], quick: int) -> Iterator[Case]:
    """Mark so many of the cases, evenly spread, as the small selection."""
    chosen = {at * len(cases) // quick for at in range(quick)} if quick else set()
    for at, case in enumerate(cases):
        yield replace(case, quick=at in chosen)
