"""Walk through the page in a browser, check every view, and take its picture.

    python -m tools.tour                            # desk, phone, dark, en, de, es, fr
    python -m tools.tour --only phone,de --step draw-years
    python -m tools.tour answers --data ../shared/data --count 40 --seed 1
    python -m tools.tour cover                      # docs/page.png, which the README shows

Every step has a visible fact to check. Besides, the console stays silent, no request fails or
leaves the server, nothing is wider than the window, no English is left in another language, and
axe-core finds nothing, in light or dark. The pictures are OUT/VARIANT/NN-STEP.png. `answers` asks
random questions of the natural set and of the sample, for a reader who does not know the right
answers: those are in another file. Needs Chromium and the built page (`make page`).
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright
from tests.fleet import FLEET
from tests.server.browser.graphs import DEPOTS, TOWNS
from tests.server.browser.watched import ARGUMENTS, CHROMIUM, Watch, ask_anew
from tests.servers.served import ServedThread, sample_workspace
from tools.accuracy_floors import align, data_folder
from tools.tour.acts import run_act
from tools.tour.answers import picture_answers
from tools.tour.walk import START, VARIANTS, Outcome, Step, Walk

from askgraph.server.page import is_built
from askgraph.workspace import Workspace

ROOT = Path(__file__).parents[2]
STEPS = Path(__file__).with_name("steps.toml")
TIMEOUT_MILLISECONDS = 30_000
CLIPBOARD = ["clipboard-read", "clipboard-write"]
COVER_QUESTION = "Which moons are larger than Mercury?"


def main() -> int:
    """Run one of the commands; return 1 if something is wrong."""
    options = _arguments()
    if unknown := {*options.only} - {*VARIANTS}:
        sys.exit(f"tour: there is no variant {min(unknown)!r}, only {', '.join(VARIANTS)}")
    if not is_built():
        sys.exit("the page is not built: make page")
    expect.set_options(timeout=TIMEOUT_MILLISECONDS)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        if options.command == "cover":
            return picture_cover(browser, Path(folder))
        if options.command == "answers":
            drawn = {"count": options.count, "seed": options.seed}
            return picture_answers(options.data, options.out, browser, Path(folder), **drawn)
        outcomes = list(walk_variants(options, browser, Path(folder)))
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=1, ensure_ascii=False))
    else:
        print(format_table(outcomes))
    return int(not outcomes or not all(outcome.has_passed for outcome in outcomes))


def walk_variants(options: argparse.Namespace, browser: Browser, folder: Path) -> Iterator[Outcome]:
    """Walk every variant on a server of its own."""
    steps, questions = Step.read_all(options.steps)
    built = folder / "built"
    built.mkdir()
    workspace = sample_workspace(built)
    for file, content in (("towns.ttl", TOWNS), ("fleet.ttl", FLEET), ("depots.csv", DEPOTS)):
        (built / file).write_text(content, encoding="utf-8")
        workspace.add(Path(file).stem, [built / file])
    for name in options.only:
        variant, pictures = VARIANTS[name], options.out / name
        pictures.mkdir(parents=True, exist_ok=True)
        served = folder / name
        shutil.copytree(built, served)
        with ServedThread(Workspace(served), grace=0) as server:
            watch = Watch(browser, server.url)
            page = watch.page(START, locale=variant.language, permissions=CLIPBOARD, **variant.look)
            context = page.context
            context.set_default_timeout(TIMEOUT_MILLISECONDS)
            for number, step in enumerate(steps, 1):
                if step.name not in (options.step or (step.name,)) or (
                    variant.is_short and not step.is_everywhere
                ):
                    continue
                page = watch.another(context, START) if page.is_closed() else page
                walk = Walk(variant, watch, context, page, questions, served)
                picture = pictures / f"{number:02}-{step.name}.png"
                outcome = Outcome.measure(walk, step, name, picture, run_act)
                page.close()
                _report(outcome, number, len(steps))
                yield outcome
            watch.close()


def _report(outcome: Outcome, number: int, total: int) -> None:
    mark = "ok" if outcome.has_passed else "WRONG"
    lines = [f"{outcome.variant} {number}/{total} {outcome.step}: {mark}, {outcome.seconds} s"]
    for kind in ("check", "console", "axe"):
        lines += (f"    {kind}: {text}" for text in getattr(outcome, kind))
    print("\n".join(lines), file=sys.stderr, flush=True)


def format_table(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each variant, and one for all."""
    lines: list[Sequence[str]] = [("variant", "steps", "passed", "console", "axe", "seconds")]
    names = list(dict.fromkeys(outcome.variant for outcome in outcomes))
    for name in (*names, "all"):
        own = [outcome for outcome in outcomes if name in (outcome.variant, "all")]
        figures = (
            len(own),
            sum(outcome.has_passed for outcome in own),
            sum(len(outcome.console) for outcome in own),
            sum(len(outcome.axe) for outcome in own),
            round(sum(outcome.seconds for outcome in own)),
        )
        lines.append((name, *map(str, figures)))
    return align(lines, gap="  ", side=">")


def picture_cover(browser: Browser, folder: Path) -> int:
    """Take the picture of the page that the README shows."""
    with ServedThread(sample_workspace(folder)) as server:
        page = Watch(browser, server.url).page(width=1100, height=720)
        ask_anew(page, COVER_QUESTION)
        page.screenshot(path=ROOT / "docs" / "page.png")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("command", nargs="?", choices=("walk", "answers", "cover"), default="walk")
    add("--out", type=Path, default=ROOT / "build" / "tour", metavar="DIR")
    add("--only", type=lambda text: text.split(","), default=list(VARIANTS), metavar="VARIANT[,…]")
    add("--step", type=lambda text: text.split(","), default=[], metavar="NAME[,…]")
    add("--steps", type=Path, default=STEPS, metavar="FILE", help="other steps than steps.toml")
    add("--json", action="store_true", help="print every outcome in place of the table")
    add("--data", type=Path, default=data_folder(), metavar="DIR", help="the folder of natural/")
    add("--count", type=int, default=40, help="questions of `answers`")
    add("--seed", type=int, default=1, help="of the draw")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
