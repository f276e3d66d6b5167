"""`askgraph describe`: what a graph is about, and what one can ask it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from askgraph.cli.options import Common, JsonOption, LangOption, LimitOption, graph_names
from askgraph.cli.progress import progress_bar
from askgraph.cli.tables import print_json, show
from askgraph.explanation.starters import Examples, examples_of
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.rdf.prefixes import PrefixMap

_SHOWN = 20
_ENDS = 2


def describe(
    common: Common,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", autocompletion=graph_names, help="The graph.")
    ] = None,
    json: JsonOption = False,
    limit: LimitOption = _SHOWN,
    lang: LangOption = None,
) -> None:
    """Show the classes and predicates of a graph, with examples, and questions to start with."""
    with progress_bar() as progress:
        profile, arrays = common.workspace.known(name, progress=progress)
    prefixes = PrefixMap(dict(profile.prefixes))
    examples = examples_of(profile, arrays, prefixes, [lang] if lang else [])
    if json:
        content = asdict(profile)
        for predicate in content["predicates"]:
            predicate["example"] = examples.values.get(predicate["iri"])
        print_json(content | {"questions": examples.questions})
        return
    show(_blocks(profile, prefixes, examples, limit or _SHOWN))


def _blocks(
    profile: Profile, prefixes: PrefixMap, examples: Examples, limit: int
) -> Iterator[RenderableType]:
    yield Text(f"{profile.triples:,} triples from {profile.source}, read {profile.created}")
    if profile.languages:
        yield Text("Languages: " + _counted(profile.languages, 10))
    yield ""
    yield _classes(profile.classes[:limit], prefixes, examples)
    yield from _more(len(profile.classes) - limit, "classes")
    yield ""
    yield _predicates(profile.predicates[:limit], prefixes, examples)
    yield from _more(len(profile.predicates) - limit, "predicates")
    if profile.cuts:
        yield ""
        yield Text("Left out:", style="bold")
        yield from (Text(f"  {cut}") for cut in profile.cuts)
    if examples.questions:
        yield ""
        yield Text("Try:", style="bold")
        yield from (Text(f"  {question}") for question in examples.questions)


def _classes(
    classes: Sequence[ClassProfile], prefixes: PrefixMap, examples: Examples
) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("class")
    table.add_column("instances", justify="right")
    table.add_column("IRI", style="dim", overflow="fold")
    for item in classes:
        label = examples.labels[item.iri] + (" (n-ary)" if item.nary else "")
        table.add_row(Text(label), f"{item.instances:,}", Text(prefixes.shorten(item.iri)))
    return table


def _predicates(
    predicates: Sequence[PredicateProfile], prefixes: PrefixMap, examples: Examples
) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("predicate", overflow="fold")
    table.add_column("triples", justify="right")
    for column in ("of", "gives", "example"):
        table.add_column(column, overflow="fold")
    table.add_column("IRI", style="dim", overflow="fold")
    for item in predicates:
        gives = [_name(iri, prefixes, examples) for iri, _ in item.object_classes]
        gives += [_name(iri, prefixes, examples) for iri, _ in item.datatypes]
        of = [_name(iri, prefixes, examples) for iri, _ in item.subject_classes]
        table.add_row(
            Text(examples.labels[item.iri]),
            f"{item.triples:,}",
            Text(_listed(of)),
            Text(_listed(gives)),
            Text(examples.values.get(item.iri, "")),
            Text(prefixes.shorten(item.iri)),
        )
    return table


def _name(iri: str, prefixes: PrefixMap, examples: Examples) -> str:
    return examples.labels.get(iri) or prefixes.shorten(iri)


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _ENDS
    return ", ".join(names[:_ENDS]) + (f" +{rest}" if rest > 0 else "")


def _counted(pairs: Sequence[tuple[str, int]], most: int) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in pairs[:most])


def _more(rest: int, what: str) -> Iterator[RenderableType]:
    if rest > 0:
        yield Text(f"… and {rest:,} more {what} (--limit)", style="dim")
