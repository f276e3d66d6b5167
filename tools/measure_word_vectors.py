"""How well the word vectors find names: recall beside spelling and lexicon, precision by cosine.

    python tools/measure_word_vectors.py

`word_pairs.tsv` has plain words for the names of three made-up schemas in four languages. Each word
is looked up among the names of its schema. For precision, the words of the other schemas count as
wrong whatever they are linked to: a lower bound, since some of them do mean a name.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from askgraph.index.names import IndexedName, ItemKind, NameIndex, split_tokens
from askgraph.search.link.word_vectors import get_name_vectors
from askgraph.search.pipeline import link_text

__all__ = ["Pair", "main", "read_pairs"]

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


def build_index(names: list[str]) -> NameIndex:
    """Return an index of names of classes (capitalized) and predicates."""
    return NameIndex.from_names(
        IndexedName(
            name, f"http://x/{at}", ItemKind.CLASS if name[0].isupper() else ItemKind.PREDICATE
        )
        for at, name in enumerate(names)
    )


def rank_spelled(pair: Pair, index: NameIndex) -> list[str]:
    """Return names by today's linking: spelling, stems and lexicon."""
    links = link_text(pair.words, pair.language, index, without=("vectors",)).links
    return list(dict.fromkeys(link.name for link in links))


def rank_near(pair: Pair, index: NameIndex) -> list[tuple[str, float]]:
    """Return names by their vectors, with cosines."""
    nearest = get_name_vectors(index).find_nearest(split_tokens(pair.words), limit=3, at_least=-1.0)
    return [(name.text, cosine) for name, cosine in nearest]


def main() -> None:
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
            for at, names in enumerate((spelled[:1], spelled[:3], near[:1], near, either)):
                counts[at] += pair.name in names
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
