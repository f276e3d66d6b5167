"""`askgraph describe`: what a graph is about, and what one can ask it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import listing
from askgraph.answers.example_questions import Examples, examples_of
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, progress_bar, show
from askgraph.graph.profile import ClassProfile, Profile
from askgraph.sparql.prefixes import PrefixMap

_SHOWN = 20
_ENDS = 2


def describe(
    common: Common,
    name: str | None = None,
    json: bool = False,
    limit: int | None = _SHOWN,
    lang: str | None = None,
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
        yield Text(
            "Languages: "
            + ", ".join(f"{name} ({count:,})" for name, count in profile.languages[:10])
        )
    if profile.name_search:
        exact = " (no text search was found: exact labels only)"
        plain = exact if profile.name_search == "plain" else ""
        yield Text(
            f"Names that were not read are looked for by the search {profile.name_search!r}{plain}"
        )
    yield ""
    yield _classes(profile.classes[:limit], prefixes, examples)
    yield from _more(len(profile.classes) - limit, "classes")
    yield ""
    predicates = profile.predicates[:limit]

    def listed(pairs: Sequence[tuple[str, int]]) -> str:
        names = [examples.labels.get(iri) or prefixes.shorten(iri) for iri, _ in pairs]
        rest = len(names) - _ENDS
        return ", ".join(names[:_ENDS]) + (f" +{rest}" if rest > 0 else "")

    heads = ("predicate", "triples", "of", "gives", "example", "IRI")
    rows = [
        (
            examples.labels[one.iri],
            f"{one.triples:,}",
            listed(one.subject_classes),
            listed([*one.object_classes, *one.datatypes]),
            examples.values.get(one.iri, ""),
            prefixes.shorten(one.iri),
        )
        for one in predicates
    ]
    yield listing(heads, rows, right=("triples",), dim=("IRI",))
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
    rows = [
        (
            examples.labels[one.iri] + (" (n-ary)" if one.nary else ""),
            f"{one.instances:,}",
            prefixes.shorten(one.iri),
        )
        for one in classes
    ]
    return listing(("class", "instances", "IRI"), rows, right=("instances",), dim=("IRI",))


def _more(rest: int, what: str) -> Iterator[RenderableType]:
    if rest > 0:
        yield Text(f"… and {rest:,} more {what} (--limit)", style="dim")
