"""What a model may see: placeholders for things and values, and the terms put back for them."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyoxigraph import Literal, NamedNode
from tests.each import for_each
from tests.odd_names import ODD

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context, Visibility
from askgraph.methods.tools.masking import TermMasker
from askgraph.methods.tools.mentions import find_mentions
from askgraph.methods.tools.rendering import TermWriter, render_table
from askgraph.search.pipeline import link_text
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import SelectResult
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

ASKED = "Which moons of Saturn were discovered after 1850?"
PREFIXES = (
    "PREFIX ont: <https://example.org/space/ontology#>\n"
    "PREFIX space: <https://example.org/space/>\n"
)


def veil_of(graph: KnowledgeGraph, asked: str = ASKED, sees: Visibility = "masked") -> TermMasker:
    return TermMasker.from_links([(graph, link_text(asked, "en", graph.names))], visibility=sees)


def under(veil: TermMasker, asked: str = ASKED) -> Context:
    return Context(veil.graphs[0], Question(asked, "en"), masker=veil)


@for_each(
    ("asked", "shown"),
        (ASKED, "Which moons of hidden:e1 were discovered after hidden:v1 (a year, or a number)?"),
        ("How heavy is Saturn's moon Titan?", "How heavy is hidden:e1's moon hidden:e2?"),
        ("Who was born on 5 March 1934?", "Who was born on hidden:v1 (a date)?"),
        ("Which moons are there?", "Which moons are there?"),
        ("Which one of the planets is the largest?", "Which one of the planets is the largest?"),
)  # fmt: skip
def test_a_question_names_no_thing_or_value(near: KnowledgeGraph, asked: str, shown: str) -> None:
    assert veil_of(near, asked).mask_question() == shown


@pytest.mark.parametrize("meant", ["Galileo_Galilei", "Galileo_spacecraft"])
def test_of_namesakes_the_question_has_the_one_used(near: KnowledgeGraph, meant: str) -> None:
    linked = link_text("Which moons of Jupiter were discovered by Galileo?", "en", near.names)
    iri = f"https://example.org/space/{meant}"
    veil = TermMasker.from_links([(near, linked)], preferred_iris=[iri])
    assert veil.mask_question() == "Which moons of hidden:e1 were discovered by hidden:e2?"
    assert veil.unmask_query("hidden:e2") == f"<{iri}>"


def test_a_number_has_one_placeholder_in_question_and_query(near: KnowledgeGraph) -> None:
    veil = veil_of(near)
    masked = veil.mask_query('SELECT ?m { ?m ont:discoveryYear "1850"^^xsd:gYear }')
    assert "hidden:v1^^xsd:gYear" in masked and "after hidden:v1 " in veil.mask_question()
    assert '"1850"^^xsd:gYear' in veil.unmask_query(masked)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd.ttl").write_text(ODD, encoding="utf-8")
    graph = Workspace(folder / "home").open(folder / "odd.ttl")
    yield graph
    run_coroutine(graph.endpoint.close())


@for_each(
    ("asked", "shown"),
    ("salary of r:p1?", "salary of hidden:e1?"),
    ("ex:salary of <http://ex.org/res/p1>?", "ex:salary of hidden:e1?"),
    ("Who is in http://ex.org/res/c1?", "Who is in hidden:e1?"),
    ("Who has the code zz99?", "Who has the code hidden:v1 (a text)?"),
    ("Who has the code QX-774-b?", "Who has the code hidden:v1 (a text)?"),
    ("What has code 12/2004?", "What has code hidden:v1 (a text)?"),
    ("Where does R2-D2 live?", "Where does hidden:e1 live?"),
    ("Is the salary -4200?", "Is the salary hidden:v1 (a number)?"),
    ("A salary of thirty-four?", "A salary of hidden:v1 (a number)?"),
    ("Who was born on 12.03.1957?", "Who was born on hidden:v1 (a date)?"),
    ("code at 2021-05-06T07:08:09Z?", "code at hidden:v1 (a date and time)?"),
    ("Which city is 香港?", "Which city is hidden:e1?"),
    ("李小龍的薪水?", "hidden:e1的薪水?"),
    ("Where does Брюс Ли live?", "Where does hidden:e1 live?"),
    (
        "Author of How to Cook a Wolf Without Losing Your Patience or Your Favourite Pan?",
        "Author of hidden:e1?",
    ),
    ("Who is Lovelace?", "Who is hidden:v1 (a text)?"),
    ("Which persons are mentored by a city?", "Which persons are mentored by a city?"),
    ("Is there a pension scheme?", "Is there a pension scheme?"),
)
def test_odd_writing_is_hidden_in_one_piece(odd: KnowledgeGraph, asked: str, shown: str) -> None:
    assert veil_of(odd, asked).mask_question() == shown


def test_a_signed_number_and_a_moment_are_terms_of_their_types(odd: KnowledgeGraph) -> None:
    number, moment = veil_of(odd, "salary -4200?"), veil_of(odd, "since 2021-05-06T07:08:09Z?")
    assert "hidden:v1" in number.mask_question() and "hidden:v1" in moment.mask_question()
    assert number.unmask_query("?x > hidden:v1") == "?x > -4200"
    assert moment.unmask_query("?x > hidden:v1").endswith(f'Z"^^<{v.XSD_DATE_TIME}>')


@for_each("word", ["Lovelace", "Countess", "Stratford", "Lüdenscheidt", "Favourite"])
def test_a_word_of_a_name_is_in_no_note_either(odd: KnowledgeGraph, word: str) -> None:
    asked = f"Which city does {word} live in?"
    veil = veil_of(odd, asked)

    found = run_coroutine(
        find_mentions(replace(under(veil, asked), graph=odd), veil.linked_questions[0])
    )

    assert word not in veil.mask_question() and word not in veil.mask_words(word)
    assert not [one for one in found if word in one.note]


@for_each(
    ("text", "checked"),
    (
        "see Ada King, Countess of Lovelace and Several Other Distant Foreign Places, "
        "香港 and 李小龍的",
        "see hidden:e1, hidden:e2 and hidden:e3的",
    ),
    ('<http://ex.org/hidden:e1> "hidden:v1"@en <hidden:e3>', None),
    ('classes: ex:Pension 55\nex:lives "lives in" → xsd:decimal', None),
)
def test_the_last_look_finds_names_of_any_length_and_leaves_the_schema_and_placeholders(
    odd: KnowledgeGraph, text: str, checked: str | None
) -> None:
    assert veil_of(odd).mask_text(text) == (text if checked is None else checked)


def test_the_last_look_finds_names_values_and_iris(near: KnowledgeGraph) -> None:
    veil = veil_of(near)
    veil.mask_literal(Literal("2575.5"), near.prefixes)
    text = "Neil Armstrong | space:Titan | <https://example.org/space/Io> | 2575.5"
    ours = 'classes: ont:Moon 55\nont:distanceFromSun "distance from the Sun" → xsd:decimal'
    assert veil.mask_text(text) == "hidden:e1 | hidden:e2 | hidden:e3 | hidden:v1"
    assert veil.mask_text(ours) == ours


def test_declared_terms_are_of_the_schema_and_placeholders_stay(odd: KnowledgeGraph) -> None:
    veil = veil_of(odd)
    assert veil.mask_query("ASK { ?x ex:mentor ?y ; a ex:Pension, r:p1 }") == (
        "ASK { ?x ex:mentor ?y ; a ex:Pension, hidden:e1 }"
    )
    assert veil.mask_query("ASK { <http://ex.org/hidden:e1> ?p 'hidden:e1' }").count("e1") == 2


def test_literals_of_the_graph_and_things_are_written_as_placeholders(near: KnowledgeGraph) -> None:
    titan = "https://example.org/space/Titan"
    words, arrays = TermWriter(under(veil_of(near)), {titan: "Titan"}), near.arrays
    assert arrays is not None

    literals = [arrays.terms.get_term(at) for at in range(arrays.terms.first_iri)]
    written = [words.write_term(literal) for literal in literals]

    assert len({re.sub(r"[@^].*", "", one) for one in written}) == arrays.terms.first_iri > 2000
    assert all(re.fullmatch(r"hidden:v\d+(@[\w-]+|\^\^xsd:\w+)?", one) for one in written)
    assert [words.write_stored_literal(str(literal)) for literal in literals] == written
    assert words.write_iri("https://example.org/space/ontology#orbits") == "ont:orbits"
    assert (
        words.write_iri(titan) == words.write_short(titan) == "hidden:e1"
        and titan in words.written_iris
    )


@for_each(
    "query",
        "SELECT ?m { ?m ont:orbits space:Saturn ; rdfs:label \"Titan\"@en }",
        "SELECT ?m { ?m ont:diameter ?d FILTER(?d > 500.5 && ?d < 1e4) } LIMIT 3",
        'SELECT ?m { ?m ont:discoveryYear "1655"^^xsd:gYear FILTER(?x != "a \\"quote\\"") }',
        "SELECT ?m { <https://example.org/space/Titan> ?p ?m FILTER(LANG(?m) = \"en\") }",
        "ASK { ?m ont:orbits space:Saturn . FILTER(REGEX(?l, \"^Tit\", \"i\")) }",
        "SELECT * { VALUES ?m { space:Titan space:Rhea } ?m ont:orbits+ ?s }",
        "SELECT ?m { SERVICE <askgraph:sample> { ?m a ont:Moon } }",
)  # fmt: skip
def test_a_masked_query_means_the_same_once_unveiled(near: KnowledgeGraph, query: str) -> None:
    veil = veil_of(near)

    masked = veil.mask_query(PREFIXES + query)

    assert not re.search(r"Titan|Rhea|Saturn|\^Tit|quote|1655|500\.5|1e4", masked)
    assert all(kept in masked for kept in re.findall(r"ont:\w+|LANG|\"i\"|SERVICE <[^>]*>", query))
    full = PREFIXES + query.replace("space:", "<https://example.org/space/")
    full = re.sub(r"(<https://example.org/space/\w+)\b(?![>/#])", r"\1>", full)
    assert _plain(veil.unmask_query(masked)) == _plain(full)


def _plain(query: str) -> str:
    """A query with its numbers as they are written bare, and its texts as N-Triples has them."""
    typed = rf'"([^"]*)"\^\^<{v.XSD}(?:double|integer|decimal)>'
    return re.sub(typed, r"\1", query).replace(f"<{v.XSD}gYear>", "xsd:gYear")


@for_each(
    ("written", "meant"),
    ("?m ont:orbits hidden:e1", "?m ont:orbits <https://example.org/space/Saturn>"),
    ("?m ont:orbits <hidden:e1>", "?m ont:orbits <https://example.org/space/Saturn>"),
    ('?m ont:orbits "hidden:e1"', "?m ont:orbits <https://example.org/space/Saturn>"),
    ('FILTER(?name = "hidden:e1")', 'FILTER(?name = "Saturn")'),
    ("FILTER(YEAR(?d) > hidden:v1)", "FILTER(YEAR(?d) > 1850)"),
    ("FILTER(?y > hidden:v1^^xsd:gYear)", 'FILTER(?y > "1850"^^xsd:gYear)'),
    ('FILTER(?d > "hidden:v1-01-01"^^xsd:date)', 'FILTER(?d > "1850-01-01"^^xsd:date)'),
    ("} LIMIT hidden:v1", "} LIMIT 1850"),
    (
        "PREFIX hidden: <http://x/>\nASK { HIDDEN:E1 ?p ?o } # hidden:e9",
        "ASK { <https://example.org/space/Saturn> ?p ?o } ",
    ),
)
def test_placeholders_are_read_anywhere(near: KnowledgeGraph, written: str, meant: str) -> None:
    veil = veil_of(near)
    veil.mask_question()
    assert veil.unmask_query(written).split() == meant.split()
    assert veil.unmask_text("hidden:e1's (hidden:v1), hidden:e9!") == "Saturn's (1850), something!"


@for_each(
    "wrong",
    ["hidden:e99", "hidden:e1-orbiting", "zzhidden:e1", "<http://e/chidden:e1>", '"xhidden:v1"'],
)
def test_a_wrong_placeholder_is_named_in_a_query_alone(near: KnowledgeGraph, wrong: str) -> None:
    veil = veil_of(near)
    veil.mask_question()
    with pytest.raises(QueryError, match="stands for nothing"):
        veil.unmask_query(f"SELECT * {{ ?s ?p {wrong} }}")
    assert "hidden:" not in veil.unmask_text(f"About {wrong}.")


def test_a_query_is_read_by_its_own_prefixes(space: KnowledgeGraph) -> None:
    veil = TermMasker.from_links([(space, link_text("Which moons are there?", None, space.names))])
    query = "PREFIX s: <https://example.org/space/> SELECT ?m { ?m ?p s:Jupiter . ?m ?q s:Europa }"
    masked = veil.mask_query(query)
    assert "Jupiter" not in masked and "Europa" not in masked
    assert veil.unmask_query(masked).count("https://example.org/space/") >= 2


def test_a_made_up_iri_is_shown_to_its_model(odd: KnowledgeGraph, near: KnowledgeGraph) -> None:
    veil = TermMasker.from_links(
        [(graph, link_text("Cologne?", "en", graph.names)) for graph in (odd, near)]
    )
    held, none = "http://ex.org/res/c1", "http://ex.org/res/none"
    told = veil.mask_explanation(f"ASK {{ <{held}> ?p <{none}> }}", f"No <{none}> at <{held}>")
    assert told == f"No <{none}> at hidden:e1"


async def test_of_the_schema_alone_no_rows_are_shown(near: KnowledgeGraph) -> None:
    rows = SelectResult(("moon",), ((NamedNode("https://example.org/space/Titan"),),))
    shown = await render_table(under(veil_of(near, sees="schema")), rows)
    assert shown.text == "there are rows, which are not shown: moon"
