"""Answers before and after a change: record them, change something, compare.

    python tools/same_answers.py record before.jsonl.gz
    python tools/same_answers.py compare before.jsonl.gz            # 1 if anything differs
    python tools/same_answers.py compare before.jsonl.gz --quick    # a selection, within a minute

Graph search is asked every question of the sample graph, of two variants of supply-kgrep, of
Spider4SPARQL, of `tests/temporal`, of some conversations and of enriched graphs; every other method
some of them, with a model whose replies are written down (`tools/same_answers_cases.py`).
Recorded is a line of JSON a question: the object that `askgraph ask --json` prints without times
and costs, the steps that led there, and the messages that the model was sent. The data lies in
ASKGRAPH_DATA, else ../shared/data; a set that is not there is left out.
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import multiprocessing
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing
from itertools import chain, repeat
from pathlib import Path
from subprocess import run
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.same_answers_cases import ENRICHED, Case, graph_files, scripted, searched

from askgraph import Result, ask, trace
from askgraph.errors import AskgraphError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.workspace import Workspace

Json = dict[str, Any]

SHOWN = 20  # so many differences are printed
WIDTH = 160  # characters of a value that are printed
ROWS = 100  # so many rows are recorded as they are; of the others only a digest
BLANK = re.compile(r"_:[0-9a-f]{8,}")
UNTIMED = ("seconds", "usage")
END = "Nothing more is written for this question."


def recorded(cases: Sequence[Case], *, jobs: int = 1) -> Iterator[Json]:
    """Ask the questions, and give what came of each, in an order that is always the same."""
    by_graphs: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        by_graphs.setdefault(case.graphs, []).append(case)
    groups = sorted(by_graphs.values(), key=len, reverse=True)
    with ExitStack() as stack:
        results: Iterator[list[Json]] = map(_of_group, groups)
        if jobs > 1:
            pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(jobs))
            results = pool.imap_unordered(_of_group, groups)
        lines = map(_without_marks, chain.from_iterable(results))
        yield from sorted(lines, key=lambda line: (line["set"], line["id"]))


def _without_marks(line: Json) -> Json:
    """Number the blank nodes of a line, whose labels are new each time a graph is read."""
    text = json.dumps(line, ensure_ascii=False)
    numbers = {label: at for at, label in enumerate(dict.fromkeys(BLANK.findall(text)), start=1)}
    whole: Json = json.loads(BLANK.sub(lambda found: f"_:{numbers[found[0]]}", text))
    return whole


def _of_group(cases: Sequence[Case]) -> list[Json]:
    """What came of questions of the same graphs."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        for name in cases[0].graphs:
            workspace.add(name, graph_files(name))
            if name.endswith(ENRICHED):
                _enrich(name, folder)
        public = [_of_all(case, folder) for case in cases if case.public]
        return public + asyncio.run(_asked([c for c in cases if not c.public], workspace))


def _enrich(name: str, folder: str) -> None:
    command = ("-m", "askgraph", "enrich", name, "--inverse", "--shortcuts", "--virtual")
    run([sys.executable, *command, "--workspace", folder], check=True, capture_output=True)


def _of_all(case: Case, folder: str) -> Json:
    """The outcome that `askgraph.ask` gives."""
    found = ask(
        case.question, case.graphs, language=case.language, method=case.method,
        settings=case.settings, workspace=folder,
    )  # fmt: skip
    return {**_head(case), **_outcome(found.json()), "steps": [], "messages": []}


async def _asked(cases: Sequence[Case], workspace: Workspace) -> list[Json]:
    if not cases:
        return []
    async with AsyncExitStack() as stack:
        graphs = [workspace.graph(name) for name in cases[0].graphs]
        for graph in graphs:
            stack.push_async_callback(graph.endpoint.close)
        return [await _line(case, workspace, graphs) for case in cases]


async def _line(case: Case, workspace: Workspace, graphs: Sequence[KnowledgeGraph]) -> Json:
    """What came of one question."""
    model = None if case.replies is None else ScriptedModel(_script(case.replies))
    before: tuple[trace.PreviousQuestion, ...] = ()
    try:
        for text in case.before:
            _, found = await _steps(
                case, trace.Question(text, case.language, before), workspace, graphs
            )
            before += (trace.PreviousQuestion(text, str(found["sparql"])),)
        asked = trace.Question(case.question, case.language, before, case.given)
        steps, outcome = await _steps(case, asked, workspace, graphs, model)
    except AskgraphError as error:
        steps, outcome = [], {"error": f"{type(error).__name__}: {error}"}
    except BaseException as error:
        error.add_note(f"asked of {case.method}: {case.set} {case.id} {case.question!r}")
        raise
    messages = [_request(one) for one in model.requests] if model else []
    return {**_head(case), **outcome, "steps": steps, "messages": messages}


def _script(replies: Sequence[ScriptedReply]) -> Callable[[object], ScriptedReply]:
    """Replies in order; then always the same one, at which a method ends by itself."""
    rest = chain(replies, repeat(END))
    return lambda _: next(rest)


async def _steps(
    case: Case,
    question: trace.Question,
    workspace: Workspace,
    graphs: Sequence[KnowledgeGraph],
    model: ScriptedModel | None = None,
) -> tuple[list[Any], Json]:
    settings = {**case.settings, **({"model": model} if model else {})}
    method = workspace.method(case.method, settings)
    steps: list[Any] = []
    outcome: Json = {}
    async with aclosing(method.answer(question, graphs)) as stream:  # type: ignore[type-var]
        async for step in stream:
            if isinstance(step, trace.Outcome):
                outcome = _outcome(Result(step, graphs[0].prefixes, question).json())
            elif told := _step(step):
                steps.append(told)
    if "consult" in case.settings:  # methods that are asked at once come in any order
        steps.sort(key=json.dumps)
    return steps, outcome


def _head(case: Case) -> Json:
    return {"set": case.set, "id": case.id, "question": case.question}


def _outcome(found: Mapping[str, object]) -> Json:
    """An outcome without its costs, and without all rows of a long table."""
    kept: Json = {key: _rounded(value) for key, value in found.items() if key not in UNTIMED}
    rows = kept["rows"]
    if len(rows) > ROWS:
        digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
        kept["rows"] = [*rows[:ROWS], f"{len(rows)} rows: {digest}"]
    kept["evidence"] = [_piece(piece) for piece in kept["evidence"]]
    return kept


def _piece(evidence: Json) -> Json:
    """The triples behind a row; of nodes without a name, which may be any, the predicates only."""
    if not any(BLANK.match(term) for triple in evidence["triples"] for term in triple):
        return evidence
    predicates = sorted({predicate for _, predicate, _ in evidence["triples"]})
    return {"row": evidence["row"], "predicates": predicates}


def _step(step: trace.Step) -> list[Any] | None:
    match step:
        case trace.Findings(mentions, unused):
            found = [[m.words, m.kind, m.target, m.label, _rounded(m.score)] for m in mentions]
            return ["findings", found, list(unused)]
        case trace.Draft(query, score, words):
            return ["draft", query, _rounded(score), words]
        case trace.Thought(text):
            return ["thought", text]
        case trace.ToolUse(tool, arguments, observation):
            return ["tool", tool, arguments, observation.text]
        case _:
            return None


def _request(request: Any) -> list[Any]:
    """The messages of one request; tools by name, since their schemas are checked as prompts."""
    messages = []
    for message in request.messages:
        calls = [[call.name, call.arguments] for call in getattr(message, "calls", ())]
        messages.append([type(message).__name__.lower(), message.text, *calls])
    return [messages, [tool.name for tool in request.tools]]


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 6)
        case list() | tuple():
            return [_rounded(one) for one in value]
        case Mapping():
            return {key: _rounded(one) for key, one in value.items()}
        case _:
            return value


def compared(before: Mapping[str, Json], after: Sequence[Json]) -> Iterator[tuple[str, str, str]]:
    """Give the differences: the question, the field, and the value before and after."""
    for line in after:
        key = _key(line)
        name = f"{line['set']} {line['id']} {line['question']!r}"
        then = before.get(key)
        if then is None:
            yield name, "", "was not asked before"
            continue
        now = json.loads(json.dumps(line))
        for field in dict.fromkeys((*then, *now)):
            if then.get(field) != now.get(field):
                yield name, field, _difference(then.get(field), now.get(field))


def _key(line: Mapping[str, Any]) -> str:
    return f"{line['set']} {line['id']}"


def _difference(before: Any, after: Any) -> str:
    """Two values, each from a little before the place where they begin to differ."""
    texts = [
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        for one in (before, after)
    ]
    shared = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), None)
    start = max(0, (min(map(len, texts)) if shared is None else shared) - WIDTH // 3)
    shown = [("…" if start else "") + repr(text[start : start + WIDTH]) for text in texts]
    return f"before: {shown[0]}\n    after:  {shown[1]}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="lines of JSON, packed by gzip")
    parser.add_argument("--quick", action="store_true", help="only a selection of the questions")
    parser.add_argument("--only", action="append", metavar="SET", help="only this set or method")
    parser.add_argument("--ignore", action="append", default=[], metavar="FIELD")
    parser.add_argument("--jobs", type=int, default=2, help="processes that ask")
    return parser.parse_args()


def main() -> int:
    """Do what the command line asks for; 1 if answers differ."""
    chosen = _arguments()
    cases = [
        case
        for case in chain(searched(), scripted())
        if (case.quick or not chosen.quick) and (not chosen.only or case.set in chosen.only)
    ]
    lines = list(recorded(cases, jobs=chosen.jobs))
    if chosen.do == "record":
        with gzip.open(chosen.file, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        print(f"{len(lines)} questions recorded in {chosen.file}")
        return 0
    with gzip.open(chosen.file, "rt", encoding="utf-8") as file:
        before = {_key(line): line for line in map(json.loads, file)}
    found = [one for one in compared(before, lines) if one[1] not in chosen.ignore]
    for name, field, difference in found[:SHOWN]:
        print(f"{name}: {field}\n    {difference}")
    if len(found) > SHOWN:
        print(f"… and {len(found) - SHOWN} more")
    differing = len({name for name, *_ in found})
    print(f"{len(lines)} questions compared, {differing} differ in {len(found)} fields")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
