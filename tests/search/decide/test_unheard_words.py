"""Words that a query does not use: fillers hardly matter, what is asked for always does."""

from pathlib import Path

from tests.each import for_each
from tests.search.asking import Known
from tests.search.question_files import graph_named
from tests.search.test_names_of_things import asked

from askgraph.search.decide import MAX_DOUBTED_CONFIDENCE, decide
from askgraph.search.decide.unheard_words import find_requested_tokens
from askgraph.search.rank import cluster_candidates
from askgraph.search.rank.faults import FaultContext

PROJECTS = """
@prefix : <https://code.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Project rdfs:label "project" . :licence rdfs:label "licence" . :language rdfs:label "language" .
:bugs rdfs:label "bug database" .
:flink a :Project ; rdfs:label "Flink" ; :licence "MIT" ; :language "Java" ; :bugs :jira .
:river a :Project ; rdfs:label "River" ; :licence "MIT" ; :language "Scala" ; :bugs :jira .
:spark a :Project ; rdfs:label "Spark" ; :licence "BSD" ; :language "Scala" ; :bugs :hub .
:jira rdfs:label "Jira" . :hub rdfs:label "Hub" .
"""


@for_each(
    "question",
    "How many committers does Spark have?",
    "How many stars has Flink?",
    "Who taught River?",
    "What did Spark study?",
    "What does Flink cost?",
    "Who wrote more projects than Spark?",
    "How many female projects are there?",
    "Which woman is River by?",
)
def test_a_question_for_what_the_graph_lacks_is_not_answered(question: str, tmp_path: Path) -> None:
    assert asked(question, tmp_path, PROJECTS)["status"] != "answer"


SAMPLES = """
@prefix : <https://metals.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Sample rdfs:label "sample" . :p1 rdfs:label "melting point" . :p2 rdfs:label "bin number" .
:p3 rdfs:label "hardness" . :p4 rdfs:label "maker" . :p5 rdfs:label "critical temperature" .
:argon a :Sample ; rdfs:label "Argon" ; :p5 150 .
:gold a :Sample ; rdfs:label "Gold" ; :p1 1337 ; :p2 4 ; :p3 2.5 ; :p4 "Orla Quinn" .
:lead a :Sample ; rdfs:label "Lead" ; :p1 600 ; :p2 7 ; :p3 1.5 ; :p4 "Ada Bell" .
:tin a :Sample ; rdfs:label "Tin" ; :p1 505 ; :p2 4 ; :p3 1.5 ; :p4 "Ada Bell" .
"""


@for_each(
    ("question", "rows"),
    ("At what temperature does gold melt?", [["1337"]]),
    ("In which storage bin do I find Lead?", [["7"]]),
)
def test_a_close_relation_answers_the_question(
    question: str, rows: list[list[str]], tmp_path: Path
) -> None:
    outcome = asked(question, tmp_path, SAMPLES)
    assert outcome["status"] == "answer"
    assert [[str(cell) for cell in row] for row in outcome["rows"]] == rows


@for_each("question", "What does gold cost?", "Which colour is gold?", "How old is lead?")
def test_what_no_relation_is_close_to_is_not_answered(question: str, tmp_path: Path) -> None:
    assert asked(question, tmp_path, SAMPLES)["status"] != "answer"


@for_each(
    ("narrowed", "plain"),
    ("What is the average hardness of a magnetic sample?", "What is the average hardness?"),
    ("Which sample owner has bin number 7?", "Which sample has bin number 7?"),
)
def test_a_word_that_narrows_what_is_asked_leaves_a_doubt(
    narrowed: str, plain: str, tmp_path: Path
) -> None:
    doubted, clear = (asked(text, tmp_path, SAMPLES) for text in (narrowed, plain))
    assert clear["status"] == "answer" and clear["confidence"] > 0.6 > doubted["confidence"]


@for_each(
    ("question", "plain"),
    ("How many projects use Scala?", "How many projects Scala?"),
    ("Which licence does everyone use for Flink?", "Which licence for Flink?"),
    ("What kind of licence does River have?", "What licence does River have?"),
)
def test_fillers_hardly_lower_the_confidence(question: str, plain: str, tmp_path: Path) -> None:
    with_fillers, without = (asked(text, tmp_path, PROJECTS) for text in (question, plain))
    assert with_fillers["status"] == without["status"] == "answer"
    assert with_fillers["rows"] == without["rows"]
    assert with_fillers["confidence"] > without["confidence"] - 0.2


@for_each(
    ("question", "words"),
    ("How many moons does Mars have?", ["moons"]),
    ("Which planets have rings?", ["planets"]),
    ("Who discovered Titan?", ["discovered"]),
    ("Does Mars have moons?", []),
    ("Planets with rings", []),
)
def test_words_that_say_what_is_asked_for(question: str, words: list[str], space: Known) -> None:
    proposal = space.proposal(question)
    subject = FaultContext(proposal, cluster_candidates(proposal.candidates)[0].best)
    found = [proposal.question.tokens[at].text for at in find_requested_tokens(subject)]
    assert found == words


def test_an_unheard_request_is_never_sure(space: Known) -> None:
    numbers = (
        "inhabitants does Mars have?",
        "citizens does Jupiter have?",
        "committers has Titan?",
    )
    for question in (*(f"How many {x}" for x in numbers), "Who taught Titan?", "Who found Haumea?"):
        assert decide(space.proposal(question)).confidence < 0.5


def test_a_word_that_also_names_something_unused_is_never_sure() -> None:
    for graph, language, question in (
        ("rivers", "en", "lamps of Ems"),
        ("space", "fr", "Combien de comètes par découvreur ?"),
    ):
        proposal = graph_named(graph).proposal(question, language)
        assert decide(proposal).confidence <= MAX_DOUBTED_CONFIDENCE
