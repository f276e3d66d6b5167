"""What each search asks for the words of a name; the rest is in the contract of all."""

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.index.name_search import NameSettings, PatternOptions, SparqlNameSearch, dialects

LABEL, ALT = "http://example.org/label", "http://example.org/alt"
BOTH = f"FILTER(?p IN (<{LABEL}>, <{ALT}>))"


NAMED = f"?s <{LABEL}> ?name ."
TEXT = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
LUCENE = "http://www.ontotext.com/connectors/lucene"
SAIL = "http://www.openrdf.org/contrib/lucenesail#"


@for_each(
    ("plugin", "place", "expected"),
    (dialects.VirtuosoNames, "", rf'{NAMED} ?name <bif:contains> "\"Ada\" AND \"King\"" .'),
    (dialects.PlainNames, "", ""),
    (
        dialects.QleverNames,
        "",
        f'?t <{TEXT}contains-word> "ada king" . ?t <{TEXT}contains-entity> ?name . {NAMED}',
    ),
    (
        dialects.GraphdbNames,
        "",
        f'?name <http://www.ontotext.com/fts> ("ada AND king" "*") . {NAMED}',
    ),
    (
        dialects.GraphdbNames,
        "all_names",
        f'?q a <{LUCENE}/instance#all_names> ; <{LUCENE}#query> "ada AND king" ; '
        f"<{LUCENE}#entities> ?s . {NAMED}",
    ),
    (
        dialects.Rdf4jNames,
        "",
        f'?s <{SAIL}matches> [ <{SAIL}query> "ada AND king" ; <{SAIL}property> <{LABEL}> ] . '
        f"{NAMED}",
    ),
    (
        dialects.StardogNames,
        "",
        f'(?name ?score) <tag:stardog:api:property:textMatch> ("ada AND king" 5) . {NAMED}',
    ),
    (
        dialects.JenaNames,
        "",
        f'(?s ?score) <http://jena.apache.org/text#query> (<{LABEL}> "ada AND king" 5) . {NAMED}',
    ),
)
def test_words_suit_the_product(plugin: type[SparqlNameSearch], place: str, expected: str) -> None:
    search = plugin(NameSettings((LABEL,), (), place))
    assert search.build_pattern(["Ada", "King"], PatternOptions(5)) == expected


def test_a_wiki_is_asked_in_the_language_of_the_asker() -> None:
    search = dialects.WikibaseNames(NameSettings((LABEL,), (), "wiki.example"))
    asked = search.build_pattern(["Ada", "King"], PatternOptions(200, ("de", "en")))
    assert asked.startswith("SERVICE <http://wikiba.se/ontology#mwapi> { ")
    for key, value in (
        ("http://wikiba.se/ontology#api", "EntitySearch"),
        ("http://wikiba.se/ontology#endpoint", "wiki.example"),
        ("https://www.mediawiki.org/ontology#API/search", "Ada King"),
        ("https://www.mediawiki.org/ontology#API/language", "de"),
        ("https://www.mediawiki.org/ontology#API/limit", "50"),
    ):
        assert f'<http://www.bigdata.com/rdf#serviceParam> <{key}> "{value}" .' in asked
    assert asked.endswith(f'{NAMED} FILTER(LANG(?name) IN ("de", "en", "mul"))')


def test_services_over_http_get_their_own_parameters() -> None:
    asked = dialects.WikibaseApi(
        NameSettings(location="https://wiki.example/w/api.php")
    ).build_parameters("A&B", "de", 99)
    assert asked["action"] == "wbsearchentities"
    assert (asked["search"], asked["language"], asked["limit"]) == ("A&B", "de", "50")
    asked = dialects.LookupNames(
        NameSettings(location="https://lookup.example/api/search")
    ).build_parameters("A", "de", 9)
    assert asked == {"query": "A", "format": "JSON", "maxResults": "9"}


@for_each("place", ["a b", "x>", "a#b", "../x"])
def test_the_name_of_a_connector_is_a_word(place: str) -> None:
    with pytest.raises(SetupError, match="cannot be the name of a Lucene connector"):
        dialects.GraphdbNames(NameSettings(location=place))


def test_within_a_class_plain_search_takes_beginnings() -> None:
    query = dialects.PlainNames(NameSettings((LABEL,))).build_query(
        ["Ada K"], within=["http://example.org/C"]
    )
    assert "?s a ?c . ?s <http://example.org/label> ?name . FILTER(STRSTARTS(LCASE(" in query


def test_all_predicates_that_carry_names_are_asked_for() -> None:
    assert BOTH in dialects.VirtuosoNames(NameSettings((LABEL, ALT))).build_query(["Ada"])
    assert dialects.PlainNames(NameSettings(())).build_query(["Ada"]) == ""


def test_labels_are_compared_as_written_and_with_other_capitals() -> None:
    query = dialects.PlainNames(NameSettings((LABEL,), ("en",))).build_query(
        ["ada king"], languages=("de",)
    )
    terms = [f'"{text}"{tag}' for text in ("ada king", "Ada King") for tag in ("", "@de", "@en")]
    assert all(term in query for term in terms)
