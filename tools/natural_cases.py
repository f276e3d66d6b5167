"""Natural questions over real graphs: read them, ask them, judge each outcome.

A question is judged as a person would: the best column counts, numbers by value, things also by
their literals (a name, a key), and any fair reading is right. A question without an answer is right
unless it is answered.
"""

import asyncio
import hashlib
import json
import shutil
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
from pyoxigraph import Literal as RdfLiteral
from tools.judging import Judge

import askgraph
from askgraph.answers.verbalize import describe_confidence
from askgraph.errors import AskgraphError
from askgraph.evaluation import ResultTable
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.search import decide
from askgraph.search.rank import cluster_candidates
from askgraph.sparql.results import Term
from askgraph.sparql.serializer import render_query
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES
from askgraph.trace import Answer, Clarification, Outcome, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method

SetName = Literal["natural", "paraphrases", "originals"]
FOLDERS: Mapping[SetName, str] = {
    "natural": "natural",
    "paraphrases": "spider-graphs",
    "originals": "spider-graphs",
}
"""The folder of each set in the data."""

MIN_RIGHT_F1 = 0.99
MAX_CLUSTERS = 40
GOLD_SECONDS, QUERY_SECONDS = 300.0, 60.0
CANDIDATE_SECONDS = 5.0
INDEX_ROOMS = ("endpoint", "graph", "index", "workspace")
"""Rooms of the package whose code builds the data of a graph."""


@dataclass(frozen=True)
class NaturalQuestion:
    """A question over the graph of a file."""

    id: str  # identifies the question in its set
    kg: str  # the name of the graph's file
    text: str  # the question
    gold: tuple[str, ...]  # the right queries; none if the graph cannot answer
    tags: tuple[str, ...]  # the kinds of question

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return Path(self.kg).stem


@dataclass(frozen=True)
class JudgedOutcome:
    """The outcome of one question, with the figures and query of the answer or best attempt."""

    id: str
    graph: str
    tags: tuple[str, ...]
    question: str
    gold: tuple[str, ...]
    status: str  # `answer`, `clarification`, `refusal` or `crash`
    attempt_f1: float = 0.0
    confidence: float = 0.0
    seconds: float = 0.0
    query: str = ""
    reading: str = ""  # the query in words
    words: str = ""  # the sentence of the answer, the reason or the question back
    error: str = ""
    place: int | None = None  # that of the first right candidate, from 1

    @classmethod
    def from_json(cls, item: Mapping[str, Any]) -> "JudgedOutcome":
        """Build an outcome from its JSON object."""
        return cls(**{**item, "tags": tuple(item["tags"]), "gold": tuple(item["gold"])})

    @property
    def is_answer(self) -> bool:
        """Whether the user got an answer."""
        return self.status == "answer"

    @property
    def is_right(self) -> bool:
        """Whether the answer is right, or rightly missing."""
        if not self.gold:
            return self.status in ("clarification", "refusal")
        return self.is_answer and self.attempt_f1 > MIN_RIGHT_F1

    @property
    def f1(self) -> float:
        """The F1 of the answer; an outcome that is no answer counts 0."""
        return self.attempt_f1 if self.is_answer else 0.0

    @property
    def confidence_word(self) -> str:
        """The word that the user reads beside an answer."""
        return describe_confidence(self.confidence).partition(" (")[0] if self.is_answer else ""


def read_questions(data: Path, name: SetName) -> list[NaturalQuestion]:
    """Return the questions of a set; `originals` are the questions that were reworded."""
    folder = data / FOLDERS[name]
    items = list(_read_lines(folder / "questions.jsonl"))
    if name != "natural":
        originals = {item["id"]: item for item in items}
        items = [
            originals[item["id"]] | (item if name == "paraphrases" else {})
            for item in _read_lines(folder / "paraphrases.jsonl")
        ]
    return [build_question(item) for item in items]


def read_originals(data: Path, kg: str) -> list[NaturalQuestion]:
    """Return the known questions over a graph of `spider-graphs`; none for other graphs."""
    items = _read_lines(data / FOLDERS["originals"] / "questions.jsonl")
    return [build_question(item) for item in items if item["kg"] == kg and item.get("sparql")]


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def build_question(item: Mapping[str, Any]) -> NaturalQuestion:
    """Return the question of a line of `questions.jsonl`."""
    gold = (item["sparql"], *item.get("also", ())) if item.get("sparql") else ()
    graph, language = Path(item["kg"]).stem, item.get("lang", "en")
    tags = tuple(tag for tag in item.get("tags", ()) if tag != graph)
    tags += (f"language:{language}",) if language != "en" else ()
    return NaturalQuestion(item["id"], item["kg"], item["question"], gold, tags)


def prepare_workspace(folder: Path) -> Path:
    """Return the folder of a workspace; it is emptied if the code of the index has changed."""
    digest = hashlib.sha256()
    for room in INDEX_ROOMS:
        for path in sorted((Path(askgraph.__file__).parent / room).rglob("*.py")):
            digest.update(path.read_bytes())
    stamp, workspace = folder / "code.sha256", folder / "workspace"
    if not stamp.is_file() or stamp.read_text() != digest.hexdigest():
        shutil.rmtree(workspace, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest.hexdigest())
    return workspace


def _keep_first(first: Any, *_: object) -> Any:
    return first


def _weigh_evidence(proposal: Any, ranked: Any) -> float:
    evidence = decide.collect_evidence(proposal, ranked) if ranked else None
    return decide.calibrate(decide.score_evidence(evidence)) if evidence else 0.0


PARTS: Mapping[str, Mapping[str, object]] = {
    "vectors": {"search.pipeline.link_by_meaning": _keep_first},
    "vocabularies": {"graph.vocabularies._read_packaged_files": tuple},
    "speller": {"search.pipeline.correct_spelling": _keep_first},
    "limits": {"search.decide.estimate_confidence": _weigh_evidence},
}
"""What replaces a part that is left out; without `limits`, only the trees give confidence."""


@dataclass(frozen=True)
class GraphTask:
    """The questions over one graph, and how to ask them."""

    path: Path
    questions: tuple[NaturalQuestion, ...]
    workspace: Path
    method: str
    settings: Mapping[str, str] = field(default_factory=dict)
    places: bool = False  # whether to look for the right query among the candidates
    without: str = ""  # a part that is left out
    examples: tuple[QueryExample, ...] = ()  # confirmed questions, which the graph has

    def run(self) -> list[JudgedOutcome]:
        """Ask all questions, one after the other."""
        for target, value in PARTS.get(self.without, {}).items():
            patch(f"askgraph.{target}", value).start()
        workspace, name = Workspace(self.workspace), self.path.stem
        if name not in workspace.graphs():
            workspace.add(name, [self.path])
        method = workspace.method(self.method, self.settings, confirmed=bool(self.examples))
        graph = workspace.graph(name)
        with Judge(replace(graph, examples=self.examples) if self.examples else graph) as judge:
            judge.propose(self.questions[0].text, None)  # the first one pays for loading
            outcomes = []
            for question in self.questions:
                started = time.perf_counter()
                asking = ask_method(Question(question.text), method, [judge.graph])
                outcome = judge.runner.run(_catch_crash(asking))
                seconds = time.perf_counter() - started
                outcomes.append(self.judge(judge, question, outcome, round(seconds, 3)))
        return outcomes

    def judge(
        self,
        judge: Judge,
        question: NaturalQuestion,
        outcome: Outcome | BaseException,
        seconds: float,
    ) -> JudgedOutcome:
        """Judge what a method gave, or its crash."""
        best, facts = None, {"status": "crash", "error": repr(outcome)}
        if isinstance(outcome, Answer):
            best, facts = outcome, {"status": "answer", "words": outcome.sentence or outcome.words}
        elif isinstance(outcome, Clarification):
            best, facts = outcome.best, {"status": "clarification", "words": outcome.question}
        elif not isinstance(outcome, BaseException):
            best, facts = outcome.best, {"status": "refusal", "words": outcome.reason}
        scores = QueryScorer(judge, question.gold)
        place, f1 = None, scores.score(best.query, QUERY_SECONDS) if best else 0.0
        is_bad = f1 <= MIN_RIGHT_F1 or not isinstance(outcome, Answer)
        if self.places and question.gold and is_bad:
            place = scores.find_place(question.text)
        return JudgedOutcome(
            question.id, question.graph, question.tags, question.text, question.gold,
            attempt_f1=round(f1, 4), confidence=best.confidence if best else 0.0, seconds=seconds,
            query=best.query if best else "", reading=best.words if best else "", place=place,
            **facts,
        )  # fmt: skip


async def _catch_crash(asking: Coroutine[Any, Any, Outcome]) -> Outcome | BaseException:
    return (await asyncio.gather(asking, return_exceptions=True))[0]


@dataclass
class QueryScorer:
    """Scores of queries against the right queries of one question."""

    judge: Judge
    gold: Sequence[str]
    tables: list[ResultTable] | None = None

    def score(self, query: str, seconds: float) -> float:
        """Return the best F1 of a query; 0 if it cannot be run."""
        if self.tables is None:
            golds = (self._run(gold, GOLD_SECONDS) for gold in self.gold)
            self.tables = [table for table in golds if table is not None]
        table = self._run(query, seconds) if self.tables else None
        if table is None:
            return 0.0
        return max(score_columns(table, gold, self.judge.graph) for gold in self.tables)

    def _run(self, query: str, seconds: float) -> ResultTable | None:
        try:
            return self.judge.table(query, seconds)
        except AskgraphError:
            return None

    def find_place(self, text: str) -> int | None:
        """Return the place of the first right candidate of graph search, from 1."""
        graph = self.judge.graph
        proposal = self.judge.propose(text, None)
        for place, cluster in enumerate(cluster_candidates(proposal.candidates)[:MAX_CLUSTERS], 1):
            query = render_query(cluster.best.query, graph.prefixes)
            if self.score(query, CANDIDATE_SECONDS) > MIN_RIGHT_F1:
                return place
        return None


def score_columns(table: ResultTable, gold: ResultTable, graph: KnowledgeGraph) -> float:
    """Return the mean over gold's columns of the best column's F1; a thing may be its literal."""
    columns, wanted_columns = _list_columns(table), _list_columns(gold)
    scores = []
    for wanted_terms in wanted_columns:
        wanted = set(map(_to_key, wanted_terms))
        named = ({_name_term(term, wanted, graph) for term in terms} for terms in columns)
        scores.append(max((_compute_f1(values, wanted) for values in named), default=0.0))
    return sum(scores) / len(scores) if scores else 0.0


def _list_columns(table: ResultTable) -> list[set[Term]]:
    if table.boolean is not None:
        return [{RdfLiteral(str(table.boolean).lower())}]
    return [
        {term for row in table.terms if (term := row[index]) is not None}
        for index in range(len(table.variables))
    ]


def _to_key(term: Term) -> str:
    """Return the value of a term as text; numbers of any datatype compare by value."""
    if not isinstance(term, RdfLiteral):
        return str(term)
    if term.datatype.value in NUMERIC_DATATYPES:
        with suppress(ValueError):
            return f"{float(term.value):.6g}"
    return term.value


def _name_term(term: Term, wanted: set[str], graph: KnowledgeGraph) -> str:
    """Return the value of a term, or that literal of a thing which is wanted."""
    key, arrays = _to_key(term), graph.arrays
    node = None if arrays is None else arrays.terms.find(str(term))
    if key in wanted or arrays is None or node is None or arrays.terms.is_literal(node):
        return key
    nodes = np.array([node], dtype=np.int32)
    ends = {end for p in arrays.get_predicates(nodes) for end in arrays.step(nodes, p).tolist()}
    literals = {_to_key(arrays.terms.get_term(end)) for end in ends if arrays.terms.is_literal(end)}
    return min(wanted & literals, default=key)


def _compute_f1(values: set[str], wanted: set[str]) -> float:
    if not values and not wanted:
        return 1.0
    return 2 * len(values & wanted) / (len(values) + len(wanted))
