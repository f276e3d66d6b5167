"""Print Table 3 of the representation paper beside what its own run files and our scoring give.

    python tools/table3.py

The paper is Henselmann et al., "Impact of Knowledge Graph Representations on Question Answering
with Language Models" (2025). The data, with the final query of each of its 3,770 runs and their
published scores, lies in ASKGRAPH_DATA, else ../shared/data. Each query is run again, on the
variant of the graph that it was written for, and scored with `best_column_multiset`.
"""

import gzip
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from pyoxigraph import QueryBoolean, QuerySolutions, RdfFormat, Store

from askgraph.evaluation import ResultTable, Score
from askgraph.evaluation.metrics.sets import best_column_multiset
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import to_text

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[2] / "shared" / "data")
BASE = "http://localhost/"  # some queries have `PREFIX : <#>`, which is relative
OFF = 0.3  # points; what rounding and the averaging of rounded runs explain
PARTS = ("all", "geo", "keyfigure", "supply")
COLUMNS = tuple((part, measure) for part in PARTS for measure in ("EM", "F1"))

PAPER: Mapping[int, tuple[float, ...]] = {
    int(number): tuple(figures)
    for number, figures in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
}
"""The paper's figures in percent by experiment: EM and F1 of all questions and of each pattern."""


Line = Mapping[str, Any]  # of a file of the data


@dataclass(frozen=True)
class Rescored:
    """A published prediction with its published scores and ours."""

    experiment: int
    run: str
    question: str
    tags: frozenset[str]
    em: float
    f1: float
    ours: Score

    @property
    def our_em(self) -> float:
        """1 where ours is fully right, else 0."""
        return float(self.ours.f1 == 1)


def rescored(folder: Path) -> Iterator[Rescored]:
    """Run each published query again on its variant of the graph in `folder`, and score it."""
    questions = {line["id"]: line for line in _lines(folder / "questions.jsonl")}
    published = _lines(folder / "published_predictions.jsonl.gz")
    boxes = {(line["abox"], line["tbox"]) for line in published}
    graphs = {pair: _Graph(folder / "kg", *pair) for pair in sorted(boxes)}
    for line in published:
        question, graph = questions[line["id"]], graphs[line["abox"], line["tbox"]]
        # Gold's rows count as often as they are found.
        gold = graph.table(to_text(replace(parse_tree(question["sparql"]), distinct=False)))
        ours = best_column_multiset(graph.table(line["query"]), gold)
        tags = frozenset(question["tags"])
        yield Rescored(line["exp"], line["run"], line["id"], tags, line["em"], line["f1"], ours)


def unlike(found: Iterable[Rescored]) -> list[Rescored]:
    """Return the predictions whose F1 or EM is not the published one."""
    return [one for one in found if abs(one.ours.f1 - one.f1) > 1e-9 or one.our_em != one.em]


def disagreements(found: Sequence[Rescored]) -> dict[tuple[int, str, str], tuple[float, float]]:
    """Return the cells in which the paper is not what its run files give, with both figures.

    A cell is named by experiment, part and measure.
    """
    return {
        (experiment, *column): (paper, files)
        for experiment in PAPER
        for column, paper, files, _ in _cells(found, experiment)
        if abs(paper - files) > OFF
    }


def table3(found: Sequence[Rescored]) -> str:
    """Return the table in Markdown: paper / run files / recomputed, in percent."""
    lines = ["| no. | " + " | ".join(f"{part} {measure}" for part, measure in COLUMNS) + " |"]
    lines.append("|---" * (len(COLUMNS) + 1) + "|")
    for experiment in PAPER:
        cells = []
        for _, paper, files, ours in _cells(found, experiment):
            mark = "**" if abs(paper - files) > OFF else ""
            cells.append(f"{mark}{paper:.1f} / {files:.1f} / {ours:.1f}{mark}")
        lines.append(f"| {experiment} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _lines(path: Path) -> list[Line]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _cells(
    found: Sequence[Rescored], experiment: int
) -> Iterator[tuple[tuple[str, str], float, float, float]]:
    """Yield each column with the figures of the paper, of its run files, and ours, in percent."""
    own = [one for one in found if one.experiment == experiment]
    for (part, measure), paper in zip(COLUMNS, PAPER[experiment], strict=True):
        ones = [one for one in own if part == "all" or part in one.tags]
        pairs = ((o.em, o.our_em) if measure == "EM" else (o.f1, o.ours.f1) for o in ones)
        files, ours = (100 * fmean(values) for values in zip(*pairs, strict=True))
        yield (part, measure), paper, files, ours


class _Graph:
    """A variant of the graph, which runs each query once."""

    def __init__(self, folder: Path, abox: str, tbox: str) -> None:
        self._store = Store()
        self._prefixes: dict[str, str] = {}
        for file in (folder / f"a-box-{abox}.ttl", folder / f"t-box-{tbox}.ttl"):
            text = file.read_text(encoding="utf-8")
            self._store.load(text.encode(), RdfFormat.TURTLE)
            declared = re.findall(r"^@?prefix\s+([^\s:]*):\s*<([^>]*)>", text, re.I | re.M)
            self._prefixes.update(declared)
        self.table = cache(self._run)

    def _run(self, query: str | None) -> ResultTable:
        """Return what a query gives; no rows for no query, and for one with an error."""
        try:
            found = self._store.query(query or "", prefixes=self._prefixes, base_iri=BASE)
        except SyntaxError:
            return ResultTable((), ())
        match found:
            case QuerySolutions():
                names = tuple(variable.value for variable in found.variables)
                rows = tuple(tuple(row[name] for name in names) for row in found)
                return ResultTable.from_result(SelectResult(names, rows))
            case QueryBoolean():
                return ResultTable.from_boolean(bool(found))
            case _:
                return ResultTable((), ())


def main() -> None:
    """Print the table, the cells in bold, and the predictions that are scored otherwise."""
    found = list(rescored(DATA / "supply-kgrep"))
    others = unlike(found)
    print(table3(found))
    print("\n| no. | cell | paper | run files | difference |\n|---|---|---|---|---|")
    for (experiment, part, measure), (paper, files) in disagreements(found).items():
        figures = f"{paper:.1f} | {files:.1f} | {files - paper:.1f}"
        print(f"| {experiment} | {part} {measure} | {figures} |")
    em = sum(one.our_em == one.em for one in found)
    print(f"\nEM as published: {em:,} of {len(found):,}")
    print(f"F1 as published: {len(found) - len(others):,} of {len(found):,}; not so:")
    print("\n| no. | run | question | published F1 | ours |\n|---|---|---|---|---|")
    for one in others:
        where = f"{one.experiment} | {one.run} | {one.question}"
        print(f"| {where} | {one.f1:.3f} | {one.ours.f1:.3f} |")


if __name__ == "__main__":
    main()
