"""Studies: tables of papers, representations and stages."""

import gzip
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.evaluation.reports.records import record

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.evaluation import Score, studies
from askgraph.evaluation.metrics import QueryLinks
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports import Interval
from askgraph.evaluation.runs import Record
from askgraph.evaluation.runs.scores import load_metrics
from askgraph.evaluation.studies import stages
from askgraph.evaluation.studies.representations import (
    EXPERIMENTS,
    Experiment,
    PublishedScore,
    build_study_sheet,
    compute_figures,
    compute_published_figures,
    read_experiments,
    read_published_scores,
)
from askgraph.index import Resource, SearchIndex
from askgraph.methods import get_preset_settings
from askgraph.methods.shared.cooccurrence import REACH_TEXTS
from askgraph.methods.shared.index_cache import Bm25Parameters
from askgraph.trace import Usage
from askgraph.workspace import Workspace
from askgraph.workspace.study import PaperStudy, plan_rows

SHOTS = {"shots": 3, "shots_by": "similar"}
RANDOM = {"shots": 3, "shots_by": "random"}
F = {"feedback": "always"}
LEARNT: dict[str, object] = {"examples": "/learnt"}
BY_HAND: dict[str, object] = {"examples": "/fixed"}
DFSL = LEARNT | {"variant": "dynamic", "k": 5, "match": "terms", "hypotheses": "beam", "n": 3}
BEAMS = DFSL | {"hypotheses": "beams", "n": 10}
IN_WORDS = DFSL | {"hypotheses": "prompt", "n": 10}
LARGEST, FIRST = {"choose": "largest"}, {"choose": "first"}
PLATEAU = LEARNT | {"shots": 10, "classes": 10, "fraction": 1.0, "without": "values"}
LINKER: dict[str, object] = {
    "entities": "outside",
    "linker": "refined",
    "linker_address": "<ReFinED>",
}
TRAINED = {"writer": "model", "predicates": "reason", "candidates": 10, "filter": "direct"}
STAGES = TRAINED | {"entities": "reason", "picker": "<picker>"}
GIVEN = TRAINED | {"entities": "given", "predicates": "given"}
EMBEDDERS = (
    "bge-small-en-v1.5", "bge-large-en-v1.5", "all-MiniLM-L6-v2", "jina-embeddings-v3",
    "paraphrase-multilingual-mpnet-base-v2",
)  # fmt: skip
ROWS: dict[str, dict[str, dict[str, object]]] = {  # what the papers say of rows, and of tables
    "grasp": {
        "GRASP": {"tools": "S_E", "feedback": "never", "shots": 0}, "GRASP-F": F | {"shots": 0},
        "GRASP similar 3-shot": SHOTS, "GRASP-F similar 3-shot": SHOTS | F,
        "GRASP sim": SHOTS, "GRASP-F sim": SHOTS | F,
        "GRASP rand": RANDOM, "GRASP-F rand": RANDOM | F,
        **{name: {"tools": name, "shots": 0} for name in ("B", "S", "S_A", "S_C", "S_E")},
    },
    "dfsl": {
        "Zero-shot": {"variant": "zero"}, "Plain question": {"variant": "plain"},
        "Few-shot": BY_HAND | {"variant": "fixed", "k": 5, "pick": "first"}, "DFSL": DFSL,
        "DFSL-MQP LS": IN_WORDS | LARGEST, "DFSL-MQP FS": IN_WORDS | FIRST,
        **{f"DFSL-MQ {x}FS": BEAMS | FIRST for x in ("", "beam ")}, "DFSL-MQ LS": BEAMS | LARGEST,
        **{f"DFSL without {x}": DFSL | {"without": x} for x in ("relations", "entities", "both")},
        **{f"k = {k}": DFSL | {"k": k} for k in (1, 3, 5, 7)},
        "question": DFSL | {"match": "question"}, "question, entities, relations": DFSL,
    },
    "sparql-llm": {
        **{f"SPARQL-LLM{size}": PLATEAU for size in ("", " lg", " sm", " os")}, "nothing": PLATEAU,
        **{f"{part} %": PLATEAU | {"fraction": part / 100} for part in (25, 50, 75, 100)},
        **{str(n): PLATEAU | {"shots": n} for n in (1, 2, 5, 10, 15, 20)},
        "0": {"shots": 0}, "examples": {"shots": 0}, "classes": PLATEAU | {"classes": 0},
        "properties": PLATEAU | {"without": "values+properties"},
        "property ranges": PLATEAU | {"without": "values+ranges"},
        "order of properties": PLATEAU | {"without": "values+order"},
        "validation": PLATEAU | {"validate": False},
        **{name: PLATEAU | {"embedder": f"<{name}>"} for name in EMBEDDERS},
    },
    "multi-stage": {
        "2": {"writer": "grown", "predicates": "linked"}, "fig2": GIVEN, "fig3": GIVEN,
        "3": {"writer": "grown", "entities": "linked", "predicates": "reason"},
        "ReFinED": LINKER, "spaCy": {**LINKER, "linker": "spacy", "linker_address": "<spaCy>"},
        "Falcon": {**LINKER, "linker": "falcon", "linker_address": "<Falcon>"},
        "RetReason@10": {"candidates": 10}, "RetReason@100": {"candidates": 100},
        "Direct": {"shots": 5}, "LLM rejection": {"shots": 5},
        "Few-shot + ReFinED": LINKER | {"writer": "sparql", "shots": 5, "predicates": "reason"},
        "Trained + RetReason": STAGES, "Trained + ReFinED": STAGES | LINKER,
        "Trained elsewhere + ReFinED": STAGES | LINKER,
        "Execution": STAGES | {"filter": "off"}, "Filtering and execution": STAGES,
        "numbers for QALD-10": {"bm25_entities": "2.95/0.2", "bm25_predicates": "5.18/0.01"},
        "numbers for LC-QuAD 2.0": {"bm25_entities": "2.45/0.2", "bm25_predicates": "2.95/0.01"},
        "numbers for RuBQ 2.0": {"bm25_entities": "1.39/0.4", "bm25_predicates": "2.0/0.01"},
        "numbers for PAT": {"bm25_entities": "1.0/0.7", "bm25_predicates": "0.1/0.01"},
    },
    "text2sparql": {"without": {"shots": 0}, "with": LEARNT},
}  # fmt: skip


@for_each("name", studies.PAPERS)
def test_a_row_sets_what_its_paper_says_and_nothing_else(name: str, tmp_path: Path) -> None:
    paper = studies.read_paper(name)
    models = {row.model for table in paper.tables for row in table.rows if row.model}
    resources = {key: f"<{key}>" for key in {*paper.needs, *models}} | {"fixed": "/fixed"}
    study = PaperStudy(paper, (), tmp_path, resources=resources, examples=Path("/learnt"))
    needed = set[str]()
    for planned in plan_rows(Workspace(tmp_path), study, ()):
        table, row = planned.table, planned.row
        plugin: Any = plugins.load("method", planned.choice.name)
        settings: dict[str, object] = json.loads(planned.choice.settings)
        assert settings.pop("model", None) == (f"<{row.model}>" if row.model else None)
        needed |= {row.model, *(str(value)[1:-1] for value in settings.values())}
        by_paper = name != "text2sparql" and planned.choice.name != "direct"
        assert settings.pop("preset", None) == ("paper" if by_paper else None)
        base: dict[str, object] = {one.name: one.default for one in fields(plugin)}
        base |= get_preset_settings(plugin, "paper" if by_paper else "best")
        said = {**ROWS[name].get(table.name, {}), **ROWS[name].get(row.name, {})}
        assert said.items() <= (base | settings).items(), (table.name, row.name)
        changed = settings.items() - base.items()
        assert changed <= said.items(), (table.name, row.name)
        assert said or not table.asks_questions, (table.name, row.name)
        assert settings.keys() <= base.keys() and not planned.missing
        assert set(row.published) <= set(table.heads)
        if table.measure == "answers":
            assert set(table.heads) <= set(load_metrics())
    assert set(paper.needs) <= needed
    assert len({table.name for table in paper.tables}) == len(paper.tables)


def test_figures_of_papers() -> None:
    # Figures are those of their benchmark.
    [table] = studies.read_paper("grasp").select_tables(["6"])
    row = next(row for row in table.rows if row.name == "S_E")
    assert row.published["row_assignment"]["QALD-7"] == 73.5
    [table] = studies.read_paper("multi-stage").select_tables(["4"])
    assert table.rows[-1].published["accuracy_at_1"]["RuBQ 2.0"] == 45.9
    assert studies.load_published_representations()[10]["geo"] == pytest.approx((0.5, 0.583))
    # Modifiers are counted in queries not in texts and names.
    questions = [asked(one) for one in QUERIES]
    words = ("COUNT", "LIMIT", "ORDER BY", "FILTER", "ASK", "GROUP BY", "YEAR")
    counts = {word: studies.count_modifier(questions, word)["queries"] for word in words}
    assert {word: found.mean for word, found in counts.items() if found} == {
        "COUNT": 1, "LIMIT": 0, "ORDER BY": 0, "FILTER": 1, "ASK": 1, "GROUP BY": 1, "YEAR": 1,
    }  # fmt: skip
    # A hop is a triple pattern and broken queries do not count.
    found = {
        name: one and one.mean
        for name, one in studies.measure_hops(list(map(asked, QUERIES)), {}).items()
    }
    assert found == {
        "multi-hop": pytest.approx(1 / 3), "hops": pytest.approx(4 / 3), "fewest": 1, "most": 2,
    }  # fmt: skip
    assert set(studies.measure_hops([], {}).values()) == {None}
    # Repetitions of a question are one value and their costs add up.
    records = [paper_record("a", 1.0), paper_record("a", 0.0, repeat=1), paper_record("b", 0.5)]
    [averaged] = studies.measure_records(records, "answers", {"best_column": "F1"})
    assert averaged.questions == 2 and averaged.figures["best_column"] == Interval(0.5, 0.5, 0.5)
    assert (averaged.usage.llm_calls, averaged.usage.seconds) == (6, 6.0)
    # What was rejected is told of wrong and right ones.
    records = [
        paper_record("a", 1.0, "refusal"),
        paper_record("b", 0.0, "refusal"),
        paper_record("c", 0.0),
    ]
    [rejected] = studies.measure_records(records, "rejection", {})
    caught, lost = rejected.figures["caught"], rejected.figures["lost"]
    assert caught and caught.mean == 0.5 and lost and lost.mean == 1.0


def asked(sparql: str) -> GoldQuestion:
    return GoldQuestion("q", "What?", "en", sparql)


QUERIES = (
    "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(YEAR(?z) = 2000) }",
    "SELECT (COUNT(*) AS ?n) { ?x <urn:limit> ' ORDER BY ' } GROUP BY ?x",
    "ASK { <urn:a> <urn:p> ?x }",
    "SELECT ?x { broken",
)


def paper_record(question: str, f1: float, status: str = "answer", repeat: int = 0) -> Record:
    scores = {"best_column": Score(f1, f1, f1)}
    return Record(
        question, question, status, 1.0, scores, 2.0, None, None, benchmark="qald-10-test",
        graph="g", repeat=repeat, usage=Usage(llm_calls=2, input_tokens=10, output_tokens=1),
    )  # fmt: skip


def test_published_figures_are_those_that_the_name_of_the_file_says() -> None:
    [table] = studies.read_paper("dfsl").select_tables(["5.4"])
    one = studies.Measurement("g", "qald-9-plus-test", 3, {"dfsl": Interval(0.5, 0.4, 0.6)})
    lines = [
        studies.MeasuredRow(table.rows[0], (one,), model="m", run="r"),
        studies.MeasuredRow(table.rows[1], reason="no model"),
    ]
    sheet = studies.build_paper_sheet(table, lines)
    heads = [column.head for column in sheet.columns]

    assert [head for head in heads if "published" in head] == ["published QALD-9 Plus"]
    cells = dict(zip(heads, sheet.rows[0], strict=True))
    assert (cells["F1"], cells["95 %"]) == (0.5, "40.0 to 60.0")
    assert cells["published QALD-9 Plus"] == pytest.approx(0.7659)
    assert dict(zip(heads, sheet.rows[1], strict=True))["F1"] is None
    assert sheet.notes == ("Not run: DFSL-MQP LS (CodeLlama 70B): no model",)
    others = studies.build_paper_sheet(table, [studies.MeasuredRow(table.rows[0])])
    assert sum("published" in column.head for column in others.columns) == 4


def record_representations(question: str, f1: float, *tags: str, repeat: int = 0) -> Record:
    scores = {"best_column": Score(f1, f1, f1)}
    return Record(question, question, "answer", 1.0, scores, 0.1, None, None,
                  tags=tags, repeat=repeat)  # fmt: skip


def test_figures_of_representations(tmp_path: Path) -> None:
    # Figures are means over questions and repetitions.
    records = [
        record_representations("a", 1.0, "geo"),
        record_representations("a", 0.5, "geo", repeat=1),
        record_representations("b", 0.0),
    ]
    assert compute_figures(records, "best_column", ["geo", "none"]) == (
        (1 / 3, 0.5),
        (0.5, 0.75),
        None,
    )
    # Published scores count for the questions that were asked.
    published = [PublishedScore(1, "a", 1.0, 1.0), PublishedScore(1, "gone", 0.0, 0.0)]
    assert compute_published_figures(published, {"a": ("geo",)}, ["geo"]) == (
        (1.0, 1.0),
        (1.0, 1.0),
    )
    # The thirteen experiments are those of the paper: boundaries, and what is added to the graph.
    outgoing = ["", "inverse", "shortcuts", "inverse shortcuts", "comments"]
    pairs = [("outgoing", "outgoing", outgoing[0]), ("neighbourhood", "neighbourhood", "")]
    for added in (*outgoing, "inverse shortcuts comments"):
        pairs += [("outgoing", "outgoing", added)] * (added in outgoing[1:])
        pairs += [("outgoing", "specific", "")] * (not added)
        pairs.append(("neighbourhood", "specific", added))
    kinds = ("inverse", "shortcuts", "comments")
    assert [
        (one.individuals, one.schema, " ".join(kind for kind in kinds if getattr(one, kind)))
        for one in EXPERIMENTS
    ] == pairs
    assert [one.number for one in EXPERIMENTS] == list(range(1, 14))
    # The table has a row an experiment and the published beside ours.
    ours, theirs = ((0.5, 0.6), None), ((0.1, 0.2), (0.3, 0.4))
    results = {Experiment(1): ours, Experiment(2, "neighbourhood", inverse=True): ours}
    sheet = build_study_sheet("study", results, ["geo"], published={1: theirs})
    heads = [column.head for column in sheet.columns]
    assert heads[-8:] == [
        "all EM", "published", "all F1", "published",
        "geo EM", "published", "geo F1", "published",
    ]  # fmt: skip
    assert sheet.rows[0][-8:] == (0.5, 0.1, 0.6, 0.2, None, 0.3, None, 0.4)
    assert sheet.rows[1][:6] == (2, "neighbourhood", "outgoing", "x", "", "")
    assert sheet.rows[1][-7] is None
    # Experiments are read in order.
    path = tmp_path / "mine.toml"
    path.write_text('[[experiment]]\nschema = "specific"\n[[experiment]]\ncomments = true\n')
    assert read_experiments(path) == (
        Experiment(1, schema="specific"),
        Experiment(2, comments=True),
    )


@for_each(
    ("text", "said"),
    ('[[experiment]]\nschema = "all"', r"experiment\]\] 1: schema = 'all' is not valid"),
    ("[[experiment]]\ninverse = 1", "inverse = 1 is not valid"),
    ("[[experiment]]\nnumber = 4", "number = 4 is not valid"),
    ("", "two brackets"),
    ("[[", "cannot be read"),
)
def test_what_is_no_experiment_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SetupError, match=said):
        read_experiments(path)


def test_published_scores_are_read_packed_or_not(tmp_path: Path) -> None:
    line = '{"exp": 3, "id": "a", "em": 1, "f1": 1.0, "query": "…"}\n'
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(line)

    assert read_published_scores(tmp_path / "a.jsonl") == (PublishedScore(3, "a", 1.0, 1.0),)
    assert read_published_scores(tmp_path / "a.jsonl.gz") == read_published_scores(
        tmp_path / "a.jsonl"
    )
    (tmp_path / "a.jsonl").write_text('{"exp": 3}')
    with pytest.raises(SetupError, match="expected lines of JSON with exp, id, em and f1"):
        read_published_scores(tmp_path / "a.jsonl")


METRIC = "best_column"
NONE, AT_ONCE, FURTHER, NOWHERE = REACH_TEXTS


def case(
    number: int,
    f1: float,
    *,
    reach: str = AT_ONCE,
    status: str = "answer",
    written: int = 1,
    confidence: float = 0.9,
    graph: str = "space",
) -> stages.StageCase:
    made = record(f"q{number}", f1, status=status, confidence=confidence, graph=graph)
    return stages.StageCase(made, QueryLinks(), QueryLinks(), QueryLinks(), reach, written)


def shares(cases: list[stages.StageCase], policy: str) -> tuple[float | None, float | None]:
    found = stages.compare_policies(cases, METRIC)[policy]
    return found.caught_share, found.lost_share


def test_measuring_stages(index: SearchIndex[Resource]) -> None:
    # Each policy catches more than the one before.
    cases = [
        case(1, 1.0),
        case(2, 0.0, written=0, status="refusal"),
        case(3, 0.0, status="refusal"),
        case(4, 0.0, reach=NOWHERE),
        case(5, 0.5, reach=FURTHER),
        case(6, 1.0, reach=FURTHER),
    ]
    assert shares(cases, "writer says no") == (0.25, 0.0)
    assert shares(cases, "execution") == (0.5, 0.0)
    assert shares(cases, "filter (reach) and execution") == (0.75, 0.0)
    assert shares(cases, "filter (direct) and execution") == (1.0, 0.5)
    # A right answer that is empty is lost where the empty is refused.
    assert shares([case(1, 1.0, status="refusal"), case(2, 1.0)], "execution") == (None, 0.5)
    # A threshold is chosen on the other graphs alone.
    cases = [case(at, 1.0, confidence=0.5 + at / 100, graph="one") for at in range(20)]
    cases += [case(20 + at, 0.0, confidence=0.4, graph="one") for at in range(5)]
    cases += [case(30, 0.0, confidence=0.51, graph="two"), case(31, 1.0, confidence=0.53,
              graph="two")]  # fmt: skip
    found = stages.compare_policies(cases, METRIC)["execution, confidence"]
    # Two of twenty may be lost on `one`, which puts the threshold for `two` at 0.52; the threshold
    # for `one` comes from the one right answer of `two`, of which none may be lost.
    assert (found.wrong, found.wrong_rejected) == (6, 6)
    assert (found.right, found.right_rejected) == (21, 3)
    # Errors are left out.
    found = stages.compare_policies([case(1, 0.0, status="error"), case(2, 1.0)], METRIC)[
        "execution"
    ]
    assert (found.wrong, found.right) == (0, 1)
    # Recall is the mean share of what is wanted.
    sought = [
        (index, stages.RecallQuery("Which moons has Jupiter?", frozenset({f"{EX}0", f"{EX}1"}))),
        (index, stages.RecallQuery("Where is Mars?", frozenset({f"{EX}1"}))),
        (index, stages.RecallQuery("What is there?", frozenset())),
    ]
    recall = stages.measure_recall("entities", sought, (1, 10))
    assert recall.questions == 2 and dict(recall.shares_by_limit) == {1: 0.5, 10: 0.75}
    # Where nothing is sought there is no recall.
    assert stages.measure_recall("predicates", [], (10,)).shares_by_limit == ((10, 0.0),)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.5, 1.0]),
            st.sampled_from(REACH_TEXTS),
            st.sampled_from(["answer", "refusal"]),
            st.integers(0, 3),
            st.floats(0, 1),
            st.sampled_from(["one", "two", "three"]),
        )
    )
)
def test_a_policy_that_adds_to_another_rejects_no_less(
    drawn: list[tuple[float, str, str, int, float, str]],
) -> None:
    cases = [
        case(at, f1, reach=reach, status=status, written=written, confidence=sure, graph=graph)
        for at, (f1, reach, status, written, sure, graph) in enumerate(drawn)
    ]
    found = stages.compare_policies(cases, METRIC)

    assert len({(one.wrong, one.right) for one in found.values()}) == 1
    for less, more in (
        ("execution", "filter (reach) and execution"),
        ("filter (reach) and execution", "filter (direct) and execution"),
        ("execution", "execution, confidence"),
        ("filter (direct) and execution", "filter (direct) and execution, confidence"),
    ):
        assert found[less].wrong_rejected <= found[more].wrong_rejected
        assert found[less].right_rejected <= found[more].right_rejected


EX = "http://example.org/"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex[Resource]:
    folder: Path = tmp_path_factory.mktemp("recall") / "bm25"
    names = ("Jupiter", "Mars", "moon of Jupiter", "great moon")
    plugin: Any = plugins.load("index", "bm25")
    resources = [Resource(f"{EX}{at}", name) for at, name in enumerate(names)]
    built: SearchIndex[Resource] = plugin.build(resources, folder)
    return built


START = Bm25Parameters()


@given(st.floats(0.1, 10), st.floats(0, 1))
def test_the_best_of_a_smooth_hill_is_found_nearby(k1: float, b: float) -> None:
    asked: list[Bm25Parameters] = []

    def measure(one: Bm25Parameters) -> stages.RecallResult:
        asked.append(one)
        height = 1 - abs(one.k1 - k1) / 20 - abs(one.b - b) / 2
        return stages.RecallResult("entities", 1, ((10, height), (100, 1.0)))

    found = stages.tune_parameters(measure, start=START)

    assert found.recall_after.shares_by_limit >= found.recall_before.shares_by_limit
    nearest = min(abs(value - k1) for value in (*stages.K1_WEIGHTS, START.k1))
    assert abs(found.after.k1 - k1) == pytest.approx(nearest)
    assert len(asked) == len(set(asked)) <= stages.MAX_EVALUATION_COUNT + 1


def test_numbers_and_published_rows() -> None:
    # Numbers that change nothing stay.
    told: list[int] = []
    found = stages.tune_parameters(
        lambda one: stages.RecallResult("entities", 1, ((10, 0.5),)),
        start=START,
        progress=told.append,
    )
    assert found.after == found.before == START and told == list(range(1, len(told) + 1))
    # Beside a model that is trained as published stands what was published.
    formats = {"QALD": "qald", "RuBQ": "rubq", "ours": "questions_jsonl"}
    rows = [
        stages.TransferRow(("QALD",), {"QALD": 0.5, "RuBQ": 0.25, "ours": 0.125}),
        stages.TransferRow(("QALD", "ours"), {"QALD": 0.5, "RuBQ": 0.25, "ours": 0.125}),
        stages.TransferRow(("QALD",), {"QALD": 0.0, "RuBQ": 0.0, "ours": 0.0}, questions=100),
    ]
    sheet = stages.build_transfer_sheet(rows, formats)
    assert [column.head for column in sheet.columns] == [
        "trained on", "questions", "QALD", "RuBQ", "ours", "QALD, published", "RuBQ, published",
    ]  # fmt: skip
    assert [row[-2:] for row in sheet.rows] == [(0.276, None), (None, 0.225), (None, None)]
    assert [row[:2] for row in sheet.rows][1:] == [("QALD + ours", "all"), ("QALD", "100")]
