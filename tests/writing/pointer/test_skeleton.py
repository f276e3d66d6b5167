"""Skeletons: queries there and back again, and nothing but queries."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, Store
from tests.search.asking import Known

from askgraph.rdf.prefixes import PrefixMap
from askgraph.sample import graph_path, questions_path
from askgraph.search.form import Form, Pattern
from askgraph.search.query import query_of
from askgraph.sparql.read import read
from askgraph.sparql.write import plain_text
from askgraph.writing.pointer.pieces import STOP, SYMBOLS, Piece, awaited
from askgraph.writing.pointer.skeleton import Inexpressible, form_of, skeleton_of, terms_of

TERMS = ["<urn:a>", "<urn:p>", "<urn:C>", '"red"', "1990"]
ROLES = [{"term"}, {"predicate"}, {"class", "term"}, {"term"}, {"term", "number"}]


@pytest.fixture(scope="module")
def forms() -> list[Form]:
    """The best candidates for every fourth question of the sample."""
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    space = Known(store)
    lines = questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[::4]]
    found = [c.form for text in questions for c in space.proposal(text).candidates[:5]]
    return [one for one in found if not (one.optional or one.given or one.computed)]


def placed(form: Form) -> dict[str, int]:
    return {term: at for at, term in enumerate(terms_of(form))}


def test_every_candidate_comes_back_from_its_skeleton_as_the_same_skeleton(
    forms: list[Form],
) -> None:
    for form in forms:
        skeleton = skeleton_of(form, placed(form))
        assert skeleton_of(form_of(skeleton, terms_of(form)), placed(form)) == skeleton


def test_what_comes_back_has_the_same_parts(forms: list[Form]) -> None:
    for form in forms:
        back = form_of(skeleton_of(form, placed(form)), terms_of(form))
        assert len(back.patterns) == len(set(form.patterns))
        assert (back.limit, back.offset, back.ask) == (form.limit, form.offset, form.ask)
        assert sorted(f.operator for f in back.filters) == sorted(f.operator for f in form.filters)


def test_variables_and_the_order_of_patterns_make_no_difference(forms: list[Form]) -> None:
    form = max(forms, key=lambda one: len(one.patterns))
    turned = replace(form, patterns=tuple(reversed(form.patterns)))
    assert skeleton_of(turned, placed(form)) == skeleton_of(form, placed(form))


def test_a_term_that_is_not_listed_is_told() -> None:
    form = Form((Pattern(0, "urn:p", "<urn:a>"),), ())
    with pytest.raises(Inexpressible, match="not listed"):
        skeleton_of(form, {"<urn:p>": 0})


@pytest.mark.parametrize(
    "pieces",
    [("SELECT",), ("SELECT", "?0", "WHERE", STOP), ("ASK", "WHERE", 0, 1, "?0", STOP, STOP), ()],
)
def test_what_is_no_skeleton_is_refused(pieces: tuple[Piece, ...]) -> None:
    with pytest.raises(ValueError, match="skeleton"):
        form_of(pieces, TERMS)


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
    form = form_of(pieces, TERMS)
    read(plain_text(query_of(form), PrefixMap({})))
    assert set(terms_of(form)) <= set(TERMS)
