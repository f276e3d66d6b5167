"""Methods that work with a language model, asked with a model whose replies are written here.

A script is a method's settings and the replies of its model. Every script is tried on a few
questions of the sample and of Spider4SPARQL; words in braces in it stand for something of the
question, such as `{gold}` for its query.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from tools.same_answers_cases import SAMPLE_QUESTIONS, Case, data_folder, lines_of

from askgraph.llm import Choice, Finish, ToolCall
from askgraph.llm.scripted import Reply

__all__ = ["scripted"]

Script = tuple[Mapping[str, Any], tuple[Any, ...]]

EXAMPLES = {"examples": "{examples}"}
GIVEN = {"entities": "given", "predicates": "given"}
SAMPLED = (
    "002",
    "008",
    "010",
    "013",
    "015",
    "022",
    "025",
    "039",
    "049",
    "059",
    "062",
    "073",
    "085",
)
SPIDER = ("concert_singer", "pets_1", "singer", "course_teach")
EACH = 3
"""So many questions are asked by each script; a method with few scripts asks more by each."""
LEAST = 18


def _said(**parts: Any) -> str:
    """A reply in the form that `guided` asks for."""
    whole = {
        "thought": "It fits.", "choose": 0, "query": "", "answer": [], "sure": 0.9, "ask": "",
        "between": [],
    }  # fmt: skip
    return json.dumps({**whole, **parts})


def _call(tool: str, /, **arguments: Any) -> ToolCall:
    return ToolCall("1", tool, json.dumps(arguments))


def _calls(*several: ToolCall) -> Choice:
    calls = tuple(replace(call, id=str(at)) for at, call in enumerate(several, start=1))
    return Choice(calls=calls, finish=Finish.CALLS)


GOLD = _said(query="{gold}", answer=["{column}"])
FIRST = _said(choose=1)
ANSWER = _call("answer", query="{gold}", columns=["{column}"], certainty=0.8)
RUN = _call("execute", query="{gold}")
REFUSED = Choice("", (), Finish.REFUSED, refusal="No.")

GUIDED: tuple[Script, ...] = (
    ({}, (FIRST,)),
    ({}, (GOLD,)),
    ({}, (_said(choose=2, query="{limited}"),)),
    ({}, (_said(query="{broken}"), FIRST)),
    ({}, (_said(query="{wrong}", sure=0.4), GOLD)),
    ({}, (_said(ask="Which of both?", between=[1, 2], sure=0.3),)),
    (
        {},
        (
            _said(query="{wrong}"),
            _said(query="{wrong}", sure=0.1),
            _calls(RUN, _call("search_constrained", position="subject", query="{words}")),
            ANSWER,
        ),
    ),
    (
        {"looks": 0},
        (
            _said(choose=99),
            _call("describe", iri="{thing}"),
            _call("cancel", reason="It is not said."),
        ),
    ),
    ({"sees": "masked"}, (FIRST, _said(choose=2))),
    ({"sees": "schema"}, (_said(choose=2, sure=0.2), FIRST)),
    ({"sees": "nothing"}, (FIRST,)),
    ({"ask": "unsure"}, (FIRST,)),
    ({"ask": "never"}, (FIRST,)),
    ({"detail": "both"}, (FIRST, GOLD)),
    ({"detail": "list"}, (GOLD,)),
    ({"n": 3}, ([Choice(FIRST), Choice(GOLD), Choice(_said(choose=2))],)),
    ({"consult": "multi-stage"}, (FIRST,)),
    ({**EXAMPLES}, (_said(query="{bare}"),)),
    ({**EXAMPLES}, (_said(choose=3), FIRST)),
    ({}, ("I am afraid that I cannot help.", REFUSED)),
)

GRASP: tuple[Script, ...] = (
    ({}, (ANSWER,)),
    (
        {"tools": "S"},
        (
            _calls(
                _call("search_entity", query="{words}"), _call("search_property", query="{words}")
            ),
            RUN,
            ANSWER,
        ),
    ),
    (
        {"tools": "S_E"},
        (_call("search_property_of_entity", entity="{thing}", query=""), RUN, ANSWER),
    ),
    ({"tools": "S_A"}, (_call("search_autocomplete", query="{gold}", search="{words}"), ANSWER)),
    ({"tools": "S_C"}, (_call("list", subject="{thing}"), ANSWER)),
    ({"tools": "B", "guarded": False}, (RUN, ANSWER)),
    ({"propose": False}, (ANSWER, ANSWER)),
    (
        {"feedback": "always"},
        (
            ANSWER,
            '{"status": "refine", "feedback": "Look again."}',
            _call("answer", query="{limited}", columns=["{column}"]),
            '{"status": "done", "feedback": ""}',
        ),
    ),
    ({}, (_call("propose_queries", question="{words}"), _call("describe", iri="{thing}"), ANSWER)),
    ({}, (_call("launch", rocket=True), ToolCall("1", "answer", "moons"), ANSWER)),
    ({}, (_call("cancel", reason="It is not said.", query="{gold}"), ANSWER)),
    ({"steps": 2}, (_call("execute", query="{broken}"), _call("execute", query="{wrong}"))),
    ({}, ("```sparql\n{gold}\n```",)),
    ({"shots": 2}, (_call("answer", query="{wrong}", columns=[]), ANSWER)),
)

GRAF: tuple[Script, ...] = (
    ({}, ("Think: clear.\nAct: query('''{gold}''')", "Think: fits.\nAct: success('done')")),
    ({}, ("Act: query('''{gold}''') | success('done')",)),
    (
        {"propose": False},
        (
            "Act: search('{words}') | deref('{thing}')",
            "Act: query('''{broken}''')",
            "Act: query('''{gold}''') | success('')",
        ),
    ),
    ({}, ("Act: success('easy')", "Act: query('''{limited}''') | success('now')")),
    (
        {"individuals": "outgoing", "schema": "outgoing"},
        ("Act: deref('{thing}')", "Act: fail('no')"),
    ),
    ({}, ("Act: query('''{wrong}''')", "Think.", "Nothing.", "Act: success('')")),
    ({"cycles": 2}, ("Act: search('{words}')", "Act: search('{words}') | query('''{gold}''')")),
)

BLOCK = "```sparql\n{gold}\n```"
PARTS = '{"steps": ["{words}"], "classes": [], "entities": ["{words}"], "intent": "content"}'
SPARQL_LLM: tuple[Script, ...] = (
    ({}, (BLOCK,)),
    ({**EXAMPLES}, (BLOCK,)),
    ({**EXAMPLES, "shots": 2}, ("```sparql\n{wrong}\n```", BLOCK)),
    ({}, ("```sparql\n{broken}\n```", "```sparql\n{bare}\n```", BLOCK)),
    ({"decompose": True, "interpret": True}, (PARTS, BLOCK, "It is so.")),
    ({"shots": 0, "without": "properties", "names": False}, (BLOCK,)),
    ({"validate": False}, ("{wrong}", BLOCK)),
    ({"revisions": 1}, ("I cannot.", "No.")),
    ({"without": "ranges+values+order", "fraction": 0.5}, (BLOCK,)),
)

WRITTEN = "<sparql>{gold}</sparql>"
DFSL: tuple[Script, ...] = (
    ({"variant": "plain"}, (WRITTEN,)),
    ({"variant": "zero"}, (WRITTEN,)),
    ({**EXAMPLES, "variant": "fixed", "k": 3}, (WRITTEN,)),
    ({**EXAMPLES, "k": 2}, (WRITTEN,)),
    ({**EXAMPLES, "match": "terms", "choose": "largest"}, ("<sparql>{wrong}</sparql>",)),
    ({**EXAMPLES, "match": "masked", "ends": False}, ("<sparql>{bare}</sparql>",)),
    (
        {**EXAMPLES, "match": "question", "hypotheses": "samples", "n": 3, "choose": "vote"},
        ([Choice(WRITTEN), Choice("<sparql>{limited}</sparql>"), Choice(WRITTEN)],),
    ),
    (
        {**EXAMPLES, "hypotheses": "prompt", "n": 3, "choose": "largest"},
        (WRITTEN + "\n<sparql>{limited}</sparql>\n<sparql>{wrong}</sparql>",),
    ),
    ({"hypotheses": "one"}, ("<sparql>{broken}</sparql>",)),
)

STAGES: tuple[Script, ...] = (
    ({}, ()),
    ({"filter": "direct", "near": 0}, ()),
    ({"restrict": False, "readings": 1}, ()),
    ({"entities": "reason", "predicates": "reason"}, ("So it is.\nPICK: 1, 2", "PICK: 1, 3")),
    ({"writer": "model"}, ("single-hop\nSELECT ?v0 WHERE { ?v0 P1 E1 . }",)),
    ({"writer": "model"}, ("multi-hop\nSELECT ?v0 WHERE { ?v0 P1 IT } THEN ASK {}",)),
    (
        {"writer": "model"},
        ("multi-hop\nSELECT ?v0 WHERE { E1 P1 ?v0 . } THEN SELECT ?v0 WHERE { IT P2 ?v0 . }",),
    ),
    (GIVEN, ()),
    ({**GIVEN, "filter": "off", "answer_from": 0.5}, ()),
)

DIRECT: tuple[Script, ...] = tuple(
    ({}, (json.dumps({"known": known, "yes": None, "answers": answers}),))
    for known, answers in ((True, ["Titan", "Ganymede", "12"]), (False, []))
)

SCRIPTS: Mapping[str, tuple[Script, ...]] = {
    "guided": GUIDED,
    "grasp": GRASP,
    "graf-von-data": GRAF,
    "sparql-llm": SPARQL_LLM,
    "dfsl": DFSL,
    "multi-stage": STAGES,
    "direct": DIRECT,
    "nearest-example": ((EXAMPLES, ()),),
}


def scripted() -> Iterator[Case]:
    """Give the questions that are asked of each method with each of its scripts."""
    asked = _questions()
    for method, scripts in SCRIPTS.items():
        each = max(EACH, -(-LEAST // len(scripts)))
        questions = cycle(asked)
        for number, (settings, replies) in enumerate(scripts, start=1):
            for file, line in islice(questions, min(each, len(asked))):
                yield _case(method, number, settings, replies, file, line)


def _questions() -> list[tuple[Path, dict[str, Any]]]:
    """Questions with gold of the sample and of some of Spider's graphs, in turns."""
    own = [line for line in lines_of(SAMPLE_QUESTIONS) if line["id"] in SAMPLED]
    path = data_folder() / "spider4sparql" / "questions.jsonl"
    lines = lines_of(path) if path.is_file() else []
    others = [line for line in lines if Path(line["kg"]).stem in SPIDER][::8]
    if not others:
        return [(SAMPLE_QUESTIONS, one) for one in own]
    pairs = zip(own, others, strict=False)
    return [both for one, other in pairs for both in ((SAMPLE_QUESTIONS, one), (path, other))]


def _case(
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


def _reply(given: Any, marks: Mapping[str, str]) -> Reply:
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
