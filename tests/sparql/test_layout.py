"""Formatted queries read well, mean the same, and do not change when formatted again."""

import json
import logging
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.sparql.same_algebra import meaning

from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite import lay_out_query

EX = PrefixMap({"ex": "http://example.org/"})
DATA = Path(os.environ.get("ASKGRAPH_DATA", "../shared/data"))
logging.getLogger("rdflib.term").setLevel(logging.ERROR)


def test_a_query_is_laid_out_one_pattern_a_line() -> None:
    query = """PREFIX e: <http://example.org/> prefix owl: <http://www.w3.org/2002/07/owl#>
    select distinct ?n (count(*) as ?c) where { ?m e:crew ?p . ?p <http://example.org/name> ?n .
    ?m rdf:type e:Mission . filter( ?n!='Bob'&&! regex(?n,"^A",'i') ) optional { ?m e:date ?d }
    ?m e:crew ?p } group by ?n having(count(*)>2) order by desc(?c) ?n limit 3 offset 1"""
    assert (
        lay_out_query(query, EX, {})
        == """\
PREFIX ex: <http://example.org/>
SELECT DISTINCT ?n (COUNT(*) AS ?c) WHERE {
  ?m a ex:Mission ;
      ex:crew ?p .
  ?p ex:name ?n .
  FILTER(?n != "Bob" && !REGEX(?n, "^A", "i"))
  OPTIONAL { ?m ex:date ?d . }
  ?m ex:crew ?p .
}
GROUP BY ?n
HAVING (COUNT(*) > 2)
ORDER BY DESC(?c) ?n
LIMIT 3
OFFSET 1"""
    )


def test_labels_explain_opaque_names_only() -> None:
    query = """SELECT ?x { ?x <http://example.org/organizationType> <http://example.org/Q285> ;
    <http://example.org/P1> "Q285" }"""
    labels = {
        "http://example.org/organizationType": "organization type",
        "http://example.org/Q285": "IDM",
        "http://example.org/P1": "code of\nthe firm",
    }
    assert (
        lay_out_query(query, EX, labels)
        == """\
PREFIX ex: <http://example.org/>
SELECT ?x WHERE {
  ?x ex:organizationType ex:Q285 ;  # IDM
      ex:P1 "Q285" .  # code of the firm
}"""
    )


@for_each(
    ("query", "lines"),
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["layouts"],
)
def test_every_form_has_its_layout(query: str, lines: str) -> None:
    out = lay_out_query(query, EX, {})
    assert "\n".join(line for line in out.splitlines() if not line.startswith("PREFIX")) == lines
    assert meaning(EX.build_header(query) + query) == meaning(out)


def test_strings_over_several_lines_become_one_line_with_the_same_text() -> None:
    query = """SELECT * { ?s ?p '''It's "so"
    ex:Q1 # no comment''', "a\\tb", 'say "x"' }"""
    out = lay_out_query(query, EX, {"http://example.org/Q1": "label"})
    assert r'"It' in out
    assert "# label" not in out
    assert meaning(query) == meaning(out)


def test_comments_before_the_query_stay() -> None:
    out = lay_out_query("# Who?\nSELECT * { ?s ?p ?o } # all", EX, {})
    assert out == "# Who?\nSELECT * WHERE {\n  ?s ?p ?o .\n}"


@for_each(
    "text",
    ["", "hello", "SELECT ?x", "ASK { FILTER(?a ?b) }", "DROP ALL", 'SELECT * { ?s ?p "x }', "{{{"],
)
def test_what_is_no_query_comes_back_unchanged(text: str) -> None:
    assert lay_out_query(text, EX, {}) == text


def test_an_unknown_prefix_is_left_as_it_is() -> None:
    assert "?s no:such ?o ." in lay_out_query("SELECT * { ?s no:such ?o }", EX, {})


VARIABLES = st.sampled_from(["?x", "?y", "$z"])
IRIS = st.sampled_from(["ex:a", "<http://example.org/b>", r"ex:c\#d", "rdf:type", "<urn:other:x>"])
LITERALS = st.sampled_from(
    ["1", "-2", "2.5", "1e3", "true", "'a'", '"b\\n"@en', "'''c'''^^xsd:string", "'7'^^xsd:integer"]
)
NODES = st.one_of(VARIABLES, IRIS, LITERALS, st.just("[]"), st.just("_:b"))
PATHS = st.recursive(
    st.sampled_from(["ex:a", "a", "<http://example.org/b>", "^ex:a", "!ex:a", "!(ex:a|^ex:b)"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("*+?")).map(lambda p: f"({p[0]}){p[1]}"),
        st.tuples(inner, st.sampled_from("/|"), inner).map(lambda p: f"({p[0]}{p[1]}{p[2]})"),
    ),
    max_leaves=4,
)
EXPRESSIONS = st.recursive(
    st.one_of(VARIABLES, LITERALS.filter(lambda text: text[0] != "-"), st.just("lang( ?x )")),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["=", "!=", "<", ">=", "&&", "||", "+", "*"]), inner).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        inner.map(lambda text: f"!({text})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} not in({p[1]},1))"),
        inner.map(lambda text: f"regex(str({text}),'a','i')"),
    ),
    max_leaves=5,
)
SUBJECTS = st.one_of(VARIABLES, IRIS, st.just("_:b"))
STATEMENTS = st.builds(
    lambda s, pairs: f"{s} " + "; ".join(f"{p} {o}" for p, o in pairs) + " .",
    SUBJECTS,
    st.lists(st.tuples(st.one_of(VARIABLES, PATHS), NODES), min_size=1, max_size=3),
)
TRIPLES = st.lists(STATEMENTS, min_size=1, max_size=4).map(" ".join)
PLAIN = TRIPLES.map(lambda text: text.replace("_:b", "?b"))
GROUPS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.tuples(PLAIN, EXPRESSIONS).map(lambda p: f"{p[0]} filter({p[1]})"),
        st.tuples(PLAIN, inner).map(lambda p: f"{p[0]} optional{{{p[1]}}} {p[0]}"),
        st.tuples(inner, inner).map(lambda p: f"{{{p[0]}}}union{{{p[1]}}}"),
        st.tuples(PLAIN, inner).map(lambda p: f"{p[0]} minus {{{p[1]}}}"),
        st.tuples(PLAIN, inner).map(lambda p: f"filter not exists {{{p[1]}}} {p[0]}"),
        st.tuples(EXPRESSIONS, PLAIN).map(lambda p: f"bind({p[0]} as ?new) {p[1]}"),
        inner.map(lambda text: f"{{select (max(?x) as ?m) where {{{text}}} group by ?y}}"),
        inner.map(lambda text: f"values (?v ?w) {{ (1 undef) (ex:a 'x') }} graph ex:g {{{text}}}"),
    ),
    max_leaves=4,
)
ENDINGS = st.sampled_from(
    ["", "limit 3", "order by desc(?x) ?y", "group by ?x having(count(*)>1)", "values ?x { 1 2 }"]
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.one_of(GROUPS, TRIPLES), ENDINGS)
def test_a_formatted_query_means_the_same_and_stays_as_it_is(body: str, ending: str) -> None:
    head = "select ?x" if "group" in ending else "select distinct ?x ?y"
    query = f"{head} {{ {body} }} {ending}"
    query = EX.build_header(query) + query
    out = lay_out_query(query, EX, {"http://example.org/a": "some label"})
    assert out != query.strip()
    assert meaning(out) == meaning(query)
    assert lay_out_query(out, EX, {"http://example.org/a": "some label"}) == out


def _gold(folder: str, every: int) -> Iterator[str]:
    path = DATA / folder / "questions.jsonl"
    if not path.exists():
        pytest.skip(f"needs the benchmark data: {path} is not there")
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % every == 0:
                yield json.loads(line)["sparql"]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "every"), [("supply-kgrep", 3), ("spider4sparql", 13)])
def test_gold_queries_keep_their_meaning(folder: str, every: int) -> None:
    for query in _gold(folder, every):
        out = lay_out_query(query, PrefixMap(), {})
        assert meaning(out) == meaning(query)
        assert lay_out_query(out, PrefixMap(), {}) == out
