"""Write the sample graph: `python tools/make_sample.py` turns `sample_facts/*.csv` into Turtle.

The fact tables are the source of `space.ttl`; `questions.ttl` is written by hand, and
`questions.jsonl` holds the same questions with the answers that the graph gives to their queries.

A table has a row for each entity. The columns `id`, `type`, `en`, `de`, `es`, `alt` and `comment`
name it; every other column is named for a predicate of `predicates.csv`. `|` separates several
values; an alternative name ends in `@de` or `@es` unless it is English. `crew.csv` has a row for
each crew membership instead.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyoxigraph as ox

FACTS = Path(__file__).parent / "sample_facts"
SAMPLE = Path(__file__).parent.parent / "src" / "askgraph" / "sample"
QUESTIONS = "questions.ttl"
LANGUAGES = ("en", "de", "es")
NAMING = {"id", "type", "parent", "alt", "comment", *LANGUAGES}
PREFIXES = {
    "crew": "https://example.org/space/crew/",
    "ont": "https://example.org/space/ontology#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "space": "https://example.org/space/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEADER = "# A graph of well-known facts about space exploration, written for askgraph.\n"
GENERATED = "# Made by tools/make_sample.py from the tables in tools/sample_facts.\n\n"
FIRST = ["a", "rdfs:label", "skos:altLabel", "rdfs:comment"]
"""Predicates that come first in a block; the others come by name."""

Row = Mapping[str, str]
Block = tuple[str, Mapping[str, Iterable[str]]]
"""What the graph says of one subject: its Turtle terms by predicate."""


def main() -> None:
    """Write the graph and the answered questions beside the handwritten questions."""
    graph = graph_turtle()
    questions = (SAMPLE / QUESTIONS).read_text(encoding="utf-8")
    (SAMPLE / "space.ttl").write_text(graph, encoding="utf-8")
    (SAMPLE / "questions.jsonl").write_text(answered(questions, graph), encoding="utf-8")


def graph_turtle() -> str:
    """Return the text of `space.ttl`."""
    tables = {path.stem: read_rows(path) for path in sorted(FACTS.glob("*.csv"))}
    classes, predicates, crew = map(tables.pop, ("classes", "predicates", "crew"))
    parents = {row["id"]: row["parent"] for row in classes}
    ranges = {row["id"]: row["range"] for row in predicates}
    entities = {row["id"]: row for table in tables.values() for row in table}
    sections = {
        "vocabulary: classes": [
            declaration(row, ["owl:Class"], {"rdfs:subClassOf": row["parent"]}) for row in classes
        ],
        "vocabulary: predicates": list(map(predicate_block, predicates)),
        **{name: [entity_block(row, parents, ranges) for row in t] for name, t in tables.items()},
        "crew memberships": list(crew_blocks(crew, entities)),
    }
    refuse_unknown([block for blocks in sections.values() for block in blocks])
    prefixes = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    parts = [
        f"\n# {name.replace('_', ' ')}\n\n" + "\n".join(map(turtle, sorted(blocks, key=order)))
        for name, blocks in sections.items()
    ]
    return HEADER + GENERATED + prefixes + "".join(parts)


def read_rows(path: Path) -> list[Row]:
    """Read a fact table; exit if a row has more or fewer cells than the header."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *cells = csv.reader(file)
    for row in cells:
        if len(row) != len(header):
            sys.exit(f"{path.name}: {row[0]!r} has {len(row)} cells, the header {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in cells]


def turtle(block: Block) -> str:
    """Return a block as it is written: type and names first, then by predicate."""
    subject, values = block
    lines = [
        f"    {predicate} {', '.join(dict.fromkeys(values[predicate]))}"
        for predicate in [*FIRST, *sorted(values.keys() - set(FIRST))]
        if values.get(predicate)
    ]
    return f"{subject}\n" + " ;\n".join(lines) + " .\n"


def order(block: Block) -> tuple[str, int]:
    """Sort by subject; the numbers in crew nodes sort as numbers."""
    found = re.fullmatch(r"(.*?)(?:-(\d+))?", block[0])
    return (found[1], int(found[2] or 0)) if found else (block[0], 0)


def predicate_block(row: Row) -> Block:
    """Return the declaration of a predicate."""
    is_literal = row["range"].startswith("xsd:") or not row["range"]
    kinds = ["owl:DatatypeProperty" if is_literal else "owl:ObjectProperty"]
    if row["characteristic"] == "transitive":
        kinds.append("owl:TransitiveProperty")
    links = {f"rdfs:{name}": row[name] for name in ("domain", "range")}
    return declaration(row, kinds, links | {"owl:inverseOf": row["inverseOf"]})


def declaration(row: Row, kinds: list[str], links: Mapping[str, str]) -> Block:
    """Return a class or predicate with its names and its links to others."""
    targets = {
        predicate: [target if ":" in target else f"ont:{target}"]
        for predicate, target in links.items()
        if target
    }
    return f"ont:{row['id']}", {"a": kinds, **names_of(row), **targets}


def entity_block(row: Row, parents: Mapping[str, str], ranges: Mapping[str, str]) -> Block:
    """Return an entity with its types, names and facts.

    The ancestors of its classes are types, too, so that no reader has to infer them.
    """
    types = []
    for name in several(row["type"]):
        while name:
            types.append(f"ont:{name}")
            name = parents[name]
    facts = {
        f"ont:{column}": [term(ranges[column], value) for value in several(row[column])]
        for column in row.keys() - NAMING
    }
    return f"space:{row['id']}", {"a": types, **names_of(row), **facts}


def term(kind: str, value: str) -> str:
    """Return a cell's value as a Turtle term of a predicate's range."""
    match kind:
        case "xsd:decimal":
            return value if "." in value else f"{value}.0"
        case "xsd:double" | "xsd:integer":
            return value
        case "xsd:date" | "xsd:gYear" | "":
            datatype = "gYear" if re.fullmatch(r"\d{4}", value) else "date"
            return f'"{value}"^^xsd:{datatype}'
        case _:
            return f"space:{value}"


def crew_blocks(memberships: Iterable[Row], entities: Mapping[str, Row]) -> Iterator[Block]:
    """Yield a node without a name for each membership; it lasts as long as the mission."""
    counts: Counter[str] = Counter()
    for row in memberships:
        mission = entities[row["mission"]]
        counts[mission["id"]] += 1
        values = {
            "a": ["ont:CrewMembership"],
            "ont:mission": [f"space:{mission['id']}"],
            "ont:member": [f"space:{row['member']}"],
            "ont:role": [f"space:{role}" for role in several(row["role"])],
        }
        for name, own, whole in (("fromDate", "from", "launchDate"), ("toDate", "to", "endDate")):
            if date := row[own] or mission[whole]:
                values[f"ont:{name}"] = [f'"{date}"^^xsd:date']
        yield f"crew:{mission['id']}-{counts[mission['id']]}", values


def names_of(row: Row) -> dict[str, list[str]]:
    """Return labels, alternative names and the comment."""
    names = {"rdfs:label": [text(row[tag], tag) for tag in LANGUAGES if row[tag]]}
    pairs = (name.partition("@") for name in several(row.get("alt", "")))
    names["skos:altLabel"] = [text(words, tag or "en") for words, _, tag in pairs]
    if comment := row.get("comment"):
        names["rdfs:comment"] = [text(comment, "en")]
    return names


def several(cell: str) -> list[str]:
    """Return the values of a cell."""
    return [value for value in cell.split("|") if value]


def text(words: str, language: str) -> str:
    """Return a string in a language, as Turtle."""
    return f"{json.dumps(words, ensure_ascii=False)}@{language}"


def refuse_unknown(blocks: Iterable[Block]) -> None:
    """Exit if an entity is described twice, or named but never described."""
    subjects = Counter(subject for subject, _ in blocks)
    terms = {term for _, values in blocks for terms in values.values() for term in terms}
    twice = {subject for subject, count in subjects.items() if count > 1}
    missing = {term for term in terms if term.startswith(("space:", "ont:"))} - subjects.keys()
    if twice or missing:
        sys.exit(f"described twice: {sorted(twice)}; never described: {sorted(missing)}")


def answered(questions: str, graph: str) -> str:
    """Return the text of `questions.jsonl`: one question a line, with the answers of its query."""
    examples, store = ox.Store(), ox.Store()
    examples.load(questions.encode(), format=ox.RdfFormat.TURTLE)
    store.load(graph.encode(), format=ox.RdfFormat.TURTLE)
    found = examples.query(
        """PREFIX sh: <http://www.w3.org/ns/shacl#>
        PREFIX schema: <https://schema.org/>
        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?id ?question ?query (GROUP_CONCAT(?tag; separator="|") AS ?tags) WHERE {
          ?id a sh:SPARQLExecutable ; rdfs:comment ?question .
          ?id schema:keywords ?tag .
          OPTIONAL { ?id sh:select|sh:ask ?query }
        } GROUP BY ?id ?question ?query ORDER BY ?id"""
    )
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
