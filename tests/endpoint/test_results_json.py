"""SPARQL JSON in pieces: any cutting gives the same rows, any end too early is noticed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.each import for_each

from askgraph.endpoint._results_json import ResultsParser
from askgraph.errors import ErrorReply, MalformedReply

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
terms = st.one_of(
    texts.map(lambda text: {"type": "literal", "value": text}),
    texts.map(lambda text: {"type": "literal", "value": text, "xml:lang": "en"}),
    texts.map(
        lambda text: {"type": "typed-literal", "value": text, "datatype": "http://example.org/t"}
    ),
    st.integers().map(lambda number: {"type": "uri", "value": f"http://example.org/{number}"}),
    st.integers(0, 99).map(lambda number: {"type": "bnode", "value": f"b{number}"}),
)
bindings = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "größe"]), terms, max_size=3), max_size=8
)
junk = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def replies(draw: st.DrawFn) -> bytes:
    """Replies as servers write them: with other members, in any order, spaced anyhow."""
    head = {"vars": ["a", "b", "größe"], "link": []}
    results = {"distinct": False, "ordered": True, "bindings": draw(bindings)}
    members: list[tuple[str, Any]] = [("head", head), ("results", results)]
    if draw(st.booleans()):
        members.append(("meta", draw(junk)))
    members = draw(st.permutations(members))
    text = json.dumps(
        dict(members), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
    )
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


def parsed(*pieces: bytes, limit: int | None = None) -> ResultsParser:
    parser = ResultsParser(limit)
    for piece in pieces:
        parser.feed(piece)
    parser.feed(None)
    return parser


@settings(deadline=None)
@given(replies(), st.data())
def test_any_cutting_gives_the_same_rows(reply: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=12)))
    pieces = [reply[a:b] for a, b in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    whole, cut = parsed(reply), parsed(*pieces)
    expected = json.loads(reply.decode("utf-8-sig"))["results"]["bindings"]
    assert set(cut.variables) == {"a", "b", "größe"}
    by_name = [dict(zip(cut.variables, row, strict=True)) for row in cut.rows]
    assert by_name == [dict(zip(whole.variables, row, strict=True)) for row in whole.rows]
    for binding, row in zip(expected, by_name, strict=True):
        assert {name for name, term in row.items() if term is not None} == set(binding)


@settings(deadline=None)
@given(replies(), st.data())
def test_any_end_too_early_is_malformed(reply: bytes, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(reply) - 1))
    with pytest.raises(MalformedReply):
        parsed(reply[:end])


@settings(deadline=None)
@given(replies(), st.integers(0, 10))
def test_a_limit_takes_so_many_rows_and_knows_whether_there_are_more(
    reply: bytes, limit: int
) -> None:
    rows = parsed(reply).rows
    limited = parsed(reply, limit=limit)
    assert len(limited.rows) == min(limit, len(rows))
    assert limited.is_full == (len(rows) > limit)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_other_bytes_never_give_rows_and_never_anything_but_our_errors(data: bytes) -> None:
    with pytest.raises((MalformedReply, ErrorReply)):
        parsed(data)


@for_each(
    ("reply", "error"),
    ('{"head":{},"results":{"bindings":[1]}}', MalformedReply),
    ('{"head":{},"results":{"bindings":[{"a":1}]}}', MalformedReply),
    ('{"head":{},"results":{"bindings":[{"a":{"type":"x","value":""}}]}}', MalformedReply),
    ('{"head":{},"results":{"bindings":[]}} SPARQL error', MalformedReply),
    ('{"head":{},"results":{"bindings":[{}, oops', MalformedReply),
    ('{"head":{},"results":[]}', MalformedReply),
    ("[" * 100_000, MalformedReply),
    ('{"results":' + "[" * 100_000, MalformedReply),
    ('{"x":' + "[" * 100_000, MalformedReply),
    ('{"error":"no"}', ErrorReply),
    ('{"a":1}', MalformedReply),
    ("[]", MalformedReply),
)
def test_what_is_no_result_is_refused(reply: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        parsed(reply.encode())


def test_terms_that_servers_get_wrong_are_taken_as_far_as_possible() -> None:
    row = {
        "a": {"type": "bnode", "value": "nodeID://b10001"},
        "b": {"type": "uri", "value": "http://example.org/a b"},
        "c": {"type": "literal", "value": "x", "xml:lang": "en_US"},
        "d": {
            "type": "triple",
            "value": {
                "subject": {"type": "uri", "value": "a:s"},
                "predicate": {"type": "uri", "value": "a:p"},
                "object": {"type": "literal", "value": "o"},
            },
        },
    }
    reply = json.dumps({"head": {"vars": list("abcd")}, "results": {"bindings": [row]}})
    assert parsed(reply.encode()).rows == (
        (
            BlankNode("nodeID___b10001"),
            NamedNode("http://example.org/a%20b"),
            Literal("x", language="en-us"),
            Triple(NamedNode("a:s"), NamedNode("a:p"), Literal("o")),
        ),
    )


def test_numbers_may_be_cut_anywhere() -> None:
    reply = b'{"meta":{},"time":-12.5e+3,"head":{},"boolean":true,"n":0.0}'
    assert parsed(*(reply[at : at + 1] for at in range(len(reply)))).boolean is True
    assert parsed(b'{"boolean" : false, "head":{}}\n').boolean is False
