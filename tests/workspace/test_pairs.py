"""Pairs to train on, from a benchmark or from the examples that a graph keeps."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.graphs import MOONS, store_of

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.methods.writing.model_writer import parse_query
from askgraph.methods.writing.term_names import list_required_terms
from askgraph.training.pairs import read_pairs
from askgraph.workspace import Workspace
from askgraph.workspace.pairs import PairForm, QuestionSelection, make_pairs


def test_questions_of_a_benchmark_become_pairs(space: Workspace, tmp_path: Path) -> None:
    output = tmp_path / "pairs.jsonl"

    made = make_pairs(
        space,
        QuestionSelection(((sample.questions_path().with_suffix(".jsonl"), None),)),
        output,
        form=PairForm(copies=False),
    )

    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert made.pairs == len(lines) == made.questions - len(made.left_out)
    assert {one.reason for one in made.left_out} == {"it has no query"}
    with pytest.raises(SetupError, match="no question with a query"):
        make_pairs(space, None, output)


def test_if_no_question_makes_a_pair_the_file_stays(space: Workspace, tmp_path: Path) -> None:
    output, questions = tmp_path / "pairs.jsonl", tmp_path / "q.jsonl"
    output.write_text("kept")
    record = {"id": "1", "question": "Which moons?", "sparql": "SELECT ?m { ?m"}
    questions.write_text(json.dumps(record) + "\n")

    with pytest.raises(SetupError):
        make_pairs(space, QuestionSelection(((questions, None),)), output)

    assert output.read_text() == "kept"


def test_of_what_graph_search_proposes_the_right_query_is_the_reply(
    space: Workspace, tmp_path: Path
) -> None:
    output = tmp_path / "pairs.jsonl"
    questions = sample.questions_path().with_suffix(".jsonl")
    chosen = QuestionSelection(((questions, None),), number=12, language="en")

    made = make_pairs(space, chosen, output, form=PairForm(proposed=True))

    pairs, _ = read_pairs([output])
    assert made.questions == 12 and len(pairs) + len(made.left_out) == 12
    store = store_of(sample.graph_path().read_text("utf-8"))
    golds = {one.id: one for one in read_questions(questions)}
    for pair in pairs:
        assert len(pair.listed) > len(list_required_terms(parse_query(pair.target, pair.names)))
        reply, gold = (
            list(map(str, store.query(query)))  # type: ignore[arg-type]
            for query in (parse_query(pair.target, pair.names), golds[pair.id].sparql or "")
        )
        assert len(reply) == len(gold)
    again = make_pairs(space, chosen, tmp_path / "again.jsonl", form=PairForm(proposed=True))
    assert again == made
    assert (tmp_path / "again.jsonl").read_bytes() == output.read_bytes()


def test_questions_of_several_graphs_are_chosen_by_tag_and_number(tmp_path: Path) -> None:
    records = []
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.ttl").write_text(MOONS)
        for number in range(3):
            query = "SELECT ?m { ?m <http://example.org/onto#orbits> <http://example.org/Jupiter> }"
            record = {"id": f"{name}{number}", "question": "Which moons?", "sparql": query}
            records.append({**record, "kg": f"{name}.ttl", "tags": [f"style:{name[0]}"]})
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    workspace = Workspace(tmp_path / "workspace")

    def ids(**more: Any) -> list[str]:
        output = tmp_path / "pairs.jsonl"
        make_pairs(
            workspace,
            QuestionSelection(((file, None),), **more),
            output,
            form=PairForm(copies=False),
        )
        return [one.id for one in read_pairs([output])[0]]

    assert len(ids()) == 9
    assert {one[:3] for one in ids(tags=("style:o",))} == {"one"}
    assert len(ids(number=2)) == 6
    few, more = ids(graphs=1), ids(graphs=2)
    with pytest.raises(SetupError, match="tag 'style:z'; available: style:o, style:t"):
        ids(tags=("style:z",))
    assert len(few) == 3 and len(more) == 6 and set(few) < set(more)
