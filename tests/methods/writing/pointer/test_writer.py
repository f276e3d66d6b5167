"""The pointer writer with weights that know nothing: what it writes is sound all the same."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from askgraph import sample
from askgraph.answers.verbalize import iris_of
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.writing.pointer.inputs import listed_terms
from askgraph.methods.writing.pointer.network import Settings, shapes
from askgraph.methods.writing.pointer.writer import PointerWriter, reranked, saved
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.sparql.read import read
from askgraph.sparql.vocabulary import RDF_TYPE, RDFS, XSD
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

SMALL = Settings(width=16, heads=2, inner=16, encoder=1, decoder=1)
TEXT = "Which moons of Jupiter were discovered by Galileo after 1600?"


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = Workspace(tmp_path_factory.mktemp("workspace")).open(sample.graph_path())
    yield graph
    result_of(graph.endpoint.close())


def weights(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    found = {k: random.normal(size=s).astype(np.float32) / 4 for k, s in shapes(SMALL).items()}
    found["rank"] = np.ones(1, dtype=np.float32)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_every_hypothesis_is_a_query_over_what_is_listed(seed: int, space: KnowledgeGraph) -> None:
    writer = PointerWriter(weights(seed), SMALL, {})
    linked = link_text(TEXT, "en", space.names)
    listed = listed_terms(linked, space.profile)
    found = result_of(writer.write(Question(TEXT, "en"), listed, space, n=3))
    named = {one.target for one in listed} | {RDF_TYPE}
    for one in found:
        read(one.query)
        unlisted = set(iris_of(one.query)) - named
        assert all(iri.startswith((RDFS, XSD)) for iri in unlisted)
    assert len({one.query for one in found}) == len(found)


def test_a_file_of_weights_gives_the_same_judgements(tmp_path: Path, space: KnowledgeGraph) -> None:
    writer = PointerWriter(weights(1), SMALL, {})
    with (tmp_path / "w.npz").open("wb") as file:
        saved(file, writer.weights, SMALL, {"seed": 1})
    again = PointerWriter.load(tmp_path / "w.npz")
    linked = link_text(TEXT, "en", space.names)
    assert space.arrays is not None
    candidates = propose_from_links(linked, build_schema(space.arrays, space.profile)).candidates[
        :9
    ]
    judged = again.judgements(linked, candidates, space)
    assert judged == writer.judgements(linked, candidates, space)
    assert again.about == {"seed": 1}


def test_a_file_that_holds_no_weights_says_how_to_make_them(tmp_path: Path) -> None:
    (tmp_path / "w.npz").write_bytes(b"nothing")
    with pytest.raises(SetupError, match="askgraph finetune writer"):
        PointerWriter.load(tmp_path / "w.npz")


def test_reranking_keeps_all_candidates_and_raises_none_over_the_best(
    space: KnowledgeGraph,
) -> None:
    linked = link_text(TEXT, "en", space.names)
    assert space.arrays is not None
    proposal = propose_from_links(linked, build_schema(space.arrays, space.profile))
    found = reranked(proposal, PointerWriter(weights(2), SMALL, {}), space)
    assert {one.tree for one in found.candidates} == {one.tree for one in proposal.candidates}
    scores = [one.score for one in found.candidates]
    assert scores == sorted(scores, reverse=True)
    assert max(scores) <= max(one.score for one in proposal.candidates)


def test_without_trust_nothing_changes(space: KnowledgeGraph) -> None:
    linked = link_text(TEXT, "en", space.names)
    assert space.arrays is not None
    proposal = propose_from_links(linked, build_schema(space.arrays, space.profile))
    found = reranked(proposal, PointerWriter(weights(2), SMALL, {}), space, trust=0.0)
    assert [one.score for one in found.candidates] == [one.score for one in proposal.candidates]


@pytest.mark.parametrize("n", [0, -1])
def test_where_none_is_wanted_none_is_written(n: int, space: KnowledgeGraph) -> None:
    writer = PointerWriter(weights(1), SMALL, {})
    listed = listed_terms(link_text(TEXT, "en", space.names), space.profile)
    assert result_of(writer.write(Question(TEXT, "en"), listed, space, n=n)) == []


def test_where_nothing_is_listed_nothing_is_written(space: KnowledgeGraph) -> None:
    writer = PointerWriter(weights(1), SMALL, {})
    assert result_of(writer.write(Question("hm", "en"), [], space, n=3)) == []
