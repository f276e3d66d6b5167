"""`askgraph examples generate --model`: worded by a model behind a server, read again, kept."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.each import for_each
from tests.servers.llm import LlmServer, Turn
from tests.servers.sparql import Reply, Request
from typer.testing import CliRunner, Result

from askgraph.cli import app
from askgraph.sample import graph_path
from askgraph.workspace import Workspace

ITEM = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


class Writer(LlmServer):
    """A model that words each question as `says` does and, asked for a query, gives `query`."""

    def __init__(self, says: Callable[[str, str], str], query: str = "") -> None:
        super().__init__()
        self.wording, self.query = says, query

    def honest(self, request: Request) -> Reply:
        """What the model says to this request."""
        told = json.loads(request.body)["messages"][1]["content"]
        said = f"```sparql\n{self.query}\n```" if self.query else "I do not know."
        if told.startswith("Languages: "):
            languages = told.partition("\n")[0].removeprefix("Languages: ").split(", ")
            listed = [
                {"number": int(at), "language": tag, "question": self.wording(text, tag)}
                for at, text in ITEM.findall(told)
                for tag in languages
            ]
            said = json.dumps({"wordings": listed})
        self.turns.append(Turn(said))
        return super().honest(request)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path))
    made = Workspace(tmp_path)
    made.add("space", [graph_path()])
    return made


def generate(server: LlmServer, *arguments: object) -> Result:
    model = ("--model", "writer", "--base-url", f"{server.base}/v1")
    line = ("examples", "generate", "--json", *model, *arguments)
    return CliRunner().invoke(app, [str(argument) for argument in line])


def nonsense(text: str, language: str) -> str:
    return "Who is the mayor of the Moon?"


def test_which_wordings_are_kept() -> None:
    # Wordings that read the same are kept with the models name.
    with Writer(lambda text, _: f"Please tell me: {text[0].lower()}{text[1:]}") as server:
        made = json.loads(generate(server, "--number", "3").stdout)
    assert len(made["examples"]) == 3
    by_model = [one for one in made["examples"] if one["by"]]
    assert by_model and {one["by"] for one in by_model} == {"writer"}
    assert all(one["question"].startswith("Please tell me: ") for one in by_model)
    (listed, *_) = json.loads(CliRunner().invoke(app, ["examples", "list", "--json"]).stdout)
    assert listed["origin"] == "generated"
    # A wording that reads otherwise is not kept.
    with Writer(nonsense) as server:
        (example,) = json.loads(generate(server, "--number", "1").stdout)["examples"]
        asked = [body["messages"][1]["content"] for body in server.bodies]
    assert example["by"] is None and example["others"] == []
    assert example["question"] != nonsense("", "")
    assert "mayor" in asked[1]  # the model was given its words, to read them
    # The models own query is a second reading.
    made = CliRunner().invoke(app, ["examples", "generate", "--number", "1", "--json"])
    (template,) = json.loads(made.stdout)["examples"]
    assert CliRunner().invoke(app, ["examples", "withdraw", template["question"]]).exit_code == 0
    with Writer(nonsense, template["sparql"]) as server:
        (example,) = json.loads(generate(server, "--number", "1").stdout)["examples"]
    assert (example["question"], example["by"]) == (nonsense("", ""), "writer")
    assert example["sparql"] == template["sparql"]
    # Several languages are wordings of one example.
    with Writer(lambda text, tag: text if tag == "en" else f"{tag}: {text}") as server:
        made = json.loads(generate(server, "--number", "2", "--lang", "en", "--lang", "de").stdout)
    for example in made["examples"]:
        assert example["language"] == "en"
        assert {one["language"] for one in example["others"]} <= {"de"}


def test_a_budget_stops_it_and_the_same_call_goes_on() -> None:
    with Writer(lambda text, tag: text) as server:
        first = generate(server, "--number", "10", "--budget", "calls=1")
        second = generate(server, "--number", "2")

    told = json.loads(first.stdout)
    assert len(told["examples"]) == 8 and "all 1 calls were made" in told["ended"]
    before = {one["sparql"] for one in told["examples"]}
    after = json.loads(second.stdout)["examples"]
    assert len(after) == 2 and before.isdisjoint(one["sparql"] for one in after)


def test_a_server_that_is_down_has_exit_code_4_and_nothing_is_half_written(
    workspace: Workspace,
) -> None:
    server = LlmServer()
    with server:
        pass
    assert generate(server, "--number", "2").exit_code == 4
    assert not list(workspace.get_examples_folder("space").glob("*"))


@for_each(
    ("arguments", "said"),
    (("--lang", "de"), "--lang"),
    (("--budget", "calls=1"), "--budget"),
    (("--model", "m", "--base-url", "http://x/v1", "--budget", "seconds=1"), "calls, tokens"),
    (("--model", "m", "--base-url", "http://x/v1", "--budget", "calls"), "cannot be read"),
    (("--model", "m", "--base-url", "http://x/v1", "--budget", "money=1"), "price"),
)
def test_options_that_do_not_fit_say_so(arguments: tuple[str, ...], said: str) -> None:
    told = CliRunner().invoke(app, ["examples", "generate", *arguments])
    assert told.exit_code == 2 and said in told.stderr
