"""`askgraph enrich`, `advise`: predicates, comments and names that a graph only implies."""

from pathlib import Path

import typer

from askgraph.answers.console import build_table
from askgraph.cli.output import CommonOptions, DraftOptions, print_blocks, print_json, show_progress
from askgraph.errors import SetupError
from askgraph.graph.advice import ADVICE_KINDS, Advice, AdviceKind
from askgraph.graph.definitions import (
    DefinedProperty,
    Definitions,
    format_definitions,
    read_definitions,
)
from askgraph.sparql.serializer import to_text
from askgraph.workspace import Progress, Workspace, enrichment


def enrich(
    common: CommonOptions,
    name: str,
    drafts: DraftOptions,
    definitions: Path | None = None,
    inverse: bool = False,
    shortcuts: bool = False,
    comments: bool = False,
    names: bool = False,
    virtual: bool = False,
    plain: bool = False,
    as_name: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Add what a graph implies: inverses, shortcuts for paths, comments, names of relations."""
    if sum([virtual or plain, out is not None, bool(as_name) and not virtual]) != 1:
        raise SetupError(
            "say what to do: --virtual, --out FILE, --as NEWNAME, or --plain to remove additions"
        )
    kinds = inverse or shortcuts or comments or names
    _require_not(virtual and plain, "--virtual and --plain exclude each other: choose one")
    _require_not(
        plain and (kinds or definitions or as_name),
        "--plain removes all additions: use it without other options",
    )
    drafting = bool(drafts.model or drafts.base_url or drafts.budget)
    _require_not(drafting and not comments, "--model, --base-url and --budget require --comments")
    _require_not(
        drafting and definitions,
        "--definitions and --model exclude each other: choose one source of comments",
    )
    workspace = common.workspace
    flags = {"inverse": inverse, "shortcuts": shortcuts, "comments": comments, "names": names}
    with show_progress() as progress:
        additions = (
            Definitions()
            if plain
            else _load_additions(workspace, name, definitions, flags, drafts, progress)
        )
        if virtual or plain:
            profile = enrichment.enrich_virtually(
                workspace, name, additions, as_name=as_name, progress=progress
            )
            summary = {"name": as_name or name, "triples": profile.triples}
        elif out is not None:
            added = enrichment.write_enriched(workspace, name, additions, out, progress=progress)
            summary = {"file": str(out), "added": added}
        else:
            profile = enrichment.add_enriched(
                workspace, name, additions, str(as_name), progress=progress
            )
            summary = {"name": str(as_name), "triples": profile.triples}
    counts = {
        "properties": len(additions.properties),
        "comments": len(additions.comments),
        "names": len(additions.names),
    }
    if json:
        print_json(summary | counts)
        return
    singulars = {"properties": "property", "comments": "comment", "names": "name"}
    parts = (
        f"{count} {singulars[kind] if count == 1 else kind}"
        for kind, count in counts.items()
        if count
    )
    target = summary.get("name") or summary.get("file")
    size = (
        f"{summary['triples']:,} triples"
        if "triples" in summary
        else f"{summary['added']:,} new triples"
    )
    typer.echo(f"{target}: {', '.join(parts) or 'nothing'} added; {size}", err=True)


def _require_not(wrong: object, message: str) -> None:
    if wrong:
        raise SetupError(message)


def _load_additions(
    workspace: Workspace,
    name: str,
    file: Path | None,
    flags: dict[str, bool],
    drafts: DraftOptions,
    progress: Progress,
) -> Definitions:
    if file is not None:
        file_definitions = read_definitions(file)
        return file_definitions.select(**flags) if any(flags.values()) else file_definitions
    if flags["comments"] and not (drafts.model or drafts.base_url):
        raise SetupError("comments come from a file (--definitions) or a language model (--model)")
    kinds: list[AdviceKind] = []
    kinds += ["declared", "inverse"] if flags["inverse"] else []
    kinds += ["chain", "closure", "nary"] if flags["shortcuts"] else []
    kinds += ["name"] if flags["names"] else []
    additions = (
        Definitions()
        if flags["comments"] and not kinds
        else enrichment.build_advised_definitions(workspace, name, kinds, progress=progress)
    )
    if flags["comments"]:
        additions = enrichment.draft_missing_comments(
            workspace, name, additions, model=drafts.model, base_url=drafts.base_url,
            budget=drafts.limits, progress=progress,
        )  # fmt: skip
    if not additions:
        raise SetupError(
            f"nothing to add to {name!r} was found; see: askgraph advise {name}, or give "
            "--definitions FILE"
        )
    return additions


def advise(
    common: CommonOptions, name: str | None = None, definitions: bool = False, json: bool = False
) -> None:
    """Suggest what to add to a graph so that it answers more questions: shortcuts, inverses, words.

    'askgraph enrich NAME --virtual' adds the marked ones. The definitions can be edited and
    given to 'askgraph enrich NAME --definitions FILE'.
    """
    workspace = common.workspace
    with show_progress() as progress:
        advice_list = enrichment.find_advice(workspace, name, progress=progress)
        additions = enrichment.build_advised_definitions(
            workspace, name, tuple(ADVICE_KINDS), progress=progress
        )
    if json:
        print_json([_to_object(advice) for advice in advice_list])
    elif definitions:
        typer.echo(format_definitions(additions), nl=False)
    else:
        rows = [
            (
                "*" if advice.default else "",
                advice.kind,
                ADVICE_KINDS[advice.kind],
                advice.definition.label if isinstance(advice.definition, DefinedProperty) else "",
                advice.why,
            )
            for advice in advice_list
        ]
        print_blocks([build_table(("", "kind", "helps", "label", "why"), rows)])
        if not advice_list:
            typer.echo("found nothing to add", err=True)


def _to_object(advice: Advice) -> dict[str, object]:
    content: dict[str, object] = {
        "kind": advice.kind,
        "about": list(advice.about),
        "why": advice.why,
        "helps": ADVICE_KINDS[advice.kind],
        "default": advice.default,
    }
    if isinstance(advice.definition, DefinedProperty):
        definition = advice.definition
        content |= {
            "property": definition.iri,
            "path": to_text(definition.path),
            "label": definition.label,
        }
    return content
