"""What compares the rows of a group has the values that Python computes, with ties and gaps."""

import random
import tomllib
from collections import Counter
from pathlib import Path
from statistics import mean, median

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import verbalize_query

DATA = tomllib.loads(Path(__file__).with_name("windows.toml").read_text("utf-8"))
Boat = tuple[str, str, int, int, bool]  # name, harbour, length or 0, year, whether it is a raft


def make_boats(seed: int, count: int) -> list[Boat]:
    pick = random.Random(seed)
    boats = (
        (pick.randrange(4), pick.choice([0, *range(2, 9)]), pick.random()) for _ in range(count)
    )
    return [
        (f"b{number}", f"h{harbour}", length, pick.randrange(1980, 2006), chance < 0.4)
        for number, (harbour, length, chance) in enumerate(boats)
    ]


def make_graph(boats: list[Boat]) -> Known:
    lines = [f':h{number} a :Harbour ; rdfs:label "Port {number}" .' for number in range(4)]
    for name, harbour, length, year, is_raft in boats:
        kind, size = ":Boat, :Raft" if is_raft else ":Boat", f"; :length {length}" * bool(length)
        built = f'; :built "{year}-05-01"^^xsd:date'
        lines.append(
            f':{name} a {kind} {size} {built} ; :harbour :{harbour} ; rdfs:label "{name}" .'
        )
    return Known(store_of(DATA["graph"] + "\n".join(lines)))


def percentile(values: list[int], percent: float) -> float:
    """The mean of the values with at most so many lower ones, and at most the rest higher."""
    most = percent * len(values) / 100, (100 - percent) * len(values) / 100
    bounds = ((v, sum(o < v for o in values), sum(o > v for o in values)) for v in {*values})
    return mean(v for v, lower, higher in bounds if lower <= most[0] and higher <= most[1])


def rows(known: Known, question: str) -> dict[tuple[str, ...], float]:
    return {row[:-1]: float(row[-1]) for row in known.best_rows(question)}


@for_each("seed", range(4))
def test_counts_of_two_things_are_compared(seed: int) -> None:
    boats = make_boats(seed, 20 + 7 * seed)
    known, counts = make_graph(boats), Counter(boat[1] for boat in boats)
    more = {(name,): n for name, n in counts.items() if n > counts["h1"]}
    fewer = {(f"h{at}",): counts[f"h{at}"] for at in range(4) if counts[f"h{at}"] < counts["h1"]}
    beyond = {(name,): n for name, n in counts.items() if n > mean(counts.values())}

    assert rows(known, "Which harbours have more boats than Port 1?") == more
    assert rows(known, "Which harbours have fewer boats than Port 1?") == fewer
    assert rows(known, "Which harbours have more boats than the average?") == beyond
    for question, language in (
        ("How many more boats does Port 1 have than Port 2?", "en"),
        ("Wie viele Boote mehr als Port 2 hat Port 1?", "de"),
    ):
        assert known.best_rows(question, language) == [(str(counts["h1"] - counts["h2"]),)]
    # What names no harbour is not taken for the average.
    assert "AVG" not in known.best_query("Which harbours have more boats than 1990-05-01?")
    query = known.best_query("Does Port 1 have more boats than Port 2?")
    assert known.rows(query) is (counts["h1"] > counts["h2"])


@for_each("seed", range(4))
def test_numbers_are_those_that_python_computes(seed: int) -> None:
    boats = make_boats(seed, 20 + 7 * seed)
    known = make_graph(boats)
    lengths: dict[tuple[str, ...], list[int]] = {}
    for _, harbour, length, *_ in boats:
        lengths.setdefault((harbour,), []).extend([length] if length else [])
    lengths = {key: values for key, values in lengths.items() if values}
    medians = {key: median(values) for key, values in lengths.items()}
    high = {key: percentile(values, 75) for key, values in lengths.items()}
    sizes = [length for _, _, length, *_ in boats]
    fleets = Counter(harbour for _, harbour, *_ in boats)

    assert rows(known, "median length of boats") == {(): median(filter(None, sizes))}
    assert rows(known, "median length of boats for each harbour") == medians
    assert rows(known, "75th percentile of the length of boats per harbour") == high
    assert rows(known, "median number of boats per harbour") == {(): median(fleets.values())}
    longest = {
        (harbour, name)
        for name, harbour, length, *_ in boats
        if length and sum(other > length for other in lengths[(harbour,)]) < 2
    }
    assert set(known.best_rows("the two longest boats of each harbour")) == longest
    counts = Counter((str(year // 10 * 10), harbour) for _, harbour, _, year, _ in boats)
    for question, most in (
        ("Which harbour has the most boats in each decade?", 1),
        ("Which two harbours have the most boats per decade?", 2),
    ):
        first = {
            (harbour, decade)
            for (decade, harbour), number in counts.items()
            if sum(n > number for (other, _), n in counts.items() if other == decade) < most
        }
        assert set(known.best_rows(question)) == first
    rafts_per_harbour = {(): sum(boat[-1] for boat in boats) / 4}
    assert rows(known, "ratio of rafts to harbours") == pytest.approx(rafts_per_harbour, rel=1e-4)


@for_each(("name", "years"), [("year", 1), ("decade", 10)])
def test_periods_add_up_and_change_as_python_computes(name: str, years: int) -> None:
    boats = make_boats(7, 30)
    known = make_graph(boats)
    counts = Counter(year // years * years for *_, year, _ in boats)
    rafts = Counter(year // years * years for *_, year, is_raft in boats if is_raft)
    totals = {(str(end),): sum(n for at, n in counts.items() if at <= end) for end in counts}
    later = range(min(counts) + years, max(counts) + 1, years)
    changes = {
        (str(at),): counts[at] - counts[at - years]
        for at in later
        if counts[at] or counts[at - years]
    }
    shares = {(str(at),): 100 * rafts[at] / counts[at] for at in counts}

    assert rows(known, f"cumulative number of boats per {name}") == totals
    assert rows(known, f"How did the number of boats change from {name} to {name}?") == changes
    found = rows(known, f"What share of boats are rafts per {name}?")
    assert found == pytest.approx(shares, rel=1e-4)


def test_languages_ask_the_same_and_readings_say_what_was_computed() -> None:
    known = make_graph(make_boats(1, 30))
    for asked in DATA["asked"]:
        assert asked["reading"] in verbalize_query(known.best_query(asked["en"]), {})
        for language in ("de", "es", "fr"):
            found = known.best_rows(asked[language], language)
            assert sorted(found) == sorted(known.best_rows(asked["en"])), asked[language]
