"""Questions of time and of units, over graphs with starts and ends, ranks, ages and units.

`questions.jsonl` was written before what answers it, `held_out.jsonl` after it, and asked once
before anything was changed for it. `mended.jsonl` are questions that were once answered wrongly.
"""

from datetime import date

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.temporal.asked import TODAY, Asked, answer_of, graph_of, known, proposal_of, questions_in

from askgraph.search.decide import choose_outcome, decide
from askgraph.search.rank import cluster_candidates

HELD_OUT = 43


def is_right(one: Asked) -> bool:
    return one.answers in answer_of(graph_of(one.graph), one.question, one.language)


def test_so_many_questions_over_other_graphs_are_answered_right() -> None:
    questions = questions_in("held_out.jsonl")
    wrong = [one.question for one in questions if not is_right(one)]

    assert len(questions) - len(wrong) >= HELD_OUT, wrong


@for_each("one", questions_in("questions.jsonl") + questions_in("mended.jsonl"))
def test_what_is_asked_for_is_found(one: Asked) -> None:
    assert is_right(one)


def best(name: str, question: str, *, today: date = TODAY) -> str:
    graph = graph_of(name)
    candidates = proposal_of(graph, question, today=today).candidates
    return graph.query(cluster_candidates(candidates)[0].best.query)


@for_each(
    "question",
        "Who was director of Acme in 12000?", "Who was director of Acme in 99999?",
        "Who was director of Acme in the year 0?", "Who worked for Acme on 31 February 2010?",
        "Which projects started in 2023?", "Which projects started last year?",
        "Which projects started next year?", "Who was director of Acme before 20 years?",
)  # fmt: skip
def test_a_time_that_nothing_is_at_is_not_passed_over_in_silence(question: str) -> None:
    decision = decide(proposal_of(graph_of("office"), question))

    assert choose_outcome(decision.confidence, is_doubtful=decision.is_doubtful) != "answer"


def test_what_is_current_depends_on_the_day() -> None:
    office = graph_of("office")
    question = "Which projects are currently running?"

    assert answer_of(office, question, today=date(2003, 6, 1)) == [frozenset({"Orion", "Lyra"})]
    assert answer_of(office, question, today=date(2024, 6, 30)) == [frozenset({"Altair", "Spica"})]
    assert answer_of(office, question, today=date(2031, 1, 1)) == [frozenset({"Altair"})]


def test_an_age_is_counted_to_the_day() -> None:
    office = graph_of("office")

    def age(today: date) -> list[frozenset[str]]:
        return answer_of(office, "How old is Cleo Marsh?", today=today)

    assert age(date(2024, 1, 4)) == [frozenset({"35"})]
    assert age(date(2024, 1, 5)) == [frozenset({"36"})]


@for_each(
    ("graph", "question", "parts", "absent"),
    [  # a point in time, a span; a constant converted, each number, none; ranks
        ("office", "Which projects started in 2003?", "", "NOT EXISTS"),
        ("office", "Which projects were active in 2003?", "NOT EXISTS", "\0"),
        ("bridges", "Which bridges are longer than 2 km?", "> 2000", "BIND"),
        ("bridges", "Which ferries have a displacement of more than 500 tonnes?",
         "VALUES; unit:KiloGM 0.001; unit:TONNE 1", "\0"),
        ("bridges", "Which trucks are heavier than 2 tonnes?", "", "length"),
        ("statements", "Who is the head of government of Norburg?", "wikibase:PreferredRank", "\0"),
        ("statements", "Who was head of government of Norburg in 2001?", "wikibase:DeprecatedRank",
         "PreferredRank"),
    ],
)  # fmt: skip
def test_queries_hold_what_times_units_and_ranks_need(
    graph: str, question: str, parts: str, absent: str
) -> None:
    query = best(graph, question)
    assert all(part in query for part in parts.split("; ")) and absent not in query, query


def test_a_graph_without_dates_has_no_operators_of_time() -> None:
    plain = known(
        "@prefix : <http://x.example/> . "
        ':a a :Shop ; :name "Current Affairs" . :b a :Shop ; :name "Former Glory" .'
    )
    frame = proposal_of(plain, "Which former shops are currently active in 1990?").operators

    assert not frame.get_operators("now", "past", "ongoing", "at")


def test_a_variable_never_has_a_name_that_sparql_forbids() -> None:
    area = known(
        "@prefix : <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
        ':area rdfs:label "area (km²)" . :a a :Lake ; rdfs:label "Blue Lake" ; :area 12 . '
        ':b a :Lake ; rdfs:label "Red Lake" ; :area 3 .'
    )

    assert answer_of(area, "What is the area of Blue Lake?") == [frozenset({"12"})]


YEARS = st.integers(1950, 2020)
TERMS = st.lists(st.tuples(YEARS, st.none() | st.integers(0, 30)), min_size=1, max_size=6)


@settings(deadline=None, max_examples=15)
@given(terms=TERMS, year=YEARS)
@example(terms=[(1990, 5), (1995, None)], year=1995)
def test_holders_had_begun_and_not_ended(terms: list[tuple[int, int | None]], year: int) -> None:
    lines = [
        "@prefix : <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        ':Guild a :Body ; rdfs:label "Guild" . :p0 a :Person ; rdfs:label "Person Zero" .',
        ':t0 a :Term ; :warden :p0 ; :of :Guild ; :from "1900-01-01"^^xsd:date ; '
        ':until "1901-01-01"^^xsd:date .',
    ]
    for at, (start, length) in enumerate(terms, 1):
        end = "" if length is None else f' ; :until "{start + length}-12-31"^^xsd:date'
        lines.append(f':p{at} a :Person ; rdfs:label "Person {at}" .')
        lines.append(
            f':t{at} a :Term ; :warden :p{at} ; :of :Guild ; :from "{start}-01-01"^^xsd:date{end} .'
        )
    held = {
        f"p{at}"
        for at, (start, length) in enumerate(terms, 1)
        if start <= year and (length is None or start + length >= year)
    }
    if not held:
        return

    assert held in answer_of(known("\n".join(lines)), f"Who was warden of the Guild in {year}?")
