"""One HTML page for runs: the figures, every question, and all that is needed to show them.

The page fetches nothing. Its policy allows exactly its own scripts and styles, known by their
hashes, and no connection, so that a text from a graph or a model stays a text whatever is in it.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files

from askgraph.errors import SetupError
from askgraph.evaluation.reports.payload import CLOCK, payload_of, told_apart
from askgraph.evaluation.reports.sheet import Sheet
from askgraph.evaluation.runs import Run
from askgraph.plugins import missing_extra

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
    sections, specs = _drawn(named, metric=metric, times=times)
    payload = payload_of(named, metric=metric, times=times)
    body = [
        '<a class="skip-link" href="#questions">To the questions</a>',
        '<main class="page">',
        _header(named, [title for title, _ in sections]),
        *(content for _, content in sections),
        '<section id="questions" class="overview"></section>',
        '<article id="question"></article>',
        _settings(named, times=times),
        "</main>",
        "<noscript><p>The plots and the list of questions need JavaScript.</p></noscript>",
        *specs,
        data_script("index", payload.index),
        *(data_script(f"part-{at}", part) for at, part in enumerate(payload.parts)),
    ]
    title = _title(named)
    style, script, vega = built("styles.css"), built("report.js"), _vega()
    policy = (
        f"default-src 'none'; script-src {_hash(vega)} {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escaped(title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            *body,
            f'<script type="module">{vega}</script>',
            f'<script type="module">{script}</script>',
            "</body>",
            "</html>",
            "",
        ]
    )


def _drawn(
    runs: Sequence[Run], *, metric: str, times: bool
) -> tuple[list[tuple[str, str]], list[str]]:
    """The sections with figures, each with its title, and the plots in them as JSON."""
    try:  # altair, which the plots need, is of the extra `evaluation`
        from askgraph.evaluation.reports.figures import sections
    except ModuleNotFoundError as error:
        raise missing_extra(error, "the HTML report") from error
    made: list[tuple[str, str]] = []
    specs: list[str] = []
    for section in sections(runs, metric=metric, times=times):
        content = [
            f'<section id="s{len(made)}" class="overview">',
            f'<h2>{escaped(section.title)}</h2><div class="plots">',
        ]
        for figure in section.figures:
            content += [
                "<figure>" if figure.folded else '<figure class="wide">',
                f"<h3>{escaped(figure.title)}</h3>",
                f"<figcaption>{escaped(figure.caption)}</figcaption>" if figure.caption else "",
            ]
            if figure.spec is not None:
                content.append(f'<div data-plot="plot-{len(specs)}"></div>')
                specs.append(json_script(f"plot-{len(specs)}", figure.spec))
            shown = table(figure.sheet, label=figure.title)
            content.append(details("The same as a table", shown) if figure.folded else shown)
            content.append("</figure>")
        content.append("</div></section>")
        made.append((section.title, "\n".join(content)))
    return made, specs


def _title(runs: Sequence[Run]) -> str:
    benchmarks = dict.fromkeys(record.benchmark for run in runs for record in run.records)
    names = ", ".join(name for name in benchmarks if name)
    return f"Evaluation: {names}" if names else "Evaluation"


def _header(runs: Sequence[Run], titles: Sequence[str]) -> str:
    links = [f'<a href="#s{at}">{escaped(title)}</a>' for at, title in enumerate(titles)]
    links.append('<a href="#questions">Questions</a>')
    links.append('<a href="#settings">How it was run</a>')
    answers = sum(len(run.records) for run in runs)
    questions = len({(r.benchmark, r.id) for run in runs for r in run.records})
    said = f"{questions:,} questions, {answers:,} answers."
    return "\n".join(
        [
            '<header class="overview">',
            f"<h1>{escaped(_title(runs))}</h1>",
            f'<p class="muted">{said}</p>',
            *_incomplete(runs),
            f'<nav class="contents row" aria-label="contents">{"".join(links)}</nav>',
            "</header>",
        ]
    )


def _incomplete(runs: Sequence[Run]) -> Iterable[str]:
    for run in runs:
        if not run.complete:
            yield (
                f'<p class="note warn" role="note"><strong>The run “{escaped(run.name)}” is '
                f"incomplete:</strong> {len(run.records):,} of {run.planned:,} answers. "
                "All figures are over these.</p>"
            )


def _settings(runs: Sequence[Run], *, times: bool) -> str:
    """What the runs say of themselves, as they say it."""
    content = ['<section id="settings" class="overview"><h2>How it was run</h2>']
    for run in runs:
        said = {k: v for k, v in run.settings.items() if times or k not in CLOCK}
        text = json.dumps(said, indent=2, ensure_ascii=False, sort_keys=True)
        shown = f"<pre>{escaped(text)}</pre>"
        content.append(details(run.name, shown, kind="settings"))
    return "\n".join([*content, "</section>"])


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
