"""Prefixes that a gold query leaves open."""

from askgraph.sparql.lexer import lexed, tokens, with_declared

EX = {"ex": "http://example.org/", "other": "http://example.com/"}


def test_only_open_prefixes_outside_strings_and_iris_are_named() -> None:
    query = 'PREFIX a: <http://a/> SELECT * { ?s a:b ex:c ; :d "no:text" ; <urn:no:name> ex:e }'
    assert tuple(lexed(query).undeclared) == ("ex", "")


def test_prefixes_that_are_used_and_known_are_declared() -> None:
    query = "SELECT * { ?s ex:c :d }"
    assert with_declared(query, EX) == f"PREFIX ex: <http://example.org/>\n{query}"


def test_a_text_is_cut_once_also_when_prefixes_are_put_before_it() -> None:
    query = 'SELECT * { ?s ex:c "d"@en-GB, :e # ex:f\n }'
    once = lexed(query)
    whole = with_declared(query, EX)

    assert lexed(query) is once
    assert "all" in vars(lexed(whole))
    assert lexed(whole).all == tuple(tokens(whole))


def test_a_query_that_declares_its_prefixes_stays_as_it_is() -> None:
    query = "prefix ex: <http://else/> SELECT * { ?s ex:c 1 }"
    assert with_declared(query, EX) == query


def test_names_end_where_the_grammar_ends_them_and_long_gaps_are_no_tokens() -> None:
    query = "a:b..c. :x%41.-\\-d.." + " " * 50 + "\n" * 9 + "::.: a:-b e.f:g"

    assert [token.text for token in tokens(query)] == (
        ["a:b..c", ".", ":x%41.-\\-d", ".", ".", "::.:", "a:", "-", "b", "e.f:g"]
    )
    assert [token.start for token in tokens(query)][5] == query.index("::.:")
