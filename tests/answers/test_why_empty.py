"""For an empty result: the part that leaves nothing, and what small changes give."""

import tomllib
from pathlib import Path

import pytest
from tests.answers.conftest import PREFIX, Counting, Slow
from tests.each import for_each

from askgraph.answers.why_empty import EmptyResultReason, analyse_empty_result, explain_empty_result
from askgraph.errors import TimedOut


async def why(query: str, endpoint: Counting, budget: int = 12) -> EmptyResultReason:
    endpoint.requests = 0
    found = await analyse_empty_result(PREFIX + query, endpoint, budget=budget)
    assert endpoint.requests <= budget
    assert found is not None
    for suggestion in found.suggestions:
        result = await endpoint.select(suggestion.query)
        assert len(result.rows) == suggestion.results > 0
    return found


def changes(found: EmptyResultReason) -> dict[str, int]:
    return {suggestion.change: suggestion.results for suggestion in found.suggestions}


@for_each(
    ("query", "pattern", "change", "results"),
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["changes"],
)
async def test_the_part_is_named_and_a_change_is_counted(
    query: str, pattern: str, change: str, results: int, small: Counting
) -> None:
    found = await why(query, small)
    assert changes(found).get(change) == results
    assert pattern in found.pattern


async def test_a_mistyped_name_is_replaced_by_the_nearest_in_spelling(small: Counting) -> None:
    for query, change in (
        ("SELECT ?m { :Mars :mas ?m }", "with mass instead of this predicate"),
        ("SELECT ?x { ?x a :Moom }", "of the class Moon"),
    ):
        assert (await why(query, small)).suggestions[0].change == change


async def test_two_parts_that_each_leave_nothing_are_found_by_growing(small: Counting) -> None:
    found = await why("SELECT ?m { ?m a :Moon ; :orbits :Pluto ; :mass 77 }", small)
    assert "Pluto" in found.pattern
    assert found.reason == "Adding “some moon · orbits · Pluto” leaves no results."


async def test_what_comes_after_the_patterns_is_named(small: Counting) -> None:
    query = "SELECT ?p { ?m :orbits ?p } GROUP BY ?p HAVING(COUNT(*) > 5)"
    assert "HAVING" in (await why(query, small)).reason
    assert (await why("SELECT ?p { ?p a :Moon } OFFSET 9", small)).pattern == "OFFSET 9"
    assert (await why("SELECT ?p { ?p a :Moon } LIMIT 0", small)).pattern == "LIMIT 0"


async def test_it_reads_as_a_sentence(small: Counting) -> None:
    query = PREFIX + "SELECT ?x { ?x a :Planet ; :mass ?m FILTER(?m > 100) }"
    assert await explain_empty_result(query, small) == (
        "Everything else has results, but “mass is more than 100” fits none of them. "
        "Alternatives: without this condition: 2 results; the highest value is 48.7: 1 result."
    )


@for_each(
    ("language", "reason"),
    [
        (
            "de",
            "Alles andere hat Ergebnisse, aber „Dinge mit „mass“ über 100“ trifft auf keines zu. "
            "Stattdessen: ohne diese Bedingung: 2 Ergebnisse; der höchste Wert ist 48.7: "
            "1 Ergebnis.",
        ),
        (
            "fr",
            "Tout le reste a des résultats, mais « Éléments avec « mass » supérieur à 100 » ne "
            "vaut pour aucun d’eux. À la place : sans cette condition : 2 résultats; la valeur la "
            "plus haute est 48.7 : 1 résultat.",
        ),
        (
            "es",
            "Todo lo demás tiene resultados, pero «Elementos con «mass» mayor que 100» no se "
            "cumple en ninguno. En su lugar: sin esta condición: 2 resultados; el valor más alto "
            "es 48.7: 1 resultado.",
        ),
    ],
)
async def test_it_reads_in_the_language_of_the_question(
    language: str, reason: str, small: Counting
) -> None:
    query = PREFIX + "SELECT ?x { ?x a :Planet ; :mass ?m FILTER(?m > 100) }"
    assert await explain_empty_result(query, small, language=language) == reason


async def test_an_ask_that_is_false_is_explained(small: Counting) -> None:
    found = await explain_empty_result(PREFIX + "ASK { :Mars :orbits :Phobos }", small)
    assert found == (
        "Nothing in the graph matches “Mars · orbits · Phobos”. "
        "Alternatives: in the other direction: 1 result."
    )


async def test_a_result_or_no_query_needs_no_reason(small: Counting) -> None:
    assert await explain_empty_result(PREFIX + "SELECT ?x { ?x a :Moon }", small) is None
    assert await explain_empty_result("hello", small) is None
    assert await explain_empty_result("SELECT * {}", small) is None


@for_each("budget", [0, 1, 2, 3, 5])
async def test_a_small_budget_is_kept(budget: int, small: Counting) -> None:
    query = "SELECT ?x { ?x a :Planet ; :orbits ?y ; :mass ?m ; :in ?z FILTER(?m > 1) }"
    before = small.requests
    await analyse_empty_result(PREFIX + query, small, budget=budget)
    assert small.requests - before <= budget


async def test_a_failing_endpoint_is_told_of(slow: Slow) -> None:
    with pytest.raises(TimedOut):
        await explain_empty_result(PREFIX + "SELECT ?x { ?x a :Nothing }", slow)
