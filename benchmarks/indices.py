"""Search indices over generated names: time to build, time to search, memory, recall.

    python benchmarks/indices.py [--resources 1_000_000 …] [--kinds keyword bm25 trigram vector]
    ASKGRAPH_INDEX=postgresql://… python benchmarks/indices.py --kinds postgresql

A resource has a label of 2.6 words and one synonym on average, words as frequent as in a language
(the n-th word 1/n as often as the first). Of 500 searches seven in ten stop within their last word,
many after one or two letters. An index is built from a TSV file. "within" is a set of 10,000 IRIs,
looked up in each call. "resident" is the memory of a process of its own after all searches, Python
and numpy included; "of it mapped" are pages of files that the operating system may take back. "CPU"
is what the processor worked, which other programs on the machine make no longer.

"right" is, for vector, the share of the exact nearest ten (`tests/index/` holds keyword, bm25 and
trigram to the exact search). For postgresql "peak", "CPU" and "resident" are those of our process,
and "disk" is the server's. Vectors are generated: 384 dimensions, in clusters of 100.
"""

import argparse
import json
import random
import resource as limits
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from pathlib import Path

import numpy as np

from _searching import opened, plugin_of
from askgraph.index import Resource
from askgraph.index.sources import SEPARATOR, read_table

SYLLABLES = [
    start + vowel + end
    for start in "b c d f g h j k l m n p r s t v w z br cl st tr sh".split()
    for vowel in "a e i o u".split()
    for end in ("", "n", "r", "s", "l")
]
SEED = 7
SEARCHES = 500
WITHIN = 10_000
DIMENSIONS = 384
CLUSTER = 100
HEADS = (
    *("kind", "resources", "names", "build s", "of CPU", "build peak MB", "disk MB"),
    *("p50 ms", "p99 ms", "CPU p50", "CPU p99", "within p50", "within p99", "CPU p50", "CPU p99"),
    *("resident MB", "of it mapped", "right"),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--kinds", nargs="+", default=["keyword", "bm25", "trigram", "vector"])
    parser.add_argument("--one", nargs=4, help="measure one step: what, kind, resources, folder")
    options = parser.parse_args()
    if options.one:
        what, kind, count, folder = options.one
        print(json.dumps(STEPS[what](kind, int(count), Path(folder))))
        return
    lines = []
    searching = Path(__file__).with_name("_searching.py")
    for kind, count in product(options.kinds, options.resources):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "index")
            names = apart("write", kind, count, folder)
            built = apart("build", kind, count, folder)
            searched = run_script(searching, kind, count, folder)
            right = apart("recall", kind, count, folder) if kind == "vector" else ["-"]
        lines.append((kind, f"{count:,}", *names, *built, *searched, *right))
    # Costs memory that is not the index's, so only here.
    from _measure import print_table

    print_table(HEADS, *lines)


def apart(what: str, kind: str, count: int, folder: Path) -> list[str]:
    """Measure one step in a new process."""
    return run_script(Path(__file__), "--one", what, kind, count, folder)


def run_script(script: Path, *arguments: object) -> list[str]:
    """Run a script in a new process; return what it prints as JSON."""
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: list[str] = json.loads(done.stdout)
    return figures


def write(kind: str, count: int, folder: Path) -> list[str]:
    """Write what is indexed and what is searched beside the folder; return how many names."""
    names = 0

    def counted() -> Iterator[Resource]:
        nonlocal names
        for resource in resources(count):
            names += len(resource.names)
            yield resource

    with folder.with_name("resources.tsv").open("w", encoding="utf-8") as file:
        file.write("iri\tlabel\tscore\tsynonyms\tinfos\n")
        for one in counted():
            lists = SEPARATOR.join(one.synonyms), SEPARATOR.join(one.infos)
            file.write("\t".join((one.iri, one.label, repr(one.score), *lists)) + "\n")
    chosen = random.Random(SEED + 1).sample(range(count), min(WITHIN, count))
    asked = (searches(count), [iri(number) for number in chosen])
    folder.with_name("asked.json").write_text(json.dumps(asked))
    return [f"{names:,}"]


def build(kind: str, count: int, folder: Path) -> list[str]:
    """Build; return seconds, those of them on a processor, peak memory and size on disk."""
    options = {"embedder": Clusters(count)} if kind == "vector" else {}
    rows = read_table(folder.with_name("resources.tsv"))
    start, worked = time.perf_counter(), time.process_time()
    index = plugin_of(kind).build(rows, folder, **options)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    peak = limits.getrusage(limits.RUSAGE_SELF).ru_maxrss / 1024
    files = (file.stat().st_size for file in folder.rglob("*") if file.is_file())
    size = index.bytes if kind == "postgresql" else sum(files)
    return [f"{seconds:.1f}", f"{worked:.1f}", f"{peak:.0f}", f"{size / 1e6:.0f}"]


def recall(kind: str, count: int, folder: Path) -> list[str]:
    """Return how many of the first ten are as near as the tenth of the exact search."""
    index = opened(kind, count, folder)
    everything = [iri(number) for number in range(count)]
    shares = []
    for text in searches(count)[:50]:
        # Equal names have equal vectors, often more than ten.
        least = index.search(text, within=everything)[-1].score - 1e-5
        shares.append(sum(hit.score >= least for hit in index.search(text)) / 10)
    return [f"{sum(shares) / len(shares):.4f}"]


def iri(number: int) -> str:
    """The IRI of a generated resource."""
    return f"http://example.org/entity/{number}"


def resources(count: int) -> Iterator[Resource]:
    """The generated resources, the same each time."""
    chance = random.Random(SEED)
    words, weights = vocabulary(count)
    for number in range(count):
        names = [name_of(chance, words, weights) for _ in range(chance.choice((1, 1, 2, 2, 4)))]
        described = " ".join(chance.choices(words, cum_weights=weights, k=5))
        score = float(int(1e6 / (1 + chance.random() * count)))
        yield Resource(iri(number), names[0], tuple(names[1:]), score, (described,))


def name_of(chance: random.Random, words: list[str], weights: list[float]) -> str:
    """A name of one to five words, 2.6 on average."""
    length = chance.choice((1, 2, 2, 3, 5))
    return " ".join(chance.choices(words, cum_weights=weights, k=length)).title()


def vocabulary(count: int) -> tuple[list[str], list[float]]:
    """Words, and their weights summed up."""
    chance = random.Random(SEED)
    wanted = max(200, count // 5)
    words: dict[str, None] = {}
    while len(words) < wanted:
        words["".join(chance.choices(SYLLABLES, k=chance.choice((1, 2, 2, 3, 3))))] = None
    return list(words), list(accumulate(1 / rank for rank in range(1, wanted + 1)))


def searches(count: int) -> list[str]:
    """Names, seven in ten cut within the last word."""
    chance = random.Random(SEED + 2)
    words, weights = vocabulary(count)
    asked = []
    for _ in range(SEARCHES):
        *before, last = name_of(chance, words, weights).lower().split()
        if chance.random() < 0.7:
            last = last[: chance.choice((1, 2, 2, 3, 4))]
        asked.append(" ".join((*before, last)))
    return asked


class Clusters:
    """Generated vectors: each text lies near one of the centres."""

    name = "clusters"
    dimensions = DIMENSIONS

    def __init__(self, count: int) -> None:
        chance = np.random.default_rng(SEED)
        self.centres = chance.standard_normal(
            (max(10, 2 * count // CLUSTER), DIMENSIONS), np.float32
        )

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector for each text."""
        seeds = [zlib.crc32(text.lower().encode()) for text in texts]
        own = np.stack(
            [np.random.default_rng(s).standard_normal(DIMENSIONS, np.float32) for s in seeds]
        )
        return self.centres[np.array(seeds) % len(self.centres)] + 0.7 * own


STEPS = {"write": write, "build": build, "recall": recall}


if __name__ == "__main__":
    main()
