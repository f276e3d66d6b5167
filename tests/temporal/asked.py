"""The questions of time and units: small graphs, and what each question should give."""

import json
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

from pyoxigraph import QueryBoolean
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import RankedCandidates, cluster_candidates

__all__ = ["HERE", "TODAY", "Asked", "answer_of", "graph_of", "proposal_of", "questions_in"]

HERE = Path(__file__).parent
TODAY = date(2024, 6, 30)


@dataclass(frozen=True)
class Asked:
    """A question, its language, its graph, and the values of the column that answers it."""

    graph: str
    language: str
    question: str
    answers: frozenset[str]


def questions_in(name: str) -> list[Asked]:
    """The questions of a file."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [
        Asked(one["graph"], one["language"], one["question"], frozenset(one["answers"]))
        for one in map(json.loads, lines)
    ]


@lru_cache(maxsize=8)
def graph_of(name: str) -> Known:
    """A graph of this folder."""
    return known((HERE / f"{name}.ttl").read_text(encoding="utf-8"))


def known(turtle: str) -> Known:
    """A graph in memory, from Turtle."""
    return Known(store_of(turtle))


def proposal_of(
    graph: Known, question: str, language: str = "en", *, today: date = TODAY
) -> RankedCandidates:
    """The candidates for a question on a day."""
    linked = link_text(question, language, graph.names)
    return propose_from_links(linked, build_schema(graph.arrays, graph.profile), today=today)


def answer_of(
    graph: Known, question: str, language: str = "en", *, today: date = TODAY
) -> list[frozenset[str]]:
    """The values of each column that answers, by the best candidate; "true" or "false" for ASK."""
    found = cluster_candidates(proposal_of(graph, question, language, today=today).candidates)
    if not found:
        return []
    best = found[0].best
    text = graph.query(best.query)
    result = graph.store.query(text)
    if isinstance(result, QueryBoolean):
        return [frozenset([str(bool(result)).lower()])]
    rows = graph.rows(text)
    assert not isinstance(rows, bool)
    names = [variable.value for variable in graph.store.query(text).variables]  # type: ignore[union-attr]
    kept = [at for at, name in enumerate(names) if name in best.columns]
    return [frozenset(_short(row[at]) for row in rows) for at in kept]


def _short(term: str | None) -> str:
    """A term without its namespace or datatype; numbers to six digits, midnights as days."""
    if term is None:
        return ""
    if term.startswith("<"):
        return term[1:-1].rsplit("/", 1)[-1].rsplit("#", 1)[-1]
    text = term[1:].split('"')[0]
    try:
        number = round(float(text), 6)
    except ValueError:
        return text.split("T00:00:00")[0]
    return str(int(number)) if number.is_integer() else str(number)
