"""`askgraph advise` and `askgraph enrich`: what would help a graph, and to add it."""

import json
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs_in_regions import FIRMS
from tests.servers.llm import LlmServer, Turn
from tests.servers.sparql import Reply, Request
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.workspace import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "firms.ttl").write_text(FIRMS)
    Workspace(tmp_path).add("firms", [tmp_path / "firms.ttl"])
    return tmp_path


def call(place: Path, *arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments), "--workspace", str(place)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_advice_and_definitions(place: Path) -> None:
    # Advice as json says what why and for whom.
    found = json.loads(call(place, "advise", "firms", "--json"))
    first = next(one for one in found if one["default"])
    assert first["label"] == "seat part of" and first["helps"] == "search and models"
    assert "hierarchy of 'part of' (6 triples, 100% of the objects" in first["why"]
    # Advice is shown with what is added by default marked.
    lines = call(place, "advise", "firms").splitlines()
    marked = [line for line in lines if line.lstrip().startswith("*")]
    assert len(marked) == 1 and "seat part of" in marked[0]
    # Definitions can be edited and given back.
    text = call(place, "advise", "firms", "--definitions")
    edited = place / "mine.toml"
    edited.write_text(text.replace('label = "has buyer"', 'label = "sells to"'))
    call(place, "enrich", "firms", "--definitions", edited, "--shortcuts", "--virtual")
    names = {text for p in Workspace(place).load_profile("firms").predicates for text, _ in p.names}
    assert {"sells to", "has seller"} <= names and "buyer of" not in names


def test_a_new_file_or_a_new_graph_holds_what_was_added(place: Path) -> None:
    told = json.loads(
        call(place, "enrich", "firms", "--inverse", "--out", place / "new.ttl", "--json")
    )
    call(place, "enrich", "firms", "--inverse", "--as", "more")

    assert told["properties"] == 5
    stated = "seatOf> <http://www.w3.org/2002/07/owl#inverseOf> <http://example.org/hasSeat> ."
    assert stated in (place / "new.ttl").read_text()
    base, more = (Workspace(place).load_profile(name).triples for name in ("firms", "more"))
    assert more == base + told["added"] and (place / "new.ttl").read_text().count("\n") == more


@for_each(
    ("arguments", "said"),
    (["firms"], "say what to do"),
    (["firms", "--virtual", "--out", "x.ttl"], "say what to do"),
    (["firms", "--comments", "--virtual"], "comments"),
    (["firms", "--plain", "--inverse"], "--plain removes all additions"),
    (["firms", "--virtual", "--model", "m"], "require --comments"),
    (["firms", "--out", "x.rdf"], "ends in .nt or .ttl, not 'x.rdf'"),
    (["nobody", "--virtual"], "no graph 'nobody'"),
)
def test_what_cannot_be_done_is_said(place: Path, arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["enrich", *arguments, "--workspace", str(place)])
    assert result.exit_code != 0 and said in result.output


class Documenter(LlmServer):
    """A model that says of every term that it is one."""

    def honest(self, request: Request) -> Reply:
        """What the model says to this request."""
        told = json.loads(request.body)["messages"][1]["content"]
        numbers = [int(line.partition(".")[0]) for line in told.splitlines()]
        listed = [{"number": number, "text": "A term of trade."} for number in numbers]
        self.turns.append(Turn(json.dumps({"comments": listed})))
        return super().honest(request)


def test_a_model_drafts_comments_for_terms_that_have_none(place: Path) -> None:
    with Documenter() as server:
        model = ("--model", "writer", "--base-url", f"{server.base}/v1")
        told = json.loads(
            call(place, "enrich", "firms", "--comments", "--virtual", *model, "--json")
        )

    assert told["comments"] == 9
    kept = (place / "enrichments" / "firms.toml").read_text()
    assert kept.count('why = "drafted by writer"') == 9
    assert 'term = ":seller"\ntext = "A term of trade."' in kept
