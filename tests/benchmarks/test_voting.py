"""The vote of methods that err on different questions is better than each of them."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "voting.py"
PREFIXES = (
    "PREFIX space: <https://example.org/space/> PREFIX ont: <https://example.org/space/ontology#> "
)
RIGHT = {
    "001": "SELECT ?d { space:Mars ont:diameter ?d }",
    "002": "SELECT ?x { space:Titan ont:discoverer ?x }",
    "016": "SELECT ?day { space:Apollo_11 ont:launchDate ?day }",
}
WRONG = {
    "one": {"001": "SELECT ?d { space:Earth ont:diameter ?d }"},
    "two": {"002": "SELECT ?x { space:Titan ont:orbits ?x }"},
    "three": {"016": "SELECT nonsense"},
}


def test_each_question_goes_to_the_two_that_agree(tmp_path: Path) -> None:
    files = []
    for method, wrong in WRONG.items():
        lines = [
            json.dumps({"id": key, "query": PREFIXES + query, "confidence": 0.5})
            for key, query in {**RIGHT, **wrong}.items()
        ]
        path = tmp_path / f"{method}.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        files.append(f"{method}={path}")

    done = subprocess.run(
        [sys.executable, SCRIPT, *files], capture_output=True, text=True, check=True
    )

    figures = {
        cells[0]: cells[3]
        for line in done.stdout.splitlines()[1:]
        if len(cells := [cell.strip() for cell in line.split("|")]) > 3
    }
    assert figures["one"] == figures["two"] == figures["three"] == "0.667"
    assert figures["vote"] == figures["oracle"] == "1.000"
    assert figures["vote - best single"].startswith("+0.333 [")
