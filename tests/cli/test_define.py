"""`askgraph define`: words are taught, imported, listed and taken away."""

import json
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.each import for_each
from tests.fleet import FLEET, ONTO

GLOSSARY = """
instructions = "Weights are in kilograms."

[[entry]]
word = "vehicles"
means = ["car", "lorry"]

[[entry]]
word = "heft"
means = "o:weight"
"""


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.chdir(tmp_path)
    Path("fleet.ttl").write_text(FLEET)
    assert run("add", "fleet", "fleet.ttl").exit_code == 0


def test_a_taught_word_is_listed_and_answers() -> None:
    assert run("define", "fleet", "vehicles", "car", "lorry").exit_code == 0
    run("define", "fleet", "boats", "--same-as", "ship")
    listed = run("define", "fleet").stdout
    assert "vehicles" in listed and "o:Car or o:Lorry" in listed and "the same as 'ship'" in listed
    assert "“vehicles” means cars and lorries (taught)" in run("ask", "How many vehicles?").stdout


def test_a_file_is_imported_with_names_and_listed_as_json() -> None:
    Path("words.toml").write_text(GLOSSARY)
    assert run("define", "fleet", "--import", "words.toml").exit_code == 0
    assert json.loads(run("define", "fleet", "--json").stdout) == {
        "instructions": "Weights are in kilograms.",
        "entries": [
            {"word": "heft", "means": [f"{ONTO}weight"]},
            {"word": "vehicles", "means": [f"{ONTO}Car", f"{ONTO}Lorry"]},
        ],
    }
    run("define", "fleet", "--instructions", "")
    run("define", "fleet", "heft", "--remove")
    told = json.loads(run("define", "fleet", "--json").stdout)
    assert told["instructions"] == "" and [one["word"] for one in told["entries"]] == ["vehicles"]


def test_a_glossary_goes_from_toml_to_turtle_and_back() -> None:
    Path("words.toml").write_text(GLOSSARY)
    run("define", "fleet", "--import", "words.toml")
    run("define", "fleet", "boats", "--same-as", "ship")
    run("define", "fleet", "light fleet", "--query", "SELECT ?v {\n  ?v o:weight 900\n}")
    kept = run("define", "fleet", "--json").stdout
    for name in ("out.ttl", "out.toml"):
        assert run("define", "fleet", "--export", name).exit_code == 0
        run("define", "fleet", "--instructions", "")
        for word in ("vehicles", "heft", "boats", "light fleet"):
            run("define", "fleet", word, "--remove")
        assert run("define", "fleet", "--import", name).exit_code == 0
        assert run("define", "fleet", "--json").stdout == kept
    assert 'o:weight skos:altLabel "heft" .' in Path("out.ttl").read_text()


@for_each(
    ("arguments", "said"),
    (("flete",), "did you mean 'fleet'"),
    (("fleet", "vehicles"), "say what 'vehicles' means by one of"),
    (("fleet", "vehicles", "truck"), "nothing in the graph 'fleet' has this name"),
    (("fleet", "--same-as", "ship"), "name the word first"),
    (("fleet", "boats", "ship", "--remove"), "give no meaning with it"),
    (("fleet", "boats", "--remove"), "has no word 'boats'"),
    (("fleet", "--import", "none.toml"), "the glossary none.toml cannot be read"),
    (("fleet", "--export", "words.xml"), "name a file that ends in .toml or .ttl"),
    (("fleet", "--export", "none/words.ttl"), "cannot be written: No such file"),
    (("fleet", "light", "-q", "@none.rq"), "there is no file 'none.rq'"),
)
def test_wrong_use_says_what_to_do(arguments: tuple[str, ...], said: str) -> None:
    result = run("define", *arguments)
    assert result.exit_code == 2 and said in result.stderr
