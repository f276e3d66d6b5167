"""What small models add to graph search, set by set and way by way.

    python benchmarks/small_models.py --out rows --meanings onnx:models/minilm
    python benchmarks/small_models.py --out rows --writer models/writer
    python benchmarks/small_models.py --out rows --set spider-graphs --style C --style F --sample 6

Ways: graph search alone; `+ meanings`, with an embedding model; `writes`, the language model alone,
of what graph search proposes; `both`, graph search, and a vote with what the model writes where
that is unsure. Only ways whose models are named are asked.

F1 is that of the best column, where a thing counts as its name (`by name`); what is asked back and
refused counts with its best attempt, so that queries are compared. `gain` is against graph search
on the same questions, with the 95 % interval of the paired bootstrap. *Sure* is a confidence from
0.9 on. Each way runs in a process of its own, and what it found of a graph is kept in the folder: a
stopped run goes on. MB is the most that the process had held by the end of the set, the graphs
included; times are medians, and the 95th of 100.
"""

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median

from _measure import print_table
from _sets import Listed, gold_of, listed_sets, table_of
from askgraph.evaluation.by_name import by_name, names_of_things
from askgraph.evaluation.reports.statistics import bootstrap_interval, paired_difference
from askgraph.llm import LanguageModel
from askgraph.llm.transformers import TransformersModel
from askgraph.methods import Method
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Guided
from askgraph.methods.multi_stage import MultiStage
from askgraph.trace import Answer, Clarification, Question, Refusal
from askgraph.workspace import Workspace

ALONE = "graph search"
SURE, RIGHT = 0.9, 1 - 1e-9
HEADS = ("set", "way", "n", "F1 by name", "gain", "better, worse", "sure: right", "ms", "tokens",
         "MB")  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What came of one question."""

    set: str
    id: str
    f1: float
    confidence: float
    seconds: float
    calls: int
    read: int
    written: int


def methods(chosen: argparse.Namespace) -> dict[str, Mapping[str, object]]:
    """The ways whose models are named, each with its settings."""
    found: dict[str, Mapping[str, object]] = {ALONE: {}}
    if chosen.meanings:
        found["+ meanings"] = {"meanings": chosen.meanings}
    if chosen.writer:
        found["writes"] = found["both"] = {"writer": chosen.writer}
    return found


def made(way: str, settings: Mapping[str, object]) -> Method:
    """The method of a way."""
    given = dict(settings)
    if not (path := given.pop("writer", None)):
        return GraphSearch(seconds=60.0, **given)  # type: ignore[arg-type]
    model: LanguageModel = TransformersModel(str(path))
    if way == "writes":
        listed = {"entities": "proposed", "predicates": "proposed", "filter": "off"}
        writes = {"writer": "model", "form": "names", "n": 1, "seconds": 600.0}
        return MultiStage(model=model, **listed, **writes)  # type: ignore[arg-type]
    return Guided(model, detail="written", ask="unsure", sure_from=SURE, seconds=600.0, **given)  # type: ignore[arg-type]


async def asked(one: Listed, way: str, method: Method, place: Path) -> list[Row]:
    """Ask all questions about a graph."""
    workspace = Workspace(place)
    name = f"{one.set}-{Path(one.graph).stem}"
    if name not in workspace.graphs():
        workspace.add(name, list(one.files))
    graph = workspace.find(name)
    names = await asyncio.to_thread(names_of_things, graph)
    found = []
    for gold in one.questions:
        table = await gold_of(gold, graph)
        if table is None:
            continue
        started = time.perf_counter()
        steps = [step async for step in method.answer(Question(gold.text, gold.language), [graph])]
        seconds = time.perf_counter() - started
        outcome = steps[-1]
        assert isinstance(outcome, Answer | Clarification | Refusal)
        best = outcome if isinstance(outcome, Answer) else outcome.best
        f1 = by_name(table_of(best), table, names).f1 if best is not None else 0.0
        sure = outcome.confidence if isinstance(outcome, Answer) else 0.0
        used = outcome.usage
        found.append(
            Row(
                one.set,
                gold.id,
                f1,
                sure,
                seconds,
                used.llm_calls,
                used.input_tokens,
                used.output_tokens,
            )
        )
    await graph.endpoint.close()
    return found


def work(way: str, settings: Mapping[str, object], sets: Sequence[Listed], out: Path) -> None:
    """Ask all questions in one way; the answers about each graph are a file."""
    method, place = made(way, settings), out / "workspace"
    for at, one in enumerate(sets):
        path = kept(out, way, one)
        if not path.is_file():
            rows = asyncio.run(asked(one, way, method, place))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            beside = path.with_suffix(".tmp")
            beside.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"peak": peak, "rows": [asdict(row) for row in rows]})
            beside.write_text(text, "utf-8")
            beside.rename(path)
        print(f"\r{way}: {at + 1} of {len(sets)} graphs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def kept(out: Path, way: str, one: Listed) -> Path:
    """Where the answers about a graph are kept."""
    return out / way.replace(" ", "-").strip("+-") / f"{one.set}-{Path(one.graph).stem}.json"


def lines(out: Path, ways: Sequence[str], sets: Sequence[Listed]) -> Iterator[tuple[str, ...]]:
    """The table: a line for each set and way."""
    for name in dict.fromkeys(one.set for one in sets):
        alone: dict[str, float] = {}
        for way in ways:
            files = [kept(out, way, one) for one in sets if one.set == name]
            found = [json.loads(path.read_text("utf-8")) for path in files]
            rows = [Row(**row) for one in found for row in one["rows"]]
            f1 = {row.id: row.f1 for row in rows}
            alone = alone or f1
            yield name, way, *figures(rows, alone), f"{max(one['peak'] for one in found):,.0f}"


def figures(rows: Sequence[Row], alone: Mapping[str, float]) -> tuple[str, ...]:
    """The figures of some questions."""
    f1 = {row.id: row.f1 for row in rows}
    mean = bootstrap_interval(list(f1.values()))
    gain = paired_difference({name: alone[name] for name in f1}, f1)
    sure = [row for row in rows if row.confidence >= SURE]
    right = sum(row.f1 >= RIGHT for row in sure)
    seconds = sorted(row.seconds for row in rows)
    low, mid, high = (
        100 * x for x in (gain.difference.low, gain.difference.mean, gain.difference.high)
    )
    return (
        str(len(rows)),
        f"{100 * mean.mean:.1f} ({100 * mean.low:.1f} to {100 * mean.high:.1f})",
        f"{mid:+.1f} ({low:+.1f} to {high:+.1f})" if f1 != alone else "",
        f"{gain.better}, {gain.worse}",
        f"{len(sure)}: {right}",
        f"{1000 * median(seconds):,.0f} ({1000 * seconds[int(0.95 * len(seconds))]:,.0f})",
        f"{fmean(row.read for row in rows):,.0f} + {fmean(row.written for row in rows):,.0f}",
    )


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--out", type=Path, help="what was found is kept here; else nowhere")
    add("--set", action="append", default=[], help="sample, supply-kgrep, spider4sparql, …")
    add("--style", action="append", default=[], help="only graphs of this style")
    add("--sample", type=int, metavar="N", help="so many questions of each graph")
    add("--meanings", default="", metavar="NAME", help="an embedding model")
    add("--way", action="append", default=[], help="only these, beside graph search")
    add("--writer", default="", metavar="FOLDER", help="a language model that writes")
    chosen = parser.parse_args()
    sets = [
        one
        for one in listed_sets(chosen.set, sample=chosen.sample)
        if not chosen.style or one.style in chosen.style
    ]
    only = chosen.way
    ways = {way: own for way, own in methods(chosen).items() if way in (ALONE, *(only or (way,)))}
    with tempfile.TemporaryDirectory() as folder:
        out = chosen.out or Path(folder)
        for way, settings in ways.items():
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                pool.submit(work, way, settings, sets, out).result()
        print_table(HEADS, *lines(out, list(ways), sets))


if __name__ == "__main__":
    main()
