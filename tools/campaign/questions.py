"""Questions made of pieces of real ones, and of whatever people paste, asked of the sample graph.

    python tools/campaign/questions.py [--number 1000] [--seed 0] [--json FILE]

A question is survived if there is an answer, a question back or a refusal, without an exception and
within two seconds of the processor. Half of them follow another question.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.methods.graph_search import GraphSearch
from askgraph.operations import outcome_of
from askgraph.trace import Outcome, Question, follow_up
from askgraph.workspace import Workspace

SECONDS = 2.0
PASTED = (
    "?", "!!!", "…", "👩‍🚀🚀", "\u202e", "\u0000", "\ud800", "NaN", "1e999", "-0", "9" * 40, "١٩٦٩",
    "a" * 300, "<script>", "SELECT * { ?s ?p ?o }", "' OR 1=1 --", "${x}", "http://example.org/a b",
    "{{7*7}}", "not", "no", "or", "and", "than", "between", "per", "top", "first", "last",
    "how many", "each",
    "ни", "月", "ﬁ", "İ", "ß", "\n\n", "\t", "(", ")", "[", '"', "«", "12/31/1999", "30 February",
)  # fmt: skip


def made(known: list[str], number: int, seed: int) -> Iterator[str]:
    """Yield so many questions: words of one or two, with some lost, twice, turned or pasted."""
    chance = Random(seed)
    for _ in range(number):
        some = chance.sample(known, chance.choice((1, 1, 2)))
        words = [word for text in some for word in text.split()]
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(words) + 1)
            match chance.randrange(5):
                case 0:
                    del words[at : at + 1]
                case 1:
                    words[at:at] = words[at : at + 3]
                case 2:
                    words[at:at] = [chance.choice(PASTED)]
                case 3:
                    words[at : at + 2] = reversed(words[at : at + 2])
                case _ if at < len(words):
                    letters = list(words[at])
                    chance.shuffle(letters)
                    words[at] = "".join(letters)
        yield " ".join(words)


async def asked(texts: list[str]) -> list[dict[str, object]]:
    """Ask them all, every second one after the question before; what came of each."""
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        workspace.add("space", [sample.graph_path()])
        graph = workspace.graph("space")
        await outcome_of(Question("What is there?"), GraphSearch(), [graph])
        last: tuple[Question, Outcome] | None = None
        for number, text in enumerate(texts):
            began, came = time.process_time(), "an exception"
            question = follow_up(text, *last) if number % 2 and last else Question(text)
            try:
                outcome = await outcome_of(question, GraphSearch(), [graph])
                came = type(outcome).__name__
                last = question, outcome
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                came = f"{type(error).__name__}: {error}"[:200]
            seconds = time.process_time() - began
            fine = came in ("Answer", "Clarification", "Refusal") and seconds <= SECONDS
            told = {"question": text, "came": came, "seconds": round(seconds, 3), "survived": fine}
            found.append(told)
        await graph.endpoint.close()
    return found


def main() -> int:
    """Ask them and print what was not survived; return 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write what came to this file")
    given = parser.parse_args()
    known = [one.text for one in read_questions(sample.questions_path().with_suffix(".jsonl"))]
    found = asyncio.run(asked(list(made(known, given.number, given.seed))))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    lost = [one for one in found if not one["survived"]]
    for one in lost[:20]:
        print(f"{one['question']!r}: {one['came']}, {one['seconds']} s")
    print(f"slowest {max(float(str(one['seconds'])) for one in found):.2f} s of the processor")
    print(f"tried {len(found)}, survived {len(found) - len(lost)}")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
