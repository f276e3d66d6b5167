"""A confirmed answer from its question to its end: asked, confirmed, used, flagged, withdrawn."""

import json
from itertools import cycle
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.graphs import MOONS
from tests.servers.llm import LlmServer

from askgraph.workspace import Workspace

ASKED = "Which moons orbit Mars?"
AGAIN = ["  which MOONS  orbit\tmars", "Which moons orbit Mars ?!", "Welche Monde hat der Mars?"]
BY_MODEL = ["grasp", "graf-von-data", "dfsl", "sparql-llm", "guided"]
WITHOUT = ["graph-search", "nearest-example"]


@pytest.fixture(autouse=True)
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moons.ttl").write_text(MOONS)
    Workspace(tmp_path / "workspace").add("moons", [tmp_path / "moons.ttl"])
    return tmp_path / "moons.ttl"


def asked(question: str, *arguments: object) -> dict[str, object]:
    answer: dict[str, object] = json.loads(run("ask", question, "--json", *arguments).stdout)
    return answer


def confirm() -> str:
    """Ask by graph search, confirm the answer, and return its id."""
    assert run("ask", ASKED, "--trace", "1.jsonl").exit_code == 0
    more = ("--also", "de:Welche Monde hat der Mars?", "--by", "Ada", "--json")
    kept: str = json.loads(run("examples", "add", "--trace", "1.jsonl", *more).stdout)["id"]
    return kept


def test_a_correction_teaches_a_word_and_shows_its_effect_first() -> None:
    of, columns = "What is the {} of {}?", {"girth": "radius", "radius": "code"}
    more, same = "Which moons have a radius of more than 1600?", of.format("girth", "Europa")
    for word, name in (("girth", "Io"), ("radius", "Mars")):
        run("ask", of.format(word, name), "--trace", f"{word}.jsonl")
    run("examples", "add", more, "--query", "SELECT ?m { ?m onto:radius 1821.6 }")
    right = 'SELECT ?x { ?m rdfs:label "Europa"@en ; onto:radius ?x }'
    run("examples", "add", same, "--query", right)

    def correct(word: str, name: str, *keep: str) -> list[dict[str, object]]:
        query = f"SELECT ?x {{ <http://example.org/{name}> onto:{columns[word]} ?x }}"
        right = ("--trace", f"{word}.jsonl", "--query", query, *keep, "--json")
        lessons: list[dict[str, object]] = json.loads(run("examples", "correct", *right).stdout)
        return lessons

    taught, example = correct("girth", "Io", "--keep", "1")
    assert (taught["word"], taught["means"]) == ("girth", ["http://example.org/onto#radius"])
    assert (taught["kept"], example["word"], example["kept"]) == (True, None, False)
    counts = {"right": 1, "wrong": 0, "untried": 0}
    assert taught["effect"] == {"corrects": True, "improved": [same], "worsened": [], **counts}
    assert asked(of.format("girth", "Phobos"), "--anew")["rows"] == [[11.2667]]
    # The effect names the questions that a lesson would make wrong; --yes keeps no such lesson.
    bad, _ = correct("radius", "Mars", "--yes")
    assert isinstance(bad["effect"], dict) and not bad["kept"]
    assert bad["effect"]["worsened"] == [more]
    # What was learned is taken back.
    assert run("examples", "withdraw", of.format("radius", "Mars")).exit_code == 0
    Workspace().define("moons", without="girth")
    assert asked(of.format("girth", "Phobos"), "--anew")["status"] == "refusal"
    wrong = ("examples", "correct", "--trace", "girth.jsonl")
    assert run(*wrong, "--reading", "99").exit_code == 2
    assert run(*wrong, "--query", "SELECT ?x { ?x ?y", "--yes").exit_code == 3


def methods(server: LlmServer) -> list[tuple[object, ...]]:
    """What to say for each method; those that work with a model reach this server."""
    model = ("--model", "m", "--base-url", f"{server.base}/v1")
    return [*(("--method", one) for one in WITHOUT), *(("--method", o, *model) for o in BY_MODEL)]


def test_confirmed_answers_are_given(llm_server: LlmServer) -> None:
    # All methods give it without a model and say that it was confirmed.
    confirm()
    for question, method in zip(cycle(AGAIN), methods(llm_server), strict=False):
        answer = asked(question, *method)
        assert answer["rows"] == [["http://example.org/Phobos"]], method
        confirmed = answer["confirmed"]
        assert isinstance(confirmed, dict)
        assert (confirmed["question"], confirmed["by"]) == (ASKED, "Ada")
    assert llm_server.requests == []
    # Anew asks the method.
    confirm()
    model = ("--method", "grasp", "--model", "m", "--base-url", f"{llm_server.base}/v1")
    asked(ASKED, "--anew", *model)
    assert llm_server.requests and asked(ASKED, "--anew")["confirmed"] is None


def test_confirmed_answers_on_changed_graphs(graph: Path) -> None:
    # People see when and by whom.
    confirm()
    shown = run("ask", ASKED.upper()).stdout
    assert "Confirmed  on 20" in shown and f"by Ada as the answer to {ASKED!r}" in shown
    # A query without a result any more leaves the question to the method.
    confirm()
    graph.write_text(MOONS.replace("onto:orbits", "onto:circles").replace("orbits", "circles"))
    assert asked(ASKED, "--trace", "2.jsonl")["confirmed"] is None
    assert "no result any more" in run("trace", "show", "2.jsonl").stdout


def test_a_setting_of_a_method_switches_it_off(tmp_path: Path) -> None:
    confirm()
    settings = tmp_path / "workspace" / "askgraph.toml"
    settings.write_text(settings.read_text() + "\n[methods.graph_search]\nconfirmed = false\n")
    assert asked(ASKED)["confirmed"] is None
    settings.write_text(settings.read_text().replace("= false", "= 1"))
    assert "'confirmed' must be true or false, not 1" in run("ask", ASKED).stderr


def test_a_batch_uses_it_too(tmp_path: Path) -> None:
    confirm()
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": "1", "question": ASKED}))
    for options, used in (((), True), (("--anew",), False)):
        out = tmp_path / f"{used}.jsonl"
        assert run("batch", "questions.jsonl", "--out", out, *options).exit_code == 0
        assert bool(json.loads(out.read_text())["confirmed"]) == used


def test_an_evaluation_uses_it_only_where_it_is_told_to(tmp_path: Path) -> None:
    wrong = "SELECT ?m { ?m onto:orbits <http://example.org/Jupiter> }"
    assert run("examples", "add", ASKED, "--query", wrong).exit_code == 0
    gold = {"id": "1", "question": ASKED, "sparql": wrong, "lang": "en"}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold))

    def f1(*arguments: object) -> object:
        told = run("evaluate", "gold.jsonl", "-g", "moons", "--json", *arguments)
        return json.loads(told.stdout)["groups"][0]["f1"]

    assert (f1(), f1("--set", "confirmed=true")) == (0.0, 1.0)
