"""The shipped index queries: sound, with the columns an index needs; the default on a graph."""

import gzip
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import QuerySolutions
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.sources import list_graphs, load_query, read_result, read_table
from askgraph.sparql.judge import check_query
from askgraph.sparql.results import SelectResult

GRAPH = """
PREFIX : <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
:ganymede a :Moon ; rdfs:label "Ganymed"@de, "Ganymede"@en ; skos:altLabel "Jupiter III" ;
  rdfs:comment "the largest"@en, "der größte"@de ; :orbits :jupiter .
:survey1 :carriedOutBy "Voyager 1", "Voyager 2" ; :of :ganymede .
:Moon rdfs:label "moon"@en .
:orbits rdfs:label "orbits"@en ; rdfs:domain :Moon .
[] :orbits :jupiter .
"""
EX = "http://example.org/"


def asked(query: str, graph: str = GRAPH) -> dict[str, Resource]:
    store = pyoxigraph.Store()
    store.load(graph.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    found = store.query(query)
    assert isinstance(found, QuerySolutions)
    variables = tuple(variable.value for variable in found.variables)
    result = SelectResult(variables, tuple(tuple(row) for row in found))
    return {resource.iri: resource for resource in read_result(result)}


def test_the_graphs_of_the_paper_have_queries() -> None:
    assert list_graphs() == ("dblp", "dbpedia", "freebase", "orkg", "osm", "uniprot", "wikidata")


@for_each("graph", [None, *list_graphs()])
@for_each("key", ["entities", "properties"])
def test_each_query_is_sound_has_the_columns_and_can_be_paged(key: str, graph: str | None) -> None:
    query = load_query(key, graph)
    check_query(query)
    assert query.endswith("GROUP BY ?iri\n")
    empty = pyoxigraph.Store().query(query)
    assert isinstance(empty, QuerySolutions)
    assert [v.value for v in empty.variables] == ["iri", "label", "score", "synonyms", "infos"]
    assert list(empty) == []


def test_items_of_wikidata_without_an_article_are_found_too() -> None:
    store = pyoxigraph.Store()
    for name, articles in (("Q1", 300), ("Q2", 0)):
        store.update(
            f"INSERT DATA {{ <{EX}{name}> <http://wikiba.se/ontology#sitelinks> {articles} ; "
            f"<http://www.w3.org/2000/01/rdf-schema#label> '{name}'@en }}"
        )

    found = store.query(load_query("entities", "wikidata"))

    assert isinstance(found, QuerySolutions)
    assert {(row["label"].value, row["score"].value) for row in found} == {
        ("Q1", "300"),
        ("Q2", "0"),
    }


MADE = """
PREFIX dblp: <https://dblp.org/rdf/schema#>
PREFIX dbo: <http://dbpedia.org/ontology/>
PREFIX dbr: <http://dbpedia.org/resource/>
PREFIX ns: <http://rdf.freebase.com/ns/>
PREFIX orkgr: <http://orkg.org/orkg/resource/>
PREFIX orkgp: <http://orkg.org/orkg/predicate/>
PREFIX osmkey: <https://www.openstreetmap.org/wiki/Key:>
PREFIX up: <http://purl.uniprot.org/core/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
<https://dblp.org/pid/1> a dblp:Person ; rdfs:label "Ann Ash 1" ;
  dblp:primaryCreatorName "Ann Ash" ; dblp:affiliation "Uni" .
dblp:affiliation rdfs:label "affiliation" ; rdfs:domain dblp:Person .
dbr:Io rdfs:label "Io"@en ; a dbo:Moon ; dbo:orbits dbr:Jupiter .
dbr:Io_I dbo:wikiPageRedirects dbr:Io ; rdfs:label "Io I"@en .
dbo:Moon rdfs:label "moon"@en . dbo:orbits rdfs:label "orbits"@en ; rdfs:range dbo:Planet .
ns:m.1 ns:type.object.name "Moby Dick"@en ; ns:common.topic.alias "The Whale"@en ;
  ns:common.topic.notable_types ns:book.book ; ns:book.author ns:m.2 .
ns:book.book ns:type.object.name "Book"@en .
ns:book.author ns:type.object.name "Author"@en ; ns:type.property.schema ns:book.book .
orkgr:R1 rdfs:label "SciQA" ; a <http://orkg.org/orkg/class/C1> ; orkgp:P1 orkgr:R2 .
<http://orkg.org/orkg/class/C1> rdfs:label "Benchmark" . orkgp:P1 rdfs:label "has method" .
<https://www.openstreetmap.org/node/1> osmkey:name "Köln" ; osmkey:place "city" ;
  <https://www.openstreetmap.org/wiki/Key:name:en> "Cologne" .
osmkey:place rdfs:label "place" ; rdfs:comment "what it is" .
<http://purl.uniprot.org/taxonomy/9606> a up:Taxon ; up:scientificName "Homo sapiens" ;
  up:commonName "Human" .
<http://purl.uniprot.org/uniprot/P1> up:organism <http://purl.uniprot.org/taxonomy/9606> .
up:organism rdfs:label "organism" ; rdfs:range up:Taxon .
"""


@for_each(
    ("graph", "entity", "names", "info", "predicate", "told", "about"),
        ("dblp", "https://dblp.org/pid/1", {"Ann Ash 1", "Ann Ash"}, "Uni",
         "https://dblp.org/rdf/schema#affiliation", "affiliation", "domain Person"),
        ("dbpedia", "http://dbpedia.org/resource/Io", {"Io", "Io I"}, "moon",
         "http://dbpedia.org/ontology/orbits", "orbits", "range Planet"),
        ("freebase", "http://rdf.freebase.com/ns/m.1", {"Moby Dick", "The Whale"}, "Book",
         "http://rdf.freebase.com/ns/book.author", "Author", "domain book.book"),
        ("orkg", "http://orkg.org/orkg/resource/R1", {"SciQA"}, "Benchmark",
         "http://orkg.org/orkg/predicate/P1", "has method", ""),
        ("osm", "https://www.openstreetmap.org/node/1", {"Cologne", "Köln"}, "city",
         "https://www.openstreetmap.org/wiki/Key:place", "place", "what it is"),
        ("uniprot", "http://purl.uniprot.org/taxonomy/9606", {"Homo sapiens", "Human"}, "Taxon",
         "http://purl.uniprot.org/core/organism", "organism", "range Taxon"),
)  # fmt: skip
def test_each_graph_of_the_paper_has_its_names_where_it_keeps_them(
    graph: str, entity: str, names: set[str], info: str, predicate: str, told: str, about: str
) -> None:
    one = asked(load_query("entities", graph), MADE)[entity]
    other = asked(load_query("properties", graph), MADE)[predicate]

    assert {one.label, *one.synonyms} == names and info in one.infos and one.score >= 1
    assert other.label == told and other.score == 1
    assert set(other.infos) == ({about} if about else set())


def test_the_default_gives_every_entity_of_any_graph() -> None:
    found = asked(load_query("entities"))
    ganymede = found[EX + "ganymede"]
    assert (ganymede.label, set(ganymede.synonyms)) == ("Ganymede", {"Ganymed", "Jupiter III"})
    assert (ganymede.score, set(ganymede.infos)) == (8.0, {"the largest", "moon"})
    assert set(found[EX + "survey1"].synonyms) == {"Voyager 1", "Voyager 2"}
    assert found[EX + "jupiter"] == Resource(EX + "jupiter", "", (), 2.0)


def test_the_default_gives_every_property_of_any_graph() -> None:
    found = asked(load_query("properties"))
    assert found[EX + "orbits"] == Resource(EX + "orbits", "orbits", (), 2.0, ("domain Moon",))
    assert EX + "carriedOutBy" in found


def test_a_graph_without_queries_is_a_setup_error() -> None:
    with pytest.raises(SetupError, match="no index queries for 'other'; available: dblp"):
        load_query("entities", "other")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool)
NAMES = st.lists(TEXTS.filter(lambda text: ";" not in text), max_size=3, unique=True).map(tuple)
RESOURCES = st.builds(
    Resource, TEXTS, TEXTS, NAMES, st.floats(allow_nan=False, allow_infinity=False), NAMES
).filter(lambda resource: resource.label not in resource.synonyms)


def test_the_columns_may_come_in_any_order_and_packed(tmp_path: Path) -> None:
    text = "label\tinfos\tiri\nGanymede\ta moon;;; of Jupiter\thttp://example.org/1\n"
    (tmp_path / "moons.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_table(tmp_path / "moons.tsv.gz")) == [
        Resource("http://example.org/1", "Ganymede", (), 0.0, ("a moon", "of Jupiter"))
    ]


@for_each(
    ("file", "synonyms", "scores"),
    ("items.jsonl", ("Jupiter III",), (0.0, 0.0)),
    ("rows.tsv", (), (12.0, 3.0)),
    ("values.tsv", ("Jupiter III",), (0.0, 0.0)),
)
def test_index_data_of_grasp_are_read(
    file: str, synonyms: tuple[str, ...], scores: tuple[float, float]
) -> None:
    assert list(read_table(Path(__file__).with_name("grasp") / file)) == [
        Resource("http://example.org/1", "Ganymede", synonyms, scores[0]),
        Resource("http://example.org/2", "", (), scores[1]),
    ]


def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "resources.tsv"

    @settings(max_examples=100, deadline=None)
    @given(st.lists(RESOURCES, max_size=4))
    def holds(resources: list[Resource]) -> None:
        rows = [("iri", "label", "score", "synonyms", "infos")]
        for one in resources:
            joined = (";;;".join(one.synonyms), ";;;".join(one.infos))
            rows.append((one.iri, one.label, repr(one.score), *joined))
        escapes = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
        lines = ("\t".join(cell.translate(escapes) for cell in row) + "\n" for row in rows)
        path.write_text("".join(lines), encoding="utf-8", newline="")
        assert list(read_table(path)) == resources

    holds()


@for_each(
    ("text", "message"),
    ("", "line 1: the columns are ''"),
    ("iri\tname\n", "line 1: the columns are 'iri, name'"),
    ("iri\tlabel\tlabel\n", "line 1: the columns are 'iri, label, label'"),
    ("iri\tlabel\na\tb\nc\n", "line 3: 1 columns instead of 2"),
    ("iri\tlabel\tscore\na\tb\tmany\n", "line 2: the score 'many' is not a number"),
    ('{"identifier": "<a>"}\n', "line 1: not an object with an 'identifier' and 'fields'"),
    ("?id\t?label\n<a>\n", "cannot be read: "),
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "odd.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(SetupError, match=message):
        list(read_table(tmp_path / "odd.tsv"))


def test_a_missing_file_and_other_bytes_are_setup_errors(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="there is no file"):
        list(read_table(tmp_path / "absent.tsv"))
    (tmp_path / "odd.tsv").write_bytes(b"iri\tlabel\n\xff\xfe\tx\n")
    with pytest.raises(SetupError, match="cannot be read"):
        list(read_table(tmp_path / "odd.tsv"))
