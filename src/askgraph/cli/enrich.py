"""`askgraph enrich`, `advise`: predicates, comments and names that a graph only implies."""

from pathlib import Path

import typer

from askgraph.answers.console import listing
from askgraph.cli.options import Common, Drafting
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.errors import SetupError
from askgraph.graph.advice import ADVICE_KINDS, Advice, AdviceKind
from askgraph.graph.definitions import (
    DefinedProperty,
    Definitions,
    format_definitions,
    read_definitions,
)
from askgraph.sparql.serializer import text_of
from askgraph.workspace import Progress, Workspace
from askgraph.workspace.enrichment import (
    add_enriched,
    advised,
    definitions_for,
    enrich_virtually,
    with_drafted_comments,
    write_enriched,
)


def enrich(
    common: Common,
    name: str,
    drafts: Drafting,
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
    """Add what a graph only implies: inverses, shortcuts for paths, comments, names of relations.

    With --virtual the graph stays as it is: a query with the new predicates is written out as
    property paths before it runs. Otherwise the new triples go into a file (--out) or a graph of
    their own (--as). Without a kind and without definitions it is what 'askgraph advise' marks.
    """
    if sum([virtual or plain, out is not None, bool(as_name) and not virtual]) != 1:
        raise SetupError(
            "say what to do: --virtual, --out FILE, --as NEWNAME, or --plain to take it away"
        )
    kinds = inverse or shortcuts or comments or names
    _refuse(virtual and plain, "--virtual adds and --plain takes away: give one of them")
    _refuse(plain and (kinds or definitions or as_name), "--plain takes all away: give no other")
    drafting = bool(drafts.model or drafts.base_url or drafts.budget)
    _refuse(drafting and not comments, "--model, --base-url and --budget are for --comments")
    _refuse(drafting and definitions, "comments come from --definitions or --model: give one")
    place = common.workspace
    flags = {"inverse": inverse, "shortcuts": shortcuts, "comments": comments, "names": names}
    with progress_bar() as progress:
        made = Definitions() if plain else _made(place, name, definitions, flags, drafts, progress)
        if virtual or plain:
            profile = enrich_virtually(place, name, made, as_name=as_name, progress=progress)
            told = {"name": as_name or name, "triples": profile.triples}
        elif out is not None:
            added = write_enriched(place, name, made, out, progress=progress)
            told = {"file": str(out), "added": added}
        else:
            profile = add_enriched(place, name, made, str(as_name), progress=progress)
            told = {"name": str(as_name), "triples": profile.triples}
    _tell(told, made, json=json)


def _refuse(wrong: object, said: str) -> None:
    if wrong:
        raise SetupError(said)


def _made(
    place: Workspace,
    name: str,
    file: Path | None,
    flags: dict[str, bool],
    drafts: Drafting,
    progress: Progress,
) -> Definitions:
    """The definitions of a file, or those that are advised, of the kinds that are wanted."""
    if file is not None:
        found = read_definitions(file)
        return found.select(**flags) if any(flags.values()) else found
    if flags["comments"] and not (drafts.model or drafts.base_url):
        raise SetupError("comments come from a file (--definitions) or a language model (--model)")
    kinds: list[AdviceKind] = []
    kinds += ["declared", "inverse"] if flags["inverse"] else []
    kinds += ["chain", "closure", "nary"] if flags["shortcuts"] else []
    kinds += ["name"] if flags["names"] else []
    only = flags["comments"] and not kinds
    made = Definitions() if only else definitions_for(place, name, kinds, progress=progress)
    if flags["comments"]:
        made = with_drafted_comments(
            place, name, made, model=drafts.model, base_url=drafts.base_url,
            budget=drafts.bounds, progress=progress,
        )  # fmt: skip
    if not made:
        raise SetupError(
            f"nothing to add to {name!r} was found; see: askgraph advise {name}, or give "
            "--definitions FILE"
        )
    return made


def _tell(told: dict[str, object], made: Definitions, *, json: bool) -> None:
    counts = {
        "properties": len(made.properties),
        "comments": len(made.comments),
        "names": len(made.names),
    }
    if json:
        print_json(told | counts)
        return
    ones = {"properties": "property", "comments": "comment", "names": "name"}
    parts = (f"{n} {ones[kind] if n == 1 else kind}" for kind, n in counts.items() if n)
    place = told.get("name") or told.get("file")
    size = f"{told['triples']:,} triples" if "triples" in told else f"{told['added']:,} new triples"
    typer.echo(f"{place}: {', '.join(parts) or 'nothing'} added; {size}", err=True)


def advise(
    common: Common, name: str | None = None, definitions: bool = False, json: bool = False
) -> None:
    """Say what to add to a graph so that questions find their way: shortcuts, inverses, words.

    What is marked is what 'askgraph enrich NAME --virtual' adds. The definitions can be edited and
    given to 'askgraph enrich NAME --definitions FILE'.
    """
    place = common.workspace
    with progress_bar() as progress:
        found = advised(place, name, progress=progress)
        made = definitions_for(place, name, tuple(ADVICE_KINDS), progress=progress)
    if json:
        print_json([_plain(one) for one in found])
    elif definitions:
        typer.echo(format_definitions(made), nl=False)
    else:
        rows = [
            (
                "*" if one.default else "",
                one.kind,
                ADVICE_KINDS[one.kind],
                one.definition.label if isinstance(one.definition, DefinedProperty) else "",
                one.why,
            )
            for one in found
        ]
        show([listing(("", "kind", "helps", "label", "why"), rows)])
        if not found:
            typer.echo("nothing to add was found", err=True)


def _plain(one: Advice) -> dict[str, object]:
    plain: dict[str, object] = {
        "kind": one.kind,
        "about": list(one.about),
        "why": one.why,
        "helps": ADVICE_KINDS[one.kind],
        "default": one.default,
    }
    if isinstance(one.definition, DefinedProperty):
        made = one.definition
        plain |= {"property": made.iri, "path": text_of(made.path), "label": made.label}
    return plain
