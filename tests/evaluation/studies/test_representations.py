"""The table of a study has the means of each experiment, of all questions and of some."""

import gzip
from pathlib import Path

import pytest
from tests.each import each

from askgraph.errors import SetupError
from askgraph.evaluation import Score
from askgraph.evaluation.runs import Record
from askgraph.evaluation.studies.representations import (
    EXPERIMENTS,
    Experiment,
    Published,
    figures_of,
    published_figures,
    read_experiments,
    read_published,
    study_sheet,
)


def record(question: str, f1: float, *tags: str, repeat: int = 0) -> Record:
    scores = {"best_column": Score(f1, f1, f1)}
    return Record(question, question, "answer", 1.0, scores, 0.1, None, None,
                  tags=tags, repeat=repeat)  # fmt: skip


def test_figures_are_means_over_questions_and_repetitions() -> None:
    records = [record("a", 1.0, "geo"), record("a", 0.5, "geo", repeat=1), record("b", 0.0)]

    assert figures_of(records, "best_column", ["geo", "none"]) == (
        (1 / 3, 0.5),
        (0.5, 0.75),
        None,
    )


def test_published_scores_count_for_the_questions_that_were_asked() -> None:
    published = [Published(1, "a", 1.0, 1.0), Published(1, "gone", 0.0, 0.0)]
    assert published_figures(published, {"a": ("geo",)}, ["geo"]) == ((1.0, 1.0), (1.0, 1.0))


def test_the_thirteen_experiments_are_six_variants_of_a_graph() -> None:
    variants = [one.variant for one in EXPERIMENTS]
    assert [one.number for one in EXPERIMENTS] == list(range(1, 14))
    assert {name: variants.count(name) for name in variants} == {
        "plain": 4,
        "inverse": 2,
        "shortcuts": 2,
        "inverse-shortcuts": 2,
        "comments": 2,
        "inverse-shortcuts-comments": 1,
    }


def test_the_table_has_a_row_an_experiment_and_the_published_beside_ours() -> None:
    ours, theirs = ((0.5, 0.6), None), ((0.1, 0.2), (0.3, 0.4))
    results = {Experiment(1): ours, Experiment(2, "neighbourhood", inverse=True): ours}

    sheet = study_sheet("study", results, ["geo"], published={1: theirs})

    heads = [column.head for column in sheet.columns]
    assert heads[-8:] == [
        "all EM", "published", "all F1", "published",
        "geo EM", "published", "geo F1", "published",
    ]  # fmt: skip
    assert sheet.rows[0][-8:] == (0.5, 0.1, 0.6, 0.2, None, 0.3, None, 0.4)
    assert sheet.rows[1][:6] == (2, "neighbourhood", "outgoing", "x", "", "")
    assert sheet.rows[1][-7] is None


def test_experiments_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[experiment]]\nschema = "specific"\n[[experiment]]\ncomments = true\n')
    assert read_experiments(path) == (
        Experiment(1, schema="specific"),
        Experiment(2, comments=True),
    )


@each(
    ("text", "said"),
    [
        ('[[experiment]]\nschema = "all"', r"experiment\]\] 1: schema = 'all' is wrong"),
        ("[[experiment]]\ninverse = 1", "inverse = 1 is wrong"),
        ("[[experiment]]\nnumber = 4", "number = 4 is wrong"),
        ("", "two brackets"),
        ("[[", "cannot be read"),
    ],
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

    assert read_published(tmp_path / "a.jsonl") == (Published(3, "a", 1.0, 1.0),)
    assert read_published(tmp_path / "a.jsonl.gz") == read_published(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"exp": 3}')
    with pytest.raises(SetupError, match="exp, id, em and f1 are wanted"):
        read_published(tmp_path / "a.jsonl")
