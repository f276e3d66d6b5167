"""Manage the examples of a workspace's graphs: import, confirm, withdraw and recheck them.

A correction of an answer yields lessons: an example, and words with their meanings.
"""

import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode, Variable

from askgraph import plugins
from askgraph.answers.query_parts import list_parts
from askgraph.atomic_files import lock_file, replace_folder
from askgraph.endpoint import execute_sparql
from askgraph.errors import QueryError, ServiceError, SetupError
from askgraph.evaluation.benchmarks.formats import read_example_file, write_examples
from askgraph.evaluation.files import replace_file
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import (
    Confirmation,
    ExampleCollection,
    QueryExample,
    SkippedItem,
    Wording,
    compute_similarities,
    describe_change,
    digest_result,
    is_same_language,
    normalize_question,
)
from askgraph.graph.examples.folder import ExampleFolder, StoredExample, format_document
from askgraph.graph.examples.shacl import collect_examples, find_syntax_fault
from askgraph.graph.glossary import Definition, DefinitionTest, Glossary, GlossaryEntry
from askgraph.graph.published_metadata import fetch_described_examples, fetch_published_examples
from askgraph.index.names import stem_name
from askgraph.methods import ConfirmedAnswerMethod, Method
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.query_run import answer_query
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import Group, Pattern, transform, walk
from askgraph.sparql.comparison import group_equal_results, select_columns
from askgraph.sparql.federation.service import list_services
from askgraph.sparql.judge import get_query_form
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.results import Term
from askgraph.sparql.serializer import format_expression
from askgraph.trace import Answer, Findings, Question, Trace, get_attempt
from askgraph.trace.codec import read_trace
from askgraph.workspace import Progress, Workspace, graph_data, ignore_progress
from askgraph.workspace.graphs import run_and_close
from askgraph.workspace.run_sync import ask_method, run_coroutine
from askgraph.workspace.settings import GraphSettings

MAX_ROWS = 100_000
TIMEOUT_SECONDS = 60.0

_INCOMPLETE_MESSAGE = "{!r} depends on an earlier question: ask it again as a complete question"

Status = Literal["same", "changed", "failed", "gone", "not compared"]


@dataclass(frozen=True)
class ExampleCheck:
    """The outcome of a recheck; `detail` explains the changed result or the failure."""

    graph: str
    stored: StoredExample
    status: Status
    detail: str = ""


def list_stored(workspace: Workspace, graph: str | None = None) -> list[tuple[str, StoredExample]]:
    """Return the examples that the workspace keeps, of one graph or of all, with their graphs."""
    return [
        (name, stored_example)
        for name in _list_graphs(workspace, graph)
        for stored_example in ExampleFolder(workspace.get_examples_folder(name)).list_examples()
    ]


def confirm_example(
    workspace: Workspace,
    example: QueryExample,
    graph: str | None = None,
    *,
    by: str | None = None,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress = ignore_progress,
) -> StoredExample:
    """Store a question with its query and current result as confirmed.

    An existing question gets the new query. Prefixes of the graph need no declaration.

    Args:
        by: the person who confirms it.

    Raises:
        SetupError: the graph is unknown.
        QueryError: the query failed.
        ServiceError: the endpoint failed.
    """
    if not normalize_question(example.question):
        raise SetupError("the question is empty: write it as people ask it")
    opened = workspace.graph(graph, fresh=True, progress=progress)
    settings = workspace.graphs()[opened.name]
    confirmed = run_and_close(opened, _confirm_on_graph(example, opened, settings, by, timeout))
    return store_examples(workspace, opened.name, [confirmed])[0]


def read_traced_example(path: Path) -> tuple[QueryExample, str]:
    """Return the question and query of a stored run, and the graph that answered.

    Raises:
        SetupError: the run has no query, or depends on an earlier question.
    """
    run, _ = read_trace(path)
    attempt = get_attempt(run.outcome)
    if attempt is None:
        raise SetupError(f"the run in {path} has no query: there is nothing to confirm")
    question = run.question
    if question.before:
        raise SetupError(_INCOMPLETE_MESSAGE.format(question.text))
    return QueryExample(question.text, attempt.query, question.language), attempt.graph


def store_examples(
    workspace: Workspace, graph: str, examples: Sequence[QueryExample]
) -> tuple[StoredExample, ...]:
    """Write examples into a graph's folder; they replace examples of the same questions."""
    folder = ExampleFolder(workspace.get_examples_folder(graph))
    with lock_file(workspace.folder / ".lock"):
        stored: dict[str, list[QueryExample]] = {}
        for stored_example in folder.list_examples():
            stored.setdefault(normalize_question(stored_example.example.question), []).append(
                stored_example.example
            )
        return folder.add([_merge_with_existing(example, stored) for example in examples])


def withdraw_example(
    workspace: Workspace, reference: str, graph: str | None = None
) -> tuple[str, StoredExample]:
    """Remove an example, by its id, its IRI or its question; return it with its graph.

    Raises:
        SetupError: no example matches, or several in different graphs.
    """
    all_examples = list_stored(workspace, graph)
    question = normalize_question(reference)
    matches = [
        (name, example)
        for name, example in all_examples
        if reference in (example.id, example.example.iri)
        or any(normalize_question(wording.text) == question for wording in example.example.wordings)
    ]
    if not matches:
        raise SetupError(
            f"there is no example {reference!r}; list them with: askgraph examples list"
        )
    if len(matches) > 1:
        places = ", ".join(f"{stored_example.id} ({name})" for name, stored_example in matches)
        raise SetupError(
            f"{reference!r} matches several examples: {places}; give an id, and the graph with -g"
        )
    name, stored_example = matches[0]
    with lock_file(workspace.folder / ".lock"):
        ExampleFolder(workspace.get_examples_folder(name)).remove(stored_example)
    return name, stored_example


def check_examples(
    workspace: Workspace,
    graph: str | None = None,
    *,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress = ignore_progress,
) -> list[ExampleCheck]:
    """Run the queries of all stored examples again and report how their results changed.

    An example of a removed graph is `gone`; a hand-written example without a stored result is
    `not compared` if it runs.
    """
    checks: list[ExampleCheck] = []
    total = len(list_stored(workspace, graph))

    async def compare_all(opened: KnowledgeGraph, examples: Sequence[StoredExample]) -> None:
        for stored_example in examples:
            progress(f"running {stored_example.id}", len(checks), total)
            checks.append(await _compare_example(opened, stored_example, timeout))

    for name in _list_graphs(workspace, graph):
        graph_examples = ExampleFolder(workspace.get_examples_folder(name)).list_examples()
        if name not in workspace.graphs():
            checks += [
                ExampleCheck(name, stored_example, "gone", f"there is no graph {name!r}")
                for stored_example in graph_examples
            ]
        elif graph_examples:
            opened = workspace.graph(name, fresh=True, progress=progress)
            run_and_close(opened, compare_all(opened, graph_examples))
    for name in [graph] if graph else workspace.graphs():
        if name in workspace.graphs():
            checks += _check_definitions(workspace, name, progress)
    return checks


def _check_definitions(
    workspace: Workspace, name: str, progress: Progress
) -> Iterator[ExampleCheck]:
    """Ask the test questions of a graph's definitions and compare the rows of the answers."""
    glossary = workspace.load_glossary(name)
    tests = [(entry, test) for entry in glossary.entries for test in entry.definition.tests]
    if not tests:
        return
    search = plugins.load("method", "graph_search")()

    opened = workspace.graph(name, fresh=True, progress=progress)

    async def compare_all() -> list[ExampleCheck]:
        return [await compare(entry, test) for entry, test in tests]

    async def compare(entry: GlossaryEntry, test: DefinitionTest) -> ExampleCheck:
        example = QueryExample(test.question, "", test.lang or None)
        stored = StoredExample(f"define {entry.word}", Path(), example)
        steps = search.answer(Question(test.question, language=test.lang or None), [opened])
        outcome = [step async for step in steps][-1]
        if not isinstance(outcome, Answer):
            return ExampleCheck(name, stored, "failed", "graph search does not answer")
        result = outcome.result
        columns = [result.variables.index(name) for name in outcome.answer_columns]
        answer_rows = (tuple(row[at] for at in columns) for row in result.rows)
        rows = [_list_forms(row, outcome, opened) for row in answer_rows]
        if outcome.boolean is not None:
            rows = [frozenset([str(outcome.boolean).lower()])]
        missing = [row for row in test.rows if not any(map({*row}.issubset, rows))]
        if not missing and len(rows) == len(test.rows):
            return ExampleCheck(name, stored, "same")
        detail = f"{len(rows)} rows instead of {len(test.rows)}"
        return ExampleCheck(name, stored, "changed", f"no row {missing[0]}" if missing else detail)

    yield from run_and_close(opened, compare_all())


def _list_forms(
    row: Iterable[Term | None], answer: Answer, graph: KnowledgeGraph
) -> frozenset[str]:
    """Return how a test may write the cells of a row: names, prefixed names, IRIs, numbers."""
    values = [getattr(cell, "value", "") for cell in row]
    numbers = (text.rstrip("0").rstrip(".") for text in values if "." in text)
    names = (answer.labels.get(text, text) for text in values)
    return frozenset((*values, *numbers, *names, *map(graph.prefixes.shorten, values)))


def _list_graphs(workspace: Workspace, graph: str | None) -> Iterator[str]:
    if graph is not None:
        if graph not in workspace.graphs() and not workspace.get_examples_folder(graph).is_dir():
            workspace.graph(graph)  # raises if the graph does not exist
        yield graph
        return
    root = workspace.folder / "examples"
    if root.is_dir():
        yield from sorted(path.name for path in root.iterdir() if path.is_dir())


def _merge_with_existing(
    example: QueryExample, stored_by_question: Mapping[str, Sequence[QueryExample]]
) -> QueryExample:
    """Return the example with the IRI, language, wordings and keywords of the same question."""
    for old in stored_by_question.get(normalize_question(example.question), ()):
        if example.iri is None and is_same_language(example.language, old.language):
            return dataclasses.replace(
                example,
                iri=old.iri,
                language=example.language or old.language,
                others=tuple(dict.fromkeys((*example.others, *old.others))),
                keywords=tuple(dict.fromkeys((*example.keywords, *old.keywords))),
            )
    return example


async def _confirm_on_graph(
    example: QueryExample,
    graph: KnowledgeGraph,
    settings: GraphSettings,
    by: str | None,
    timeout: float,
) -> QueryExample:
    query = declare_prefixes(example.query.strip(), graph.prefixes.namespaces)
    result = await execute_sparql(
        graph.endpoint, get_query_form(query), query, timeout=timeout, limit=MAX_ROWS
    )
    outcome = digest_result(result)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    state = (graph.name, graph.snapshot, outcome.rows, outcome.digest)
    return dataclasses.replace(
        example,
        question=" ".join(example.question.split()),
        query=query,
        others=tuple(
            Wording(" ".join(wording.text.split()), wording.language) for wording in example.others
        ),
        targets=example.targets or ((settings.url,) if settings.url else ()),
        federates_with=example.federates_with or list_services(query),
        origin="confirmed",
        confirmation=Confirmation(now, *state, by),
    )


async def _compare_example(
    graph: KnowledgeGraph, stored_example: StoredExample, timeout: float
) -> ExampleCheck:
    before = stored_example.example.confirmation
    try:
        form, query = stored_example.example.form, stored_example.example.query
        now = digest_result(
            await execute_sparql(graph.endpoint, form, query, timeout=timeout, limit=MAX_ROWS)
        )
    except (QueryError, ServiceError) as error:
        return ExampleCheck(graph.name, stored_example, "failed", str(error))
    if before is None:
        return ExampleCheck(graph.name, stored_example, "not compared", f"{now.rows} rows")
    changed = describe_change(before, now)
    return ExampleCheck(graph.name, stored_example, "changed" if changed else "same", changed or "")


_MAX_PREVIEWED_EXAMPLES = 200
_MAX_WORD_LESSONS = 3


@dataclass(frozen=True)
class Lesson:
    """A lesson of a correction.

    Attributes:
        example: the corrected question with the query that answers it.
        entry: a word of the question with its meaning; None if the example is the lesson.
    """

    example: QueryExample
    entry: GlossaryEntry | None = None


@dataclass(frozen=True)
class LessonEffect:
    """How graph search would answer confirmed questions after a lesson."""

    corrects: bool  # whether it would answer the corrected question right
    improved: tuple[str, ...] = ()  # the questions that it would answer right, and does not yet
    worsened: tuple[str, ...] = ()  # the questions that it answers right, and would not any more
    right: int = 0  # the number of questions that it answers right before and after
    wrong: int = 0  # the number of questions that it answers wrong before and after
    untried: int = 0  # the number of questions that were not tried


def propose_lessons(run: Trace, query: str, graph: KnowledgeGraph) -> tuple[Lesson, ...]:
    """Propose lessons of a run whose answer was corrected to another query.

    A term of the query that the answer lacks is the meaning of the words that led to the
    term in its place, or of the words that led to no term of the query. Such words before a class
    may be a condition ("large moons"). The last lesson is the question with its query.

    Raises:
        SetupError: the question depends on an earlier one.
    """
    if run.question.before:
        raise SetupError(_INCOMPLETE_MESSAGE.format(run.question.text))
    query = declare_prefixes(query.strip(), graph.prefixes.namespaces)
    attempt = get_attempt(run.outcome)
    old_roles, new_roles = (
        {part.term.value: part.kind for part in list_parts(text) if part.kind != "value"}
        for text in (attempt.query if attempt else "", query)
    )
    mentions = [
        mention for step in run.steps if isinstance(step, Findings) for mention in step.mentions
    ]
    words_by_iri = {mention.target: mention.words for mention in reversed(mentions)}
    # A thing in the place of one that the words name is asked for, and not what they mean.
    exact = {x.words.casefold() for x in mentions if x.kind == "entity" and x.score == 1.0}
    example = QueryExample(run.question.text, query, run.question.language)
    unread = _find_unread_words(
        run.question, [words_by_iri[iri] for iri in new_roles if iri in words_by_iri]
    )
    added_iris = [iri for iri in new_roles if iri not in old_roles]
    lessons: dict[tuple[str, str], Lesson] = {}
    for run_words in unread:
        if entry := _define_condition(run_words, example, graph, words_by_iri):
            lessons[run_words, ""] = Lesson(example, entry)
    unread = [run_words for run_words in unread if (run_words, "") not in lessons]
    patterns = [lesson.entry.definition.pattern for lesson in lessons.values() if lesson.entry]
    short = graph.prefixes.shorten
    added_iris = [iri for iri in added_iris if not any(short(iri) in text for text in patterns)]
    for iri in added_iris:
        old_iris = [
            old for old in old_roles if old not in new_roles and old_roles[old] == new_roles[iri]
        ]
        words = [
            x for old in old_iris if (x := words_by_iri.get(old)) and x.casefold() not in exact
        ]
        if not words and iri not in words_by_iri:
            words = unread
        for word in words:
            lessons[word, iri] = Lesson(example, GlossaryEntry(word.casefold(), (iri,)))
    return (*list(lessons.values())[:_MAX_WORD_LESSONS], Lesson(example))


def _define_condition(
    words: str, example: QueryExample, graph: KnowledgeGraph, words_by_iri: Mapping[str, str]
) -> GlossaryEntry | None:
    """Return what words before a class mean by a query: all that no other word says of it."""
    classes = {cls.iri for cls in graph.profile.classes}
    where = parse_tree(example.query).where
    for part in where.elements:
        cls = part.object if isinstance(part, Pattern) else None
        if not isinstance(part, Pattern) or not isinstance(cls, NamedNode):
            continue
        word = f"{words} {words_by_iri.get(cls.value, '')}".casefold()
        if cls.value not in classes or not f"{example.question} ".casefold().count(f" {word} "):
            continue
        elements = [
            element
            for element in where.elements
            if element is not part
            and not any(isinstance(x, NamedNode) and x.value in words_by_iri for x in walk(element))
        ]
        replace_subject = partial(_replace_term, part.subject, Variable("this"))
        group: Group = transform(Group(tuple(elements)), replace_subject)
        if Variable("this") in walk(group) and any(isinstance(x, RdfLiteral) for x in walk(group)):
            pattern = format_expression(group, graph.prefixes).strip()[1:-1].strip()
            return GlossaryEntry(word, definition=Definition(of=cls.value, pattern=pattern))
    return None


def _replace_term(old: object, new: object, node: object) -> object:
    return new if node == old else node


def _find_unread_words(question: Question, read_words: Sequence[str]) -> list[str]:
    """Return the runs of content words that are neither operators nor among words with a term."""
    tokenized = tokenize(question.text, question.language)
    operators = detect_operators(tokenized).operators
    read = {position for operator in operators for position in operator.positions}
    read_stems = {stem for words in read_words for stem in stem_name(words)}
    runs: list[list[str]] = [[]]
    for position, token in enumerate(tokenized.tokens):
        is_content = token.text.isalpha() and not tokenized.is_stop(position)
        if is_content and position not in read and token.stem not in read_stems:
            runs[-1].append(token.text)
        else:
            runs.append([])
    return [" ".join(words) for words in runs if words]


async def preview_lessons(
    lessons: Sequence[Lesson],
    graph: KnowledgeGraph,
    examples: Sequence[QueryExample],
    method: Method,
    *,
    seconds: float = TIMEOUT_SECONDS,
    progress: Progress = ignore_progress,
) -> tuple[LessonEffect, ...]:
    """Return the effect of each lesson on the confirmed ones of some examples.

    The questions most similar to the corrected one come first, at most 200 of them. No question
    gets its own confirmed query. Without the words of a lesson it keeps its answer.

    Args:
        method: graph search.
        seconds: the time after which no further question is tried.

    Raises:
        QueryError: the right query is not valid.
        ServiceError: the graph is down.
    """
    end_time = time.monotonic() + seconds
    corrected = lessons[0].example
    key = normalize_question(corrected.question)
    candidates = [
        example
        for example in examples
        if example.origin == "confirmed" and normalize_question(example.question) != key
    ]
    scores = compute_similarities(corrected.question, [item.question for item in candidates])
    ranked = [candidates[at] for at in sorted(range(len(candidates)), key=lambda at: -scores[at])]
    expected: Answer | None = await _answer_example(corrected, graph)
    base_graph = dataclasses.replace(graph, examples=())
    lesson_graphs = [_apply_lesson(lesson, base_graph) for lesson in lessons]
    effects = [
        LessonEffect(await _is_answered_right(corrected, expected, lesson_graph, method))
        for lesson_graph in lesson_graphs
    ]
    tried = 0
    for example in ranked[:_MAX_PREVIEWED_EXAMPLES]:
        if time.monotonic() > end_time:
            break
        progress("asking confirmed questions", tried, len(ranked))
        expected = None
        with suppress(QueryError, ServiceError):  # of the example's query
            expected = await _answer_example(example, graph)
        before = await _is_answered_right(example, expected, base_graph, method)
        for at, (lesson, lesson_graph) in enumerate(zip(lessons, lesson_graphs, strict=True)):
            after = before
            if lesson.entry is None or bool({*lesson.entry.key} & {*stem_name(example.question)}):
                after = await _is_answered_right(example, expected, lesson_graph, method)
            effects[at] = _add_outcome(effects[at], example.question, before, after)
        tried += 1
    untried = len(ranked) - tried
    return tuple(dataclasses.replace(effect, untried=untried) for effect in effects)


def keep_lesson(workspace: Workspace, graph: str, lesson: Lesson, *, by: str | None = None) -> None:
    """Store a lesson: a word in the graph's glossary, or a confirmed example."""
    if lesson.entry is not None:
        workspace.define(graph, lesson.entry)
    else:
        confirm_example(workspace, lesson.example, graph, by=by)


def _apply_lesson(lesson: Lesson, graph: KnowledgeGraph) -> KnowledgeGraph:
    if lesson.entry is None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        confirmation = Confirmation(now, graph.name, graph.snapshot, 0)
        example = dataclasses.replace(lesson.example, origin="confirmed", confirmation=confirmation)
        return dataclasses.replace(graph, examples=(example,))
    glossary = (graph.glossary or Glossary()).add_entries(lesson.entry)
    return dataclasses.replace(graph, glossary=glossary)


def _add_outcome(effect: LessonEffect, question: str, before: bool, after: bool) -> LessonEffect:
    if before == after:
        return dataclasses.replace(
            effect, right=effect.right + before, wrong=effect.wrong + (not before)
        )
    if after:
        return dataclasses.replace(effect, improved=(*effect.improved, question))
    return dataclasses.replace(effect, worsened=(*effect.worsened, question))


async def _answer_example(example: QueryExample, graph: KnowledgeGraph) -> Answer:
    question = Question(example.question, example.language)
    context = Context(graph, question, ToolLimits(timeout=TIMEOUT_SECONDS))
    return await answer_query(context, example.query, confidence=1.0)


async def _is_answered_right(
    example: QueryExample, expected: Answer | None, graph: KnowledgeGraph, method: Method
) -> bool:
    question = Question(example.question, example.language)
    outcome = await ask_method(question, ConfirmedAnswerMethod(method), [graph])
    if expected is None or not isinstance(outcome, Answer):
        return False
    results = [
        select_columns(answer.result, answer.answer_columns)
        if answer.boolean is None
        else answer.boolean
        for answer in (expected, outcome)
    ]
    return len({*group_equal_results(results)}) == 1


Fault = tuple[str, str]
"""A place and the fault there."""

_REFUSED_SUFFIXES = frozenset(
    [".csv", ".gz", ".json", ".nt", ".rdf", ".tar", ".trig", ".txt", ".xml", ".zip"]
)


def convert_examples(
    workspace: Workspace,
    source: str,
    target: Path,
    *,
    format: str | None = None,
    progress: Progress = ignore_progress,
) -> tuple[ExampleCollection, list[Fault]]:
    """Write the examples of a source, and return them with the faults in it.

    A target that ends in `.ttl` or `.jsonl` is a file, any other a new folder. Queries that
    cannot be parsed are written anyway.

    Raises:
        SetupError: the source has no examples, or the folder is not empty.
    """
    if target.suffix.lower() in _REFUSED_SUFFIXES:
        raise SetupError(
            "examples can be written to a new folder, a .ttl file or a .jsonl file, not to "
            f"{target.name!r}"
        )
    collection = read_examples(workspace, source, format=format)
    faults = [(unread.place, unread.reason) for unread in collection.skipped]
    for at, example in enumerate(collection.examples):
        progress("parsing queries", at, len(collection.examples))
        if fault := find_syntax_fault(example.query):
            faults.append((example.iri or example.question, fault))
    if not collection.examples:
        why = f", for example: {faults[0][1]}" if faults else ""
        raise SetupError(f"{source} contains no examples{why}")
    match target.suffix:
        case ".jsonl":
            write_examples(collection.examples, target)
        case ".ttl":
            text = format_document(collection.examples)
            with replace_file(target) as file:
                file.write(text.encode())
        case _:
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                raise SetupError(f"{target} exists already: name a new folder")
            with replace_folder(target) as folder:
                ExampleFolder(folder).add(collection.examples)
    return collection, faults


def read_examples(
    workspace: Workspace, source: str, *, format: str | None = None
) -> ExampleCollection:
    """Read examples from a file, folder, archive, endpoint URL or graph name.

    For a graph these are the examples of the workspace and those that its endpoint
    publishes: in its own graph or, if there are none, in its service description.

    Raises:
        SetupError: the source does not exist.
        ServiceError: an endpoint failed.
    """
    if graph_data.is_url(source):
        return _fetch_published(GraphSettings(url=source))
    if source in workspace.graphs() and not Path(source).exists():
        settings = workspace.graphs()[source]
        own_examples = workspace.load_examples(source)
        if not settings.url:
            return ExampleCollection(own_examples)
        published = _fetch_published(settings)
        return ExampleCollection((*own_examples, *published.examples), published.skipped)
    if not Path(source).exists():
        raise SetupError(f"there is no file, folder, URL or graph {source!r} to read examples from")
    return read_example_file(Path(source), format=format)


def _fetch_published(settings: GraphSettings) -> ExampleCollection:
    endpoint = graph_data.create_remote_endpoint(settings)
    items = run_and_close(endpoint, fetch_published_examples(endpoint, timeout=settings.timeout))
    if items or settings.url is None:
        return collect_examples(items)
    try:
        guard = graph_data.create_guard(settings)
        return collect_examples(run_coroutine(fetch_described_examples(settings.url, guard=guard)))
    except (ServiceError, SetupError) as error:
        return ExampleCollection((), (SkippedItem(settings.url, str(error)),))
