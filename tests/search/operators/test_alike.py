"""The same as a thing has, something else than it, and the others beside it."""

from tests.search.asking import Known

from askgraph.search.rank.clusters import clusters


def best_rows(known: Known, question: str) -> set[str]:
    rows = known.rows(known.query(clusters(known.proposal(question).candidates)[0].best.query))
    assert not isinstance(rows, bool)
    return {str(row[-1]).removeprefix("<https://zoo.example/").rstrip(">") for row in rows}


def test_what_has_a_value_in_common_with_a_thing_leaves_the_thing_out(zoo: Known) -> None:
    assert best_rows(zoo, "Which animals live in the same enclosure as Kito?") == {"Tara"}
    assert best_rows(zoo, "Which animals are cared for by the same keeper as Pip?") == {
        "Kito",
        "Tara",
    }


def test_what_has_another_value_than_a_thing(zoo: Known) -> None:
    found = best_rows(zoo, "Which birds are cared for by a different keeper than Pep?")
    assert found == {"Pip"}


def test_the_others_are_those_beside_the_thing_by_which_one_came(zoo: Known) -> None:
    assert best_rows(zoo, "Which other animals live in the enclosure of Kito?") == {"Tara"}
