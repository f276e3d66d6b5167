"""Names in OpenSearch: BM25 over names and infos, completion, and nearest vectors (k-NN).

Words are folded and stemmed here, as in `bm25`, so that OpenSearch only counts them; `k1` and `b`
are those of its similarity. With an `embedder` the ranking is fused, by reciprocal ranks, with that
of the labels nearest in meaning. `complete` returns the names that begin with the typed text.

An index consists of two indices of the server, and an alias names the complete one: a new index is
written to the other. Document ids are hashes of IRIs, and a batch is recorded when it is complete,
so that writing it twice is harmless.
"""

import json
import os
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from askgraph import errors
from askgraph.index import Hit, Progress, Resource
from askgraph.index._server import (
    PASSWORD_VARIABLE,
    IndexLocation,
    SubmitBatch,
    get_batch_embedder,
    write_batches,
)
from askgraph.index._table import check_limit, check_weights, fuse_rankings
from askgraph.index.embeddings import Embedder, get_embedder
from askgraph.index.folder import IndexFolder, IndexFormat
from askgraph.index.names import split_stems

__all__ = ["OpenSearchIndex"]

_KIND = IndexFormat("opensearch", 1)
_MAX_QUERY_TERMS_COUNT = 65_536  # of a query, by default
_PAGE_SIZE = 5000
_BULK_SIZE = 1000  # documents in a request, of some ten megabytes with vectors
_MAX_HITS_COUNT = 10_000  # of a search, by default
_RANKING_DEPTH = 50  # of each ranking that is joined
_MAX_WEIGHT = 2**31 - 1
_MAX_ATTEMPTS = 5
_FIRST_WAIT_SECONDS = 0.5
_BUSY_STATUSES = frozenset({429, 502, 503, 504})
_SEPARATOR_REPLACEMENTS = dict.fromkeys((0x00, 0x1E, 0x1F), " ")  # invalid in completions
_SORT_ORDER = [{"score": "desc"}, {"iri": "asc"}]


@dataclass(frozen=True, eq=False, repr=False)
class OpenSearchIndex:
    """An index on an OpenSearch server."""

    location: IndexLocation
    embedder: Embedder | None
    item_count: int
    server: "_OpenSearchClient"

    @classmethod
    def build(
        cls,
        resources: Iterable[Resource],
        folder: Path,
        *,
        progress: Progress | None = None,
        on: str = "",
        name: str = "",
        k1: float = 1.2,
        b: float = 0.75,
        shards: int = 1,
        embedder: Embedder | None = None,
        source: str = "",
        submit: SubmitBatch | None = None,
        at_once: int = 2,
    ) -> Self:
        """Write an index on the server `on`; see `DiskIndex.build`.

        With a `source`, which identifies the resources, an interrupted build resumes if the next
        one has the same source. `submit` runs batches elsewhere, at most `at_once` at a time.

        Raises:
            ServiceError: the server fails.
        """
        location = IndexLocation.from_settings(on, name, folder)
        embedder_name = embedder.name if embedder else ""
        content = _build_index_body(
            k1, b, shards, embedder, f"{source}\n{k1} {b} {shards} {embedder_name}"
        )
        with (
            location.write_folder(folder, _KIND, {"embedder": embedder_name}),
            _OpenSearchClient(location) as server,
        ):
            index_build = _OpenSearchBuild(server, location)
            finished = index_build.start(content, restart=not source)
            write = partial(_write_batch, location, index_build.slot, embedder_name)
            total = write_batches(
                resources, write, finished, submit=submit, at_once=at_once, progress=progress
            )
            index_build.finish(total)
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Open the index at a folder's location; raise `ServiceError` if the server is down."""
        opened = IndexFolder.open(folder, _KIND)
        location, embedder_name = IndexLocation.from_folder(opened), opened.get_text("embedder")
        if embedder_name and embedder is None:
            embedder = get_embedder(embedder_name)
        server = _OpenSearchClient(location)
        try:
            if server.request("GET", f"/_alias/{_build_alias(location)}", missing=True) is None:
                raise location.build_missing_error()
            index = cls(
                location, embedder, _count_documents(server, _build_alias(location)), server
            )
        except errors.AskgraphError:
            server.close()
            raise
        weakref.finalize(index, server.close)
        return index

    def __len__(self) -> int:
        return self.item_count

    @property
    def bytes(self) -> int:
        """The size of the index on the server's disks in bytes, without replicas."""
        stats = self.server.request("GET", f"/{_build_alias(self.location)}/_stats/store")
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        hits = self._fetch_hits({"query": {"ids": {"values": [_build_id(iri)]}}, "size": 1})
        return hits[0].item if hits else None

    def iterate_resources(self) -> Iterator[Resource]:
        """Yield all resources, highest score first."""
        body = {"query": {"exists": {"field": "iri"}}}
        for hit in _iterate_hits(self.server, _build_alias(self.location), body, _SORT_ORDER):
            yield _parse_resource(hit["_source"])

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources, at most 10,000; see `SearchIndex.search`."""
        limit = min(check_limit(limit), _MAX_HITS_COUNT)
        words = " ".join(split_stems(text))
        if not words or (within is not None and not within):
            return []
        if self.embedder is None:
            return self._rank_words(words, limit, within)
        vector = self.embedder.embed([text])[0]
        depth = max(limit, _RANKING_DEPTH)
        rankings = [self._rank_words(words, depth, within)]
        if vector.any():
            rankings.append(self._rank_vectors([float(value) for value in vector], depth, within))
        resources_by_iri = {hit.item.iri: hit.item for ranking in rankings for hit in ranking}
        fused_scores = fuse_rankings([hit.item.iri for hit in ranking] for ranking in rankings)
        return [
            Hit(resources_by_iri[iri], score) for iri, score in list(fused_scores.items())[:limit]
        ]

    def complete(self, text: str, *, limit: int = 8) -> list[Hit[Resource]]:
        """Return resources with a name of this prefix, the most used first."""
        suggestion = {
            "prefix": text,
            "completion": {"field": "complete", "size": check_limit(limit)},
        }
        reply = self._send_search({"suggest": {"names": suggestion}})
        return [
            Hit(_parse_resource(option["_source"]), option["_score"], option["text"])
            for option in reply["suggest"]["names"][0]["options"]
        ]

    def _rank_words(
        self, words: str, limit: int, within: Collection[str] | None
    ) -> list[Hit[Resource]]:
        query = {"match": {"words": {"query": words}}}
        hits: list[Hit[Resource]] = []
        for restriction in _build_filters(within):
            restricted_query = (
                {"bool": {"must": [query], "filter": restriction}} if restriction else query
            )
            sort = [{"_score": "desc"}, *_SORT_ORDER]
            hits += self._fetch_hits({"query": restricted_query, "size": limit, "sort": sort})
        return sorted(hits, key=lambda hit: (-hit.score, -hit.item.score, hit.item.iri))[:limit]

    def _rank_vectors(
        self, vector: list[float], limit: int, within: Collection[str] | None
    ) -> list[Hit[Resource]]:
        hits: list[Hit[Resource]] = []
        for restriction in _build_filters(within):
            vector_query: dict[str, Any] = {"vector": vector, "k": limit}
            if restriction:
                vector_query["filter"] = restriction[0]
            hits += self._fetch_hits({"query": {"knn": {"vector": vector_query}}, "size": limit})
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def _fetch_hits(self, body: Mapping[str, Any]) -> list[Hit[Resource]]:
        hits = self._send_search(body)["hits"]["hits"]
        return [Hit(_parse_resource(hit["_source"]), float(hit["_score"] or 0)) for hit in hits]

    def _send_search(self, body: Mapping[str, Any]) -> Any:
        # Use rarities of the whole index, across all shards.
        path = f"/{_build_alias(self.location)}/_search?search_type=dfs_query_then_fetch"
        return self.server.request(
            "POST", path, {**body, "_source": {"excludes": _EXCLUDED_FIELDS}}
        )


_EXCLUDED_FIELDS = ["words", "complete", "vector"]


def _build_filters(within: Collection[str] | None) -> Iterator[list[Any]]:
    """Yield the filter of each search; there are several only for very many IRIs."""
    if within is None:
        yield []
        return
    iris = sorted(within)
    for start in range(0, len(iris), _MAX_QUERY_TERMS_COUNT):
        yield [{"terms": {"iri": iris[start : start + _MAX_QUERY_TERMS_COUNT]}}]


@dataclass
class _OpenSearchBuild:
    """A build that writes to the one of two slots that the alias does not name."""

    server: "_OpenSearchClient"
    location: IndexLocation
    slot: str = ""

    def start(self, content: Mapping[str, Any], *, restart: bool) -> list[int]:
        """Create the slot, or resume it; return the numbers of the finished batches."""
        alias = _build_alias(self.location)
        aliased = self.server.request("GET", f"/_alias/{alias}", missing=True) or {}
        self.slot = f"{alias}-b" if f"{alias}-a" in aliased else f"{alias}-a"
        mapping = self.server.request("GET", f"/{self.slot}/_mapping", missing=True)
        previous_meta = mapping[self.slot]["mappings"].get("_meta") if mapping else None
        if mapping and (restart or previous_meta != content["mappings"]["_meta"]):
            self.server.request("DELETE", f"/{self.slot}")
            mapping = None
        if not mapping:
            self.server.request("PUT", f"/{self.slot}", content)
            return []
        self.server.request("POST", f"/{self.slot}/_refresh")
        body = {"query": {"exists": {"field": "batch"}}}
        hits = _iterate_hits(self.server, self.slot, body, [{"batch": "asc"}])
        return [hit["_source"]["batch"] for hit in hits]

    def finish(self, total: int) -> None:
        """Make all documents searchable, and switch the alias to the slot."""
        self.server.request("PUT", f"/{self.slot}/_settings", {"index": {"refresh_interval": None}})
        self.server.request("POST", f"/{self.slot}/_refresh")
        document_count = _count_documents(self.server, self.slot)
        if document_count != total:
            self.server.request("DELETE", f"/{self.slot}")
            raise errors.SetupError(
                f"{total:,} resources came for the index {self.location.name!r}, and "
                f"{document_count:,} different ones are written: one occurs twice, or the source "
                "has changed during the build; build it again"
            )
        alias = _build_alias(self.location)
        previous_slot = f"{alias}-a" if self.slot == f"{alias}-b" else f"{alias}-b"
        aliased = self.server.request("GET", f"/_alias/{alias}", missing=True) or {}
        removals = [{"remove_index": {"index": previous_slot}}] if previous_slot in aliased else []
        addition = {"add": {"index": self.slot, "alias": alias}}
        self.server.request("POST", "/_aliases", {"actions": [*removals, addition]})


def _build_index_body(
    k1: float, b: float, shards: int, embedder: Embedder | None, source: str
) -> dict[str, Any]:
    """Return the settings and fields of an index."""
    check_weights(k1, b)
    body: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    settings, mappings = body["settings"]["index"], body["mappings"]
    vector = mappings["properties"].pop("vector")
    settings["number_of_shards"] = shards
    settings["similarity"]["names"] |= {"k1": k1, "b": b}
    if embedder is not None:
        vector["dimension"] = len(embedder.embed(["size"])[0])
        mappings["properties"]["vector"] = vector
        settings["knn"] = True
    mappings["_meta"] = {"source": sha256(source.encode()).hexdigest()}
    return body


def _write_batch(
    location: IndexLocation, slot: str, embedder: str, number: int, batch: list[Resource]
) -> int:
    """Write a batch and record it as finished; return its number of resources."""
    documents = [_build_document(item) for item in batch]
    if embedder:
        vectors = get_batch_embedder(embedder).embed([item.label for item in batch])
        for document, vector in zip(documents, vectors, strict=True):
            if vector.any():  # the cosine of no direction is refused
                document["vector"] = [float(item) for item in vector]
    with _OpenSearchClient(location) as server:
        for start in range(0, len(documents), _BULK_SIZE):
            _send_documents(server, slot, documents[start : start + _BULK_SIZE])
        server.request("PUT", f"/{slot}/_doc/batch-{number}", {"batch": number})
    return len(batch)


def _send_documents(
    server: "_OpenSearchClient", slot: str, documents: list[dict[str, Any]]
) -> None:
    """Write documents; retry the whole request if a busy server rejects some of them."""
    lines = [
        json.dumps(line, ensure_ascii=False)
        for document in documents
        for line in ({"index": {"_id": _build_id(document["iri"])}}, document)
    ]
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        reply = server.request("POST", f"/{slot}/_bulk", "\n".join(lines) + "\n")
        refused = [item["index"] for item in reply["items"] if "error" in item["index"]]
        if not refused:
            return
        busy = all(item["status"] in _BUSY_STATUSES for item in refused)
        if not busy or attempt == _MAX_ATTEMPTS:
            break
        _wait_before_retry(attempt)
    error_details = refused[0]["error"]
    raise server.build_error(
        refused[0]["status"], f"{error_details['type']}: {error_details['reason']}"
    )


def _build_document(resource: Resource) -> dict[str, Any]:
    names = [name.translate(_SEPARATOR_REPLACEMENTS) for name in resource.names]
    return {
        "iri": resource.iri,
        "label": resource.label,
        "synonyms": resource.synonyms,
        "score": resource.score,
        "infos": resource.infos,
        "words": " ".join(
            word for text in (*resource.names, *resource.infos) for word in split_stems(text)
        ),
        "complete": {"input": names, "weight": max(0, min(_MAX_WEIGHT, int(resource.score)))},
    }


def _parse_resource(source: Mapping[str, Any]) -> Resource:
    synonyms, infos = tuple(source["synonyms"]), tuple(source["infos"])
    return Resource(source["iri"], source["label"], synonyms, float(source["score"]), infos)


def _build_id(iri: str) -> str:
    return sha256(iri.encode()).hexdigest()  # an id has at most 512 bytes


def _build_alias(location: IndexLocation) -> str:
    return f"askgraph-{location.key}"


def _count_documents(server: "_OpenSearchClient", index: str) -> int:
    body = {"query": {"exists": {"field": "iri"}}}
    return int(server.request("POST", f"/{index}/_count", body)["count"])


def _iterate_hits(
    server: "_OpenSearchClient", index: str, body: Mapping[str, Any], sort: list[dict[str, str]]
) -> Iterator[Any]:
    """Yield all hits of a search, page by page."""
    page_body: dict[str, Any] = {
        **body,
        "size": _PAGE_SIZE,
        "sort": sort,
        "_source": {"excludes": _EXCLUDED_FIELDS},
    }
    while hits := server.request("POST", f"/{index}/_search", page_body)["hits"]["hits"]:
        yield from hits
        if len(hits) < _PAGE_SIZE:
            break
        page_body["search_after"] = hits[-1]["sort"]


class _OpenSearchClient:
    """Sends requests to OpenSearch; requests to a busy server are tried up to five times."""

    def __init__(self, location: IndexLocation) -> None:
        parts = urlsplit(location.address)
        base = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")
        auth = (parts.username, os.environ.get(PASSWORD_VARIABLE, "")) if parts.username else None
        self._address = location.address
        self._client = httpx2.Client(base_url=base, auth=auth, timeout=120)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | str | None = None,
        *,
        missing: bool = False,
    ) -> Any:
        """Return the reply to a request; None for status 404 if `missing` allows it."""
        kind = "application/x-ndjson" if isinstance(body, str) else "application/json"
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                reply = self._client.request(
                    method, path, content=text, headers={"Content-Type": kind} if text else {}
                )
            except httpx2.TimeoutException as error:
                raise errors.TimedOut(f"{self._address}: no reply in time") from error
            except httpx2.TransportError as error:
                raise errors.Unreachable(
                    f"{self._address}: no OpenSearch server answers there ({error}); start "
                    "it, or name another; the same call resumes an interrupted build"
                ) from error
            if reply.status_code not in _BUSY_STATUSES or attempt == _MAX_ATTEMPTS:
                break
            _wait_before_retry(attempt)
        if reply.status_code == 404 and missing:
            return None
        if reply.status_code >= 400:
            raise self.build_error(reply.status_code, _read_error(reply))
        try:
            return reply.json()
        except ValueError as error:
            raise errors.MalformedReply(
                f"{self._address}: the reply is not from an OpenSearch server"
            ) from error

    def build_error(self, status: int, details: str) -> Exception:
        """Return the error for a rejected request."""
        message = f"{self._address}: HTTP {status}: {details}"
        if status in (401, 403):
            return errors.Unauthorised(
                f"{message}; set {PASSWORD_VARIABLE}, and the user in the address"
            )
        if status in _BUSY_STATUSES:
            return errors.Overloaded(f"{message}; the same call resumes the build")
        if "knn" in details:
            return errors.SetupError(
                f"{message}; embeddings need the server's plugin opensearch-knn"
            )
        if "index_not_found" in details:
            return errors.SetupError(f"{message}; build the index again")
        return errors.ErrorReply(message)


def _read_error(reply: httpx2.Response) -> str:
    try:
        error = reply.json()["error"]
        return f"{error['type']}: {error['reason']}"
    except (ValueError, KeyError, TypeError):
        return reply.text[:200]


def _wait_before_retry(attempt: int) -> None:
    time.sleep(_FIRST_WAIT_SECONDS * 2 ** (attempt - 1))
