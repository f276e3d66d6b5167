"""Examples from the formats of benchmarks, and as lines."""

import gzip
import json
from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.examples import examples_in, write_lines_of
from askgraph.metadata.examples import QueryExample, Wording, read_examples

QALD = {
    "questions": [
        {
            "id": "7",
            "question": [
                {"language": "en", "string": "Which river crosses Exampletown?"},
                {"language": "de", "string": "Welcher Fluss fließt durch Exampletown?"},
                {"language": "de", "string": "Welcher Fluss durchquert Exampletown?"},
            ],
            "query": {"sparql": "SELECT ?uri WHERE { wd:Q1000001 wdt:P206 ?uri }"},
            "answers": [],
        },
        {
            "id": "8",
            "question": [{"language": "en", "string": "Why?"}],
            "query": {"sparql": "OUT OF SCOPE"},
            "answers": [],
        },
    ]
}
LCQUAD2 = [
    {
        "uid": 1,
        "NNQT_question": "What is the {population} of {Exampletown}?",
        "question": "How many people live in Exampletown?",
        "paraphrased_question": "How many inhabitants has Exampletown?",
        "sparql_wikidata": "SELECT ?answer WHERE { wd:Q1000001 wdt:P1082 ?answer }",
        "sparql_dbpedia18": "ASK { }",
        "subgraph": "simple question right",
    }
]


def test_the_languages_of_a_question_are_wordings_of_one_example(tmp_path: Path) -> None:
    path = tmp_path / "qald_sample_test.json.gz"
    path.write_bytes(gzip.compress(json.dumps(QALD).encode()))

    (example,) = examples_in(path).examples

    assert example.wordings == (
        Wording("Which river crosses Exampletown?", "en"),
        Wording("Welcher Fluss fließt durch Exampletown?", "de"),
        Wording("Welcher Fluss durchquert Exampletown?", "de"),
    )
    assert "PREFIX wdt: <http://www.wikidata.org/prop/direct/>" in example.query


def test_paraphrases_are_wordings_too(tmp_path: Path) -> None:
    path = tmp_path / "lcquad2_sample_test.json"
    path.write_text(json.dumps(LCQUAD2))

    (example,) = examples_in(path).examples

    assert example.wordings == (
        Wording("How many people live in Exampletown?", "en"),
        Wording("How many inhabitants has Exampletown?", "en"),
    )
    assert example.keywords == ("simple question right",)


def test_a_file_of_no_known_format_is_a_setup_error(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"a": 1}')
    with pytest.raises(SetupError, match="no format that is known"):
        examples_in(path)


def test_lines_have_one_question_for_each_wording(tmp_path: Path) -> None:
    others = (Wording("Welche Monde?", "de"),)
    given = QueryExample("Which moons?", "ASK { }", "en", others, keywords=("moons",))

    write_lines_of([given], tmp_path / "out.jsonl")

    assert read_examples(tmp_path / "out.jsonl") == (
        QueryExample("Which moons?", "ASK { }", "en", keywords=("moons",)),
        QueryExample("Welche Monde?", "ASK { }", "de", keywords=("moons",)),
    )
    assert len(examples_in(tmp_path / "out.jsonl").examples) == 2
