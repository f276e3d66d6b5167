"""Graph search's candidates as a model sees them: in words, with their results."""

from tests.tools.exploring import called, line_with

from askgraph.graph import KnowledgeGraph


async def test_a_candidate_has_words_in_quotes_its_query_and_its_rows(
    space: KnowledgeGraph,
) -> None:
    found = await called(space, "propose_queries", question="Which moons orbit Saturn?")

    assert '1. "The moons that orbit Saturn."' in line_with(found, "1. ")
    assert "ont:orbits space:Saturn" in found.text and "PREFIX" not in found.text
    assert found.answer is not None and found.answer.result.rows
    assert "https://example.org/space/Saturn" in found.seen


async def test_words_that_are_not_used_are_named_once_and_not_all_of_many(
    space: KnowledgeGraph,
) -> None:
    filler = " ".join(f"quux{n} quux{n}" for n in range(40))
    found = await called(space, "propose_queries", question=f"Which moons orbit Saturn? {filler}")

    left = line_with(found, "1. ").split("(not used: ")[1].split(")")[0]
    words = left.split(", ")
    assert len(words) == len(set(words)) == 9 and words[-1] == "…"


async def test_no_candidate_is_no_row(space: KnowledgeGraph) -> None:
    found = await called(space, "propose_queries", question="Quux?")

    assert found.rows == 0 and found.answer is None
