"""The read-back in pieces: every word that is a term of the query is known to be it."""

import re

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal
from tests.each import for_each

from askgraph.answers.query_parts import describe_query, list_parts, split_question
from askgraph.answers.verbalize import verbalize_query
from askgraph.graph import KnowledgeGraph
from askgraph.search.pipeline import link_text
from askgraph.sparql.prefixes import split_local_name

PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
LANGUAGES = ("en", "de", "es", "fr")


def marked(query: str, labels: dict[str, str] | None = None, *, language: str = "en") -> str:
    """The read-back with a kind behind each part: `The [moons|class] of [Mars|entity].`"""
    back = describe_query(PREFIX + query, labels or {}, language=language)
    pieces = [
        piece.text if piece.part is None else f"[{piece.text}|{back.parts[piece.part].kind}]"
        for piece in back.pieces
    ]
    return "".join(pieces)


@for_each(
    ("query", "text"),
        ("SELECT ?m { ?m a :Moon ; :orbits :Mars }",
         "[Moons|class] that [orbit|predicate] [Mars|entity]."),
        ("SELECT ?m { :Mars :mass ?m }", "The [mass|predicate] of [Mars|entity]."),
        ("SELECT ?c { ?c a :Country ; :area ?a FILTER(?a > 20) }",
         "[Countries|class] whose [area|predicate] is more than [20|value]."),
        ('SELECT ?s { ?s a :Singer ; :born ?d FILTER(?d < "1960-05-01"^^xsd:date) }',
         "[Singers|class] [born|predicate] before [1 May 1960|value]."),
        ("SELECT ?s { ?s a :Singer ; :country 'France' }",
         "[Singers|class] whose [country|predicate] is [“France”|value]."),
        ("SELECT (COUNT(?m) AS ?n) { ?m a :Moon ; :orbits :Mars } LIMIT 5",
         "The number of [moons|class] that [orbit|predicate] [Mars|entity], at most 5 of them."),
        ("SELECT ?s { ?s :in+ :Europe }",
         "Things [in|predicate] [Europe|entity] (directly or over several steps)."),
        ("ASK { :Titan a :Moon }", "Is [Titan|entity] a [moon|class]?"),
        ("ASK { ?a a :Apple ; :of :Eve }",
         "Is there an [apple|class] [of|predicate] [Eve|entity]?"),
        ("DESCRIBE :Mars", "What the graph says about [Mars|entity]."),
        ("SELECT ?m { ?m a :Moon MINUS { ?m :orbits :Mars } }",
         "[Moons|class] that do not [orbit|predicate] [Mars|entity]."),
        ("SELECT ?v { { ?v a :Lorry } UNION { ?v a :Ferry } UNION { ?v a :Car } }",
         "[Lorries|class], [ferries|class] or [cars|class]."),
        ("SELECT ?x { ?x a :Moon . VALUES ?x { :Io :Europa } }",
         "[Moons|class] that are [Io|entity] or [Europa|entity]."),
        ("SELECT ?m ?w { ?m a :Moon ; :weight ?w } ORDER BY DESC(?w) LIMIT 3",
         "The 3 [heaviest|predicate] [moons|class], with their [weight|predicate]."),
)  # fmt: skip
def test_the_words_of_each_term_are_its_part(query: str, text: str) -> None:
    assert marked(query) == text


@for_each(
    ("language", "text"),
    ("en", "[Moons|class] that [orbit|predicate] [Mars|entity]."),
    ("de", "[Monde|class], die [Mars|entity] [umkreisen|predicate]."),
    ("es", "[Lunas|class] que [orbitan|predicate] [Marte|entity]."),
    ("fr", "[Lunes|class] dont [« tourne autour de »|predicate] est [Mars|entity]."),
)
def test_parts_are_told_in_four_languages(language: str, text: str) -> None:
    labels = {
        "en": ("moon", "orbits", "Mars"),
        "de": ("Mond", "umkreist", "Mars"),
        "es": ("luna", "orbita", "Marte"),
        "fr": ("lune", "tourne autour de", "Mars"),
    }[language]
    iris = [f"http://example.org/{name}" for name in ("Moon", "orbits", "Mars")]
    query = "SELECT ?m { ?m a :Moon ; :orbits :Mars }"
    assert marked(query, dict(zip(iris, labels, strict=True)), language=language) == text


def test_the_pieces_of_every_gold_query_are_its_read_back(sample_queries: list[str]) -> None:
    parts = pieces = 0
    for query in sample_queries:
        for language in LANGUAGES:
            back = describe_query(query, {}, language=language)
            assert back.text == verbalize_query(query, {}, language=language)
            parts += len(back.parts)
            pieces += len({piece.part for piece in back.pieces} - {None})
    assert pieces / parts > 0.95


def test_two_terms_of_one_name_are_told_apart_where_the_words_are() -> None:
    labels = {"http://example.org/Mars": "Mars", "http://example.org/Mars_god": "Mars"}
    back = describe_query(PREFIX + "ASK { :Mars :namedAfter :Mars_god }", labels)

    told = [back.parts[p.part].term.value for p in back.pieces if p.part is not None]
    assert told == [f"http://example.org/{name}" for name in ("Mars", "namedAfter", "Mars_god")]


def test_a_part_that_the_words_blend_with_others_has_no_piece() -> None:
    query = (
        'SELECT ?m { ?m :launched ?d FILTER(?d >= "1969-01-01"^^xsd:date '
        '&& ?d < "1970-01-01"^^xsd:date) }'
    )
    back = describe_query(PREFIX + query, {})

    assert "1969" in back.text
    assert [part.term.value for part in back.parts][1:] == ["1969-01-01", "1970-01-01"]
    assert {piece.part for piece in back.pieces} == {None, 0}


def test_flags_languages_limits_and_services_are_no_parts() -> None:
    query = (
        'SELECT ?s { ?s :name ?n FILTER(LANG(?n) = "en" && REGEX(?n, "mo", "i")) '
        "SERVICE <askgraph:other> { ?s :size 3 } "
        'SERVICE <http://wikiba.se/ontology#label> { ?s :language "en,de" } '
        "FILTER(xsd:integer(?n) > 4) } LIMIT 7"
    )
    assert [part.term.value for part in list_parts(PREFIX + query)] == [
        "http://example.org/name",
        "mo",
        "http://example.org/size",
        "3",
        "4",
    ]


def test_a_name_without_a_namespace_is_no_part() -> None:
    assert list_parts("SELECT ?s { ?s a nobody:Knows ; rdfs:label 'x' }")[0].term.value.endswith(
        "rdf-schema#label"
    )


def test_of_a_very_long_query_only_the_parts_are_told() -> None:
    patterns = " . ".join(f"?s :p{n} {n}" for n in range(2000))
    back = describe_query(f"{PREFIX} SELECT ?s {{ {patterns} }}", {})
    assert back.text == "A query that cannot be put into words."
    assert len(back.parts) == 1000


def test_a_query_that_cannot_be_read_has_no_parts() -> None:
    back = describe_query("SELECT {", {})
    assert (back.text, back.parts) == ("A query that cannot be put into words.", ())


@given(st.text(min_size=1), st.text(min_size=1), st.sampled_from(LANGUAGES))
def test_whatever_things_are_called_the_pieces_are_the_read_back(
    first: str, second: str, language: str
) -> None:
    labels = {"http://example.org/Moon": first, "http://example.org/orbits": second}
    query = f"{PREFIX} SELECT ?m {{ ?m a :Moon ; :orbits ?p . ?p a :Moon }}"
    assert describe_query(query, labels, language=language).text == verbalize_query(
        query, labels, language=language
    )


@given(st.text())
def test_a_value_is_a_part_whatever_it_says(text: str) -> None:
    literal = str(Literal(text))
    assert list_parts(f"{PREFIX} SELECT ?s {{ ?s :name {literal} }}")[1].term == Literal(text)


QUESTIONS = """
Which [moons|Moon,orbits] does [Jupiter|Jupiter] have?
SELECT ?m { ?m a ont:Moon ; ont:orbits space:Jupiter }
What is the [largest|diameter] [moon|Moon,orbits] of [Saturn|Saturn]?
SELECT ?m { ?m a ont:Moon ; ont:orbits space:Saturn ; ont:diameter ?d } ORDER BY DESC(?d) LIMIT 1
Which [missions|Mission] were [launched|launch date] after [1970|1970 12 31]?
SELECT ?m { ?m a ont:Mission ; ont:launchDate ?d FILTER(?d > "1970-12-31"^^xsd:date) }
Which [rockets|launch vehicle] are taller than [60|60] m?
SELECT ?r { ?r a ont:LaunchVehicle ; ont:mass ?h FILTER(?h > 60) }
Which [space agencies|space agency] did [NASA|NASA] [found|founded], and why?
SELECT ?a { ?a a ont:SpaceAgency . space:NASA ont:founded ?y }
Wer hat den [Titan|Titan] [entdeckt|discoverer]?
SELECT ?who { space:Titan ont:discoverer ?who }
What about the others?
SELECT ?who { space:Titan ont:discoverer ?who }
"""


def test_words_of_a_question_are_linked_to_the_parts_of_its_query(space: KnowledgeGraph) -> None:
    lines = QUESTIONS.strip().split("\n")
    prefixes = "".join(f"PREFIX {n}: <{iri}>" for n, iri in space.prefixes.namespaces.items())
    marked = []
    for expected, query in zip(lines[::2], lines[1::2], strict=True):
        question = re.sub(r"\[(.*?)\|.*?\]", r"\1", expected)
        parts = list_parts(f"{prefixes} PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {query}")
        pieces = split_question(link_text(question, None, space.names), parts, {})
        assert "".join(piece.text for piece in pieces) == question
        names = [split_local_name(part.term.value) for part in parts]
        marked += [
            "".join(
                f"[{piece.text}|{','.join(names[at] for at in sorted(piece.parts))}]"
                if piece.parts
                else piece.text
                for piece in pieces
            )
        ]
    assert marked == lines[::2]
