"""What the first prompt of each method holds of gold's query, without any model.

    python benchmarks/prompt_recall.py --set sample --cache recall
    python benchmarks/prompt_recall.py --set spider-graphs --sample 3 --cache recall
    python benchmarks/prompt_recall.py --method "guided detail=list" --json

For each question with a gold query: whether all of its classes, predicates (with the direction of
links), things and texts stand in the first prompt in which a model may write a query; whether one
of the candidates there gives the result of gold (see `by_name`), and whether the first one does;
the estimated tokens with tools and schemas; how many of them, without these, begin the prompt of
the question before on the same graph, too; the share of the message, by tokens, in lines that hold
nothing of gold. `looks` is the share of questions for which `guided` asks again a model that takes
the best candidate of those shown. Numbers, dates and truth values come from the question, so that
they count as held; a text that is compared has to be shown in quotes, as it is stored.

The prompts of a graph are kept in the cache when all its questions are done; a cache holds for the
code that made it.
"""

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from multiprocessing import get_context
from os.path import commonprefix
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from pyoxigraph import Literal, NamedNode

from _measure import SECONDS, Listed, gold_of, listed_sets, print_table
from askgraph.answers.verbalize import iris_in
from askgraph.errors import AskgraphError
from askgraph.evaluation import Table
from askgraph.evaluation.by_name import by_name, names_of_things
from askgraph.evaluation.files import json_line, object_in, write_lines
from askgraph.evaluation.questions import GoldQuestion, query_table
from askgraph.evaluation.reports.statistics import bootstrap_interval
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel, Request, User, estimated_input, estimated_tokens
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import Guided
from askgraph.methods.guided.candidates import candidates_of
from askgraph.methods.guided.prompt import REPLY
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.shared.several_graphs import AskedGraphs
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.methods.tools import Limits
from askgraph.sparql import Call, Pattern, Query, Values, walk
from askgraph.sparql.comparison import Cell
from askgraph.sparql.judge import admitted
from askgraph.sparql.parser import read
from askgraph.sparql.vocabulary import RDF_LANG_STRING, XSD_STRING
from askgraph.trace import Findings, ModelTurn, Prompt, Question, Thought
from askgraph.workspace import Workspace

METHODS: dict[str, Callable[..., Method]] = {
    "guided": Guided,
    "grasp": Grasp,
    "sparql-llm": SparqlLlm,
    "dfsl": Dfsl,
    "graf-von-data": GrafVonData,
    "multi-stage": partial(MultiStage, writer="model"),
}
STANDARD = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2001/XMLSchema#")
_NUMBERED = re.compile(r"(\d+)\. ")
_QUERY = re.compile(r"\b(?:SELECT|ASK)\b.*", re.DOTALL)
_DIRECTED = re.compile(r"^ |[→{^?]| has ")  # a line that says which way a predicate leads


@dataclass(frozen=True)
class Seen:
    """What one method shows for one question.

    `missing` are the terms of gold that are not shown, each with its kind; `unused` the tokens of
    lines without anything of gold, of `told` ones. `shared` are those with which the prompt of the
    question before on the same graph begins, too. `numbers` are those of the candidates, `right`
    those that give gold's result. `doubts` are what the model was told when it was asked again.
    """

    set: str
    graph: str
    id: str
    method: str
    tokens: int
    told: int
    unused: int
    missing: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    looks: int = 0
    doubts: list[str] = field(default_factory=list)
    shared: int | None = None


@dataclass(frozen=True)
class Graph:
    """A graph with what its things are called, and the last prompt of each method."""

    graph: KnowledgeGraph
    names: Mapping[str, Set[Cell]]
    told: dict[str, str] = field(default_factory=dict)

    async def gives(self, query: str, gold: Table) -> bool:
        """Whether a query gives the result of gold, things by their names."""
        try:
            prefixes = self.graph.prefixes.namespaces
            endpoint = self.graph.endpoint
            table = await query_table(query, endpoint, prefixes=prefixes, timeout=SECONDS)
        except AskgraphError:
            return False
        return by_name(table, gold, self.names).f1 >= 1 - 1e-9

    def missing(self, query: Query, prompt: str) -> Iterator[list[str]]:
        """Yield the terms of a query that a prompt does not hold, each after its kind."""
        profile = self.graph.profile
        predicates = {one.iri for one in profile.predicates}
        classes = {one.iri for one in profile.classes}
        links = {part.predicate.value for part in walk(query)
                 if isinstance(part, Pattern) and isinstance(part.predicate, NamedNode)
                 and not isinstance(part.object, Literal)}  # fmt: skip
        literal = {one.iri for one in profile.predicates if one.literal}
        for iri in iris_in(query):
            if iri.startswith(STANDARD):
                continue
            name = self.graph.prefixes.shorten(iri)
            lines = [line for line in prompt.splitlines() if holds(line, name)]
            kind = "predicate" if iri in predicates else "class" if iri in classes else "thing"
            if not lines:
                yield [kind, name]
            elif iri in links - literal and not any(map(_DIRECTED.search, lines)):
                yield ["direction", name]
        for text, compared in texts_of(query):
            shown = json.dumps(text, ensure_ascii=False) in prompt
            if not (shown or (not compared and text.lower() in prompt.lower())):
                yield ["text", text]


def holds(line: str, name: str) -> bool:
    """Whether a name stands in a line, not as a part of a longer one."""
    return _pattern_of(name).search(line) is not None


@cache
def _pattern_of(name: str) -> re.Pattern[str]:
    before = "" if name[0] == "<" else r"(?<![\w:#.-])"
    after = "" if name[-1] == ">" else r"(?![\w\\-]|\.[^\W_])"
    return re.compile(f"{before}{re.escape(name)}{after}")


def texts_of(query: Query) -> Iterator[tuple[str, bool]]:
    """Yield the texts in a query, each with whether a value has to be this one."""
    exact = set[Literal]()
    for part in walk(query):
        match part:
            case Pattern(object=Literal() as value):
                exact.add(value)
            case Values(rows=rows):
                exact |= {term for row in rows for term in row if isinstance(term, Literal)}
            case Call(name="=" | "IN" | "!=", arguments=given):
                exact |= {one for one in given if isinstance(one, Literal)}
    for part in dict.fromkeys(one for one in walk(query) if isinstance(one, Literal)):
        if part.value and part.datatype.value in (XSD_STRING, RDF_LANG_STRING):
            yield part.value, part in exact


def candidates_in(prompt: str) -> dict[int, str]:
    """Return the queries of the candidates that a prompt numbers, by their numbers."""
    found: dict[int, list[str]] = {}
    number = 0
    for line in prompt.splitlines():
        if begins := _NUMBERED.match(line):
            found[number := int(begins[1])] = []
        number = number if line else 0
        if number:
            found[number].append(line)
    queries: dict[int, str] = {}
    for key, (head, *lines) in found.items():
        on_head = _QUERY.search(head) if '. "' not in head[:6] else None
        body = [line for line in lines if not line.startswith(("names: ", "   → "))]
        text = on_head[0].split(" # ")[0] if on_head else "\n".join(body)
        with suppress(AskgraphError):
            if not _QUERY.match(text):
                read(text)
            queries[key] = text
    return queries


@dataclass
class Heard:
    """What a method told its model: first, and when it asked again; and what it listed before."""

    prompt: Prompt | None = None
    listed: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    turns: int = 0
    doubts: list[str] = field(default_factory=list)


async def heard(question: Question, of: Graph, name: str, table: Table) -> Heard:
    """Run a method with a model that takes the best candidate of the first prompt.

    Of methods that do not take candidates by their number, only up to the first prompt.
    """
    found = Heard()
    model = ScriptedModel(lambda _: taking((found.right or found.numbers or [0])[0]))
    steps = method_of(name, model).answer(question, [of.graph])
    async with aclosing(steps) as given:  # type: ignore[type-var]
        async for step in given:
            match step:
                case Findings(mentions):
                    found.listed += [of.graph.prefixes.shorten(one.target) for one in mentions]
                case Prompt() if found.prompt is None:
                    found.prompt = step
                    candidates = candidates_in(message_in(step))
                    found.numbers = [*candidates]
                    found.right = [n for n, one in candidates.items() if await of.gives(one, table)]
                    if not name.startswith("guided"):
                        break
                case ModelTurn():
                    found.turns += 1
                case Thought(text) if found.turns:
                    found.doubts.append(text)
    return found


async def seen(gold: GoldQuestion, of: Graph, name: str, set_: str) -> Seen | None:
    """Hold what a model is told first against gold; None if there is no gold, or no prompt."""
    table = await gold_of(gold, of.graph)
    if table is None:
        return None
    query = read(admitted(gold.sparql or "", prefixes=of.graph.prefixes.namespaces).text)
    is_guided = name.startswith("guided")
    if is_guided:
        of = await with_its_prefixes(gold, of)
    told = await heard(Question(gold.text, gold.language), of, name, table)
    if (prompt := told.prompt) is None:
        return None
    shown = message_in(prompt)
    own = "\n".join([shown, *(told.listed if name.startswith("multi-stage") else ())])
    terms = [of.graph.prefixes.shorten(iri) for iri in iris_in(query)]
    terms += [json.dumps(text, ensure_ascii=False) for text, _ in texts_of(query)]
    lines = [line for line in shown.splitlines() if line and not line.startswith("Question: ")]
    unused = [line for line in lines if not any(holds(line, term) for term in terms)]
    schema = REPLY if is_guided else None  # it is sent along with a prompt
    request = Request.of(prompt.messages, {"tools": prompt.tools, "schema": schema})
    whole = "\n".join(getattr(message, "text", "") for message in prompt.messages)
    before, of.told[name] = of.told.get(name), whole
    shared = None
    if before is not None:
        shared = estimated_tokens(commonprefix([before, whole]))  # noqa: RUF071 - they are texts
    return Seen(
        set_, of.graph.name, gold.id, name, estimated_input(request),
        sum(map(estimated_tokens, lines)), sum(map(estimated_tokens, unused)),
        [*of.missing(query, own)], told.numbers, told.right, max(0, told.turns - 1), told.doubts,
        shared,
    )  # fmt: skip


async def with_its_prefixes(gold: GoldQuestion, of: Graph) -> Graph:
    """The graph with those prefixes that `guided` declares for the namespaces of one question."""
    question = Question(gold.text, gold.language)
    found = await candidates_of(question, AskedGraphs.of(question, [of.graph], Limits()), most=0)
    prefixes = found.best.linked.context.graph.prefixes
    return replace(of, graph=replace(of.graph, prefixes=prefixes))


def taking(number: int) -> str:
    """The reply of a model that takes a candidate."""
    return json.dumps({"thought": "", "choose": number, "query": "", "answer": [], "sure": 0.9,
                       "ask": "", "between": []})  # fmt: skip


def message_in(prompt: Prompt) -> str:
    """What the prompt says beside its instruction."""
    return "\n".join(one.text for one in prompt.messages if isinstance(one, User))


def method_of(name: str, model: LanguageModel) -> Method:
    """Return a method by its name, which may be followed by settings: `guided detail=list`."""
    plugin, *settings = name.split()
    told = (one.partition("=") for one in settings)
    return METHODS[plugin](
        model=model, **{key: int(value) if value.isdigit() else value for key, _, value in told}
    )


def seen_of(listed: Listed, name: str, graphs: Path, methods: Sequence[str]) -> list[Seen]:
    """Build a graph if it is not there, and look at the prompts of all questions over it."""
    workspace = Workspace(graphs)
    if name not in workspace.graphs():
        workspace.add(name, listed.files)
    graph = workspace.find(name)

    async def look() -> list[Seen]:
        of = Graph(graph, names_of_things(graph))
        asked = [(gold, method) for gold in listed.questions for method in methods]
        try:
            found = [await seen(gold, of, method, listed.set) for gold, method in asked]
        finally:
            await graph.endpoint.close()
        return [one for one in found if one is not None]

    return asyncio.run(look())


def kept(path: Path, listed: Listed, name: str, graphs: Path, methods: Sequence[str]) -> list[Seen]:
    """Return what a file keeps of a graph, or look and keep it."""
    if not path.is_file():
        write_lines(path, [asdict(one) for one in seen_of(listed, name, graphs, methods)])
    return [Seen(**object_in(line, str(path))) for line in path.read_bytes().splitlines()]


def cells(found: Sequence[Seen]) -> list[str]:
    """The figures of one method on one set."""

    def share(values: Iterable[bool]) -> str:
        of = bootstrap_interval(list(map(float, values)), samples=2_000)
        return f"{of.mean:.1%} [{100 * of.low:.0f}, {100 * of.high:.0f}]"

    told = sum(one.told for one in found)
    shared = [one.shared for one in found if one.shared is not None]
    shown = ["-"] * 3
    if any(one.numbers for one in found):
        rights = (share(bool(one.right) for one in found), share(1 in one.right for one in found))
        shown = [*rights, f"{fmean(len(one.numbers) for one in found):.1f}"]
    is_guided = found[0].method.startswith("guided")
    return [
        str(len(found)),
        share(not one.missing for one in found),
        *shown,
        f"{fmean(one.tokens for one in found):,.0f}",
        f"{fmean(shared):,.0f}" if shared else "-",
        f"{sum(one.unused for one in found) / told:.0%}" if told else "-",
        share(bool(one.looks) for one in found) if is_guided else "-",
    ]


def main() -> None:
    """Measure and print."""
    options = _arguments()
    with TemporaryDirectory() as folder:
        found = measured(options, options.cache or Path(folder))
    if options.json:
        print("\n".join(json_line(asdict(one)).decode().strip() for one in found))
        return
    groups: dict[tuple[str, str], list[Seen]] = {}
    for one in sorted(found, key=lambda one: (one.set, options.method.index(one.method))):
        groups.setdefault((one.set, one.method), []).append(one)
    heads = ["set", "method", "n", "all of gold, 95 %", "gold's result", "by the first",
             "shown", "tokens", "as before", "unused", "looks"]  # fmt: skip
    print_table(heads, *([*key, *cells(own)] for key, own in groups.items()))
    for key, own in groups.items() if options.missing else ():
        lacking = [one for one in own if one.missing]
        kinds = Counter(kind for one in lacking for kind in {k for k, _ in one.missing})
        if kinds:
            print(f"\n{' '.join(key)}: missing", *(f"{k} {n}" for k, n in kinds.most_common()))
        for one in lacking[: options.missing]:
            print(f"  {one.id}: {', '.join(f'{kind} {name}' for kind, name in one.missing)}")


def measured(options: argparse.Namespace, cache: Path) -> list[Seen]:
    """Look at all sets, several graphs at once, the largest first."""
    found: dict[tuple[str, str], list[Seen]] = {}
    wanted = tuple(options.set) or ("sample", "supply-kgrep", "spider4sparql")
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        waiting = {}
        for one in listed_sets(wanted, sample=options.sample):
            name = f"{one.set}-{Path(one.graph).stem}".rstrip("-")
            path = cache / f"{name}.jsonl"
            waiting[pool.submit(kept, path, one, name, cache / "graphs", options.method)] = one
        for job in as_completed(waiting):
            found[waiting[job].set, waiting[job].graph] = job.result()
    return [one for key in sorted(found) for one in found[key]]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--set", action="append", default=[], help="a set; all but spider-graphs if none is named")
    add("--method", action="append", default=[], help="a method, with settings; all if none")
    add("--sample", type=int, metavar="N", help="so many questions of each graph")
    add("--missing", type=int, default=5, metavar="N", help="questions listed of each set")
    add("--jobs", type=int, default=2, help="processes")
    add("--cache", type=Path, metavar="FOLDER", help="what was seen is kept here")
    add("--json", action="store_true", help="a line for each question and method")
    options = parser.parse_args()
    options.method = options.method or [*METHODS]
    return options


if __name__ == "__main__":
    main()
