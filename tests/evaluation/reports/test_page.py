"""The page as text: what is in it, what cannot break out, and that equal runs give equal pages."""

import base64
import gzip
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.reports.made_runs import RECORD, STEPS, detail, graded, written_run

from askgraph.errors import SetupError
from askgraph.evaluation.reports.page import (
    BUILD_FOLDER,
    build_html_page,
    load_vega,
    read_built_file,
)
from askgraph.evaluation.runs import EvaluationRun
from askgraph.trace import Usage

pytestmark = pytest.mark.skipif(
    not BUILD_FOLDER.is_dir(), reason="the page is not built: make page"
)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \" ' \ud800 --><!--"


def packed(page: str, identity: str) -> Any:
    """What a script element of the page holds, unpacked."""
    found = re.search(rf'<script type="application/octet-stream" id="{identity}">(.*?)<', page)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


class Tags(HTMLParser):
    """The elements of a page, as a browser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def only_question(run: EvaluationRun) -> Mapping[str, Any]:
    (question,) = packed(build_html_page([run]), "index")["questions"]
    found: Mapping[str, Any] = question
    return found


def test_the_page_asks_for_nothing_and_runs_nothing_else(tmp_path: Path) -> None:
    page = build_html_page([written_run(tmp_path / "run", [RECORD])])
    tags = Tags(page).found
    addresses = [
        value for _, given in tags for name, value in given.items() if name in ("src", "href")
    ]
    assert addresses and all(address and address.startswith("#") for address in addresses)
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "@import" not in style and "url(" not in style
    (policy,) = [given["content"] for _, given in tags if "http-equiv" in given]
    assert policy and policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    hostile = replace(
        RECORD,
        id=HOSTILE,
        question=HOSTILE,
        benchmark=HOSTILE,
        method=HOSTILE,
        graph=HOSTILE,
        tags=(HOSTILE, "other"),
        sparql=HOSTILE,
        error=HOSTILE,
        failure=HOSTILE,
    )
    other = replace(hostile, id="other", tags=("other",), patterns=7)
    page = build_html_page([written_run(tmp_path / "run", [hostile, other])])

    page.encode("utf-8")
    tags = Tags(page).found
    assert "img" not in {tag for tag, _ in tags}
    assert {given["type"] for tag, given in tags if tag == "script"} == {
        "module",
        "application/json",
        "application/octet-stream",
    }
    assert packed(page, "index")["questions"][0]["text"] == HOSTILE


def test_the_traces_are_in_the_page_under_their_question(tmp_path: Path) -> None:
    records = [graded(number) for number in range(60)]
    traces = [
        detail(record, [{"step": "thought", "text": f"about {record.id}"}]) for record in records
    ]
    page = build_html_page([written_run(tmp_path / "run", records, details=traces[::-1])])

    question = packed(page, "index")["questions"][59]
    part, place = question["details"]
    (answer,) = packed(page, f"part-{part}")[place]
    assert question["id"] == "q59" and answer["steps"] == [{"step": "thought", "text": "about q59"}]
    assert answer["extra"] == [["http://example.org/Io"]]


def test_questions_and_answers_in_the_page(tmp_path: Path) -> None:
    # Of two traces with one key the later is shown, and a question without a trace is there.
    early, late = (detail(RECORD, [{"step": "thought", "text": text}]) for text in ("a", "b"))
    page = build_html_page([written_run(tmp_path / "twice", [RECORD], details=[early, late])])
    assert packed(page, "part-0")[0][0]["steps"] == [{"step": "thought", "text": "b"}]
    page = build_html_page([written_run(tmp_path / "none", [RECORD], details=[])])
    assert packed(page, "part-0")[0][0]["steps"] == []
    # Methods and runs stand beside each other on the same question.
    one = written_run(tmp_path / "a" / "run", [RECORD, replace(RECORD, method="other")])
    two = written_run(tmp_path / "b" / "run", [RECORD])
    index = packed(build_html_page([one, two]), "index")
    assert index["systems"] == ["run (1):other", "run (1):search", "run (2):search"]
    (question,) = index["questions"]
    assert [answer["system"] for answer in question["answers"]] == [1, 0, 2]
    # A question whose gold differs between runs is two.
    other = written_run(tmp_path / "gold", [replace(RECORD, gold_sparql="ASK { ?s ?p ?o }")])
    questions = packed(build_html_page([two, other]), "index")["questions"]
    assert [question["link"] for question in questions] == ["#q/moons/q1", "#q/moons/q1/2"]
    # Repetitions are told apart.
    run = written_run(tmp_path / "again", [RECORD, replace(RECORD, repeat=1)])
    systems = packed(build_html_page([run]), "index")["systems"]
    assert systems == ["search · repetition 1", "search · repetition 2"]
    # Queries are laid out with the prefixes of gold.
    predicted = "prefix e: <http://example.org/> select ?x { ?x a e:Moon . ?x e:partOf e:Mars }"
    question = only_question(written_run(tmp_path / "laid", [replace(RECORD, sparql=predicted)]))
    (answer,) = question["answers"]
    assert answer["sparql"] == predicted
    assert "  ?x a ex:Moon ;\n      ex:partOf ex:Mars .\n" in answer["sparql_laid"]
    # What is no SPARQL is shown as it is.
    record = replace(RECORD, sparql="SELECT ?x {", gold_sparql="nothing <", failure=None)
    question = only_question(written_run(tmp_path / "broken", [record]))
    assert question["gold"] == "nothing <" and "gold_laid" not in question
    assert "sparql_laid" not in question["answers"][0]


def test_without_times_equal_runs_give_equal_pages(tmp_path: Path) -> None:
    slow = replace(RECORD, seconds=9.5, usage=Usage(seconds=9.5, requests=7))
    waited = [{**step, "seconds": 7.75} if "seconds" in step else step for step in STEPS]
    one = written_run(tmp_path / "monday", [RECORD])
    two = written_run(
        tmp_path / "friday", [slow], details=[detail(slow, waited)], created="2026-02-03T04:05:06Z"
    )

    assert build_html_page([one], with_times=False) == build_html_page([two], with_times=False)
    assert build_html_page([one]) != build_html_page([two])


def test_times_metrics_and_what_is_missing(tmp_path: Path) -> None:
    # Without times no time is left.
    whole = written_run(tmp_path / "whole", [RECORD])
    page = build_html_page([whole], with_times=False)
    assert "seconds" not in json.dumps([packed(page, "index"), packed(page, "part-0")])
    assert "2026-01-02" not in page
    # An incomplete run is said.
    page = build_html_page([whole, written_run(tmp_path / "broken", [RECORD], planned=1156)])
    assert "The run “broken” is incomplete:</strong> 1 of 1,156 answers." in page
    assert "“whole” is incomplete" not in page
    # Another metric stands in front and an unknown one is refused.
    page = build_html_page([whole], metric="exact_match")
    index = packed(page, "index")
    assert index["metric"] == "exact_match" and "F1, exact_match" in page
    assert index["metrics"] == ["exact_match", "best_column", "flattened"]
    with pytest.raises(SetupError, match="nonsense"):
        build_html_page([whole], metric="nonsense")
    with pytest.raises(SetupError, match="at least one record"):
        build_html_page([written_run(tmp_path / "empty", [])])


def test_it_says_which_extra_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = written_run(tmp_path / "run", [RECORD])
    load_vega.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(SetupError, match=r"needs vl_convert: pip install 'askgraph\[evaluation\]'"):
        build_html_page([run])


def test_it_says_how_to_build_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = written_run(tmp_path / "run", [RECORD])
    read_built_file.cache_clear()
    monkeypatch.setattr("askgraph.evaluation.reports.page.BUILD_FOLDER", tmp_path)
    with pytest.raises(SetupError, match="run `make page`"):
        build_html_page([run])


def test_a_thousand_traces_take_a_few_megabytes(tmp_path: Path) -> None:
    records = [graded(number) for number in range(1156)]
    assert len(build_html_page([written_run(tmp_path / "run", records)]).encode()) < 4_000_000
