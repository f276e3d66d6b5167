"""Files that grow, reach out, or are broken: uploaded to a server, and added on the command line.

    python -m tools.campaign.uploads [--only KIND ...] [--json FILE]

Survived is: the file is read, or refused in words that name it (never as a bug), within a minute
and 1,000 MB; no request leaves for the address that some of them name; the server lives on, and
keeps nothing of what it refused.
"""

import bz2
import gzip
import io
import json
import lzma
import random
import socket
import sys
import tarfile
import threading
import time
import zipfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx2
from tools.campaign._tries import Tried, askgraph, base, left_over, main, peak, served, uploaded

from askgraph.workspace import Workspace

_SECONDS, _MB, _MOST_WORDS = 60.0, 1000, 3000
_SETTINGS = "\n[serve]\nupload_mb = 10\nupload_memory_mb = 600\nupload_seconds = 60\n"
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
_TRIPLE = "<http://e/a> <http://e/b> {} .\n"
_RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">{}</rdf:RDF>'
_SMALL = {
    "ttl": "@prefix e: <http://e/> . e:a e:b 'Ä', e:c ; e:d 1 .\n",
    "nt": _TRIPLE.format('"Ä"') * 3,
    "nq": _TRIPLE.format('"Ä" <http://e/g>') * 3,
    "trig": "@prefix e: <http://e/> . e:g { e:a e:b 'Ä' . }\n",
    "rdf": _RDF.format('<rdf:Description rdf:about="http://e/a"><e:b>Ä</e:b></rdf:Description>'),
    "jsonld": json.dumps({"@id": "http://e/a", "http://e/b": "Ä", "@type": "http://e/C"}),
}


@dataclass
class Listening:
    """An address of this machine that counts who connects."""

    url: str = ""
    asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def listening() -> Iterator[Listening]:
    """Listen on loopback, and hang up on everybody."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        known = Listening(f"http://127.0.0.1:{server.getsockname()[1]}")

        def listen() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return
                with known.lock:
                    known.asked += 1

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield known
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def broken(format: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield broken and odd files of a format: what it is, its name, its content."""
    text = _SMALL[format]
    data, name = text.encode(), f"odd.{format}"
    chance = random.Random(format)
    yield "empty", name, b""
    yield "a half", name, data[: len(data) // 2]
    yield "noise", name, chance.randbytes(20_000)
    yield "zeros", name, bytes(20_000)
    yield "a page", name, b"<!DOCTYPE html><html><body><p>Not found<br></body></html>"
    yield "no UTF-8", name, text.encode("latin-1")
    yield "UTF-16", name, text.encode("utf-16")
    yield "UTF-32", name, text.encode("utf-32")
    yield "UTF-8 with a mark", name, text.encode("utf-8-sig")
    yield "halves of characters", name, text.replace("Ä", "\\ud83d").encode()
    yield "a literal of 8 MB", name, text.replace("Ä", "x" * 8_000_000).encode()
    yield "a line of 8 MB", name, data + b"x" * 8_000_000
    yield "an IRI of 4 MB", name, text.replace("http://e/a", "http://e/" + "a" * 4_000_000).encode()
    yield "bad IRIs", name, text.replace("http://e/", "http://e /<>").encode()
    for other in _SMALL:
        if other != format:
            yield f"{other} by its content", name, _SMALL[other].encode()


def packed() -> Iterator[tuple[str, str, bytes]]:
    """Yield what is packed: growing, cut off, damaged, within itself, by the wrong name."""
    plain = _SMALL["ttl"].encode()
    for ending, pack in _PACKERS.items():
        yield f"{ending} of zeros", f"bomb.nt.{ending}", pack(bytes(200 << 20))
        many = (_TRIPLE.format('"x"') * 20_000).encode() * 25
        yield f"{ending} of triples", f"bomb.nt.{ending}", pack(many)
        whole = pack(plain * 1000)
        yield f"{ending}, a half", f"odd.ttl.{ending}", whole[: len(whole) // 2]
        middle = len(whole) // 2
        damaged = whole[:middle] + bytes(20) + whole[middle + 20 :]
        yield f"{ending}, damaged", f"odd.ttl.{ending}", damaged
        yield f"{ending} in itself", f"odd.ttl.{ending}", pack(pack(plain))
        yield f"{ending} without its name", "odd.ttl", pack(plain)
        yield f"no {ending}", f"odd.ttl.{ending}", plain
    for name in ("odd.zip", "odd.ttl"):
        yield f"a zip, {name}", name, _zipped({"a.ttl": plain})
    yield "a zip of zeros", "odd.ttl", _zipped({"a.nt": bytes(200 << 20)})
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../../up.ttl"), io.BytesIO(b""))
    yield "a tar", "odd.ttl.gz", out.getvalue()


def _zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def reaching(url: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield documents that multiply or reach out, to an address and to files."""
    body = '<rdf:Description rdf:about="http://e/a"><e:b>&z;</e:b></rdf:Description>'
    laughs = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(25)
    )
    types = {
        "a billion laughs": laughs,
        "a long entity": f'<!ENTITY z "{"x" * 1_000_000}">',
        "an entity of a file": '<!ENTITY z SYSTEM "file:///etc/passwd">',
        "an entity from elsewhere": f'<!ENTITY z SYSTEM "{url}/z">',
        "a parameter from elsewhere": f'<!ENTITY % p SYSTEM "{url}/p"> %p;',
        "an entity of itself": '<!ENTITY z "&z;">',
    }
    for what, inside in types.items():
        repeat = 200 if what == "a long entity" else 1
        document = f"<!DOCTYPE rdf:RDF [{inside}]>" + _RDF.format(body * repeat)
        yield what, "odd.rdf", document.encode()
    outer = f'<!DOCTYPE rdf:RDF SYSTEM "{url}/dtd">' + _RDF.format(body.replace("&z;", "x"))
    yield "a definition from elsewhere", "odd.rdf", outer.encode()
    include = f'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{url}/i"/>'
    yield "an inclusion", "odd.rdf", _RDF.format(body.replace("&z;", include)).encode()
    contexts: dict[str, object] = {
        "a context from elsewhere": f"{url}/c",
        "contexts from elsewhere": ["https://schema.org/", f"{url}/c", {"b": "http://e/b"}],
        "an imported context": {"@version": 1.1, "@import": f"{url}/c"},
        "a context of a term": {"b": {"@id": "http://e/b", "@context": f"{url}/c"}},
        "a context of a file": "file:///etc/passwd",
    }
    for what, context in contexts.items():
        document = json.dumps({"@context": context, "@id": "http://e/a", "b": {"b": "x"}})
        yield what, "odd.jsonld", document.encode()
    yield "a base elsewhere", "odd.ttl", f"@base <{url}/> . <a> <b> <c> .".encode()


def deep() -> Iterator[tuple[str, str, bytes]]:
    """Yield documents nested twenty thousand times, and with as many of one thing."""
    n = 20_000
    start = "@prefix e: <http://e/> . e:a e:b "
    yield "brackets", "odd.ttl", (start + "[ e:b " * n + "1" + " ]" * n + " .").encode()
    yield "lists", "odd.ttl", (start + "(" * n + ")" * n + " .").encode()
    yield "open brackets", "odd.trig", ("e:g { " + start + "[ e:b " * n).encode()
    yield "a long list", "odd.ttl", (start + "(" + "1 " * n + ") .").encode()
    prefixes = "".join(f"@prefix p{i}: <http://e/{i}/> .\n" for i in range(n))
    yield "prefixes", "odd.ttl", (prefixes + "p1:a p2:b p3:c .").encode()
    yield "elements", "odd.rdf", _RDF.format("<e:A>" * n + "</e:A>" * n).encode()
    yield (
        "statements in statements",
        "odd.rdf",
        _RDF.format("<e:A><e:b>" * n + "</e:b></e:A>" * n).encode(),
    )
    attributes = " ".join(f'e:a{i}="x"' for i in range(n // 5))
    yield "attributes", "odd.rdf", _RDF.format(f"<e:A {attributes}/>").encode()
    yield "arrays", "odd.jsonld", ("[" * n + "]" * n).encode()
    yield "objects", "odd.jsonld", ('{"http://e/b":' * n + "1" + "}" * n).encode()
    yield "lists of lists", "odd.jsonld", ('{"@list":[' * n + "]}" * n).encode()
    terms = {f"t{i}": f"t{i + 1}:x" for i in range(2000)}
    chain = json.dumps({"@context": terms, "@id": "http://e/a", "t0": "x"})
    yield "terms by terms", "odd.jsonld", chain.encode()
    quoted = "<< " * n + "<http://e/a>"
    yield "quoted triples", "odd.ttl", quoted.encode()
    yield (
        "blank nodes",
        "odd.nt",
        "".join(f"_:b{i} <http://e/b> _:b{i + 1} .\n" for i in range(n)).encode(),
    )


def names() -> Iterator[tuple[str, str, bytes]]:
    """Yield a good file by odd names."""
    for name in (
        "../../up.ttl",
        "a" * 240 + ".ttl",
        "Ä Ö\u202e.ttl",
        ".ttl",
        "-x.ttl",
        "a.b.c.TTL",
    ):
        yield repr(name[-12:]), name, _SMALL["ttl"].encode()


def kinds(url: str) -> dict[str, Callable[[], Iterator[tuple[str, str, bytes]]]]:
    """Return what makes the files of each kind."""
    return {
        **{format: partial(broken, format) for format in _SMALL},
        "packed": packed,
        "reaching out": partial(reaching, url),
        "deep": deep,
        "names": names,
    }


def by_command(place: Path, folder: Path, name: str, content: bytes) -> str:
    """Add a file on the command line; return a fault."""
    folder.mkdir()
    path = folder / name.replace("../", "")
    path.write_bytes(content)
    graph = f"g{folder.name}"
    ran = askgraph(place, "add", graph, path, seconds=2 * _SECONDS)
    path.unlink()
    if ran.code not in (0, 2) or "a bug" in ran.said:
        return f"the command: {ran.code} {ran.said.strip()[-200:]}"
    if ran.code == 2 and path.name not in ran.said:
        return f"the command does not name the file: {ran.last[-200:]}"
    if len(ran.said) > _MOST_WORDS:
        return f"the command says {len(ran.said):,} characters"
    if ran.seconds > _SECONDS:
        return f"the command took {ran.seconds:.1f} s"
    return f"the command took {ran.mb:.0f} MB" if ran.mb > _MB else ""


def by_server(client: httpx2.Client, graph: str, name: str, content: bytes) -> str:
    """Upload a file; return a fault."""
    began = time.monotonic()
    status, said = uploaded(client, graph, name, content)
    seconds = time.monotonic() - began
    if status not in (200, 413, 422):
        return f"the server: {status} {said[:200]}"
    if len(said) > _MOST_WORDS:
        return f"the server says {len(said):,} characters"
    if seconds > _SECONDS:
        return f"the server took {seconds:.1f} s"
    return ""


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Try the files of these kinds, two at a time."""
    place, place_of_commands = base(folder / "workspace", _SETTINGS), base(folder / "commands")
    with (
        listening() as other,
        served(place) as (url, pid),
        httpx2.Client(base_url=url, timeout=120) as client,
        ThreadPoolExecutor(2) as pool,
    ):

        def one(kind: str, number: int, what: str, name: str, content: bytes) -> Tried:
            began, graph = time.monotonic(), f"{kind.replace(' ', '-')}-{number}"
            try:
                fault = by_server(client, graph, name, content)
                fault = fault or by_command(place_of_commands, folder / graph, name, content)
            except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
                fault = f"{type(error).__name__}: {error}"
            return Tried(kind, what, fault, time.monotonic() - began)

        for kind, files in kinds(other.url).items():
            if kind in given.only:
                waiting = [pool.submit(one, kind, at, *file) for at, file in enumerate(files())]
                yield from (each.result() for each in waiting)
        yield Tried("the server", "requests that left", f"{other.asked}" * bool(other.asked), 0.0)
        health = client.get("/healthz").status_code
        yield Tried("the server", "lives", "" if health == 200 else f"{health}", 0.0)
        most = peak(pid)
        yield Tried("the server", "memory", f"{most:.0f} MB" if most > _MB else "", 0.0)
        used = {Path(s).parent for g in Workspace(place).graphs().values() for s in g.sources}
        kept = [one.name for one in (place / "uploads").glob("[!.]*") if one not in used]
        yield Tried("the server", "files kept", ", ".join(kept) or left_over(place), 0.0)


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, kinds("")))
