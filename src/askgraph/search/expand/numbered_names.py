"""Link numbered things by their kind and number: "floor 2", "room R798", "the fourth floor".

The index of names leaves out IRIs that differ only in their numbers. Here a word for a class, with
a number or code beside it, leads to the instance whose local name has that number.
"""

from collections.abc import Iterator
from dataclasses import replace

from askgraph.index.names import ItemKind, split_tokens, stem_word
from askgraph.search.expand.schema import Schema, remember
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.sparql.prefixes import split_local_name

_MIN_CLASS_SCORE = 0.7
_MAX_INSTANCES = 5_000  # a class of more is not searched for numbers
_MAX_CODE_WORDS = 4  # "R 800 A" is a code of three words

Code = tuple[str, ...]


def link_numbered_names(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Add links to the instances that a class and a number name together."""
    reading = linked.reading
    if not any(
        _has_digit(word) or word in reading.word_list.ordinals for word in reading.folded_words
    ):
        return linked
    links: dict[tuple[str, tuple[int, ...]], Link] = {}
    for link in linked.get_links(ItemKind.CLASS):
        if min(link.score, link.quality) < _MIN_CLASS_SCORE:
            continue
        for code, positions in _iterate_codes(reading, link):
            iri = _index_codes(schema, link.target).get(code)
            if iri is not None:
                name = schema.get_name_hint(iri)
                qualities = (1.0,) * len(positions)
                new = Link(ItemKind.ENTITY, iri, name, 1.0, positions, qualities)
                links.setdefault((iri, positions), new)
                break
    if not links:
        return linked
    masks = [link.mask for link in links.values()]
    others = (
        link  # "room R798" is not another room with an R in its code
        for link in linked.links
        if link.kind is not ItemKind.ENTITY
        or link.is_exact
        or not any(link.mask & mask for mask in masks)
    )
    return replace(linked, links=(*links.values(), *others))


def _iterate_codes(
    reading: TokenizedQuestion, link: Link
) -> Iterator[tuple[Code, tuple[int, ...]]]:
    """Yield the codes beside a class's name, longest first, with the tokens of both."""
    words, first, last = reading.folded_words, link.positions[0], link.positions[-1]
    for end in range(min(len(words), last + 1 + _MAX_CODE_WORDS), last + 1, -1):
        code = words[last + 1 : end]
        if any(map(_has_digit, code)) and all(
            set(reading.get_gap(at, at + 1)) <= {" ", "-", "_", "#"} for at in range(last, end - 1)
        ):
            yield tuple(code), (*link.positions, *range(last + 1, end))
    ordinal = reading.word_list.ordinals.get(words[first - 1]) if first else None
    if ordinal is not None:
        yield (str(ordinal),), (first - 1, *link.positions)


@remember
def _index_codes(schema: Schema, cls: str) -> dict[Code, str]:
    """Return the instances of a class by their local name without the class's name.

    A local name of digits alone is a key of a table and no name.
    """
    instances = schema.get_instances(cls)
    terms, stems = schema.graph.terms, schema.get_lineage_stems(cls)
    codes: dict[Code, str] = {}
    for iri in terms.iterate_values(instances) if len(instances) <= _MAX_INSTANCES else ():
        name = split_tokens(split_local_name(iri))
        start = next((at for at, word in enumerate(name) if stem_word(word) not in stems), 0)
        code = name[start:]
        if any(map(_has_digit, code)) and (start or not all(map(_has_digit, code))):
            codes.setdefault(code, iri)
    return codes


def _has_digit(word: str) -> bool:
    return word[0].isdigit()
