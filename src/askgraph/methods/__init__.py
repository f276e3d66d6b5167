"""Define the contract of all methods: a question goes in, a stream of steps comes out.

A method rejects senseless settings when it is constructed, not when it runs.

What lives here: one module or package per method, `tools` (functions that a model may call),
`shared` (code of several methods) and `writing` (queries of listed terms). No method imports
another. May import: `answers` and the rooms below it. Start reading at `Method`, then
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

from askgraph.deadline import Deadline, describe_expiry, use_deadline
from askgraph.errors import SetupError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.trace import Answer, Clarification, Option, Question, Refusal, Step, compute_usage


class Method(Protocol):
    """A frozen dataclass whose fields are its settings.

    `answer` yields steps and ends with exactly one `Answer`, `Clarification` or `Refusal`. It never
    raises for a strange question; it raises `ServiceError` if the graph cannot be reached.

    Optional class attributes describe a method:

        only_words   True if its `model` only verbalizes the answer
        searches     True if it searches the indices of its graphs
        converses    True if it reads the earlier questions of a conversation
        learns       True if the answers of similar examples count beside its own
        published    the settings of the paper that it follows; see `apply_presets`

    Optional fields and properties:

        missing      why the method cannot answer as configured; empty if it can
        seconds      the time limit of a question; see `answer_with_deadline`
        further      more language models by name; the setting `models` or `picker` names them
        others       other methods that it consults, by name; the setting `consult` names them
    """

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one or more graphs."""
        ...


@dataclass(frozen=True)
class ConfirmedAnswerMethod:
    """A method that first looks for a confirmed or taught answer, then asks another method."""

    method: Method

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        """Yield the confirmed answer, run again on the graph, or else the steps of the method."""
        has_examples = any(graph.examples or graph.glossary for graph in graphs)
        if has_examples:
            # Imported late: most graphs have neither.
            from askgraph.methods.shared import confirmed_answers, similar_examples

            async with aclosing(
                confirmed_answers.answer_from_confirmed(question, graphs)
            ) as confirmed:
                async for step in confirmed:
                    yield step
                    if isinstance(step, Answer):
                        return
        steps = self.method.answer(question, graphs)
        if has_examples and getattr(self.method, "learns", False):
            steps = similar_examples.prefer_examples(question, graphs, steps)
        try:
            async for method_step in steps:
                yield method_step
        finally:
            if isinstance(steps, AsyncGenerator):
                await steps.aclose()


async def answer_with_deadline(
    method: Method,
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    *,
    seconds: float | None = None,
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a method, within its time limit.

    The limit is the method's own `seconds`, else the argument. The time left bounds each request
    and each model call. A method ends early with its best answer; if it exceeds the limit, the
    outcome is a refusal.

    Args:
        seconds: the limit of a method without its own; None: no limit.

    Raises:
        ValueError: there is no graph.
    """
    if not graphs:
        raise ValueError("no graph is given: name at least one")
    method_seconds = getattr(unwrap(method), "seconds", None)
    limit_seconds = seconds if method_seconds is None else method_seconds
    question_deadline = None if limit_seconds is None else Deadline(limit_seconds)
    stream = method.answer(question, graphs)
    steps: list[Step] = []
    try:
        while True:
            with use_deadline(question_deadline):
                clock = asyncio.timeout(
                    question_deadline.remaining_seconds if question_deadline else None
                )
                try:
                    async with clock:
                        step = await anext(stream, None)
                except (TimeoutError, TimedOut):
                    if (
                        question_deadline is None
                        or question_deadline.remaining_seconds > question_deadline.closing_seconds
                    ):
                        raise
                    cost = replace(compute_usage(steps), seconds=question_deadline.seconds)
                    step = Refusal(f"{describe_expiry().capitalize()}.", usage=cost)
            if step is None:
                return
            steps.append(step)
            yield step
            if isinstance(step, Refusal):
                return
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def expand_virtual_predicates(step: Step, graphs: Sequence[KnowledgeGraph]) -> Step:
    """Replace virtual predicates in the queries of an outcome by the graph's own predicates.

    The queries then run on any copy of the graph. Other steps show the method's work and stay
    unchanged.
    """
    if not any(graph.virtual_paths for graph in graphs):
        return step
    match step:
        case Answer():
            return _expand_answer(step, graphs)
        case Refusal(best=Answer() as best):
            return replace(step, best=_expand_answer(best, graphs))
        case Clarification():
            attempt = step.best
            name = attempt.graph if attempt else graphs[0].name
            options = tuple(
                Option(option.words, option.count, _expand_query(option.query, name, graphs))
                for option in step.options
            )
            return replace(
                step, options=options, best=_expand_answer(attempt, graphs) if attempt else None
            )
        case _:
            return step


def _expand_answer(answer: Answer, graphs: Sequence[KnowledgeGraph]) -> Answer:
    return replace(answer, query=_expand_query(answer.query, answer.graph, graphs))


def _expand_query(query: str, name: str, graphs: Sequence[KnowledgeGraph]) -> str:
    for graph in graphs:
        if graph.name == name:
            # Few graphs are enriched.
            from askgraph.sparql.rewrite.virtual import expand_virtual_query

            return expand_virtual_query(
                query, graph.virtual_paths, prefixes=graph.prefixes.namespaces
            )
    return query


def unwrap(method: Method) -> Method:
    """Return the method itself, without the lookup of confirmed answers around it."""
    return method.method if isinstance(method, ConfirmedAnswerMethod) else method


def collect_methods(method: Method) -> list[Method]:
    """Return a method followed by the methods that it consults."""
    base_method = unwrap(method)
    return [base_method, *map(unwrap, _get_mapping_values(base_method, "others"))]


def disable_fallback(method: Method, settings: Collection[str] = ()) -> Method:
    """Return a method that fails if its model fails, unless `settings` names `fallback`.

    An evaluation must not count an answer of graph search as an answer of the model.
    """
    if "fallback" in settings or not getattr(method, "fallback", False):
        return method
    plugin: Any = method
    return cast("Method", replace(plugin, fallback=False))


def can_search_indices(method: Method) -> bool:
    """Return whether a method, or one that it consults, searches the indices of its graphs."""
    return _has_flag(method, "searches")


def has_given_links(method: Method) -> bool:
    """Return whether a method expects to be given the entities and relations of a question.

    That is so if the method, or one that it consults, sets `links`, `entities` or `predicates` to
    `given`. They come from `Question.given`, which an evaluation fills from the gold query.
    """
    return any(
        getattr(component, setting, None) == "given"
        for component in collect_methods(method)
        for setting in ("links", "entities", "predicates")
    )


def can_follow_up(method: Method) -> bool:
    """Return whether a method, or one that it consults, reads the earlier questions."""
    return _has_flag(method, "converses")


async def closed(method: Method) -> None:
    """Close the language models of a method and of the methods that it consults, each once."""
    models = [
        model
        for component in collect_methods(method)
        for model in (getattr(component, "model", None), *_get_mapping_values(component, "further"))
        if isinstance(model, LanguageModel)
    ]
    for model in {id(model): model for model in models}.values():
        await model.close()


def _has_flag(method: Method, attribute: str) -> bool:
    return any(
        getattr(type(component), attribute, False) is True for component in collect_methods(method)
    )


def _get_mapping_values(method: Method, field: str) -> Iterable[Any]:
    """Return the values of a field that maps names to objects; empty if there is no such field."""
    mapping = getattr(method, field, None)
    return mapping.values() if isinstance(mapping, Mapping) else ()


PRESETS = ("best", "paper")
"""Presets of settings: our defaults, and the settings of the paper that a method follows."""
_Plugin = TypeVar("_Plugin", bound=type)


class PaperSetting(NamedTuple):
    """A setting of a paper that differs from our default: its value, and the place in the paper."""

    value: object
    source: str


@dataclass(frozen=True)
class PaperPreset:
    """The settings of a `paper` by name, and the differences that no setting can undo."""

    paper: str
    settings: Mapping[str, PaperSetting]
    differences: tuple[str, ...] = ()


def parse_paper_preset(table: Mapping[str, Any]) -> PaperPreset:
    """Parse the table `paper` of a method's texts."""
    settings = {key: PaperSetting(*setting) for key, setting in table["settings"].items()}
    return PaperPreset(table["paper"], settings, tuple(table["differences"]))


def apply_presets(plugin: _Plugin) -> _Plugin:
    """Fill in the settings of the chosen `preset` when a dataclass is constructed (a decorator).

    Explicit settings win. The constructor raises `SetupError` for an unknown preset.
    """
    plugin_class: Any = plugin
    original_init = plugin_class.__init__
    names = [
        setting_field.name
        for setting_field in fields(plugin)
        if setting_field.init and not setting_field.kw_only
    ]

    @wraps(original_init)
    def initialize(self: object, *args: object, **settings: object) -> None:
        explicit_settings = {**dict(zip(names, args, strict=False)), **settings}
        original_init(
            self,
            **get_preset_settings(plugin, explicit_settings.get("preset", PRESETS[0]))
            | explicit_settings,
        )

    plugin_class.__init__ = initialize
    return plugin


def get_preset_settings(plugin: object, preset: object) -> dict[str, object]:
    """Return the settings of a preset that differ from the defaults.

    Raises:
        SetupError: the preset does not exist.
    """
    if preset not in PRESETS:
        raise SetupError(f"'preset' must be one of {', '.join(PRESETS)}, not {preset!r}")
    published = getattr(plugin, "published", None)
    if published is None or preset == PRESETS[0]:
        return {}
    return {name: paper_setting.value for name, paper_setting in published.settings.items()}


def parse_setting_help(plugin: Any) -> dict[str, str]:
    """Return the help text of each setting, read from `Attributes:` in the docstrings."""
    help_texts: dict[str, str] = {}
    for base in reversed(plugin.__mro__):
        attributes = inspect.cleandoc(base.__dict__.get("__doc__") or "").partition(
            "Attributes:\n"
        )[2]
        for name, text in re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", attributes, re.MULTILINE):
            help_texts[name] = " ".join(text.split())
    return help_texts


def can_call_model(plugin: object, settings: Mapping[str, object]) -> bool:
    """Return whether a method with these settings calls a language model.

    The class attribute `asks` of a method lists, by setting, the values that need the model. The
    settings of a preset count too.
    """
    asks: Mapping[str, tuple[object, ...]] = getattr(plugin, "asks", {})
    effective_settings = {
        **get_preset_settings(plugin, settings.get("preset", PRESETS[0])),
        **settings,
    }
    return any(effective_settings.get(name) in values for name, values in asks.items())


def check_interpretation(method: object) -> None:
    """Raise `SetupError` if `interpret` is set without a `model`."""
    if getattr(method, "interpret", False) and getattr(method, "model", None) is None:
        raise SetupError("interpret=true needs a language model: name one with 'model'")
