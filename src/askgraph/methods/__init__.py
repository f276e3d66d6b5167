"""The one contract of all methods: a question goes in, a stream of steps comes out.

Settings that make no sense are refused when a method is made, not when it runs.

What lives here: a module or package for each method, `tools` (functions that a model may call),
`shared` (what several methods have in common) and `writing` (queries from references). No method
imports another. May import: `answers` and the rooms below it. Start reading at `Method`, then
`graph_search.py`.
"""

import asyncio
import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from askgraph.deadline import Deadline, keeping, over
from askgraph.errors import SetupError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.trace import Answer, Clarification, Option, Question, Refusal, Step, spent


class Method(Protocol):
    """A frozen dataclass whose fields are its settings.

    `answer` yields steps and ends with exactly one `Answer`, `Clarification` or `Refusal`. It never
    raises for a strange question; it raises `ServiceError` if the graph cannot be reached.

    One whose `model` does no more than say the answer in words has a class attribute `only_words`.

    A method that searches the indices of its graphs says so by a class attribute `searches`, one
    that looks at the earlier questions of a conversation by `converses`, each True.

    One that can be made but not asked as it is set up says why by a text `missing`.

    A field `seconds` is what a question may take; see `in_time`.

    One that asks further models has them by name in a field `further`, one that consults other
    methods has those in a field `others`; the settings `models` and `consult` name them.

    One that follows a paper has the paper's settings in a class attribute `published`; see
    `with_presets`.
    """

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer one question over one graph or several."""
        ...


@dataclass(frozen=True)
class Confirming:
    """A method that is asked only if no answer to the same question was confirmed or taught."""

    method: Method

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        """Give the answer that was confirmed, as the graph has it now; else the method's steps."""
        if any(graph.examples or graph.glossary for graph in graphs):
            # Late: most graphs have neither, and need none of what runs these.
            from askgraph.methods.shared.confirmed import confirmed_steps

            async with aclosing(confirmed_steps(question, graphs)) as known:
                async for step in known:
                    yield step
                    if isinstance(step, Answer):
                        return
        steps = self.method.answer(question, graphs)
        try:
            async for found in steps:
                yield found
        finally:
            if isinstance(steps, AsyncGenerator):
                await steps.aclose()


async def in_time(
    method: Method,
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    *,
    seconds: float | None = None,
) -> AsyncGenerator[Step, None]:
    """Give the steps of a method, within its own `seconds`, or within those given if it has none.

    What is left of them bounds each request and each call of a model. A method ends early with the
    best that it found; one that has not ended by then has refused.
    """
    own = getattr(bare(method), "seconds", None)
    allowed = seconds if own is None else own
    kept = None if allowed is None else Deadline(allowed)
    stream = method.answer(question, graphs)
    seen: list[Step] = []
    try:
        while True:
            with keeping(kept):
                clock = asyncio.timeout(kept.left if kept else None)
                try:
                    async with clock:
                        step = await anext(stream, None)
                except (TimeoutError, TimedOut):
                    if kept is None or kept.left > kept.closing:
                        raise
                    cost = replace(spent(seen), seconds=kept.seconds)
                    step = Refusal(f"No answer was found: {over()}.", usage=cost)
            if step is None:
                return
            seen.append(step)
            yield step
            if isinstance(step, Refusal):
                return
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def with_own_predicates(step: Step, graphs: Sequence[KnowledgeGraph]) -> Step:
    """Return an outcome with its queries written out over the graph's own predicates.

    So they run wherever the graph lies. Other steps show what the method did, and stay.
    """
    if not any(graph.virtual for graph in graphs):
        return step
    match step:
        case Answer():
            return _answer(step, graphs)
        case Refusal(best=Answer() as best):
            return replace(step, best=_answer(best, graphs))
        case Clarification():
            attempt = step.best
            name = attempt.graph if attempt else graphs[0].name
            options = tuple(
                Option(one.words, one.count, _written(one.query, name, graphs))
                for one in step.options
            )
            return replace(
                step, options=options, best=_answer(attempt, graphs) if attempt else None
            )
        case _:
            return step


def _answer(answer: Answer, graphs: Sequence[KnowledgeGraph]) -> Answer:
    return replace(answer, query=_written(answer.query, answer.graph, graphs))


def _written(query: str, name: str, graphs: Sequence[KnowledgeGraph]) -> str:
    for graph in graphs:
        if graph.name == name:
            from askgraph.sparql.rewrite.virtual import written_out  # few graphs are enriched

            return written_out(query, graph.virtual, prefixes=graph.prefixes.namespaces)
    return query


def bare(method: Method) -> Method:
    """Return the method itself, without what is looked for before it is asked."""
    return method.method if isinstance(method, Confirming) else method


def with_others(method: Method) -> list[Method]:
    """Return the method itself, and those that it consults."""
    own = bare(method)
    return [own, *map(bare, _mapped(own, "others"))]


def without_fallback(method: Method, settings: Collection[str] = ()) -> Method:
    """Return a method that fails if its model does, unless the `settings` given have `fallback`.

    What graph search alone makes of a question must not count as what a model made of it.
    """
    if "fallback" in settings or not getattr(method, "fallback", False):
        return method
    plugin: Any = method
    return cast("Method", replace(plugin, fallback=False))


def searches(method: Method) -> bool:
    """Whether a method, or one that it consults, searches the indices of its graphs."""
    return _says(method, "searches")


def wants_links(method: Method) -> bool:
    """Whether a method is to be told which entities and relations a question is about.

    It, or one that it consults, has a setting `links`, `entities` or `predicates`, which is
    `given`. Only an evaluation, which knows them from gold, and who asks with `Question.given` can
    tell it.
    """
    return any(
        getattr(one, setting, None) == "given"
        for one in with_others(method)
        for setting in ("links", "entities", "predicates")
    )


def converses(method: Method) -> bool:
    """Whether a method, or one that it consults, looks at what was asked before."""
    return _says(method, "converses")


async def closed(method: Method) -> None:
    """Close the language models of a method and of those that it consults, each once."""
    models = [
        model
        for one in with_others(method)
        for model in (getattr(one, "model", None), *_mapped(one, "further"))
        if isinstance(model, LanguageModel)
    ]
    for model in {id(model): model for model in models}.values():
        await model.close()


def _says(method: Method, attribute: str) -> bool:
    return any(getattr(type(one), attribute, False) is True for one in with_others(method))


def _mapped(method: Method, field: str) -> Iterable[Any]:
    """What a field that names objects holds; nothing if a method has no such field."""
    held = getattr(method, field, None)
    return held.values() if isinstance(held, Mapping) else ()


PRESETS = ("best", "paper")
"""Tables of settings: our defaults, and those of the paper that a method follows."""
_Plugin = TypeVar("_Plugin", bound=type)


class Departure(NamedTuple):
    """A setting of a paper that is not our default: its value there, and the place that says so."""

    value: object
    place: str


@dataclass(frozen=True)
class Published:
    """A method as its `paper` has it: the settings by name, and what no setting brings back."""

    paper: str
    settings: Mapping[str, Departure]
    otherwise: tuple[str, ...] = ()


def with_presets(plugin: _Plugin) -> _Plugin:
    """Give a dataclass with a field `preset` the settings of that preset, if none are given.

    Making one raises `SetupError` for a preset that there is not.
    """
    plain: Any = plugin
    made, names = (
        plain.__init__,
        [one.name for one in fields(plugin) if one.init and not one.kw_only],
    )

    @wraps(made)
    def init(self: object, *given: object, **settings: object) -> None:
        known = {**dict(zip(names, given, strict=False)), **settings}
        made(self, **preset_settings(plugin, known.get("preset", PRESETS[0])) | known)

    plain.__init__ = init
    return plugin


def preset_settings(plugin: object, preset: object) -> dict[str, object]:
    """Return what a preset sets other than the defaults; `SetupError` if there is no such one."""
    if preset not in PRESETS:
        raise SetupError(f"'preset' is one of {', '.join(PRESETS)}, not {preset!r}")
    published = getattr(plugin, "published", None)
    if published is None or preset == PRESETS[0]:
        return {}
    return {name: one.value for name, one in published.settings.items()}


def help_of(plugin: Any) -> dict[str, str]:
    """Return what each setting of a method does, by the `Attributes:` of its docstrings."""
    found: dict[str, str] = {}
    for base in reversed(plugin.__mro__):
        told = inspect.cleandoc(base.__dict__.get("__doc__") or "").partition("Attributes:\n")[2]
        for name, text in re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", told, re.MULTILINE):
            found[name] = " ".join(text.split())
    return found


def asks_model(plugin: object, settings: Mapping[str, object]) -> bool:
    """Return whether a method asks a language model as it is set, by what its `asks` says.

    That has the values, of settings, also those of a preset, with which it does.
    """
    asks: Mapping[str, tuple[object, ...]] = getattr(plugin, "asks", {})
    known = {**preset_settings(plugin, settings.get("preset", PRESETS[0])), **settings}
    return any(known.get(name) in values for name, values in asks.items())


def check_words(method: object) -> None:
    """Raise `SetupError` for a setting `interpret` without a `model`."""
    if getattr(method, "interpret", False) and getattr(method, "model", None) is None:
        raise SetupError("interpret=true needs a language model: name one with 'model'")
