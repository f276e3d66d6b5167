"""Two results of one query compared: what came, what went, and what has other values."""

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.server.rest.boards import compare_answers
from askgraph.server.runs import AnswerView, to_answer_view
from askgraph.sparql.results import SelectResult, Term
from askgraph.trace import Answer


def thing(name: str) -> NamedNode:
    return NamedNode(f"https://e.org/{name}")


def view(*rows: Sequence[Term | None], limit: int = 500) -> AnswerView:
    columns = tuple("abc"[: len(rows[0])]) if rows else ("a",)
    answer = Answer(
        query="SELECT * WHERE { ?a ?b ?c }",
        graph="g",
        result=SelectResult(columns, tuple(map(tuple, rows))),
        answer_columns=columns,
        confidence=1.0,
        words="",
    )
    return to_answer_view(answer, limit=limit)


def counts(before: AnswerView, after: AnswerView) -> tuple[int, int, int]:
    found = compare_answers(before, after)
    return found.added, found.gone, found.changed


ALMA, BRIX, COVE = (thing(name) for name in ("Alma", "Brix", "Cove"))


def test_what_counts_as_a_change() -> None:
    # Rows that only moved are the same.
    assert counts(view((ALMA,), (BRIX,)), view((BRIX,), (ALMA,))) == (0, 0, 0)
    # A row that is there once more is new.
    before, after = view((ALMA,)), view((ALMA,), (ALMA,))
    assert counts(before, after) == (1, 0, 0) and counts(after, before) == (0, 1, 0)
    # The same thing with another value is changed and says what it was.
    before = view((Literal(4), ALMA), (Literal(7), BRIX))
    found = compare_answers(before, view((Literal(4), ALMA), (Literal(9), BRIX)))
    assert (found.added, found.gone, found.changed) == (0, 0, 1)
    (row,) = found.rows
    assert row.row == 1 and row.was is not None
    assert [cell.value for cell in row.was if cell] == ["7", BRIX.value]
    # A thing that is now with another thing is changed.
    before = view((ALMA, thing("Ann")), (BRIX, thing("Bob")), (COVE, thing("Bob")))
    after = view((ALMA, thing("Ann")), (BRIX, thing("Ann")), (COVE, thing("Bob")))
    assert counts(before, after) == (0, 0, 1)
    # A single value is changed and not gone.
    assert counts(view((Literal(3),)), view((Literal(4),))) == (0, 0, 1)
    assert counts(view((ALMA,)), view((BRIX,))) == (0, 0, 1)
    # Rows that nothing names come and go.
    before = view((ALMA, Literal(1)), (ALMA, Literal(1)))
    after = view((ALMA, Literal(1)), (ALMA, Literal(2)))
    assert counts(before, after) == (1, 1, 0)
    # What was empty has new rows and what is empty has lost them.
    assert counts(view(), view((ALMA,), (BRIX,))) == (2, 0, 0)
    lost = compare_answers(view((ALMA,), (BRIX,)), view()).lost
    assert [row[0] and row[0].value for row in lost] == [ALMA.value, BRIX.value]
    # Values that are written otherwise are others but blank nodes are not.
    assert counts(view((BlankNode("x"), ALMA)), view((BlankNode("y"), ALMA))) == (0, 0, 0)
    german, plain = Literal("a", language="de"), Literal("a")
    assert counts(view((ALMA, plain)), view((ALMA, german))) == (0, 0, 1)
    assert counts(view((ALMA, None)), view((ALMA, plain))) == (0, 0, 1)
    # Rows beyond those kept are not compared and it says so.
    before = view((ALMA,), (BRIX,), (COVE,), limit=2)
    found = compare_answers(before, view((ALMA,), (BRIX,), (thing("Dory"),), limit=2))
    assert (found.added, found.gone, found.partly) == (0, 0, True)
