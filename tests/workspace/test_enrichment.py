"""An enriched graph answers with predicates that it does not have, and stays what it is."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store, parse
from tests.graphs import store_of
from tests.graphs_in_regions import FIRMS
from tests.servers.sparql import SparqlServer
from tests.workspace.conftest import workspace_of

from askgraph.errors import SetupError
from askgraph.graph.advice import AdviceKind
from askgraph.graph.definitions import DefinedProperty, Definitions
from askgraph.sparql.rewrite.virtual import parse_path
from askgraph.trace import Answer, Question
from askgraph.workspace import Workspace
from askgraph.workspace.enrichment import (
    add_enriched,
    build_advised_definitions,
    enrich_virtually,
    write_enriched,
)
from askgraph.workspace.run_sync import ask_method, run_coroutine

PLACE = "http://example.org/"
CLOSURE: tuple[AdviceKind, ...] = ("closure",)
NARY: tuple[AdviceKind, ...] = ("nary",)
NAME: tuple[AdviceKind, ...] = ("name",)
VIRTUAL = "urn:askgraph:virtual:"
SOUTH = f"SELECT DISTINCT ?x {{ ?x <{VIRTUAL}seatPartOf> <{PLACE}south> }}"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_of(tmp_path, firms=FIRMS)


def rows(workspace: Workspace, name: str, query: str) -> set[str]:
    graph = workspace.graph(name)
    try:
        return {
            str(row[0]).replace(PLACE, "")
            for row in run_coroutine(graph.endpoint.select(query)).rows
        }
    finally:
        run_coroutine(graph.endpoint.close())


def answer_of(workspace: Workspace, name: str) -> Answer:
    graph = workspace.graph(name)
    question = Question("Which firms are from Southland?")
    try:
        answer = run_coroutine(ask_method(question, workspace.method(), [graph]))
    finally:
        run_coroutine(graph.endpoint.close())
    assert isinstance(answer, Answer)
    return answer


def test_a_virtual_predicate_is_asked_like_any_other(workspace: Workspace, tmp_path: Path) -> None:
    plain = build_advised_definitions(workspace, "firms", ("chain", "nary"))
    profile = enrich_virtually(workspace, "firms", plain)

    assert rows(workspace, "firms", SOUTH) == {"<f1>", "<f3>", "<f5>"}
    # It is known to the profile and the arrays.
    found = next(p for p in profile.predicates if p.iri == VIRTUAL + "seatPartOf")
    _, arrays = workspace.load_content("firms")
    assert (found.triples, found.steps) == (18, 2)
    assert arrays is not None and arrays.get_predicate_number(found.iri) is not None
    # It is among all that leaves a thing, and has a label.
    leaving = rows(workspace, "firms", f"SELECT DISTINCT ?p {{ <{PLACE}f1> ?p ?o }}")
    assert f"<{VIRTUAL}seatPartOf>" in leaving
    said = rows(workspace, "firms", f"SELECT ?o {{ <{VIRTUAL}seatPartOf> ?p ?o }}")
    assert '"seat part of"@en' in said
    # Advice does not build upon advice.
    assert (
        build_advised_definitions(workspace, "firms", ("chain", "nary")).properties
        == plain.properties
    )
    # It is not written out as the graph's own.
    with pytest.raises(SetupError, match="--plain"):
        write_enriched(workspace, "firms", Definitions(), tmp_path / "new.nt")
    assert not (tmp_path / "new.nt").exists()
    # Removed, its definitions go too.
    workspace.remove("firms")
    assert not list((workspace.folder / "enrichments").iterdir())


def test_an_answer_has_a_query_that_the_graph_itself_understands(workspace: Workspace) -> None:
    definitions = build_advised_definitions(workspace, "firms")
    enrich_virtually(workspace, "firms", definitions, as_name="virtual")
    answer = answer_of(workspace, "virtual")
    assert VIRTUAL not in answer.query.replace(f"<{VIRTUAL}>", "")
    assert ":hasSeat/" in answer.query
    assert rows(workspace, "firms", answer.query) == {"<f1>", "<f3>", "<f5>"}


def test_a_change_of_the_definitions_takes_effect(workspace: Workspace) -> None:
    enrich_virtually(workspace, "firms", build_advised_definitions(workspace, "firms"))
    path = workspace.folder / "enrichments" / "firms.toml"
    path.write_text(path.read_text().replace("hasSeat", "hasPlant"))
    assert rows(workspace, "firms", SOUTH) == {"<f1>", "<f3>", "<f4>", "<f5>"}


def test_taken_away_it_is_unknown_again(workspace: Workspace) -> None:
    before = workspace.load_profile("firms").predicates
    enrich_virtually(
        workspace, "firms", definitions := build_advised_definitions(workspace, "firms")
    )
    enrich_virtually(workspace, "firms", definitions.select(
        inverse=False, shortcuts=False, comments=False, names=False
    ))  # fmt: skip

    assert workspace.load_profile("firms").predicates == before
    assert rows(workspace, "firms", SOUTH) == set()


def test_written_out_it_holds_the_graph_and_what_was_added(
    workspace: Workspace, tmp_path: Path
) -> None:
    definitions = build_advised_definitions(workspace, "firms", ("chain", "declared", "name"))
    added = write_enriched(workspace, "firms", definitions, tmp_path / "new.ttl")

    store = Store()
    store.bulk_load((tmp_path / "new.ttl").read_bytes(), RdfFormat.TURTLE)
    own = {quad.triple for quad in parse(FIRMS, RdfFormat.TURTLE)}
    assert own <= {quad.triple for quad in store}
    assert len(store) == len(own) + added
    assert store.query(f"ASK {{ <{PLACE}f1> <{VIRTUAL}seatPartOf> <{PLACE}world> }}")
    assert store.query(f"ASK {{ <{PLACE}f1> <{PLACE}sells> <{PLACE}deal1> }}")
    assert store.query(f'ASK {{ <{PLACE}deal1> ?p "Firm 2 – Firm 1" }}')


def test_made_a_graph_of_its_own_it_answers_the_same(workspace: Workspace) -> None:
    definitions = build_advised_definitions(workspace, "firms")
    add_enriched(workspace, "firms", definitions, "more")
    enrich_virtually(workspace, "firms", definitions)
    assert rows(workspace, "more", SOUTH) == rows(workspace, "firms", SOUTH)


def test_a_name_that_is_taken_or_outside_the_workspace_is_refused(workspace: Workspace) -> None:
    definitions = build_advised_definitions(workspace, "firms")
    with pytest.raises(SetupError, match="graph 'firms' exists already"):
        add_enriched(workspace, "firms", definitions, "firms")
    with pytest.raises(SetupError, match="graph 'firms' exists already"):
        enrich_virtually(workspace, "firms", definitions, as_name="firms")
    with pytest.raises(SetupError, match="cannot be the name"):
        add_enriched(workspace, "firms", Definitions(), "../../evil")
    assert not list(workspace.folder.parent.parent.glob("evil*"))


def test_what_cannot_be_built_leaves_all_as_it_was(workspace: Workspace) -> None:
    enrich_virtually(workspace, "firms", build_advised_definitions(workspace, "firms"))
    wrong = build_advised_definitions(workspace, "firms", CLOSURE)
    starred = replace(wrong.properties[0], path=parse_path(":partOf*", {"": PLACE}))
    with pytest.raises(SetupError, match="may match the empty path"):
        enrich_virtually(workspace, "firms", Definitions((starred,)))
    assert rows(workspace, "firms", SOUTH) == {"<f1>", "<f3>", "<f5>"}


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[tuple[Workspace, SparqlServer]]:
    with SparqlServer(store_of(FIRMS)) as server:
        place = Workspace(tmp_path / "behind")
        place.add("firms", [server.url])
        yield place, server


def test_behind_an_endpoint_an_answer_is_found_by_a_virtual_predicate(
    behind: tuple[Workspace, SparqlServer],
) -> None:
    workspace, _ = behind
    definitions = build_advised_definitions(workspace, "firms", ("chain", "nary"))
    profile = enrich_virtually(workspace, "firms", definitions)
    answer = answer_of(workspace, "firms")

    known = {p.iri.removeprefix(VIRTUAL): p for p in profile.predicates}
    assert known["seatPartOf"].object_classes[0][0] == PLACE + "Region"
    assert known["hasBuyer"].subject_classes[0][0] == PLACE + "Firm"
    found = {str(row[0]).replace(PLACE, "") for row in answer.result.rows}
    assert found == {"<f1>", "<f3>", "<f5>"} and "hasSeat" in answer.query
    # Asked anew, it stays enriched.
    workspace.add("firms", replace=True)
    assert rows(workspace, "firms", SOUTH) == found


def test_behind_an_endpoint_it_is_taken_away_again(behind: tuple[Workspace, SparqlServer]) -> None:
    workspace, _ = behind
    before = workspace.load_profile("firms")
    enrich_virtually(workspace, "firms", build_advised_definitions(workspace, "firms", NARY))
    enrich_virtually(workspace, "firms", Definitions())

    assert workspace.load_profile("firms") == before
    assert rows(workspace, "firms", SOUTH) == set()
    with pytest.raises(SetupError, match="not an endpoint"):
        enrich_virtually(workspace, "firms", build_advised_definitions(workspace, "firms", NAME))


def test_what_the_graph_has_and_what_begins_at_literals_is_refused(workspace: Workspace) -> None:
    for iri, path, said in (
        ("buyer", ":seller", "already"),
        ("of", "^:year", "cannot be subjects"),
    ):
        one = DefinedProperty(PLACE + iri, parse_path(path, {"": PLACE}))
        with pytest.raises(SetupError, match=said):
            enrich_virtually(workspace, "firms", Definitions((one,)))
