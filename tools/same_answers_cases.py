"""What is asked, and the scripts of models whose replies are written down, for same_answers.py."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from tools.accuracy_floors import data_folder as data_folder

from askgraph import sample
from askgraph.llm import Choice, Finish, ToolCall
from askgraph.llm.scripted import ScriptedReply

TODAY = "2024-06-30"
ROOT = Path(__file__).parents[1]
TEMPORAL = ROOT / "tests" / "temporal"
SAMPLE_QUESTIONS = sample.questions_path().with_suffix(".jsonl")
SUPPLY = ("default", "inverse-and-shortcut")
QUICK_SPIDER, QUICK_SUPPLY = 60, 20
ENRICHED = "-enriched"
"""Ends the name of a graph to which inverse properties and shortcuts are added virtually."""

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FOLLOWING, AMONG = _TABLES["following"], _TABLES["among"]
"""Conversations, each question after the one before it; and questions of several graphs at once."""


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
    replies: tuple[ScriptedReply, ...] | None = None
    given: tuple[str, ...] | None = None
    before: tuple[str, ...] = ()
    quick: bool = True
    public: bool = False


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines; none if it is not there."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


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
            yield replace(_case("following", line, "space"), before=tuple(questions[:turn]))


def _supply(name: str) -> list[Case]:
    path = data_folder() / "supply-kgrep" / "questions.jsonl"
    return [_case(name, line, name) for line in lines_of(path)]


def _spider() -> list[Case]:
    path = data_folder() / "spider4sparql" / "questions.jsonl"
    return [_case("spider", line, Path(line["kg"]).stem) for line in lines_of(path)]


def _case(set: str, line: Mapping[str, Any], graph: str) -> Case:
    asked = (line["id"], line["question"], (graph,), line.get("lang"))
    return Case(set, *asked, settings={"today": TODAY})


def _spread(cases: Sequence[Case], quick: int) -> Iterator[Case]:
    """Mark so many of the cases, evenly spread, as the small selection."""
    chosen = {at * len(cases) // quick for at in range(quick)} if quick else set()
    for at, case in enumerate(cases):
        yield replace(case, quick=at in chosen)


Script = tuple[Mapping[str, Any], tuple[Any, ...]]
"""The settings of a method, and the replies of its model."""

SAMPLED = "002 008 010 013 015 022 025 039 049 059 062 073 085".split()
SPIDER = ("concert_singer", "pets_1", "singer", "course_teach")
EACH = 3  # so many questions are asked by each script; a method with few scripts asks more by each
LEAST = 18
SAID: Mapping[str, Any] = _TABLES["said"]  # A reply in the form that `guided` asks for


def _parse_reply(entry: Any) -> Any:
    """Return a reply as `same_answers_cases.toml` has it."""
    match entry:
        case {"said": parts}:
            return json.dumps({**SAID, **parts})
        case {"call": tool, "with": arguments}:
            is_text = isinstance(arguments, str)
            return ToolCall("1", tool, arguments if is_text else json.dumps(arguments))
        case {"calls": [*calls]}:
            parsed = map(_parse_reply, calls)
            numbered = (replace(call, id=str(at)) for at, call in enumerate(parsed, start=1))
            return Choice(calls=tuple(numbered), finish=Finish.CALLS)
        case {"refused": words}:
            return Choice("", (), Finish.REFUSED, refusal=words)
        case {"text": text}:
            return Choice(_parse_reply(text))
        case [*choices]:
            return [_parse_reply(choice) for choice in choices]
        case _:
            return entry


SCRIPTS: Mapping[str, Sequence[Script]] = {
    method: [
        (script.get("settings", {}), tuple(map(_parse_reply, script["replies"])))
        for script in scripts
    ]
    for method, scripts in _TABLES["scripts"].items()
}


def scripted() -> Iterator[Case]:
    """Give the questions that are asked of each method with each of its scripts."""
    asked = _questions()
    for method, scripts in SCRIPTS.items():
        each = max(EACH, -(-LEAST // len(scripts)))
        questions = cycle(asked)
        for number, (settings, replies) in enumerate(scripts, start=1):
            for file, line in islice(questions, min(each, len(asked))):
                yield _scripted(method, number, settings, replies, file, line)


def _questions() -> list[tuple[Path, dict[str, Any]]]:
    """Questions with gold of the sample and of some of Spider's graphs, in turns."""
    own = [line for line in lines_of(SAMPLE_QUESTIONS) if line["id"] in SAMPLED]
    path = data_folder() / "spider4sparql" / "questions.jsonl"
    others = [line for line in lines_of(path) if Path(line["kg"]).stem in SPIDER][::8]
    if not others:
        return [(SAMPLE_QUESTIONS, one) for one in own]
    pairs = zip(own, others, strict=False)
    return [both for one, other in pairs for both in ((SAMPLE_QUESTIONS, one), (path, other))]


def _scripted(
    method: str, number: int, settings: Mapping[str, Any], replies: Sequence[Any],
    file: Path, line: Mapping[str, Any],
) -> Case:  # fmt: skip
    marks = _marks(file, line)
    graph = Path(line["kg"]).stem if "kg" in line else "space"
    return Case(
        method,
        f"{number}-{line['id']}",
        marks["words"] if method == "nearest-example" else line["question"],
        (graph,),
        line["lang"],
        method,
        {key: _filled(value, marks) for key, value in settings.items()},
        None if method == "nearest-example" else tuple(_reply(one, marks) for one in replies),
        tuple(_iris(line["sparql"])) if "entities" in settings else None,
    )


def _marks(file: Path, line: Mapping[str, Any]) -> dict[str, str]:
    """What the words in braces stand for with a question."""
    gold, words = line["sparql"], line["question"].rstrip("?.").split()
    columns = (line.get("answers") or {}).get("vars") or [""]
    return {
        "gold": gold,
        "limited": f"{gold} LIMIT 3",
        "broken": gold.rsplit("}", 1)[0],
        "wrong": re.sub(r"(ont:|\\#)(?=\w)", r"\1my", gold, count=1),
        "bare": re.sub(r"PREFIX\s+\S+\s+<[^>]*>\s*", "", gold),
        "column": columns[0],
        "words": " ".join(words[-3:]),
        "thing": next(iter(_iris(gold)), ""),
        "examples": str(file),
    }


def _iris(query: str) -> Iterator[str]:
    """The IRIs of a query's prefixed names, without those of datatypes."""
    spaces = dict(re.findall(r"PREFIX\s+([\w-]*):\s+<([^>]*)>", query))
    body = re.sub(r"PREFIX\s+\S+\s+<[^>]*>", "", query)
    for prefix, name in re.findall(r"(?<![\w?<])([\w-]*):((?:\w|\\#)+)", body):
        if prefix in spaces and prefix not in ("xsd", "rdf", "rdfs"):
            yield spaces[prefix] + name.replace("\\#", "#")


def _filled(value: Any, marks: Mapping[str, str]) -> Any:
    """Fill in the words in braces; within a reply that is JSON, as JSON writes them."""
    if not isinstance(value, str):
        return value
    quoted = value.startswith("{") and value.endswith("}") and value[1:-1] not in marks
    for name, text in marks.items():
        value = value.replace(f"{{{name}}}", json.dumps(text)[1:-1] if quoted else text)
    return value


def _reply(given: Any, marks: Mapping[str, str]) -> ScriptedReply:
    match given:
        case ToolCall():
            return replace(given, arguments=_filled(given.arguments, marks))
        case Choice():
            calls = tuple(replace(c, arguments=_filled(c.arguments, marks)) for c in given.calls)
            return replace(given, text=_filled(given.text, marks), calls=calls)
        case list():
            choices = [_reply(one, marks) for one in given]
            return [one for one in choices if isinstance(one, Choice)]
        case _:
            return str(_filled(given, marks))
