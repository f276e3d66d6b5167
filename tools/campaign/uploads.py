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
import sys
import tarfile
import time
import tomllib
import zipfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx2
from tools.campaign import _tries as tries

from askgraph.workspace import Workspace

File = tuple[str, str, bytes]  # what it is, its name, its content

_SECONDS, _MB, _MOST_WORDS = 60.0, 1000, 3000
_SETTINGS = "\n[serve]\nupload_mb = 10\nupload_memory_mb = 600\nupload_seconds = 60\n"
_PACKERS: dict[str, Callable[[bytes], bytes]]
_PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
_TRIPLE = "<http://e/a> <http://e/b> {} .\n"
_RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">{}</rdf:RDF>'
_FILES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SMALL: dict[str, str] = _FILES["small"]


def broken(format: str) -> Iterator[File]:
    """Yield broken and odd files of a format: what it is, its name, its content."""
    text = _SMALL[format]
    data, large = text.encode(), "x" * 8_000_000
    contents = {
        "empty": b"",
        "a half": data[: len(data) // 2],
        "noise": random.Random(format).randbytes(20_000),
        "zeros": bytes(20_000),
        "a page": b"<!DOCTYPE html><html><body><p>Not found<br></body></html>",
        "no UTF-8": text.encode("latin-1"),
        "UTF-16": text.encode("utf-16"),
        "UTF-32": text.encode("utf-32"),
        "UTF-8 with a mark": text.encode("utf-8-sig"),
        "halves of characters": text.replace("Ä", "\\ud83d").encode(),
        "a literal of 8 MB": text.replace("Ä", large).encode(),
        "a line of 8 MB": data + large.encode(),
        "an IRI of 4 MB": text.replace("http://e/a", "http://e/" + "a" * 4_000_000).encode(),
        "bad IRIs": text.replace("http://e/", "http://e /<>").encode(),
    }
    contents |= {f"{o} by its content": _SMALL[o].encode() for o in _SMALL if o != format}
    for what, content in contents.items():
        yield what, f"odd.{format}", content


def packed() -> Iterator[File]:
    """Yield what is packed: growing, cut off, damaged, within itself, by the wrong name."""
    plain, zeros = _SMALL["ttl"].encode(), bytes(200 << 20)
    many = (_TRIPLE.format('"x"') * 20_000).encode() * 25
    for ending, pack in _PACKERS.items():
        whole, odd = pack(plain * 1000), f"odd.ttl.{ending}"
        middle = len(whole) // 2
        yield f"{ending} of zeros", f"bomb.nt.{ending}", pack(zeros)
        yield f"{ending} of triples", f"bomb.nt.{ending}", pack(many)
        yield f"{ending}, a half", odd, whole[:middle]
        yield f"{ending}, damaged", odd, whole[:middle] + bytes(20) + whole[middle + 20 :]
        yield f"{ending} in itself", odd, pack(pack(plain))
        yield f"{ending} without its name", "odd.ttl", pack(plain)
        yield f"no {ending}", odd, plain
    for name in ("odd.zip", "odd.ttl"):
        yield f"a zip, {name}", name, _zipped("a.ttl", plain)
    yield "a zip of zeros", "odd.ttl", _zipped("a.nt", zeros)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../../up.ttl"), io.BytesIO(b""))
    yield "a tar", "odd.ttl.gz", out.getvalue()


def _zipped(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


def reaching(url: str) -> Iterator[File]:
    """Yield documents that multiply or reach out, to an address and to files."""
    body = '<rdf:Description rdf:about="http://e/a"><e:b>&z;</e:b></rdf:Description>'
    laughs = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(25)
    )
    made = {"LAUGHS": laughs, "LONG": "x" * 1_000_000, "URL": url}
    for what, inside in _FILES["types"].items():
        for name, text in made.items():
            inside = inside.replace(name, text)
        repeat = 200 if what == "a long entity" else 1
        document = f"<!DOCTYPE rdf:RDF [{inside}]>" + _RDF.format(body * repeat)
        yield what, "odd.rdf", document.encode()
    outer = f'<!DOCTYPE rdf:RDF SYSTEM "{url}/dtd">' + _RDF.format(body.replace("&z;", "x"))
    yield "a definition from elsewhere", "odd.rdf", outer.encode()
    include = f'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{url}/i"/>'
    yield "an inclusion", "odd.rdf", _RDF.format(body.replace("&z;", include)).encode()
    for what, context in _FILES["contexts"].items():
        document = json.dumps({"@context": context, "@id": "http://e/a", "b": {"b": "x"}})
        yield what, "odd.jsonld", document.replace("URL", url).encode()
    yield "a base elsewhere", "odd.ttl", f"@base <{url}/> . <a> <b> <c> .".encode()


def deep() -> Iterator[File]:
    """Yield documents nested twenty thousand times, and with as many of one thing."""
    n, start = 20_000, "@prefix e: <http://e/> . e:a e:b "
    prefixes = "".join(f"@prefix p{i}: <http://e/{i}/> .\n" for i in range(n))
    attributes = " ".join(f'e:a{i}="x"' for i in range(n // 5))
    terms = {f"t{i}": f"t{i + 1}:x" for i in range(2000)}
    chain = json.dumps({"@context": terms, "@id": "http://e/a", "t0": "x"})
    blanks = "".join(f"_:b{i} <http://e/b> _:b{i + 1} .\n" for i in range(n))
    texts = (
        ("brackets", "ttl", start + "[ e:b " * n + "1" + " ]" * n + " ."),
        ("lists", "ttl", start + "(" * n + ")" * n + " ."),
        ("open brackets", "trig", "e:g { " + start + "[ e:b " * n),
        ("a long list", "ttl", start + "(" + "1 " * n + ") ."),
        ("prefixes", "ttl", prefixes + "p1:a p2:b p3:c ."),
        ("elements", "rdf", _RDF.format("<e:A>" * n + "</e:A>" * n)),
        ("statements in statements", "rdf", _RDF.format("<e:A><e:b>" * n + "</e:b></e:A>" * n)),
        ("attributes", "rdf", _RDF.format(f"<e:A {attributes}/>")),
        ("arrays", "jsonld", "[" * n + "]" * n),
        ("objects", "jsonld", '{"http://e/b":' * n + "1" + "}" * n),
        ("lists of lists", "jsonld", '{"@list":[' * n + "]}" * n),
        ("terms by terms", "jsonld", chain),
        ("quoted triples", "ttl", "<< " * n + "<http://e/a>"),
        ("blank nodes", "nt", blanks),
    )
    for what, format, text in texts:
        yield what, f"odd.{format}", text.encode()


def names() -> Iterator[File]:
    """Yield a good file by odd names."""
    long = "a" * 240 + ".ttl"
    for name in ("../../up.ttl", long, "Ä Ö\u202e.ttl", ".ttl", "-x.ttl", "a.b.c.TTL"):
        yield repr(name[-12:]), name, _SMALL["ttl"].encode()


def kinds(url: str) -> dict[str, Callable[[], Iterator[File]]]:
    """Return what makes the files of each kind."""
    return {
        **{format: partial(broken, format) for format in _SMALL},
        "packed": packed,
        "reaching out": partial(reaching, url),
        "deep": deep,
        "names": names,
    }


def add_by_command(place: Path, folder: Path, name: str, content: bytes) -> str:
    """Add a file on the command line; return a fault."""
    folder.mkdir()
    path = folder / name.replace("../", "")
    path.write_bytes(content)
    ran = tries.askgraph(place, "add", f"g{folder.name}", path, seconds=2 * _SECONDS)
    path.unlink()
    if ran.code not in (0, 2) or "a bug" in ran.said:
        return f"the command: {ran.code} {ran.said.strip()[-200:]}"
    if ran.code == 2 and path.name not in ran.said:
        return f"the command does not name the file: {ran.last[-200:]}"
    if len(ran.said) > _MOST_WORDS:
        return f"the command says {len(ran.said):,} characters"
    if ran.seconds > _SECONDS or ran.mb > _MB:
        return f"the command took {ran.seconds:.1f} s and {ran.mb:.0f} MB"
    return ""


def upload_to_server(client: httpx2.Client, graph: str, name: str, content: bytes) -> str:
    """Upload a file; return a fault."""
    began = time.monotonic()
    status, said = tries.uploaded(client, graph, name, content)
    seconds = time.monotonic() - began
    if status not in (200, 413, 422):
        return f"the server: {status} {said[:200]}"
    if len(said) > _MOST_WORDS:
        return f"the server says {len(said):,} characters"
    return f"the server took {seconds:.1f} s" if seconds > _SECONDS else ""


def campaign(folder: Path, given: Namespace) -> Iterator[tries.Tried]:
    """Try the files of these kinds, two at a time."""
    place, commands = tries.base(folder / "workspace", _SETTINGS), tries.base(folder / "commands")
    with (
        tries.listen() as (address, hits),
        tries.serve(place, timeout=120) as (client, pid),
        ThreadPoolExecutor(2) as pool,
    ):

        def try_one(kind: str, number: int, what: str, name: str, content: bytes) -> tries.Tried:
            graph = f"{kind.replace(' ', '-')}-{number}"

            def act() -> str:
                fault = upload_to_server(client, graph, name, content)
                return fault or add_by_command(commands, folder / graph, name, content)

            return tries.attempt(kind, what, act)

        for kind, files in kinds(address).items():
            if kind in given.only:
                waiting = [pool.submit(try_one, kind, at, *file) for at, file in enumerate(files())]
                yield from (each.result() for each in waiting)
        yield tries.Tried("the server", "requests that left", f"{len(hits)}" * bool(hits))
        health = client.get("/healthz").status_code
        yield tries.Tried("the server", "lives", "" if health == 200 else f"{health}")
        most = tries.peak(pid)
        yield tries.Tried("the server", "memory", f"{most:.0f} MB" if most > _MB else "")
        used = {Path(s).parent for g in Workspace(place).graphs().values() for s in g.sources}
        kept = [one.name for one in (place / "uploads").glob("[!.]*") if one not in used]
        yield tries.Tried("the server", "files kept", ", ".join(kept) or tries.left_over(place))


if __name__ == "__main__":
    sys.exit(tries.main(__doc__, campaign, kinds("")))
