"""`askgraph advise`: which representation of a graph would help, and why."""

import typer

from askgraph.answers.console import listing
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.graph.advice import ADVICE_KINDS, Advice
from askgraph.graph.definitions import DefinedProperty, definitions_text
from askgraph.sparql.write import text_of
from askgraph.workspace.enrichment import advised, definitions_for


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
        typer.echo(definitions_text(made), nl=False)
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
