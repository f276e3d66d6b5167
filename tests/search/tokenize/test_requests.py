"""What is asked is found after words that only say why, or ask politely."""

from tests.each import for_each
from tests.search.asking import Known

from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.requests import drop_words_before, find_request_start


def find_request(text: str) -> str:
    reading = tokenize(text)
    return text[drop_words_before(reading, find_request_start(reading)).tokens[0].start :]


@for_each(
    ("reason", "request"),
    ("I'm planning a trip, so ", "which planets have rings?"),
    ("We want to paint the outer ones: ", "how many planets are there?"),
    ("My class is curious, so I wonder: ", "who discovered the most moons?"),
    ("To see how busy the pad was: ", "how many launches were there in 1969?"),
    ("To get a feel for the programme, ", "which missions were crewed?"),
    ("For a school project: ", "which planets have rings?"),
    ("Could you please tell me ", "which planets have rings?"),
    ("Would you mind telling me ", "in which year Apollo 11 flew?"),
    ("Can you kindly ", "give me the names of all moons?"),
    ("I would like to know ", "how many moons there are."),
    ("I'm writing a book, so could you tell me ", "which planets have rings?"),
    ("Ich plane eine Reise: ", "Welche Planeten haben Ringe?"),
    ("Um zu sehen, wie voll es war: ", "Wie viele Starts gab es?"),
    ("Könnten Sie mir bitte sagen, ", "welche Planeten Ringe haben?"),
    ("Quiero hacer un viaje: ¿", "qué planetas tienen anillos?"),
    ("Para preparar una charla: ¿", "cuántas misiones hubo?"),
    ("¿Podría decirme, por favor, ", "qué planetas tienen anillos?"),
    ("Je prépare un voyage, donc ", "quelles planètes ont des anneaux ?"),
    ("Pour préparer un exposé : ", "combien de missions y a-t-il ?"),
    ("Pourriez-vous m'indiquer ", "quelles planètes ont des anneaux ?"),
)
def test_words_that_only_say_why_are_no_part_of_the_request(reason: str, request: str) -> None:
    assert find_request(reason + request) == request


@for_each(
    "question",
    "For planets with rings: how many moons do they have?",
    "For each planet, how many moons are there?",
    "I have to get to 'Gale Crater': which rovers landed?",
    "We launched in 1969: which missions were crewed?",
    "I'm looking for moons that have water: which of them are large?",
    "I like planets, so which have rings?",
    "I'm interested in the largest planet: which moons orbit it?",
    "I'm looking at all crews: how many people does each one have?",
    "To the outer planets, which missions flew?",
    "The largest planet: which is it?",
    "Planets: name, radius",
    "Can a rover fly?",
    "How many kinds of rocket are there: large, small and others?",
)
def test_a_clause_that_narrows_a_request_belongs_to_it(question: str) -> None:
    assert find_request(question) == question


@for_each(
    ("question", "request"),
    ("I'm planning a talk, so which planets have rings?", "which planets have rings?"),
    ("Could you please tell me how many moons Mars has?", "how many moons Mars has?"),
    ("For a school project: which moons orbit Mars?", "which moons orbit Mars?"),
)
def test_a_reason_does_not_change_the_query(question: str, request: str, space: Known) -> None:
    assert space.best_query(question) == space.best_query(request)
    assert space.proposal(question).question.folded_words == tokenize(request).folded_words


@for_each(
    "question",
    "I'm writing about Mars: which moons are there?",
    "For the planets: how many moons are there on average?",
    "We love Zorblax, so which moons are there?",
)
def test_a_name_is_never_lost_with_a_clause(question: str, space: Known) -> None:
    assert space.proposal(question).question.folded_words == tokenize(question).folded_words
