"""All questions and traces of runs, packed small enough to travel inside a page.

An index holds the fields of the list and of the search; the traces are in parts of a few questions,
which the page opens when a reader comes to them.
"""

import base64
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from urllib.parse import quote

from askgraph.errors import QuerySyntaxError
from askgraph.evaluation.reports.failures import failure_class
from askgraph.evaluation.runs import Detail, Record, Run
from askgraph.sparql.layout import formatted
from askgraph.sparql.lexer import lexed
from askgraph.sparql.prefixes import PrefixMap

Json = dict[str, object]

PART = 24  # questions
HEAD = 20  # rows of a result that a `Detail` has at most
CLOCK = frozenset({"seconds", "created"})  # keys that differ between two equal runs


@dataclass(frozen=True)
class Payload:
    """The index and the parts, each gzipped JSON in base64; the same runs give the same bytes."""

    index: str
    parts: tuple[str, ...]


def told_apart(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs, those whose folders have the same name numbered."""
    names = Counter(run.name for run in runs)
    seen: Counter[str] = Counter()
    named = []
    for run in runs:
        seen[run.name] += 1
        number = f" ({seen[run.name]})" if names[run.name] > 1 else ""
        named.append(replace(run, name=run.name + number))
    return tuple(named)


def system_of(run: str, method: str, *, several: bool) -> str:
    """Return the name of a method on the page; if there are several runs, its run before it."""
    return f"{run}:{method}" if several else method or "method"


def payload_of(runs: Sequence[Run], *, metric: str, times: bool) -> Payload:
    """Pack the records and traces of runs; without `times`, nothing that a clock said.

    Answers to the same question with the same gold stand together, whatever their run.
    """
    answers = tuple(_answers(runs))
    systems = sorted({answer.system for answer in answers})
    questions: dict[tuple[str, ...], list[_Detailed]] = {}
    for answer in answers:
        record = answer.record
        key = (record.benchmark, record.id, record.question, record.gold_sparql or "")
        questions.setdefault(key, []).append(answer)
    seen: dict[str, int] = {}
    links = []
    for benchmark, identity, *_ in questions:
        link = f"#q/{_quoted(benchmark)}/{_quoted(identity)}"
        seen[link] = seen.get(link, 0) + 1
        links.append(link if seen[link] == 1 else f"{link}/{seen[link]}")
    groups = list(questions.values())
    index = {
        "metric": metric,
        "metrics": _metrics(answers, metric),
        "times": times,
        "head": HEAD,
        "systems": systems,
        "benchmarks": list(dict.fromkeys(answer.record.benchmark for answer in answers)),
        "questions": [
            {
                **_question(group[0].record),
                "link": link,
                "details": divmod(at, PART),
                "answers": [
                    _answer(a.record, systems.index(a.system), metric=metric, times=times)
                    for a in group
                ],
            }
            for at, (group, link) in enumerate(zip(groups, links, strict=True))
        ],
    }
    parts = (groups[at : at + PART] for at in range(0, len(groups), PART))
    return Payload(packed(index), tuple(packed(_part(part, times=times)) for part in parts))


def packed(value: object) -> str:
    """Return JSON, gzipped, in base64; the same value gives the same text."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii")


@dataclass(frozen=True)
class _Detailed:
    """A record under the name of its system, with its trace, compressed as long as it waits."""

    record: Record
    system: str
    trace: bytes | None = field(repr=False)

    def detail(self) -> Detail:
        if self.trace is None:
            return Detail(self.record.key)
        return Detail.of_json(json.loads(zlib.decompress(self.trace)))


def _answers(runs: Sequence[Run]) -> Iterator[_Detailed]:
    for run in runs:
        traces = {
            detail.key: zlib.compress(json.dumps(detail.json()).encode("ascii"), 1)
            for detail in run.details()
        }
        repeated = {record.method for record in run.records if record.repeat}
        for record in run.records:
            system = system_of(run.name, record.system, several=len(runs) > 1)
            if record.method in repeated:
                system += f" · repetition {record.repeat + 1}"
            yield _Detailed(record, system, traces.get(record.key))


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _metrics(answers: Sequence[_Detailed], metric: str) -> list[str]:
    """The metrics that were computed, the main one first."""
    names = {name for answer in answers for name in answer.record.scores}
    return sorted(names | {metric}, key=lambda name: (name != metric, name))


def _question(record: Record) -> Json:
    return {
        "benchmark": record.benchmark,
        "id": record.id,
        "text": record.question,
        "language": record.language,
        "tags": list(record.tags),
        "form": record.form,
        "patterns": record.patterns,
        "unanswerable": record.unanswerable,
        "gold": record.gold_sparql,
        **_laid("gold_laid", record.gold_sparql, record.gold_sparql),
    }


def _answer(record: Record, system: int, *, metric: str, times: bool) -> Json:
    scores = record.json()["scores"]
    return {
        "system": system,
        "status": record.status,
        "confidence": record.confidence,
        "scores": scores,
        "sparql": record.sparql,
        **_laid("sparql_laid", record.sparql, record.gold_sparql),
        "executed": record.executed,
        "drafts": list(record.drafts),
        "attempts": record.attempts,
        "usage": {name: n for name, n in asdict(record.usage).items() if name != "seconds"},
        "failure": failure_class(record, metric),
        "error": record.error,
        "gold_error": record.gold_error,
        **({"seconds": record.seconds} if times else {}),
    }


def _laid(name: str, query: str | None, gold: str | None) -> Json:
    """A query as it is laid out, if that is not how it is written."""
    if query is None:
        return {}
    laid = _laid_out(query, gold)
    return {} if laid == query else {name: laid}


def _part(groups: Sequence[Sequence[_Detailed]], *, times: bool) -> list[list[Json]]:
    return [[_shown(answer, times=times) for answer in group] for group in groups]


def _shown(answer: _Detailed, *, times: bool) -> Json:
    detail = answer.detail()
    shown = detail.json()
    del shown["key"]
    steps = [_step(step, answer.record.gold_sparql) for step in detail.steps]
    shown["steps"] = steps if times else _without_clock(steps)
    return shown


def _step(step: Mapping[str, object], gold: str | None) -> Json:
    query = step.get("query")
    if step.get("step") == "draft" and isinstance(query, str):
        return {**step, **_laid("query_laid", query, gold)}
    return dict(step)


def _without_clock(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _without_clock(v) for name, v in value.items() if name not in CLOCK}
    if isinstance(value, list | tuple):
        return [_without_clock(item) for item in value]
    return value


@lru_cache(maxsize=10_000)
def _laid_out(query: str, gold: str | None) -> str:
    """A query laid out with the prefixes that gold declares; as it is if it cannot be read."""
    return formatted(query, _prefixes(gold or ""), {})


@lru_cache(maxsize=64)
def _prefixes(gold: str) -> PrefixMap:
    try:
        return PrefixMap(lexed(gold).declared)
    except QuerySyntaxError:
        return PrefixMap()
