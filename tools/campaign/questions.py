"""Questions made of pieces of real ones, and of whatever people paste, asked of the sample graph.

    python -m tools.campaign.questions [--number 1000] [--characters 100000] [--seed 0]

A question is survived if there is an answer, a question back or a refusal, without an exception and
within two seconds of the processor; within one, if it is a piece that was repeated until it had so
many characters. Half of the others follow another question.
"""

import asyncio
import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tools.campaign._tries import Tried, main, workspace
from tools.campaign.grammar import spoil

from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.methods.graph_search import GraphSearch
from askgraph.trace import Outcome, Question, build_follow_up
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method

SECONDS = 2.0
CAME = ("Answer", "Clarification", "Refusal")
_TEXTS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
PARTS, PASTED = _TEXTS["repeated"], _TEXTS["pasted"]


def made(known: list[str], number: int, seed: int) -> Iterator[str]:
    """Yield so many questions: words of one or two, with some lost, twice, turned or pasted."""
    chance = Random(seed)
    for _ in range(number):
        some = chance.sample(known, chance.choice((1, 1, 2)))
        words = [word for text in some for word in text.split()]
        for _ in range(chance.randint(1, 5)):
            at = spoil(words, chance, PASTED, turned=2)
            if at is not None and at < len(words):
                letters = list(words[at])
                chance.shuffle(letters)
                words[at] = "".join(letters)
        yield " ".join(words)


def long(characters: int) -> dict[str, str]:
    """Return questions of so many characters, by the piece that is repeated."""
    return {part: (part * (characters // len(part) + 1))[:characters] for part in (*PASTED, *PARTS)}


async def asked(place: Path, texts: list[str], pieces: dict[str, str]) -> list[Tried]:
    """Ask them all, every second one after the question before; what came of each."""
    found = []
    graph = Workspace(workspace(place)).graph("space")
    last: tuple[Question, Outcome] | None = None

    async def tried(what: str, how: str, question: Question, most: float) -> Outcome | None:
        began, outcome = time.process_time(), None
        try:
            outcome = await ask_method(question, GraphSearch(), [graph])
            came = type(outcome).__name__
            fault = "" if came in CAME else came
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            fault = came = f"{type(error).__name__}: {error}"[:200]
        seconds = time.process_time() - began
        if seconds > most:
            fault = fault or f"{seconds:.2f} s of the processor"
        found.append(Tried(what, how, fault, seconds, came))
        return outcome

    await tried("the first", "", Question("What is there?"), 60)
    for number, text in enumerate(texts):
        follows = number % 2 and last
        question = build_follow_up(text, *last) if follows and last else Question(text)
        what = "after another" if follows else "by itself"
        if outcome := await tried(what, repr(text), question, SECONDS):
            last = question, outcome
    for piece, text in pieces.items():
        await tried(f"of {len(text):,} characters", repr(piece), Question(text), SECONDS / 2)
    await graph.endpoint.close()
    return found[1:]


def campaign(folder: Path, given: Namespace) -> list[Tried]:
    """Ask the made ones and the long ones."""
    known = [one.text for one in read_questions(sample.questions_path().with_suffix(".jsonl"))]
    texts = list(made(known, given.number, given.seed))
    return asyncio.run(asked(folder, texts, long(given.characters) if given.characters else {}))


if __name__ == "__main__":
    options = {
        "number": (1000, "questions that are made"),
        "characters": (100_000, "of each of the long ones; 0 for none"),
        "seed": (0, "another makes others"),
    }
    sys.exit(main(__doc__, campaign, numbers=options))
