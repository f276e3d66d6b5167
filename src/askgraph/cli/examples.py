"""`askgraph examples`: questions with their queries, kept, checked again, made and converted."""

import re
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import typer

from askgraph.answers.console import counted
from askgraph.cli import Commands
from askgraph.cli.figures import as_table
from askgraph.cli.options import Common, Drafting
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.cli.query import text_of_argument
from askgraph.errors import SetupError
from askgraph.graph.examples import QueryExample, Wording
from askgraph.graph.examples.folder import StoredExample
from askgraph.workspace.examples import Checked, confirm, stored, traced_example
from askgraph.workspace.examples import check as check_kept
from askgraph.workspace.examples import convert as converted
from askgraph.workspace.examples import withdraw as withdraw_kept
from askgraph.workspace.generation import Generated, worder_of
from askgraph.workspace.generation import generate as generated

DRIFTED = 1

examples = Commands()


@examples.command("add")
def add(
    common: Common,
    question: list[str] | None = None,
    query: str | None = None,
    trace: Path | None = None,
    also: list[str] | None = None,
    keyword: list[str] | None = None,
    by: str | None = None,
    graph: str | None = None,
    lang: str | None = None,
    timeout: float = 60.0,
    json: bool = False,
) -> None:
    """Confirm that a query answers a question: both are kept, with what the query gives now.

    The next time that somebody asks the same, it is the answer, and no method is asked. The
    query is run first; one that fails is not kept. A question that is there gets the new query.
    """
    example, traced = _asked_example(" ".join(question or ()), query, trace, lang)
    example = _with_more(example, also or [], keyword or [])
    with progress_bar() as progress:
        place, name = common.workspace, graph or traced
        kept = confirm(place, example, name, by=by, timeout=timeout, progress=progress)
    confirmation = kept.example.confirmation
    assert confirmation is not None
    if json:
        print_json(_example_object(confirmation.graph, kept))
    else:
        rows = counted(confirmation.rows, "row")
        typer.echo(f"{kept.id}: confirmed with {rows}, in {kept.path}")


@examples.command("list")
def list_(common: Common, graph: str | None = None, json: bool = False) -> None:
    """List the examples that the workspace keeps, with what their queries gave."""
    found = stored(common.workspace, graph)
    if json:
        print_json([_example_object(name, one) for name, one in found])
        return
    if not found:
        typer.echo("No examples are kept; askgraph examples add and generate make some.", err=True)
        return
    heads = ("graph", "id", "question", "origin", "rows", "since")
    rows = [
        (name, one.id, one.example.question, one.example.origin, *_result_cells(one.example))
        for name, one in found
    ]
    show(as_table(heads, rows))


@examples.command("check")
def check(
    common: Common, graph: str | None = None, timeout: float = 60.0, json: bool = False
) -> None:
    """Run all kept queries again and say whose results are no longer what was confirmed.

    Exit code 1 if a result changed, a query fails or a graph is gone.
    """
    with progress_bar() as progress:
        found = check_kept(common.workspace, graph, timeout=timeout, progress=progress)
    bad = [one for one in found if one.status not in ("same", "not compared")]
    if json:
        print_json([_verdict_object(one) for one in found])
    else:
        rows = [(one.graph, one.stored.id, one.status, one.detail) for one in found]
        if differing := [row for row in rows if row[2] != "same"]:
            heads = ("graph", "id", "now", "how")
            show(as_table(heads, differing))
        typer.echo(f"{counted(len(found), 'example')}: {_in_numbers(found)}", err=not found)
    if bad:
        raise typer.Exit(DRIFTED)


@examples.command("withdraw")
def withdraw(common: Common, which: str, graph: str | None = None, json: bool = False) -> None:
    """Take an example away, so that nothing is answered by it or learnt from it any more."""
    name, gone = withdraw_kept(common.workspace, which, graph)
    if json:
        print_json(_example_object(name, gone))
    else:
        typer.echo(f"{gone.id} ({name}) is withdrawn: {gone.example.question}")


@examples.command("generate")
def generate(
    common: Common,
    drafts: Drafting,
    graph: str | None = None,
    number: int = 20,
    seconds: float = 60.0,
    seed: int = 0,
    lang: list[str] | None = None,
    json: bool = False,
) -> None:
    """Make examples of a graph that has none, marked as generated.

    A question is made from a template, with its query. It is kept if the query gives a result
    and graph search, told only the question, finds the same. With --model it is worded anew, and
    read again. Exit code 1 if none was kept.
    """
    place = common.workspace
    languages = lang or []
    if drafts.model is None:
        given = {"--base-url": drafts.base_url, "--lang": languages, "--budget": drafts.budget}
        if idle := [name for name, value in given.items() if value]:
            raise SetupError(f"{' and '.join(idle)}: for a model that words the questions; --model")
        words = None
    else:
        words = worder_of(
            place,
            drafts.model,
            base_url=drafts.base_url,
            languages=languages or ["en"],
            budget=drafts.bounds,
        )
    with progress_bar() as progress:
        made = generated(
            place, graph, number=number, seconds=seconds, seed=seed, worder=words,
            progress=progress,
        )  # fmt: skip
    if json:
        print_json(_generated_object(made))
    else:
        lines = [" / ".join(wording.text for wording in one.wordings) for one in made.examples]
        worded = sum(1 for one in made.examples if one.confirmation and one.confirmation.by)
        kept = f"kept {len(made.examples)} of {counted(made.drafted, 'draft')}"
        by_model = f", {worded} in a model's words" if worded else ""
        questions, said = (
            "".join(f"{line}\n" for line in lines),
            f"{made.graph}: {kept}{by_model}; {made.ended}",
        )
        typer.echo(questions, nl=False)
        typer.echo(said, err=True)
    if not made.examples:
        raise typer.Exit(DRIFTED)


@examples.command("convert")
def convert(
    common: Common, source: str, target: Path, format: str | None = None, json: bool = False
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
        listed = [{"place": place, "reason": reason} for place, reason in faults]
        print_json({"examples": len(found.examples), "faults": listed})
        return
    for place, reason in faults:
        typer.echo(f"{place}: {reason}", err=True)
    typer.echo(f"{counted(len(found.examples), 'example')} in {target}")


def _asked_example(
    question: str, query: str | None, trace: Path | None, language: str | None
) -> tuple[QueryExample, str | None]:
    """The question with its query, and the graph that a trace names."""
    if (query is None) == (trace is None):
        raise SetupError("give either the query, with --query, or a kept run, with --trace")
    if trace is not None:
        example, graph = traced_example(trace)
        question, language = question or example.question, language or example.language
        return replace(example, question=question, language=language), graph
    if not question:
        raise SetupError("give the question that the query answers")
    return QueryExample(question, text_of_argument(query or ""), language), None


def _with_more(example: QueryExample, also: list[str], keywords: list[str]) -> QueryExample:
    """The example with further wordings, as `de:Welche Monde …`, and with keywords."""
    others = []
    for text in also:
        tagged = re.match(r"([a-z]{2,3}(?:-[A-Za-z0-9]+)*):(.*)", text, re.DOTALL)
        tag, words = tagged.groups() if tagged else (None, text)
        if not words.strip():
            raise SetupError(f"--also {text!r} has no words: write it as 'de:Welche Monde …'")
        others.append(Wording(words.strip(), tag))
    return replace(example, others=tuple(others), keywords=tuple(keywords))


def _example_object(graph: str, one: StoredExample) -> dict[str, object]:
    """An example with its graph, id and file."""
    stored = asdict(one.example)
    return {"graph": graph, "id": one.id, "file": str(one.path), "form": one.example.form} | stored


def _verdict_object(one: Checked) -> dict[str, object]:
    return {
        "graph": one.graph,
        "id": one.stored.id,
        "question": one.stored.example.question,
        "status": one.status,
        "detail": one.detail,
    }


def _generated_object(made: Generated) -> dict[str, object]:
    """The examples that were made, of how many drafts, and why no more."""
    examples = [
        {
            "question": one.question,
            "language": one.language,
            "others": [asdict(wording) for wording in one.others],
            "sparql": one.query,
            "by": one.confirmation.by if one.confirmation else None,
        }
        for one in made.examples
    ]
    return {
        "graph": made.graph, "drafts": made.drafted, "ended": made.ended, "examples": examples,
    }  # fmt: skip


def _result_cells(example: QueryExample) -> tuple[str, str]:
    """How many rows a query gave, and on which day."""
    confirmation = example.confirmation
    return (f"{confirmation.rows:,}", confirmation.when[:10]) if confirmation else ("", "")


def _in_numbers(found: list[Checked]) -> str:
    """How many examples each verdict has."""
    counts = Counter(one.status for one in found)
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing to check"
