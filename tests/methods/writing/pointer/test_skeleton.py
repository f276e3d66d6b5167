"""Skeletons: queries there and back again, and nothing but queries."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, RdfFormat, Store
from tests.search.asking import Known

from askgraph.methods.writing.pointer.pieces import STOP, SYMBOLS, Piece, awaited
from askgraph.methods.writing.pointer.skeleton import Inexpressible, query_of, skeleton_of, terms_of
from askgraph.sample import graph_path, questions_path
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.query_pieces import conditions_in, pattern, patterns_in, term_of, variable
from askgraph.search.query_pieces import query_of as made
from askgraph.sparql import Bind, Group, Nested, Query, Values
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.read import read
from askgraph.sparql.write import plain_text

TERMS = ["<urn:a>", "<urn:p>", "<urn:C>", '"red"', "1990"]
ROLES = [{"term"}, {"predicate"}, {"class", "term"}, {"term"}, {"term", "number"}]


@pytest.fixture(scope="module")
def candidates() -> list[Candidate]:
    """The best candidates for every fourth question of the sample that a skeleton can express."""
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    space = Known(store)
    lines = questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[::4]]
    found = [c for text in questions for c in space.proposal(text).candidates[:5]]
    return [one for one in found if not _goes_beyond(one.tree)]


def _goes_beyond(query: Query) -> bool:
    return any(isinstance(one, Bind | Values | Nested) for one in query.where.elements)


def placed(query: Query) -> dict[str, int]:
    return {term: at for at, term in enumerate(terms_of(query))}


def test_every_candidate_comes_back_from_its_skeleton_as_the_same_skeleton(
    candidates: list[Candidate],
) -> None:
    for one in candidates:
        skeleton = skeleton_of(one.tree, placed(one.tree))
        back = query_of(skeleton, terms_of(one.tree))
        assert skeleton_of(back, placed(one.tree)) == skeleton


def test_what_comes_back_has_the_same_parts(candidates: list[Candidate]) -> None:
    for query in (one.tree for one in candidates):
        back = query_of(skeleton_of(query, placed(query)), terms_of(query))
        assert len(patterns_in(back.where)) == len(patterns_in(query.where))
        assert (back.form, back.limit, back.offset) == (query.form, query.limit, query.offset)
        assert _signs(back) == _signs(query)


def _signs(query: Query) -> list[str]:
    return sorted(one.operator for one in conditions_in(query.where))


def test_columns_that_are_not_shown_are_context(candidates: list[Candidate]) -> None:
    for one in candidates:
        skeleton = skeleton_of(one.tree, placed(one.tree), one.shown)
        context = len(one.tree.columns) - len(one.shown) if not one.asks else 0
        assert skeleton.count("CONTEXT") == context
        back = query_of(skeleton, terms_of(one.tree))
        assert len(back.columns) == len(one.tree.columns)


def test_variables_and_the_order_of_patterns_make_no_difference(
    candidates: list[Candidate],
) -> None:
    query = max((one.tree for one in candidates), key=lambda tree: len(patterns_in(tree.where)))
    turned = replace(query, where=Group(tuple(reversed(query.where.elements))))
    assert skeleton_of(turned, placed(query)) == skeleton_of(query, placed(query))


def test_a_term_that_is_not_listed_is_told() -> None:
    query = made([pattern(variable(0), "urn:p", NamedNode("urn:a"))], [variable(0)])
    with pytest.raises(Inexpressible, match="not listed"):
        skeleton_of(query, {"<urn:p>": 0})


@pytest.mark.parametrize(
    "pieces",
    [("SELECT",), ("SELECT", "?0", "WHERE", STOP), ("ASK", "WHERE", 0, 1, "?0", STOP, STOP), ()],
)
def test_what_is_no_skeleton_is_refused(pieces: tuple[Piece, ...]) -> None:
    with pytest.raises(ValueError, match="skeleton"):
        query_of(pieces, TERMS)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_the_grammar_allows_is_a_query(data: st.DataObject) -> None:
    """Walk where the grammar leads; each walk that ends is SPARQL over the listed terms."""
    pieces: tuple[Piece, ...] = ()
    while len(pieces) < 40:
        following = awaited(pieces)[len(pieces)]
        choices: list[Piece] = [s for s in SYMBOLS if s in following.symbols]
        choices += [at for at, roles in enumerate(ROLES) if roles & following.roles]
        assert choices, "a dead end"
        piece = (
            STOP if STOP in choices and len(pieces) > 14 else data.draw(st.sampled_from(choices))
        )
        pieces = (*pieces, piece)
        if piece == STOP:
            break
    else:
        return
    query = query_of(pieces, TERMS)
    read(plain_text(query, PrefixMap({})))
    assert set(map(term_of, terms_of(query))) <= set(map(term_of, TERMS))
    assert skeleton_of(query, {term: at for at, term in enumerate(TERMS)})
