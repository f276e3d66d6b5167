"""Two results of one query compared: what came, what went, and what has other values."""

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.server.rest.boards import changes_of
from askgraph.server.runs import AnswerView, answer_view
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
    return answer_view(answer, limit=limit)


def counts(before: AnswerView, after: AnswerView) -> tuple[int, int, int]:
    found = changes_of(before, after)
    return found.added, found.gone, found.changed


ALMA, BRIX, COVE = (thing(name) for name in ("Alma", "Brix", "Cove"))


def test_rows_that_only_moved_are_the_same() -> None:
    assert counts(view((ALMA,), (BRIX,)), view((BRIX,), (ALMA,))) == (0, 0, 0)


def test_a_row_that_is_there_once_more_is_new() -> None:
    before, after = view((ALMA,)), view((ALMA,), (ALMA,))
    assert counts(before, after) == (1, 0, 0)
    assert counts(after, before) == (0, 1, 0)


def test_the_same_thing_with_another_value_is_changed_and_says_what_it_was() -> None:
    before = view((Literal(4), ALMA), (Literal(7), BRIX))
    found = changes_of(before, view((Literal(4), ALMA), (Literal(9), BRIX)))
    assert (found.added, found.gone, found.changed) == (0, 0, 1)
    (row,) = found.rows
    assert row.row == 1 and row.was is not None
    assert [cell.value for cell in row.was if cell] == ["7", BRIX.value]


def test_a_thing_that_is_now_with_another_thing_is_changed() -> None:
    before = view((ALMA, thing("Ann")), (BRIX, thing("Bob")), (COVE, thing("Bob")))
    after = view((ALMA, thing("Ann")), (BRIX, thing("Ann")), (COVE, thing("Bob")))
    assert counts(before, after) == (0, 0, 1)


def test_a_single_value_is_changed_and_not_gone() -> None:
    assert counts(view((Literal(3),)), view((Literal(4),))) == (0, 0, 1)
    assert counts(view((ALMA,)), view((BRIX,))) == (0, 0, 1)


def test_rows_that_nothing_names_come_and_go() -> None:
    before = view((ALMA, Literal(1)), (ALMA, Literal(1)))
    after = view((ALMA, Literal(1)), (ALMA, Literal(2)))
    assert counts(before, after) == (1, 1, 0)


def test_what_was_empty_has_new_rows_and_what_is_empty_has_lost_them() -> None:
    assert counts(view(), view((ALMA,), (BRIX,))) == (2, 0, 0)
    lost = changes_of(view((ALMA,), (BRIX,)), view()).lost
    assert [row[0] and row[0].value for row in lost] == [ALMA.value, BRIX.value]


def test_values_that_are_written_otherwise_are_others_but_blank_nodes_are_not() -> None:
    assert counts(view((BlankNode("x"), ALMA)), view((BlankNode("y"), ALMA))) == (0, 0, 0)
    german, plain = Literal("a", language="de"), Literal("a")
    assert counts(view((ALMA, plain)), view((ALMA, german))) == (0, 0, 1)
    assert counts(view((ALMA, None)), view((ALMA, plain))) == (0, 0, 1)


def test_rows_beyond_those_kept_are_not_compared_and_it_says_so() -> None:
    before = view((ALMA,), (BRIX,), (COVE,), limit=2)
    found = changes_of(before, view((ALMA,), (BRIX,), (thing("Dory"),), limit=2))
    assert (found.added, found.gone, found.partly) == (0, 0, True)
