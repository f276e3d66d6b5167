"""Graphs and questions that nobody plans for."""

from collections.abc import Mapping

from tests.graphs import MOONS, PETS

NO_LABELS = """
@prefix : <http://shop.example/> .
:Bike a :Product ; :soldBy :AnnasShop ; :price 250 .
:Lamp a :Product ; :soldBy :AnnasShop ; :price 40 .
:AnnasShop a :Shop ; :locatedIn :Oldtown .
"""
NO_TYPES = """
@prefix : <http://zoo.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:leo rdfs:label "Leo" ; :keeper :mia ; :weight 190 .
:nala rdfs:label "Nala" ; :keeper :mia ; :weight 130 .
:mia rdfs:label "Mia" . :keeper rdfs:label "keeper" . :weight rdfs:label "weight" .
"""
BLANKS = """
@prefix : <http://notes.example/> .
[] :title "Shopping" ; :next [ :title "Cooking" ; :minutes 30 ; :next [ :title "Eating" ] ] .
"""
LOOP = "<http://x.example/ouroboros> <http://x.example/eats> <http://x.example/ouroboros> ."
OTHER_SCRIPT = """
@prefix : <http://例え.jp/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:富士山 rdfs:label "富士山"@ja ; :高さ 3776 . :高さ rdfs:label "高さ"@ja .
"""
SOURCES: Mapping[str, str] = {
    "moons": MOONS, "pets": PETS, "empty": "", "no-labels": NO_LABELS, "no-types": NO_TYPES,
    "blanks": BLANKS, "loop": LOOP, "other-script": OTHER_SCRIPT,
}  # fmt: skip
STRANGE: Mapping[str, str] = {
    "nothing": "",
    "spaces": "   \t\n  ",
    "stop words": "which of the is are what who where when how many do does",
    "one stop word": "the",
    "emoji": "🚀🌙❓👩‍🚀",
    "emoji among words": "Which 🌙 orbit 🪐 Jupiter?",
    "10,000 words": "Which moons orbit Jupiter " * 2500,
    "10,000 different words": " ".join(f"word{number}" for number in range(10_000)),
    "one very long word": "moon" * 2_500,
    "SPARQL": 'SELECT ?s WHERE { ?s ?p "Io"@en FILTER(?s < 3) } # } DROP ALL; --',
    "SPARQL update": "DELETE WHERE { ?s ?p ?o }",
    "another language": "Мои кошки любят спать на тёплой крыше",
    "a fifth language": "Vilka månar kretsar kring Jupiter?",
    "Japanese": "木星の衛星はどれですか",
    "Arabic": "ما هي أقمار المشتري؟",
    "control characters": "Which\x00moons\x01orbit\x1b[31m\x7fJupiter\u202e?",
    "one character": "?",
    "one letter": "a",
    "only a number": "42",
    "a huge number": "9" * 400,
    "a number with an exponent": "1e400 moons",
    "dates that do not exist": "Which moons were found on 31 February 2021 or on 2021-99-99?",
    "quotes unbalanced": "Which \"moons orbit 'Jupiter?",
    "backslashes": 'Which \\"moons\\" \\u0041 orbit \\ Jupiter?',
    "angle brackets": "<http://example.org/Io> <b>bold</b> & {{x}} %s {0}",
    "only punctuation": "?!.,;:-_()[]{}'\"",
    "operators only": "how many more than the most average total sum of each not or and both",
    "an operator without its argument": "moons with more than",
    "negation of nothing": "without no not never",
    "lone surrogate": "Which \ud83d moons?",
    "combining marks": "I\u0301\u0301\u0301o",
    "full-width digits": "Which moons have a radius of more than １０００?",
    "a superscript digit": "radius ² ½ ① moons",
    "between without an end": "moons with a radius between 5 and",
    "top zero": "the top 0 moons by radius",
    "top of too many": "the top 99999999999999999999 moons by radius",
}
