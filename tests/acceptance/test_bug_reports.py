"""What 39 public bug reports of similar tools come to here, one row for each.

| # | report | handled | held by |
|---|---|---|---|
| 1 | data in named graphs alone | asked from then on | tests/endpoint/test_habits.py |
| 2 | one text among numbers | filtered out, and the answer says so | `TEXT_AMONG_NUMBERS` here |
| 3 | names of function words ("Her") | names, with the graph's capitals | `FUNCTION_WORDS` here |
| 4 | a blank node as the answer | shown by its values | `BLANK_NODES` here |
| 5 | `<think>` in the content | taken off | tests/llm/test_model_habits.py |
| 6 | end tokens and prose around a query | taken off | tests/llm/test_model_habits.py |
| 7 | calls written as text | read | tests/llm/test_model_habits.py |
| 8 | no system role | put into the first user message | tests/llm/test_model_habits.py |
| 9 | `finish_reason` null | `[DONE]` ends a reply | tests/llm/test_model_habits.py |
| 10 | bad IRIs, odd language tags | read leniently, and counted | tests/sparql/test_file_conversion.py |
| 11 | POST only | remembered | tests/endpoint/test_habits.py |
| 12 | GET only | remembered | tests/endpoint/test_habits.py |
| 13 | XML, CSV or TSV only | read | tests/endpoint/test_habits.py |
| 14 | Azure OpenAI | `api-version`, `api-key` | tests/llm/test_model_habits.py |
| 15 | HTTP digest | authenticated | tests/endpoint/test_habits.py |
| 16 | decimals lose digits | strings in JSON | `DIGITS` here |
| 17 | scripts without spaces | names are found within | `UNSPACED` here |
| 18 | .n3 and other endings | read, or listed as left out | tests/sparql/test_file_conversion.py |
| 19 | years, integers and texts mixed; zones | compared | `MIXED_YEARS`, `ZONES` here |
| 20 | a web address of an RDF file | downloaded | tests/sparql/test_file_conversion.py |
| 21 | JSON-LD with a remote context | from the package or a folder | tests/sparql/test_file_conversion.py |
| 22 | self-signed certificates | the message names the setting | tests/endpoint/test_habits.py |
| 23 | labels in other scripts only | the IRI's own words | `OTHER_SCRIPT` here |
| 24 | CONSTRUCT formats | read | tests/endpoint/test_habits.py |
| 25 | OWL/XML | a sentence says what to do | tests/sparql/test_file_conversion.py |
| 26 | `anyOf` and null in tool schemas | plain schemas | tests/server/mcp/test_tools.py |
| 27 | label predicates | found in the data | tests/answers/test_labels.py |
| 28 | logs on stdout over MCP | on stderr | tests/server/mcp/test_tools.py |
| 29 | `max_completion_tokens`, no temperature | tried again without | tests/llm/test_openai.py |
| 30 | large schemas and results | bounded | tests/prompts, tests/server/mcp/test_tools.py |
| 31 | an error within a 200 | an error | tests/endpoint/test_fault_table.py |
| 32 | COUNT without DISTINCT | distinct | tests/search/operators |
| 33 | apostrophes, odd IRIs | kept | tests/search/test_names_of_things.py |
| 34 | comments, LIMIT in sub-queries | parsed | tests/sparql/test_parser.py |
| 35 | a query that never ends | stopped | tests/endpoint/test_oxigraph.py |
| 36 | media types, gzip, pages, redirects | read | tests/endpoint/test_http.py |
| 37 | folding, @mul labels | matched | tests/index/test_names.py |
| 38 | arguments cut, fenced or without an id | read | tests/llm/test_calls.py |
| 39 | no tool choice, quota | the server's words | tests/llm/test_openai.py |
"""

from pathlib import Path

import pytest

from askgraph import ask

HEAD = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:River rdfs:label "river"@en . :length rdfs:label "length"@en .
:Church rdfs:label "church"@en . :built rdfs:label "built"@en . :opened rdfs:label "opened"@en .
:Film rdfs:label "film"@en . :runtime rdfs:label "runtime"@en . :address rdfs:label "address"@en .
"""
TEXT_AMONG_NUMBERS = """
:Mur a :River ; rdfs:label "Mur"@en ; :length 464 .
:Drava a :River ; rdfs:label "Drava"@en ; :length 749 .
:Laba a :River ; rdfs:label "Laba"@en ; :length "unknown" .
"""
FUNCTION_WORDS = """
:director rdfs:label "director"@en .
:Her a :Film ; rdfs:label "Her"@en ; :director :Jonze .
:Now a :Film ; rdfs:label "Now and Then"@en ; :director :Glatter .
:Jonze rdfs:label "Spike Jonze"@en . :Glatter rdfs:label "Lesli Glatter"@en .
"""
UNSPACED = """
:director rdfs:label "監督"@ja . :Seven a :Film ; rdfs:label "七人の侍"@ja ; :director :Kurosawa .
:Ran a :Film ; rdfs:label "乱世"@ja ; :director :Other . :Other rdfs:label "別人"@ja .
:Kurosawa rdfs:label "黒澤明"@ja .
"""
BLANK_NODES = """
:Ada a :Person ; rdfs:label "Ada Moor"@en ; :address [ :street "Main Street 1" ; :city "Graz" ] .
:Cy a :Person ; rdfs:label "Cy Ford"@en ; :address [ :street "Side Street 2" ; :city "Linz" ] .
"""
MIXED_YEARS = """
:Anna a :Church ; rdfs:label "Anna"@en ; :built "1450"^^xsd:gYear .
:Otto a :Church ; rdfs:label "Otto"@en ; :built 1520 .
:Vitus a :Church ; rdfs:label "Vitus"@en ; :built "1610" .
:Ruth a :Church ; rdfs:label "Ruth"@en ; :built "1700"^^xsd:gYear .
"""
ZONES = """
:Anna a :Church ; rdfs:label "Anna"@en ; :opened "2020-01-01T23:30:00-05:00"^^xsd:dateTime .
:Otto a :Church ; rdfs:label "Otto"@en ; :opened "2020-01-02T01:00:00Z"^^xsd:dateTime .
:Vitus a :Church ; rdfs:label "Vitus"@en ; :opened "2020-01-02T03:00:00+09:00"^^xsd:dateTime .
"""
OTHER_SCRIPT = FUNCTION_WORDS.replace('"director"@en', '"במאי"@he, "監督"@ja')
DIGITS = """
:Mur a :River ; rdfs:label "Mur"@en ; :length 1234567890123456.78 .
:Drava a :River ; rdfs:label "Drava"@en ; :length 9999999999999999999 .
"""


@pytest.mark.parametrize(
    ("graph", "question", "expected"),
    [
        (TEXT_AMONG_NUMBERS, "Which river is the longest?", "longest river whose length is a num"),
        (TEXT_AMONG_NUMBERS, "What is the total length of rivers?", "1,213"),
        (TEXT_AMONG_NUMBERS, "Which rivers are longer than average?", "Drava (749) is the only"),
        (FUNCTION_WORDS, "Who directed Her?", "The director of Her is Spike Jonze."),
        (FUNCTION_WORDS, "Who directed Now and Then?", "Lesli Glatter."),
        (OTHER_SCRIPT, "Who directed Her?", "The director of Her is Spike Jonze."),
        (UNSPACED, "七人の侍の監督は誰ですか", "黒澤明"),
        (BLANK_NODES, "What is the address of Ada Moor?", "Graz and Main Street 1"),
        (MIXED_YEARS, "Which churches were built before 1600?", "Anna (1450) and Otto (1,520)"),
        (MIXED_YEARS, "Which church was built last?", "Ruth (1700)"),
        (MIXED_YEARS, "How many churches are there for each century?", "Most: 17 (2), then 15 (1)"),
        (ZONES, "Which churches were opened before 2 January 2020?", "Vitus"),
        (ZONES, "Which church was opened last?", "Anna"),
    ],
)  # fmt: skip
def test_values_in_the_wild_are_answered_right(
    tmp_path: Path, graph: str, question: str, expected: str
) -> None:
    (tmp_path / "graph.ttl").write_text(HEAD + graph)
    answer = ask(question, tmp_path / "graph.ttl", workspace=tmp_path / "workspace").json()

    assert (answer["status"], expected in str(answer["sentence"])) == ("answer", True), answer


def test_numbers_keep_their_digits_and_an_unbound_value_is_never_sure(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(HEAD + DIGITS)
    questions = ("length of Mur", "length of Drava", "What is the total length of rivers?")
    answers = [
        ask(question, path, workspace=tmp_path / "workspace").json() for question in questions
    ]

    assert [answer["rows"] for answer in answers[:2]] == [
        [["1234567890123456.78"]], [["9999999999999999999"]],
    ]  # fmt: skip
    assert answers[2]["rows"] != [[None]] or float(str(answers[2]["confidence"])) < 0.5
