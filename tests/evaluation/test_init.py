"""Tables of values: numbers that count as the same are made equal."""

from askgraph.evaluation import Table, aligned


def numbers(*values: object) -> Table:
    return Table.of_json(["n"], [[value] for value in values])


def test_numbers_within_a_millionth_are_made_equal() -> None:
    one, other = aligned(numbers(1 / 3, 5), numbers(0.33333333, 5.0000001))
    assert one.values() == other.values()


def test_whole_numbers_stay_apart_however_large() -> None:
    one, other = aligned(numbers(10_000_001), numbers(10_000_002, 10_000_001.5))
    assert not one.values() & numbers(10_000_002).values()
    assert len(other.values()) == 2


def test_a_number_further_off_stays_apart() -> None:
    one, other = aligned(numbers(1.0001), numbers(1.0002))
    assert not one.values() & other.values()


def test_a_number_too_large_for_a_double_is_not_any_large_number() -> None:
    one, other = aligned(numbers("1e400"), numbers("1e300"))
    assert not one.values() & other.values()
