"""Gold results kept in a file, so that a figure can be measured again after the graph changed.

The first line says what was run; each other line is the result of one gold query:

    {"frozen": "askgraph gold", "askgraph": "0.1.0", "created": "2026-01-01T12:00:00+00:00",
     "graphs": {"space": {"engine": "pyoxigraph 0.5.13", "snapshot": "…"}}, "questions": 1}
    {"id": "q1", "query": "<sha256>", "graph": "space", "snapshot": "…", "seconds": 0.01, "n": 1,
     "vars": ["n"], "rows": [["\\"2\\"^^<http://www.w3.org/2001/XMLSchema#integer>"]]}

Terms are as in N-Triples, unbound is null. An ASK result has `boolean` instead of `vars` and
`rows`; a query that failed has `error` and no result.
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
from askgraph.evaluation import Table, aligned
from askgraph.evaluation.executors import completed
from askgraph.evaluation.files import LineFile, object_in, write_lines
from askgraph.evaluation.gold import Finding, table_in_words
from askgraph.evaluation.questions import GoldQuestion, query_table
from askgraph.sparql.comparison import Cell
from askgraph.sparql.results import Row, SelectResult, Term

Json = dict[str, object]

HEADER = {"frozen": "askgraph gold"}
BLANK: Cell = ("blank", "")


@dataclass(frozen=True)
class Frozen:
    """Gold results as they were: `results` by id, and the hash of the query that gave each.

    `errors` are those of the queries that failed. `header` is the file's first line.
    """

    path: Path
    header: Mapping[str, object]
    results: Mapping[str, Table]
    hashes: Mapping[str, str]
    errors: Mapping[str, str]

    def with_gold(self, question: GoldQuestion) -> GoldQuestion:
        """Return the question with its frozen result as stored answer.

        One without a query stays as it is, and so does one whose query failed when it was frozen.
        Raises `SetupError` if its result is missing, or is that of another query.
        """
        if question.sparql is None or question.unanswerable:
            return question
        self.check(question)
        if question.id in self.errors:
            return question
        return replace(question, answers=self.results[question.id])

    def check(self, question: GoldQuestion) -> None:
        """Raise `SetupError` if there is no result of this question's query."""
        known = self.hashes.get(question.id)
        if known is None:
            raise SetupError(
                f"{self.path} has no result for question {question.id!r}; freeze the benchmark anew"
            )
        if known != query_hash(question.sparql or ""):
            raise SetupError(
                f"the gold query of question {question.id!r} is not the one whose result "
                f"{self.path} holds; freeze it anew"
            )


def read_frozen(path: Path) -> Frozen:
    """Read a file of frozen gold; `SetupError`, with the line, if it is none or is damaged."""
    lines = list(_lines(path))
    if not lines or lines[0][1].get("frozen") != HEADER["frozen"]:
        raise SetupError(
            f"{path} holds no frozen gold; askgraph benchmark freeze writes such files"
        )
    results: dict[str, Table] = {}
    hashes: dict[str, str] = {}
    errors: dict[str, str] = {}
    for number, line in lines[1:]:
        match line:
            case {"id": str(identity), "query": str(query), "error": str(error)}:
                errors[identity] = error
            case {"id": str(identity), "query": str(query), "boolean": bool(truth)}:
                results[identity] = Table.of_boolean(truth)
            case {"id": str(identity), "query": str(query), "vars": list(names), "rows": rows}:
                terms = _read_rows(f"{path}, line {number}", names, rows)
                results[identity] = Table.of_result(SelectResult(tuple(names), terms))
            case _:
                raise SetupError(f"{path}, line {number}: no result of a gold query")
        hashes[identity] = query
    return Frozen(path, lines[0][1], results, hashes, errors)


def query_hash(query: str) -> str:
    """Return what stands for the text of a query."""
    return hashlib.sha256(query.encode("utf-8", "backslashreplace")).hexdigest()


def table_object(table: Table) -> Json:
    """Return a result as a line holds it."""
    if table.boolean is not None:
        return {"n": 1, "boolean": table.boolean}
    rows = [[None if term is None else _text(term) for term in row] for row in table.terms]
    return {"n": len(rows), "vars": list(table.variables), "rows": rows}


def drift(frozen: Frozen, question: GoldQuestion, now: Table) -> Finding | None:
    """Return a finding if the result of a gold query is another than the frozen one.

    Rows are compared as values and counted, in any order; blank nodes are all alike. Raises
    `SetupError` if the frozen result is of another query.
    """
    frozen.check(question)
    before = frozen.results.get(question.id)
    if before is None:
        seen = f"it failed when it was frozen: {frozen.errors[question.id]}; now it gives "
        return Finding.of(question, "drift", seen + table_in_words(now))
    ours, theirs = aligned(_alike(now), _alike(before))
    came, went = Counter(ours.rows), Counter(theirs.rows)
    if came == went:
        return None
    return Finding.of(
        question,
        "drift",
        f"{(went - came).total()} rows are gone and {(came - went).total()} are new: frozen is "
        f"{table_in_words(before)}, now it gives {table_in_words(now)}",
    )


def _alike(table: Table) -> Table:
    """Return the table with one value for all blank nodes, whose names mean nothing."""
    if not table.terms:
        return table
    rows = (
        tuple(
            BLANK if isinstance(term, BlankNode) else cell
            for cell, term in zip(cells, terms, strict=True)
        )
        for cells, terms in zip(table.rows, table.terms, strict=True)
    )
    return replace(table, rows=tuple(rows))


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{path} is not UTF-8 text: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, object_in(line, f"{path}, line {number}")


def _read_rows(place: str, names: list[object], rows: object) -> tuple[Row, ...]:
    """Return the rows of a line, their terms read at once."""
    if not isinstance(rows, list) or not all(
        isinstance(row, list)
        and len(row) == len(names)
        and all(isinstance(text, str | None) for text in row)
        for row in rows
    ):
        raise SetupError(f"{place}: a row needs a term or null for each of 'vars'")
    texts = dict.fromkeys(text for row in rows for text in row if text is not None)
    triples = "".join(f"<urn:s> <urn:p> {text} .\n" for text in texts)
    try:
        quads = list(parse(triples, RdfFormat.N_TRIPLES, lenient=True))
    except SyntaxError as error:
        raise SetupError(f"{place}: not a term of N-Triples: {error.msg}") from error
    terms = {text: quad.object for text, quad in zip(texts, quads, strict=True)}
    return tuple(tuple(None if text is None else terms[text] for text in row) for row in rows)


def _text(term: Term) -> str:
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


class Freezer:
    """Collects results in `OUT.part`; `finish` turns them into `OUT`.

    A later call goes on where one stopped: what is in `OUT.part` for the same query on the same
    snapshot of the same graph is not run again, unless it failed.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._part = LineFile(out.with_name(out.name + ".part"))
        self._graphs: dict[str, Json] = {}
        self._done: dict[str, None] = {}

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
        """Run the gold queries of questions about one graph; return how many failed.

        Questions without a query are passed over. `engine` and `snapshot` say what answered. Raises
        `Unreachable` and `Unauthorised`; other errors are kept as what the query gave.
        """
        self._graphs[graph] = {"engine": engine, "snapshot": snapshot}
        asked = [q for q in questions if q.sparql is not None and not q.unanswerable]
        self._done |= dict.fromkeys(question.id for question in asked)
        origin: Json = {"graph": graph, "snapshot": snapshot}
        waiting = [q for q in asked if not self._is_there(q, origin)]

        async def line(question: GoldQuestion) -> Json:
            assert question.sparql is not None
            start = time.perf_counter()
            try:
                table = await query_table(
                    question.sparql, endpoint, prefixes=prefixes, timeout=timeout
                )
                result = table_object(table)
            except (Unreachable, Unauthorised):
                raise
            except (QueryError, ServiceError) as error:
                result = {"error": f"{type(error).__name__}: {error}"}
            seconds = round(time.perf_counter() - start, 6)
            head = {"id": question.id, "query": query_hash(question.sparql), **origin}
            return {**head, "seconds": seconds, **result}

        done = len(asked) - len(waiting)
        async with aclosing(completed(waiting, line, concurrency=concurrency)) as stream:
            async for record in stream:
                self._part.append(record)
                done += 1
                if progress:
                    progress(done, len(asked))
        return sum("error" in self._part.lines[question.id] for question in asked)

    def finish(self, order: Sequence[str] = ()) -> None:
        """Write the file, lines in the order of these ids, and take the part away."""
        ids = dict.fromkeys(identity for identity in order if identity in self._done) | self._done
        header = {
            **HEADER,
            "askgraph": version("askgraph"),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "graphs": self._graphs,
            "questions": len(ids),
        }
        write_lines(self._out, [header, *(self._part.lines[identity] for identity in ids)])
        self.close()
        self._part.path.unlink()

    def close(self) -> None:
        """Close the part, which stays; a second call does nothing."""
        self._part.close()

    def __enter__(self) -> "Freezer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_there(self, question: GoldQuestion, origin: Json) -> bool:
        known = self._part.lines.get(question.id)
        if known is None or "error" in known:
            return False
        same = all(known.get(name) == value for name, value in origin.items())
        return same and known.get("query") == query_hash(question.sparql or "")
