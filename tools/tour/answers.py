"""Pictures of answers to random questions, for a reader who does not know the right ones."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser
from playwright.sync_api import Error as BrowserError
from tests.server.browser.watched import Watch, ask_anew
from tests.servers.served import ServedThread
from tools.natural_cases import FOLDERS

from askgraph import sample
from askgraph.evaluation.files import write_lines
from askgraph.workspace import Workspace

__all__ = ["picture_answers"]

COLUMNS = ("sparql", "also", "answers", "labels")


def picture_answers(
    data: Path, out: Path, browser: Browser, folder: Path, *, count: int, seed: int
) -> int:
    """Ask random questions on the page; write a picture of each answer, and two files.

    `answers.jsonl` says what the page says of each question, `gold.jsonl` what is right. Return 1
    if something went wrong on the page.
    """
    natural = data / FOLDERS["natural"]
    items = [*_read(natural / "questions.jsonl"), *_read(sample.questions_path())]
    items = random.Random(seed).sample(items, count)
    out.mkdir(parents=True, exist_ok=True)
    workspace = Workspace(folder)
    for kg in {item.get("kg") for item in items}:
        path = natural / "kg" / kg if kg else sample.graph_path()
        workspace.add(path.stem, [path])
    with ServedThread(workspace) as server:
        watch = Watch(browser, server.url)
        page, answers = watch.page(), list[dict[str, Any]]()
        for number, item in enumerate(items, 1):
            print(f"{number}/{count} {item['question']}", file=sys.stderr, flush=True)
            name = f"{number:02}.png"
            graph = Path(item.get("kg") or sample.graph_path()).stem
            try:
                ask_anew(page, item["question"], graph)
            except (AssertionError, BrowserError) as error:
                watch.wrong.append(f"{number}: {error}")
            page.screenshot(path=out / name, full_page=True)
            run = page.url.rpartition("/run/")[2]
            answer = page.request.get(f"{server.url}/api/v1/runs/{run}").json().get("answer") or {}
            word = page.locator(".confidence-word")
            answers.append(
                {"picture": name, "question": item["question"], "graph": graph}
                | {key: answer.get(key) for key in ("status", "sentence", "words", "reason")}
                | {"confidence": word.first.inner_text() if word.count() else ""}
            )
        watch.close()
    write_lines(out / "answers.jsonl", answers)
    gold = enumerate(items, 1)
    write_lines(
        out / "gold.jsonl",
        [{"picture": f"{n:02}.png", **{key: item.get(key) for key in COLUMNS}} for n, item in gold],
    )
    for fault in watch.faults():
        print(f"WRONG: {fault}", file=sys.stderr)
    return int(bool(watch.faults()))


def _read(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.with_suffix(".jsonl").read_text("utf-8").splitlines())
