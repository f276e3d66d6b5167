"""Which queries may run: decided by what they mean, not by words in them."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError
from askgraph.sparql.judge import (
    CheckedQuery,
    admit_query,
    check_query,
    get_limit,
    get_star_variables,
    list_datasets,
)
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import format_tree, to_text

PREFIXES = {"ex": "http://example.org/", "foaf": "http://xmlns.com/foaf/0.1/"}
BAD_WORDS = ["INSERT", "DELETE", "SERVICE", "LOAD", "DROP", "CLEAR", "service <http://x.example/>"]


@for_each(
    ("query", "form"),
    ("SELECT * { ?s ?p ?o }", "SELECT"),
    ("select ?s from <a:b> from named <a:c> where { graph ?g { ?s ?p ?o } }", "SELECT"),
    ("BASE <http://example.org/> PREFIX : <#> ASK { :a <b> :c }", "ASK"),
    ("# INSERT\nCONSTRUCT WHERE { ?s ?p ?o }", "CONSTRUCT"),
    ("DESCRIBE <http://example.org/service>", "DESCRIBE"),
)
def test_the_four_forms_that_read_pass(query: str, form: str) -> None:
    assert check_query(query).form == admit_query(query).form == form
    assert check_query(query).text == query


def test_two_prefixes_may_stand_for_one_namespace() -> None:
    query = "PREFIX a: <http://x.example/> PREFIX b: <http://x.example/> ASK { a:s b:p/a:q 'a:b' }"
    assert check_query(query).form == "ASK"
    with pytest.raises(QuerySyntaxError, match="line 2, column 11"):
        check_query(query.replace("ASK {", "\nASK { a:s ;;"))


def test_queries_are_judged_from_several_threads_at_once() -> None:
    gc.collect()  # results of pyoxigraph that lie about must not be dropped on another thread
    queries = [f"SELECT ?s {{ ?s ex:p{n} [ ex:q {n} ] }} # {n}" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: check_query(query, prefixes=PREFIXES).form, queries))
    assert found == ["SELECT"] * 200


@for_each(
    ("query", "name"),
    ("INSERT DATA { <a:b> <a:c> 1 }", "INSERT DATA"),
    ("DELETE WHERE { ?s ?p ?o }", "DELETE"),
    ("PREFIX ex: <a:> # SELECT\nWITH <a:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "WITH"),
    ("LOAD <http://x.example/>", "LOAD"),
    ("CLEAR ALL", "CLEAR"),
    ("DROP SILENT GRAPH <a:g>", "DROP"),
    ("CREATE GRAPH <a:g>", "CREATE"),
    ("ADD <a:g> TO <a:h>", "ADD"),
    ("MOVE <a:g> TO <a:h>", "MOVE"),
    ("COPY <a:g> TO <a:h>", "COPY"),
    ("INSERT {", "INSERT"),
)
def test_updates_are_refused_and_named(query: str, name: str) -> None:
    for judge in (check_query, admit_query):
        with pytest.raises(ForbiddenQuery, match=rf"only SELECT, ASK.*update \({name} …\)"):
            judge(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s ?p ?o } ; DELETE WHERE { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o } INSERT DATA { <a:b> <a:c> 1 }",
        "SELECT * { INSERT DATA { <a:b> <a:c> 1 } }",
    ],
)
def test_an_update_after_a_read_does_not_pass(query: str) -> None:
    for judge in (check_query, admit_query):
        with pytest.raises(QueryError):
            judge(query)


@for_each(
    "query",
    "SELECT * { SERVICE <http://evil.example/> { ?s ?p ?o } }",
    "SELECT * { service silent <http://evil.example/>{ ?s ?p ?o } }",
    "PREFIX e: <http://evil.example/> SELECT * { SERVICE e: { ?s ?p ?o } }",
    "SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE <http://evil.example/> { ?s ?p ?o } } }",
    "SELECT * { { SELECT * { OPTIONAL { SERVICE <http://evil.example/> { ?s ?p ?o } } } } }",
    "ASK { ?s ?p ?o BIND(EXISTS { SERVICE <http://evil.example/> { ?s ?p ?o } } AS ?x) }",
    "SELECT * { ?s ?p ?o SERVICE ?s { ?s ?p ?o } }",
    "SELECT * { SERVICE <http://ok.example/> { SERVICE <http://evil.example/> { ?s ?p ?o } } }",
    "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <http://evil.example/> { ?s ?p ?o } }",
    "DESCRIBE ?s { SERVICE <http://evil.example/> { ?s ?p ?o } }",
    # where two parsers may see different queries
    "SELECT * { ?a ?b ?c FILTER(?a<?b)SERVICE#>\n<http://evil.example/>{ ?d ?e ?f } }",
    "SELECT * { ?a ?b ?c FILTER(?a<?b)SERVICE#>\n<http://evil.example/>{ ?d ?e ?f } #'''\n}",
    "SELECT * { ?a ?b ?c FILTER(?a<b:#>'''\n) SERVICE <http://evil.example/> {} #'''\n}",
    "SELECT * { ?s ?p trueSERVICE<http://evil.example/> { ?a ?b ?c } }",
    "PREFIX : <http://evil.example/> PREFIX SERVICE: <a:> SELECT * { SERVICE:x { ?a ?b ?c } }",
    r"SELECT * { \u0053ERVICE <http://evil.example/> { ?s ?p ?o } }",
    r"SELECT * { ?s ?p 'x\u0027 } # ' SERVICE <http://evil.example/> { ?a ?b ?c } }",
    "SELECT * { ?s ?p \"x\\\\u0022 || ?b = \" SERVICE <http://evil.example/> { ?a ?b 'x' } }",
)
def test_no_service_outside_the_list_passes_in_any_disguise(query: str) -> None:
    with pytest.raises(QueryError):
        check_query(query, allowed_services=frozenset({"http://ok.example/"}))
    with pytest.raises(QueryError):
        admit_query(query)


def test_services_within_an_exists_in_another_are_seen() -> None:
    query = """PREFIX ex: <http://ok.example/> SELECT * { ?a ?p ?b FILTER NOT EXISTS {
        ?b ?q ?c FILTER NOT EXISTS { SERVICE ex:x { ?c ?r ?d } } } }"""
    allowed = frozenset({"http://ok.example/x"})
    assert check_query(query, allowed_services=allowed).services == ("http://ok.example/x",)
    with pytest.raises(ForbiddenQuery, match=r"ok\.example"):
        check_query(query)


def test_allowed_services_pass_and_only_a_similar_one_is_named() -> None:
    query = "SELECT * { SERVICE <http://ok.example/> { ?s ?p ?o } SERVICE <a:b> { ?s ?q ?r } }"
    both = frozenset({"http://ok.example/", "a:b"})
    assert sorted(check_query(query, allowed_services=both).services) == [
        "a:b",
        "http://ok.example/",
    ]
    with pytest.raises(ForbiddenQuery, match=r"<a:b> is not allowed") as raised:
        check_query(query, allowed_services=frozenset({"http://ok.example/"}))
    assert "ok.example" not in str(raised.value)


def test_all_services_that_are_missing_are_named_with_how_to_add_one() -> None:
    query = (
        "SELECT * { SERVICE <https://a.example/sparql> { ?s ?p ?o } SERVICE <ftp://b> { ?s ?q ?r }"
    )

    with pytest.raises(ForbiddenQuery) as refused:
        check_query(query + " }")

    assert "<https://a.example/sparql> is not allowed, nor to <ftp://b>: " in str(refused.value)
    assert str(refused.value).endswith("add it with: askgraph add NAME https://a.example/sparql")


def test_a_hash_before_a_service_is_no_comment() -> None:
    query = (
        "PREFIX o: <http://o.example/#> SELECT * { ?s o:p 'C# x' . SERVICE <a:b> { ?s ?p '#' } }"
    )
    assert check_query(query, allowed_services=frozenset({"a:b"})).services == ("a:b",)


harmless = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\\"'<>"), max_size=20
)
words = st.lists(st.sampled_from(BAD_WORDS) | harmless, max_size=4).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(words, words, words)
def test_words_in_strings_comments_and_iris_fool_nobody(a: str, b: str, c: str) -> None:
    iri = "".join(character for character in c if character.isalnum())
    query = (
        f'SELECT ?s # {a}\n{{ ?s <http://x.example/{iri}#SERVICE> \'{b}\', """{c}"""@en }} # {b}'
    )
    assert check_query(query).form == admit_query(query).form == "SELECT"
    assert check_query(query).services == ()


@settings(deadline=None, max_examples=60)
@given(words, st.sampled_from(["", "SILENT "]), st.sampled_from(["", " ", "\n", " # x\n"]))
def test_a_real_service_among_such_words_is_found(a: str, silent: str, space: str) -> None:
    query = (
        f"SELECT ?s {{ ?s ?p '{a}' . SERVICE{space or ' '}{silent}<http://evil.example/>{space}"
        "{ ?s ?p ?o } }"
    )
    with pytest.raises(ForbiddenQuery, match=r"evil\.example"):
        admit_query(query)


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60) | words.map(lambda text: "SELECT * { " + text))
def test_any_text_gives_a_verdict_or_our_own_error(text: str) -> None:
    for judge in (check_query, admit_query):
        try:
            judge(text)
        except QueryError as problem:
            assert "\n" not in str(problem)


def test_prefixes_not_declared_are_supplied() -> None:
    query = "SELECT ?n { ex:a foaf:name ?n }"
    ready = check_query(query, prefixes=PREFIXES)
    assert ready.text == (
        "PREFIX ex: <http://example.org/>\nPREFIX foaf: <http://xmlns.com/foaf/0.1/>\n" + query
    )
    assert admit_query(query, prefixes=PREFIXES).text == ready.text
    declared = "PREFIX ex: <a:> ASK { ex:a <ex:b> 'ex:c' } # ex:d"
    assert check_query(declared, prefixes=PREFIXES).text == declared


@for_each(
    ("query", "line", "column", "words"),
    ("SELECT ?s { ?s foaf:name ?n }", 1, 16, "prefix 'foaf:' is not declared"),
    ("SELECT * {\n  ?s ?p ?o", 1, 10, "'{' is never closed"),
    ("SELECT * {\n  ?s ex:p }", 2, 11, "'}' was not expected here"),
    ("SELECT * { ?s ?p ?o }\n}", 2, 1, "'}' has no opening bracket"),
    ("SELECT * { ?s ?p 'abc }", 1, 18, "a string starts here and does not end"),
    ("SELECT * { ?s ?p ?o } LIMIT", 1, 28, "ends too early"),
    ("SELECT ?s WHERE { ?s a ?c . FILTER regex(?s, 'x' }", 1, 50, "'}' has no opening bracket"),
    ("what is this", 1, None, "was not expected"),
    (" ", 1, 1, "the query is empty"),
)
def test_syntax_errors_say_where(query: str, line: int, column: int | None, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as raised:
        check_query(query, prefixes={"ex": "http://example.org/"})
    assert words in str(raised.value)
    assert raised.value.line == line
    assert column is None or raised.value.column == column


def test_codepoint_escapes_are_written_out_and_cannot_end_a_string() -> None:
    assert check_query(r"ASK { ?s ?p '\u00e9\U0001F600' }").text == "ASK { ?s ?p 'é😀' }"
    assert check_query(r"ASK { ?s ?p '\u0027\u000A\u005C' }").text == r"ASK { ?s ?p '\'\n\\' }"
    assert check_query(r"ASK { ?s ?p '\\u0041' }").text == r"ASK { ?s ?p '\\u0041' }"


@for_each(
    "query",
    "SELECT * { ?s ?p ?o } #" + "x" * 1_100_000,
    "SELECT * {" + "{" * 5_000 + "}" * 5_000 + "}",
    "SELECT * { FILTER(" + "(" * 50_000,
    "SELECT * { VALUES ?x { " + "<a:b> " * 150_000 + "} SERVICE <a:b> { } }",
    "SELECT * { ?s ?p '" + "\\" * 400_001,
    "PREFIX " * 100_000,
    "SELECT * { FILTER(" + "!" * 30_000 + "?x) SERVICE <a:b> {} }",
    "SELECT * { " + "?s ?p ?o ." * 15_000 + " SERVICE <a:b> {} }",
    "SELECT * { " + "SERVICE <a:b> { ?s ?p ?o } " * 5_000 + "}",
    "SELECT * { ?s ?p " + "1," * 100_000 + "2 }",
    "SELECT * { FILTER(1" + "+1" * 100_000 + ") }",
    "@" * 900_000,
)
def test_monstrous_queries_are_refused_soon(query: str) -> None:
    began = time.process_time()
    with pytest.raises(QueryError):
        check_query(query)
    assert time.process_time() - began < 10


def test_services_that_are_not_allowed_are_refused_before_a_parse() -> None:
    clauses = "SERVICE <http://ok.example/> { ?s ?p ?o } " * 3
    with pytest.raises(ForbiddenQuery, match=r"<http://evil\.example/a> is not allowed"):
        check_query(
            f"PREFIX e: <http://evil.example/> SELECT * {{ {clauses} SERVICE e:a {{ broken",
            allowed_services=["http://ok.example/"],
        )
    with pytest.raises(QueryError, match="60 SERVICE clauses; at most 16"):
        check_query(f"SELECT * {{ {clauses * 20} }}", allowed_services=["http://ok.example/"])


def test_data_is_not_counted_but_what_a_store_recurses_over_is() -> None:
    rows = "(<a:b> '1'^^<x:y>) " * 4_000
    listed = ", ".join(map(str, range(8_000)))
    for query in (
        f"SELECT * {{ VALUES (?a ?b) {{ {rows} }} ?a ?c ?b }}",
        f"SELECT * {{ ?a ?c ?b FILTER(?b NOT IN ({listed})) }}",
    ):
        assert admit_query(query).text == query
    with pytest.raises(QueryError, match="more than 5,000 tokens outside VALUES"):
        admit_query(f"SELECT * {{ ?a ?c {listed} }}")
    with pytest.raises(QueryError, match="more than 5,000"):
        admit_query("SELECT * { FILTER(1 IN (1" + "+1" * 5_000 + ")) }")


@for_each(
    ("query", "words"),
    ("SELECT * WHERE " + "{" * 101 + "}" * 101, "column 116: more than 100 nested brackets"),
    ("SELECT * { FILTER(" + "(" * 99 + "1" + ")" * 99 + ") }", "more than 100 nested brackets"),
    ("SELECT * { FILTER(" + "!" * 6000 + "1) }", "more than 5,000 tokens outside VALUES"),
    ("#" + "a" * 1_000_000 + "\nASK {}", "at most 1,000,000 are allowed"),
)
def test_what_no_parser_should_be_given_is_refused_before_one_is(query: str, words: str) -> None:
    for judge in (check_query, admit_query):
        with pytest.raises(QueryError, match=words):
            judge(query)


def test_long_but_honest_queries_pass() -> None:
    patterns = " ".join(f"?s <http://example.org/p{n}> ?o{n} ." for n in range(300))
    assert check_query(f"SELECT * {{ {patterns} }}").form == "SELECT"
    few, many = (min(_admitting(values) for _ in range(3)) for values in (5_000, 20_000))
    assert many < 12 * few  # four times as many: 16 times as long if it were quadratic


def _admitting(values: int) -> float:
    """The seconds of CPU that it takes to admit a query with so many values."""
    listed = " ".join(f"<http://example.org/item/{n}>" for n in range(values))
    query = f"SELECT * {{ VALUES ?s {{ {listed} }} ?s ?p ?o }}"
    began = time.process_time()
    assert admit_query(query).text == query
    return time.process_time() - began


def test_graphs_and_limit_are_read() -> None:
    assert list_datasets(
        "PREFIX x: <u:> SELECT * FROM <a:b> FROM NAMED x:c { ?from ?p 'FROM <a:d>' }"
    ) == ("a:b", "u:c")
    with pytest.raises(QuerySyntaxError, match="FROM is not allowed here"):
        list_datasets("SELECT * { { SELECT * FROM <a:b> { ?s ?p ?o } } }")
    assert get_limit("SELECT * { { SELECT * { ?s ?p ?o } LIMIT 5 } } LIMIT 7 OFFSET 1") == 7
    assert get_limit("SELECT * { { SELECT * { ?s ?p 'LIMIT 3' } LIMIT 5 } } # LIMIT 9") is None


def test_the_variables_of_a_star_come_in_the_order_written() -> None:
    assert get_star_variables("PREFIX s: <a:> SELECT DISTINCT * { ?z s:p ?a . ?a ?z $m }") == (
        "z",
        "a",
        "m",
    )
    assert get_star_variables("SELECT ?z { { SELECT * { ?z ?p ?a } } }") is None
    assert get_star_variables("ASK { ?z ?p ?a }") is None


def test_what_the_program_wrote_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "SELECT ?z FROM <a:b> { ?s ?p 'DROP SERVICE' } LIMIT 7"
    texts = [to_text(parse_tree(query)), format_tree(parse_tree(query), PrefixMap())]
    plain = to_text(parse_tree("CONSTRUCT { ?s ?p 1 } { ?s ?p 2 }"))
    monkeypatch.setattr("askgraph.sparql.lexer.split_tokens", None)

    for text in texts:
        assert admit_query(text) == CheckedQuery(text, "SELECT")
        assert (list_datasets(text), get_limit(text), get_star_variables(text)) == (
            ("a:b",),
            7,
            None,
        )
    assert admit_query(plain).form == "CONSTRUCT"


def test_a_service_in_a_tree_is_judged_like_any_other() -> None:
    text = to_text(
        parse_tree("SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE <http://x.example/> { } } }")
    )
    with pytest.raises(ForbiddenQuery, match=r"x\.example"):
        admit_query(text)


def test_a_literal_not_of_its_datatype_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    date = "<http://www.w3.org/2001/XMLSchema#dateTime>"
    check_query(f'SELECT ?s {{ ?s ?p "the day before yesterday"^^{date} }}')
    assert caplog.records == []
