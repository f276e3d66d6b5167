"""The keyword search of tantivy over the same names, for benchmarks/indices.py to compare with.

A document is a resource, with all its names in one field; a search takes whole words and what the
last word begins, and `within` is a set of terms of the field `iri`. Rankings differ from `keyword`:
tantivy's is BM25, and it cannot count the words of each name apart.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Self

import tantivy

from askgraph.index import Resource
from askgraph.index.names import split_words


class TantivyIndex:
    """An index of tantivy in a folder."""

    def __init__(self, index: tantivy.Index) -> None:
        self._index = index
        self._index.reload()
        self._searcher = index.searcher()

    @classmethod
    def build(cls, resources: Iterable[Resource], folder: Path) -> Self:
        """Write all resources and merge what was written."""
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("iri", stored=True, tokenizer_name="raw")
        schema.add_text_field("names", tokenizer_name="whitespace")
        folder.mkdir(parents=True)
        index = tantivy.Index(schema.build(), path=str(folder))
        writer = index.writer(heap_size=128_000_000, num_threads=1)
        for one in resources:
            words = " ".join(word for name in one.names for word in split_words(name))
            writer.add_document(tantivy.Document(iri=one.iri, names=words))
        writer.commit()
        writer.wait_merging_threads()
        return cls(index)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the index in a folder."""
        return cls(tantivy.Index.open(str(folder)))

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[str]:
        """Return the IRIs of the best resources."""
        query, schema = tantivy.Query, self._index.schema
        words = split_words(text)
        parts = [query.term_query(schema, "names", word) for word in words]
        parts += [query.regex_query(schema, "names", f"{word}.*") for word in words]
        wanted = query.boolean_query([(tantivy.Occur.Should, part) for part in parts])
        if within is not None:
            allowed = query.term_set_query(schema, "iri", list(within))
            wanted = query.boolean_query(
                [(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, allowed)]
            )
        hits = self._searcher.search(wanted, limit, count=False).hits
        return [self._searcher.doc(address)["iri"][0] for _, address in hits]
