"""`askgraph examples`: store, check, generate and convert questions with their queries."""

import asyncio
import re
import sys
from collections import Counter
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

import typer

from askgraph.answers.console import format_count
from askgraph.cli import CommandGroup
from askgraph.cli.figures import format_table
from askgraph.cli.output import (
    CommonOptions,
    DraftOptions,
    is_terminal,
    print_blocks,
    print_json,
    show_progress,
)
from askgraph.cli.query import read_query_argument
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample, Wording
from askgraph.graph.examples.folder import StoredExample
from askgraph.trace import Clarification, Draft, Trace
from askgraph.trace.codec import read_trace
from askgraph.workspace import Workspace
from askgraph.workspace.examples import (
    Lesson,
    LessonEffect,
    confirm_example,
    keep_lesson,
    list_stored,
    preview_lessons,
    propose_lessons,
    read_traced_example,
)
from askgraph.workspace.examples import check_examples as check_kept
from askgraph.workspace.examples import convert_examples as converted
from askgraph.workspace.examples import withdraw_example as withdraw_kept
from askgraph.workspace.generation import GeneratedExamples, create_rephraser
from askgraph.workspace.generation import generate_examples as generated
from askgraph.workspace.graphs import run_and_close

EXAMPLES_EXIT_CODE = 1

examples = CommandGroup()


@examples.command("add")
def add(
    common: CommonOptions,
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
    """Confirm that a query answers a question, and store both with the current result."""
    example, traced_graph = _build_example(" ".join(question or ()), query, trace, lang)
    example = _extend_example(example, also or [], keyword or [])
    with show_progress() as progress:
        workspace, name = common.workspace, graph or traced_graph
        stored_example = confirm_example(
            workspace, example, name, by=by, timeout=timeout, progress=progress
        )
    confirmation = stored_example.example.confirmation
    assert confirmation is not None
    if json:
        print_json(_to_example_object(confirmation.graph, stored_example))
    else:
        rows = format_count(confirmation.rows, "row")
        typer.echo(f"{stored_example.id}: confirmed with {rows}, in {stored_example.path}")


@examples.command("correct")
def correct(
    common: CommonOptions,
    trace: Path,
    query: str | None = None,
    reading: int | None = None,
    keep: list[int] | None = None,
    yes: bool = False,
    by: str | None = None,
    json: bool = False,
) -> None:
    """Propose lessons of a corrected answer, show their effects, and store the chosen ones.

    A lesson is a word with its meaning, or the question with its query. Its effect is shown first:
    graph search answers up to 200 confirmed questions with it and without it.
    """
    run, head = read_trace(trace)
    if (query is None) == (reading is None):
        raise SetupError("give either the right query with --query or the number of a --reading")
    outcome = run.outcome
    if isinstance(outcome, Clarification) and outcome.options:
        readings = [option.query for option in outcome.options]
    else:
        readings = [step.query for step in run.steps if isinstance(step, Draft)]
    if reading is not None and reading > len(readings):
        raise SetupError(f"{str(trace)!r} has {format_count(len(readings), 'reading')}")
    chosen = readings[reading - 1] if reading else read_query_argument(query or "")
    names = {getattr(outcome, "graph", ""), *(state.name for state in head.graphs)} - {""}
    graph = common.workspace.graph(getattr(outcome, "graph", None) or min(names, default=None))
    run_and_close(
        graph,
        offer_lessons(
            common.workspace, graph, run, chosen, keep=keep or [], yes=yes, by=by, json=json
        ),
    )


async def offer_lessons(
    workspace: Workspace,
    graph: KnowledgeGraph,
    run: Trace,
    query: str,
    *,
    keep: list[int] | None = None,
    yes: bool = False,
    by: str | None = None,
    json: bool = False,
) -> None:
    """Print the lessons of a correction with their effects, and store those that the user keeps."""
    lessons = propose_lessons(run, query, graph)
    with show_progress() as progress:
        method = workspace.method()
        effects = await preview_lessons(lessons, graph, graph.examples, method, progress=progress)
    numbers = list(keep or ())
    if yes:
        numbers += [
            number
            for number, (lesson, effect) in enumerate(zip(lessons, effects, strict=True), start=1)
            if effect.corrects
            and not effect.worsened
            and (lesson.entry is None or effect.improved)  # a word may mean this here only
        ]
    texts = [_describe_lesson(lesson, graph) for lesson in lessons]
    if not json:
        print_blocks(
            format_table(_EFFECT_HEADERS, [*map(_to_effect_row, count(1), texts, effects)])
        )
        for number, effect in enumerate(effects, start=1):
            for question in effect.worsened:
                typer.echo(f"{number} makes wrong: {question}")
        if not (numbers or yes) and is_terminal() and sys.stdin.isatty():
            reply = typer.prompt(
                f"Keep which (1-{len(lessons)}, Enter for none)", default="", show_default=False
            )
            numbers = [int(number) for number in re.findall(r"\d+", reply)]
    if unknown := {*numbers} - {*range(1, len(lessons) + 1)}:
        raise SetupError(f"there is no lesson {min(unknown)}: choose from 1 to {len(lessons)}")
    for number in dict.fromkeys(numbers):
        await asyncio.to_thread(keep_lesson, workspace, graph.name, lessons[number - 1], by=by)
        typer.echo(f"learned: {texts[number - 1]}", err=True)
    if json:
        print_json(
            [
                {
                    "lesson": text,
                    "word": lesson.entry.word if lesson.entry else None,
                    "means": list(lesson.entry.means) if lesson.entry else [],
                    "definition": lesson.entry.definition.to_table() if lesson.entry else {},
                    "question": lesson.example.question,
                    "query": lesson.example.query,
                    "effect": asdict(effect),
                    "kept": number in numbers,
                }
                for number, (text, lesson, effect) in enumerate(
                    zip(texts, lessons, effects, strict=True), start=1
                )
            ]
        )


_EFFECT_HEADERS = (
    "no", "lesson", "corrects it", "become right", "become wrong", "unchanged", "not tried"
)  # fmt: skip


def _describe_lesson(lesson: Lesson, graph: KnowledgeGraph) -> str:
    if lesson.entry is None:
        return f"{lesson.example.question!r} is answered by this query"
    meaning = lesson.entry.definition.pattern or graph.prefixes.shorten(lesson.entry.means[0])
    return f"{lesson.entry.word!r} means {meaning}"


def _to_effect_row(number: int, text: str, effect: LessonEffect) -> tuple[str, ...]:
    counts = (
        len(effect.improved), len(effect.worsened), effect.right + effect.wrong, effect.untried
    )  # fmt: skip
    return (str(number), text, "yes" if effect.corrects else "no", *map(str, counts))


@examples.command("list")
def list_examples(common: CommonOptions, graph: str | None = None, json: bool = False) -> None:
    """List the stored examples of the workspace, with the results of their queries."""
    stored_examples = list_stored(common.workspace, graph)
    if json:
        print_json([_to_example_object(name, item) for name, item in stored_examples])
        return
    if not stored_examples:
        typer.echo("No examples yet; create some with askgraph examples add or generate.", err=True)
        return
    headers = ("graph", "id", "question", "origin", "rows", "since")
    rows = [
        (name, item.id, item.example.question, item.example.origin, *_format_result(item.example))
        for name, item in stored_examples
    ]
    print_blocks(format_table(headers, rows))


@examples.command("check")
def check(
    common: CommonOptions, graph: str | None = None, timeout: float = 60.0, json: bool = False
) -> None:
    """Run all stored queries again and report results that differ from the confirmed ones."""
    with show_progress() as progress:
        checked = check_kept(common.workspace, graph, timeout=timeout, progress=progress)
    drifted = [item for item in checked if item.status not in ("same", "not compared")]
    if json:
        print_json(
            [
                {
                    "graph": item.graph,
                    "id": item.stored.id,
                    "question": item.stored.example.question,
                    "status": item.status,
                    "detail": item.detail,
                }
                for item in checked
            ]
        )
    else:
        rows = [(item.graph, item.stored.id, item.status, item.detail) for item in checked]
        if differing_rows := [row for row in rows if row[2] != "same"]:
            print_blocks(format_table(("graph", "id", "status", "detail"), differing_rows))
        counts = Counter(example.status for example in checked)
        text = ", ".join(f"{n} {status}" for status, n in counts.items()) or "nothing to check"
        typer.echo(f"{format_count(len(checked), 'example')}: {text}", err=not checked)
    if drifted:
        raise typer.Exit(EXAMPLES_EXIT_CODE)


@examples.command("withdraw")
def withdraw(
    common: CommonOptions, which: str, graph: str | None = None, json: bool = False
) -> None:
    """Withdraw an example, so that no answer or training uses it any more."""
    name, withdrawn = withdraw_kept(common.workspace, which, graph)
    if json:
        print_json(_to_example_object(name, withdrawn))
    else:
        typer.echo(f"{withdrawn.id} ({name}) is withdrawn: {withdrawn.example.question}")


@examples.command("generate")
def generate(
    common: CommonOptions,
    drafts: DraftOptions,
    graph: str | None = None,
    number: int = 20,
    seconds: float = 60.0,
    seed: int = 0,
    lang: list[str] | None = None,
    invent: bool = False,
    json: bool = False,
) -> None:
    """Generate examples for a graph that has none, marked as generated."""
    workspace = common.workspace
    languages = lang or []
    if drafts.model is None:
        values_by_option = {
            "--base-url": drafts.base_url,
            "--lang": languages,
            "--invent": invent,
            "--budget": drafts.budget,
        }
        if unused_options := [name for name, value in values_by_option.items() if value]:
            raise SetupError(
                f"{' and '.join(unused_options)}: add --model, which words or invents questions"
            )
        worder = None
    else:
        worder = create_rephraser(
            workspace,
            drafts.model,
            base_url=drafts.base_url,
            languages=languages or ["en"],
            budget=drafts.limits,
        )
    with show_progress() as progress:
        result = generated(
            workspace, graph, number=number, seconds=seconds, seed=seed, rephraser=worder,
            invent=invent, progress=progress,
        )  # fmt: skip
    if json:
        print_json(_to_generated_object(result))
    else:
        lines = [" / ".join(wording.text for wording in item.wordings) for item in result.examples]
        worded = sum(bool(item.confirmation and item.confirmation.by) for item in result.examples)
        kept_text = f"kept {len(result.examples)} of {format_count(result.drafted, 'draft')}"
        model_text = f", {worded} in a model's words" if worded else ""
        questions = "".join(f"{line}\n" for line in lines)
        summary = f"{result.graph}: {kept_text}{model_text}; {result.ended}"
        typer.echo(questions, nl=False)
        typer.echo(summary, err=True)
    if not result.examples:
        raise typer.Exit(EXAMPLES_EXIT_CODE)


@examples.command("convert")
def convert(
    common: CommonOptions, source: str, target: Path, format: str | None = None, json: bool = False
) -> None:
    """Write examples from any source as SHACL executables in Turtle, or as lines of JSON."""
    with show_progress() as progress:
        collection, faults = converted(
            common.workspace, source, target, format=format, progress=progress
        )
    if json:
        fault_objects = [{"place": position, "reason": reason} for position, reason in faults]
        print_json({"examples": len(collection.examples), "faults": fault_objects})
        return
    for position, reason in faults:
        typer.echo(f"{position}: {reason}", err=True)
    typer.echo(f"{format_count(len(collection.examples), 'example')} in {target}")


def _build_example(
    question: str, query: str | None, trace: Path | None, language: str | None
) -> tuple[QueryExample, str | None]:
    if (query is None) == (trace is None):
        raise SetupError("give either a query with --query or a recorded run with --trace")
    if trace is not None:
        example, graph = read_traced_example(trace)
        question, language = question or example.question, language or example.language
        return replace(example, question=question, language=language), graph
    if not question:
        raise SetupError("give the question that the query answers")
    return QueryExample(question, read_query_argument(query or ""), language), None


def _extend_example(example: QueryExample, also: list[str], keywords: list[str]) -> QueryExample:
    """Return the example with further wordings, such as `de:Welche Monde …`, and keywords."""
    wordings = []
    for text in also:
        match = re.match(r"([a-z]{2,3}(?:-[A-Za-z0-9]+)*):(.*)", text, re.DOTALL)
        tag, words = match.groups() if match else (None, text)
        if not words.strip():
            raise SetupError(f"--also {text!r} has no words: write it as 'de:Welche Monde …'")
        wordings.append(Wording(words.strip(), tag))
    return replace(example, others=tuple(wordings), keywords=tuple(keywords))


def _to_example_object(graph: str, example: StoredExample) -> dict[str, object]:
    return {
        "graph": graph,
        "id": example.id,
        "file": str(example.path),
        "form": example.example.form,
    } | asdict(example.example)


def _to_generated_object(result: GeneratedExamples) -> dict[str, object]:
    examples = [
        {
            "question": example.question,
            "language": example.language,
            "others": [asdict(wording) for wording in example.others],
            "sparql": example.query,
            "by": example.confirmation.by if example.confirmation else None,
        }
        for example in result.examples
    ]
    heads = {"graph": result.graph, "drafts": result.drafted, "ended": result.ended}
    return {**heads, "examples": examples}


def _format_result(example: QueryExample) -> tuple[str, str]:
    confirmation = example.confirmation
    return (f"{confirmation.rows:,}", confirmation.when[:10]) if confirmation else ("", "")
