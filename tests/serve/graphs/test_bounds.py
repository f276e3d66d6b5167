"""Files that would grow beyond bounds are found before they are read."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.serve.graphs.bounds import check_files
from askgraph.serve.problems import TooLarge

MB = 2**20


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    bomb = tmp_path / f"01-bomb.nt{suffix}"
    bomb.write_bytes(pack(bytes(20 * MB)))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(TooLarge, match="more than 10 MB"):
        check_files([bomb], most=10 * MB)
    check_files([bomb], most=20 * MB)


def test_files_count_together(tmp_path: Path) -> None:
    files = [tmp_path / f"{at}.nt" for at in range(3)]
    for file in files:
        file.write_bytes(bytes(MB))
    with pytest.raises(TooLarge):
        check_files(files, most=3 * MB - 1)


def test_what_is_cut_off_is_said_to_be(tmp_path: Path) -> None:
    broken = tmp_path / "a.ttl.gz"
    broken.write_bytes(gzip.compress(b"@prefix e: <http://e.org/> ." * 1000)[:-20])
    with pytest.raises(SetupError, match="cannot be unpacked"):
        check_files([broken], most=MB)


LAUGHS = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 10))


@pytest.mark.parametrize(
    "definitions",
    [
        f'<!ENTITY a0 "ha">{LAUGHS}',
        f'<!ENTITY long "{"A" * 5000}">',
        '<!ENTITY file SYSTEM "file:///etc/passwd">',
        '<!ENTITY far PUBLIC "x" "http://127.0.0.1/">',
        '<!ENTITY % parameter "x">',
        "".join(f'<!ENTITY e{at} "x">' for at in range(2000)),
    ],
)
def test_entities_that_grow_or_reach_out_are_refused(tmp_path: Path, definitions: str) -> None:
    comment = f"<!--{'x' * 200_000}-->"  # definitions need not stand at the start
    file = tmp_path / "a.rdf"
    file.write_text(f"<?xml version='1.0'?>{comment}<!DOCTYPE r [{definitions}]><r/>")
    with pytest.raises(SetupError, match="entit"):
        check_files([file], most=MB)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE r [<!ENTITY owl "http://w3.org/owl#"><!ENTITY x "a &amp; &#65;">]><r/>',
        "<r>&undefined;</r>",
        "<http://e.org/a> <http://e.org/p> <http://e.org/b> .",
        "no xml",
        "",
    ],
)
def test_other_files_pass(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.rdf"
    file.write_text(text)
    check_files([file], most=MB)
