"""One HTML page for runs: the figures, every question, and all that is needed to show them.

The page fetches nothing. Its policy allows exactly its own scripts and styles, known by their
hashes, and no connection, so that a text from a graph or a model stays a text whatever is in it.
"""

import base64
import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import quote

from askgraph.errors import QuerySyntaxError, SetupError
from askgraph.evaluation.reports.failures import failure_class
from askgraph.evaluation.reports.report import system_of
from askgraph.evaluation.reports.sheet import Sheet
from askgraph.evaluation.runs import Detail, Record, Run
from askgraph.plugins import missing_extra
from askgraph.sparql.lexer import lexed
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite import formatted

# Built from server/web/src/report with the web page, whose parts it uses; a wheel carries it.
BUILT = files("askgraph") / "server" / "web" / "static" / "report"


def html_page(runs: Sequence[Run], *, metric: str = "best_column", times: bool = True) -> str:
    """Return one self-contained page for runs, with the scores of a metric in front.

    Without `times` nothing depends on the clock, and equal runs give equal pages, whatever the name
    of their folder. Raises `SetupError` if there is no record, if a record has no score of the
    metric, if the extra `evaluation` is not installed, or if the web page was not built.
    """
    if not any(run.records for run in runs):
        raise SetupError("a report needs a run with at least one record")
    named = told_apart(runs)
    if len(runs) == 1 and not times:
        named = (replace(runs[0], name="run"),)
    sections, specs = _draw_sections(named, metric=metric, times=times)
    payload = pack_payload(named, metric=metric, times=times)
    benchmarks = ", ".join(
        filter(None, dict.fromkeys(r.benchmark for n in named for r in n.records))
    )
    questions = len({(r.benchmark, r.id) for run in named for r in run.records})
    answers = sum(len(run.records) for run in named)
    style, script, vega = built("styles.css"), built("report.js"), _vega()
    template = Template(files(__package__).joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        title=escaped(f"Evaluation: {benchmarks}" if benchmarks else "Evaluation"),
        counts=f"{questions:,} questions, {answers:,} answers.",
        incomplete="\n".join(_INCOMPLETE.format(*_progress(n)) for n in named if not n.complete),
        contents="".join(
            f'<a href="#s{at}">{escaped(title)}</a>' for at, (title, _) in enumerate(sections)
        ),
        sections="\n".join(content for _, content in sections),
        settings="\n".join(_settings(run, times=times) for run in named),
        data="\n".join(
            [*specs, *(data_script(name, content) for name, content in payload.items())]
        ),
        hashes=f"{_hash(vega)} {_hash(script)}",
        style_hash=_hash(style),
        style=style,
        script=script,
        vega=vega,
    )


_INCOMPLETE = (
    '<p class="note warn" role="note"><strong>The run “{}” is incomplete:</strong> {:,} of {:,} '
    "answers. All figures are over these.</p>"
)


def _progress(run: Run) -> tuple[str, int, int]:
    return escaped(run.name), len(run.records), run.planned


def _settings(run: Run, *, times: bool) -> str:
    """Return what a run says of itself, as it says it."""
    said = {k: v for k, v in run.settings.items() if times or k not in CLOCK}
    text = json.dumps(said, indent=2, ensure_ascii=False, sort_keys=True)
    return details(run.name, f"<pre>{escaped(text)}</pre>", kind="settings")


def _draw_sections(
    runs: Sequence[Run], *, metric: str, times: bool
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the sections with figures, each with its title, and the plots in them as JSON."""
    try:  # altair, which the plots need, is of the extra `evaluation`
        from askgraph.evaluation.reports.figures import sections
    except ModuleNotFoundError as error:
        raise missing_extra(error, "the HTML report") from error
    drawn: list[tuple[str, str]] = []
    specs: list[str] = []
    for section in sections(runs, metric=metric, times=times):
        content = [f'<section id="s{len(drawn)}" class="overview">']
        content.append(f'<h2>{escaped(section.title)}</h2><div class="plots">')
        for figure in section.figures:
            content.append("<figure>" if figure.folded else '<figure class="wide">')
            content.append(f"<h3>{escaped(figure.title)}</h3>")
            if figure.caption:
                content.append(f"<figcaption>{escaped(figure.caption)}</figcaption>")
            if figure.spec is not None:
                content.append(f'<div data-plot="plot-{len(specs)}"></div>')
                specs.append(json_script(f"plot-{len(specs)}", figure.spec))
            shown = table(figure.sheet, label=figure.title)
            content.append(details("The same as a table", shown) if figure.folded else shown)
            content.append("</figure>")
        drawn.append((section.title, "\n".join([*content, "</div></section>"])))
    return drawn, specs


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def built(name: str) -> str:
    """Return a built file of the page; `SetupError` if the web page was not built."""
    try:
        return (BUILT / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SetupError(
            "the HTML report needs the web page, which is not built: run `make page` (it needs "
            "Node.js with npm), or install askgraph from a wheel; the other forms work without it"
        ) from None


@cache
def _vega() -> str:
    try:  # of the extra `evaluation`
        import vl_convert
    except ModuleNotFoundError as error:
        raise missing_extra(error, "the HTML report") from error
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("\r\n", "\n")


def escaped(text: str) -> str:
    """Return text that stands in HTML, and in a quoted attribute, for itself."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"), quote=True)


def table(sheet: Sheet, *, label: str) -> str:
    """Return a sheet as a table, its notes below it; `label` names it instead of its title."""
    sides = ["" if column.is_text else ' class="number"' for column in sheet.columns]
    heads = [column.head for column in sheet.columns]
    head = "".join(
        f'<th scope="col"{side}>{escaped(name)}</th>'
        for name, side in zip(heads, sides, strict=True)
    )
    body = "\n".join(f"<tr>{_cells(row, sides)}</tr>" for row in sheet.texts())
    notes = "".join(f'<p class="muted small">{escaped(note)}</p>' for note in sheet.notes)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escaped(label)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{notes}"
    )


def details(summary: str, content: str, *, kind: str = "") -> str:
    """Return HTML that is folded away under a line of text."""
    return f'<details class="{kind}"><summary>{escaped(summary)}</summary>{content}</details>'


def json_script(identity: str, value: Mapping[str, object]) -> str:
    """Return a script element that holds JSON and cannot be left early."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    inside = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{identity}">{inside}</script>'


def data_script(identity: str, base64: str) -> str:
    """Return a script element that holds base64."""
    return f'<script type="application/octet-stream" id="{identity}">{base64}</script>'


def _cells(row: Sequence[str], sides: Sequence[str]) -> str:
    return "".join(f"<td{side}>{escaped(text)}</td>" for text, side in zip(row, sides, strict=True))


Json = dict[str, object]

PART = 24  # questions
HEAD = 20  # rows of a result that a `Detail` has at most
CLOCK = frozenset({"seconds", "created"})  # keys that differ between two equal runs


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


def pack_payload(runs: Sequence[Run], *, metric: str, times: bool) -> dict[str, str]:
    """Return the index and the parts by name, packed; without `times`, nothing that a clock said.

    Answers to the same question with the same gold stand together, whatever their run.
    """
    answers = tuple(_answers(runs))
    systems = sorted({answer.system for answer in answers})
    metrics = {name for answer in answers for name in answer.record.scores} | {metric}
    questions: dict[tuple[str, ...], list[_Detailed]] = {}
    for answer in answers:
        record = answer.record
        key = (record.benchmark, record.id, record.question, record.gold_sparql or "")
        questions.setdefault(key, []).append(answer)
    seen: Counter[str] = Counter()
    listed = []
    for at, group in enumerate(questions.values()):
        record = group[0].record
        names = (quote(name, safe="", errors="replace") for name in (record.benchmark, record.id))
        link = f"#q/{'/'.join(names)}"
        seen[link] += 1
        listed.append(
            {
                **_question(record),
                "link": link if seen[link] == 1 else f"{link}/{seen[link]}",
                "details": divmod(at, PART),
                "answers": [
                    _answer(a.record, systems.index(a.system), metric=metric, times=times)
                    for a in group
                ],
            }
        )
    index = {
        "metric": metric,
        "metrics": sorted(metrics, key=lambda name: (name != metric, name)),
        "times": times,
        "head": HEAD,
        "systems": systems,
        "benchmarks": list(dict.fromkeys(answer.record.benchmark for answer in answers)),
        "questions": listed,
    }
    groups = list(questions.values())
    parts = {
        f"part-{at // PART}": packed(
            [[_trace(a, times=times) for a in group] for group in groups[at : at + PART]]
        )
        for at in range(0, len(groups), PART)
    }
    return {"index": packed(index), **parts}


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


def _trace(answer: _Detailed, *, times: bool) -> Json:
    """Return the trace of an answer, with the queries of its drafts as they are laid out."""
    trace, gold = answer.trace, answer.record.gold_sparql
    detail = Detail.of_json(json.loads(zlib.decompress(trace))) if trace else Detail("")
    steps = [
        {**step, **_laid("query_laid", query, gold)}
        if step.get("step") == "draft" and isinstance(query := step.get("query"), str)
        else dict(step)
        for step in detail.steps
    ]
    shown = {name: value for name, value in detail.json().items() if name != "key"}
    return {**shown, "steps": steps if times else _without_clock(steps)}


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
