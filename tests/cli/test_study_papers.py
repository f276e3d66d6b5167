"""`askgraph study PAPER` on the sample, with a model that knows the gold: every row is filled."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.each import for_each
from tests.servers.llm import LlmServer, Turn
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.evaluation.metrics import extract_links
from askgraph.evaluation.studies import PAPERS, read_paper
from askgraph.sample import graph_path
from askgraph.workspace import Workspace

QUESTIONS = graph_path().with_name("questions.jsonl")
GOLD = {
    line["question"]: line
    for line in map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
    if line.get("sparql")
}
SPACE = "https://example.org/space/"
WRITTEN = (
    "Act: query('''{gold}''') | success('done')\n<sparql>{gold}</sparql>\n```sparql\n{gold}\n```\n"
    "PICK: {first}"
)


def knowing(asked: dict[str, Any]) -> list[Turn] | dict[str, Any]:
    """What a model says that knows the gold, in the form that each method wants; or a linker."""
    text = asked.get("text") or json.dumps(asked["messages"], ensure_ascii=False)
    plain = text.replace('\\"', '"')
    gold = max(GOLD.values(), key=lambda one: plain.rfind(one["question"]))["sparql"]
    if "messages" not in asked:
        return linked(sorted(extract_links(gold).entities))
    if tools := asked.get("tools"):
        answer = next(one["function"] for one in tools if one["function"]["name"] == "answer")
        names = answer["parameters"]["properties"]
        required = answer["parameters"]["required"]
        given = {name: filled(names[name]) for name in required} | {"query": gold}
        if "columns" in names:
            given |= {"columns": []}
        return [Turn(calls=(("answer", json.dumps(given)),), finish="calls")]
    if schema := asked.get("response_format", {}).get("json_schema", {}).get("schema"):
        return [Turn(json.dumps(filled(schema)))]
    first = text.rpartition("Candidates\\n")[2].partition(" ")[0]
    said = WRITTEN.replace("{gold}", gold).replace("{first}", first)
    return [Turn(f"{said}{' ' * at}") for at in range(asked.get("n") or 1)]


def linked(iris: list[str]) -> dict[str, Any]:
    """What ReFinED and Falcon say of a text, both in one."""
    spans = [{"start": 0, "ln": 1, "predicted_entity": {"wikidata_entity_id": iri}} for iri in iris]
    return {"spans": spans, "entities_wikidata": [{"URI": iri, "surface form": ""} for iri in iris]}


def pipeline(folder: Path) -> Path:
    """A pipeline of spaCy that knows Mars and Titan."""
    spacy = pytest.importorskip("spacy", reason="pip install 'askgraph[spacy]'")
    from spacy.kb import InMemoryLookupKB
    from spacy.training import Example

    made = spacy.blank("en")
    made.add_pipe("sentencizer")
    names = ("Mars", "Titan")
    ruler = made.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "THING", "pattern": name} for name in names])
    linker = made.add_pipe("entity_linker", config={"incl_context": False})

    def things(vocabulary: object) -> object:
        known = InMemoryLookupKB(vocabulary, entity_vector_length=1)
        known.set_entities([SPACE + name for name in names], [1, 1], [[1], [1]])
        for name in names:
            known.add_alias(name, [SPACE + name], [1.0])
        return known

    links = {"links": {(0, 4): {f"{SPACE}Mars": 1.0}}, "entities": [(0, 4, "THING")]}
    example = Example.from_dict(made.make_doc("Mars is large"), {**links, "sent_starts": [1, 0, 0]})
    linker.initialize(lambda: [example], nlp=made, kb_loader=things)
    made.to_disk(folder)
    return folder


def filled(schema: dict[str, Any]) -> Any:
    """The least that a schema admits; of a choice the first."""
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": "object", "properties": parts}:
            return {name: filled(part) for name, part in parts.items()}
        case {"type": "array", "items": items}:
            return [filled(items)]
        case {"type": "integer" | "number"}:
            return 1
        case {"type": "boolean"}:
            return True
    return "It is so."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    Workspace(tmp_path).add("space", [graph_path()], settings={"examples": str(QUESTIONS)})
    return tmp_path


def arguments(place: Path, paper: str, server: LlmServer, *more: str) -> list[str]:
    server.knows = knowing
    own = ["--model", "scripted"]
    if paper != "representations":
        own += ["--examples", str(QUESTIONS)]
        for name, how in read_paper(paper).needs.items():
            what = (
                "hashed" if "embedder" in how else server.base if "address" in how else "scripted"
            )
            own += ["--with", f"{name}={pipeline(place / 'spacy') if name == 'spaCy' else what}"]
    return [
        "study", paper, str(QUESTIONS), "-g", "space", "--limit", "2",
        "--set", f"base_url={server.base}/v1", "--set", "provider=openai",
        *own, *more, "--workspace", str(place),
    ]  # fmt: skip


def call(given: list[str]) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return list(json.loads(result.stdout))


def sent(run: Path) -> str:
    """What the first question of a run sent: purposes, functions, and how many parts of a kind."""
    steps = json.loads((run / "traces.jsonl").read_text("utf-8").partition("\n")[0])["steps"]
    asked = [step for step in steps if step["step"] == "prompt"]
    words = [word for one in asked for word in (one["purpose"], *one["tools"])]
    messages = (message for one in asked for message in one["messages"])
    text = "\n".join(f"{message['role']}:\n{message.get('text')}" for message in messages)
    counts = {name: len(re.findall(part, text, re.MULTILINE)) for name, part in PARTS.items()}
    return " ".join([*words, *(f"{number} {name}" for name, number in counts.items() if number)])


PARTS = {
    "examples": "^(</SPARQL>|```sparql|assistant:)$", "more": "Write up to 10 ",
    "entities": "^(Gold )?Entities:$", "relations": "^(Gold )?Relations:$", "shapes": "^shape:",
    "candidates": r"^(ont|space):\w+ .*: ",
}  # fmt: skip
AGENT, OURS = "question answer cancel execute", "search_constrained describe propose_queries"
ENDS = "search_property_of_entity search_object_of_property"
S_E = f"{AGENT} list search_entity search_property {ENDS}"
DFSL = "question 5 examples 6 entities 6 relations"
SPLIT = "decomposition question interpretation"
PICKED = "pick entities pick predicates"
SENT = {  # by paper, table and row; the first that fits counts
    "grasp 6 B": AGENT, "grasp 6 S": f"{AGENT} list search_entity search_property",
    "grasp 6 S_A": f"{AGENT} list search_autocomplete",
    "grasp 6 S_C": f"{AGENT} list search_constrained",
    "grasp .*-F sim.*": f"{S_E} find_similar_examples feedback",
    "grasp .*-F rand": f"{S_E} find_examples feedback", "grasp .*-F": f"{S_E} feedback",
    "grasp .* sim.*": f"{S_E} find_similar_examples", "grasp .* rand": f"{S_E} find_examples",
    "grasp .*": S_E,
    "dfsl .* Plain question": "question", "dfsl .* Zero-shot": "question 1 entities 1 relations",
    "dfsl .* both": "question 5 examples", "dfsl .*MQP.*": DFSL.replace(" 6", " 1 more 6", 1),
    "dfsl .*out relations": "question 5 examples 6 entities",
    "dfsl .*out entities": "question 5 examples 6 relations",
    **{f"dfsl .* k = {k}": f"question {k} examples {k + 1} entities {k + 1} relations"
       for k in (1, 3, 7)},
    "dfsl .*": DFSL,
    # Examples are those of the question and of its part, less what both have.
    **{f"sparql-llm fig6iii {shots}": f"{SPLIT} {both} examples 10 shapes"
       for shots, both in ((1, 2), (2, 4), (5, 9), (10, 18), (15, 22), (20, 27))},
    "sparql-llm .* (0|examples)": f"{SPLIT} 10 shapes",
    "sparql-llm .* classes": f"{SPLIT} 18 examples",
    "sparql-llm .* 25 %": f"{SPLIT} 18 examples 9 shapes",
    "sparql-llm fig6ii .*": f"{SPLIT} 15 examples 10 shapes",
    "sparql-llm .*": f"{SPLIT} 18 examples 10 shapes",
    "multi-stage 2 Ret.*": "pick entities 4 candidates", "multi-stage 2 .*": "",
    "multi-stage 3 .*@100": "pick predicates 24 candidates",
    "multi-stage 3 .*": "pick predicates 10 candidates", "multi-stage fig.*": "write",
    "multi-stage . Few-shot.*": "pick predicates write 5 examples 10 candidates",
    "multi-stage . (Direct|LLM rejection)": "question 5 examples",
    "multi-stage .*ReFinED": "pick predicates write 10 candidates",
    "multi-stage 6 Execution": f"{PICKED} write 14 candidates",
    "multi-stage .*": f"{PICKED} 14 candidates",
    "text2sparql without tools": f"{AGENT} {OURS} 11 candidates",
    "text2sparql without .*": "question 11 candidates",
    "text2sparql with one prompt": "question 4 examples 11 candidates",
    "text2sparql .*": "question 3 candidates",
}  # fmt: skip


@for_each("paper", PAPERS)
def test_every_row_of_every_table_is_filled(place: Path, llm_server: LlmServer, paper: str) -> None:
    sheets = call(arguments(place, paper, llm_server, "--out", str(place / "runs"), "--json"))

    tables = read_paper(paper).tables
    assert [sheet["title"] for sheet in sheets] == [table.title for table in tables]
    for table, sheet in zip(tables, sheets, strict=True):
        assert [row["row"] for row in sheet["rows"]] == [row.name for row in table.rows]
        assert not [note for note in sheet["notes"] if note.startswith("Not run")]
        numbers = {row["questions"] for row in sheet["rows"]}
        assert numbers == ({0} if table.measure == "indices" else {2})
        for run in sheet["runs"] if table.asks_questions else ():
            name = f"{paper} {table.name} {run['row']}"
            said = next(said for key, said in SENT.items() if re.fullmatch(key, name))
            assert sent(place / "runs" / run["run"]) == said, name
    if paper == "dfsl":
        widths = {(one.get("use_beam_search"), one.get("n")) for one in llm_server.bodies}
        assert widths == {(True, 3), (True, 10), (None, None)}


def test_the_rows_of_a_study(place: Path, llm_server: LlmServer) -> None:
    # All experiments are run and the model drafts the comments.
    out = ("--out", str(place / "runs"))
    rows = call(arguments(place, "representations", llm_server, *out, "--json"))
    assert [row["number"] for row in rows] == list(range(1, 14))
    assert all(row["figures"]["all"] == {"em": 1.0, "f1": 1.0} for row in rows)
    assert rows[9]["published"]["all"] == pytest.approx({"em": 0.383, "f1": 0.445})
    assert all(row["usage"]["llm_calls"] == 2 for row in rows)
    assert "It is so." in (place / "runs" / "comments.toml").read_text()
    asked = len(llm_server.bodies)
    assert call(arguments(place, "representations", llm_server, *out, "--json")) == rows
    assert len(llm_server.bodies) == asked
    # Two graphs are told apart and repetitions are averaged.
    Workspace(place).add("other", [graph_path()])
    more = ("-g", "other", "--table", "6", "--repeat", "2", "--out", str(place / "runs"), "--json")
    [sheet] = call(arguments(place, "grasp", llm_server, *more))
    assert [(row["graph"], row["row"]) for row in sheet["rows"]][:3] == [
        ("space", "B"), ("other", "B"), ("space", "S"),
    ]  # fmt: skip
    assert {(row["questions"], row["calls"]) for row in sheet["rows"]} == {(2, 4)}
    # What a row needs is told and the others are run.
    Workspace(place).remove("space")
    Workspace(place).add("space", [graph_path()])
    given = arguments(place, "dfsl", llm_server, "--table", "5.14", "--out", str(place / "runs"))
    at = given.index("--examples")
    result = CliRunner().invoke(app, given[:at] + given[at + 2 :])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "Not run: DFSL (CodeLlama 70B), DFSL without relations" in said
    assert "name questions with --examples, or --folds K" in said
    [sheet] = call([*given[:at], *given[at + 2 :], "--folds", "2", "--json"])
    assert [row["F1"] for row in sheet["rows"]] == [1.0] * 5
    assert not [note for note in sheet["notes"] if "Not run" in note]


def test_dry_runs_and_models(place: Path, llm_server: LlmServer) -> None:
    # A dry run counts and asks nothing.
    more = ("--table", "5.2", "--table", "5.1", "--out", str(place / "runs"), "--dry-run", "--json")
    [sheet] = call(arguments(place, "dfsl", llm_server, *more))
    told = [(row["row"], row["questions"], row["calls at most"]) for row in sheet["rows"]]
    assert told[:3] == [("Zero-shot", 2, 2), ("Few-shot", 2, 2), ("DFSL", 2, 2)]
    assert told[3:9] == [(name, 0, 0) for name, *_ in told[:3]] * 2
    assert told[9:11] == [("COUNT", 0, 0), ("LIMIT", 0, 0)] and told[-1] == ("all", 6, 6)
    assert not llm_server.bodies and not (place / "runs").exists()
    # Only the figures of the benchmark that is named stand beside.
    named = ("--table", "6", "--out", str(place / "runs"), "--as", "QALD-7", "--json")
    [sheet] = call(arguments(place, "grasp", llm_server, *named))
    assert [row["published QALD-7"] for row in sheet["rows"]] == [0.526, 0.73, 0.708, 0.687, 0.735]
    assert "published QALD-10" not in sheet["rows"][0]
    # Each paper has a model of its own if it is named.
    models = ("--table", "5", "--out", str(place / "runs"), "--with", "GPT-4.1=larger", "--json")
    [sheet] = call(arguments(place, "grasp", llm_server, *models))
    assert [row["by"] for row in sheet["rows"]].count("larger") == 1
    assert {body["model"] for body in llm_server.bodies} == {"scripted", "larger"}


@for_each(
    ("more", "said"),
    (["--table", "99"], "grasp has no table '99'; available: 4, 5, 6, 7, 8, 9, 3"),
    (["--with", "GPT-9=x"], "no row of grasp needs it"),
    (["--with", "GPT-4.1"], "write NAME=VALUE"),
    (["--as", "QALD-1"], "available: CWQ, WQSP, QALD-10"),
)
def test_what_is_wrong_is_told_before_the_first_run(
    place: Path, llm_server: LlmServer, more: list[str], said: str
) -> None:
    given = arguments(place, "grasp", llm_server, "--out", str(place / "runs"), *more)
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2 and said in result.output
    assert not llm_server.bodies and not (place / "runs").exists()


def test_questions_that_failed_are_told_under_the_table(place: Path, llm_server: LlmServer) -> None:
    given = arguments(place, "dfsl", llm_server, "--table", "5.4", "--out", str(place / "runs"))
    llm_server.knows = lambda asked: {"error": "out of order"}
    [sheet] = call([*given, "--json"])

    assert [row["F1"] for row in sheet["rows"]] == [0.0] * 5
    runs = [one["run"] for one in sheet["runs"]]
    assert all(any(f"2 questions failed in {run}" in n for n in sheet["notes"]) for run in runs)
    (place / "runs" / runs[0]).rename(place / "away")
    llm_server.knows = knowing
    [sheet] = call([*given, "--json"])
    assert [row["F1"] for row in sheet["rows"]] == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_with_kept_replies_a_study_asks_no_model(place: Path, llm_server: LlmServer) -> None:
    llm_server.knows = knowing
    table = f'[models.kept]\nmodel = "m"\nbase_url = "{llm_server.base}/v1"\ncache = true\n'
    with (place / "askgraph.toml").open("a") as file:
        file.write(table)
    given = ["study", "text2sparql", str(QUESTIONS), "-g", "space", "--limit", "2", "--json"]
    given += ["--model", "kept", "--examples", str(QUESTIONS), "--workspace", str(place)]
    call([*given, "--out", str(place / "first")])
    asked = len(llm_server.bodies)
    sheets = call([*given, "--out", str(place / "again")])

    assert [[row["F1"] for row in sheet["rows"]] for sheet in sheets] == [[1.0, 1.0]] * 2
    assert len(llm_server.bodies) == asked == 8


def test_killed_in_the_middle_it_goes_on_with_the_same_figures(
    place: Path, llm_server: LlmServer
) -> None:
    given = arguments(place, "dfsl", llm_server, "--limit", "4", "--json")
    whole = call([*given, "--out", str(place / "whole")])
    before = len(llm_server.bodies)
    killed_at(9, place / "killed", [*given, "--out", str(place / "killed")])
    done = _records(place / "killed")
    between = len(llm_server.bodies)
    resumed = call([*given, "--out", str(place / "killed")])

    assert 9 <= done < before and len(llm_server.bodies) - between == before - done
    for row in (row for sheet in (*whole, *resumed) for row in sheet["rows"]):
        row.pop("seconds", None)
    assert resumed == whole


def _records(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("records.jsonl"))


def killed_at(records: int, folder: Path, given: list[str]) -> None:
    """Run the command in a process, and kill it with -9 as soon as there are so many records."""
    process = subprocess.Popen(
        [sys.executable, "-m", "askgraph", *given],
        env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until and _records(folder) < records:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it ended before it was killed"
