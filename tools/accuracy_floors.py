"""How good the answers are, and whether that is good enough: the floors that CI holds.

    python tools/accuracy_floors.py                        # all sets, one table; 1 below a floor
    python tools/accuracy_floors.py --set spider --jobs 2
    python tools/accuracy_floors.py --set car_1 --failures # what went wrong, question by question
    python tools/accuracy_floors.py --set default --failures --only kgrep-idms --all
    python tools/accuracy_floors.py --set spider --brief   # a line a question, the surest first
    python tools/accuracy_floors.py --records before.jsonl # then change something, then
    python tools/accuracy_floors.py --compare before.jsonl # what got better, what got worse

The data lies in ASKGRAPH_DATA, else ../shared/data; a set that is not there is skipped.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.asking import trace_of
from askgraph.evaluation.questions import GoldQuestion, read_questions
from askgraph.evaluation.report import Record, Report, percentile
from askgraph.evaluation.run import evaluate
from askgraph.evaluation.story import failed, headline, indented, scored_drafts, story
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Outcome, Question, Trace
from askgraph.workspace import DEFAULT_METHOD, Workspace

FLOORS: dict[str, dict[str, float]] = {
    "default": {"f1": 0.55, "top_half_f1": 0.75},
    "inverse-and-shortcut": {"f1": 0.60, "top_half_f1": 0.75},
    "spider": {"f1": 0.50, "f1_flattened": 0.42, "top_half_f1": 0.75},
    "sample": {"f1": 0.90, "refused": 0.80},
}

NAMES = {"f1": "F1", "f1_flattened": "flat", "top_half_f1": "top half", "refused": "refused"}


@dataclass(frozen=True)
class Unit:
    """Questions over one graph: what one process works on."""

    set: str
    graph: str
    sources: tuple[Path, ...]
    questions: tuple[GoldQuestion, ...]


@dataclass(frozen=True)
class Wishes:
    """What to run and what to tell of it."""

    workspace: Path
    method: str = DEFAULT_METHOD
    settings: Mapping[str, object] = field(default_factory=dict)
    failures: bool = False
    all: bool = False
    drafts: int = 3
    rows: int = 5
    oracle: int = 0


@dataclass(frozen=True)
class Done:
    """The records of a unit, and its failures told."""

    unit: Unit
    records: tuple[Record, ...]
    stories: tuple[str, ...]
    oracle: tuple[float, ...] = ()  # the best F1 among the answer and the best drafts


def data_folder() -> Path:
    """Where the benchmark data lies."""
    return Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[2] / "shared" / "data")


def units(data: Path) -> Iterator[Unit]:
    """All questions that can be scored, by graph; sets whose data is not there are left out."""
    supply = data / "supply-kgrep"
    if supply.is_dir():
        questions = read_questions(supply / "questions.jsonl", need_gold=True)
        for variant in ("default", "inverse-and-shortcut"):
            boxes = tuple(supply / "kg" / f"{box}-box-{variant}.ttl" for box in "at")
            yield Unit(variant, variant, boxes, questions)
    spider = data / "spider4sparql"
    if spider.is_dir():
        usable = _usable(spider / "questions.jsonl")
        for file in sorted({question.graph for question in usable if question.graph}):
            asked = tuple(question for question in usable if question.graph == file)
            yield Unit("spider", Path(file).stem, (spider / "kg" / file,), asked)
    yield from _sample()


def _usable(path: Path) -> tuple[GoldQuestion, ...]:
    """The questions whose gold SPARQL agrees with the gold SQL and gives something to score."""
    agree = {
        line["id"]
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if line.get("sql_agrees") is True
    }
    useless = {"empty", "zero", "error"}
    return tuple(
        question
        for question in read_questions(path, need_gold=True)
        if question.id in agree and not useless.intersection(question.tags)
    )


def _sample() -> Iterator[Unit]:
    try:
        from askgraph import sample
    except ImportError:
        return
    questions = read_questions(sample.questions_path().with_suffix(".jsonl"), need_gold=True)
    yield Unit("sample", "sample", (sample.graph_path(),), questions)


def worked(unit: Unit, wishes: Wishes) -> Done:
    """Build the graph where it is not built yet, ask, score, and tell the failures."""
    workspace = Workspace(wishes.workspace / unit.set / unit.graph)
    if unit.graph not in workspace.graphs():
        workspace.add(unit.graph, list(unit.sources))
    return asyncio.run(_asked(unit, wishes, workspace))


async def _asked(unit: Unit, wishes: Wishes, workspace: Workspace) -> Done:
    graph = workspace.graph(unit.graph)
    method = workspace.method(wishes.method, wishes.settings)
    traces: dict[tuple[str, str | None], Trace] = {}

    async def answer(question: Question) -> Outcome:
        trace = await trace_of(question, method=method, name=wishes.method, graphs=[graph])
        traces[question.text, question.language] = trace
        return trace.outcome

    try:
        first = unit.questions[0]
        await answer(Question(first.text, first.language))  # loading is not part of answering
        prefixes = graph.prefixes.namespaces
        report = await evaluate(unit.questions, answer, graph.endpoint, prefixes=prefixes)
        told, oracle = [], []
        for question, record in zip(unit.questions, report.records, strict=True):
            trace = traces.get((question.text, question.language))
            if wishes.failures and (wishes.all or failed(record)):
                told.append(await _story(question, record, trace, graph, wishes))
            if wishes.oracle:
                oracle.append(await _oracle(question, record, trace, graph, wishes.oracle))
    finally:
        await graph.endpoint.close()
    return Done(unit, report.records, tuple(told), tuple(oracle))


async def _story(
    question: GoldQuestion,
    record: Record,
    trace: Trace | None,
    graph: KnowledgeGraph,
    wishes: Wishes,
) -> str:
    return await story(
        question,
        record,
        trace,
        graph.endpoint,
        prefixes=graph.prefixes.namespaces,
        drafts=wishes.drafts,
        rows=wishes.rows,
    )


async def _oracle(
    question: GoldQuestion, record: Record, trace: Trace | None, graph: KnowledgeGraph, most: int
) -> float:
    """The F1 of the answer, or of a better one of the best drafts."""
    if record.f1 == 1 or question.unanswerable:
        return record.f1
    prefixes = graph.prefixes.namespaces
    scored = await scored_drafts(question, trace, graph.endpoint, prefixes=prefixes, most=most)
    return max([record.f1, *(f1 for _, f1 in scored)])


COLUMNS = ("n", "F1 best column", "F1 flattened", "EM", "top-half F1", "answered", "refused")


def table(done: Sequence[Done]) -> tuple[str, bool]:
    """The figures of each set, a line each, and whether all floors hold."""
    heads = ("set", *COLUMNS, "p50 ms", "p95 ms", "floors", "ok")
    lines: list[Sequence[str]] = [heads]
    fine = True
    for name in dict.fromkeys(one.unit.set for one in done):
        report = Report(tuple(r for one in done if one.unit.set == name for r in one.records))
        floors = FLOORS.get(name, {}) if _complete(name, done) else {}
        below = {key for key, floor in floors.items() if _figure(report, key) < floor}
        fine = fine and not below
        told = ", ".join(f"{NAMES[key]} ≥ {100 * floor:.0f}" for key, floor in floors.items())
        verdict = "below: " + ", ".join(NAMES[k] for k in floors if k in below) if below else "ok"
        lines.append((name, *_figures(report), told or "none", verdict if floors else "-"))
    widths = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    text = "\n".join(
        " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return text, fine


def _complete(name: str, done: Sequence[Done]) -> bool:
    """Whether a set ran whole; a part of it has no floor."""
    wanted = {unit.graph: len(unit.questions) for unit in units(data_folder()) if unit.set == name}
    return wanted == {one.unit.graph: len(one.records) for one in done if one.unit.set == name}


def _figure(report: Report, key: str) -> float:
    if key == "refused":
        return report.refused_rightly / max(1, len(report.unanswerable))
    return float(getattr(report, key))


def _figures(report: Report) -> tuple[str, ...]:
    seconds = [record.seconds for record in report.records]
    unanswerable = len(report.unanswerable)
    shares = (report.f1, report.f1_flattened, report.em, report.top_half_f1)
    return (
        str(len(report.records)),
        *(f"{100 * share:.1f}" for share in shares),
        str(sum(record.status == "answer" for record in report.records)),
        f"{report.refused_rightly} of {unanswerable}" if unanswerable else "-",
        *(f"{1000 * percentile(seconds, share):.0f}" for share in (0.5, 0.95)),
    )


def compared(before: Mapping[str, Record], done: Sequence[Done]) -> str:
    """Which questions got better and which got worse, and both queries of each."""
    lines: list[str] = []
    better = worse = 0.0
    for one in done:
        for now in one.records:
            old = before.get(f"{one.unit.set} {now.id}")
            change = now.f1 - old.f1 if old else 0.0
            if old is None or abs(change) < 1e-9:
                continue
            better, worse = better + max(change, 0), worse + max(-change, 0)
            lines += [
                f"{'+' if change > 0 else '-'} {now.id} ({one.unit.set})   "
                f"F1 {100 * old.f1:.0f} → {100 * now.f1:.0f}",
                f"  {now.question}",
                *("  before", indented(old.sparql or "(no query)")),
                *("  now", indented(now.sparql or "(no query)")),
            ]
    return "\n".join(
        [*lines, f"F1 summed over questions: +{better:.2f} better, -{worse:.2f} worse"]
    )


def _records(path: Path) -> dict[str, Record]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {f"{line['set']} {line['id']}": Record.of_json(line) for line in lines}


def _write_records(path: Path, done: Sequence[Done]) -> None:
    lines = [
        json.dumps({"set": one.unit.set, "kg": one.unit.graph, **record.json()}, ensure_ascii=False)
        for one in done
        for record in one.records
    ]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--set", action="append", metavar="NAME", help=f"{', '.join(FLOORS)}, or a graph's name")
    add("--failures", action="store_true", help="tell each failed question in full")
    add("--brief", action="store_true", help="a line for each question, the surest first")
    add("--all", action="store_true", help="with --failures: the others too")
    add("--only", action="append", metavar="REGEX", help="only questions whose id or text matches")
    add("--drafts", type=int, default=3, help="drafts told of each failure")
    add("--rows", type=int, default=5, help="rows told of each result")
    add("--oracle", type=int, default=0, metavar="K", help="also the best of K drafts: an oracle")
    add("--jobs", type=int, default=1, help="graphs worked on at once")
    add("--method", default=DEFAULT_METHOD)
    add("--setting", action="append", default=[], metavar="NAME=JSON", help="of the method")
    add(
        "--workspace", type=Path, help="keep the built graphs here; delete it when building changed"
    )
    add("--records", type=Path, help="write a line for each question here")
    add("--compare", type=Path, metavar="RECORDS", help="tell what differs from an earlier run")
    return parser.parse_args()


def _wanted(chosen: argparse.Namespace) -> list[Unit]:
    wanted = [
        unit
        for unit in units(data_folder())
        if not chosen.set or {unit.set, unit.graph} & {*chosen.set}
    ]
    if not chosen.only:
        return wanted
    matches = re.compile("|".join(chosen.only), re.IGNORECASE)
    parts = (
        replace(u, questions=tuple(q for q in u.questions if matches.search(f"{q.id} {q.text}")))
        for u in wanted
    )
    return [part for part in parts if part.questions]


def _all_worked(wanted: Sequence[Unit], wishes: Wishes, jobs: int) -> Iterator[Done]:
    if jobs <= 1:
        yield from (worked(unit, wishes) for unit in wanted)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(worked, wanted, [wishes] * len(wanted))


def _wishes(chosen: argparse.Namespace, workspace: Path) -> Wishes:
    return Wishes(
        workspace=workspace.absolute(),
        method=chosen.method,
        settings={k: json.loads(v) for k, _, v in (s.partition("=") for s in chosen.setting)},
        failures=chosen.failures,
        all=chosen.all,
        drafts=chosen.drafts,
        rows=chosen.rows,
        oracle=chosen.oracle,
    )


def _tell_missing() -> None:
    for name in FLOORS.keys() - {unit.set for unit in units(data_folder())}:
        print(f"{name}: skipped, its data is not in {data_folder()} (ASKGRAPH_DATA names it)")


def _tell_oracle(done: Sequence[Done], most: int) -> None:
    """How much better a perfect choice among the drafts would be."""
    for name in dict.fromkeys(one.unit.set for one in done):
        pairs = [
            (best, record.f1)
            for one in done
            if one.unit.set == name
            for best, record in zip(one.oracle, one.records, strict=True)
            if not record.unanswerable
        ]
        better = sum(best > f1 for best, f1 in pairs)
        mean = 100 * sum(best for best, _ in pairs) / max(1, len(pairs))
        print(f"{name}: oracle over {most} drafts F1 {mean:.1f}, better on {better} questions")


def _tell_errors(done: Sequence[Done]) -> None:
    for record in (record for one in done for record in one.records):
        if record.gold_error:
            print(f"{record.id}: the gold query failed: {record.gold_error}")
        if record.error:
            print(f"{record.id}: {record.error}")


def main() -> int:
    """Run what the command line asks for; 0 where all floors hold."""
    chosen = _arguments()
    _tell_missing()
    before = _records(chosen.compare) if chosen.compare else {}
    done: list[Done] = []
    with tempfile.TemporaryDirectory() as temporary:
        wishes = _wishes(chosen, chosen.workspace or Path(temporary))
        for one in _all_worked(_wanted(chosen), wishes, chosen.jobs):
            done.append(one)
            print("".join(f"{told}\n\n" for told in one.stories), end="", flush=True)
            print(f"{one.unit.set} {one.unit.graph}: done", file=sys.stderr)
    if chosen.records:
        _write_records(chosen.records, done)
    if chosen.compare:
        print(compared(before, done))
    if chosen.brief:
        ranked = sorted((r for one in done for r in one.records), key=lambda r: -r.confidence)
        print("\n".join(f"{headline(record)}   {record.question}" for record in ranked))
    _tell_errors(done)
    if chosen.oracle:
        _tell_oracle(done, chosen.oracle)
    text, fine = table(done)
    print(text)
    return 0 if fine else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as problem:
        sys.exit(f"accuracy_floors: {problem}")
