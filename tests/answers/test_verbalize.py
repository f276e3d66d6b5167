"""Queries read back in words: every construct, every gold query, four languages."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Variable

from askgraph.answers.verbalize import in_words, iris_of
from askgraph.sample import graph_path
from askgraph.sparql.elapsed import elapsed_text
from askgraph.sparql.prefixes import best_label
from askgraph.sparql.vocabulary import RDFS_LABEL

DATA = Path(os.environ.get("ASKGRAPH_DATA", "../shared/data"))
PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def words(query: str, language: str = "en") -> str:
    return in_words(PREFIX + query, {}, language=language)


BORN = elapsed_text("years", Variable("b"), Variable("d"))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The number of years from the birth of Ada to the death of Ada."),
        ("de", "Die Jahre von birth von Ada bis death von Ada."),
        ("es", "Años desde birth de Ada hasta death de Ada."),
        ("fr", "Années de birth d’Ada à death d’Ada."),
    ],
)
def test_the_time_between_two_dates_is_called_so(language: str, text: str) -> None:
    query = f"SELECT ?age {{ :Ada :birth ?b ; :death ?d . BIND({BORN} AS ?age) }}"
    assert words(query, language) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The average, over each planet, of the number of moons that orbit that planet."),
        ("de", "Durchschnitt über je Planet: Anzahl der Moone (orbits)."),
        ("es", "Media, por cada planet, de número de moones (orbits)."),
        ("fr", "Moyenne, par planet, de : nombre de moons (orbits)."),
    ],
)
def test_the_average_of_what_is_counted_tells_what_is_counted_and_in_what(
    language: str, text: str
) -> None:
    each = "SELECT ?p (COUNT(?m) AS ?n) { ?p a :Planet . ?m a :Moon ; :orbits ?p } GROUP BY ?p"
    assert words(f"SELECT (AVG(?n) AS ?mean) {{ {{ {each} }} }}", language) == text


def test_a_condition_on_an_age_tells_from_when_to_when() -> None:
    bound = 'BIND("2024-06-30"^^xsd:date AS ?d)'
    query = f"SELECT ?s {{ ?s a :Singer ; :born ?b . {bound} BIND({BORN} AS ?a) FILTER(?a < 30) }}"

    assert words(query) == (
        "The singers, where the number of years from their born to 2024-06-30 is less than 30."
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELECT ?s { ?s a :Singer }", "The singers."),
        ("SELECT ?n ?a { ?s a :Singer ; :name ?n ; :age ?a }", "The name and age of the singers."),
        ("SELECT ?m { :Mars :mass ?m }", "The mass of Mars."),
        ("SELECT ?p { :Titan :orbits ?p }", "What Titan orbits."),
        ("SELECT ?m { ?m a :Moon ; :orbits :Saturn }", "The moons that orbit Saturn."),
        ("SELECT ?c { ?c :memberOf :Crew8 }", "The things that are member of crew 8."),
        ("SELECT ?s { ?s a :Singer ; :country :France }", "The singers whose country is France."),
        (
            "SELECT ?c { ?c a :Firm . :Intel :supplier ?c }",
            "The firms that are the supplier of Intel.",
        ),
        (
            "SELECT ?c { ?x :customer ?c ; :supplier :Intel }",
            "The customers where the supplier is Intel.",
        ),
        (
            "SELECT ?s { ?s a :Firm ; :site ?x . ?x a :Factory ; :city :Graz }",
            "The firms whose site is a factory whose city is Graz.",
        ),
        (
            "SELECT ?n { :Pluto :discoverer ?d . ?d :nationality ?n }",
            "The nationality of the discoverer of Pluto.",
        ),
    ],
)
def test_patterns_are_read_forwards_and_backwards(query: str, text: str) -> None:
    assert words(query) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (":partOf+", "that are part of Asia (directly or over several steps)"),
        (":place*", "whose place is Asia (itself or over several steps)"),
        (":place?", "whose place is Asia (itself or directly)"),
        (":city/:country", "whose city is one whose country is Asia"),
        ("^:child", "that are the child of Asia"),
        (":city|:country", "whose city or country is Asia"),
    ],
)
def test_paths_are_read(path: str, text: str) -> None:
    assert words(f"SELECT ?x {{ ?x a :Site ; {path} :Asia }}") == f"The sites {text}."


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("?v > 5", "is more than 5"),
        ("5 > ?v", "is less than 5"),
        ("?v >= 5 && ?v <= 9", "is between 5 and 9"),
        ("?v != 5", "is not 5"),
        ("?v IN (1, 2, 3)", "is 1, 2 or 3"),
        ("?v NOT IN (1, 2)", "is none of 1 or 2"),
        ("?v = 1 || ?v = 2", "is 1 or 2"),
        ("?v < 1 || ?v > 2", "is less than 1 or is more than 2"),
        ("?v > '1990-05-01'^^xsd:date", "is after 1990-05-01"),
        (
            "?v >= '1990-01-01'^^xsd:date && ?v < '1991-01-01'^^xsd:date",
            "is in 1990",
        ),
        ("YEAR(?v) = 1990", "is in 1990"),
        ("CONTAINS(LCASE(STR(?v)), 'ab')", "contains “ab”"),
        ("!CONTAINS(?v, 'ab')", "does not contain “ab”"),
        ("REGEX(?v, 'ab', 'i')", "contains “ab”"),
        ("REGEX(?v, '^ab')", "starts with “ab”"),
        ("REGEX(?v, 'a.b')", "matches the pattern “a.b”"),
        ("STRENDS(?v, 'ab')", "ends with “ab”"),
        ("LANG(?v) = 'de'", "is in the language de"),
        ("LANGMATCHES(LANG(?v), 'de')", "is in the language de"),
        ("isLiteral(?v)", "is a value"),
    ],
)
def test_conditions_are_read(condition: str, text: str) -> None:
    query = f"SELECT ?s {{ ?s a :Singer ; :rank ?v FILTER({condition}) }}"
    assert words(query) == f"The singers whose rank {text}."


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (
            "SELECT ?s { ?s a :Singer FILTER NOT EXISTS { ?s :award ?x } }",
            "The singers without an award.",
        ),
        (
            "SELECT ?s { ?s a :Singer MINUS { ?s :country :France } }",
            "The singers whose country is not France.",
        ),
        (
            "SELECT ?p { ?p a :Planet FILTER NOT EXISTS { ?m a :Moon ; :orbits ?p } }",
            "The planets that no moon orbits.",
        ),
        (
            "SELECT ?s { ?s a :Singer OPTIONAL { ?s :age ?a } FILTER(!BOUND(?a)) }",
            "The singers without an age.",
        ),
        (
            "SELECT ?s { ?s a :Singer ; :id ?i FILTER NOT EXISTS { { SELECT ?j { ?c a :Concert ; "
            ":singer ?j } } FILTER(?i IN (?j)) } }",
            "The singers for which there is no concert whose singer is that id.",
        ),
        (
            "SELECT ?id { { SELECT (?a AS ?id) { ?c a :Channel ; :nr ?a } } MINUS "
            "{ SELECT (?b AS ?id) { ?x a :Film ; :channel ?b } } }",
            "The nr of the channels, except the channel of a film.",
        ),
        (
            "SELECT ?s { ?s a :Singer FILTER EXISTS { ?s :award ?x } }",
            "The singers that have an award.",
        ),
        (
            "SELECT ?s { ?s a :Singer { ?s :country :France } UNION { ?s :city :Rome } }",
            "The singers whose country is France or whose city is Rome.",
        ),
        ("SELECT ?s { { ?s a :Singer } UNION { ?s a :Band } }", "The singers or bands."),
        (
            "SELECT ?n ?a { ?s a :Singer ; :name ?n OPTIONAL { ?s :age ?a } }",
            "The name of the singers and, where known, their age.",
        ),
        (
            "SELECT ?s { VALUES ?c { :France :Italy } ?s a :Singer ; :country ?c }",
            "The singers whose country is France or Italy.",
        ),
    ],
)
def test_negation_alternatives_and_options_are_read(query: str, text: str) -> None:
    assert words(query) == text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELECT (COUNT(*) AS ?n) { ?s a :Singer }", "The number of singers."),
        (
            "SELECT (COUNT(DISTINCT ?c) AS ?n) { ?s a :Singer ; :country ?c }",
            "The number of different countries of the singers.",
        ),
        (
            "SELECT (AVG(?a) AS ?x) (MAX(?a) AS ?y) { ?s a :Singer ; :age ?a ; :country :France }",
            "The average age and the highest age of the singers whose country is France.",
        ),
        (
            "SELECT (MIN(?d) AS ?x) { ?s a :Ship ; :launchDate ?d }",
            "The earliest launch date of the ships.",
        ),
        (
            "SELECT ?c (COUNT(?s) AS ?n) { ?s a :Singer ; :country ?c } GROUP BY ?c",
            "For each country: the number of singers.",
        ),
        (
            "SELECT ?p (COUNT(?m) AS ?n) { ?p a :Planet . ?m a :Moon ; :orbits ?p } GROUP BY ?p",
            "For each planet: the number of moons that orbit that planet.",
        ),
        (
            "SELECT ?c { ?s a :Singer ; :country ?c } GROUP BY ?c HAVING(COUNT(*) > 2)",
            "The countries with more than 2 singers.",
        ),
        (
            "SELECT ?c { ?s a :Singer ; :country ?c } GROUP BY ?c ORDER BY DESC(COUNT(*)) LIMIT 1",
            "The country with the most singers.",
        ),
        (
            "SELECT ?s { ?s a :Singer ; :age ?a } ORDER BY ?a LIMIT 1",
            "The singer with the lowest age.",
        ),
        (
            "SELECT ?n { ?s a :Ship ; :name ?n ; :launchDate ?d } ORDER BY ?d LIMIT 3",
            "The name of the 3 ships with the earliest launch date.",
        ),
        (
            "SELECT ?s { ?s a :Moon ; :mass ?m } ORDER BY DESC(?m) LIMIT 1 OFFSET 1",
            "The moon with the second-highest mass.",
        ),
        (
            "SELECT ?n { ?s a :Singer ; :name ?n } ORDER BY DESC(?n)",
            "The name of the singers, sorted by name from the highest down.",
        ),
        ("SELECT ?s { ?s a :Singer } LIMIT 5", "The singers, at most 5 of them."),
        (
            "SELECT ?s { ?s a :Singer ; :age ?a FILTER(?a > ?m) "
            "{ SELECT (AVG(?b) AS ?m) { ?t a :Singer ; :age ?b } } }",
            "The singers whose age is more than the average age of the singers.",
        ),
        (
            "SELECT (?x / ?y AS ?r) { :Mars :mass ?x ; :volume ?y }",
            "The mass of Mars divided by the volume of Mars.",
        ),
    ],
)
def test_aggregates_groups_and_orders_are_read(query: str, text: str) -> None:
    assert words(query) == text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (
            "ASK { :Titan a :Moon ; :orbits :Saturn }",
            "Is it true that Titan is a moon and Titan orbits Saturn?",
        ),
        ("ASK { ?x a :Moon ; :orbits :Venus }", "Is there a moon that orbits Venus?"),
        (
            "ASK { :A :size ?a . :B :size ?b FILTER(?a > ?b) }",
            "Is it true that the size of A is more than the size of B?",
        ),
        ("DESCRIBE :Moon", "What the graph says about Moon."),
        (
            "CONSTRUCT { ?s :name ?n } WHERE { ?s a :Singer ; :name ?n }",
            "The name of the singers, as triples.",
        ),
        ("SELECT * { ?s ?p ?o }", "Everything that the graph says."),
        (
            "SELECT ?p ?v { :Mars ?p ?v VALUES ?p { :mass :orbits } }",
            "What the graph says about Mars: mass, orbits.",
        ),
        (
            "SELECT ?p ?v { :Mars ?p ?v VALUES ?p { :a :b :c :d :e :f :g } }",
            "What the graph says about Mars: a, b, c, d, e, f …",
        ),
    ],
)
def test_other_forms_are_read(query: str, text: str) -> None:
    assert words(query) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Bande mit country France."),
        ("es", "Bandes con country France."),
        ("fr", "Bands avec country France."),
        ("nl", "The bands whose country is France."),
        ("de-AT", "Bande mit country France."),
    ],
)
def test_other_languages_have_their_own_phrases(language: str, text: str) -> None:
    query = "SELECT ?s { ?s a :Band ; :country :France }"
    assert words(query, language).casefold() == text.casefold()


@pytest.mark.parametrize(
    ("language", "labels", "text"),
    [
        ("en", ("planet", "moon"), "The number of planets or moons."),
        ("de", ("Planet", "Mond"), "Anzahl der Planeten oder Monde."),
        ("es", ("planeta", "luna"), "Número de planetas o lunas."),
        ("fr", ("planète", "lune"), "Nombre de planètes ou lunes."),
    ],
)
def test_things_of_one_of_two_classes_are_told_once(
    language: str, labels: tuple[str, str], text: str
) -> None:
    query = "SELECT (COUNT(?w) AS ?n) { { ?w a <urn:a:p> } UNION { ?w a <urn:a:m> } }"
    named = dict(zip(("urn:a:p", "urn:a:m"), labels, strict=True))
    assert in_words(query, named, language=language) == text


@pytest.mark.parametrize("text", ["", "hello", "SELECT", "DELETE WHERE { ?s ?p ?o }", "{{{", "😀"])
def test_what_is_no_query_gives_a_phrase(text: str) -> None:
    assert in_words(text, {}) == "A query that cannot be put into words."
    assert iris_of(text) == ()


def test_labels_are_used_and_their_iris_are_told() -> None:
    query = PREFIX + "SELECT ?x { ?x a :C1 ; :P2 :Q3 FILTER(:f(?x) > 2) }"
    iris = iris_of(query)
    assert iris == tuple(f"http://example.org/{name}" for name in ("C1", "P2", "Q3", "f"))
    labels = dict(zip(iris, ("firm", "kind", "IDM", "score"), strict=True))
    assert in_words(query, labels) == (
        "The firms whose kind is IDM, where the score of that firm is more than 2."
    )


def test_a_deep_query_does_not_break() -> None:
    deep = "SELECT ?x0 { " + " ".join(f"?x{n} :p ?x{n + 1} ." for n in range(300)) + " }"
    nested = "SELECT ?x " + "{ ?x :p ?y . OPTIONAL " * 300 + "{ ?x :q ?y }" + " }" * 300
    assert words(deep)
    assert words(nested)


@settings(max_examples=200, deadline=None)
@given(st.text("{}()<>?:.;,'\"\\|&!=*+^ aSELCTWHRxyFIUNO123", max_size=80))
def test_no_text_raises(text: str) -> None:
    assert in_words("SELECT * { " + text + " }", {})
    assert in_words(text, {})


def _sample() -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    store = pyoxigraph.Store()
    store.load(path=str(graph_path()), format=pyoxigraph.RdfFormat.TURTLE)
    found: dict[str, list[tuple[str, str | None]]] = {}
    label = pyoxigraph.NamedNode(RDFS_LABEL)
    for quad in store.quads_for_pattern(None, label, None):
        assert isinstance(quad.object, pyoxigraph.Literal)
        assert isinstance(quad.subject, pyoxigraph.NamedNode)
        found.setdefault(quad.subject.value, []).append((quad.object.value, quad.object.language))
    labels = {
        language: {iri: best_label(given, [language]) or "" for iri, given in found.items()}
        for language in ("en", "de", "es")
    }
    path = graph_path().with_name("questions.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        if query := json.loads(line).get("sparql"):
            yield query, labels


def test_every_gold_query_of_the_sample_graph_reads_without_residue() -> None:
    for query, labels in _sample():
        for language, names in labels.items():
            text = in_words(query, names, language=language)
            assert not any(
                mark in text.rstrip("?") for mark in ("?", "http", "_", "  ", " ,", ",,")
            )
            assert "cannot be" not in text
            assert 3 < len(text) < 300


@pytest.mark.data
@pytest.mark.parametrize("folder", ["supply-kgrep", "spider4sparql"])
def test_gold_queries_read_without_residue_and_fast(folder: str) -> None:
    path = DATA / folder / "questions.jsonl"
    if not path.exists():
        pytest.skip(f"needs the benchmark data: {path} is not there")
    queries = [json.loads(line)["sparql"] for line in path.read_text(encoding="utf-8").splitlines()]
    began = time.process_time()
    texts = [in_words(query, {}) for query in queries]
    assert (time.process_time() - began) / len(queries) < 0.01
    for text in texts:
        assert not any(mark in text.rstrip("?") for mark in ("?", "http", "cannot be put"))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            "SELECT ?d { ?t :orbits :Mars ; :discoverer ?d }",
            "The discoverers of the things that orbit Mars.",
        ),
        (
            "SELECT ?m { ?m a :Mission ; :operator :NASA MINUS { ?m a :CrewedMission } }",
            "The missions whose operator is NASA but not those that are crewed missions.",
        ),
        (
            "SELECT ?m { ?m :mass ?x FILTER(?x IN (6, 10, 9, 8, 7)) }",
            "The things whose mass is 6, 10, 9, 8 or 7.",
        ),
        (
            "SELECT ?m { ?m :mass ?x FILTER(?x IN (5, 6, 10, 9, 8, 7)) }",
            "The things whose mass is one of 6 values from 5 to 10.",
        ),
        (
            "SELECT ?m { ?m :mass ?x FILTER(?x NOT IN (5, 6, 10, 9, 8, 7)) }",
            "The things whose mass is not one of 6 values from 5 to 10.",
        ),
        (
            "SELECT ?m { ?m :in ?x FILTER(?x IN (:A, :B, :C, :D, :E, :F)) }",
            "one of 6 values, among them A and B",
        ),
        (
            "SELECT ?m { ?m :mass ?x FILTER(?x=1 || ?x=2 || ?x=3 || ?x=4 || ?x=5 || ?x=6) }",
            "The things whose mass is one of 6 values from 1 to 6.",
        ),
    ],
)
def test_many_values_and_nodes_without_a_noun_read_well(query: str, words: str) -> None:
    assert words in in_words("PREFIX : <http://example.org/> " + query, {})


def test_many_dates_are_told_by_the_first_and_the_last() -> None:
    days = ", ".join(
        f'"{year}-0{month}-01"^^<http://www.w3.org/2001/XMLSchema#date>'
        for year in (1969, 1961, 1964)
        for month in (1, 2)
    )
    query = f"SELECT ?a {{ ?a <http://x/founded> ?d FILTER(?d IN ({days})) }}"
    assert in_words(query, {}) == (
        "The things whose “founded” is one of 6 values from 1961-01-01 to 1969-02-01."
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT ?m { ?m a :Moon ; :orbits :Neptune }", "Monde, die Neptun umkreisen."),
        ("ASK { :Triton :orbits :Neptune }", "Gilt: Triton umkreist Neptun?"),
        ("SELECT ?m { ?m a :Moon ; :height 3 }", "Monde mit Höhe 3."),
        (
            "SELECT ?m { ?m a :Moon ; :height 3 MINUS { ?m a :Planet } }",
            "Monde mit Höhe 3, aber nicht jene, die Planeten sind.",
        ),
        (
            "SELECT ?m { ?m a :Moon ; :orbits ?p FILTER(?p IN (:Neptune, :Mars)) }",
            "Monde, die Neptun oder Mars umkreisen.",
        ),
    ],
)
def test_german_verbs_are_no_nouns_and_nouns_keep_their_case(query: str, words: str) -> None:
    labels = {"Moon": "Mond", "orbits": "umkreist", "Neptune": "Neptun", "height": "Höhe"}
    named = {f"http://example.org/{name}": label for name, label in labels.items()}
    prefix = "PREFIX : <http://example.org/> "
    assert in_words(prefix + query, named, language="de") == words


PLACES = "SELECT ?s { ?s a/rdfs:subClassOf* :Ship ; :locatedIn :Hamburg }"


@pytest.mark.parametrize(
    ("query", "language", "text"),
    [
        (PLACES, "en", "The ships in Hamburg."),
        (PLACES, "de", "Schiffe in Hamburg."),
        (PLACES, "es", "Barcos en Hamburg."),
        (PLACES, "fr", "Navires dans Hamburg."),
        ("SELECT ?p { :Ada :locatedIn ?p }", "en", "Where Ada is."),
        ("ASK { :Ada :locatedIn+ :Hamburg }", "de", "Gilt: Ada liegt in Hamburg?"),
        ("SELECT ?s { ?s a :Ship ; :carries :Coal }", "de", "Schiffe, die Coal tragen."),
        ("SELECT ?s { ?s a :Ship ; :carries :Coal }", "es", "Barcos que transportan Coal."),
        ("SELECT ?s { ?s a :Ship ; :carries :Coal }", "fr", "Navires qui transportent Coal."),
        (
            "SELECT ?s { ?s a :Ship ; :carries :Coal ; :length ?l FILTER(?l > 9) }",
            "de",
            "Schiffe, die Coal tragen, und mit Länge über 9.",
        ),
        (
            "SELECT ?s { ?s a :Ship ; :length ?l "
            "{ SELECT (MAX(?m) AS ?most) { ?t a :Ship ; :length ?m } } FILTER(?l = ?most) }",
            "en",
            "The ships with the highest length.",
        ),
        (
            "SELECT ?c ?s { ?s a :Ship ; :country ?c ; :length ?l { SELECT ?c (MIN(?m) AS ?least) "
            "{ ?t a :Ship ; :country ?c ; :length ?m } GROUP BY ?c } FILTER(?l = ?least) }",
            "en",
            "The ships with the lowest length for each country, with their country.",
        ),
        (
            "SELECT ?s { { SELECT ?s { ?s a :Ship ; :length ?l } ORDER BY ?l LIMIT 1 } UNION "
            "{ SELECT ?s { ?s a :Ship ; :length ?l } ORDER BY DESC(?l) LIMIT 1 } }",
            "en",
            "The ship with the lowest length and the ship with the highest length.",
        ),
        (
            "SELECT (MAX(?l) - MIN(?l) AS ?d) { ?s a :Ship ; :length ?l }",
            "en",
            "The highest length minus the lowest length of the ships.",
        ),
        (
            "SELECT ?c (COUNT(?s) * 100 / ?all AS ?p) { ?s a :Ship ; :country ?c "
            "{ SELECT (COUNT(?t) AS ?all) { ?t a :Ship } } } GROUP BY ?c ?all",
            "en",
            "For each country: the number of ships as a percentage of the number of ships.",
        ),
        (
            "SELECT ?n { ?s a :Ship ; :name ?n . ?v a :Voyage ; :ship ?s } "
            "GROUP BY ?s ?n HAVING(COUNT(DISTINCT ?v) > 1)",
            "en",
            "The name of the ships with more than 1 voyage.",
        ),
        (
            "SELECT ?s { ?s a :Ship FILTER NOT EXISTS { ?v a :Voyage ; :ship ?s } }",
            "en",
            "The ships without any voyage.",
        ),
        (
            "SELECT ?s { ?s a :Ship FILTER NOT EXISTS { ?v a :Voyage ; :flagship ?s } }",
            "en",
            "The ships that are the flagship of no voyage.",
        ),
        (
            "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s a :Ship ; :length ?l FILTER(?l > 9) }",
            "de",
            "Anzahl der Schiffe mit Länge über 9.",
        ),
        ("SELECT (AVG(?l) AS ?a) { ?s a :Ship ; :length ?l }", "de",
         "Durchschnitt für Länge der Schiffe."),
    ],
)  # fmt: skip
def test_what_graph_search_asks_reads_like_a_sentence(query: str, language: str, text: str) -> None:
    words_for = {
        "de": {"Ship": "Schiff", "locatedIn": "liegt in", "carries": "trägt", "length": "Länge"},
        "es": {"Ship": "barco", "locatedIn": "situado en", "carries": "transporta"},
        "fr": {"Ship": "navire", "locatedIn": "situé à", "carries": "transporte"},
    }
    labels = {f"http://example.org/{k}": v for k, v in words_for.get(language, {}).items()}
    prefix = PREFIX + "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    assert in_words(prefix + query, labels, language=language) == text


def test_labels_of_another_language_are_not_bent_as_if_they_were_of_this_one() -> None:
    query = PREFIX + "SELECT ?s { ?s a :LaunchSite ; :orbits :Mars }"
    assert in_words(query, {}, language="fr", nouns="en") == "Launch sites avec « orbits » Mars."
    assert in_words(query, {}, language="fr", nouns="") == "Launch site avec « orbits » Mars."


@pytest.mark.parametrize("form", ["binds", "sums", "keys"])
def test_names_that_stand_for_others_twice_each_end_in_a_phrase_at_once(form: str) -> None:
    binds = " ".join(f"BIND(?a{at} + ?a{at} AS ?a{at + 1})" for at in range(60))
    sums = keys = "{ ?s ?p ?a0 }"
    for at in range(40):
        new = f"?a{at + 1}"
        sums = f"{{ SELECT (SUM(?a{at}) + MAX(?a{at}) AS {new}) WHERE {sums} }}"
        group = f"GROUP BY (?a{at} + ?a{at} AS {new})"
        keys = f"{{ SELECT {new} (COUNT(*) AS ?c{at}) WHERE {keys} {group} }}"
    wheres = {"binds": f"{{ ?s ?p ?a0 . {binds} }}", "sums": sums, "keys": keys}

    said = in_words(f"SELECT * {wheres[form]}", {})
    assert said == "A query that cannot be put into words." or len(said) < 5_000
