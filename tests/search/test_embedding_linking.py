"""Words that nothing names, linked by an embedding model: MiniLM, in eight bits."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.servers.clients import minilm

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index.embeddings import create_embedder, normalize_rows
from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.methods.graph_search import GraphSearch
from askgraph.search.embedding_linking import NameVectors, link_by_embedding, load_name_vectors
from askgraph.search.pipeline import link_text
from askgraph.trace import Answer, Outcome, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

DEATH_DATE = "https://example.org/space/ontology#deathDate"


@pytest.fixture(scope="module")
def model() -> str:
    return f"onnx:{minilm()}"


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    workspace = Workspace(tmp_path_factory.mktemp("space"))
    workspace.add("space", [sample.graph_path()])
    found = workspace.find("space")
    yield found
    run_coroutine(found.endpoint.close())


async def outcome_of(graph: KnowledgeGraph, question: str, meanings: str = "") -> Outcome:
    steps = [s async for s in GraphSearch(meanings=meanings).answer(Question(question), [graph])]
    last = steps[-1]
    assert isinstance(last, Outcome)
    return last


async def test_a_phrase_that_nothing_names_is_answered(graph: KnowledgeGraph, model: str) -> None:
    asked = "When did Neil Armstrong pass away?"

    assert not isinstance(await outcome_of(graph, asked), Answer)
    found = await outcome_of(graph, asked, model)

    assert isinstance(found, Answer)
    assert "deathDate" in found.query
    assert "2012-08-25" in str(found.result)


async def test_what_is_sure_is_left_as_it_is(graph: KnowledgeGraph, model: str) -> None:
    asked = "What is the diameter of Jupiter?"
    plain, looked = await outcome_of(graph, asked), await outcome_of(graph, asked, model)

    assert isinstance(plain, Answer)
    assert isinstance(looked, Answer)
    assert (plain.query, plain.confidence) == (looked.query, looked.confidence)


async def test_what_the_graph_has_not_is_still_no_sure_answer(
    graph: KnowledgeGraph, model: str
) -> None:
    for asked in ("What is the salary of Neil Armstrong?", "Which recipes use basil?"):
        found = await outcome_of(graph, asked, model)
        assert not isinstance(found, Answer) or found.confidence < 0.9


def test_only_words_that_no_name_holds_are_linked(graph: KnowledgeGraph, model: str) -> None:
    linked = link_text("When did Neil Armstrong pass away?", "en", graph.names)
    more = link_by_embedding(linked, graph, model)

    assert more is not None
    new = [one for one in more.links if one not in linked.links]
    words = {more.reading.tokens[at].folded for one in new for at in one.positions}
    assert DEATH_DATE in {one.target for one in new}
    assert words <= {"pass", "away"}
    named = link_text("What is the diameter of Jupiter?", "en", graph.names)
    assert link_by_embedding(named, graph, model) is None


def test_vectors_are_kept_on_disk_and_read_by_the_next(
    graph: KnowledgeGraph, model: str, tmp_path: Path
) -> None:
    kept = replace(graph, names=_anew(graph.names), cache_folder=tmp_path)
    made = load_name_vectors(kept, model)
    (place,) = tmp_path.iterdir()
    again = load_name_vectors(replace(kept, names=_anew(graph.names)), model)

    assert np.array_equal(made.vectors, again.vectors)
    assert place.name.startswith("meanings~")
    place.write_bytes(b"half")  # a damaged file is made anew
    mended = load_name_vectors(replace(kept, names=_anew(graph.names)), model)
    assert np.allclose(mended.vectors, made.vectors)
    assert np.load(place).shape == made.vectors.shape


def _anew(names: NameIndex) -> NameIndex:
    """The same names as another process opens them."""
    return replace(names)


def test_the_model_gives_like_meanings_like_vectors(model: str) -> None:
    weight, mass, launch = create_embedder(model).embed(["weight", "mass", "launch site"])
    alike = np.dot(weight, mass) / np.linalg.norm(weight) / np.linalg.norm(mass)
    other = np.dot(weight, launch) / np.linalg.norm(weight) / np.linalg.norm(launch)

    assert alike > other + 0.2


def test_what_a_model_lacks_is_said(model: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no model at .*nowhere.*model\.onnx and tokenizer"):
        create_embedder(f"onnx:{tmp_path / 'nowhere'}")
    alone = tmp_path / "model.onnx"
    alone.write_bytes(b"none")
    with pytest.raises(SetupError, match=r"put the model's tokenizer\.json beside"):
        create_embedder(f"onnx:{tmp_path}")
    tokenizer = Path(model.removeprefix("onnx:")) / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    with pytest.raises(SetupError, match="cannot read the model"):
        create_embedder(f"onnx:{tmp_path}")


async def test_an_embedder_that_is_none_is_refused(graph: KnowledgeGraph) -> None:
    with pytest.raises(SetupError, match="no embedder 'mini'"):
        await outcome_of(graph, "When did Neil Armstrong pass away?", "mini")


def test_a_model_that_finds_all_names_alike_tells_them_apart_as_others_do() -> None:
    random = np.random.default_rng(0)
    apart = normalize_rows(random.normal(size=(40, 64)).astype(np.float32))
    common = normalize_rows(random.normal(size=(1, 64)).astype(np.float32))
    alike = normalize_rows(apart + 2 * common)  # as E5's: any two have a cosine of 0.8
    names = tuple(IndexedName(str(at), f"http://x/{at}", ItemKind.CLASS) for at in range(40))
    embedder = create_embedder("hashed")

    plain, odd = NameVectors(names, apart, embedder), NameVectors(names, alike, embedder)

    assert plain.compute_similarities(apart[3]) == pytest.approx(apart @ apart[3], abs=1e-6)
    others = np.delete(odd.compute_similarities(alike[3]), 3)
    assert odd.compute_similarities(alike[3])[3] == pytest.approx(1)
    assert 0.3 < others.mean() < 0.5 < np.delete(alike @ alike[3], 3).mean()
