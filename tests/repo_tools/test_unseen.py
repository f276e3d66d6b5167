"""Styles measured by weights that saw none of them, runs that go on after a stop, the figures."""

import gzip
import json
from pathlib import Path

import pytest
from tools.unseen import Attempt, Work, measured, table

GRAPH = """@prefix : <http://example.org/{name}/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Boat rdfs:label "boat" .
:length rdfs:label "length" .
:a a :Boat ; rdfs:label "Albatross" ; :length 12 ; :speed 4 .
:b a :Boat ; rdfs:label "Bittern" ; :length 20 .
:c a :Boat ; rdfs:label "Curlew" ; :length 31 .
"""
PREFIXES = (
    "PREFIX : <http://example.org/{name}/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
)
QUESTIONS = [
    ("Which boats are there?", "SELECT ?n WHERE { ?b a :Boat ; rdfs:label ?n }"),
    ("What is the length of the Bittern?", "SELECT ?l WHERE { :b :length ?l }"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two graphs in two styles, with the same questions."""
    folder = tmp_path / "data"
    (folder / "kg").mkdir(parents=True)
    lines = []
    for name, style in (("north", "A"), ("south", "B")):
        (folder / "kg" / f"{name}.ttl").write_text(GRAPH.replace("{name}", name))
        for at, (text, query) in enumerate(QUESTIONS):
            gold = PREFIXES.replace("{name}", name) + query
            line = {"id": f"{name}-{at}", "kg": f"{name}.ttl", "question": text, "sparql": gold}
            lines.append(json.dumps({**line, "tags": [name, f"style:{style}"]}))
    (folder / "questions.jsonl").write_text("\n".join(lines))
    return folder


def test_a_run_fits_nothing_to_the_style_it_measures_and_counts_names(
    data: Path, tmp_path: Path
) -> None:
    work = Work(data, tmp_path / "cache")

    found = {one.id: one for one in measured(work)}

    assert sorted(found) == ["north-0", "north-1", "south-0", "south-1"]
    assert [found["north-0"].f1, found["north-0"].by_name] == [0.0, 1.0]
    assert found["south-1"].f1 == 1.0
    assert {one.style for one in found.values()} == {"A", "B"}


def test_what_was_done_is_not_done_again(data: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    work = Work(data, cache, jobs=1)
    first = measured(work, as_it_is=True)
    kept = cache / "attempts" / "north.json.gz"
    attempts = json.loads(gzip.decompress(kept.read_bytes()))
    attempts[0]["by_name"] = 0.25
    kept.write_bytes(gzip.compress(json.dumps(attempts).encode()))

    again = measured(work, as_it_is=True)

    assert [one.by_name for one in again] == [0.25, *(one.by_name for one in first[1:])]


def _outcome(at: int, by_name: float, confidence: float, style: str = "A") -> Attempt:
    return Attempt(f"q{at}", "g", style, by_name=by_name, confidence=confidence)


def test_the_table_counts_sure_answers_and_those_that_are_wrong() -> None:
    found = [_outcome(0, 1.0, 0.95), _outcome(1, 0.5, 0.9), _outcome(2, 1.0, 0.2)]

    lines = table(found).splitlines()

    assert lines[-1].split()[:3] == ["all", "3", "0.833"]
    assert "0.667  0.500" in lines[-1]
    assert [line.split()[0] for line in lines] == ["style", "A", "all"]
