"""Pairs: right candidates with the nearest wrong ones, the same for the same seed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.index.names import ItemKind
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.writing.model_writer import build_prompt, parse_query
from askgraph.methods.writing.term_names import list_required_terms
from askgraph.sparql.rewrite.canonical import canonicalize_query
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.training.pairs import (
    SkippedQuestion,
    TermSearch,
    TrainingPair,
    TrainingQuestion,
    build_pairs,
    evaluate_pairs,
    open_term_search,
    read_pairs,
    write_pairs,
)
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

PREFIX = (
    "PREFIX space: <https://example.org/space/> PREFIX ont: <https://example.org/space/ontology#> "
)
ASKED = [
    TrainingQuestion(f"q{number}", "Which moons orbit Jupiter?", PREFIX + query)
    for number, query in enumerate(["SELECT ?m { ?m a ont:Moon ; ont:orbits space:Jupiter }"] * 20)
]


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TermSearch]:
    graph = Workspace(tmp_path_factory.mktemp("pairs")).open(sample.graph_path())
    with open_term_search(graph) as found:
        yield found
    run_coroutine(graph.endpoint.close())


def test_a_pair_lists_the_right_terms_and_one_to_three_near_ones_of_each(terms: TermSearch) -> None:
    made = [pair for pair in build_pairs(ASKED, terms) if isinstance(pair, TrainingPair)]

    right = set(list_required_terms(ASKED[0].query))
    targets, wrong = {target for _, target in right}, set[str]()
    for pair in made:
        listed = {(one.kind, one.target) for one in pair.listed}
        assert right < listed
        for kind in (ItemKind.ENTITY, ItemKind.PREDICATE):  # no other class has the word moon
            assert 2 <= len([one for one in pair.listed if one.kind is kind]) <= 4
        back = parse_query(pair.target, pair.names)
        assert canonicalize_query(back) == canonicalize_query(ASKED[0].query)
        wrong |= {one.target for one in pair.listed if one.kind is ItemKind.ENTITY} - targets
    assert len(wrong) == 5, "the nearest alone"
    copies = [pair.id for pair in made if "#" in pair.id]
    assert 0 < len(copies) < 40
    assert len({tuple(one.target for one in pair.listed) for pair in made}) > 10


def test_the_same_seed_gives_a_question_the_same_pairs_whatever_stands_around_it(
    terms: TermSearch,
) -> None:
    alone = list(build_pairs([ASKED[3]], terms, seed=7))
    among = [one for one in build_pairs(ASKED, terms, seed=7) if one.id.split("#")[0] == "q3"]
    assert alone == among
    assert list(build_pairs([ASKED[3]], terms, seed=8, copies=False)) != alone


def test_a_query_that_cannot_be_written_is_left_out_with_the_reason(terms: TermSearch) -> None:
    odd = TrainingQuestion("odd", "?", "SELECT ?x { SERVICE <http://example.org/> { ?x ?p ?o } }")
    (left_out,) = build_pairs([odd], terms)
    assert isinstance(left_out, SkippedQuestion)
    assert "SERVICE" in left_out.reason


def test_a_plain_pair_wants_the_query_as_an_endpoint_takes_it(
    terms: TermSearch, tmp_path: Path
) -> None:
    chain = TrainingQuestion(
        "chain",
        "Which moons orbit what Io orbits?",
        PREFIX + "SELECT ?m { { SELECT ?p { space:Io ont:orbits ?p } } ?m ont:orbits ?p }",
    )
    made = list(build_pairs([ASKED[0], chain], terms, copies=False, form="plain"))
    write_pairs(tmp_path / "pairs.jsonl", [pair for pair in made if isinstance(pair, TrainingPair)])

    (first, second), _ = read_pairs([tmp_path / "pairs.jsonl"])

    space = "https://example.org/space/"
    assert first.target == (
        f"SELECT ?v0 WHERE {{ ?v0 <{RDF_TYPE}> <{space}ontology#Moon> . "
        f"?v0 <{space}ontology#orbits> <{space}Jupiter> . }}"
    )
    assert second.target.count("SELECT") == 2
    assert f"<{space}Io>: Io" in build_prompt(second.question, second.names)
    model = ScriptedModel([f"```sparql\n{first.target}\n```", second.target])
    found = run_coroutine(evaluate_pairs(model, [first, second]))
    assert (found.first, found.sound) == (2, 2)


def test_pairs_come_back_from_their_file(terms: TermSearch, tmp_path: Path) -> None:
    made = [pair for pair in build_pairs(ASKED[:3], terms) if isinstance(pair, TrainingPair)]
    write_pairs(tmp_path / "pairs.jsonl", made)

    pairs, digest = read_pairs([tmp_path / "pairs.jsonl"])

    plain = [
        (one.id, one.target, [(e.kind, e.target, e.label) for e in one.listed]) for one in made
    ]
    assert [
        (one.id, one.target, [(e.kind, e.target, e.label) for e in one.listed]) for one in pairs
    ] == plain
    assert len(digest) == 64


STRANGE = '{"id": "1", "question": "?", "listed": [], "target": "ASK { }", "form": "verse"}'
OLD = STRANGE.replace(', "form": "verse"', "")


@for_each(
    ("content", "told"),
    [("", "pair"), ("[]", "pair"), ('{"id": 3}', "pair"), ("moon", "pair"), (STRANGE, "pair"),
     (OLD, r"line 1: 'references'.* askgraph 0\.2 was the last version")],
)  # fmt: skip
def test_a_file_of_anything_else_is_told(content: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SetupError, match=told):
        read_pairs([file])


def test_a_pair_that_wants_no_query_is_told_before_anything_is_asked() -> None:
    model = ScriptedModel([])
    pairs = [
        TrainingPair("first", "How many?", (), "ASK { ?a ?b ?c }"),
        TrainingPair("odd", "Who?", (), "SELECT"),
    ]
    with pytest.raises(SetupError, match="'odd' has an invalid query"):
        run_coroutine(evaluate_pairs(model, pairs))
