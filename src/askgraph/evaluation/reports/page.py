"""A self-contained HTML page for runs: the figures and every question.

The page makes no requests. Its content security policy allows its own scripts and styles only, by
hash, and no connections, so that text from a graph or a model cannot run as code.
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
from askgraph.evaluation.reports.failures import get_failure_class
from askgraph.evaluation.reports.figures import build_sections
from askgraph.evaluation.reports.report import format_system_name
from askgraph.evaluation.reports.sheet import Sheet
from askgraph.evaluation.runs import EvaluationRun, QuestionDetail, Record
from askgraph.plugins import to_missing_extra_error
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite import lay_out_query

# Built from server/web/src/report with the web page, whose parts it uses; a wheel carries it.
BUILD_FOLDER = files("askgraph") / "server" / "web" / "static" / "report"


def build_html_page(
    runs: Sequence[EvaluationRun], *, metric: str = "best_column", with_times: bool = True
) -> str:
    """Build one self-contained page for runs, with the scores of a metric first.

    Without `with_times` nothing depends on the clock: equal runs give equal pages, whatever the
    name of their folder.

    Raises:
        SetupError: There is no record, a record lacks the metric, the extra `evaluation` is not
            installed, or the web page was not built.
    """
    if not any(run.records for run in runs):
        raise SetupError("a report needs a run with at least one record")
    named_runs = number_runs(runs)
    if len(runs) == 1 and not with_times:
        named_runs = (replace(runs[0], name="run"),)
    sections, specs = _draw_sections(named_runs, metric=metric, with_times=with_times)
    payload = pack_payload(named_runs, metric=metric, with_times=with_times)
    benchmarks = ", ".join(
        filter(
            None, dict.fromkeys(record.benchmark for run in named_runs for record in run.records)
        )
    )
    count = len({(record.benchmark, record.id) for run in named_runs for record in run.records})
    answer_count = sum(len(run.records) for run in named_runs)
    style, script, vega = read_built_file("styles.css"), read_built_file("report.js"), load_vega()
    return Template(files(__package__).joinpath("page.html").read_text("utf-8")).substitute(
        title=escape_html(f"Evaluation: {benchmarks}" if benchmarks else "Evaluation"),
        counts=f"{count:,} questions, {answer_count:,} answers.",
        incomplete="\n".join(
            _INCOMPLETE_NOTE.format(escape_html(run.name), len(run.records), run.planned_count)
            for run in named_runs
            if not run.is_complete
        ),
        contents="".join(
            f'<a href="#s{index}">{escape_html(title)}</a>'
            for index, (title, _) in enumerate(sections)
        ),
        sections="\n".join(content for _, content in sections),
        settings="\n".join(_render_settings(run, with_times=with_times) for run in named_runs),
        data="\n".join(
            [
                *specs,
                *(
                    f'<script type="application/octet-stream" id="{name}">{base64_text}</script>'
                    for name, base64_text in payload.items()
                ),
            ]
        ),
        hashes=f"{_hash_source(vega)} {_hash_source(script)}",
        style_hash=_hash_source(style),
        style=style,
        script=script,
        vega=vega,
    )


_INCOMPLETE_NOTE = (
    '<p class="note warn" role="note"><strong>The run “{}” is incomplete:</strong> {:,} of {:,} '
    "answers. All figures are over these.</p>"
)


def _render_settings(run: EvaluationRun, *, with_times: bool) -> str:
    shown_settings = {
        key: value for key, value in run.settings.items() if with_times or key not in CLOCK_KEYS
    }
    text = json.dumps(shown_settings, indent=2, ensure_ascii=False, sort_keys=True)
    return render_details(run.name, f"<pre>{escape_html(text)}</pre>", kind="settings")


def _draw_sections(
    runs: Sequence[EvaluationRun], *, metric: str, with_times: bool
) -> tuple[list[tuple[str, str]], list[str]]:
    drawn: list[tuple[str, str]] = []
    specs: list[str] = []
    for section in build_sections(runs, metric=metric, with_times=with_times):
        content = [f'<section id="s{len(drawn)}" class="overview">']
        content.append(f'<h2>{escape_html(section.title)}</h2><div class="plots">')
        for figure in section.figures:
            content.append("<figure>" if figure.folded else '<figure class="wide">')
            content.append(f"<h3>{escape_html(figure.title)}</h3>")
            if figure.caption:
                content.append(f"<figcaption>{escape_html(figure.caption)}</figcaption>")
            if figure.spec is not None:
                content.append(f'<div data-plot="plot-{len(specs)}"></div>')
                text = json.dumps(figure.spec, separators=(",", ":"), allow_nan=False)
                script = f'<script type="application/json" id="plot-{len(specs)}">'
                specs.append(script + text.replace("<", "\\u003c") + "</script>")
            table = render_table(figure.sheet, label=figure.title)
            content.append(render_details("The same as a table", table) if figure.folded else table)
            content.append("</figure>")
        drawn.append((section.title, "\n".join([*content, "</div></section>"])))
    return drawn, specs


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def read_built_file(name: str) -> str:
    """Return a built file of the page; raise `SetupError` if the page was not built."""
    try:
        return (BUILD_FOLDER / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SetupError(
            "the HTML report needs the web page, which is not built: run `make page` (it "
            "needs Node.js with npm), or install askgraph from a wheel; the other output "
            "formats work without it"
        ) from None


@cache
def load_vega() -> str:
    """Return the script that draws plots; raise `SetupError` without the extra `evaluation`."""
    try:
        import vl_convert
    except ModuleNotFoundError as error:
        raise to_missing_extra_error(error, "the HTML report") from error
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("\r\n", "\n")


def escape_html(text: str) -> str:
    """Escape a text for HTML and quoted attributes."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"), quote=True)


def render_table(sheet: Sheet, *, label: str) -> str:
    """Return a sheet as an HTML table with its notes; `label` replaces its title."""
    attributes = ["" if column.is_text else ' class="number"' for column in sheet.columns]
    heads = [column.head for column in sheet.columns]
    head = "".join(
        f'<th scope="col"{attribute}>{escape_html(name)}</th>'
        for name, attribute in zip(heads, attributes, strict=True)
    )
    body = "\n".join(f"<tr>{_render_cells(row, attributes)}</tr>" for row in sheet.format_rows())
    notes = "".join(f'<p class="muted small">{escape_html(note)}</p>' for note in sheet.notes)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape_html(label)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{notes}"
    )


def render_details(summary: str, content: str, *, kind: str = "") -> str:
    """Return HTML that is folded under a line of text."""
    return f'<details class="{kind}"><summary>{escape_html(summary)}</summary>{content}</details>'


def _render_cells(row: Sequence[str], cell_attributes: Sequence[str]) -> str:
    return "".join(
        f"<td{attribute}>{escape_html(text)}</td>"
        for text, attribute in zip(row, cell_attributes, strict=True)
    )


Json = dict[str, object]

PART_SIZE = 24  # questions
MAX_HEAD_ROWS = 20  # rows of a result that a `PromptDetail` has at most
CLOCK_KEYS = frozenset({"seconds", "created"})  # keys that differ between two equal runs


def number_runs(runs: Sequence[EvaluationRun]) -> tuple[EvaluationRun, ...]:
    """Return the runs, with numbers after names that occur twice."""
    names = Counter(run.name for run in runs)
    counts: Counter[str] = Counter()
    numbered = []
    for run in runs:
        counts[run.name] += 1
        number = f" ({counts[run.name]})" if names[run.name] > 1 else ""
        numbered.append(replace(run, name=run.name + number))
    return tuple(numbered)


def pack_payload(runs: Sequence[EvaluationRun], *, metric: str, with_times: bool) -> dict[str, str]:
    """Return the index and the parts by name, packed; without `with_times`, no clock values.

    Answers to the same question with the same gold are grouped across runs.
    """
    answers = tuple(_iterate_answers(runs))
    systems = sorted({answer.system for answer in answers})
    metrics = {name for answer in answers for name in answer.record.scores} | {metric}
    questions: dict[tuple[str, ...], list[_TracedAnswer]] = {}
    for answer in answers:
        record = answer.record
        key = (record.benchmark, record.id, record.question, record.gold_sparql or "")
        questions.setdefault(key, []).append(answer)
    link_counts: Counter[str] = Counter()
    question_objects = []
    for position, group in enumerate(questions.values()):
        record = group[0].record
        names = (quote(name, safe="", errors="replace") for name in (record.benchmark, record.id))
        link = f"#q/{'/'.join(names)}"
        link_counts[link] += 1
        question_objects.append(
            {
                **_to_question_object(record),
                "link": link if link_counts[link] == 1 else f"{link}/{link_counts[link]}",
                "details": divmod(position, PART_SIZE),
                "answers": [
                    _to_answer_object(
                        answer.record,
                        systems.index(answer.system),
                        metric=metric,
                        with_times=with_times,
                    )
                    for answer in group
                ],
            }
        )
    index = {
        "metric": metric,
        "metrics": sorted(metrics, key=lambda name: (name != metric, name)),
        "times": with_times,
        "head": MAX_HEAD_ROWS,
        "systems": systems,
        "benchmarks": list(dict.fromkeys(answer.record.benchmark for answer in answers)),
        "questions": question_objects,
    }
    groups = list(questions.values())
    parts = {
        f"part-{position // PART_SIZE}": pack_json(
            [
                [_to_trace_object(answer, with_times=with_times) for answer in group]
                for group in groups[position : position + PART_SIZE]
            ]
        )
        for position in range(0, len(groups), PART_SIZE)
    }
    return {"index": pack_json(index), **parts}


def pack_json(value: object) -> str:
    """Return JSON, gzipped, in base64; equal values give equal texts."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii")


@dataclass(frozen=True)
class _TracedAnswer:
    record: Record
    system: str
    trace: bytes | None = field(repr=False)


def _iterate_answers(runs: Sequence[EvaluationRun]) -> Iterator[_TracedAnswer]:
    for run in runs:
        traces = {
            detail.key: zlib.compress(json.dumps(detail.to_json()).encode("ascii"), 1)
            for detail in run.iterate_details()
        }
        repeated = {record.method for record in run.records if record.repeat}
        for record in run.records:
            system = format_system_name(run.name, record.system, has_several_runs=len(runs) > 1)
            if record.method in repeated:
                system += f" · repetition {record.repeat + 1}"
            yield _TracedAnswer(record, system, traces.get(record.key))


def _to_question_object(record: Record) -> Json:
    names = ("benchmark", "id", "language", "form", "patterns", "unanswerable")
    return {
        **{name: getattr(record, name) for name in names},
        "text": record.question,
        "tags": list(record.tags),
        "gold": record.gold_sparql,
        **_format_changed("gold_laid", record.gold_sparql, record.gold_sparql),
    }


def _to_answer_object(record: Record, system: int, *, metric: str, with_times: bool) -> Json:
    names = ("status", "confidence", "sparql", "executed", "attempts", "error", "gold_error")
    fields = record.to_json()
    return {
        "system": system,
        **{name: fields[name] for name in (*names, "scores", "drafts")},
        **_format_changed("sparql_laid", record.sparql, record.gold_sparql),
        "usage": {name: count for name, count in asdict(record.usage).items() if name != "seconds"},
        "failure": get_failure_class(record, metric),
        **({"seconds": record.seconds} if with_times else {}),
    }


def _format_changed(name: str, query: str | None, gold: str | None) -> Json:
    """Return the formatted query under a name; empty if formatting changes nothing."""
    if query is None:
        return {}
    formatted_query = _format_query(query, gold)
    return {} if formatted_query == query else {name: formatted_query}


def _to_trace_object(answer: _TracedAnswer, *, with_times: bool) -> Json:
    trace, gold = answer.trace, answer.record.gold_sparql
    detail = (
        QuestionDetail.from_json(json.loads(zlib.decompress(trace)))
        if trace
        else QuestionDetail("")
    )
    steps = [
        {**step, **_format_changed("query_laid", query, gold)}
        if step.get("step") == "draft" and isinstance(query := step.get("query"), str)
        else dict(step)
        for step in detail.steps
    ]
    fields = {name: value for name, value in detail.to_json().items() if name != "key"}
    return {**fields, "steps": steps if with_times else _remove_clock_keys(steps)}


def _remove_clock_keys(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            name: _remove_clock_keys(item) for name, item in value.items() if name not in CLOCK_KEYS
        }
    if isinstance(value, list | tuple):
        return [_remove_clock_keys(item) for item in value]
    return value


@lru_cache(maxsize=10_000)
def _format_query(query: str, gold: str | None) -> str:
    """Return a query formatted with the prefixes of gold; unchanged if it cannot be parsed."""
    return lay_out_query(query, _parse_prefixes(gold or ""), {})


@lru_cache(maxsize=64)
def _parse_prefixes(gold: str) -> PrefixMap:
    try:
        return PrefixMap(tokenize(gold).declared_prefixes)
    except QuerySyntaxError:
        return PrefixMap()
