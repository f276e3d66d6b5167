"""HTML as text: everything that comes from outside is escaped here."""

import json
from collections.abc import Mapping, Sequence
from html import escape

from askgraph.evaluation.reports.sheet import Sheet


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
