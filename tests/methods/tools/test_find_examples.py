"""Examples are shown by chance, but the same ones each time."""

from dataclasses import replace
from pathlib import Path

from pyoxigraph import Literal
from tests.methods.tools.exploring import called, line_with, served

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.methods.tools import Context
from askgraph.methods.tools.candidates import CandidateResult
from askgraph.methods.tools.overview import find_similar_examples
from askgraph.search.pipeline import propose
from askgraph.search.rank import cluster_candidates
from askgraph.sparql.results import SelectResult
from askgraph.trace import Question

EXAMPLES = tuple(
    QueryExample(
        f"Which moons orbit {name}?",
        "PREFIX ont: <https://example.org/space/ontology#>\n"
        f"SELECT ?m WHERE {{ ?m ont:orbits <https://example.org/space/{name}> }}",
    )
    for name in ("Saturn", "Jupiter", "Mars", "Uranus", "Neptune", "Pluto", "Earth")
)


async def test_the_same_question_gets_the_same_examples(near: KnowledgeGraph) -> None:
    graph = replace(near, examples=EXAMPLES)
    texts = {(await called(graph, "find_examples")).text for _ in range(3)}
    assert len(texts) == 1 and texts.pop().count("Which moons orbit") == 3


async def test_another_question_may_get_others(near: KnowledgeGraph) -> None:
    graph = replace(near, examples=EXAMPLES)
    asked = [f"question {number}" for number in range(8)]
    texts = {(await called(graph, "find_examples", asked=text)).text for text in asked}
    assert len(texts) > 1


async def test_a_query_is_short_and_what_it_names_counts_as_seen(near: KnowledgeGraph) -> None:
    found = await called(replace(near, examples=EXAMPLES[2:3]), "find_examples")
    assert "PREFIX" not in found.text and "?m ont:orbits space:Mars" in found.text
    assert "https://example.org/space/Mars" in found.seen


async def test_no_examples_are_said_so(near: KnowledgeGraph) -> None:
    found = await called(replace(near, examples=EXAMPLES[:1]), "find_examples")  # asked itself
    assert found.failed and "no examples" in found.text


SIMILAR_EXAMPLES = (
    QueryExample("Who discovered Titan?", "SELECT ?x WHERE { ?x a <http://example.org/A> }"),
    QueryExample("Which moons orbit Mars?", "SELECT ?x WHERE { ?x a <http://example.org/B> }"),
    QueryExample("How heavy is the Sun?", "SELECT ?x WHERE { ?x a <http://example.org/C> }"),
)


async def test_the_users_question_is_the_default_of_a_text(near: KnowledgeGraph) -> None:
    graph = replace(near, examples=(*SIMILAR_EXAMPLES, EXAMPLES[0]))  # the last asks the same
    context = Context(graph, Question("Which moons orbit Saturn?"))
    found = await called(graph, "find_similar_examples")
    other = await find_similar_examples(context, "Mass of the sun")
    assert found.text.startswith('"Which moons orbit Mars?"\nSELECT')
    assert other.text.startswith('"How heavy is the Sun?"')


async def test_a_candidate_has_words_query_rows_and_the_words_unused(space: KnowledgeGraph) -> None:
    filler = " ".join(f"quux{n} quux{n}" for n in range(40))
    found, unread, none = [
        await called(space, "propose_queries", question=question)
        for question in (
            "Which moons orbit Saturn?",
            f"Which moons orbit Saturn? {filler}",
            "Quux?",
        )
    ]

    assert '1. "Moons that orbit Saturn."' in line_with(found, "1. ")
    assert "ont:orbits space:Saturn" in found.text and "PREFIX" not in found.text
    assert found.answer is not None and found.answer.result.rows
    assert "https://example.org/space/Saturn" in found.seen
    words = line_with(unread, "1. ").split("(not used: ")[1].split(")")[0].split(", ")
    assert len(words) == len(set(words)) == 9 and words[-1] == "…"
    assert none.rows == 0 and none.answer is None


async def test_results_are_the_same_in_any_order_of_their_columns(space: KnowledgeGraph) -> None:
    proposal = await propose(Question("Which moons orbit Saturn?"), space)
    best = cluster_candidates(proposal.candidates)[0]
    both = [("moon", "planet"), ("planet", "moon")]
    row = {"moon": Literal("Titan"), "planet": Literal("Saturn")}
    given = [SelectResult(names, (tuple(row[name] for name in names),)) for names in both]
    ran = [
        CandidateResult(best, "", names, None, one) for names, one in zip(both, given, strict=True)
    ]
    alone = CandidateResult(best, "", ("moon",), None, given[0])

    assert ran[0].result_key == ran[1].result_key != alone.result_key


SUPPLY = """
@prefix : <http://a.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:medium a :Size ; rdfs:label "Medium"@en . :large a :Size ; rdfs:label "Large"@en .
:tiny a :Size ; rdfs:label "Tiny"@en . :norway a :Country ; rdfs:label "Norway"@en .
:spain a :Country ; rdfs:label "Spain"@en . :chile a :Country ; rdfs:label "Chile"@en .
""" + "".join(
    f"""
:c{n} a :Company ; rdfs:label "Firm {chr(65 + n)}x"@en ; :site :s{n} ;
  :size :{("medium", "large", "tiny")[n % 3]} .
:s{n} a :Site ; rdfs:label "Plot {chr(65 + n)}"@en ;
  :country :{("norway", "spain", "chile")[n // 2 % 3]} .
:d{n} a :Delivery ; :supplier :c{n} ; :customer :c{(n * 7 + 1) % 18} .
:e{n} a :Delivery ; :supplier :c{n} ; :customer :c{(n * 5 + 2) % 18} .
"""
    for n in range(18)
)


async def test_a_name_that_is_left_out_is_put_where_a_property_leads_to_it(tmp_path: Path) -> None:
    asked = "Suppliers of medium size with customers of large size that have sites in Spain"
    with served(SUPPLY, tmp_path, prefixes={"": "http://a.org/"}, local=True) as (graph, _):
        found = await called(graph, "propose_queries", question=asked)
    queries = found.text.split("SELECT")
    assert any(all(f":{name} ." in one for name in ("medium", "large", "spain")) for one in queries)
