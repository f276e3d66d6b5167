"""Telling a format from a file, naming it, and what goes wrong."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import formats
from askgraph.graph.examples import QueryExample, Wording, read_examples

LINE = json.dumps({"id": "a", "question": "A?", "sparql": "ASK {}"})


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_naming_and_guessing_formats(tmp_path: Path) -> None:
    # A format that is named is not guessed.
    path = write(tmp_path, "a.txt", "\n" + LINE)
    name, contents = formats.read_benchmark(str(path), format="Questions-JSONL")
    assert (name, [q.id for q in contents.questions]) == ("questions_jsonl", ["a"])
    # A file of no known format says which there are.
    path = write(tmp_path, "a.csv", "id,question\n1,Who?")
    with pytest.raises(
        SetupError, match=r"a\.csv has an unknown format; .*one of cwq, dblp_quad, .*qald"
    ):
        formats.read_benchmark(path)
    # A file of two formats asks which it is.
    records = [{"corrected_question": "A?", "NNQT_question": "A?"}]
    path = write(tmp_path, "a.json", json.dumps(records))
    with pytest.raises(SetupError, match="may be 'lcquad' or 'lcquad2': name its format"):
        formats.detect_format(path)
    # An unknown format is a setup error.
    with pytest.raises(SetupError, match="no benchmark named 'quald'; did you mean 'qald'"):
        formats.read_benchmark(write(tmp_path, "a.json", LINE), format="quald")
    # A file that is not there is a setup error.
    with pytest.raises(SetupError, match=r"no file or folder '.*absent\.json'"):
        formats.read_benchmark(tmp_path / "absent.json")
    # A file without items is a setup error.
    with pytest.raises(SetupError, match="contains no questions in the format 'qald'"):
        formats.read_benchmark(write(tmp_path, "a.json", '{"questions": []}'), format="qald")
    # Invalid json names file and line.
    path = write(tmp_path, "a.json", '[{"corrected_question": "A?"},\n {"corrected_question": ]')
    with pytest.raises(SetupError, match=r"a\.json, line 2: not JSON"):
        formats.read_benchmark(path)
    # A file of no known format is a setup error.
    path = tmp_path / "some.json"
    path.write_text('{"a": 1}')
    with pytest.raises(SetupError, match="an unknown format"):
        formats.read_example_file(path)
    # Lines have one question for each wording.
    others = (Wording("Welche Monde?", "de"),)
    given = QueryExample("Which moons?", "ASK { }", "en", others, keywords=("moons",))
    formats.write_examples([given], tmp_path / "out.jsonl")
    assert read_examples(tmp_path / "out.jsonl") == (
        QueryExample("Which moons?", "ASK { }", "en", keywords=("moons",)),
        QueryExample("Welche Monde?", "ASK { }", "de", keywords=("moons",)),
    )
    assert len(formats.read_example_file(tmp_path / "out.jsonl").examples) == 2


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_said_to_be_empty(text: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"a\.jsonl is empty"):
        formats.read_benchmark(write(tmp_path, "a.jsonl", text))


def test_wordings_of_one_example(tmp_path: Path) -> None:
    # Without the library of one format the others are still told.
    lines = write(tmp_path, "a.jsonl", LINE)
    other = write(tmp_path, "a.yml", "dataset: {}\nquestions: []\n")
    script = (
        "import sys; sys.modules['yaml'] = None\n"
        "from pathlib import Path\n"
        "from askgraph.errors import SetupError\n"
        "from askgraph.evaluation.benchmarks.formats import detect_format\n"
        f"print(detect_format(Path({str(lines)!r})))\n"
        f"try: detect_format(Path({str(other)!r}))\n"
        "except SetupError as error: print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith("questions_jsonl\n")
    assert "benchmark 'text2sparql' needs yaml: pip install 'askgraph[evaluation]'" in said
    # The languages of a question are wordings of one example.
    path = tmp_path / "qald_sample_test.json.gz"
    path.write_bytes(gzip.compress(json.dumps(QALD).encode()))
    (example,) = formats.read_example_file(path).examples
    assert example.wordings == (
        Wording("Which river crosses Exampletown?", "en"),
        Wording("Welcher Fluss fließt durch Exampletown?", "de"),
        Wording("Welcher Fluss durchquert Exampletown?", "de"),
    )
    assert "PREFIX wdt: <http://www.wikidata.org/prop/direct/>" in example.query
    # Paraphrases are wordings too.
    path = tmp_path / "lcquad2_sample_test.json"
    path.write_text(json.dumps(LCQUAD2))
    (example,) = formats.read_example_file(path).examples
    assert example.wordings == (
        Wording("How many people live in Exampletown?", "en"),
        Wording("How many inhabitants has Exampletown?", "en"),
    )
    assert example.keywords == ("simple question right",)


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
