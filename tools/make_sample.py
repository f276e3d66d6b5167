"""Write the answers of the sample's questions: `python tools/make_sample.py`.

`space.ttl` and `questions.ttl` are written by hand; `questions.jsonl` holds the same questions with
the answers that the graph gives to their queries.
"""

import json
from pathlib import Path

import pyoxigraph as ox

SAMPLE = Path(__file__).parents[1] / "src" / "askgraph" / "sample"


def main() -> None:
    """Write the answered questions beside the handwritten ones."""
    graph, questions = (
        (SAMPLE / name).read_text(encoding="utf-8") for name in ("space.ttl", "questions.ttl")
    )
    (SAMPLE / "questions.jsonl").write_text(answered(questions, graph), encoding="utf-8")


def answered(questions: str, graph: str) -> str:
    """Return the text of `questions.jsonl`: one question a line, with the answers of its query."""
    examples, store = ox.Store(), ox.Store()
    examples.load(questions.encode(), format=ox.RdfFormat.TURTLE)
    store.load(graph.encode(), format=ox.RdfFormat.TURTLE)
    found = examples.query(Path(__file__).with_suffix(".rq").read_text("utf-8"))
    assert isinstance(found, ox.QuerySolutions)
    return "".join(json.dumps(record(row, store), ensure_ascii=False) + "\n" for row in found)


def record(row: ox.QuerySolution, store: ox.Store) -> dict[str, object]:
    """Return one line of `questions.jsonl`."""
    question, sparql = row["question"], plain(row["query"]) or None
    return {
        "id": plain(row["id"]).rsplit("/", 1)[-1],
        "question": plain(question),
        "lang": question.language if isinstance(question, ox.Literal) else None,
        "sparql": sparql,
        "tags": sorted(plain(row["tags"]).split("|")),
        "answers": answers(sparql, store) if sparql else None,
    }


def answers(query: str, store: ox.Store) -> dict[str, object]:
    """Return the answer as plain strings; rows are sorted where the query does not order."""
    result = store.query(query)
    if isinstance(result, ox.QueryBoolean):
        return {"boolean": bool(result)}
    assert isinstance(result, ox.QuerySolutions)
    names = [variable.value for variable in result.variables]
    table = [[plain(row[name]) for name in names] for row in result]
    return {"vars": names, "rows": table if "ORDER BY" in query else sorted(table)}


def plain(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    """Return a term's IRI or lexical form; "" for a value that is missing."""
    return "" if term is None or isinstance(term, ox.Triple) else term.value


if __name__ == "__main__":
    main()
