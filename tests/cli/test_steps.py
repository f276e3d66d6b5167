"""What the terminal shows of an outcome."""

from dataclasses import replace

from askgraph.answers.console import as_text
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer

ANSWER = Answer(
    "ASK {}", "moons", SelectResult((), ()), (), "Is there anything?", 0.5, boolean=True
)


def test_what_a_model_says_of_the_result_stands_beside_how_the_query_reads() -> None:
    said = replace(ANSWER, interpretation="Yes, there is.")

    lines = [" ".join(line.split()) for line in as_text(said, PrefixMap()).splitlines()]

    assert "In words Yes, there is." in lines and "Read as Is there anything?" in lines
    assert "In words" not in as_text(ANSWER, PrefixMap())
