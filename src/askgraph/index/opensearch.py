"""Names in OpenSearch: BM25 over names and infos, completion, and nearest vectors (k-NN).

Words are folded and stemmed here as `bm25` does, so that OpenSearch only counts them; `k1` and `b`
are those of its similarity. With an `embedder` the ranking is joined by reciprocal ranks with that
of the labels nearest in meaning. `complete` gives the names that begin with what is typed.

An index is two of the server's, of which an alias names the complete one: a new one is filled in
the other. Documents have ids made of their IRIs, and a batch is noted when all of it is written, so
that what is written twice is there once.
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

from askgraph.errors import (
    AskgraphError,
    ErrorReply,
    MalformedReply,
    Overloaded,
    SetupError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.index import Hit, Progress, Resource
from askgraph.index._server import PASSWORD, Place, Submit, batch_embedder, fill
from askgraph.index._table import check_weights, fuse_rankings, positive
from askgraph.index.embeddings import Embedder, kept_embedder
from askgraph.index.folder import Folder, Kind
from askgraph.index.names import search_stems

__all__ = ["OpenSearchIndex"]

_KIND = Kind("opensearch", 1)
_MOST_TERMS = 65_536  # of a query, by default
_PAGE = 5000
_BULK = 1000  # documents in a request, of some ten megabytes with vectors
_MOST_HITS = 10_000  # of a search, by default
_DEPTH = 50  # of each ranking that is joined
_MOST_WEIGHT = 2**31 - 1
_TRIES = 5
_WAIT = 0.5
_BUSY = frozenset({429, 502, 503, 504})
_NO_SEPARATORS = dict.fromkeys((0x00, 0x1E, 0x1F), " ")  # a completion may not hold them
_ORDER = [{"score": "desc"}, {"iri": "asc"}]


@dataclass(frozen=True, eq=False, repr=False)
class OpenSearchIndex:
    """An index on a server, over HTTP."""

    place: Place
    embedder: Embedder | None
    items: int
    server: "_Server"

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
        submit: Submit | None = None,
        at_once: int = 2,
    ) -> Self:
        """Fill an index on the server `on`; see `DiskIndex.build`.

        With a `source`, which says what the resources are, a build that was cut off goes on when
        the next one has the same source. `submit` writes batches elsewhere, `at_once` of them at a
        time. Raises `ServiceError` if the server fails.
        """
        place, named = Place.of(on, name, folder), embedder.name if embedder else ""
        content = _content(k1, b, shards, embedder, f"{source}\n{k1} {b} {shards} {named}")
        with place.noted(folder, _KIND, {"embedder": named}), _Server(place) as server:
            build = _Build(server, place)
            done = build.start(content, again=not source)
            write = partial(_write, place, build.slot, named)
            total = fill(resources, write, done, submit=submit, at_once=at_once, progress=progress)
            build.finish(total)
        return cls.open(folder, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None) -> Self:
        """Open the index that a folder names; see `DiskIndex.open`.

        Raises `ServiceError` if the server does not answer.
        """
        opened = Folder.open(folder, _KIND)
        place, named = Place.read(opened), opened.text("embedder")
        if named and embedder is None:
            embedder = kept_embedder(named)
        server = _Server(place)
        try:
            if server.asked("GET", f"/_alias/{_alias(place)}", missing=True) is None:
                raise place.missing()
            index = cls(place, embedder, _count(server, _alias(place)), server)
        except AskgraphError:
            server.close()
            raise
        weakref.finalize(index, server.close)
        return index

    def __len__(self) -> int:
        return self.items

    @property
    def bytes(self) -> int:
        """What the index takes on the disks of the server, without replicas."""
        stats = self.server.asked("GET", f"/{_alias(self.place)}/_stats/store")
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])

    def find(self, iri: str) -> Resource | None:
        """Return the resource of an IRI, or None."""
        found = self._hits({"query": {"ids": {"values": [_id(iri)]}}, "size": 1})
        return found[0].item if found else None

    def resources(self) -> Iterator[Resource]:
        """Yield all resources, the highest score first."""
        wanted = {"query": {"exists": {"field": "iri"}}}
        for hit in _pages(self.server, _alias(self.place), wanted, _ORDER):
            yield _resource(hit["_source"])

    def search(
        self, text: str, *, limit: int = 10, within: Collection[str] | None = None
    ) -> Sequence[Hit[Resource]]:
        """Return the best resources, at most 10,000; see `SearchIndex.search`."""
        limit = min(positive(limit), _MOST_HITS)
        words = " ".join(search_stems(text))
        if not words or (within is not None and not within):
            return []
        if self.embedder is None:
            return self._ranked(words, limit, within)
        vector = self.embedder.embed([text])[0]
        depth = max(limit, _DEPTH)
        rankings = [self._ranked(words, depth, within)]
        if vector.any():
            rankings.append(self._near([float(one) for one in vector], depth, within))
        known = {hit.item.iri: hit.item for ranking in rankings for hit in ranking}
        joined = fuse_rankings([hit.item.iri for hit in ranking] for ranking in rankings)
        return [Hit(known[iri], score) for iri, score in list(joined.items())[:limit]]

    def complete(self, text: str, *, limit: int = 8) -> list[Hit[Resource]]:
        """Return resources with a name that begins so, the most used ones first."""
        asked = {"prefix": text, "completion": {"field": "complete", "size": positive(limit)}}
        reply = self._search({"suggest": {"names": asked}})
        found = reply["suggest"]["names"][0]["options"]
        return [Hit(_resource(one["_source"]), one["_score"], one["text"]) for one in found]

    def _ranked(
        self, words: str, limit: int, within: Collection[str] | None
    ) -> list[Hit[Resource]]:
        query = {"match": {"words": {"query": words}}}
        found: list[Hit[Resource]] = []
        for allowed in _filters(within):
            filtered = {"bool": {"must": [query], "filter": allowed}} if allowed else query
            sort = [{"_score": "desc"}, *_ORDER]
            found += self._hits({"query": filtered, "size": limit, "sort": sort})
        return sorted(found, key=lambda hit: (-hit.score, -hit.item.score, hit.item.iri))[:limit]

    def _near(
        self, vector: list[float], limit: int, within: Collection[str] | None
    ) -> list[Hit[Resource]]:
        found: list[Hit[Resource]] = []
        for allowed in _filters(within):
            near: dict[str, Any] = {"vector": vector, "k": limit}
            if allowed:
                near["filter"] = allowed[0]
            found += self._hits({"query": {"knn": {"vector": near}}, "size": limit})
        return sorted(found, key=lambda hit: -hit.score)[:limit]

    def _hits(self, wanted: Mapping[str, Any]) -> list[Hit[Resource]]:
        hits = self._search(wanted)["hits"]["hits"]
        return [Hit(_resource(hit["_source"]), float(hit["_score"] or 0)) for hit in hits]

    def _search(self, wanted: Mapping[str, Any]) -> Any:
        # Rarities are those of the whole index, however many shards it has.
        path = f"/{_alias(self.place)}/_search?search_type=dfs_query_then_fetch"
        return self.server.asked("POST", path, {**wanted, "_source": {"excludes": _HIDDEN}})


_HIDDEN = ["words", "complete", "vector"]


def _filters(within: Collection[str] | None) -> Iterator[list[Any]]:
    """Yield what restricts each of the searches that are needed: one, but for very many IRIs."""
    if within is None:
        yield []
        return
    iris = sorted(within)
    for at in range(0, len(iris), _MOST_TERMS):
        yield [{"terms": {"iri": iris[at : at + _MOST_TERMS]}}]


@dataclass
class _Build:
    """An index that is being filled, in the one of two slots that the alias does not name."""

    server: "_Server"
    place: Place
    slot: str = ""

    def start(self, content: Mapping[str, Any], *, again: bool) -> list[int]:
        """Make the slot, or find it as it was left; return the batches that are written."""
        alias = _alias(self.place)
        named = self.server.asked("GET", f"/_alias/{alias}", missing=True) or {}
        self.slot = f"{alias}-b" if f"{alias}-a" in named else f"{alias}-a"
        known = self.server.asked("GET", f"/{self.slot}/_mapping", missing=True)
        left = known[self.slot]["mappings"].get("_meta") if known else None
        if known and (again or left != content["mappings"]["_meta"]):
            self.server.asked("DELETE", f"/{self.slot}")
            known = None
        if not known:
            self.server.asked("PUT", f"/{self.slot}", content)
            return []
        self.server.asked("POST", f"/{self.slot}/_refresh")
        wanted = {"query": {"exists": {"field": "batch"}}}
        found = _pages(self.server, self.slot, wanted, [{"batch": "asc"}])
        return [hit["_source"]["batch"] for hit in found]

    def finish(self, total: int) -> None:
        """Make all that was written found, and let the alias name it."""
        self.server.asked("PUT", f"/{self.slot}/_settings", {"index": {"refresh_interval": None}})
        self.server.asked("POST", f"/{self.slot}/_refresh")
        found = _count(self.server, self.slot)
        if found != total:
            self.server.asked("DELETE", f"/{self.slot}")
            raise SetupError(
                f"{total:,} resources came for the index {self.place.name!r}, and {found:,} "
                "different ones are written: one is given twice, or what it is built from has "
                "changed meanwhile; build it once more"
            )
        alias = _alias(self.place)
        other = f"{alias}-a" if self.slot == f"{alias}-b" else f"{alias}-b"
        named = self.server.asked("GET", f"/_alias/{alias}", missing=True) or {}
        gone = [{"remove_index": {"index": other}}] if other in named else []
        put = {"add": {"index": self.slot, "alias": alias}}
        self.server.asked("POST", "/_aliases", {"actions": [*gone, put]})


def _content(
    k1: float, b: float, shards: int, embedder: Embedder | None, source: str
) -> dict[str, Any]:
    """Return the settings and fields of an index."""
    check_weights(k1, b)
    fields: dict[str, Any] = {
        "iri": {"type": "keyword"},
        "score": {"type": "double"},
        "label": {"type": "keyword", "index": False, "doc_values": False},
        "synonyms": {"type": "keyword", "index": False, "doc_values": False},
        "infos": {"type": "keyword", "index": False, "doc_values": False},
        "words": {"type": "text", "analyzer": "whitespace", "similarity": "names"},
        "complete": {"type": "completion"},
        "batch": {"type": "integer"},
    }
    settings: dict[str, Any] = {
        "number_of_shards": shards,
        "refresh_interval": "-1",
        "similarity": {"names": {"type": "BM25", "k1": k1, "b": b}},
    }
    if embedder is not None:
        method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
        size = len(embedder.embed(["size"])[0])
        fields["vector"] = {"type": "knn_vector", "dimension": size, "method": method}
        settings["knn"] = True
    meta = {"source": sha256(source.encode()).hexdigest()}
    return {
        "settings": {"index": settings},
        "mappings": {"dynamic": False, "_meta": meta, "properties": fields},
    }


def _write(place: Place, slot: str, embedder: str, number: int, batch: list[Resource]) -> int:
    """Write a batch, and note that it is there; return its resources."""
    documents = [_document(one) for one in batch]
    if embedder:
        vectors = batch_embedder(embedder).embed([one.label for one in batch])
        for document, vector in zip(documents, vectors, strict=True):
            if vector.any():  # the cosine of no direction is refused
                document["vector"] = [float(one) for one in vector]
    with _Server(place) as server:
        for at in range(0, len(documents), _BULK):
            _put(server, slot, documents[at : at + _BULK])
        server.asked("PUT", f"/{slot}/_doc/batch-{number}", {"batch": number})
    return len(batch)


def _put(server: "_Server", slot: str, documents: list[dict[str, Any]]) -> None:
    """Write documents; those that a busy server refused are sent again with the others."""
    lines = [
        json.dumps(line, ensure_ascii=False)
        for document in documents
        for line in ({"index": {"_id": _id(document["iri"])}}, document)
    ]
    for attempt in range(1, _TRIES + 1):
        reply = server.asked("POST", f"/{slot}/_bulk", "\n".join(lines) + "\n")
        refused = [item["index"] for item in reply["items"] if "error" in item["index"]]
        if not refused:
            return
        busy = all(item["status"] in _BUSY for item in refused)
        if not busy or attempt == _TRIES:
            break
        _pause(attempt)
    said = refused[0]["error"]
    raise server.refused(refused[0]["status"], f"{said['type']}: {said['reason']}")


def _document(one: Resource) -> dict[str, Any]:
    names = [name.translate(_NO_SEPARATORS) for name in one.names]
    weight = max(0, min(_MOST_WEIGHT, int(one.score)))
    return {
        "iri": one.iri,
        "label": one.label,
        "synonyms": one.synonyms,
        "score": one.score,
        "infos": one.infos,
        "words": " ".join(w for text in (*one.names, *one.infos) for w in search_stems(text)),
        "complete": {"input": names, "weight": weight},
    }


def _resource(source: Mapping[str, Any]) -> Resource:
    synonyms, infos = tuple(source["synonyms"]), tuple(source["infos"])
    return Resource(source["iri"], source["label"], synonyms, float(source["score"]), infos)


def _id(iri: str) -> str:
    return sha256(iri.encode()).hexdigest()  # an id has at most 512 bytes


def _alias(place: Place) -> str:
    return f"askgraph-{place.key}"


def _count(server: "_Server", index: str) -> int:
    wanted = {"query": {"exists": {"field": "iri"}}}
    return int(server.asked("POST", f"/{index}/_count", wanted)["count"])


def _pages(
    server: "_Server", index: str, wanted: Mapping[str, Any], sort: list[dict[str, str]]
) -> Iterator[Any]:
    """Yield all hits of a search, each page after the last hit of the one before."""
    asked: dict[str, Any] = {
        **wanted,
        "size": _PAGE,
        "sort": sort,
        "_source": {"excludes": _HIDDEN},
    }
    while hits := server.asked("POST", f"/{index}/_search", asked)["hits"]["hits"]:
        yield from hits
        if len(hits) < _PAGE:
            break
        asked["search_after"] = hits[-1]["sort"]


class _Server:
    """Requests to an OpenSearch; a busy one is asked again, up to five times.

    The password of the index's user is in the environment.
    """

    def __init__(self, place: Place) -> None:
        parts = urlsplit(place.address)
        host = parts.netloc.rpartition("@")[2]
        base = parts._replace(netloc=host).geturl().rstrip("/")
        auth = (parts.username, os.environ.get(PASSWORD, "")) if parts.username else None
        self._address = place.address
        self._client = httpx2.Client(base_url=base, auth=auth, timeout=120)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def asked(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | str | None = None,
        *,
        missing: bool = False,
    ) -> Any:
        """Return the reply to a request; None if nothing is there and that may be."""
        kind = "application/x-ndjson" if isinstance(body, str) else "application/json"
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        for attempt in range(1, _TRIES + 1):
            try:
                reply = self._client.request(
                    method, path, content=text, headers={"Content-Type": kind} if text else {}
                )
            except httpx2.TimeoutException as error:
                raise TimedOut(f"{self._address}: no reply in time") from error
            except httpx2.TransportError as error:
                raise Unreachable(
                    f"{self._address}: no OpenSearch answers there ({error}); start it, or name "
                    "another; a build that was cut off goes on with the same call"
                ) from error
            if reply.status_code not in _BUSY or attempt == _TRIES:
                break
            _pause(attempt)
        if reply.status_code == 404 and missing:
            return None
        if reply.status_code >= 400:
            raise self.refused(reply.status_code, _said(reply))
        try:
            return reply.json()
        except ValueError as error:
            raise MalformedReply(f"{self._address}: this is no reply of an OpenSearch") from error

    def refused(self, status: int, said: str) -> Exception:
        """Return the error for what the server refused."""
        whole = f"{self._address}: HTTP {status}: {said}"
        if status in (401, 403):
            return Unauthorised(f"{whole}; set {PASSWORD}, and the user in the address")
        if status in _BUSY:
            return Overloaded(f"{whole}; what is written stays, and the same call goes on")
        if "knn" in said:
            return SetupError(f"{whole}; embeddings need the server's plugin opensearch-knn")
        if "index_not_found" in said:
            return SetupError(f"{whole}; build the index anew")
        return ErrorReply(whole)


def _said(reply: httpx2.Response) -> str:
    try:
        error = reply.json()["error"]
        return f"{error['type']}: {error['reason']}"
    except (ValueError, KeyError, TypeError):
        return reply.text[:200]


def _pause(attempt: int) -> None:
    time.sleep(_WAIT * 2 ** (attempt - 1))
