"""Entity linkers behind HTTP and in place: what they find, and every way in which they can fail."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.each import for_each
from tests.servers.sparql import Reply, Request, SparqlServer

from askgraph import errors
from askgraph.index.linkers import EntitySpan, create_linker

TEXT = "Which moons orbit Jupiter?"
WIKIDATA = "http://www.wikidata.org/entity/"


class LinkerServer(SparqlServer):
    """Says the same to every text."""

    def __init__(self) -> None:
        super().__init__(Store())
        self.says: object = []
        self.status = 200

    def honest(self, request: Request) -> Reply:
        body = self.says if isinstance(self.says, str) else json.dumps(self.says)
        return Reply(self.status, {"Content-Type": "application/json"}, body.encode())


@pytest.fixture
def server() -> Iterator[LinkerServer]:
    with LinkerServer() as running:
        yield running


async def test_spans_are_read_however_they_are_written(server: LinkerServer) -> None:
    server.says = {
        "spans": [
            {"start": 18, "end": 25, "iri": "http://example.org/Jupiter", "score": 0.9},
            {"start": 6, "length": 5, "id": "Q2"},
            {"start": 0, "end": 5, "id": None},
            {"start": 20, "end": 99, "id": "Q9"},
        ]
    }
    linker = create_linker(f"{server.url}#http://example.org/")

    assert await linker.find_spans(TEXT, "en") == [
        EntitySpan(6, 11, "http://example.org/Q2"),
        EntitySpan(18, 25, "http://example.org/Jupiter", 0.9),
    ]
    assert json.loads(server.requests[-1].body) == {"text": TEXT, "language": "en"}


@pytest.mark.parametrize(
    ("status", "says", "error"),
    [
        (200, "no JSON", errors.MalformedReply),
        (200, {"entities": []}, errors.MalformedReply),
        (200, ["Q2"], errors.MalformedReply),
        (200, [{"id": "Q2"}], errors.MalformedReply),
        (401, [], errors.Unauthorised),
        (503, [], errors.Overloaded),
        (500, [], errors.ErrorReply),
    ],
)
async def test_a_failure_is_told_by_its_name(
    server: LinkerServer, status: int, says: object, error: type[errors.AskgraphError]
) -> None:
    server.status, server.says = status, says

    with pytest.raises(error, match="linker"):
        await create_linker(server.url).find_spans(TEXT, None)


FALCONS = {  # as Falcon 2.0 replies; older servers reply with lists
    "entities_wikidata": [
        {"surface form": "Jupiter", "URI": "http://www.wikidata.org/entity/Q319"},
        ["<http://www.wikidata.org/entity/Q2537>", "moons"],
    ],
    "relations_wikidata": [
        {"surface form": "orbited by", "URI": "http://www.wikidata.org/entity/P397"}
    ],
}


async def test_falcon_is_asked_in_its_own_form(server: LinkerServer) -> None:
    server.says = FALCONS

    found = await create_linker("falcon", f"{server.url}?mode=long").find_spans(TEXT, "en")

    assert found == [
        EntitySpan(0, 0, f"{WIKIDATA}P397", relation=True),
        EntitySpan(6, 11, f"{WIKIDATA}Q2537"),
        EntitySpan(18, 25, f"{WIKIDATA}Q319"),
    ]
    request = server.requests[-1]
    assert "mode=long" in request.target and json.loads(request.body)["text"] == TEXT


@pytest.mark.parametrize(
    "says", [{"spans": []}, [], {"entities_wikidata": [{"surface form": "Jupiter"}]}]
)
async def test_what_is_no_falcon_is_told(server: LinkerServer, says: object) -> None:
    server.says = says

    with pytest.raises(errors.MalformedReply, match="linker"):
        await create_linker("falcon", server.url).find_spans(TEXT, "en")


async def test_spans_of_refined_are_read_as_it_has_them(server: LinkerServer) -> None:
    server.says = [
        {
            "text": "Jupiter",
            "start": 18,
            "ln": 7,
            "predicted_entity": {"wikidata_entity_id": "Q319", "wikipedia_entity_title": "Jupiter"},
            "entity_linking_model_confidence_score": 0.83,
        },
        {"text": "moons", "start": 6, "ln": 5, "predicted_entity": {"wikidata_entity_id": None}},
        {"text": "orbit", "start": 12, "ln": 5, "predicted_entity": None},
    ]

    assert await create_linker("refined", server.url).find_spans(TEXT, "en") == [
        EntitySpan(18, 25, f"{WIKIDATA}Q319", 0.83)
    ]
    elsewhere = create_linker(f"refined@{server.url}#http://example.org/")
    assert [span.iri for span in await elsewhere.find_spans(TEXT, "en")] == [
        "http://example.org/Q319"
    ]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that finds names by rules, and has learned which Mercury a sentence means."""
    spacy = pytest.importorskip("spacy", reason="pip install 'askgraph[spacy]'")
    from spacy.kb import InMemoryLookupKB
    from spacy.training import Example

    made = spacy.blank("en")
    made.add_pipe("sentencizer")
    ruler = made.add_pipe("entity_ruler")
    names = ("Mercury", "Jupiter", "Nibiru")
    ruler.add_patterns([{"label": "THING", "pattern": name} for name in names])
    linker = made.add_pipe("entity_linker", config={"incl_prior": False, "incl_context": True})

    def things(vocabulary: object) -> object:
        known = InMemoryLookupKB(vocabulary, entity_vector_length=3)
        known.set_entities(["Q308", "Q925", "Q319"], [1, 1, 1], ([1, 0, 0], [0, 1, 0], [0, 0, 1]))
        known.add_alias("Mercury", ["Q308", "Q925"], [0.5, 0.5])
        known.add_alias("Jupiter", ["Q319"], [1.0])
        return known

    examples = []
    for text, meant in (
        ("Mercury orbits the Sun", "Q308"),
        ("Which planet is called Mercury", "Q308"),
        ("Mercury is a liquid metal", "Q925"),
        ("Which metal is called Mercury", "Q925"),
    ):
        start = text.index("Mercury")
        place = (start, start + len("Mercury"))
        links = {place: {name: float(name == meant) for name in ("Q308", "Q925")}}
        plain = made.make_doc(text)
        starts = [1] + [0] * (len(plain) - 1)
        said: dict[str, object] = {
            "links": links,
            "entities": [(*place, "THING")],
            "sent_starts": starts,
        }
        examples.append(Example.from_dict(plain, said))
    spacy.util.fix_random_seed(7)
    linker.initialize(lambda: examples, nlp=made, kb_loader=things)
    optimizer = made.resume_training()
    for _ in range(40):
        made.update(examples, sgd=optimizer, annotates=["sentencizer", "entity_ruler"])
    folder = tmp_path_factory.mktemp("pipelines") / "planets"
    made.to_disk(folder)
    bare = spacy.blank("en")
    bare.add_pipe("sentencizer")
    bare.to_disk(folder.with_name("bare"))
    return folder


async def test_a_pipeline_of_spacy_links_in_place(pipeline: Path) -> None:
    linker = create_linker("spacy", f"{pipeline}#{WIKIDATA}")

    planet = await linker.find_spans("Mercury orbits the Sun", "en")
    metal = await linker.find_spans("Mercury is a liquid metal", None)
    both = await linker.find_spans("Is Jupiter larger than Nibiru?", "en")

    assert planet == [EntitySpan(0, 7, f"{WIKIDATA}Q308")]
    assert metal == [EntitySpan(0, 7, f"{WIKIDATA}Q925")]
    assert both == [
        EntitySpan(3, 10, f"{WIKIDATA}Q319")
    ]  # of what it does not know it says nothing


def test_a_pipeline_that_cannot_link_is_refused(pipeline: Path) -> None:
    with pytest.raises(errors.SetupError, match="no entity_linker, only sentencizer"):
        create_linker("spacy", str(pipeline.with_name("bare")))
    with pytest.raises(errors.SetupError, match="cannot load the pipeline 'nowhere'"):
        create_linker("spacy", "nowhere")


async def test_a_server_that_is_gone_cannot_be_reached() -> None:
    with LinkerServer() as gone:
        address = gone.url

    with pytest.raises(errors.Unreachable, match=r"cannot be reached.*entities=linked"):
        await create_linker(address).find_spans(TEXT, None)


@for_each("name", ["", "nobody", "http", "http@ftp://example.org", "falcon", "refined@", "http://"])
def test_a_linker_that_there_is_none_of_is_refused(name: str) -> None:
    with pytest.raises(errors.SetupError, match="the linker has no name" if not name else None):
        create_linker(name)
