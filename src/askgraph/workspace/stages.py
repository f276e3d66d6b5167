"""Measure the stages of the multi-stage method, alone and together, on benchmarks.

Its writer may be trained on some benchmarks and evaluated on others.
"""

import asyncio
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from random import Random
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.metrics import QueryLinks, compare_links, extract_links
from askgraph.evaluation.runs import EvaluationRun, Record
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies import stages
from askgraph.index import Resource, SearchIndex
from askgraph.methods.shared.index_cache import Bm25Parameters, open_bm25_index, parse_bm25
from askgraph.methods.writing.term_names import NAMES, PLAIN
from askgraph.training import TrainSettings
from askgraph.training.pairs import read_pairs
from askgraph.workspace import Progress, Workspace, ignore_progress
from askgraph.workspace.evaluation import ExecutorOptions, evaluate_benchmarks, run_to_completion
from askgraph.workspace.pairs import PairForm, QuestionSelection, make_pairs
from askgraph.workspace.plans import (
    BenchmarkQuestions,
    MethodChoice,
    RunOptions,
    TaskRunner,
    hash_file,
)
from askgraph.workspace.selection import Selection, select_benchmarks
from askgraph.workspace.settings import load_method_settings, write_method_settings

TERMS_BY_INDEX = {"entities": "entities", "properties": "predicates"}
"""The searched indices, and the terms that each finds."""

GoldLinks = Mapping[tuple[str, str], QueryLinks]
IndexQueries = dict[str, list[tuple[SearchIndex[Resource], stages.RecallQuery]]]
"""Questions with their expected results, each after the index of its graph, by benchmark."""


@dataclass(frozen=True)
class StagesResult:
    """A run of all configurations, its cases, and for each benchmark the recall of the indices."""

    run: EvaluationRun
    cases: tuple[stages.StageCase, ...]
    recalls: Mapping[str, Sequence[stages.RecallResult]]


async def evaluate_stages(
    workspace: Workspace,
    benchmarks: Sequence[BenchmarkQuestions],
    selection: Selection,
    *,
    settings: Mapping[str, object],
    metric: str,
    executor_options: ExecutorOptions,
    folder: Path | None = None,
    progress: Told | None = None,
    index_progress: Progress = ignore_progress,
) -> StagesResult:
    """Ask each question in each configuration, and read the results of each stage from the traces.

    `settings` are those of the method in all configurations.

    Raises:
        SetupError: the configuration cannot work; no question has been asked yet.
    """
    methods = tuple(
        MethodChoice(name, METHOD, json.dumps({**settings, **benchmark_queries, "filter": "off"}))
        for name, benchmark_queries in stages.CONFIGURATIONS.items()
    )
    run_options = RunOptions(methods, metric=metric, chosen=selection.to_json())
    with tempfile.TemporaryDirectory() as temporary:
        run = await evaluate_benchmarks(
            workspace, benchmarks, run_options, selection, executor_options,
            folder=folder or Path(temporary) / "stages", progress=progress,
            index_progress=index_progress,
        )  # fmt: skip
        details = {detail.key: detail for detail in run.iterate_details()}
    recalls: dict[str, list[stages.RecallResult]] = {benchmark.name: [] for benchmark in benchmarks}
    async with TaskRunner.from_workspace(workspace) as runner:
        gold = await load_gold_links(runner, benchmarks)
        for key, terms in TERMS_BY_INDEX.items():
            queries_by_benchmark = await build_index_queries(
                runner, benchmarks, key, gold, progress=index_progress
            )
            for name, queries in queries_by_benchmark.items():
                recalls[name].append(await asyncio.to_thread(stages.measure_recall, terms, queries))
    cases = tuple(
        stages.build_stage_case(record, details[record.key], gold[record.benchmark, record.id])
        for record in run.records
        if record.key in details
    )
    return StagesResult(run, cases, recalls)


async def load_gold_links(
    runner: TaskRunner, benchmarks: Sequence[BenchmarkQuestions]
) -> GoldLinks:
    """Return the IRIs of each gold query, by benchmark and id."""
    gold: dict[tuple[str, str], QueryLinks] = {}
    for benchmark in benchmarks:
        for question, source in zip(benchmark.questions, benchmark.graphs, strict=True):
            async with runner.use_graph(source) as graph:
                prefixes = {**benchmark.contents.prefixes, **graph.prefixes.namespaces}
            gold[benchmark.name, question.id] = extract_links(question.sparql, prefixes=prefixes)
    return gold


async def build_index_queries(
    runner: TaskRunner,
    benchmarks: Sequence[BenchmarkQuestions],
    key: str,
    gold: GoldLinks,
    *,
    bm25: Bm25Parameters | None = None,
    progress: Progress = ignore_progress,
) -> IndexQueries:
    """Return each question with its expected results and the index `key` of its graph.

    `progress` reports the building of indices.
    """
    opened: dict[str, SearchIndex[Resource]] = {}
    queries: IndexQueries = {benchmark.name: [] for benchmark in benchmarks}
    sources = {str(source) for benchmark in benchmarks for source in benchmark.graphs}
    for benchmark in benchmarks:
        for question, source in zip(benchmark.questions, benchmark.graphs, strict=True):
            if str(source) not in opened:
                async with runner.use_graph(source) as graph:
                    index = await asyncio.to_thread(
                        open_bm25_index, graph, key, bm25 or Bm25Parameters()
                    )
                opened[str(source)] = index
                progress(f"indexing {key}", len(opened), len(sources))
            question_links = gold[benchmark.name, question.id]
            iris = question_links.entities if key == "entities" else question_links.predicates
            query = stages.RecallQuery(question.text, iris)
            queries[benchmark.name].append((opened[str(source)], query))
    return queries


async def score_links(
    workspace: Workspace, run: EvaluationRun, benchmarks: Sequence[BenchmarkQuestions], terms: str
) -> dict[str, float]:
    """Return the F1 of the entities or predicates (`terms`) that a run of the method linked.

    By the key of the record, for questions whose gold has any.
    """
    async with TaskRunner.from_workspace(workspace) as runner:
        gold = await load_gold_links(runner, benchmarks)
    records = {record.key: record for record in run.records}
    scores: dict[str, float] = {}
    for detail in run.iterate_details():
        if record := records.get(detail.key):
            case = stages.build_stage_case(record, detail, gold[record.benchmark, record.id])
            if getattr(case.gold, terms):
                scores[record.key] = getattr(compare_links(case.linked, case.gold), terms).f1
    return scores


async def compute_recalls(
    workspace: Workspace,
    benchmark: BenchmarkQuestions,
    numbers: Mapping[str, str],
    *,
    progress: Progress = ignore_progress,
) -> dict[str, float]:
    """Return the recall of BM25 with these `numbers`, such as 2.95/0.2, by terms.

    The keys have the form `entities @10`.
    """
    recalls: dict[str, float] = {}
    async with TaskRunner.from_workspace(workspace) as runner:
        gold = await load_gold_links(runner, [benchmark])
        for key, terms in TERMS_BY_INDEX.items():
            queries = await build_index_queries(
                runner, [benchmark], key, gold, bm25=parse_bm25(numbers[terms]), progress=progress
            )
            recall = stages.measure_recall(terms, queries[benchmark.name])
            recalls |= {f"{terms} @{limit}": share for limit, share in recall.shares_by_limit}
    return recalls


METHOD = "multi-stage"
_BM25_SETTINGS = {"entities": "bm25_entities", "predicates": "bm25_predicates"}


@dataclass(frozen=True)
class TunedIndex:
    """The tuning result of one index, and its recall on test questions.

    `tested` is the recall with the numbers before and after, None without test questions.
    """

    what: str
    tuned: stages.TuningResult
    tested: tuple[stages.RecallResult, stages.RecallResult] | None = None


async def tune_bm25(
    workspace: Workspace,
    training: Sequence[BenchmarkQuestions],
    test: Sequence[BenchmarkQuestions] = (),
    *,
    progress: Progress = ignore_progress,
) -> tuple[TunedIndex, ...]:
    """Tune the BM25 numbers for entities and for predicates separately, from the present ones.

    Raises:
        SetupError: a test question is also a training question.
    """
    texts = {question.text.casefold() for benchmark in training for question in benchmark.questions}
    if repeated := [
        test_question
        for benchmark in test
        for test_question in benchmark.questions
        if test_question.text.casefold() in texts
    ]:
        raise SetupError(
            f"{repeated[0].id!r} is both a test question and a training question: remove it "
            "from one of them"
        )
    loop = asyncio.get_running_loop()
    settings = load_method_settings(workspace.folder, METHOD)
    results = []
    async with TaskRunner.from_workspace(workspace) as runner:
        gold = await load_gold_links(runner, (*training, *test))
        for key, terms in TERMS_BY_INDEX.items():

            def measure(
                bm25: Bm25Parameters,
                benchmarks: Sequence[BenchmarkQuestions] = training,
                key: str = key,
                measured_terms: str = terms,
            ) -> stages.RecallResult:
                work = build_index_queries(runner, benchmarks, key, gold, bm25=bm25)
                queries = asyncio.run_coroutine_threadsafe(work, loop).result()
                return stages.measure_recall(measured_terms, [*chain(*queries.values())])

            def report_progress(done: int, what: str = terms) -> None:
                progress(f"k1 and b for {what}", done, stages.MAX_EVALUATION_COUNT)

            setting = settings.get(_BM25_SETTINGS[terms])
            start = parse_bm25(str(setting)) if setting is not None else Bm25Parameters()
            tuning = await asyncio.to_thread(
                stages.tune_parameters, measure, start=start, progress=report_progress
            )
            tested = [
                await asyncio.to_thread(measure, numbers, test)
                for numbers in ((tuning.before, tuning.after) if test else ())
            ]
            results.append(TunedIndex(terms, tuning, (tested[0], tested[1]) if tested else None))
    return tuple(results)


def store_tuned(workspace: Workspace, tuned_indices: Sequence[TunedIndex]) -> None:
    """Write the numbers into `askgraph.toml`, as settings of the method."""
    values = {_BM25_SETTINGS[index.what]: str(index.tuned.after) for index in tuned_indices}
    write_method_settings(workspace.folder, METHOD, values)


Trainer = Callable[..., object]
"""`askgraph.training.train.train`, which needs the extra `local`."""


@dataclass(frozen=True)
class DataSet:
    """Questions to train on and to test on: two files, or the splits train and test of one."""

    name: str
    train: Path
    test: Path
    graph: str | None = None

    def select_split(self, split_name: str) -> str | None:
        """Return the split to read from the file; None for a separate file."""
        return split_name if self.train == self.test else None


@dataclass(frozen=True)
class CrossTrainingStudy:
    """A model trained on each data set, or on all others (`leave_one_out`); tested on all.

    `base` is the model to train, `folder` keeps pairs, models and answers, so that a
    stopped study can resume. `plain` is the form of the output, `numbers` the numbers of
    training questions of each data set (empty: all), `method` further settings of multi-
    stage.
    """

    base: str
    sets: Sequence[DataSet]
    folder: Path
    settings: TrainSettings
    leave_one_out: bool = False
    plain: bool = False
    numbers: Sequence[int] = ()
    method: Mapping[str, object] = field(default_factory=dict)
    metric: str = "best_column"
    device: str | None = None
    download: bool = False


def run_cross_training(
    workspace: Workspace,
    study: CrossTrainingStudy,
    train: Trainer,
    *,
    progress: Progress = ignore_progress,
) -> tuple[list[stages.TransferRow], Mapping[str, str]]:
    """Train missing models, run missing evaluations, and return the F1 of each model.

    The second result has the formats of the data sets by name. The pairs have the correct
    terms; the questions are linked as `method` says, so that entities=given,
    predicates=given isolates the writer (figure 3 of Alekseev et al., NLDB 2025).

    Raises:
        SetupError: there are fewer than two data sets; also errors of training and evaluation.
    """
    names = [item.name for item in study.sets]
    if len(set(names)) < max(2, len(names)):
        raise SetupError("give at least two data sets with different names (NAME=FILE)")
    selections = [
        Selection(graph=item.graph, split=item.select_split("test")) for item in study.sets
    ]
    benchmarks = [
        replace(select_benchmarks(workspace, [str(item.test)], chosen)[0], name=item.name)
        for item, chosen in zip(study.sets, selections, strict=True)
    ]
    files = {
        item.name: _prepare_pairs_file(workspace, item, study, progress) for item in study.sets
    }
    seed, form = study.settings.seed, {"form": "plain"} if study.plain else {}
    rows = []
    for name in names:
        trained = tuple(item for item in names if (item != name) is study.leave_one_out)
        for number in study.numbers or (None,):
            label = "+".join(trained) + (f"-{number}" if number else "")
            model = study.folder / "models" / _UNSAFE_CHARACTERS.sub("-", label)
            pairs, data = read_pairs([files[item] for item in trained])
            questions = sorted({item.id.partition("#")[0] for item in pairs})
            Random(seed).shuffle(questions)
            selected_questions = set(questions[:number])
            selected = [item for item in pairs if item.id.partition("#")[0] in selected_questions]
            train(
                study.base, selected, model, settings=study.settings,
                data=f"{data} {number or 'all'}",
                device=study.device, download=study.download, progress=progress,
            )  # fmt: skip
            writer = {"writer": "model", **form, "model": f"transformers/{model.absolute()}"}
            choice = MethodChoice("trained", METHOD, json.dumps({**study.method, **writer}))

            def report_progress(
                record: Record, done: int, planned: int, at: str = model.name
            ) -> None:
                progress(f"asking {at}", done, planned)

            run = run_to_completion(
                workspace,
                benchmarks,
                RunOptions((choice,), metric=study.metric),
                Selection(),
                study.folder / "answers" / model.name,
                progress=report_progress,
            )
            f1: dict[str, list[float]] = {item.name: [] for item in benchmarks}
            for record in run.records:
                f1[record.benchmark].append(record.get_score(study.metric).f1)
            means = {name: fmean(scores) for name, scores in f1.items()}
            rows.append(stages.TransferRow(trained, means, number))
    return rows, {item.name: item.format for item in benchmarks}


def _prepare_pairs_file(
    workspace: Workspace, data_set: DataSet, study: CrossTrainingStudy, progress: Progress
) -> Path:
    seed = study.settings.seed
    notation = PLAIN if study.plain else NAMES
    key_text = f"{hash_file(data_set.train)} {data_set.graph} {notation} {seed}"
    digest = hashlib.sha256(key_text.encode()).hexdigest()[:12]
    path = study.folder / "pairs" / f"{_UNSAFE_CHARACTERS.sub('-', data_set.name)}-{digest}.jsonl"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        chosen = QuestionSelection(
            ((data_set.train, data_set.graph),), split=data_set.select_split("train"), seed=seed
        )
        make_pairs(workspace, chosen, path, form=PairForm(notation, seed=seed), progress=progress)
    return path


_UNSAFE_CHARACTERS = re.compile(r"[^\w.+-]+")
