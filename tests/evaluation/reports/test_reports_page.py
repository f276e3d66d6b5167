"""`docs/reports.md` names all that there is to explain."""

import re
from pathlib import Path

from tests.evaluation.reports.records import record, run_of

from askgraph.evaluation.reports.compare import compare, compare_json, side_of
from askgraph.evaluation.reports.failures import Failure
from askgraph.evaluation.reports.report import Report, report_json
from askgraph.evaluation.reports.report_sheets import BY

PAGE = (Path(__file__).parents[3] / "docs" / "reports.md").read_text(encoding="utf-8")
RUN = run_of(record())


def test_every_class_of_failure_is_explained_in_the_order_of_trying() -> None:
    table = PAGE.split("## Classes of failure")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+?) \|", table, flags=re.MULTILINE)
    assert rows[1:] == [str(failure) for failure in Failure]


def test_every_way_to_take_figures_apart_is_named() -> None:
    assert [by for by in BY if f"`{by}`" not in PAGE] == []


def test_every_key_of_the_json_is_named() -> None:
    side = side_of(RUN)
    keys = {*Report(RUN.records).json(), *report_json([RUN]), *compare_json(compare(side, side))}
    assert [key for key in sorted(keys) if f"`{key}`" not in PAGE] == []
