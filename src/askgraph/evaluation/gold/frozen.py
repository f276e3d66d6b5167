r"""Gold results stored in a file, so that scores can be reproduced after the graph changed.

The first line describes the run; each other line is the result of one gold query:

    {"frozen": "askgraph gold", "askgraph": "0.1.0", "created": "2026-01-01T12:00:00+00:00",
     "graphs": {"space": {"engine": "pyoxigraph 0.5.13", "snapshot": "…"}}, "questions": 1}
    {"id": "q1", "query": "<sha256>", "graph": "space", "snapshot": "…", "seconds": 0.01, "n": 1,
     "vars": ["n"], "rows": [["\\"2\\"^^<http://www.w3.org/2001/XMLSchema#integer>"]]}

Terms are written as in N-Triples, unbound is null. An ASK result has `boolean` instead of `vars`
and `rows`; a failed query has `error` and no result.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pyoxigraph import BlankNode, RdfFormat, Triple, parse

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, ServiceError, SetupError, Unauthorised, Unreachable
from askgraph.evaluation import ResultTable, align_numbers
from askgraph.evaluation.executors import run_concurrently
from askgraph.evaluation.files import LineFile, parse_object, write_lines
from askgraph.evaluation.gold import GoldFinding, summarize_table
from askgraph.evaluation.questions import GoldQuestion, run_query
from askgraph.graph.archives import read_text
from askgraph.sparql.comparison import Cell
from askgraph.sparql.results import Row, SelectResult, Term

Json = dict[str, object]

HEADER = {"frozen": "askgraph gold"}
BLANK_NODE_CELL: Cell = ("blank", "")


@dataclass(frozen=True)
class FrozenGold:
    """Frozen gold by question id: results, hashes of the queries behind them, and errors."""

    path: Path
    header: Mapping[str, object]
    results: Mapping[str, ResultTable]
    hashes: Mapping[str, str]
    errors: Mapping[str, str]

    def set_stored_answer(self, question: GoldQuestion) -> GoldQuestion:
        """Return the question with its frozen result as stored answer.

        A question without a query, or whose query failed when it was frozen, is returned unchanged.

        Raises:
            SetupError: The result is missing or belongs to another query.
        """
        if question.sparql is None or question.unanswerable:
            return question
        self.check_question(question)
        if question.id in self.errors:
            return question
        return replace(question, answers=self.results[question.id])

    def check_question(self, question: GoldQuestion) -> None:
        """Raise `SetupError` unless the file holds the result of this question's query."""
        stored_hash = self.hashes.get(question.id)
        if stored_hash is None:
            raise SetupError(
                f"{self.path} has no result for question {question.id!r}; freeze the "
                "benchmark again"
            )
        if stored_hash != hash_query(question.sparql or ""):
            raise SetupError(
                f"the gold query of question {question.id!r} has changed since its result "
                f"was stored in {self.path}; freeze the benchmark again"
            )


def read_frozen_gold(path: Path) -> FrozenGold:
    """Read frozen gold; raise `SetupError` with the line if the file is another or damaged."""
    lines = list(_iterate_lines(path))
    if not lines or lines[0][1].get("frozen") != HEADER["frozen"]:
        raise SetupError(
            f"{path} contains no frozen gold results; create such a file with: askgraph "
            "benchmark freeze"
        )
    results: dict[str, ResultTable] = {}
    hashes: dict[str, str] = {}
    errors: dict[str, str] = {}
    for number, line in lines[1:]:
        match line:
            case {"id": str(identity), "query": str(query), "error": str(error)}:
                errors[identity] = error
            case {"id": str(identity), "query": str(query), "boolean": bool(value)}:
                results[identity] = ResultTable.from_boolean(value)
            case {"id": str(identity), "query": str(query), "vars": list(names), "rows": rows}:
                terms = _read_rows(f"{path}, line {number}", names, rows)
                results[identity] = ResultTable.from_result(SelectResult(tuple(names), terms))
            case _:
                raise SetupError(f"{path}, line {number}: not a result of a gold query")
        hashes[identity] = query
    return FrozenGold(path, lines[0][1], results, hashes, errors)


def hash_query(query: str) -> str:
    """Return the SHA-256 of the text of a query."""
    return hashlib.sha256(query.encode("utf-8", "backslashreplace")).hexdigest()


def to_table_object(table: ResultTable) -> Json:
    """Return a result as the JSON object of a line."""
    if table.boolean is not None:
        return {"n": 1, "boolean": table.boolean}
    rows = [[None if term is None else _format_term(term) for term in row] for row in table.terms]
    return {"n": len(rows), "vars": list(table.variables), "rows": rows}


def find_drift(
    frozen: FrozenGold, question: GoldQuestion, table: ResultTable
) -> GoldFinding | None:
    """Return a finding if the result of a gold query differs from the frozen one.

    Rows are compared by value and count, in any order; all blank nodes are equal.

    Raises:
        SetupError: The frozen result belongs to another query.
    """
    frozen.check_question(question)
    frozen_table = frozen.results.get(question.id)
    if frozen_table is None:
        details = f"it failed when it was frozen: {frozen.errors[question.id]}; now it gives "
        return GoldFinding(question.id, "drift", details + summarize_table(table))
    current, previous = align_numbers(_unify_blank_nodes(table), _unify_blank_nodes(frozen_table))
    current_counts, previous_counts = Counter(current.rows), Counter(previous.rows)
    if current_counts == previous_counts:
        return None
    return GoldFinding(
        question.id,
        "drift",
        f"{(previous_counts - current_counts).total()} rows are gone and "
        f"{(current_counts - previous_counts).total()} are new: frozen is "
        f"{summarize_table(frozen_table)}, now it gives {summarize_table(table)}",
    )


def _unify_blank_nodes(table: ResultTable) -> ResultTable:
    if not table.terms:
        return table
    rows = (
        tuple(
            BLANK_NODE_CELL if isinstance(term, BlankNode) else cell
            for cell, term in zip(cells, terms, strict=True)
        )
        for cells, terms in zip(table.rows, table.terms, strict=True)
    )
    return replace(table, rows=tuple(rows))


def _iterate_lines(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, parse_object(line, f"{path}, line {number}")


def _read_rows(location: str, names: list[object], rows: object) -> tuple[Row, ...]:
    if not isinstance(rows, list) or not all(
        isinstance(row, list)
        and len(row) == len(names)
        and all(isinstance(text, str | None) for text in row)
        for row in rows
    ):
        raise SetupError(f"{location}: a row needs a term or null for each of 'vars'")
    texts = dict.fromkeys(text for row in rows for text in row if text is not None)
    triples = "".join(f"<urn:s> <urn:p> {text} .\n" for text in texts)
    try:
        quads = list(parse(triples, RdfFormat.N_TRIPLES, lenient=True))
    except SyntaxError as error:
        raise SetupError(f"{location}: not an N-Triples term: {error.msg}") from error
    terms = {text: quad.object for text, quad in zip(texts, quads, strict=True)}
    return tuple(tuple(None if text is None else terms[text] for text in row) for row in rows)


def _format_term(term: Term) -> str:
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


class GoldFreezer:
    """Collects results in `OUT.part`; `finish` turns them into `OUT`.

    A later call resumes: results in `OUT.part` of the same query on the same snapshot of the same
    graph are reused, unless the query failed.
    """

    def __init__(self, output_path: Path) -> None:
        self._output_path = output_path
        self._part_file = LineFile(output_path.with_name(output_path.name + ".part"))
        self._graphs: dict[str, Json] = {}
        self._finished_ids: dict[str, None] = {}

    async def add(
        self,
        questions: Sequence[GoldQuestion],
        endpoint: Endpoint,
        *,
        graph: str,
        engine: str,
        snapshot: str,
        prefixes: Mapping[str, str] | None = None,
        timeout: float | None = None,
        concurrency: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Run the gold queries of questions about one graph; return the number of failures.

        Args:
            questions: Questions about the graph; those without a query are skipped.
            engine: Name and version of the engine, for the record.
            snapshot: State of the graph, for the record.
            prefixes: Prefixes that gold queries may use without declaring them.
            timeout: Limit in seconds per query.
            concurrency: Number of queries that run at once.
            progress: Called with the number of finished questions and of all questions.

        Raises:
            Unreachable: The endpoint is down.
            Unauthorised: The endpoint refused access. Other errors are stored as results.
        """
        self._graphs[graph] = {"engine": engine, "snapshot": snapshot}
        answerable = [
            question
            for question in questions
            if question.sparql is not None and not question.unanswerable
        ]
        self._finished_ids |= dict.fromkeys(question.id for question in answerable)
        origin: Json = {"graph": graph, "snapshot": snapshot}
        pending = [question for question in answerable if not self._is_frozen(question, origin)]

        async def freeze_question(question: GoldQuestion) -> Json:
            assert question.sparql is not None
            start = time.perf_counter()
            try:
                table = await run_query(
                    question.sparql, endpoint, prefixes=prefixes, timeout=timeout
                )
                result = to_table_object(table)
            except (Unreachable, Unauthorised):
                raise
            except (QueryError, ServiceError) as error:
                result = {"error": f"{type(error).__name__}: {error}"}
            seconds = round(time.perf_counter() - start, 6)
            origin_fields = {"id": question.id, "query": hash_query(question.sparql), **origin}
            return {**origin_fields, "seconds": seconds, **result}

        finished_count = len(answerable) - len(pending)
        async with aclosing(
            run_concurrently(pending, freeze_question, concurrency=concurrency)
        ) as stream:
            async for record in stream:
                self._part_file.append(record)
                finished_count += 1
                if progress:
                    progress(finished_count, len(answerable))
        return sum("error" in self._part_file.lines[question.id] for question in answerable)

    def finish(self, order: Sequence[str] = ()) -> None:
        """Write the file with its lines in the order of these ids, and delete the part file."""
        ids = (
            dict.fromkeys(identity for identity in order if identity in self._finished_ids)
            | self._finished_ids
        )
        header = {
            **HEADER,
            "askgraph": version("askgraph"),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "graphs": self._graphs,
            "questions": len(ids),
        }
        write_lines(
            self._output_path, [header, *(self._part_file.lines[identity] for identity in ids)]
        )
        self.close()
        self._part_file.path.unlink()

    def close(self) -> None:
        """Close the part file, which stays on disk; a second call has no effect."""
        self._part_file.close()

    def __enter__(self) -> "GoldFreezer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_frozen(self, question: GoldQuestion, origin: Json) -> bool:
        record = self._part_file.lines.get(question.id)
        if record is None or "error" in record:
            return False
        has_same_origin = all(record.get(name) == value for name, value in origin.items())
        return has_same_origin and record.get("query") == hash_query(question.sparql or "")
