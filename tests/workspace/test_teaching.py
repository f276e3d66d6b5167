"""What the words of its users mean is taught to a graph, and questions are answered by it."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.each import for_each
from tests.fleet import FLEET, ONTO
from tests.workspace.conftest import workspace_of

from askgraph import ask
from askgraph.api import Result
from askgraph.errors import SetupError
from askgraph.graph.glossary import GlossaryEntry
from askgraph.trace import Answer
from askgraph.workspace import Workspace

CAR, LORRY, SHIP = (f"{ONTO}{name}" for name in ("Car", "Lorry", "Ship"))


@pytest.fixture
def fleet(tmp_path: Path) -> Workspace:
    return workspace_of(tmp_path, fleet=FLEET)


def asked(place: Workspace, question: str, **more: str) -> Result:
    return ask(question, "fleet", workspace=place.folder, **more)  # type: ignore[arg-type]


def answer(place: Workspace, question: str) -> Answer:
    outcome = asked(place, question).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome


def values(found: Answer) -> list[str]:
    cells = [found.result.get_column(name) for name in found.answer_columns]
    return [found.labels.get(one.value, one.value) for one in cells[0] if one is not None]  # type: ignore[union-attr]


def test_what_a_taught_word_means(fleet: Workspace) -> None:
    # A word for two classes is of what is of either.
    only_cars = values(answer(fleet, "Which vehicles are heavier than 1000?"))
    assert sorted(only_cars) == ["Comet", "Pickup"]
    fleet.define("fleet", GlossaryEntry("vehicles", ("car", "lorry")))
    found = answer(fleet, "Which vehicles are heavier than 1000?")
    assert sorted(values(found)) == ["Comet", "Mule", "Pickup"]
    assert "“vehicles” means cars and lorries (taught)" in found.words and "urn:" not in found.query
    assert values(answer(fleet, "How many vehicles are there?")) == ["4"]
    # What is of both classes counts once.
    fleet.define("fleet", GlossaryEntry("vehicles", ("car", "lorry")))
    (mean,) = values(answer(fleet, "What is the average weight of the vehicles?"))
    assert float(mean) == (1200 + 900 + 8000 + 2000) / 4
    # A taught word goes before the graphs own names.
    assert values(answer(fleet, "How many ships are there?")) == ["1"]
    fleet.define("fleet", GlossaryEntry("ship", (LORRY,)))
    assert values(answer(fleet, "How many ships are there?")) == ["2"]
    # A phrase with a query of its own is answered by it.
    query = "SELECT ?v { ?v o:weight ?w FILTER(?w < 1500) } ORDER BY ?w"
    fleet.define(
        "fleet",
        GlossaryEntry("light fleet", query=query),
        GlossaryEntry("small ones", same_as="light fleet"),
    )
    for question in ("Show me the light fleet", "light fleet?", "What are the small ones?"):
        found = answer(fleet, question)
        assert values(found) == ["Dart", "Comet"]
        assert found.evidence and "is a question with a query of its own (taught)" in found.words
    assert "query of its own" not in str(asked(fleet, "How many small ones are there?"))


@for_each(
    ("entry", "question", "found"),
    (GlossaryEntry("heft", ("weight",)), "What is the heft of the Mule?", ["8000"]),
    (GlossaryEntry("top yard", ("North Yard",)), "Which cars have the depot top yard?", ["Comet"]),
    (GlossaryEntry("boats", same_as="ship"), "Which boats are there?", ["Albatross"]),
    (GlossaryEntry("vessel", (f"<{SHIP}>",)), "How many vessels are there?", ["1"]),
    (GlossaryEntry("vessel", ("o:Ship",)), "How many vessels are there?", ["1"]),
)
def test_a_word_is_that_of_a_property_a_thing_or_another_word(
    fleet: Workspace, entry: GlossaryEntry, question: str, found: list[str]
) -> None:
    fleet.define("fleet", entry)
    assert values(answer(fleet, question)) == found


def test_a_word_that_is_taken_away_means_nothing_again(fleet: Workspace) -> None:
    fleet.define(
        "fleet", GlossaryEntry("vehicles", (CAR, LORRY)), instructions="Weights are in kg."
    )
    fleet.define("fleet", without="Vehicle")
    assert fleet.load_glossary("fleet").to_table() == {
        "instructions": "Weights are in kg.",
        "entries": [],
    }
    assert len(values(answer(fleet, "Which vehicles are heavier than 1000?"))) == 2


@for_each(
    ("entry", "said"),
    (
        GlossaryEntry("heft", ("wieght",)),
        "nothing in the graph 'fleet' has this name; did you mean 'wei",
    ),
    (GlossaryEntry("heft", (f"{ONTO}wieght",)), "did you mean 'weight'"),
    (GlossaryEntry("heft", ("oo:weight",)), "unknown prefix in 'oo:weight'; the graph has"),
    (
        GlossaryEntry("care", ("service",)),
        r"several things: .* means: o:Service \(class\), o:service \(prop",
    ),
    (
        GlossaryEntry("vehicles", ("car", "depot")),
        "o:depot among others: it is a property, and only classes",
    ),
    (
        GlossaryEntry("boats", same_as="shipp"),
        "'shipp': nothing in the graph .* did you mean 'ship'",
    ),
    (GlossaryEntry("boats", same_as="barge"), "goes in a circle|explain each other in a circle"),
    (GlossaryEntry("fast", query="SELECT {"), "the query of 'fast' cannot be used: line 1"),
    (
        GlossaryEntry("fast", query="DELETE WHERE { ?s ?p ?o }"),
        "the query of 'fast' cannot be used",
    ),
    (GlossaryEntry("fast", query="DESCRIBE <urn:a:b>"), "returns triples: write a SELECT or ASK"),
)
def test_what_cannot_be_taught_is_refused_with_the_reason(
    fleet: Workspace, entry: GlossaryEntry, said: str
) -> None:
    before = fleet.define("fleet", GlossaryEntry("barge", same_as="ship"))
    entries = (entry, GlossaryEntry("barge", same_as="boats")) if "circle" in said else (entry,)
    with pytest.raises(SetupError, match=said):
        fleet.define("fleet", *entries)
    assert fleet.load_glossary("fleet") == before


def test_a_word_that_another_is_explained_by_stays(fleet: Workspace) -> None:
    fleet.define(
        "fleet", GlossaryEntry("barge", same_as="ship"), GlossaryEntry("tub", same_as="barge")
    )
    with pytest.raises(SetupError, match="'tub' cannot be the same as 'barge'"):
        fleet.define("fleet", without="barge")
    with pytest.raises(SetupError, match="has no word 'raft'; available: 'barge', 'tub'"):
        fleet.define("fleet", without="raft")


def test_glossary_files(fleet: Workspace) -> None:
    # Processes that teach at once lose nothing.
    program = (
        "import sys; from askgraph.workspace import Workspace\n"
        "from askgraph.graph.glossary import GlossaryEntry\n"
        "place = Workspace(sys.argv[1])\n"
        "for n in range(15): place.define('fleet', GlossaryEntry(f'{sys.argv[2]}{n}', ('ship',)))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(fleet.folder), name])
        for name in ("left", "right")
    ]
    assert [one.wait(timeout=600) for one in running] == [0, 0]
    words = {one.word for one in fleet.load_glossary("fleet").entries}
    assert words == {f"{name}{n}" for name in ("left", "right") for n in range(15)}
    # A file that was broken by hand says where.
    fleet.define("fleet", GlossaryEntry("boats", same_as="ship"))
    file = fleet.get_glossary_file("fleet")
    file.write_text(file.read_text() + '[[entry]]\nword = "heft"\nmeans = ["weight"]\n')
    with pytest.raises(
        SetupError, match=r"fleet\.toml: 'heft' means 'weight', which is not an IRI"
    ):
        fleet.load_glossary("fleet")


def test_a_graph_that_is_removed_leaves_no_glossary(fleet: Workspace) -> None:
    fleet.define("fleet", GlossaryEntry("boats", same_as="ship"))
    fleet.remove("fleet")
    assert not fleet.get_glossary_file("fleet").exists()
