"""`askgraph examples`: questions with their queries, kept, checked again, made and converted."""

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.bundles import Commands
from askgraph.cli.example_arguments import asked_example, with_more, worder
from askgraph.cli.example_rows import (
    as_table,
    converted_object,
    counted,
    example_object,
    generated_lines,
    generated_object,
    in_numbers,
    result_cells,
    verdict_object,
)
from askgraph.cli.options import BaseUrlOption, Common, GraphOption, JsonOption, LangOption
from askgraph.cli.progress import progress_bar
from askgraph.cli.tables import print_json, show
from askgraph.workspace.example_files import convert as converted
from askgraph.workspace.examples import check as check_kept
from askgraph.workspace.examples import confirm, stored
from askgraph.workspace.examples import withdraw as withdraw_kept
from askgraph.workspace.generating import generate as generated

__all__ = ["examples"]

DRIFTED = 1

examples = Commands()


@examples.command("add")
def add(
    common: Common,
    question: Annotated[
        list[str] | None, typer.Argument(metavar="[QUESTION]...", help="As people ask it.")
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query", "-q", metavar="SPARQL", help="What answers it; @FILE reads it, - from stdin."
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Question and query of a run kept by 'ask --trace'."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Another wording, as 'de:Welche Monde …'; repeatable."),
    ] = None,
    keyword: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="What it is about; repeatable.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who confirms it; shown with the answer.")
    ] = None,
    graph: GraphOption = None,
    lang: LangOption = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", help="For the query.")
    ] = 60.0,
    json: JsonOption = False,
) -> None:
    """Confirm that a query answers a question: both are kept, with what the query gives now.

    The next time that somebody asks the same, it is the answer, and no method is asked. The
    query is run first; one that fails is not kept. A question that is there gets the new query.
    """

    example, traced = asked_example(" ".join(question or ()), query, trace, lang)
    example = with_more(example, also or [], keyword or [])
    with progress_bar() as progress:
        place, name = common.workspace, graph or traced
        kept = confirm(place, example, name, by=by, timeout=timeout, progress=progress)
    confirmation = kept.example.confirmation
    assert confirmation is not None
    if json:
        print_json(example_object(confirmation.graph, kept))
    else:
        rows = counted(confirmation.rows, "row")
        typer.echo(f"{kept.id}: confirmed with {rows}, in {kept.path}")


@examples.command("list")
def list_(
    common: Common,
    graph: GraphOption = None,
    json: JsonOption = False,
) -> None:
    """List the examples that the workspace keeps, with what their queries gave."""

    found = stored(common.workspace, graph)
    if json:
        print_json([example_object(name, one) for name, one in found])
        return
    if not found:
        typer.echo("No examples are kept; askgraph examples add and generate make some.", err=True)
        return
    heads = ("graph", "id", "question", "origin", "rows", "since")
    rows = [
        (name, one.id, one.example.question, one.example.origin, *result_cells(one.example))
        for name, one in found
    ]
    show(as_table(heads, rows))


@examples.command("check")
def check(
    common: Common,
    graph: GraphOption = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", help="For each query.")
    ] = 60.0,
    json: JsonOption = False,
) -> None:
    """Run all kept queries again and say whose results are no longer what was confirmed.

    Exit code 1 where a result changed, a query fails or a graph is gone.
    """

    with progress_bar() as progress:
        found = check_kept(common.workspace, graph, timeout=timeout, progress=progress)
    bad = [one for one in found if one.status not in ("same", "not compared")]
    if json:
        print_json([verdict_object(one) for one in found])
    else:
        rows = [(one.graph, one.stored.id, one.status, one.detail) for one in found]
        if differing := [row for row in rows if row[2] != "same"]:
            heads = ("graph", "id", "now", "how")
            show(as_table(heads, differing))
        typer.echo(f"{counted(len(found), 'example')}: {in_numbers(found)}", err=not found)
    if bad:
        raise typer.Exit(DRIFTED)


@examples.command("withdraw")
def withdraw(
    common: Common,
    which: Annotated[str, typer.Argument(metavar="ID", help="An id, an IRI, or the question.")],
    graph: GraphOption = None,
    json: JsonOption = False,
) -> None:
    """Take an example away, so that nothing is answered by it or learnt from it any more."""

    name, gone = withdraw_kept(common.workspace, which, graph)
    if json:
        print_json(example_object(name, gone))
    else:
        typer.echo(f"{gone.id} ({name}) is withdrawn: {gone.example.question}")


@examples.command("generate")
def generate(
    common: Common,
    graph: GraphOption = None,
    number: Annotated[int, typer.Option(min=1, metavar="N", help="Examples at most.")] = 20,
    seconds: Annotated[float, typer.Option(min=0.1, metavar="S", help="Time for all.")] = 60.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Another one gives other examples.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Words the questions: a [models.NAME] table of askgraph.toml, or a model id.",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    lang: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A language that the model words them in; repeatable."),
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT=N", help="Stop the model at so many calls, tokens or money."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make examples of a graph that has none, marked as generated.

    A question is made from a template, with its query. It is kept where the query gives a result
    and graph search, told only the question, finds the same. With --model it is worded anew, and
    read again. Exit code 1 where none was kept.
    """

    place = common.workspace
    words = worder(place, model, base_url, lang or [], budget or [])
    with progress_bar() as progress:
        made = generated(
            place, graph, number=number, seconds=seconds, seed=seed, worder=words,
            progress=progress,
        )  # fmt: skip
    if json:
        print_json(generated_object(made))
    else:
        questions, said = generated_lines(made)
        typer.echo(questions, nl=False)
        typer.echo(said, err=True)
    if not made.examples:
        raise typer.Exit(DRIFTED)


@examples.command("convert")
def convert(
    common: Common,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A file, folder, archive, URL or graph's name."),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="A new folder, or a .ttl or .jsonl file.")
    ],
    format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Of the source, where it cannot be told.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write examples from any source as SHACL executables in Turtle, or as lines of JSON.

    A folder gets one file an example and prefixes.ttl. What is no example, and queries that do not
    parse, are listed on standard error.
    """

    with progress_bar() as progress:
        found, faults = converted(
            common.workspace, source, target, format=format, progress=progress
        )
    if json:
        print_json(converted_object(found, faults))
        return
    for place, reason in faults:
        typer.echo(f"{place}: {reason}", err=True)
    typer.echo(f"{counted(len(found.examples), 'example')} in {target}")
