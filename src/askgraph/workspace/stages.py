"""The stages of the multi-stage method, measured alone and together on benchmarks.

Its writer may be trained on some of them and asked about others.
"""

import asyncio
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.metrics.linking import QueryLinks, compare_links, extract_links
from askgraph.evaluation.runs import EvaluationRun, Record
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.studies.stages import (
    CONFIGURATIONS,
    MAX_EVALUATION_COUNT,
    RecallQuery,
    RecallResult,
    StageCase,
    TransferRow,
    TuningResult,
    build_stage_case,
    measure_recall,
    tune_parameters,
)
from askgraph.index import Resource, SearchIndex
from askgraph.methods.shared.index_cache import Bm25, bm25_of, ranked_names
from askgraph.methods.writing.references import PLAIN, REFERENCES
from askgraph.training.pairs import read_pairs
from askgraph.training.settings import TrainSettings
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.evaluation import Crew, evaluated, whole_run
from askgraph.workspace.pairs import Chosen, PairForm, make_pairs
from askgraph.workspace.plans import Asked, Host, MethodChoice, Wishes, file_hash
from askgraph.workspace.selection import Selection, selected
from askgraph.workspace.settings import method_settings, with_method

INDICES = {"entities": "entities", "properties": "predicates"}
"""The indices that are searched, and what is found in them."""

Gold = Mapping[tuple[str, str], QueryLinks]


@dataclass(frozen=True)
class Staged:
    """A run of all configurations, its cases, and by benchmark what an index finds."""

    run: EvaluationRun
    cases: tuple[StageCase, ...]
    recalls: Mapping[str, Sequence[RecallResult]]


@dataclass(frozen=True)
class Searched:
    """A question as an index of its graph is searched for it."""

    benchmark: str
    index: SearchIndex[Resource]
    sought: RecallQuery


async def staged(
    workspace: Workspace,
    asked: Sequence[Asked],
    selection: Selection,
    *,
    settings: Mapping[str, object],
    metric: str,
    crew: Crew,
    folder: Path | None = None,
    progress: Told | None = None,
    preparing: Progress = silent,
) -> Staged:
    """Ask each question in each configuration, and read from the traces what each stage found.

    `settings` are those of the method in all configurations. Raises `SetupError` for what cannot
    work, before any question is asked.
    """
    methods = tuple(
        MethodChoice(name, METHOD, json.dumps({**settings, **own, "filter": "off"}))
        for name, own in CONFIGURATIONS.items()
    )
    wishes = Wishes(methods, metric=metric, chosen=selection.json())
    with tempfile.TemporaryDirectory() as temporary:
        run = await evaluated(
            workspace, asked, wishes, selection, crew,
            folder=folder or Path(temporary) / "stages", progress=progress, preparing=preparing,
        )  # fmt: skip
        details = {detail.key: detail for detail in run.iterate_details()}
    recalls: dict[str, list[RecallResult]] = {one.name: [] for one in asked}
    async with Host.of(workspace) as host:
        gold = await gold_of(host, asked)
        for key, what in INDICES.items():
            sought = await searched_for(host, asked, key, gold, progress=preparing)
            for name, found in recalls.items():
                own = [(each.index, each.sought) for each in sought if each.benchmark == name]
                found.append(await asyncio.to_thread(measure_recall, what, own))
    cases = tuple(
        build_stage_case(record, details[record.key], gold[record.benchmark, record.id])
        for record in run.records
        if record.key in details
    )
    return Staged(run, cases, recalls)


async def gold_of(host: Host, asked: Sequence[Asked]) -> Gold:
    """Return the IRIs of each gold query, by benchmark and id."""
    found: dict[tuple[str, str], QueryLinks] = {}
    for one in asked:
        for question, source in zip(one.questions, one.graphs, strict=True):
            async with host.graph(source) as graph:
                prefixes = {**one.contents.prefixes, **graph.prefixes.namespaces}
            found[one.name, question.id] = extract_links(question.sparql, prefixes=prefixes)
    return found


async def searched_for(
    host: Host,
    asked: Sequence[Asked],
    key: str,
    gold: Gold,
    *,
    bm25: Bm25 | None = None,
    progress: Progress = silent,
) -> list[Searched]:
    """Return each question with what should be found, and the index of its graph, `key`.

    `progress` is told how far the indices are that have to be built for it.
    """
    opened: dict[str, SearchIndex[Resource]] = {}
    found: list[Searched] = []
    sources = {str(source) for one in asked for source in one.graphs}
    for one in asked:
        for question, source in zip(one.questions, one.graphs, strict=True):
            if str(source) not in opened:
                async with host.graph(source) as graph:
                    index = await asyncio.to_thread(ranked_names, graph, key, bm25 or Bm25())
                opened[str(source)] = index
                progress(f"indexing {key}", len(opened), len(sources))
            known = gold[one.name, question.id]
            wanted = known.entities if key == "entities" else known.predicates
            found.append(
                Searched(one.name, opened[str(source)], RecallQuery(question.text, wanted))
            )
    return found


async def linked_shares(
    workspace: Workspace, run: EvaluationRun, asked: Sequence[Asked], what: str
) -> dict[str, float]:
    """Return the F1 of the entities or predicates (`what`) that a run of the method found.

    By the key of the record, for questions whose gold has any.
    """
    async with Host.of(workspace) as host:
        gold = await gold_of(host, asked)
    records = {record.key: record for record in run.records}
    found: dict[str, float] = {}
    for detail in run.iterate_details():
        if record := records.get(detail.key):
            case = build_stage_case(record, detail, gold[record.benchmark, record.id])
            if getattr(case.gold, what):
                found[record.key] = getattr(compare_links(case.linked, case.gold), what).f1
    return found


async def recalls_of(
    workspace: Workspace,
    asked: Asked,
    numbers: Mapping[str, str],
    *,
    progress: Progress = silent,
) -> dict[str, float]:
    """Return the recall of BM25 with these `numbers`, as 2.95/0.2, for entities and predicates.

    The keys are as `entities @10`.
    """
    found: dict[str, float] = {}
    async with Host.of(workspace) as host:
        gold = await gold_of(host, [asked])
        for key, what in INDICES.items():
            bm25 = bm25_of(numbers[what])
            sought = await searched_for(host, [asked], key, gold, bm25=bm25, progress=progress)
            recall = measure_recall(what, [(each.index, each.sought) for each in sought])
            found |= {f"{what} @{limit}": share for limit, share in recall.shares_by_limit}
    return found


METHOD = "multi-stage"
_SETTINGS = {"entities": "bm25_entities", "predicates": "bm25_predicates"}


@dataclass(frozen=True)
class TunedIndex:
    """What the search found for one index, and what it is worth on questions that it did not see.

    `tested` is the recall with the numbers before and after, None if there were no such
    questions.
    """

    what: str
    tuned: TuningResult
    tested: tuple[RecallResult, RecallResult] | None = None


async def tune_bm25(
    workspace: Workspace,
    training: Sequence[Asked],
    test: Sequence[Asked] = (),
    *,
    progress: Progress = silent,
) -> tuple[TunedIndex, ...]:
    """Search the numbers for entities and for predicates, each by itself, from the present ones.

    Raises `SetupError` if a test question is a training question too.
    """
    seen = {question.text.casefold() for one in training for question in one.questions}
    if twice := [q for one in test for q in one.questions if q.text.casefold() in seen]:
        raise SetupError(f"{twice[0].id!r} is a test question and a training question")
    loop = asyncio.get_running_loop()
    settings = method_settings(workspace.folder, METHOD)
    results = []
    async with Host.of(workspace) as host:
        gold = await gold_of(host, (*training, *test))
        for key, what in INDICES.items():

            def measure(
                bm25: Bm25, asked: Sequence[Asked] = training, key: str = key, what: str = what
            ) -> RecallResult:
                work = searched_for(host, asked, key, gold, bm25=bm25)
                sought = asyncio.run_coroutine_threadsafe(work, loop).result()
                return measure_recall(what, [(one.index, one.sought) for one in sought])

            def tell(done: int, what: str = what) -> None:
                progress(f"k1 and b for {what}", done, MAX_EVALUATION_COUNT)

            kept = settings.get(_SETTINGS[what])
            start = bm25_of(str(kept)) if kept is not None else Bm25()
            found = await asyncio.to_thread(tune_parameters, measure, start=start, progress=tell)
            tested = [
                await asyncio.to_thread(measure, numbers, test)
                for numbers in ((found.before, found.after) if test else ())
            ]
            results.append(TunedIndex(what, found, (tested[0], tested[1]) if tested else None))
    return tuple(results)


def keep_tuned(workspace: Workspace, found: Sequence[TunedIndex]) -> None:
    """Write the numbers into `askgraph.toml`, as settings of the method that reads them."""
    values = {_SETTINGS[one.what]: str(one.tuned.after) for one in found}
    with_method(workspace.folder, METHOD, values)


Trainer = Callable[..., object]
"""`askgraph.training.train.train`, which needs the extra `local`."""


@dataclass(frozen=True)
class DataSet:
    """Questions to train on and to test on: two files, or the splits train and test of one."""

    name: str
    train: Path
    test: Path
    graph: str | None = None

    def split(self, wanted: str) -> str | None:
        """The split of its file that is wanted, None for all that is in a file of its own."""
        return wanted if self.train == self.test else None


@dataclass(frozen=True)
class Cross:
    """A model trained on each of some data sets, or on all but each (`others`), asked about all.

    `base` is the model that is trained, `folder` keeps pairs, models and answers: stopped, the same
    study goes on. `plain` is the form of what it writes, `numbers` are questions of each data set
    to train on (all, if there are none), `method` further settings of multi-stage.
    """

    base: str
    sets: Sequence[DataSet]
    folder: Path
    settings: TrainSettings
    others: bool = False
    plain: bool = False
    numbers: Sequence[int] = ()
    method: Mapping[str, object] = field(default_factory=dict)
    metric: str = "best_column"
    device: str | None = None
    download: bool = False


def crossed(
    workspace: Workspace, study: Cross, train: Trainer, *, progress: Progress = silent
) -> tuple[list[TransferRow], Mapping[str, str]]:
    """Train what is not trained yet, ask what is not asked yet; return the F1 of each model.

    With it come the formats of the data sets, by their names. The right terms stand in the pairs;
    what is asked is linked as `method` says, so that entities=given, predicates=given leaves the
    writer alone (figure 3 of Alekseev et al., NLDB 2025). Raises `SetupError` for fewer than two
    data sets, and as training and evaluating do.
    """
    names = [one.name for one in study.sets]
    if len(set(names)) < max(2, len(names)):
        raise SetupError("two data sets or more are wanted, each of another name (NAME=FILE)")
    selections = [Selection(graph=one.graph, split=one.split("test")) for one in study.sets]
    asked = [
        replace(selected(workspace, [str(one.test)], chosen)[0], name=one.name)
        for one, chosen in zip(study.sets, selections, strict=True)
    ]
    files = {one.name: _pairs_file(workspace, one, study, progress) for one in study.sets}
    seed, form = study.settings.seed, {"form": "plain"} if study.plain else {}
    rows = []
    for name in names:
        trained = tuple(one for one in names if (one != name) is study.others)
        for number in study.numbers or (None,):
            label = "+".join(trained) + (f"-{number}" if number else "")
            model = study.folder / "models" / _WORDLESS.sub("-", label)
            pairs, data = read_pairs([files[one] for one in trained])
            questions = sorted({one.id.partition("#")[0] for one in pairs})
            Random(seed).shuffle(questions)
            taken = set(questions[:number])
            kept = [one for one in pairs if one.id.partition("#")[0] in taken]
            train(
                study.base, kept, model, settings=study.settings, data=f"{data} {number or 'all'}",
                device=study.device, download=study.download, progress=progress,
            )  # fmt: skip
            writer = {"writer": "model", **form, "model": f"transformers/{model.absolute()}"}
            choice = MethodChoice("trained", METHOD, json.dumps({**study.method, **writer}))

            def tell(record: Record, done: int, planned: int, at: str = model.name) -> None:
                progress(f"asking {at}", done, planned)

            run = whole_run(
                workspace,
                asked,
                Wishes((choice,), metric=study.metric),
                Selection(),
                study.folder / "answers" / model.name,
                progress=tell,
            )
            f1: dict[str, list[float]] = {one.name: [] for one in asked}
            for record in run.records:
                f1[record.benchmark].append(record.get_score(study.metric).f1)
            means = {name: fmean(scores) for name, scores in f1.items()}
            rows.append(TransferRow(trained, means, number))
    return rows, {one.name: one.format for one in asked}


def _pairs_file(workspace: Workspace, one: DataSet, study: Cross, progress: Progress) -> Path:
    """Return the file with the pairs of a data set, which are made if they are not there."""
    seed = study.settings.seed
    about = f"{file_hash(one.train)} {one.graph} {study.plain} {seed}"
    digest = hashlib.sha256(about.encode()).hexdigest()[:12]
    path = study.folder / "pairs" / f"{_WORDLESS.sub('-', one.name)}-{digest}.jsonl"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        chosen = Chosen(((one.train, one.graph),), split=one.split("train"), seed=seed)
        form = PairForm(PLAIN if study.plain else REFERENCES, seed=seed)
        make_pairs(workspace, chosen, path, form=form, progress=progress)
    return path


_WORDLESS = re.compile(r"[^\w.+-]+")
